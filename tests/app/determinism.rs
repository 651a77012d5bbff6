//! Determinism: the plugin computes the same bits as the solver alone, on any number of threads.

use crate::{app, particles, run, sheet, spawn};
use bevy::prelude::*;
use bevy_drape::{
    mesh::{Topology, TriangleMesh},
    pins::ClothCorner,
    prelude::*,
    solver::{
        Bodies, ClothState, Collider, Contacts, Friction, MotionConstraints, PinTarget, Pose,
        RestShape, Shape, StepInput, Tethers, Workers, break_symmetry,
    },
};

#[test]
fn the_plugin_gives_the_bits_of_the_solver() {
    let mut app = app();
    app.world_mut().spawn((
        ClothCollider::sphere(0.3).with_friction(0.5, 0.4),
        Transform::from_xyz(0.1, -0.5, 0.0),
    ));
    app.world_mut().resource_mut::<Wind>().velocity = Vec3::new(1.0, 0.5, 2.0);
    let cloth = spawn(&mut app, Pins::top_corners());
    run(&mut app, 101);

    let mesh = TriangleMesh::read(&sheet().into()).unwrap();
    let topology = Topology::new(&mesh).unwrap();
    let settings = Cloth::default();
    let mut parts = topology.assemble(Vec3::ZERO, Mat3::IDENTITY, 0.2);
    let pins: Vec<_> = Pins::top_corners()
        .select(&topology)
        .into_iter()
        .map(|particle| {
            parts.particles.inverse_mass[particle as usize] = 0.0;
            PinTarget {
                particle,
                position: parts.particles.position.get(particle as usize),
            }
        })
        .collect();
    let rest = parts.particles.position.clone();
    break_symmetry(&mut parts.particles, &parts.triangles.indices);
    let shape = RestShape {
        positions: &rest,
        triangles: &parts.triangles.indices.to_vec(),
        constraints: &parts.constraints,
    };
    let tethers = Tethers::new(&shape, &Pins::top_corners().select(&topology));
    let friction = Friction {
        static_coefficient: 0.5,
        kinetic_coefficient: 0.4,
    };
    let pose = Pose {
        rotation: Quat::IDENTITY,
        translation: Vec3::new(0.1, -0.5, 0.0),
    };
    let colliders = [Collider::fixed(
        Shape::Sphere { radius: 0.3 },
        pose,
        friction,
    )];
    let dt = app.world().resource::<Time<Fixed>>().timestep();
    let wind = Vec3::new(1.0, 0.5, 2.0);
    let step_settings =
        settings.step_settings(dt.as_secs_f32(), 8, ClothGravity::default().0, wind, 1.2);
    let input = StepInput {
        pins: &pins,
        colliders: &colliders,
        ..default()
    };
    let mut contacts = Contacts::default();
    for _ in 0..100 {
        let mut state = ClothState {
            particles: &mut parts.particles,
            constraints: &mut parts.constraints,
            triangles: &parts.triangles,
            segments: None,
            tethers: &tethers,
            motion_constraints: &MotionConstraints::default(),
            bodies: &mut Bodies::default(),
            contacts: &mut contacts,
        };
        assert!(state.step(&mut Workers::serial(), &step_settings, &input));
    }
    assert_eq!(
        parts.particles.state_hash(),
        particles(&app, cloth).state_hash()
    );
}

#[test]
fn many_cloths_in_parallel_give_the_bits_of_one_alone() {
    let hash = |count: usize| {
        let mut app = app();
        app.world_mut().spawn((
            ClothCollider::half_space(),
            Transform::from_xyz(0.0, -0.4, 0.0),
        ));
        let cloths: Vec<_> = (0..count)
            .map(|_| spawn(&mut app, Pins::corner(ClothCorner::TopLeft)))
            .collect();
        run(&mut app, 60);
        let hashes = cloths.iter().map(|&c| particles(&app, c).state_hash());
        hashes.collect::<Vec<_>>()
    };
    let alone = hash(1)[0];
    assert!(hash(24).into_iter().all(|h| h == alone));
}
