//! Cloth in glTF models: rules by name, custom properties, skeletons with capsules.

use crate::{
    ASSETS, add_mesh, app,
    log::{lines_about, record},
    particles, run, sheet,
};
use bevy::{
    asset::AssetPlugin,
    gltf::GltfPlugin,
    math::Affine3A,
    mesh::{MeshPlugin, skinning::SkinnedMesh},
    prelude::*,
    time::TimeUpdateStrategy,
    transform::TransformPlugin,
    world_serialization::{WorldInstanceReady, WorldSerializationPlugin},
};
use bevy_drape::{
    character::{
        ClothMaxDistance, ClothRules, SkeletonColliders, Teleport, TeleportCloth, VertexChannel,
    },
    cloth::{ClothConstraints, ClothWarmUp},
    prelude::*,
    solver::ConstraintKind,
};

/// Creates an app that loads glTF files of the repository, without a renderer.
pub(crate) fn app_with_models(rules: ClothRules) -> App {
    app_with(ASSETS, rules)
}

/// Creates an app that loads glTF files from a folder, without a renderer.
pub(crate) fn app_with(folder: &str, rules: ClothRules) -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin {
            file_path: folder.into(),
            ..default()
        },
        ImagePlugin::default(),
        MeshPlugin,
        TransformPlugin,
        WorldSerializationPlugin,
        bevy::animation::AnimationPlugin,
        GltfPlugin::default(),
        ClothPlugin::default(),
    ))
    .init_asset::<bevy::gltf::GltfMaterial>()
    .insert_resource(rules)
    .insert_resource(Time::<Fixed>::from_hz(60.0))
    .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate)
    .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.finish();
    app.cleanup();
    app
}

/// Plays an animation of a file in a loop on each model that is loaded from now on.
pub(crate) fn play_animation(app: &mut App, file: &'static str, number: usize) {
    let clip = GltfAssetLabel::Animation(number).from_asset(file);
    let clip = app.world().resource::<AssetServer>().load(clip);
    let play = move |mut players: Query<(Entity, &mut AnimationPlayer), Added<AnimationPlayer>>,
                     mut graphs: ResMut<Assets<AnimationGraph>>,
                     mut commands: Commands| {
        for (entity, mut player) in &mut players {
            let (graph, clip) = AnimationGraph::from_clip(clip.clone());
            player.play(clip).repeat();
            let graph = AnimationGraphHandle(graphs.add(graph));
            commands.entity(entity).insert(graph);
        }
    };
    app.add_systems(Update, play);
}

/// Spawns the scene of a file and waits until it is loaded. Returns its root.
pub(crate) fn load(app: &mut App, file: &'static str, transform: Transform) -> Entity {
    #[derive(Resource)]
    struct Ready;
    app.add_observer(|_: On<WorldInstanceReady>, mut commands: Commands| {
        commands.insert_resource(Ready);
    });
    let scene = app
        .world()
        .resource::<AssetServer>()
        .load(GltfAssetLabel::Scene(0).from_asset(file));
    let root = app
        .world_mut()
        .spawn((WorldAssetRoot(scene), transform))
        .id();
    for _ in 0..2000 {
        app.update();
        if app.world().contains_resource::<Ready>() {
            run(app, 2);
            return root;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("{file} is not loaded");
}

pub(crate) fn the_cloth(app: &mut App) -> Entity {
    let mut cloths = app.world_mut().query_filtered::<Entity, With<Cloth>>();
    cloths.single(app.world()).expect("one cloth")
}

pub(crate) fn named(app: &mut App, name: &str) -> Entity {
    let mut names = app.world_mut().query::<(Entity, &Name)>();
    let found = names
        .iter(app.world())
        .find(|(_, other)| other.as_str() == name);
    found.unwrap_or_else(|| panic!("no {name}")).0
}

#[test]
fn a_loaded_character_carries_its_cape() {
    let mut app = app_with_models(ClothRules::default());
    let transform = Transform::from_xyz(5.0, 0.0, 2.0)
        .with_rotation(Quat::from_rotation_y(0.5))
        .with_scale(Vec3::splat(1.2));
    load(&mut app, "models/hero.glb", transform);
    let cape = the_cloth(&mut app);
    // The cape has the custom properties of its object.
    let world = app.world();
    assert_eq!(world.get::<Cloth>(cape).unwrap().fabric, Fabric::wool());
    assert_eq!(
        world.get::<ClothMaxDistance>(cape).unwrap(),
        &ClothMaxDistance::painted(VertexChannel::Red, 1.4)
    );
    assert!(
        world
            .get::<SkinnedMesh>(cape)
            .unwrap()
            .joints
            .contains(&cape)
    );
    // The first row is painted black and lies on the shoulders of the character.
    let p = particles(&app, cape);
    assert_eq!(p.len(), 750);
    assert_eq!((0..750).filter(|&i| p.is_pinned(i)).count(), 25);
    let neck = transform.transform_point(Vec3::new(0.0, 1.45, 0.0));
    let collar = p.world_position(12);
    assert!(collar.distance(neck) < 0.35, "{collar} is not at {neck}");
    // The body has capsules as children of its joints.
    let mut colliders = app.world_mut().query::<(&ClothCollider, &ChildOf)>();
    let count = colliders.iter(app.world()).count();
    assert!((13..=30).contains(&count), "{count} capsules");
    // The cape follows the chest.
    let chest = named(&mut app, "Chest");
    app.world_mut()
        .get_mut::<Transform>(chest)
        .unwrap()
        .translation
        .y += 0.5;
    run(&mut app, 1);
    let raised = particles(&app, cape).world_position(12) - collar;
    assert!(raised.distance(Vec3::Y * 0.6) < 0.01, "{raised}");
    run(&mut app, 120);
    let p = particles(&app, cape);
    assert!(p.is_finite());
    // The cape hangs down.
    let [collar, hem] = [12, 749 - 12].map(|i| p.world_position(i));
    assert!(hem.y < collar.y - 1.2, "{hem}");
}

/// Returns the mean stretch of the links of a cloth, in fractions of their lengths.
pub(crate) fn mean_stretch(app: &App, cloth: Entity) -> f32 {
    let constraints = app.world().get::<ClothConstraints>(cloth).unwrap();
    let p = particles(app, cloth);
    let links: Vec<_> = constraints.of_kind(ConstraintKind::Structural).collect();
    let stretches = links.iter().map(|([a, b], rest)| {
        let [a, b] = [a, b].map(|&i| p.world_position(i as usize));
        (a.distance(b) / rest - 1.0).max(0.0)
    });
    stretches.sum::<f32>() / links.len() as f32
}

#[test]
fn a_shirt_on_a_walking_figure_keeps_its_size() {
    let mut app = app_with_models(ClothRules::default());
    play_animation(&mut app, "models/shirt.glb", 1);
    load(&mut app, "models/shirt.glb", Transform::default());
    let shirt = the_cloth(&mut app);
    // Two strides. Where arms and trunk overlap in the animation, the sleeves between them cannot keep their size; with
    // capsules that stood out from the chest by 5 cm, links were longer by 2.3 % in the mean.
    let mut mean = 0.0;
    for _ in 0..12 {
        run(&mut app, 10);
        mean += mean_stretch(&app, shirt) / 12.0;
    }
    assert!(mean < 0.013, "{mean}");
    assert!(particles(&app, shirt).is_finite());
    let arm = named(&mut app, "UpperArm.L");
    let arm = app.world().get::<Transform>(arm).unwrap();
    assert!(arm.rotation.angle_between(Quat::IDENTITY) > 0.1, "it walks");
}

fn affine(app: &App, entity: Entity) -> Affine3A {
    let transform = app.world().get::<GlobalTransform>(entity).unwrap();
    transform.affine()
}

/// Returns the positions at which the vertices of a cloth are drawn, in the world.
fn drawn_in_world(app: &App, cloth: Entity) -> Vec<Vec3> {
    let to_world = affine(app, cloth);
    let drawn = crate::float3(crate::drawn(app, cloth), Mesh::ATTRIBUTE_POSITION);
    let drawn = drawn.iter().map(|&at| to_world.transform_point3(at));
    drawn.collect()
}

#[test]
fn a_sleeve_is_drawn_on_its_arm() {
    let mut app = app_with_models(ClothRules::default());
    let at = Vec3::new(800.0, 0.0, -300.0);
    let root = load(
        &mut app,
        "models/shirt.glb",
        Transform::from_translation(at),
    );
    let shirt = the_cloth(&mut app);
    let arms = ["UpperArm.L", "UpperArm.R"].map(|name| named(&mut app, name));
    // The first pose of an animation.
    let mut arm = app.world_mut().get_mut::<Transform>(arms[0]).unwrap();
    arm.rotate_x(0.01);
    run(&mut app, 30);
    let before = drawn_in_world(&app, shirt);
    let entities = [root, arms[0], arms[1]];
    let affine_before = entities.map(|entity| affine(&app, entity));
    // The figure moves, turns and swings an arm; the step of this update still has the transforms of the last one.
    let mut body = app.world_mut().get_mut::<Transform>(root).unwrap();
    body.translation.x += 0.3;
    body.rotate_y(0.4);
    let mut arm = app.world_mut().get_mut::<Transform>(arms[0]).unwrap();
    arm.rotate_x(-0.5);
    run(&mut app, 1);
    let after = drawn_in_world(&app, shirt);
    let moved = |k: usize| affine(&app, entities[k]) * affine_before[k].inverse();
    let [with_body, with_left, with_right] = [0, 1, 2].map(moved);
    let (mut way, mut left, mut right) = (0.0, 0.0, 0.0);
    for (&before, &after) in before.iter().zip(&after) {
        // The cuffs.
        if before.x - at.x > 0.29 {
            let on_the_arm = with_left.transform_point3(before);
            way += on_the_arm.distance(with_body.transform_point3(before));
            left += on_the_arm.distance(after);
        } else if before.x - at.x < -0.29 {
            right += with_right.transform_point3(before).distance(after);
        }
    }
    assert!(way > 5.0, "{way}");
    // Loose cloth does not follow entirely.
    assert!(left < 0.25 * way, "{left} of {way}");
    assert!(right < 0.05 * way, "{right} of {way}");
}

#[test]
fn a_teleported_shirt_is_drawn_on_its_figure() {
    let mut app = app_with_models(ClothRules::default());
    let root = load(&mut app, "models/shirt.glb", Transform::default());
    let shirt = the_cloth(&mut app);
    // Until it hangs still.
    run(&mut app, 240);
    let before = drawn_in_world(&app, shirt);
    let way = Vec3::new(0.05, 0.0, 0.02);
    let mut body = app.world_mut().get_mut::<Transform>(root).unwrap();
    body.translation += way;
    app.world_mut().trigger(TeleportCloth {
        entity: shirt,
        how: Teleport::Keep,
    });
    // Before the next step, between that and the one before, and after both.
    for update in 0..3 {
        run(&mut app, 1);
        let after = drawn_in_world(&app, shirt);
        let errors = before
            .iter()
            .zip(&after)
            .map(|(&before, &after)| after.distance(before + way));
        let mean = errors.sum::<f32>() / before.len() as f32;
        assert!(mean < 0.002, "update {update}: {mean} m");
    }
}

#[test]
fn rules_override_custom_properties() {
    let rules = ClothRules::default().named("Cap*", (Cloth::default(), Pins::edge(ClothEdge::Top)));
    let mut app = app_with_models(rules);
    load(&mut app, "models/hero.glb", Transform::default());
    let cape = the_cloth(&mut app);
    assert_eq!(
        app.world().get::<Cloth>(cape).unwrap().fabric,
        Fabric::default()
    );
    assert!(app.world().get::<ClothMaxDistance>(cape).is_none());
    let mut app = app_with_models(ClothRules::default().without_extras());
    load(&mut app, "models/hero.glb", Transform::default());
    let mut cloths = app.world_mut().query::<&Cloth>();
    assert_eq!(cloths.iter(app.world()).count(), 0);
}

#[test]
fn a_file_that_never_loads_disturbs_no_other_cloth() {
    let mut app = app_with_models(ClothRules::default());
    let scene = app
        .world()
        .resource::<AssetServer>()
        .load(GltfAssetLabel::Scene(0).from_asset("models/nobody.glb"));
    app.world_mut().spawn(WorldAssetRoot(scene));
    let missing: Handle<Mesh> = app
        .world()
        .resource::<AssetServer>()
        .load("nothing.glb#Mesh0/Primitive0");
    let waiting = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(missing)))
        .id();
    let body = (SkeletonColliders::default(), SkinnedMesh::default());
    let handle = app.world().get::<Mesh3d>(waiting).unwrap().clone();
    app.world_mut().spawn((body, handle));
    let mesh = add_mesh(&mut app, sheet());
    let other = app.world_mut().spawn((Cloth::default(), Mesh3d(mesh))).id();
    run(&mut app, 60);
    assert!(app.world().get::<ClothParticles>(waiting).is_none());
    assert!(particles(&app, other).world_position(0).y < -0.1);
}

#[test]
fn rules_add_cloth_by_mesh_name_or_node_name() {
    let mut app = app();
    record(&mut app, 7700);
    app.insert_resource(
        ClothRules::default().named("cloth_*", (Cloth::default(), Pins::top_corners())),
    );
    let mesh = Mesh3d(add_mesh(&mut app, sheet()));
    let world = app.world_mut();
    let by_name = world.spawn((Name::new("cloth_flag"), mesh.clone())).id();
    let node = world
        .spawn((Name::new("cloth_of_node"), Transform::default()))
        .id();
    let by_node = world
        .spawn((Name::new("Plane.001"), mesh.clone(), ChildOf(node)))
        .id();
    let other = world.spawn((Name::new("table"), mesh.clone())).id();
    let own = world
        .spawn((
            Name::new("cloth_mine"),
            mesh,
            Cloth::default(),
            Pins::none(),
        ))
        .id();
    run(&mut app, 2);
    for cloth in [by_name, by_node] {
        assert_eq!(
            app.world().get::<Pins>(cloth).unwrap(),
            &Pins::top_corners()
        );
        assert_eq!(particles(&app, cloth).len(), 100);
    }
    assert!(app.world().get::<Cloth>(other).is_none());
    assert_eq!(app.world().get::<Pins>(own).unwrap(), &Pins::none());
    assert!(lines_about(by_name).is_empty());
}

#[test]
fn skeleton_capsules_follow_changes_and_removal_of_their_component() {
    let mut app = app_with_models(ClothRules::default().without_extras().colliders("Body"));
    load(&mut app, "models/hero.glb", Transform::default());
    let mut bodies = app
        .world_mut()
        .query_filtered::<Entity, With<SkeletonColliders>>();
    let body = bodies.single(app.world()).unwrap();
    let mut colliders = app
        .world_mut()
        .query::<(&ClothCollider, &GlobalTransform)>();
    let count = colliders.iter(app.world()).count();
    assert!(count > 12, "{count}");
    // The capsules reach as high as the head and as wide as the shoulders.
    let high = colliders
        .iter(app.world())
        .map(|(_, transform)| transform.translation().y);
    assert!(high.clone().fold(0.0, f32::max) > 1.55);
    let wide = colliders
        .iter(app.world())
        .map(|(_, transform)| transform.translation().x);
    assert!((0.3..0.7).contains(&wide.fold(0.0, f32::max)));
    // A changed component replaces the capsules.
    app.world_mut()
        .get_mut::<SkeletonColliders>(body)
        .unwrap()
        .min_radius = 0.08;
    run(&mut app, 2);
    let fewer = colliders.iter(app.world()).count();
    assert!(fewer > 2 && fewer < count, "{fewer} of {count}");
    app.world_mut()
        .entity_mut(body)
        .remove::<SkeletonColliders>();
    run(&mut app, 1);
    assert_eq!(colliders.iter(app.world()).count(), 0);
}

#[test]
fn a_cloned_character_has_a_cape_of_its_own() {
    let mut app = app_with_models(ClothRules::default());
    let root = load(&mut app, "models/hero.glb", Transform::default());
    run(&mut app, 20);
    let mut capsules = app
        .world_mut()
        .query_filtered::<Entity, With<ClothCollider>>();
    let mut cloths = app.world_mut().query_filtered::<Entity, With<Cloth>>();
    let count = capsules.iter(app.world()).count();
    let cape = cloths.single(app.world()).unwrap();
    let character = app.world().get::<Children>(root).unwrap()[0];
    let copy = app
        .world_mut()
        .entity_mut(character)
        .clone_and_spawn_with_opt_out(|cloner| {
            cloner.linked_cloning(true);
        });
    app.world_mut()
        .entity_mut(copy)
        .remove::<ChildOf>()
        .insert(Transform::from_xyz(5.0, 0.0, 0.0));
    run(&mut app, 20);
    assert_eq!(capsules.iter(app.world()).count(), 2 * count);
    let other = cloths
        .iter(app.world())
        .find(|&cloth| cloth != cape)
        .unwrap();
    let [one, other] = [cape, other].map(|cloth| particles(&app, cloth));
    assert_eq!(one.len(), other.len());
    for i in 0..one.len() {
        let [a, b] = [one, other].map(|cloth| cloth.world_position(i));
        assert!((b.x - a.x - 5.0).abs() < 1.0, "{b} beside {a}");
        assert!(
            !one.is_pinned(i) || (b - a).distance(Vec3::X * 5.0) < 0.05,
            "{b} beside {a}"
        );
    }
}

#[test]
fn cloth_with_warm_up_hangs_in_its_first_frame() {
    let mut app = app();
    let mesh = add_mesh(&mut app, ClothGrid::new(1.0, 1.0, 10, 10));
    app.world_mut().spawn((
        ClothCollider::sphere(0.3),
        Transform::from_xyz(0.0, -0.4, 0.0),
    ));
    let spawn = |app: &mut App, steps| {
        let cloth = (
            Cloth::default(),
            Mesh3d(mesh.clone()),
            Pins::edge(ClothEdge::Top),
        );
        app.world_mut().spawn((cloth, ClothWarmUp(steps))).id()
    };
    let [cold, warm] = [0, 180].map(|steps| spawn(&mut app, steps));
    app.update();
    let lowest = |app: &App, cloth| {
        let p = particles(app, cloth);
        (0..100).map(|i| p.world_position(i).y).fold(0.0, f32::min)
    };
    assert!(lowest(&app, cold) > -1e-6);
    assert!(lowest(&app, warm) < -0.4, "{}", lowest(&app, warm));
    // No particle is inside the ball, and the mesh shows the simulated state.
    let p = particles(&app, warm);
    assert!((0..100).all(|i| p.world_position(i).distance(Vec3::NEG_Y * 0.4) > 0.299));
    let drawn = crate::float3(crate::drawn(&app, warm), Mesh::ATTRIBUTE_POSITION);
    assert!(drawn.iter().any(|at| at.y < -0.4));
    // Cloth simulated frame by frame reaches the same position.
    run(&mut app, 180);
    let p = [cold, warm].map(|cloth| particles(&app, cloth).world_position(95));
    assert!(p[0].distance(p[1]) < 0.05, "{p:?}");
}
