//! Cloth in `bsn!`.

use crate::{add_mesh, particles, run, sheet};
use bevy::{
    asset::AssetPlugin, ecs::template::EntityTemplate, mesh::MeshPlugin, prelude::*,
    scene::ScenePlugin, time::TimeUpdateStrategy, transform::TransformPlugin,
};
use bevy_drape::{
    character::{
        Backstop, ClothInertia, ClothInertiaTemplate, ClothMaxDistance, ClothPaint, ClothPart,
        PerVertex, SkeletonColliders, VertexChannel,
    },
    cloth::{ClothWarmUp, PlanarCloth},
    collision::ClothLayers,
    pins::{ClothCorner, PinAnchor, PinsTemplate},
    prelude::*,
    pressure::ClothPressure,
    proxy::ClothProxy,
    solver::Shape,
};

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        MeshPlugin,
        TransformPlugin,
        ScenePlugin,
        ClothPlugin::default(),
    ))
    .insert_resource(Time::<Fixed>::from_hz(60.0))
    .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate)
    .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.finish();
    app.cleanup();
    app
}

fn spawn(app: &mut App, scene: impl Scene) -> Entity {
    app.world_mut().spawn_scene(scene).unwrap().id()
}

fn get<T: Component>(app: &App, entity: Entity) -> &T {
    app.world()
        .get(entity)
        .expect("the entity has the component")
}

#[test]
fn a_scene_becomes_cloth() {
    let mut app = app();
    let mesh = add_mesh(&mut app, sheet());
    let cloth = spawn(
        &mut app,
        bsn! {
            #Flag
            Cloth {
                fabric: Fabric { areal_density: 0.4, strain_limit: {Some(0.2)} },
                damping: 0.5,
                self_collision: SelfCollision::On,
            }
            Pins::top_corners()
            Mesh3d({mesh.clone()})
            Transform { translation: Vec3 { y: 2.0 } }
            ClothLayers { memberships: 2 }
            ClothWarmUp(3)
        },
    );
    run(&mut app, 2);
    // Fields that are not written have their defaults.
    let wanted = Cloth {
        fabric: Fabric {
            areal_density: 0.4,
            strain_limit: Some(0.2),
            ..default()
        },
        damping: 0.5,
        self_collision: SelfCollision::On,
        ..default()
    };
    assert_eq!(get::<Cloth>(&app, cloth), &wanted);
    assert_eq!(get::<Pins>(&app, cloth), &Pins::top_corners());
    assert_eq!(get::<ClothLayers>(&app, cloth), &ClothLayers::on(2));
    assert_eq!(get::<ClothWarmUp>(&app, cloth), &ClothWarmUp(3));
    let built = particles(&app, cloth);
    assert_eq!(built.len(), 100);
    assert_eq!((0..100).filter(|&i| built.is_pinned(i)).count(), 2);
    assert!(built.world_position(0).y > 1.9);
}

#[test]
fn fabrics_and_scenes_can_be_patched() {
    fn curtain() -> impl Scene {
        bsn! { Cloth { fabric: Fabric::denim(), damping: 0.7 } Pins::edge(ClothEdge::Top) }
    }
    let mut app = app();
    let cloth = spawn(
        &mut app,
        bsn! { curtain() Cloth { fabric: Fabric { thickness: {Some(0.02)} } } },
    );
    let fabric = Fabric {
        thickness: Some(0.02),
        ..Fabric::denim()
    };
    let wanted = Cloth {
        fabric,
        damping: 0.7,
        ..default()
    };
    assert_eq!(get::<Cloth>(&app, cloth), &wanted);
}

#[test]
fn all_other_components_can_be_written() {
    let mut app = app();
    let many = spawn(
        &mut app,
        bsn! {
            ClothCollider { shape: Shape::Cuboid { half_size: {Vec3::ONE} }, hollow: true }
            ClothPaint { mass: PerVertex::Painted { channel: VertexChannel::Blue, zero: 1.0, one: 5.0 } }
            ClothPart::Painted { channel: VertexChannel::Green }
            ClothMaxDistance { backstop: {Some(Backstop::default())} }
            PlanarCloth
            ClothPressure
            SkeletonColliders { thickness: 1.2 }
            ClothTearing::at_strain(0.5)
            WindZone::cuboid(1.0, 1.0, 4.0)
            ClothInertia { linear: 0.5, max_speed: {Some(6.0)} }
            template_value(Pins::index(3).and(Pins::ends()).to_world())
        },
    );
    let collider = get::<ClothCollider>(&app, many);
    assert_eq!(collider, &ClothCollider::cuboid(2.0, 2.0, 2.0).hollow());
    let mass = get::<ClothPaint>(&app, many).mass.clone();
    let channel = VertexChannel::Blue;
    assert_eq!(
        mass,
        PerVertex::Painted {
            channel,
            zero: 1.0,
            one: 5.0
        }
    );
    assert_eq!(
        get::<ClothPart>(&app, many),
        &ClothPart::painted(VertexChannel::Green)
    );
    assert!(get::<ClothMaxDistance>(&app, many).backstop.is_some());
    assert_eq!(get::<SkeletonColliders>(&app, many).thickness, 1.2);
    assert_eq!(
        get::<ClothTearing>(&app, many),
        &ClothTearing::at_strain(0.5)
    );
    assert_eq!(get::<ClothInertia>(&app, many).linear, 0.5);
    assert_eq!(get::<ClothInertia>(&app, many).angular, 1.0);
    assert_eq!(
        get::<Pins>(&app, many),
        &Pins::index(3).and(Pins::ends()).to_world()
    );
    let rope = spawn(&mut app, bsn! { Rope { particles: 20 } Pins::ends() });
    run(&mut app, 2);
    assert_eq!(particles(&app, rope).len(), 20);
}

#[test]
fn pins_frames_and_proxies_refer_to_entities_of_the_same_scene() {
    let mut app = app();
    let [coarse, fine] = [add_mesh(&mut app, sheet()), add_mesh(&mut app, sheet())];
    let all = app
        .world_mut()
        .spawn_scene_list(bsn_list![
            (#Hand Transform),
            (
                #Cape
                Cloth
                ~PinsTemplate::held_by(#Hand, Pins::corner(ClothCorner::TopLeft))
                ~ClothInertiaTemplate::of(#Hand, ClothInertia::uniform(0.5))
                Mesh3d({coarse.clone()})
            ),
            (ClothProxy { cloth: #Cape } Mesh3d({fine.clone()})),
        ])
        .unwrap();
    let [hand, cape, proxy] = all[..] else {
        panic!("{all:?}");
    };
    let pins = Pins::corner(ClothCorner::TopLeft).to_entity(hand);
    assert_eq!(get::<Pins>(&app, cape), &pins);
    let inertia = ClothInertia {
        frame: PinAnchor::Entity(hand),
        ..ClothInertia::uniform(0.5)
    };
    assert_eq!(get::<ClothInertia>(&app, cape), &inertia);
    assert_eq!(get::<ClothProxy>(&app, proxy).cloth, cape);
    run(&mut app, 2);
    let held = (0..100)
        .find(|&i| particles(&app, cape).is_pinned(i))
        .unwrap();
    let before = particles(&app, cape).world_position(held);
    app.world_mut()
        .get_mut::<Transform>(hand)
        .unwrap()
        .translation
        .y = 0.3;
    run(&mut app, 2);
    let raised = particles(&app, cape).world_position(held) - before;
    assert!(raised.distance(Vec3::Y * 0.3) < 1e-4, "{raised}");
}

#[test]
fn a_scene_function_takes_several_entities() {
    fn line(left: EntityTemplate, right: EntityTemplate) -> impl Scene {
        let right = PinsTemplate::held_by(right, Pins::index(31));
        let pins = PinsTemplate::held_by(left, Pins::index(0))
            .and(right)
            .and(Pins::index(16));
        bsn! { Rope template_value(pins) }
    }
    let mut app = app();
    let all = app
        .world_mut()
        .spawn_scene_list(bsn_list![#Left, #Right, line(#Left, #Right)])
        .unwrap();
    let wanted = Pins::index(0)
        .to_entity(all[0])
        .and(Pins::index(31).to_entity(all[1]))
        .and(Pins::index(16));
    assert_eq!(get::<Pins>(&app, all[2]), &wanted);
}
