//! Allocations of the solver alone.

use crate::counting::allocations_during;
use bevy::math::{Mat3, Quat, Vec3};
use bevy_drape::{
    cloth::Cloth,
    mesh::{ClothGrid, Topology, TriangleMesh},
    pins::Pins,
    solver::{
        self, Bodies, ClothState, Collider, Contacts, Friction, MotionConstraints, PinTarget, Pose,
        RestShape, SelfCollisionSettings, Shape, StepInput, StepSettings, StretchSolver, Tethers,
        Workers,
    },
};

fn settings(
    stretch_solver: StretchSolver,
    iterations: u32,
    tether_scale: f32,
) -> StepSettings<'static> {
    let wind = Vec3::new(3.0, 0.0, 2.0);
    let cloth = Cloth::default();
    StepSettings {
        iterations,
        stretch_solver,
        tether_scale,
        ..cloth.step_settings(1.0 / 60.0, 4, Vec3::NEG_Y * 9.81, wind, 1.2)
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
        triangles: &parts.triangles.indices,
    };
    let settings = StepSettings {
        self_collision: collides.then_some(self_collision),
        ..*settings
    };
    let input = StepInput {
        pins: &pins,
        colliders,
        ..StepInput::default()
    };
    let mut contacts = Contacts::default();
    let mut step = || {
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
        assert!(state.step(&mut Workers::serial(), &settings, &input));
    };
    (0..30).for_each(|_| step());
    allocations_during(|| (0..30).for_each(|_| step()))
}
