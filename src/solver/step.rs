//! Steps a cloth: the stages of a substep, and a whole fixed step of them.
//!
//! The plugin calls the same stages, all in a row or as the systems of `ClothSubstep`.
//!
//! | stage | effect |
//! |---|---|
//! | [`begin_step`](ClothState::begin_step) | internal friction, targets of pins, forces of the air; once per step |
//! | [`integrate`](ClothState::integrate) | position Verlet |
//! | [`relax`](ClothState::relax) | pressure, damping of strains, constraints, tethers, motion constraints, grabs |
//! | [`collide_self`](ClothState::collide_self) | displacements, contacts of the cloth with itself |
//! | [`collide`](ClothState::collide) | contacts with colliders, meshes and bodies |
//! | [`end_step`](ClothState::end_step) | angular momentum, pinned positions, check of all numbers; once per step |
//!
//! Contacts between two cloths ([`CrossContacts`](super::CrossContacts)) come between the two collision stages.

#[cfg(feature = "parry")]
use crate::solver::collision::{bodies::FULL_STEP, mesh::MeshCollider};
use crate::solver::{
    collision::{
        bodies::BodyContactInput,
        collider::{Collider, ContactSurface, update_and_collide},
    },
    constraints::{
        damping::damp_strains,
        grab::{GrabConstraint, solve_grab},
        plane::constrain_to_plane,
        tethers::solve_tethers,
    },
    forces::{
        internal_friction::apply_internal_friction, pressure::inflate, wind_field::apply_air,
    },
    integrate::{IntegrateSettings, integrate},
    parallel::workers::Workers,
    particles::PinTarget,
    relax::{RelaxSettings, relax},
    state::{ClothState, StepInput, StepSettings, SubstepTime},
};

impl ClothState<'_> {
    /// Moves the cloth by one fixed step. Returns whether all numbers are still finite; if not, the cloth is
    /// restored to its positions at the start of the step, with velocity 0.
    pub fn step(
        &mut self,
        workers: &mut Workers,
        settings: &StepSettings,
        input: &StepInput,
    ) -> bool {
        self.begin_step(workers, settings, input);
        for time in SubstepTime::new(settings.dt, settings.substeps).substeps() {
            self.substep(workers, settings, input, &time);
        }
        let is_held = settings.plane.is_some() || !input.grabs.is_empty();
        self.end_step(workers, input.pins, is_held)
    }

    /// Begins a step: everything that happens once before its substeps.
    pub fn begin_step(
        &mut self,
        workers: &mut Workers,
        settings: &StepSettings,
        input: &StepInput,
    ) {
        if !self.bodies.is_empty() {
            self.bodies.begin_step(settings.dt);
            self.bodies.distribute_masses(self.particles);
        }
        apply_internal_friction(self.particles, settings.internal_friction, settings.dt);
        let substeps = settings.substeps.max(1);
        self.particles
            .begin_step(workers, input.frame_motion, input.pins, substeps);
        let (triangles, segments) = (self.triangles, self.segments);
        let (air, dt) = (&settings.air, settings.dt);
        apply_air(
            workers,
            &input.wind,
            self.particles,
            triangles,
            segments,
            air,
            dt,
        );
    }

    /// Takes one substep: all its stages in a row, for a cloth that touches no other.
    pub fn substep(
        &mut self,
        workers: &mut Workers,
        settings: &StepSettings,
        input: &StepInput,
        time: &SubstepTime,
    ) {
        self.integrate(workers, settings, time);
        self.relax(workers, settings, input.grabs.iter().copied(), time);
        self.collide_self(settings, time);
        #[cfg(feature = "parry")]
        let meshes = input.meshes;
        #[cfg(not(feature = "parry"))]
        let meshes = ();
        self.collide(workers, settings, input.colliders, meshes, time);
    }

    /// Moves all particles by their displacement, gravity and the forces of this step.
    pub fn integrate(
        &mut self,
        workers: &mut Workers,
        settings: &StepSettings,
        time: &SubstepTime,
    ) {
        let integrate_settings = IntegrateSettings {
            gravity: settings.gravity,
            damping: settings.damping,
            dt: time.substep,
        };
        integrate(workers, self.particles, &integrate_settings);
    }

    /// Solves everything that holds the cloth together, and the grabs. Grabbed particles keep their added mass
    /// from the first constraint to the last grab.
    pub fn relax<'g>(
        &mut self,
        workers: &mut Workers,
        settings: &StepSettings,
        grabs: impl Iterator<Item = GrabConstraint<'g>> + Clone,
        time: &SubstepTime,
    ) {
        let Self {
            particles,
            constraints,
            bodies,
            contacts,
            ..
        } = self;
        if let Some(air) = &settings.enclosed_air {
            inflate(particles, &self.triangles.indices, air, time.substep);
        }
        for grab in grabs.clone() {
            (contacts.grabbed_mass).raise_mass(particles, grab.points, grab.settings, time.substep);
        }
        if !bodies.is_empty() {
            bodies.advance(particles, time.during(), time.substep);
        }
        if time.index == 0 {
            constraints.prepare(particles);
            let (compliance, damping) = (&settings.compliance, &settings.constraint_damping);
            damp_strains(
                workers,
                particles,
                constraints,
                compliance,
                damping,
                time.step,
            );
            if settings.records_loads {
                constraints.clear_loads();
            }
        }
        if contacts.had_contact {
            constraints.forget_angular_momentum();
        }
        // Momentum that constraints do not cause is not theirs to restore.
        if settings.is_moved_externally
            || settings.enclosed_air.is_some()
            || !bodies.attachments.is_empty()
        {
            constraints.exclude_displacements(workers, particles);
        }
        let relax_settings = RelaxSettings {
            compliance: settings.compliance,
            stretch_solver: settings.stretch_solver,
            strain_limit: settings.strain_limit,
            iterations: settings.iterations,
            dt: time.substep,
            relaxation_factor: settings.relaxation_factor,
            substeps_left: time.count.saturating_sub(time.index + 1),
            loads: settings.records_loads,
        };
        relax(workers, particles, constraints, &relax_settings);
        if settings.records_loads {
            constraints.add_loads(time.substep, 1.0 / time.count as f32);
        } else {
            solve_tethers(workers, particles, self.tethers, settings.tether_scale);
        }
        self.motion_constraints
            .solve(workers, particles, time.during());
        for grab in grabs {
            let targets = grab.targets(time.during()).map(|at| at - particles.origin);
            solve_grab(particles, grab.points, grab.settings, targets, time.substep);
        }
        contacts.grabbed_mass.restore_mass(particles);
        if let Some(plane) = &settings.plane {
            constrain_to_plane(particles, plane);
        }
    }

    /// Updates displacements, and keeps the cloth apart from itself if that is enabled.
    pub fn collide_self(&mut self, settings: &StepSettings, time: &SubstepTime) {
        if let Some(self_collision) = &settings.self_collision {
            self.contacts
                .self_pairs
                .collide(self.particles, self_collision, time.index);
        }
    }

    /// Solves contacts with colliders, meshes and bodies. They come last: cloth between a collider and other cloth
    /// ends outside the collider.
    pub fn collide<'c>(
        &mut self,
        workers: &mut Workers,
        settings: &StepSettings,
        colliders: impl IntoIterator<Item = &'c Collider, IntoIter: Clone>,
        #[cfg(feature = "parry")] meshes: impl IntoIterator<Item = &'c MeshCollider, IntoIter: Clone>,
        #[cfg(not(feature = "parry"))] (): (),
        time: &SubstepTime,
    ) {
        let Self {
            particles,
            triangles,
            bodies,
            contacts,
            ..
        } = self;
        let (during, surface) = (time.during(), settings.surface);
        if !bodies.is_empty() {
            bodies.apply_attachment_impulses(particles, during, time.substep);
        }
        let colliders = colliders.into_iter().map(shorten);
        let colliders = colliders.chain(bodies.kinematic());
        if time.index == 0 {
            let all = colliders.clone().chain(bodies.dynamic());
            contacts
                .triangles
                .prepare(triangles, all, surface.thickness);
        }
        #[cfg(feature = "parry")]
        let meshes = {
            let meshes = meshes.into_iter().map(shorten);
            let meshes = meshes.chain(bodies.kinematic_meshes());
            let meshes = meshes.map(move |mesh| (mesh, during));
            let dynamic = bodies.dynamic_meshes().iter().map(|mesh| (mesh, FULL_STEP));
            let all = meshes.clone().chain(dynamic);
            contacts
                .meshes
                .begin(particles, all, &surface, time.index == 0);
            meshes
        };
        let mut contact_surface = ContactSurface {
            triangles,
            triangle_contacts: &mut contacts.triangles,
            surface,
        };
        let mut touched = update_and_collide(
            workers,
            particles,
            contact_surface.reborrow(),
            colliders,
            during,
        );
        #[cfg(feature = "parry")]
        {
            (contacts.meshes).collide(workers, particles, meshes, &surface, time.index == 0);
            touched |= contacts.meshes.is_near();
        }
        if !bodies.is_empty() {
            let input = BodyContactInput {
                contact_surface,
                #[cfg(feature = "parry")]
                meshes: &mut contacts.meshes,
                during,
                dt: time.substep,
            };
            touched |= bodies.collide(workers, particles, input);
            bodies.restore_attachment_masses(particles);
            // The motion of attached particles is that of the body, not of the cloth.
            touched |= !bodies.attachments.is_empty();
        }
        contacts.had_contact |= touched;
        if let Some(plane) = &settings.plane {
            constrain_to_plane(particles, plane);
        }
    }

    /// Ends a step. `is_held` tells whether grabs or a plane held the cloth, which then keeps the angular momentum that
    /// it has. Returns whether all numbers are still finite; if not, the cloth is restored to its positions at the
    /// start of the step, with velocity 0.
    pub fn end_step(&mut self, workers: &mut Workers, pins: &[PinTarget], is_held: bool) -> bool {
        let Self {
            particles,
            constraints,
            ..
        } = self;
        let had_contact = std::mem::take(&mut self.contacts.had_contact);
        let is_held = is_held || !self.motion_constraints.is_empty();
        constraints.finish(particles, had_contact || is_held);
        particles.end_step(pins);
        let is_finite = particles.all_finite(workers);
        if !is_finite {
            particles.restore();
        }
        particles.rebase();
        is_finite
    }
}

/// Shortens the lifetime of a reference, so that it can be chained with others.
fn shorten<'short, 'long: 'short, T>(reference: &'long T) -> &'short T {
    reference
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mesh::{Assembly, ClothGrid, Topology, TriangleMesh},
        solver::{
            Air, Bodies, Compliance, ConstraintDamping, Contacts, Friction, MotionConstraints,
            Pose, RestShape, Shape, StretchSolver, Surface, Tethers, parallel::workers::threads,
        },
    };
    use bevy::math::{Mat3, Quat, Vec3};

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
}
