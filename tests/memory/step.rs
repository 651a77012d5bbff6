//! The solver alone.

use crate::counting::requests_of;
use bevy::math::{Mat3, Quat, Vec3};
use bevy_drape::{
    Cloth, Pins,
    mesh::{ClothGrid, Topology, TriangleMesh},
    solver::{
        self, Air, Body, Collider, Friction, PinTarget, Pose, RestShape, SelfCollision,
        SelfContacts, Shape, StepSettings, Tethers, ThreadSolver,
    },
};

fn settings(threads: ThreadSolver, iterations: u32, tether_scale: f32) -> StepSettings {
    let cloth = Cloth::default();
    StepSettings {
        dt: 1.0 / 60.0,
        substeps: 4,
        iterations,
        threads,
        strain_limit: f32::INFINITY,
        gravity: Vec3::NEG_Y * 9.81,
        damping: cloth.damping,
        compliance: cloth.fabric.compliance(),
        tether_scale,
        air: Air {
            wind: Vec3::new(3.0, 0.0, 2.0),
            ..cloth.fabric.air(Vec3::ZERO, 1.2)
        },
        surface: cloth.fabric.surface(),
        internal_friction: cloth.fabric.internal_friction,
        retardation: cloth.fabric.retardation(),
    }
}

/// One of each shape.
fn colliders() -> Vec<Collider> {
    let shapes = [
        Shape::Sphere { radius: 0.5 },
        Shape::HalfSpace,
        Shape::Capsule {
            radius: 0.2,
            half_length: 0.4,
        },
        Shape::Cuboid {
            half_size: Vec3::new(0.3, 0.2, 0.4),
        },
    ];
    let pose = |number: usize| Pose {
        rotation: Quat::from_rotation_z(0.3 * number as f32),
        translation: Vec3::new(0.4 * number as f32, 0.5 - 0.5 * number as f32, 0.1),
    };
    let friction = Friction {
        fixed: 0.5,
        kinetic: 0.4,
    };
    let numbered = shapes.into_iter().enumerate();
    numbered
        .map(|(number, shape)| Collider::fixed(shape, pose(number), friction))
        .collect()
}

/// After some steps, none of the ways to take one asks for memory: a sheet that hangs and one that
/// falls on things, its threads solved whole or link by link, as a sheet or as any mesh, with and
/// without self-collision.
pub(crate) fn asks_for_nothing() {
    let colliders = colliders();
    for vertical in [true, false] {
        for woven in [true, false] {
            for threads in [ThreadSolver::Direct, ThreadSolver::Relaxation] {
                for (iterations, tether_scale) in [(1, 1.0), (5, 1.0), (5, f32::INFINITY)] {
                    for collides in [false, true] {
                        let asked = asks(
                            [vertical, woven, collides],
                            if vertical { &[] } else { &colliders },
                            &settings(threads, iterations, tether_scale),
                        );
                        assert_eq!(
                            asked, 0,
                            "vertical: {vertical}, woven: {woven}, {threads:?}, {iterations} \
                             iterations, tethers {tether_scale}, self-collision: {collides}"
                        );
                    }
                }
            }
        }
    }
}

fn asks(
    [vertical, woven, collides]: [bool; 3],
    colliders: &[Collider],
    settings: &StepSettings,
) -> usize {
    let grid = ClothGrid {
        vertical,
        ..ClothGrid::new(2.0, 2.0, 40, 40)
    };
    let mesh = TriangleMesh::read(&grid.into()).unwrap();
    let mut topology = Topology::new(&mesh).unwrap();
    if !woven {
        topology.sheets.clear();
    }
    let mut parts = topology.assemble(Vec3::Y, Mat3::IDENTITY, 0.2);
    let pinned = if vertical {
        Pins::top_corners().select(&topology)
    } else {
        Vec::new()
    };
    let mut pins = Vec::new();
    for &particle in &pinned {
        parts.particles.inverse_mass[particle as usize] = 0.0;
        let position = parts.particles.position.get(particle as usize);
        pins.push(PinTarget { particle, position });
    }
    let tethers = Tethers::new(
        &RestShape {
            positions: &parts.particles.position,
            triangles: &parts.triangles.indices.to_vec(),
            constraints: &parts.constraints,
        },
        &pinned,
    );
    assert_eq!(tethers.is_empty(), pinned.is_empty());
    let spacing = solver::rest_spacing(
        &topology.positions,
        &parts.triangles.indices,
        Mat3::IDENTITY,
    );
    let by = SelfCollision {
        distance: solver::self_distance(settings.surface.thickness, spacing),
        friction: settings.surface.friction,
        rest: &topology.positions,
        to_world: Mat3::IDENTITY,
        triangles: None,
    };
    let mut contacts = SelfContacts::default();
    let mut step = || {
        let body = Body {
            particles: &mut parts.particles,
            constraints: &mut parts.constraints,
            triangles: &parts.triangles,
            tethers: &tethers,
            pins: &pins,
            self_contacts: collides.then_some((&mut contacts, by)),
        };
        assert!(solver::step(body, colliders, settings));
    };
    (0..30).for_each(|_| step());
    requests_of(|| (0..30).for_each(|_| step()))
}
