use super::*;
use crate::{
    mesh::{Assembly, ClothGrid, Topology, TriangleMesh},
    solver::{
        Air, Bodies, Compliance, ConstraintDamping, Contacts, Friction, MotionConstraints, Pose,
        RestShape, Shape, StretchSolver, Surface, Tethers, parallel::workers::threads,
    },
};
use bevy::math::{Mat3, Vec3};

/// Steps a grid that is large enough to be cut into many parts in every stage, pinned along one edge, in the
/// wind, on a moving ball over a floor, with a hole. Returns the hash of its state.
fn hash(threads: usize, settings: &StepSettings) -> u64 {
    let grid = ClothGrid::new(2.0, 2.0, 150, 137);
    let mesh = TriangleMesh::read(&grid.into()).unwrap();
    let topology = Topology::new(&mesh).unwrap();
    let Assembly {
        mut particles,
        mut constraints,
        triangles,
        ..
    } = topology.assemble(Vec3::Y * 0.6, Mat3::IDENTITY, 0.2);
    let pinned: Vec<u32> = (0..150).collect();
    let pins: Vec<PinTarget> = pinned
        .iter()
        .map(|&particle| {
            particles.inverse_mass[particle as usize] = 0.0;
            let position = particles.position.get(particle as usize);
            PinTarget { particle, position }
        })
        .collect();
    constraints.retain(|c| !c.touches(10_000));
    let shape = RestShape {
        positions: &particles.position,
        triangles: &triangles.indices.to_vec(),
        constraints: &constraints,
    };
    let tethers = Tethers::new(&shape, &pinned);
    let pose = Pose::from_translation;
    let friction = Friction {
        static_coefficient: 0.5,
        kinetic_coefficient: 0.4,
    };
    let ball = Collider {
        end: pose(Vec3::new(0.0, 0.31, 0.0)),
        ..Collider::fixed(Shape::Sphere { radius: 0.3 }, pose(Vec3::Y * 0.3), friction)
    };
    let floor = Collider::fixed(Shape::HalfSpace, pose(Vec3::Y * 0.55), friction);
    let input = StepInput {
        pins: &pins,
        colliders: &[ball, floor],
        ..StepInput::default()
    };
    let mut cloth = ClothState {
        particles: &mut particles,
        constraints: &mut constraints,
        triangles: &triangles,
        segments: None,
        tethers: &tethers,
        motion_constraints: &MotionConstraints::default(),
        bodies: &mut Bodies::default(),
        contacts: &mut Contacts::default(),
    };
    threads::with(threads, |workers| {
        for _ in 0..4 {
            assert!(cloth.step(workers, settings, &input));
        }
    });
    particles.state_hash()
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let rigid = StepSettings {
        dt: 1.0 / 60.0,
        substeps: 3,
        iterations: 2,
        stretch_solver: StretchSolver::Direct,
        strain_limit: f32::INFINITY,
        gravity: Vec3::NEG_Y * 9.81,
        damping: 0.2,
        compliance: Compliance::default(),
        tether_scale: 1.0,
        air: Air {
            wind: Vec3::new(3.0, 1.0, -2.0),
            density: 1.2,
            drag: 1.0,
            lift: 0.5,
            areal_density: 0.2,
        },
        surface: Surface {
            thickness: 0.01,
            friction: Friction {
                static_coefficient: 0.5,
                kinetic_coefficient: 0.4,
            },
        },
        internal_friction: 0.1,
        constraint_damping: ConstraintDamping {
            stretch: 0.01,
            shear: 0.03,
            bending: 0.02,
        },
        ..StepSettings::default()
    };
    // With compliance and two iterations, Lagrange multipliers are kept and clamped too.
    let soft = StepSettings {
        stretch_solver: StretchSolver::GaussSeidel,
        compliance: Compliance {
            shear: 1e-4,
            bending: 1e-4,
            ..Compliance::of_stretch(1e-6)
        },
        ..rigid
    };
    let soft_chains = StepSettings {
        stretch_solver: StretchSolver::Direct,
        ..soft
    };
    let limited = StepSettings {
        strain_limit: 0.001,
        ..soft_chains
    };
    for settings in [rigid, soft, soft_chains, limited] {
        let expected = hash(0, &settings);
        for threads in threads::COUNTS {
            assert_eq!(
                hash(threads, &settings),
                expected,
                "{threads} threads, {settings:?}"
            );
        }
    }
}
