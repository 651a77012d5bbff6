//! What makes a mesh cloth.

use crate::{fabric::Fabric, pins::Pins, solver::ThreadSolver, systems::FramePath};
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Makes cloth of the [`Mesh3d`] of the same entity.
///
/// The cloth is built as soon as the mesh is loaded; it then gets [`Particles`](crate::Particles)
/// and [`Constraints`](crate::Constraints) and a mesh of its own, and [`ClothReady`] is triggered.
/// All fields may be changed at any time. A change takes effect with the next step and never jerks
/// the cloth: greater stiffness and thickness are approached in small strides. Removing `Cloth` gives the entity its original mesh back.
///
/// The cloth moves in world space. The [`Transform`] of its entity says where it starts and carries
/// its [`Pins`]; particles that are not pinned do not follow it. The scale is read when the cloth is
/// built or reset ([`ResetCloth`]).
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    serde(default, deny_unknown_fields),
    reflect(Serialize, Deserialize)
)]
#[require(Transform, Pins, FramePath)]
pub struct Cloth {
    /// What it is made of.
    pub fabric: Fabric,
    /// Relaxation passes per substep, 1 to 100. Default 1: [`Substeps`](crate::Substeps) make cloth
    /// stiffer for the same work.
    pub iterations: u32,
    /// Damping of all motion, 1/s: after t seconds e^(−damping·t) of it is left. 0 to 100,
    /// default 0.2.
    pub damping: f32,
    /// How much of [`ClothGravity`](crate::ClothGravity) this cloth feels. −10 to 10, default 1.
    pub gravity_scale: f32,
    /// How its threads are solved: as a whole, which keeps cloth from stretching, or one constraint
    /// after the other. Default [`ThreadSolver::Direct`].
    pub threads: ThreadSolver,
    /// How far particles may get from the pins that they hang from, as a multiple of their distance
    /// along the cloth at rest. 1 to 100, default 1.0; 100 switches these tethers off. They keep
    /// cloth from stretching that hangs from few particles; where threads give, they reach as much
    /// farther as [`Fabric::strain_limit`] lets those be stretched. A cloth whose rest lengths you
    /// change needs more. A cloth that tears by load has none
    /// ([`Tearing`](crate::Tearing)): what they carry, no thread would feel.
    pub tether_scale: f32,
    /// Whether it collides with itself and other cloths. Default [`SelfCollision::Off`].
    pub self_collision: SelfCollision,
    /// It falls asleep when no particle has been faster than this for half a second, m/s; 0 keeps it
    /// awake. 0 to 1, default 0.005. What wakes it, [`ClothSleeping`](crate::ClothSleeping) tells.
    pub sleep_speed: f32,
}

impl Default for Cloth {
    fn default() -> Self {
        Self {
            fabric: Fabric::default(),
            iterations: 1,
            damping: 0.2,
            gravity_scale: 1.0,
            threads: ThreadSolver::Direct,
            tether_scale: 1.0,
            self_collision: SelfCollision::Off,
            sleep_speed: 0.005,
        }
    }
}

/// Whether a cloth collides with itself and with other cloths.
///
/// Two cloths collide if this is on for both and their [`ClothLayers`](crate::ClothLayers) meet. They
/// keep the greater of the distances that each keeps from itself, with the mean friction of both; the
/// lighter one gives way.
///
/// Its particles then keep the thickness of the [`Fabric`] from each other (a rope, its diameter
/// besides), but at least once and at most 3 times their mean distance from their neighbours at rest:
/// particles that keep less let others through between them. So layers of a coarse mesh stay farther
/// apart than the fabric is thick; a finer mesh brings them closer. Friction between layers is that of
/// the fabric.
///
/// What is nearer at rest than 1.5 times that distance does not collide, so that nothing moves at rest;
/// folds that are tighter go through themselves. Particles that start inside each other are moved apart
/// slowly, in whatever direction is nearest. Cloth that moves by more than 0.75 of the distance in one
/// substep, compared with the whole cloth, is slowed to that: for 64 × 64 particles on 2 m and 8
/// substeps at 60 Hz to 11 m/s. The same holds for two cloths that are near each other.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default, Clone, Debug, PartialEq, Hash)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum SelfCollision {
    /// It passes through itself and other cloths. Costs nothing.
    #[default]
    Off,
    /// Its particles keep apart.
    Particles,
    /// Its particles keep apart, and where its edges have gone through its triangles all the same, they are
    /// brought back: in cloth that is wrung or much stretched, or that starts as a tangle. What is through
    /// each other comes apart from its ends, within a second or so. Costs next to nothing while nothing is. With other
    /// cloths it does the same, whichever of both is set so.
    ParticlesAndEdges,
}

/// The top of the range of [`Cloth::tether_scale`].
pub(crate) const NO_TETHERS: f32 = 100.0;

impl Cloth {
    /// The scale of its tethers, as the solver takes it, with this strain limit; infinite if it has
    /// none.
    pub(crate) fn tethers(&self, strain_limit: f32) -> f32 {
        if self.tether_scale < NO_TETHERS {
            let give = if self.fabric.is_elastic() {
                strain_limit
            } else {
                0.0
            };
            self.tether_scale * (1.0 + give)
        } else {
            f32::INFINITY
        }
    }
}

/// Triggered on the entity when its cloth has been built.
#[derive(EntityEvent, Reflect, Clone, Debug)]
#[reflect(Event, Clone, Debug)]
pub struct ClothReady {
    /// The cloth.
    pub entity: Entity,
}

/// Trigger it to put a cloth back into its rest shape at its entity's transform, at rest:
/// `commands.trigger(ResetCloth { entity })`. Also what to do after a teleport.
#[derive(EntityEvent, Reflect, Clone, Debug)]
#[reflect(Event, Clone, Debug)]
pub struct ResetCloth {
    /// The cloth.
    pub entity: Entity,
}
