//! Cloth among the rigid bodies of physics engines: the same tests for each engine.

#[cfg(feature = "avian")]
pub(crate) mod with_avian;
#[cfg(feature = "rapier")]
pub(crate) mod with_rapier;

use crate::{add_mesh, centre, particles, run};
use bevy::{mesh::VertexAttributeValues, prelude::*};
use bevy_drape::{
    cloth::{ClothMaxThreads, ClothSubstepTime},
    collision::ClothLayers,
    prelude::*,
};

/// Collider shape of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Ball(f32),
    Box(Vec3),
    /// A tetrahedron as a triangle mesh, of this size, m.
    Mesh(f32),
    /// The convex hull of that tetrahedron.
    Hull(f32),
    Capsule,
    Cylinder,
    Cone,
    HalfSpace,
    /// Two boxes side by side.
    Compound,
    RoundBox,
    Heights,
}

/// Body type in the engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Static,
    Kinematic,
    /// With this mass, kg.
    Dynamic(f32),
}

/// Physics engine under test.
pub(crate) trait TestEngine {
    fn app(gravity: Vec3) -> App;
    fn body(app: &mut App, form: Form, kind: Kind, at: Vec3, velocity: Vec3) -> Entity;
    fn velocity(app: &App, body: Entity) -> Vec3;
    fn is_asleep(app: &App, body: Entity) -> bool;
    fn make_sensor(app: &mut App, body: Entity);
    /// Puts a body on the layers `memberships`, to collide with the layers `filters`.
    fn set_layers(app: &mut App, entity: Entity, memberships: u32, filters: u32);
}

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

/// Spawns a horizontal sheet of 2 m × 2 m at a position.
fn sheet(app: &mut App, at: Vec3, extra: impl Bundle) -> Entity {
    let mesh = add_mesh(app, ClothGrid::new(2.0, 2.0, 25, 25));
    let cloth = Cloth {
        damping: 0.5,
        ..default()
    };
    app.world_mut()
        .spawn((cloth, Mesh3d(mesh), Transform::from_translation(at), extra))
        .id()
}

fn position(app: &App, body: Entity) -> Vec3 {
    app.world().get::<Transform>(body).unwrap().translation
}

fn all_edges() -> Pins {
    [
        ClothEdge::Top,
        ClothEdge::Bottom,
        ClothEdge::Left,
        ClothEdge::Right,
    ]
    .into_iter()
    .fold(Pins::none(), |all, edge| all.and(Pins::edge(edge)))
    .to_world()
}

fn momentum(app: &App, cloth: Entity) -> Vec3 {
    let p = particles(app, cloth);
    (0..p.len())
        .map(|i| p.velocity(i) / p.inverse_mass[i])
        .sum()
}

/// A net catches a thrown ball, even one much heavier than the net.
fn a_net_catches_a_heavy_ball<E: TestEngine>() {
    // The net weighs 0.8 kg.
    for (mass, speed) in [(0.5, 1.0), (3.0, 5.0)] {
        let mut app = E::app(GRAVITY);
        sheet(&mut app, Vec3::Y, all_edges());
        let (kind, from) = (Kind::Dynamic(mass), Vec3::new(0.0, 2.0, 0.0));
        let ball = E::body(&mut app, Form::Ball(0.2), kind, from, Vec3::NEG_Y * speed);
        run(&mut app, 360);
        let at = position(&app, ball);
        assert!((0.4..1.3).contains(&at.y), "{mass} kg: {at}");
        // The net is taut, so the ball may roll.
        assert!(at.xz().length() < 0.8, "{mass} kg: {at}");
        let speed = E::velocity(&app, ball).length();
        assert!(speed < 0.3, "{mass} kg: {speed} m/s");
    }
}

/// A cloth that supports a heavy body takes more substeps. Other cloths are unaffected.
fn loaded_cloth_takes_more_substeps<E: TestEngine>() {
    let run_with = |mass: Option<f32>| {
        let mut app = E::app(GRAVITY);
        sheet(&mut app, Vec3::Y, all_edges());
        let far = Vec3::new(50.0, 1.0, 0.0);
        let other = sheet(&mut app, far, Pins::top_corners().to_world());
        if let Some(mass) = mass {
            let (kind, from) = (Kind::Dynamic(mass), Vec3::Y * 1.5);
            E::body(&mut app, Form::Ball(0.2), kind, from, Vec3::NEG_Y * 4.0);
        }
        let mut most = 0;
        for _ in 0..60 {
            run(&mut app, 1);
            most = most.max(app.world().resource::<ClothSubstepTime>().count);
        }
        (most, particles(&app, other).state_hash())
    };
    let (usual, alone) = run_with(None);
    let (light, _) = run_with(Some(0.001));
    let (heavy, beside) = run_with(Some(3.0));
    assert_eq!([usual, light, heavy], [8, 8, 32]);
    assert_eq!(alone, beside);
}

/// Returns a sheet of 2 m × 2 m that sags between its left and right edge.
fn sagging_sheet() -> Mesh {
    let mut mesh = Mesh::from(ClothGrid::new(2.0, 2.0, 25, 25));
    let positions = mesh.attribute_mut(Mesh::ATTRIBUTE_POSITION);
    let Some(VertexAttributeValues::Float32x3(positions)) = positions else {
        unreachable!("a grid has positions");
    };
    for [x, y, z] in positions {
        *y -= 0.35 * (1.0 - *x * *x) * (1.0 - 0.5 * *z * *z);
    }
    mesh
}

/// A box on a hammock comes to rest, and falls when the hammock is despawned.
fn a_hammock_supports_a_box<E: TestEngine>() {
    let mut app = E::app(GRAVITY);
    let mesh = add_mesh(&mut app, sagging_sheet());
    let pins = Pins::edge(ClothEdge::Left).and(Pins::edge(ClothEdge::Right));
    let at = Transform::from_translation(Vec3::Y);
    let hammock = (Cloth::default(), Mesh3d(mesh), at, pins.to_world());
    let hammock = app.world_mut().spawn(hammock).id();
    let (kind, from) = (Kind::Dynamic(4.0), Vec3::new(0.0, 1.2, 0.0));
    let chest = E::body(
        &mut app,
        Form::Box(Vec3::new(0.4, 0.1, 0.3)),
        kind,
        from,
        Vec3::ZERO,
    );
    run(&mut app, 240);
    let at = position(&app, chest);
    assert!((0.3..1.2).contains(&at.y), "{at}");
    run(&mut app, 360);
    let later = position(&app, chest);
    assert!(
        (later - at).length() < 0.2,
        "the box creeps from {at} to {later}"
    );
    app.world_mut().despawn(hammock);
    run(&mut app, 60);
    assert!(
        position(&app, chest).y < at.y - 2.0,
        "the box does not fall"
    );
}

/// Total momentum of ball and cloth is conserved in a collision.
fn momentum_is_conserved<E: TestEngine>() {
    let mut app = E::app(Vec3::ZERO);
    app.insert_resource(ClothGravity(Vec3::ZERO));
    app.world_mut().resource_mut::<Wind>().air_density = 0.0;
    let mesh = add_mesh(&mut app, ClothGrid::new(2.0, 2.0, 25, 25));
    let cloth = Cloth {
        damping: 0.0,
        ..default()
    };
    let cloth = app
        .world_mut()
        .spawn((cloth, Mesh3d(mesh), Pins::none()))
        .id();
    let (kind, from) = (Kind::Dynamic(0.5), Vec3::new(0.2, 0.6, 0.1));
    let ball = E::body(
        &mut app,
        Form::Ball(0.2),
        kind,
        from,
        Vec3::new(0.5, -3.0, 0.0),
    );
    run(&mut app, 3);
    let before = E::velocity(&app, ball) * 0.5 + momentum(&app, cloth);
    // While they touch, a part of the momentum is on its way from the cloth to the ball.
    run(&mut app, 500);
    let of_ball = E::velocity(&app, ball) * 0.5;
    let after = of_ball + momentum(&app, cloth);
    // The 32 substeps that the cloth takes in the end round more than 8.
    assert!(
        (after - before).length() < 3e-3 * before.length(),
        "{before} {after}"
    );
    assert!(
        of_ball.length() < 0.8 * before.length(),
        "the ball was not slowed: {of_ball}"
    );
}

/// A dynamic body that cloth is pinned to hangs from the cloth.
fn a_body_hangs_from_its_pins<E: TestEngine>() {
    let mut app = E::app(GRAVITY);
    let (kind, from) = (Kind::Dynamic(1.0), Vec3::new(1.1, 0.0, 0.0));
    let weight = E::body(&mut app, Form::Ball(0.1), kind, from, Vec3::ZERO);
    let pins = Pins::edge(ClothEdge::Left)
        .to_world()
        .and(Pins::predicate(|at| at.x > 0.99 && at.z.abs() < 0.3).to_entity(weight));
    let cloth = sheet(&mut app, Vec3::ZERO, pins);
    let mut lowest = 0.0_f32;
    for _ in 0..300 {
        run(&mut app, 1);
        lowest = lowest.min(position(&app, weight).y);
    }
    let at = position(&app, weight);
    assert!((-2.3..-1.8).contains(&at.y), "{at}, at lowest {lowest}");
    assert!(lowest > -2.3, "{lowest}");
    // The cloth still touches the body.
    let p = particles(&app, cloth);
    let nearest = (0..p.len())
        .map(|i| p.world_position(i).distance(at))
        .fold(f32::MAX, f32::min);
    assert!(nearest < 0.15, "{nearest}");
}

/// Cloth lies on colliders of every shape.
fn cloth_lies_on_all_shapes<E: TestEngine>() {
    for form in [
        Form::Ball(0.5),
        Form::Box(Vec3::splat(0.5)),
        Form::Mesh(1.0),
        Form::Hull(1.0),
        Form::Capsule,
        Form::Cylinder,
        Form::Cone,
        Form::HalfSpace,
        Form::Compound,
        Form::RoundBox,
        Form::Heights,
    ] {
        let mut app = E::app(GRAVITY);
        E::body(&mut app, form, Kind::Static, Vec3::ZERO, Vec3::ZERO);
        let cloth = sheet(&mut app, Vec3::new(0.03, 0.7, 0.02), ());
        run(&mut app, 90);
        let p = particles(&app, cloth);
        let highest = (0..p.len())
            .map(|i| p.world_position(i).y)
            .fold(f32::MIN, f32::max);
        let expected = if matches!(form, Form::HalfSpace | Form::Heights) {
            -0.05..0.1
        } else {
            0.3..0.7
        };
        assert!(expected.contains(&highest), "{form:?}: {highest}");
    }
}

/// A kinematic body lifts cloth and drags it along by friction.
fn kinematic_bodies_move_cloth<E: TestEngine>() {
    let mut app = E::app(GRAVITY);
    let half = Vec3::new(3.0, 0.1, 3.0);
    let lift = E::body(
        &mut app,
        Form::Box(half),
        Kind::Kinematic,
        Vec3::ZERO,
        Vec3::new(0.5, 0.5, 0.0),
    );
    let cloth = sheet(&mut app, Vec3::Y * 0.15, ());
    run(&mut app, 120);
    let (moved, lift) = (centre(&app, cloth), position(&app, lift));
    assert!((lift.y - 1.0).abs() < 0.05, "{lift}");
    assert!((moved.y - lift.y - 0.11).abs() < 0.02, "{moved} on {lift}");
    assert!((moved.x - lift.x).abs() < 0.1, "{moved} on {lift}");
}

/// Cloth passes through sensors and through bodies on other layers.
fn cloth_passes_through_sensors_and_other_layers<E: TestEngine>() {
    for case in 0..4 {
        let mut app = E::app(GRAVITY);
        let half = Vec3::new(3.0, 0.2, 3.0);
        let floor = E::body(
            &mut app,
            Form::Box(half),
            Kind::Static,
            Vec3::ZERO,
            Vec3::ZERO,
        );
        let cloth = sheet(&mut app, Vec3::Y * 0.4, ());
        match case {
            0 => E::make_sensor(&mut app, floor),
            1 => E::set_layers(&mut app, floor, 2, 1),
            2 => drop(app.world_mut().entity_mut(floor).insert(ClothLayers::on(0))),
            _ => E::set_layers(&mut app, floor, 1, 1),
        }
        if case == 1 {
            E::set_layers(&mut app, cloth, 1, 1);
        }
        run(&mut app, 60);
        let through = centre(&app, cloth).y < -0.5;
        assert_eq!(through, case < 3, "case {case}");
    }
}

/// Despawning bodies in contact, or as pin anchors, leaves the cloth finite and unloaded.
fn bodies_in_contact_can_be_despawned<E: TestEngine>() {
    let mut app = E::app(GRAVITY);
    let pins = all_edges();
    let cloth = sheet(&mut app, Vec3::Y, pins);
    let (kind, from) = (Kind::Dynamic(2.0), Vec3::new(0.0, 1.3, 0.0));
    let ball = E::body(&mut app, Form::Ball(0.2), kind, from, Vec3::ZERO);
    let weight = E::body(
        &mut app,
        Form::Ball(0.1),
        kind,
        from + Vec3::X * 0.5,
        Vec3::ZERO,
    );
    app.world_mut()
        .get_mut::<Pins>(cloth)
        .unwrap()
        .pins
        .extend(Pins::index(17).to_entity(weight).pins);
    run(&mut app, 60);
    let lowest = |app: &App| {
        let p = particles(app, cloth);
        (0..p.len())
            .map(|i| p.world_position(i).y)
            .fold(f32::MAX, f32::min)
    };
    let pressed = lowest(&app);
    app.world_mut().despawn(ball);
    app.world_mut().despawn(weight);
    run(&mut app, 120);
    assert!(particles(&app, cloth).is_finite());
    assert!(lowest(&app) > pressed, "{} {pressed}", lowest(&app));
}

/// A box falls asleep although a cloth lies on it.
fn bodies_fall_asleep_under_cloth<E: TestEngine>() {
    let mut app = E::app(GRAVITY);
    E::body(
        &mut app,
        Form::HalfSpace,
        Kind::Static,
        Vec3::ZERO,
        Vec3::ZERO,
    );
    let half = Vec3::splat(0.3);
    let chest = E::body(
        &mut app,
        Form::Box(half),
        Kind::Dynamic(5.0),
        Vec3::Y * 0.3,
        Vec3::ZERO,
    );
    let cloth = sheet(&mut app, Vec3::Y * 0.75, ());
    run(&mut app, 420);
    assert!(E::is_asleep(&app, chest));
    let at = position(&app, chest);
    assert!((at.y - 0.3).abs() < 0.02, "{at}");
    let top = (0..particles(&app, cloth).len())
        .map(|i| particles(&app, cloth).world_position(i).y)
        .fold(f32::MIN, f32::max);
    assert!((0.58..0.66).contains(&top), "{top}");
}

/// The same scene gives the same bits on any number of threads.
fn thread_counts_give_the_same_bits<E: TestEngine>() {
    let hash = |threads| {
        let mut app = E::app(GRAVITY);
        app.insert_resource(ClothMaxThreads(threads));
        let cloth = sheet(&mut app, Vec3::Y, all_edges());
        for k in 0..3 {
            let from = Vec3::new(k as f32 * 0.5 - 0.5, 1.5, 0.1 * k as f32);
            E::body(
                &mut app,
                Form::Ball(0.15),
                Kind::Dynamic(0.5),
                from,
                Vec3::NEG_Y,
            );
        }
        run(&mut app, 90);
        particles(&app, cloth).state_hash()
    };
    assert_eq!(hash(1), hash(2));
}

/// Defines all tests for one engine.
macro_rules! tests_of {
    ($engine:ty: $($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                crate::bodies::$name::<$engine>();
            }
        )*
    };
    ($engine:ty) => {
        crate::bodies::tests_of! {
            $engine:
            a_net_catches_a_heavy_ball,
            loaded_cloth_takes_more_substeps,
            a_hammock_supports_a_box,
            momentum_is_conserved,
            a_body_hangs_from_its_pins,
            cloth_lies_on_all_shapes,
            kinematic_bodies_move_cloth,
            cloth_passes_through_sensors_and_other_layers,
            bodies_in_contact_can_be_despawned,
            bodies_fall_asleep_under_cloth,
            thread_counts_give_the_same_bits,
        }
    };
}
use tests_of;

/// Returns a tetrahedron with a horizontal base, its apex half of `size` above the origin.
fn tetrahedron(size: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let points = [
        [-1.0, -1.0, -1.0],
        [1.0, -1.0, -1.0],
        [0.0, -1.0, 1.0],
        [0.0, 1.0, 0.0],
    ];
    let points = points.map(|point| Vec3::from(point) * size * 0.5);
    (
        points.to_vec(),
        vec![[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]],
    )
}

#[cfg(all(feature = "avian", feature = "rapier"))]
#[test]
fn only_the_first_of_two_engine_plugins_is_active() {
    use crate::log::{lines_with, record};
    // Plugins log while their app is built, before this test has it.
    let mut earlier = App::new();
    record(&mut earlier, 0);
    let mut app = crate::headless::headless_app((
        ClothPlugin::default(),
        avian3d::prelude::PhysicsPlugins::default(),
        bevy_drape::engines::AvianClothPlugin,
        bevy_rapier3d::prelude::RapierPhysicsPlugin::<()>::default().in_fixed_schedule(),
        bevy_drape::engines::RapierClothPlugin,
    ));
    let lines = lines_with("RapierClothPlugin does nothing beside AvianClothPlugin");
    assert_eq!(lines.len(), 1, "{lines:?}");
    // Cloth collides with the bodies of the first engine.
    let ball = (
        avian3d::prelude::RigidBody::Static,
        avian3d::prelude::Collider::sphere(0.5),
        Transform::default(),
    );
    app.world_mut().spawn(ball);
    let cloth = sheet(&mut app, Vec3::Y * 0.7, ());
    run(&mut app, 90);
    // Without the ball the cloth would be 10 m below.
    let height = centre(&app, cloth).y;
    assert!(height > -0.5, "{height}");
}
