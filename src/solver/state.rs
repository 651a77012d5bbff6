//! State of one cloth in the solver, and the settings and inputs of its steps.
//!
//! The solver borrows the state. The caller owns particles and constraints; in an app they are components of the entity,
//! which systems may change between two stages of a step.

use crate::solver::collision::mesh::{MeshCollider, MeshContacts};
use crate::solver::{
    collision::{
        bodies::Bodies,
        collider::{Collider, Surface},
        crossing::{CrossingFilter, FilteredCloth, MotionStart},
        self_collision::{SelfCollisionSettings, SelfContactPairs, WarmStart},
        triangle_contacts::TriangleContacts,
    },
    constraints::{
        compliance::Compliance,
        damping::ConstraintDamping,
        grab::{GrabConstraint, GrabbedMass},
        graph::ConstraintGraph,
        motion::MotionConstraints,
        plane::Plane,
        stretch_solver::{RIGID_REGULARIZATION, StretchSolver},
        tethers::Tethers,
    },
    forces::{
        aero::Air, pressure::EnclosedAir, rope_drag::RopeSegments, step_air::StepAir,
        wind_field::WindField,
    },
    particles::{ParticleArrays, PinTarget, inertia::FrameMotion},
    triangles::Triangles,
};
use bevy::math::{Vec3, Vec3A};

/// Borrowed state of a cloth. The stages of a step are its methods, from `step.rs`.
pub struct ClothState<'a> {
    /// Positions, displacements and masses.
    pub particles: &'a mut ParticleArrays,
    /// Stretch, shear and bend constraints.
    pub constraints: &'a mut ConstraintGraph,
    /// Triangles, on which the air acts and which touch small colliders.
    pub triangles: &'a Triangles,
    /// Segments of a rope, on which the air acts; `None` for a sheet.
    pub segments: Option<&'a RopeSegments>,
    /// Tethers to pinned particles.
    pub tethers: &'a Tethers,
    /// Max distance from animation targets, and backstops.
    pub motion_constraints: &'a MotionConstraints,
    /// Rigid bodies near the cloth, which push it and are pushed by it.
    pub bodies: &'a mut Bodies,
    /// Contacts, and scratch buffers for finding them.
    pub contacts: &'a mut Contacts,
}

/// Contacts of a cloth, scratch buffers for finding them, and its air, kept from one substep to the next.
///
/// Except for [`warm_start`](Self::warm_start) they follow from the positions, so they are not part of what a snapshot saves.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    /// Whether a collider was near the cloth in the running step, or a body or another cloth touched it, or particles are
    /// attached to a body. Contacts of the cloth with itself do not count: they conserve momentum.
    pub had_contact: bool,
    /// Candidate pairs of self-collision.
    pub self_pairs: SelfContactPairs,
    /// Forces of contacts with itself and other cloths in the last substep. These are part of the state.
    pub warm_start: WarmStart,
    /// Keeps the cloth from passing through itself.
    pub(super) crossings: CrossingFilter,
    pub(crate) motion_start: MotionStart,
    pub(super) triangles: TriangleContacts,
    pub(super) meshes: MeshContacts,
    pub(super) grabbed_mass: GrabbedMass,
    /// Air of the running step.
    pub(super) air: StepAir,
}

impl Contacts {
    /// Returns the positions from which particles moved on straight lines without passing through the cloth, relative to their
    /// origin, m: those when the step began, or when the motion of fast cloth was last cut short. Empty without
    /// self-collision.
    pub fn motion_start(&self) -> &[Vec3A] {
        &self.motion_start.positions
    }

    /// Searches for the contacts of a cloth with itself, so that the first step takes no longer than others.
    pub fn prepare_self_collision(
        &mut self,
        particles: &ParticleArrays,
        settings: &SelfCollisionSettings,
    ) {
        self.self_pairs.update(particles, settings);
        self.warm_start.reserve(particles.len());
        let cloth = FilteredCloth::alone(particles, &self.motion_start, settings.triangles);
        self.crossings.prepare(cloth, settings.distance);
        self.motion_start.is_filtered = true;
    }

    /// Discards cached contacts, after particles or their rest positions changed.
    pub(crate) fn forget(&mut self) {
        self.leave_to_island();
        self.motion_start.is_filtered = false;
    }

    /// Discards cached contacts of the cloth with itself: those of its island apply.
    pub(crate) fn leave_to_island(&mut self) {
        self.self_pairs.forget();
        self.crossings.forget_near_features();
    }
}

/// Settings of the steps of a cloth.
///
/// The default is a cloth without damping, friction, thickness and air, inextensible and without resistance to
/// bending, with 8 substeps of a step of 1/60 s.
#[derive(Clone, Copy, Debug)]
pub struct StepSettings<'a> {
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
    /// Damping rate of all motion, 1/s: after t seconds e^(−damping·t) of it is left.
    pub damping: f32,
    /// Compliance of the constraints.
    pub compliance: Compliance,
    /// Relaxation factor ω of all corrections, in (0, 1], normally 1; see [`RelaxSettings`](super::RelaxSettings).
    pub relaxation_factor: f32,
    /// Regularization of directly solved chains, relative to the inverse mass of a link, normally
    /// [`RIGID_REGULARIZATION`].
    pub chain_regularization: f32,
    /// Maximum length of tethers, as a multiple of their rest length; infinity switches tethers off.
    pub tether_scale: f32,
    /// Air and aerodynamic coefficients.
    pub air: Air,
    /// Thickness and friction of the cloth.
    pub surface: Surface,
    /// Internal friction of the fabric, m/s² (`apply_internal_friction`).
    pub internal_friction: f32,
    /// Damping of constraints (Kelvin–Voigt).
    pub constraint_damping: ConstraintDamping,
    /// Self-collision; `None` switches it off.
    pub self_collision: Option<SelfCollisionSettings<'a>>,
    /// Air enclosed by a closed cloth; `None` without pressure.
    pub enclosed_air: Option<EnclosedAir>,
    /// Plane in which the particles stay.
    pub plane: Option<Plane>,
    /// Whether the loads of stretch constraints are recorded, for tearing. Such a cloth has no tethers: the load that
    /// they carry would be missing.
    pub records_loads: bool,
    /// Whether anything but the solver moves particles between integration and relaxation.
    pub is_moved_externally: bool,
    /// Whether the cloth only shortens its stretched links; see [`settling`](Self::settling).
    pub is_settling: bool,
}

/// Strain that links of inextensible cloth keep when it settles, as a fraction of their rest length.
const SETTLED_STRAIN: f32 = 0.01;

/// Largest strain at which such cloth counts as settled.
pub const MAX_SETTLED_STRAIN: f32 = 1.2 * SETTLED_STRAIN;

/// Strain that a step leaves in links of inextensible cloth that touches itself or other cloth. Particles that keep a
/// distance from each other wedge folds: without a limit, links there remain stretched by 6 to 60 % in a sheet of 64² particles
/// that was thrown on its edge.
const STRAIN_IN_FOLDS: f32 = 0.04;

impl StepSettings<'_> {
    /// Returns whether links must keep their length: not those of elastic fabric, of fabric that tears by its load, and of
    /// the Gauss–Seidel solver.
    pub(super) fn is_inextensible(&self) -> bool {
        self.stretch_solver == StretchSolver::Direct
            && !self.compliance.is_elastic()
            && !self.records_loads
    }

    /// Returns the strain beyond which links of cloth that touches itself or other cloth are shortened at the end of a step, if
    /// they are.
    pub(super) fn strain_in_folds(&self) -> Option<f32> {
        match self.is_inextensible() {
            true => Some(STRAIN_IN_FOLDS),
            false => (self.compliance).effective_limit(self.strain_limit, self.records_loads),
        }
    }

    /// Returns the settings with which inextensible cloth at rest settles: without forces, velocity and friction, links that
    /// are stretched by more than 1 % are shortened to that.
    ///
    /// Links around edges and tips, and in tight folds, remain stretched in the balance of a step with few substeps: by 4
    /// to 60 % in sheets on a ball or a box. Particles around them move by a few millimetres, others not at all (after
    /// Provot, "Deformation Constraints in a Mass-Spring Model to Describe Rigid Cloth Behavior", 1995).
    pub fn settling(self) -> Self {
        Self {
            strain_limit: SETTLED_STRAIN,
            gravity: Vec3::ZERO,
            damping: f32::INFINITY,
            air: Air::default(),
            surface: Surface {
                thickness: self.surface.thickness,
                ..Surface::default()
            },
            internal_friction: 0.0,
            is_settling: true,
            ..self
        }
    }
}

impl Default for StepSettings<'_> {
    fn default() -> Self {
        Self {
            dt: 1.0 / 60.0,
            substeps: 8,
            iterations: 1,
            stretch_solver: StretchSolver::Direct,
            strain_limit: f32::INFINITY,
            gravity: Vec3::NEG_Y * 9.81,
            damping: 0.0,
            compliance: Compliance::default(),
            relaxation_factor: 1.0,
            chain_regularization: RIGID_REGULARIZATION,
            tether_scale: 1.0,
            air: Air::default(),
            surface: Surface::default(),
            internal_friction: 0.0,
            constraint_damping: ConstraintDamping::default(),
            self_collision: None,
            enclosed_air: None,
            plane: None,
            records_loads: false,
            is_moved_externally: false,
            is_settling: false,
        }
    }
}

/// World around a cloth in one step.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepInput<'a> {
    /// Targets of pinned particles at the end of the step.
    pub pins: &'a [PinTarget],
    /// Motion of the reference frame that moves the cloth along rigidly.
    pub frame_motion: Option<&'a FrameMotion>,
    /// Local wind, added to that of [`StepSettings::air`].
    pub wind: WindField<'a>,
    /// Grab constraints.
    pub grabs: &'a [GrabConstraint<'a>],
    /// Primitive colliders.
    pub colliders: &'a [Collider],
    /// Mesh colliders.
    pub meshes: &'a [MeshCollider],
}

/// Position in time within a fixed step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubstepTime {
    /// Length of the fixed step, s.
    pub step: f32,
    /// Length of a substep, s.
    pub substep: f32,
    /// Index of the substep, from 0.
    pub index: u32,
    /// Number of substeps in the step.
    pub count: u32,
}

impl SubstepTime {
    /// Returns the first substep of a step of `step` seconds in `count` substeps, at least 1.
    pub fn new(step: f32, count: u32) -> Self {
        let count = count.max(1);
        Self {
            step,
            substep: step / count as f32,
            index: 0,
            count,
        }
    }

    /// Returns all substeps of the step, in order.
    pub fn substeps(self) -> impl Iterator<Item = Self> {
        (0..self.count).map(move |index| Self { index, ..self })
    }

    /// Returns index and count.
    pub(crate) fn during(&self) -> [u32; 2] {
        [self.index, self.count]
    }
}

impl Default for SubstepTime {
    /// The first of 8 substeps at 60 Hz.
    fn default() -> Self {
        Self::new(1.0 / 60.0, 8)
    }
}
