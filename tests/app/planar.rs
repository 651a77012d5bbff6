//! Cloth that is kept in a plane.

use crate::{
    app,
    log::{lines_about, record},
    particles, run, spawn,
};
use bevy::prelude::*;
use bevy_drape::prelude::*;

/// How far the particle that is farthest out is from the plane, m.
fn farthest(app: &App, cloth: Entity, point: Vec3, normal: Vec3) -> f32 {
    let particles = particles(app, cloth);
    (0..particles.len())
        .map(|i| normal.dot(particles.world_position(i) - point).abs())
        .fold(0.0, f32::max)
}

/// Wind and gravity along the normal, and a ball that is a little on one side of the plane.
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
    // The sheet of these tests lies in the xz plane of its mesh; it is stood up.
    let mesh = crate::add_mesh(&mut app, ClothGrid::vertical(1.0, 1.0, 10, 10));
    let cloth = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), transform, extra))
        .id();
    run(&mut app, 120);
    (app, cloth)
}

#[test]
fn nothing_pushes_it_out_of_its_plane() {
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
        let held = (PlanarCloth::default(), Pins::top_corners());
        let (app, cloth) = pushed_out(transform, held);
        let out = farthest(&app, cloth, point, normal);
        assert!(out < 1e-6, "{out} m out of the plane");
        // In the plane it gives way to the ball.
        let pushed = crate::centre(&app, cloth).distance(point);
        assert!(pushed > 0.005, "it moved {pushed} m");

        let (app, free) = pushed_out(transform, Pins::top_corners());
        let out = farthest(&app, free, point, normal);
        assert!(out > 0.1, "without the component: {out} m");
    }
}

#[test]
fn the_ball_in_its_way_still_parts_it() {
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
    // Where the plane cuts the ball it is 0.297 m wide; being brought back may cost a little.
    assert!(nearest > 0.28, "{nearest} m from the middle of the ball");
}

#[test]
fn it_may_collide_with_itself_there() {
    let mut app = app();
    app.world_mut().spawn((
        ClothCollider::half_space(),
        Transform::from_xyz(0.0, -0.6, 0.0),
    ));
    // A ribbon that comes down on its edge has to fold in its plane.
    let mesh = crate::add_mesh(&mut app, ClothGrid::vertical(0.05, 1.0, 2, 41));
    let cloth = Cloth {
        self_collision: SelfCollision::ParticlesAndEdges,
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
    // Neighbours are 25 mm apart and more, and what is farther than 1.5 times what it keeps, 35 mm, at rest
    // stays so far apart.
    let at = |i: usize| particles.world_position(i);
    let rest = |i: usize| Vec2::new((i % 2) as f32 * 0.05, (i / 2) as f32 * 0.025);
    let pairs = (0..particles.len()).flat_map(|i| (0..i).map(move |j| [i, j]));
    let far = pairs.filter(|[i, j]| rest(*i).distance(rest(*j)) > 0.06);
    let nearest = far.map(|[i, j]| at(i).distance(at(j))).fold(1.0, f32::min);
    assert!(nearest > 0.02, "{nearest} m");
}

#[test]
fn the_plane_goes_with_its_entity_and_ends_with_the_component() {
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
    // Free again, and not flung: ½·5·(1/6)² m.
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
