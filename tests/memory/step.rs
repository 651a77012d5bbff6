//! Allocations of the solver alone.

use crate::counting::allocations_during;
use bevy::math::{Mat3, Quat, Vec3};
use bevy_drape::{
    Cloth, Pins,
    mesh::{ClothGrid, Topology, TriangleMesh},
    solver::{
        self, Air, ClothState, Collider, Friction, PinTarget, Pose, RestShape,
        SelfCollisionSettings, SelfContactPairs, Shape, StepSettings, StretchSolver, Tethers,
    },
};

fn settings(stretch_solver: StretchSolver, iterations: u32, tether_scale: f32) -> StepSettings {
    let cloth = Cloth::default();
    StepSettings {
        dt: 1.0 / 60.0,
        substeps: 4,
        iterations,
        stretch_solver,
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
        constraint_damping: cloth.fabric.constraint_damping(),
    }
}

/// Returns a collider of each of four shapes.
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
        static_coefficient: 0.5,
        kinetic_coefficient: 0.4,
    };
    let numbered = shapes.into_iter().enumerate();
    numbered
        .map(|(number, shape)| Collider::fixed(shape, pose(number), friction))
        .collect()
}

/// Tests that no kind of step allocates in steady state: sheets that hang or fall on colliders, with the direct or
/// the Gauss–Seidel solver, as a grid or as an irregular mesh, with and without self-collision.
pub(crate) fn allocates_nothing() {
    let colliders = colliders();
    for vertical in [true, false] {
        for is_grid in [true, false] {
            for stretch_solver in [StretchSolver::Direct, StretchSolver::GaussSeidel] {
                for (iterations, tether_scale) in [(1, 1.0), (5, 1.0), (5, f32::INFINITY)] {
                    for collides in [false, true] {
                        let count = count_allocations(
                            [vertical, is_grid, collides],
                            if vertical { &[] } else { &colliders },
                            &settings(stretch_solver, iterations, tether_scale),
                        );
                        assert_eq!(
                            count, 0,
                            "vertical: {vertical}, grid: {is_grid}, {stretch_solver:?}, \
                             {iterations} iterations, tethers {tether_scale}, \
                             self-collision: {collides}"
                        );
                    }
                }
            }
        }
    }
}

/// Returns the number of allocations in 30 steps, after 30 others.
fn count_allocations(
    [vertical, is_grid, collides]: [bool; 3],
    colliders: &[Collider],
    settings: &StepSettings,
) -> usize {
    let grid = ClothGrid {
        vertical,
        ..ClothGrid::new(2.0, 2.0, 40, 40)
    };
    let mesh = TriangleMesh::read(&grid.into()).unwrap();
    let mut topology = Topology::new(&mesh).unwrap();
    if !is_grid {
        topology.grids.clear();
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
    let self_collision = SelfCollisionSettings {
        distance: solver::self_distance(settings.surface.thickness, spacing),
        friction: settings.surface.friction,
        rest: &topology.positions,
        to_world: Mat3::IDENTITY,
        triangles: None,
    };
    let mut contacts = SelfContactPairs::default();
    let mut step = || {
        let state = ClothState {
            particles: &mut parts.particles,
            constraints: &mut parts.constraints,
            triangles: &parts.triangles,
            tethers: &tethers,
            pins: &pins,
            self_contacts: collides.then_some((&mut contacts, self_collision)),
        };
        assert!(solver::step(state, colliders, settings));
    };
    (0..30).for_each(|_| step());
    allocations_during(|| (0..30).for_each(|_| step()))
}
