//! Steps a cloth: the stages of a substep, and a whole fixed step of them.
//!
//! The plugin calls the same stages, all in a row or as the systems of `ClothSubstep`.
//!
//! | stage | effect |
//! |---|---|
//! | [`begin_step`](ClothState::begin_step) | bodies, internal friction, pin targets, air; once per step |
//! | [`integrate`](ClothState::integrate) | with self-collision, in fast motion: stops what would pass through cloth; in a storm air; position Verlet |
//! | [`relax`](ClothState::relax) | pressure, damping (once a step), constraints, tethers, max distance, grabs, plane |
//! | [`collide_self`](ClothState::collide_self) | with self-collision: displacements, contacts of the cloth with itself, of particles and of edges and triangles |
//! | [`collide`](ClothState::collide) | displacements, contacts with colliders, meshes and bodies, plane |
//! | [`end_step`](ClothState::end_step) | with self-collision: stops what would pass through cloth; angular momentum, pinned positions, check of all numbers; once per step |
//!
//! Cloths that touch each other solve their contacts together ([`IslandContacts`](super::IslandContacts)), instead of
//! `collide_self`.

use crate::solver::{
    collision::{
        bodies::{BodyContactInput, FULL_STEP},
        collider::{Collider, ContactSurface, Surface, update_and_collide},
        crossing::FilteredCloth,
        mesh::MeshCollider,
    },
    constraints::{
        damping::damp_strains,
        grab::{GrabConstraint, solve_grab},
        plane::constrain_to_plane,
        points::{StretchLimit, Supported},
        tethers::solve_tethers,
    },
    forces::{internal_friction::apply_internal_friction, pressure::inflate, step_air::AirSurface},
    integrate::{IntegrateSettings, integrate},
    parallel::workers::Workers,
    particles::PinTarget,
    relax::{RelaxSettings, limit_strain, relax},
    state::{ClothState, Contacts, StepInput, StepSettings, SubstepTime},
};

/// Number of passes over all links that are to become shorter than a limit. With one, a cloth that is wrung keeps links
/// stretched by 20 % instead of 5 % (`twist`); a drape of 64² irregular particles settles with links 4 % too long instead of
/// 1.2 %, one of 128² on a cone 110 % instead of 27 %.
const LIMIT_PASSES: u32 = 4;

/// Smallest number of iterations of a grabbed cloth.
const GRAB_ITERATIONS: u32 = 3;

impl<'a> ClothState<'a> {
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
        let is_held = settings.plane.is_some() || settings.is_settling || !input.grabs.is_empty();
        self.end_step(workers, input.pins, is_held)
    }

    /// As [`step`](Self::step), with as many times the substeps as [`plan_substeps`](Self::plan_substeps) asks for: like the
    /// plugin.
    pub fn planned_step(
        &mut self,
        workers: &mut Workers,
        settings: &StepSettings,
        input: &StepInput,
    ) -> bool {
        let plan = self.plan_substeps(settings, input);
        self.step(workers, &plan.apply(settings), input)
    }

    /// Begins a step. The constraints are prepared later, in the first [`relax`](Self::relax).
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
        let (field, air, dt) = (&input.wind, &settings.air, settings.dt);
        let surface = self.air_surface();
        let particles = &mut *self.particles;
        (self.contacts.air).begin_step(workers, field, particles, surface, air, dt);
    }

    /// Returns the surface on which the air acts.
    pub(super) fn air_surface(&self) -> AirSurface<'a> {
        AirSurface {
            triangles: self.triangles,
            segments: self.segments,
        }
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
        self.collide(workers, settings, input.colliders, input.meshes, time);
    }

    /// Moves all particles by their displacement, gravity and the forces of this step. Before that, cuts the motion short in which
    /// fast cloth would pass through itself.
    pub fn integrate(
        &mut self,
        workers: &mut Workers,
        settings: &StepSettings,
        time: &SubstepTime,
    ) {
        if time.index == 0 {
            // In a plane, edges cannot pass through triangles.
            let self_collision = settings.self_collision.filter(|_| settings.plane.is_none());
            let distance = self_collision.map(|self_collision| self_collision.distance);
            let start = &mut self.contacts.motion_start;
            start.record(self.particles, distance, time.substep);
        } else if self.contacts.motion_start.is_due() {
            self.limit_crossings();
        }
        self.contacts.motion_start.substeps += 1;
        if !self.bodies.is_empty() {
            self.bodies.return_withheld(self.particles);
        }
        let surface = self.air_surface();
        (self.contacts.air).act_in_substep(workers, self.particles, surface, time.substep);
        let integrate_settings = IntegrateSettings {
            gravity: settings.gravity,
            damping: settings.damping,
            dt: time.substep,
        };
        integrate(workers, self.particles, &integrate_settings);
    }

    /// Applies the pressure of enclosed air, then solves all constraints, tethers, motion constraints, grabs and the
    /// plane. Grabbed particles keep their added mass from the first constraint to the last grab. Cloth that settles only
    /// solves the strain limit, motion constraints and the plane.
    pub fn relax<'g>(
        &mut self,
        workers: &mut Workers,
        settings: &StepSettings,
        grabs: impl Iterator<Item = GrabConstraint<'g>> + Clone,
        time: &SubstepTime,
    ) {
        if settings.is_settling {
            self.limit_strain(workers, settings.strain_limit, Supported::Slide, time);
        } else {
            self.solve_constraints(workers, settings, grabs, time);
        }
        if let Some(plane) = &settings.plane {
            constrain_to_plane(self.particles, plane);
        }
    }

    /// Does all of [`relax`](Self::relax) but the plane, unless the cloth settles.
    fn solve_constraints<'g>(
        &mut self,
        workers: &mut Workers,
        settings: &StepSettings,
        grabs: impl Iterator<Item = GrabConstraint<'g>> + Clone,
        time: &SubstepTime,
    ) {
        if let Some(air) = &settings.enclosed_air {
            inflate(self.particles, &self.triangles.indices, air, time.substep);
        }
        for grab in grabs.clone() {
            let grabbed = &mut self.contacts.grabbed_mass;
            grabbed.raise_mass(self.particles, grab.points, grab.settings, time.substep);
        }
        if !self.bodies.is_empty() {
            self.bodies
                .advance(self.particles, time.during(), time.substep);
        }
        if time.index == 0 {
            self.prepare_constraints(workers, settings, time.step);
        }
        self.exclude_external_motion(workers, settings);
        let (particles, constraints) = (&mut *self.particles, &mut *self.constraints);
        // A pointer pulls so fast that one iteration would not take the cloth around it along.
        let iterations = match grabs.clone().next() {
            Some(_) => settings.iterations.max(GRAB_ITERATIONS),
            None => settings.iterations,
        };
        let relax_settings = RelaxSettings {
            compliance: settings.compliance,
            stretch_solver: settings.stretch_solver,
            strain_limit: settings.strain_limit,
            iterations,
            dt: time.substep,
            relaxation_factor: settings.relaxation_factor,
            chain_regularization: settings.chain_regularization,
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
        self.contacts.grabbed_mass.restore_mass(particles);
    }

    /// Shortens links that are stretched beyond a strain.
    fn limit_strain(
        &mut self,
        workers: &mut Workers,
        strain: f32,
        supported: Supported,
        time: &SubstepTime,
    ) {
        let ratio = 1.0 + strain;
        let limit = StretchLimit { ratio, supported };
        for _ in 0..LIMIT_PASSES {
            limit_strain(workers, self.particles, self.constraints, limit);
            self.motion_constraints
                .solve(workers, self.particles, time.during());
        }
    }

    /// Prepares the constraints for a fixed step of `step` seconds: damps the motion along them, and clears their loads.
    fn prepare_constraints(&mut self, workers: &mut Workers, settings: &StepSettings, step: f32) {
        let (particles, constraints) = (&mut *self.particles, &mut *self.constraints);
        constraints.prepare(particles);
        let (compliance, damping) = (&settings.compliance, &settings.constraint_damping);
        damp_strains(workers, particles, constraints, compliance, damping, step);
        if settings.records_loads {
            constraints.clear_loads();
        }
    }

    /// Excludes motion that the constraints do not cause from the angular momentum that is restored after the step.
    fn exclude_external_motion(&mut self, workers: &mut Workers, settings: &StepSettings) {
        if self.contacts.had_contact {
            self.constraints.forget_angular_momentum();
        }
        if settings.is_moved_externally
            || settings.enclosed_air.is_some()
            || !self.bodies.attachments.is_empty()
        {
            let tracker = &mut self.constraints.angular_momentum;
            tracker.exclude(workers, self.particles);
        }
    }

    /// Updates displacements and solves contacts of the cloth with itself, those of particles and of near features. Does nothing
    /// without self-collision: [`collide`](Self::collide) updates displacements in any case.
    pub fn collide_self(&mut self, settings: &StepSettings, time: &SubstepTime) {
        if let Some(self_collision) = &settings.self_collision {
            let Contacts {
                self_pairs,
                warm_start,
                crossings,
                motion_start,
                ..
            } = &mut *self.contacts;
            let is_filtered = motion_start.is_used();
            if time.index == 0 && is_filtered {
                let triangles = self_collision.triangles;
                let cloth = FilteredCloth::alone(self.particles, motion_start, triangles);
                crossings.find_near_features(std::iter::once(cloth));
            }
            self_pairs.collide(self.particles, self_collision, warm_start, time);
            crossings.keep_features_apart(&mut [is_filtered.then_some(&mut *self.particles)]);
        }
    }

    /// Updates displacements, then solves contacts with colliders, meshes and bodies. They come last: cloth between a
    /// collider and other cloth ends outside the collider.
    pub fn collide<'c>(
        &mut self,
        workers: &mut Workers,
        settings: &StepSettings,
        colliders: impl IntoIterator<Item = &'c Collider, IntoIter: Clone>,
        meshes: impl IntoIterator<Item = &'c MeshCollider, IntoIter: Clone>,
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
        contacts.warm_start.begin_reaction(particles);
        if !bodies.is_empty() {
            bodies.apply_attachment_impulses(particles, during, time.substep);
        }
        let colliders = colliders.into_iter().map(shorten);
        let colliders = colliders.chain(bodies.kinematic());
        if time.index == 0 {
            let all = colliders.clone().chain(bodies.dynamic());
            contacts
                .triangles
                .prepare(particles, triangles, all, surface.thickness);
        }
        let meshes = meshes.into_iter().map(shorten);
        let meshes = meshes.chain(bodies.kinematic_meshes());
        let meshes = meshes.map(move |mesh| (mesh, during));
        let dynamic = bodies.dynamic_meshes().map(|mesh| (mesh, FULL_STEP));
        let all = meshes.clone().chain(dynamic);
        (contacts.meshes).begin(particles, all, &surface, time.index == 0);
        let mut contact_surface = ContactSurface {
            triangles,
            triangle_contacts: &mut contacts.triangles,
            surface,
        };
        contacts.had_contact |=
            update_and_collide(workers, particles, &mut contact_surface, colliders, during);
        (contacts.meshes).collide(workers, particles, meshes, &surface, true, time.index == 0);
        contacts.had_contact |= contacts.meshes.is_near();
        if !bodies.is_empty() {
            self.collide_bodies(workers, surface, time);
        }
        let warm_start = &mut self.contacts.warm_start;
        warm_start.end_reaction(self.particles, time.substep);
        let is_last = time.index + 1 == time.count;
        if is_last
            && self.particles.touches_cloth
            && let Some(strain) = settings.strain_in_folds()
        {
            // Moves positions alone: the correction does not become velocity. At tips, where all of the cloth hangs from a few links,
            // cloth that may slide would tremble.
            let supported = match self.contacts.triangles.is_near_tip() {
                true => Supported::Hold,
                false => Supported::Slide,
            };
            self.limit_strain(workers, strain, supported, time);
        }
        if let Some(plane) = &settings.plane {
            constrain_to_plane(self.particles, plane);
        }
    }

    /// Solves contacts with the bodies that cloth can move.
    fn collide_bodies(&mut self, workers: &mut Workers, surface: Surface, time: &SubstepTime) {
        let input = BodyContactInput {
            contact_surface: ContactSurface {
                triangles: self.triangles,
                triangle_contacts: &mut self.contacts.triangles,
                surface,
            },
            meshes: &mut self.contacts.meshes,
            during: time.during(),
            dt: time.substep,
        };
        let touched = self.bodies.collide(workers, self.particles, input);
        self.bodies.restore_attachment_masses(self.particles);
        // The motion of attached particles is that of the body, not of the cloth.
        self.contacts.had_contact |= touched || !self.bodies.attachments.is_empty();
    }

    /// Ends a step. `is_held` tells whether grabs or a plane held the cloth; its angular momentum is then not restored.
    /// Returns whether all numbers are still finite; if not, the cloth is restored to its positions at the
    /// start of the step, with velocity 0.
    pub fn end_step(&mut self, workers: &mut Workers, pins: &[PinTarget], is_held: bool) -> bool {
        self.particles.place_pins(pins);
        self.limit_crossings();
        let Self {
            particles,
            constraints,
            ..
        } = self;
        let had_contact = std::mem::take(&mut self.contacts.had_contact);
        let is_held = is_held || !self.motion_constraints.is_empty();
        constraints.finish(particles, had_contact || is_held);
        let is_finite = particles.all_finite(workers);
        if !is_finite {
            particles.restore();
            self.contacts.forget();
            self.contacts.warm_start.clear();
        }
        particles.rebase();
        is_finite
    }

    /// Cuts the motion since the begin of the step or the last call short where the cloth would pass through itself.
    fn limit_crossings(&mut self) {
        let Contacts {
            crossings,
            motion_start,
            ..
        } = &mut *self.contacts;
        if motion_start.is_used() {
            let triangles = &self.triangles.indices;
            crossings.begin();
            let cloth = FilteredCloth::alone(self.particles, motion_start, triangles);
            crossings.add(cloth, true);
            crossings.find_limits(motion_start.distance);
            crossings.apply(0, self.particles, motion_start);
        }
    }
}

/// Shortens the lifetime of a reference, so that it can be chained with others.
fn shorten<'short, 'long: 'short, T>(reference: &'long T) -> &'short T {
    reference
}

#[cfg(test)]
mod tests;
