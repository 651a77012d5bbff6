//! Determinism: the plugin computes the same bits as the solver alone, on any number of threads.

use crate::{app, particles, run, sheet, spawn};
use bevy::prelude::*;
use bevy_drape::{
    mesh::{Topology, TriangleMesh},
    prelude::*,
    solver::{
        self, ClothState, Collider, Friction, PinTarget, Pose, RestShape, Shape, StepSettings,
        Tethers,
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
    let step_settings = StepSettings {
        dt: app
            .world()
            .resource::<Time<Fixed>>()
            .timestep()
            .as_secs_f32(),
        substeps: 8,
        iterations: settings.iterations,
        stretch_solver: settings.stretch_solver,
        strain_limit: f32::INFINITY,
        gravity: ClothGravity::default().0,
        damping: settings.damping,
        compliance: settings.fabric.compliance(),
        tether_scale: settings.tether_scale.unwrap(),
        air: settings.fabric.air(Vec3::new(1.0, 0.5, 2.0), 1.2),
        surface: settings.fabric.surface(),
        internal_friction: settings.fabric.internal_friction,
        constraint_damping: settings.fabric.constraint_damping(),
    };
    for _ in 0..100 {
        let state = ClothState {
            particles: &mut parts.particles,
            constraints: &mut parts.constraints,
            triangles: &parts.triangles,
            tethers: &tethers,
            pins: &pins,
            self_contacts: None,
        };
        assert!(solver::step(state, &colliders, &step_settings));
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
