//! [`Cloth`], the component that turns a mesh into cloth, with its events, its settings, and the state of a built
//! cloth that all other modules share. No file here knows of pins, colliders, wind and the like: those modules add
//! to the state and to the step.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | [`Cloth`], [`SelfCollision`], and the events [`ClothReady`] and [`ResetCloth`] |
//! | `fabric` | [`Fabric`], the material, and its presets |
//! | `settings` | resources: gravity, substeps, threads |
//! | `planar`, `warm_up` | components: cloth in two dimensions, and steps before it is first rendered |
//! | `source` | mesh from which a cloth was built |
//! | `particles` | [`ClothParticles`] and [`ClothConstraints`], the state of the solver |
//! | `body`, `ramp` | `ClothBody`: ramped settings and tethers; how settings are ramped |
//! | `shape` | `ClothShape`: topology, triangles or segments, areas, and the state of a torn cloth |
//! | `multipliers` | `ParticleMultipliers`, and the masses of particles |
//! | `schedule`, `add_schedules` | [`ClothSystems`], [`ClothSubstep`] and the length of a step; the order of all systems |
//! | `activity` | components that stop the simulation of a cloth |
//! | `update_rate` | steps, substeps and iterations that a cloth takes |
//! | `transforms` | transforms of entities at the end of a step |
//! | `tethers`, `planar_constraint` | tethers; plane of a planar cloth |
//! | `workers` | iteration over all cloths, on several threads |
//! | `fingerprint`, `arc_serde` | hashes and serialization for snapshots and sleep |
//! | `plugin` | registration |

pub(crate) mod activity;
pub(crate) mod add_schedules;
#[cfg(feature = "serialize")]
pub(crate) mod arc_serde;
pub(crate) mod body;
pub(crate) mod fabric;
pub(crate) mod fingerprint;
pub(crate) mod multipliers;
pub(crate) mod particles;
pub(crate) mod planar;
pub(crate) mod planar_constraint;
pub(crate) mod plugin;
pub(crate) mod ramp;
pub(crate) mod schedule;
pub(crate) mod settings;
pub(crate) mod shape;
pub(crate) mod source;
pub(crate) mod tethers;
pub(crate) mod transforms;
pub(crate) mod update_rate;
pub(crate) mod warm_up;
pub(crate) mod workers;

pub use crate::solver::StretchSolver;
pub use fabric::Fabric;
pub use particles::{ClothConstraints, ClothParticles};
pub use planar::PlanarCloth;
pub use schedule::{ClothSubstep, ClothSubstepTime, ClothSystems};
pub use settings::{ClothBuildMode, ClothGravity, ClothMaxThreads, ClothSubsteps};
pub use source::{ClothBuildFailed, ClothSource};
pub use warm_up::ClothWarmUp;

use crate::{cloth::transforms::TransformHistory, solver::StepSettings};
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Turns the [`Mesh3d`] of the same entity into cloth.
///
/// The cloth is built as soon as the mesh is loaded, in the background ([`ClothBuildMode`]). The entity then gets
/// [`ClothParticles`], [`ClothConstraints`] and a mesh of its own, and [`ClothReady`] is triggered. All fields may
/// be changed at any time. A change takes effect in the next step and never jerks the cloth: greater stiffness and
/// thickness are ramped up over several steps. Removing `Cloth` restores the entity's original mesh.
///
/// Cloth moves in world space. [`ClothPlugin`](crate::ClothPlugin) gives every cloth `Pins`, by default none. The
/// [`Transform`] of its entity sets the initial pose and moves its pins; particles that are not pinned do not follow
/// it. The scale is read when the cloth is built or reset ([`ResetCloth`]).
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[require(Transform, TransformHistory)]
pub struct Cloth {
    /// Material.
    pub fabric: Fabric,
    /// Solver iterations per substep, 1 to 100, but at most 160 in all substeps of a step. Default 1: [`ClothSubsteps`] make
    /// cloth stiffer for the same cost.
    pub iterations: u32,
    /// Damping rate of all motion, 1/s: after t seconds e^(−damping·t) of it is left. 0 to 100,
    /// default 0.2.
    pub damping: f32,
    /// Multiple of [`ClothGravity`] that acts on this cloth. −10 to 10, default 1.
    pub gravity_scale: f32,
    /// Solver of stretch constraints: whole chains of edges directly, which keeps cloth from stretching, or one
    /// constraint after the other. Default [`StretchSolver::Direct`].
    pub stretch_solver: StretchSolver,
    /// Largest distance of a particle from the pins that carry it, as a multiple of their distance along the
    /// cloth at rest. 1 to 100, default `Some(1.0)`; `None` switches these tethers (long-range attachments) off.
    /// They keep cloth from stretching that hangs from few particles. Elastic fabric lengthens them by
    /// [`Fabric::strain_limit`]. Cloth whose rest lengths are edited needs a larger scale. Cloth that tears by load
    /// has no tethers (`ClothTearing`), since the load that they carry reaches no edge.
    pub tether_scale: Option<f32>,
    /// Collision with itself and with other cloths. Default [`SelfCollision::Off`].
    pub self_collision: SelfCollision,
    /// Speed below which the cloth falls asleep after half a second, m/s: it does if no particle has moved farther in
    /// that time than this speed would bring it. Inextensible cloth then settles for up to a second: links that are
    /// stretched by more than 1 %, as around edges of colliders, are shortened to that. 0 to 1, default 0.005; less in
    /// proportion to its size for cloth smaller than 0.5 m. At 0 it never sleeps.
    /// [`ClothSleeping`](activity::ClothSleeping) lists the events that wake it.
    pub sleep_speed: f32,
}

impl Default for Cloth {
    fn default() -> Self {
        Self {
            fabric: Fabric::default(),
            iterations: 1,
            damping: 0.2,
            gravity_scale: 1.0,
            stretch_solver: StretchSolver::Direct,
            tether_scale: Some(1.0),
            self_collision: SelfCollision::Off,
            sleep_speed: 0.005,
        }
    }
}

/// Collision of a cloth with itself and with other cloths.
///
/// Two cloths collide if both have this on and their `ClothLayers` interact. They keep the greater of their two
/// self-collision distances, with the mean friction of both; the lighter one yields more.
///
/// Particles keep the thickness of the [`Fabric`] from each other (for a rope, plus its diameter), but at least once
/// and at most 3 times the mean rest distance of neighbouring particles: with less, particles slip through between
/// others. Layers of a coarse mesh therefore stay farther apart than the fabric is thick; a finer mesh brings them
/// closer. Friction between layers is that of the fabric.
///
/// Fast cloth takes up to eight times as many substeps as [`ClothSubsteps`] sets; the speed of pinned cloth is that
/// relative to its mean motion. While particles touch, or nearly, no step leaves links of inextensible cloth longer than
/// 104 %.
///
/// Particles that are nearer at rest than 1.75 times that distance do not collide, so that nothing moves at rest; in
/// tighter folds, edges and triangles keep a tenth of it. Particles that start in overlap are separated slowly, in the
/// nearest direction. Particles that move by more than 0.75 of the distance in one substep, relative to the whole cloth,
/// are slowed to that: 11 m/s for 64 × 64 particles on 2 m and 8 substeps at 60 Hz. The same holds for two cloths that
/// are near each other.
///
/// At the end of each step, particles stop before an edge would pass through an edge, or a particle through a triangle:
/// cloth that is free of crossings stays so. Only pinned particles are not stopped; cloth that they have pulled through
/// cloth comes apart again.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default, Clone, Debug, PartialEq, Hash)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum SelfCollision {
    /// Passes through itself and other cloths, at no cost.
    #[default]
    Off,
    /// Keeps its particles apart, and its edges from passing through triangles. Cloth that starts tangled comes apart from
    /// the ends of the tangle, within about a second.
    On,
}

impl Cloth {
    /// Returns the settings of the solver for this cloth as the user set it: for steps of `dt` seconds with this number
    /// of substeps, `gravity` in m/s² before [`gravity_scale`](Self::gravity_scale), `wind` in m/s and `air_density` in
    /// kg/m³.
    ///
    /// The plugin uses the same settings. It ramps those whose sudden change would jerk the cloth, and adds what other
    /// components of the entity determine.
    pub fn step_settings(
        &self,
        dt: f32,
        substeps: u32,
        gravity: Vec3,
        wind: Vec3,
        air_density: f32,
    ) -> StepSettings<'static> {
        let fabric = &self.fabric;
        let strain_limit = fabric.effective_strain_limit();
        StepSettings {
            dt,
            substeps,
            iterations: self.iterations,
            stretch_solver: self.stretch_solver,
            strain_limit,
            gravity: gravity * self.gravity_scale,
            damping: self.damping,
            compliance: fabric.compliance(),
            tether_scale: self.effective_tether_scale(strain_limit),
            air: fabric.air(wind, air_density),
            surface: fabric.surface(),
            internal_friction: fabric.internal_friction,
            constraint_damping: fabric.constraint_damping(),
            ..StepSettings::default()
        }
    }

    /// Returns the tether scale for the solver under a strain limit; infinite without tethers.
    pub(crate) fn effective_tether_scale(&self, strain_limit: f32) -> f32 {
        let strain = if self.fabric.is_elastic() {
            strain_limit
        } else {
            0.0
        };
        self.tether_scale
            .map_or(f32::INFINITY, |scale| scale * (1.0 + strain))
    }
}

/// Event on an entity whose cloth has been built.
#[derive(EntityEvent, Reflect, Clone, Debug)]
#[reflect(Event, Clone, Debug)]
pub struct ClothReady {
    /// Cloth entity.
    pub entity: Entity,
}

/// Event that returns a cloth to its rest shape at its entity's transform, without velocity:
/// `commands.trigger(ResetCloth { entity })`. Also suits teleports.
#[derive(EntityEvent, Reflect, Clone, Debug)]
#[reflect(Event, Clone, Debug)]
pub struct ResetCloth {
    /// Cloth entity.
    pub entity: Entity,
}
