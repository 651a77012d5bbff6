//! Runs a whole fixed step without an app: the phases that the plugin runs as systems, in the same order and
//! with the same bits.

use super::{
    aero::{Air, apply_air_parallel},
    collide::{Collider, ContactSurface, Surface, update_and_collide},
    constraints::{Compliance, ConstraintGraph},
    damping::{ConstraintDamping, damp_strains_parallel},
    integrate::{IntegrateSettings, integrate_parallel},
    internal_friction::apply_internal_friction,
    particles::{ParticleArrays, PinTarget},
    ramp::RelaxationFactor,
    relax::{RelaxSettings, StretchSolver, relax_parallel},
    self_collision::{SelfCollisionSettings, SelfContactPairs},
    tethers::{Tethers, solve_tethers_parallel},
    triangle_contacts::TriangleContacts,
    triangles::Triangles,
    workers::Workers,
};
use bevy::math::Vec3;

/// Borrowed state of the cloth that [`step`] moves.
pub struct ClothState<'a> {
    /// Positions, displacements and masses.
    pub particles: &'a mut ParticleArrays,
    /// Stretch, shear and bend constraints.
    pub constraints: &'a mut ConstraintGraph,
    /// Triangles on which the air acts.
    pub triangles: &'a Triangles,
    /// Tethers to pinned particles.
    pub tethers: &'a Tethers,
    /// Targets of pinned particles at the end of the step.
    pub pins: &'a [PinTarget],
    /// Contacts and settings of self-collision; `None` switches self-collision off.
    pub self_contacts: Option<(&'a mut SelfContactPairs, SelfCollisionSettings<'a>)>,
}

/// Settings of [`step`].
#[derive(Clone, Copy, Debug)]
pub struct StepSettings {
    /// Length of the fixed step, s.
    pub dt: f32,
    /// Substeps per fixed step; 0 is taken as 1.
    pub substeps: u32,
    /// Solver iterations per substep.
    pub iterations: u32,
    /// Solver of stretch constraints.
    pub stretch_solver: StretchSolver,
    /// Largest strain of elastic stretch constraints, as a fraction of their rest length; infinity sets no limit.
    pub strain_limit: f32,
    /// Gravity, m/s².
    pub gravity: Vec3,
    /// Damping rate, 1/s ([`IntegrateSettings::damping`]).
    pub damping: f32,
    /// Compliance of the constraints.
    pub compliance: Compliance,
    /// Maximum length of tethers, as a multiple of their rest length; infinity switches tethers off.
    pub tether_scale: f32,
    /// Air and aerodynamic coefficients.
    pub air: Air,
    /// Thickness and friction of the cloth.
    pub surface: Surface,
    /// Internal friction of the fabric, m/s² ([`apply_internal_friction`]).
    pub internal_friction: f32,
    /// Damping of constraints (Kelvin–Voigt).
    pub constraint_damping: ConstraintDamping,
}

/// Moves a cloth by one fixed step. Returns whether all numbers are still finite; if not, the cloth is restored
/// to its positions at the start of the step, with velocity 0.
pub fn step(body: ClothState, colliders: &[Collider], settings: &StepSettings) -> bool {
    step_parallel(&mut Workers::serial(), body, colliders, settings)
}

/// [`step`], split over workers. Gives the same bits.
pub fn step_parallel(
    workers: &mut Workers,
    body: ClothState,
    colliders: &[Collider],
    settings: &StepSettings,
) -> bool {
    let ClothState {
        particles,
        constraints,
        triangles,
        tethers,
        pins,
        mut self_contacts,
    } = body;
    let substeps = settings.substeps.max(1);
    let integrate_settings = IntegrateSettings {
        gravity: settings.gravity,
        damping: settings.damping,
        dt: settings.dt / substeps as f32,
    };
    apply_internal_friction(particles, settings.internal_friction, settings.dt);
    particles.begin_step_parallel(workers, None, pins, substeps);
    apply_air_parallel(workers, particles, triangles, &settings.air, settings.dt);
    let mut triangle_contacts = TriangleContacts::default();
    triangle_contacts.prepare(triangles, colliders, settings.surface.thickness);
    let mut touched = false;
    for substep in 0..substeps {
        integrate_parallel(workers, particles, &integrate_settings);
        if substep == 0 {
            constraints.prepare(particles);
            damp_strains_parallel(
                workers,
                particles,
                constraints,
                &settings.compliance,
                &settings.constraint_damping,
                settings.dt,
            );
        }
        let relax_settings = RelaxSettings {
            compliance: settings.compliance,
            stretch_solver: settings.stretch_solver,
            strain_limit: settings.strain_limit,
            iterations: settings.iterations,
            dt: integrate_settings.dt,
            relaxation_factor: RelaxationFactor::default(),
            substeps_left: substeps - 1 - substep,
            loads: false,
        };
        if touched {
            constraints.forget_angular_momentum();
        }
        relax_parallel(workers, particles, constraints, &relax_settings);
        solve_tethers_parallel(workers, particles, tethers, settings.tether_scale);
        if let Some((contacts, settings)) = &mut self_contacts {
            contacts.collide(particles, settings, substep);
        }
        let contact_surface = ContactSurface {
            triangles,
            triangle_contacts: &mut triangle_contacts,
            surface: settings.surface,
        };
        touched |= update_and_collide(
            workers,
            particles,
            contact_surface,
            colliders,
            [substep, substeps],
        );
    }
    constraints.finish(particles, touched);
    particles.end_step(pins);
    let finite = particles.is_finite_parallel(workers);
    if !finite {
        particles.restore();
    }
    particles.rebase();
    finite
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mesh::{Assembly, ClothGrid, Topology, TriangleMesh},
        solver::{Friction, Pose, RestShape, Shape, workers::threads},
    };
    use bevy::math::{Mat3, Quat};

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
        let pose = |translation| Pose {
            rotation: Quat::IDENTITY,
            translation,
        };
        let friction = Friction {
            static_coefficient: 0.5,
            kinetic_coefficient: 0.4,
        };
        let ball = Collider {
            end: pose(Vec3::new(0.0, 0.31, 0.0)),
            ..Collider::fixed(Shape::Sphere { radius: 0.3 }, pose(Vec3::Y * 0.3), friction)
        };
        let floor = Collider::fixed(Shape::HalfSpace, pose(Vec3::Y * 0.55), friction);
        threads::with(threads, |workers| {
            for _ in 0..4 {
                let body = ClothState {
                    particles: &mut particles,
                    constraints: &mut constraints,
                    triangles: &triangles,
                    tethers: &tethers,
                    pins: &pins,
                    self_contacts: None,
                };
                assert!(step_parallel(workers, body, &[ball, floor], settings));
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
}
