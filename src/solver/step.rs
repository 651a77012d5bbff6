//! One whole fixed step without an app: the phases that the plugin runs as systems, in the same
//! order and with the same bits.

use super::{
    aero::{Air, apply_air_shared},
    collide::{Collider, Skin, Surface, collide_shared},
    constraints::{Compliance, ConstraintGraph},
    crew::Leader,
    damping::{Retardation, damp_strains_shared},
    facets::Facets,
    glide::Strength,
    integrate::{Integration, integrate_shared},
    internal_friction::apply_internal_friction,
    particles::{ParticleArrays, PinTarget},
    relax::{Relaxation, ThreadSolver, relax_shared},
    self_collision::{SelfCollision, SelfContacts},
    tethers::{Tethers, hold_tethers_shared},
    triangles::Triangles,
};
use bevy::math::Vec3;

/// The cloth that is stepped.
pub struct Body<'a> {
    /// Its state.
    pub particles: &'a mut ParticleArrays,
    /// What holds it together.
    pub constraints: &'a mut ConstraintGraph,
    /// What catches the wind.
    pub triangles: &'a Triangles,
    /// What keeps its particles within reach of the pinned ones.
    pub tethers: &'a Tethers,
    /// Where its pinned particles go.
    pub pins: &'a [PinTarget],
    /// How it collides with itself, and room for that; `None` if it does not.
    pub self_contacts: Option<(&'a mut SelfContacts, SelfCollision<'a>)>,
}

/// How it is stepped.
#[derive(Clone, Copy, Debug)]
pub struct StepSettings {
    /// Length of the fixed step, s.
    pub dt: f32,
    /// Substeps of a fixed step.
    pub substeps: u32,
    /// Relaxation passes of a substep.
    pub iterations: u32,
    /// How threads are solved.
    pub threads: ThreadSolver,
    /// How far threads may be stretched that have compliance, as a share of their rest length; infinity
    /// sets no limit.
    pub strain_limit: f32,
    /// Gravity, m/s².
    pub gravity: Vec3,
    /// Damping, 1/s.
    pub damping: f32,
    /// Compliance of the constraints.
    pub compliance: Compliance,
    /// How far tethers let particles go, as a multiple of their lengths; infinity switches them off.
    pub tether_scale: f32,
    /// The air.
    pub air: Air,
    /// Thickness and friction.
    pub surface: Surface,
    /// Friction within the fabric, m/s² ([`apply_internal_friction`]).
    pub internal_friction: f32,
    /// What resists being strained fast.
    pub retardation: Retardation,
}

/// Moves a cloth by one fixed step. Returns whether all numbers are still finite; if not, the cloth
/// is back where the step began, at rest.
pub fn step(body: Body, colliders: &[Collider], settings: &StepSettings) -> bool {
    step_shared(&mut Leader::alone(), body, colliders, settings)
}

/// [`step`], shared with the leader's helpers. Gives the same bits.
pub fn step_shared(
    leader: &mut Leader,
    body: Body,
    colliders: &[Collider],
    settings: &StepSettings,
) -> bool {
    let Body {
        particles,
        constraints,
        triangles,
        tethers,
        pins,
        mut self_contacts,
    } = body;
    let substeps = settings.substeps.max(1);
    let by = Integration {
        gravity: settings.gravity,
        damping: settings.damping,
        dt: settings.dt / substeps as f32,
    };
    apply_internal_friction(particles, settings.internal_friction, settings.dt);
    particles.begin_step_shared(leader, None, pins, substeps);
    apply_air_shared(leader, particles, triangles, &settings.air, settings.dt);
    let mut facets = Facets::default();
    facets.prepare(triangles, colliders, settings.surface.thickness);
    let mut touched = false;
    for substep in 0..substeps {
        integrate_shared(leader, particles, &by);
        if substep == 0 {
            constraints.prepare(particles);
            damp_strains_shared(
                leader,
                particles,
                constraints,
                &settings.compliance,
                &settings.retardation,
                settings.dt,
            );
        }
        let relaxation = Relaxation {
            compliance: settings.compliance,
            threads: settings.threads,
            strain_limit: settings.strain_limit,
            iterations: settings.iterations,
            dt: by.dt,
            strength: Strength::default(),
            to_come: substeps - 1 - substep,
            loads: false,
        };
        if touched {
            constraints.forget_spin();
        }
        relax_shared(leader, particles, constraints, &relaxation);
        hold_tethers_shared(leader, particles, tethers, settings.tether_scale);
        if let Some((contacts, by)) = &mut self_contacts {
            contacts.collide(particles, by, substep);
        }
        let skin = Skin {
            triangles,
            facets: &mut facets,
            surface: settings.surface,
        };
        touched |= collide_shared(leader, particles, skin, colliders, [substep, substeps]);
    }
    constraints.finish(particles, touched);
    particles.end_step(pins);
    let finite = particles.is_finite_shared(leader);
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
        solver::{Friction, Pose, RestShape, Shape, crew::threads},
    };
    use bevy::math::{Mat3, Quat};

    /// A sheet that is large enough to be cut into many parts in every phase, held along one edge,
    /// in the wind, on a moving ball over a floor, with a hole.
    fn hash(threads: usize, by: &StepSettings) -> u64 {
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
            fixed: 0.5,
            kinetic: 0.4,
        };
        let ball = Collider {
            end: pose(Vec3::new(0.0, 0.31, 0.0)),
            ..Collider::fixed(Shape::Sphere { radius: 0.3 }, pose(Vec3::Y * 0.3), friction)
        };
        let floor = Collider::fixed(Shape::HalfSpace, pose(Vec3::Y * 0.55), friction);
        threads::with(threads, |leader| {
            for _ in 0..4 {
                let body = Body {
                    particles: &mut particles,
                    constraints: &mut constraints,
                    triangles: &triangles,
                    tethers: &tethers,
                    pins: &pins,
                    self_contacts: None,
                };
                assert!(step_shared(leader, body, &[ball, floor], by));
            }
        });
        particles.state_hash()
    }

    #[test]
    fn the_bits_do_not_depend_on_the_number_of_threads() {
        let by = StepSettings {
            dt: 1.0 / 60.0,
            substeps: 3,
            iterations: 2,
            threads: ThreadSolver::Direct,
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
                    fixed: 0.5,
                    kinetic: 0.4,
                },
            },
            internal_friction: 0.1,
            retardation: Retardation {
                stretch: 0.01,
                shear: 0.03,
                bending: 0.02,
            },
        };
        // With compliance and two iterations, Lagrange multipliers are kept and cut too.
        let soft = StepSettings {
            threads: ThreadSolver::Relaxation,
            compliance: Compliance {
                shear: 1e-4,
                bending: 1e-4,
                ..Compliance::of_threads(1e-6)
            },
            ..by
        };
        let soft_threads = StepSettings {
            threads: ThreadSolver::Direct,
            ..soft
        };
        let limited = StepSettings {
            strain_limit: 0.001,
            ..soft_threads
        };
        for by in [by, soft, soft_threads, limited] {
            let expected = hash(0, &by);
            for threads in threads::COUNTS {
                assert_eq!(hash(threads, &by), expected, "{threads} threads, {by:?}");
            }
        }
    }
}
