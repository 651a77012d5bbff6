//! Cloth that flies freely keeps turning.

use crate::{app, headless::headless_app, particles, run, spawn};
use bevy::{math::DVec3, prelude::*};
use bevy_drape::{ClothSubstep, ClothSystems, Particles, prelude::*};

/// Spawns a sheet with nothing that would slow it, in no gravity, that turns at 6 rad/s.
fn spinning(app: &mut App, extra: impl Bundle) -> Entity {
    app.insert_resource(ClothGravity(Vec3::ZERO));
    let cloth = spawn(app, extra);
    run(app, 1);
    let mut entity = app.world_mut().entity_mut(cloth);
    let mut settings = entity.get_mut::<Cloth>().unwrap();
    settings.damping = 0.0;
    let fabric = &mut settings.fabric;
    (fabric.drag, fabric.lift, fabric.bending_damping) = (0.0, 0.0, 0.0);
    let mut particles = entity.get_mut::<Particles>().unwrap();
    for i in 0..particles.len() {
        let velocity = Vec3::Y.cross(particles.world_position(i)) * 6.0;
        particles.set_velocity(i, velocity);
    }
    cloth
}

/// Momentum and angular momentum.
fn kept(app: &App, cloth: Entity) -> [DVec3; 2] {
    let particles = particles(app, cloth);
    let mut sums = [DVec3::ZERO; 2];
    for i in 0..particles.len() {
        let mass = f64::from(particles.inverse_mass[i]).recip();
        let momentum = particles.velocity(i).as_dvec3() * mass;
        sums[0] += momentum;
        sums[1] += particles.world_position(i).as_dvec3().cross(momentum);
    }
    sums
}

/// The share of its spin that it has left after so many steps.
fn left(app: &mut App, cloth: Entity, steps: u32) -> f64 {
    let [_, before] = kept(app, cloth);
    run(app, steps);
    let [_, after] = kept(app, cloth);
    after.dot(before) / before.length_squared()
}

#[test]
fn nothing_slows_cloth_that_nothing_holds_or_touches() {
    let mut app = app();
    // Far away, and smaller than a cell: it touches nothing.
    let far = Transform::from_xyz(30.0, 0.0, 0.0);
    app.world_mut().spawn((ClothCollider::sphere(0.01), far));
    let cloth = spinning(&mut app, ());
    let left = left(&mut app, cloth, 600);
    assert!((left - 1.0).abs() < 1e-4, "{left}");
}

#[test]
fn what_others_do_between_integration_and_relaxation_is_not_taken_back() {
    let mut app = app();
    let push = |mut cloths: Query<&mut Particles>| {
        for mut particles in &mut cloths {
            for i in 0..particles.len() {
                particles.position.add(i, Vec3::Y * 1e-5);
            }
        }
    };
    let between = push
        .after(ClothSystems::Integrate)
        .before(ClothSystems::Relax);
    app.add_systems(ClothSubstep, between);
    let cloth = spinning(&mut app, ());
    let speed = |app: &App| {
        let mass = 0.2; // of 1 m²
        kept(app, cloth)[0].y / mass
    };
    let before = speed(&app);
    run(&mut app, 10);
    let faster = speed(&app) - before;
    // In 80 substeps of 1/480 s.
    let expected = 80.0 * 1e-5 * 480.0;
    assert!(
        (faster / expected - 1.0).abs() < 0.01,
        "{faster} m/s, should be {expected}"
    );
}

#[test]
fn a_pause_does_nothing() {
    let of = |paused: u32| {
        let mut app = headless_app(ClothPlugin::new(Update));
        let ball = Transform::from_xyz(0.0, -0.49, 0.0);
        app.world_mut().spawn((ClothCollider::sphere(0.5), ball));
        let cloth = spinning(&mut app, ());
        run(&mut app, 20);
        app.world_mut().resource_mut::<Time<Virtual>>().pause();
        run(&mut app, paused);
        app.world_mut().resource_mut::<Time<Virtual>>().unpause();
        run(&mut app, 20);
        particles(&app, cloth).state_hash()
    };
    assert_eq!(of(0), of(7));
}
