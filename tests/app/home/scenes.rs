//! Cloth saved with a scene (`DynamicWorld`) and loaded from its text.

use crate::{ASSETS, add_mesh, particles, run, sheet};
use bevy::{
    asset::{
        AssetPlugin,
        io::{
            AssetSourceBuilder,
            memory::{Dir, MemoryAssetReader},
        },
        uuid_handle,
    },
    mesh::MeshPlugin,
    prelude::*,
    time::TimeUpdateStrategy,
    transform::TransformPlugin,
    world_serialization::WorldSerializationPlugin,
};
use bevy_drape::{
    character::{
        Backstop, ClothInertia, ClothMaxDistance, ClothPaint, ClothPart, PerVertex, VertexChannel,
    },
    cloth::{ClothBuildFailed, ClothWarmUp},
    collision::ClothLayers,
    pins::{ClothCorner, PinAnchor},
    prelude::*,
    proxy::ClothProxy,
    sleep::ClothSleeping,
};
use std::path::Path;

/// Meshes that both apps refer to by a fixed handle, as to a file by its path.
const SHEET: Handle<Mesh> = uuid_handle!("4be0a0a6-6d0d-4a6f-9f7e-5a2f0a4e1c11");
const FINE: Handle<Mesh> = uuid_handle!("4be0a0a6-6d0d-4a6f-9f7e-5a2f0a4e1c12");

/// Returns an app that can load the scene `saved` from memory, and other scenes from files.
fn app(saved: &str) -> App {
    let dir = Dir::default();
    dir.insert_asset_text(Path::new("saved.scn.ron"), saved);
    let reader = move || -> Box<dyn bevy::asset::io::ErasedAssetReader> {
        Box::new(MemoryAssetReader { root: dir.clone() })
    };
    let mut app = App::new();
    app.register_asset_source("memory", AssetSourceBuilder::new(reader))
        .add_plugins((
            MinimalPlugins,
            AssetPlugin {
                file_path: ASSETS.into(),
                ..default()
            },
            ImagePlugin::default(),
            MeshPlugin,
            TransformPlugin,
            WorldSerializationPlugin,
            ClothPlugin::default(),
        ));
    #[cfg(feature = "gltf")]
    app.add_plugins((
        bevy::animation::AnimationPlugin,
        bevy::gltf::GltfPlugin::default(),
    ))
    .init_asset::<bevy::gltf::GltfMaterial>();
    app.insert_resource(Time::<Fixed>::from_hz(60.0))
        .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate)
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.finish();
    app.cleanup();
    let mut coloured = Mesh::from(sheet());
    let colours: Vec<[f32; 4]> = (0..100)
        .map(|i| [f32::from(i > 9), 0.5, 1.0, 1.0])
        .collect();
    coloured.insert_attribute(Mesh::ATTRIBUTE_COLOR, colours);
    let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
    meshes.insert(&SHEET, coloured).unwrap();
    meshes
        .insert(&FINE, ClothGrid::new(1.0, 1.0, 30, 30).into())
        .unwrap();
    app
}

/// Returns entities as the text of a scene.
fn save(app: &App, entities: impl IntoIterator<Item = Entity>) -> String {
    let world = app.world();
    let registry = world.resource::<AppTypeRegistry>().read();
    DynamicWorldBuilder::from_world(world, &registry)
        .deny_component::<WorldAssetRoot>()
        .extract_entities(entities.into_iter())
        .build()
        .serialize(&registry)
        .expect("the scene can be serialized")
}

/// Loads the text of a scene into a new app, and updates the app until `is_loaded`.
fn load(saved: &str, is_loaded: impl Fn(&mut App) -> bool) -> App {
    let mut app = app(saved);
    // Offsets entity indices, so that no loaded entity has its old index.
    for _ in 0..500 {
        app.world_mut().spawn_empty();
    }
    let scene = app
        .world()
        .resource::<AssetServer>()
        .load("memory://saved.scn.ron");
    app.world_mut().spawn(DynamicWorldRoot(scene));
    for _ in 0..2000 {
        app.update();
        if is_loaded(&mut app) {
            return app;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    panic!("the scene does not load:\n{saved}");
}

fn named(app: &mut App, name: &str) -> Option<Entity> {
    let mut names = app.world_mut().query::<(Entity, &Name)>();
    let found = names
        .iter(app.world())
        .find(|(_, known)| known.as_str() == name);
    found.map(|(entity, _)| entity)
}

fn is_cloth(app: &mut App, name: &str) -> bool {
    named(app, name).is_some_and(|cloth| app.world().get::<ClothParticles>(cloth).is_some())
}

/// Returns components that users add to a cloth; pins and inertia refer to `anchor`.
fn all_components(anchor: Entity) -> impl Bundle + Clone {
    (
        Cloth {
            fabric: Fabric::denim(),
            damping: 0.7,
            self_collision: SelfCollision::On,
            ..default()
        },
        Pins::corner(ClothCorner::TopLeft)
            .to_entity(anchor)
            .and(Pins::index(17).to_world())
            .and(Pins::painted(VertexChannel::Green)),
        ClothMaxDistance {
            backstop: Some(Backstop::default()),
            ..ClothMaxDistance::painted(VertexChannel::Red, 0.8)
        },
        ClothPaint {
            mass: PerVertex::painted(VertexChannel::Blue, 3.0),
            ..default()
        },
        ClothPart::painted(VertexChannel::Blue),
        ClothInertia {
            frame: PinAnchor::Entity(anchor),
            max_speed: Some(6.0),
            ..ClothInertia::uniform(0.5)
        },
        ClothWarmUp(3),
        ClothLayers::on(4).with_filters(6),
        ClothTearing::at_strain(0.5),
    )
}

/// Asserts that two entities have an equal component.
fn assert_same<T: Component + PartialEq + std::fmt::Debug>(entities: [(&App, Entity); 2]) {
    let [a, b] = entities.map(|(app, entity)| app.world().get::<T>(entity));
    assert!(a.is_some());
    assert_eq!(a, b);
}

#[test]
fn a_running_cloth_is_saved_and_loaded() {
    let mut before = app("");
    let world = before.world_mut();
    let transform = Transform::from_xyz(0.0, 1.0, 0.0);
    let anchor = world.spawn((Name::new("anchor"), transform)).id();
    let cloth = world
        .spawn((
            Name::new("cloth"),
            Mesh3d(SHEET),
            all_components(anchor),
            transform,
        ))
        .id();
    let collider = ClothCollider::cuboid(1.0, 0.2, 0.3)
        .hollow()
        .with_friction(0.9, 0.8);
    let collider = world.spawn((Name::new("collider"), collider)).id();
    let proxy = (
        Name::new("proxy"),
        ClothProxy { cloth },
        Mesh3d(FINE),
        transform,
    );
    let proxy = world.spawn(proxy).id();
    let rope = (Name::new("rope"), Rope::default(), Pins::ends());
    let rope = world.spawn(rope).id();
    let zone = world
        .spawn((Name::new("zone"), WindZone::sphere(2.0).vortex()))
        .id();
    run(&mut before, 20);
    assert!(before.world().get::<ClothParticles>(cloth).is_some());
    let text = save(&before, [anchor, cloth, collider, proxy, rope, zone]);
    assert!(
        !text.contains("components::ClothParticles"),
        "no state is saved"
    );

    let ready = |app: &mut App| is_cloth(app, "cloth") && is_cloth(app, "rope");
    let mut after = load(&text, ready);
    run(&mut after, 20);
    let [
        new_anchor,
        new_cloth,
        new_collider,
        new_proxy,
        new_rope,
        new_zone,
    ] = ["anchor", "cloth", "collider", "proxy", "rope", "zone"]
        .map(|name| named(&mut after, name).expect("the entity was loaded"));
    assert_ne!(anchor, new_anchor);
    let cloths = [(&before, cloth), (&after, new_cloth)];
    assert_same::<Cloth>(cloths);
    assert_same::<ClothMaxDistance>(cloths);
    assert_same::<ClothPaint>(cloths);
    assert_same::<ClothPart>(cloths);
    assert_same::<ClothWarmUp>(cloths);
    assert_same::<ClothLayers>(cloths);
    assert_same::<ClothTearing>(cloths);
    assert_same::<ClothCollider>([(&before, collider), (&after, new_collider)]);
    assert_same::<Rope>([(&before, rope), (&after, new_rope)]);
    assert_same::<WindZone>([(&before, zone), (&after, new_zone)]);
    // Components that refer to other entities refer to the loaded ones.
    let world = after.world();
    let anchors = &world.get::<Pins>(new_cloth).unwrap().pins;
    assert_eq!(anchors[0].anchor, PinAnchor::Entity(new_anchor));
    assert_eq!(anchors[1].anchor, PinAnchor::World);
    let inertia = world.get::<ClothInertia>(new_cloth).unwrap();
    assert_eq!(inertia.frame, PinAnchor::Entity(new_anchor));
    assert_eq!(inertia.max_speed, Some(6.0));
    assert_eq!(world.get::<ClothProxy>(new_proxy).unwrap().cloth, new_cloth);
    // Cloth and proxy were built from their source meshes, not from the deformed ones.
    assert_eq!(particles(&after, new_cloth).len(), 100);
    assert_eq!(crate::drawn(&after, new_proxy).count_vertices(), 900);
    let [a, b] = [(&before, cloth), (&after, new_cloth)].map(|(app, cloth)| {
        let p = particles(app, cloth);
        (0..100).map(|i| p.is_pinned(i)).collect::<Vec<_>>()
    });
    assert_eq!(a, b);
    // The pins follow the loaded anchor.
    let corner = particles(&after, new_cloth).world_position(0);
    after
        .world_mut()
        .get_mut::<Transform>(new_anchor)
        .unwrap()
        .translation
        .y += 0.5;
    run(&mut after, 3);
    let raised = particles(&after, new_cloth).world_position(0) - corner;
    assert!(raised.distance(Vec3::Y * 0.5) < 1e-3, "{raised}");
}

#[test]
fn a_sleeping_and_a_failed_cloth_are_loaded_awake() {
    let mut before = app("");
    let sleeping = (
        Name::new("sleeping"),
        Cloth::default(),
        Mesh3d(SHEET),
        ClothSleeping,
    );
    let sleeping = before.world_mut().spawn(sleeping).id();
    let failed = ClothBuildFailed {
        reason: "saved".to_owned(),
    };
    let failed = (Name::new("failed"), Cloth::default(), Mesh3d(SHEET), failed);
    let failed = before.world_mut().spawn(failed).id();
    let text = save(&before, [sleeping, failed]);
    let mut after = load(&text, |app| {
        is_cloth(app, "sleeping") && is_cloth(app, "failed")
    });
    run(&mut after, 30);
    for name in ["sleeping", "failed"] {
        let cloth = named(&mut after, name).unwrap();
        assert!(
            particles(&after, cloth).world_position(0).y < -0.1,
            "{name} falls"
        );
    }
}

#[test]
fn a_cloth_of_a_mesh_without_a_file_waits_for_one() {
    let mut before = app("");
    let mesh = add_mesh(&mut before, sheet());
    let cloth = (Name::new("cloth"), Cloth::default(), Mesh3d(mesh));
    let cloth = before.world_mut().spawn(cloth).id();
    run(&mut before, 5);
    let text = save(&before, [cloth]);
    let mut after = load(&text, |app| named(app, "cloth").is_some());
    run(&mut after, 5);
    let cloth = named(&mut after, "cloth").unwrap();
    assert!(after.world().get::<ClothParticles>(cloth).is_none());
    after.world_mut().entity_mut(cloth).insert(Mesh3d(SHEET));
    run(&mut after, 3);
    assert_eq!(particles(&after, cloth).len(), 100);
}

#[test]
fn predicates_are_not_saved_and_the_failure_says_so() {
    let mut before = app("");
    let part = ClothPart::predicate(|at| at.x > 0.0);
    let pins = Pins::predicate(|at| at.x > 0.0).and(Pins::index(3));
    let cloth = (
        Name::new("cloth"),
        Cloth::default(),
        Mesh3d(SHEET),
        part,
        pins,
    );
    let cloth = before.world_mut().spawn(cloth).id();
    run(&mut before, 3);
    let text = save(&before, [cloth]);
    let mut after = load(&text, |app| named(app, "cloth").is_some());
    run(&mut after, 3);
    let cloth = named(&mut after, "cloth").unwrap();
    assert_eq!(after.world().get::<Pins>(cloth), Some(&Pins::index(3)));
    let failed = after
        .world()
        .get::<ClothBuildFailed>(cloth)
        .expect("the cloth has lost its part");
    assert!(
        failed.reason.contains("code is not saved"),
        "{}",
        failed.reason
    );
    after
        .world_mut()
        .entity_mut(cloth)
        .insert(ClothPart::predicate(|at| at.x > 0.0));
    run(&mut after, 3);
    assert!(after.world().get::<ClothParticles>(cloth).is_some());
}

#[test]
#[cfg(feature = "gltf")]
fn a_saved_character_keeps_its_cape() {
    let mut before = app("");
    let scene = before
        .world()
        .resource::<AssetServer>()
        .load(GltfAssetLabel::Scene(0).from_asset("models/hero.glb"));
    let root = before.world_mut().spawn(WorldAssetRoot(scene)).id();
    let mut cloths = before
        .world_mut()
        .query_filtered::<Entity, (With<Cloth>, With<ClothParticles>)>();
    for _ in 0..2000 {
        before.update();
        if cloths.iter(before.world()).next().is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    run(&mut before, 30);
    let count = |app: &mut App| {
        let mut capsules = app.world_mut().query::<&ClothCollider>();
        capsules.iter(app.world()).count()
    };
    let capsules = count(&mut before);
    assert!(capsules > 12, "{capsules} capsules");
    let mut children = before.world_mut().query::<&Children>();
    let children = children.query(before.world());
    let below: Vec<Entity> = children.iter_descendants(root).collect();
    let text = save(&before, std::iter::once(root).chain(below));

    let mut after = load(&text, |app| {
        let mut built = app.world_mut().query::<(&Cloth, &ClothParticles)>();
        built.iter(app.world()).next().is_some()
    });
    run(&mut after, 30);
    let mut cloths = after.world_mut().query_filtered::<Entity, With<Cloth>>();
    let cape = cloths.single(after.world()).expect("one cape");
    let p = particles(&after, cape);
    assert_eq!(p.len(), 750);
    assert!(p.is_finite());
    assert_eq!((0..750).filter(|&i| p.is_pinned(i)).count(), 25);
    // Colliders were generated again, none twice.
    assert_eq!(count(&mut after), capsules);
}
