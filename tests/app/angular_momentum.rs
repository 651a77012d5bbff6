//! Free cloth keeps its angular momentum.

use crate::{app, headless::headless_app, particles, run, spawn};
use bevy::{math::DVec3, prelude::*};
use bevy_drape::{cloth::ClothSubstep, prelude::*};

/// Spawns a sheet that turns at 6 rad/s, without damping, drag, lift or gravity.
fn spinning(app: &mut App, extra: impl Bundle) -> Entity {
    app.insert_resource(ClothGravity(Vec3::ZERO));
    let cloth = spawn(app, extra);
    run(app, 1);
    let mut entity = app.world_mut().entity_mut(cloth);
    let mut settings = entity.get_mut::<Cloth>().unwrap();
    settings.damping = 0.0;
    let fabric = &mut settings.fabric;
    (fabric.drag, fabric.lift, fabric.bending_damping) = (0.0, 0.0, 0.0);
    let mut particles = entity.get_mut::<ClothParticles>().unwrap();
    for i in 0..particles.len() {
        let velocity = Vec3::Y.cross(particles.world_position(i)) * 6.0;
        particles.set_velocity(i, velocity);
    }
    cloth
}

/// Returns the linear momentum, kg·m/s, and the angular momentum, kg·m²/s.
fn momenta(app: &App, cloth: Entity) -> [DVec3; 2] {
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

/// Returns the fraction of its angular momentum that a cloth has left after some steps.
fn fraction_left(app: &mut App, cloth: Entity, steps: u32) -> f64 {
    let [_, before] = momenta(app, cloth);
    run(app, steps);
    let [_, after] = momenta(app, cloth);
    after.dot(before) / before.length_squared()
}

#[test]
fn free_cloth_keeps_its_angular_momentum() {
    let mut app = app();
    // Far away and smaller than a cell: touches nothing.
    let far = Transform::from_xyz(30.0, 0.0, 0.0);
    app.world_mut().spawn((ClothCollider::sphere(0.01), far));
    let cloth = spinning(&mut app, ());
    let fraction = fraction_left(&mut app, cloth, 600);
    assert!((fraction - 1.0).abs() < 1e-4, "{fraction}");
}

#[test]
fn momentum_that_user_code_adds_between_integration_and_relaxation_stays() {
    let mut app = app();
    let push = |mut cloths: Query<&mut ClothParticles>| {
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
        momenta(app, cloth)[0].y / mass
    };
    let before = speed(&app);
    run(&mut app, 10);
    let gain = speed(&app) - before;
    // In 80 substeps of 1/480 s.
    let expected = 80.0 * 1e-5 * 480.0;
    assert!(
        (gain / expected - 1.0).abs() < 0.01,
        "{gain} m/s, expected {expected}"
    );
}

#[test]
fn a_pause_changes_no_bit() {
    let hash = |paused_frames: u32| {
        let mut app = headless_app(ClothPlugin::new(Update));
        let ball = Transform::from_xyz(0.0, -0.49, 0.0);
        app.world_mut().spawn((ClothCollider::sphere(0.5), ball));
        let cloth = spinning(&mut app, ());
        run(&mut app, 20);
        app.world_mut().resource_mut::<Time<Virtual>>().pause();
        run(&mut app, paused_frames);
        app.world_mut().resource_mut::<Time<Virtual>>().unpause();
        run(&mut app, 20);
        particles(&app, cloth).state_hash()
    };
    assert_eq!(hash(0), hash(7));
}
