//! Cloth constrained to a plane.

use crate::{
    app,
    log::{lines_about, record},
    particles, run, spawn,
};
use bevy::prelude::*;
use bevy_drape::{cloth::PlanarCloth, prelude::*};

/// Returns the largest distance of a particle from the plane, m.
fn farthest(app: &App, cloth: Entity, point: Vec3, normal: Vec3) -> f32 {
    let particles = particles(app, cloth);
    (0..particles.len())
        .map(|i| normal.dot(particles.world_position(i) - point).abs())
        .fold(0.0, f32::max)
}

/// Runs a cloth for 120 steps with wind and gravity along the normal, and a ball slightly off the plane.
fn pushed_out(transform: Transform, extra: impl Bundle) -> (App, Entity) {
    let mut app = app();
    let normal = transform.rotation * Vec3::Z;
    app.insert_resource(ClothGravity(
        normal * 9.81 + transform.rotation * Vec3::NEG_Y * 3.0,
    ));
    app.insert_resource(Wind {
        velocity: normal * 8.0,
        gusts: 0.5,
        ..default()
    });
    let ball = transform.transform_point(Vec3::new(0.1, -0.6, 0.04));
    app.world_mut().spawn((
        ClothCollider::sphere(0.3),
        Transform::from_translation(ball),
    ));
    // Vertical, unlike the default sheet of these tests.
    let mesh = crate::add_mesh(&mut app, ClothGrid::vertical(1.0, 1.0, 10, 10));
    let cloth = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), transform, extra))
        .id();
    run(&mut app, 120);
    (app, cloth)
}

#[test]
fn nothing_pushes_planar_cloth_out_of_its_plane() {
    for transform in [
        Transform::IDENTITY,
        Transform::from_xyz(0.3, -0.2, 0.5).with_rotation(Quat::from_euler(
            EulerRot::YXZ,
            0.7,
            0.4,
            0.2,
        )),
    ] {
        let (point, normal) = (transform.translation, transform.rotation * Vec3::Z);
        let planar = (PlanarCloth::default(), Pins::top_corners());
        let (app, cloth) = pushed_out(transform, planar);
        let out = farthest(&app, cloth, point, normal);
        assert!(out < 1e-6, "{out} m out of the plane");
        // The ball displaces the cloth within the plane.
        let pushed = crate::centre(&app, cloth).distance(point);
        assert!(pushed > 0.005, "displaced by {pushed} m");

        let (app, free) = pushed_out(transform, Pins::top_corners());
        let out = farthest(&app, free, point, normal);
        assert!(out > 0.1, "without the component: {out} m");
    }
}

#[test]
fn a_ball_still_displaces_planar_cloth_within_the_plane() {
    let (app, cloth) = pushed_out(
        Transform::IDENTITY,
        (PlanarCloth::default(), Pins::top_corners()),
    );
    assert!(farthest(&app, cloth, Vec3::ZERO, Vec3::Z) < 1e-6);
    let ball = Vec3::new(0.1, -0.6, 0.04);
    let particles = particles(&app, cloth);
    let nearest = (0..100)
        .map(|i| particles.world_position(i).distance(ball))
        .fold(f32::MAX, f32::min);
    // The ball's cross-section in the plane has a radius of 0.297 m; the projection back into the plane may
    // cost a little of the distance.
    assert!(nearest > 0.28, "{nearest} m from the centre of the ball");
}

#[test]
fn planar_cloth_may_collide_with_itself() {
    let mut app = app();
    app.world_mut().spawn((
        ClothCollider::half_space(),
        Transform::from_xyz(0.0, -0.6, 0.0),
    ));
    // A ribbon that falls on its narrow edge has to fold within its plane.
    let mesh = crate::add_mesh(&mut app, ClothGrid::vertical(0.05, 1.0, 2, 41));
    let cloth = Cloth {
        self_collision: SelfCollision::On,
        ..default()
    };
    let cloth = app
        .world_mut()
        .spawn((cloth, PlanarCloth::default(), Mesh3d(mesh)))
        .id();
    run(&mut app, 240);
    assert!(farthest(&app, cloth, Vec3::ZERO, Vec3::Z) < 1e-6);
    let particles = particles(&app, cloth);
    assert!(particles.is_finite());
    // Neighbours are at least 25 mm apart at rest. Particles farther apart at rest than 1.5 times the collision
    // distance of 35 mm collide.
    let at = |i: usize| particles.world_position(i);
    let rest = |i: usize| Vec2::new((i % 2) as f32 * 0.05, (i / 2) as f32 * 0.025);
    let pairs = (0..particles.len()).flat_map(|i| (0..i).map(move |j| [i, j]));
    let far = pairs.filter(|[i, j]| rest(*i).distance(rest(*j)) > 0.06);
    let nearest = far.map(|[i, j]| at(i).distance(at(j))).fold(1.0, f32::min);
    assert!(nearest > 0.02, "{nearest} m");
}

#[test]
fn the_plane_moves_with_its_entity_and_ends_with_the_component() {
    let mut app = app();
    app.insert_resource(ClothGravity(Vec3::Z * 5.0));
    let mesh = crate::add_mesh(&mut app, ClothGrid::vertical(1.0, 1.0, 4, 4));
    let cloth = app
        .world_mut()
        .spawn((Cloth::default(), PlanarCloth::default(), Mesh3d(mesh)))
        .id();
    run(&mut app, 10);
    app.world_mut()
        .get_mut::<Transform>(cloth)
        .unwrap()
        .translation = Vec3::Z * 0.25;
    run(&mut app, 10);
    assert!(farthest(&app, cloth, Vec3::Z * 0.25, Vec3::Z) < 1e-6);
    app.world_mut().entity_mut(cloth).remove::<PlanarCloth>();
    run(&mut app, 10);
    // The cloth falls freely, without an initial velocity: ½·5·(1/6)² m.
    let out = farthest(&app, cloth, Vec3::Z * 0.25, Vec3::Z);
    assert!((0.01..0.1).contains(&out), "{out}");
}

#[test]
fn a_normal_that_is_no_direction_is_reported_once_and_ignored() {
    let mut app = app();
    record(&mut app, 700);
    for bad in [Vec3::ZERO, Vec3::NAN, Vec3::INFINITY] {
        let cloth = spawn(&mut app, PlanarCloth { normal: bad });
        run(&mut app, 30);
        let errors = lines_about(cloth);
        let errors = errors.iter().filter(|line| line.starts_with("ERROR"));
        assert_eq!(errors.count(), 1, "{bad}");
        let centre = crate::centre(&app, cloth);
        assert!(centre.is_finite() && centre.y < -0.5, "{bad}: {centre}");
    }
}
