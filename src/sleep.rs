//! Cloth at rest.
//!
//! A cloth falls asleep when its fastest particle has been slower than
//! [`Cloth::sleep_speed`](crate::Cloth::sleep_speed) for [`TIME_TO_SLEEP`], and nothing around it has
//! changed meanwhile. It then knows what it has seen, and wakes when it sees anything else.

use crate::{cloth::Cloth, components::Applied, tearing::Tearing};
use bevy::{ecs::change_detection::Tick, prelude::*};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// How long a cloth has to be slow before it falls asleep, s.
pub const TIME_TO_SLEEP: f32 = 0.5;

/// A cloth that sleeps: it lies or hangs still, takes no steps and costs next to nothing. The plugin
/// puts it on cloths that have come to rest, see [`Cloth::sleep_speed`](crate::Cloth::sleep_speed), and
/// takes it off as soon as something may move them:
///
/// - its own components change: `Cloth`, `Pins`, `Tearing`, `Pressure`, `PlanarCloth`, `ClothLayers`;
///   what is written again with the same value is no change;
/// - what its pins hang on moves, or its own transform where that holds it;
/// - a system writes its [`Particles`](crate::Particles) or [`Constraints`](crate::Constraints), with
///   whatever values;
/// - it is grabbed, cut or reset;
/// - a cloth that it may touch, as both collide with themselves and their layers meet, is awake: such
///   cloths fall asleep and wake together;
/// - a collider that it meets comes near, moves there, leaves, or changes; so with wind zones;
/// - gravity, wind, turbulence, substeps or the length of the fixed step change. Gusts and turbulence
///   never let it sleep, a steady wind does.
///
/// Query with `Without<ClothSleeping>` for what moves. Remove it to wake a cloth by hand; insert it to
/// have a cloth stand still until something of the above happens.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
// Cloths fall asleep and wake more often than they are asked for it.
#[component(storage = "SparseSet", clone_behavior = Ignore)]
pub struct ClothSleeping;

/// How long a cloth has been slow, and what it has seen meanwhile.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct Rest {
    pub(crate) state: RestState,
    /// When it was last looked at in its sleep. What was written later wakes it.
    pub(crate) since: Tick,
}

/// The part that a snapshot keeps.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
pub(crate) struct RestState {
    /// How long it has been slow, s.
    pub(crate) calm: f32,
    pub(crate) asleep: bool,
    /// What it saw in the last step that it was slow.
    pub(crate) seen: Option<Seen>,
    /// The corners of the box, in the world, in which it saw that, m.
    pub(crate) near: [Vec3; 2],
}

/// What may move a cloth.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
pub(crate) struct Seen {
    pub(crate) cloth: Cloth,
    pub(crate) tearing: Option<Tearing>,
    /// Settings that still glide keep it awake.
    pub(crate) applied: Option<Applied>,
    /// Recognises all that is around it.
    pub(crate) around: u64,
}

impl RestState {
    /// Notes whether it was slow in a step of this length, s.
    pub(crate) fn note(&mut self, is_slow: bool, step: f32) {
        // Of one that is not, what it has seen is told again when it is slow again.
        self.calm = if is_slow { self.calm + step } else { 0.0 };
    }

    /// Whether it has been slow for long enough to fall asleep.
    pub(crate) fn is_tired(&self) -> bool {
        self.calm >= TIME_TO_SLEEP && self.seen.is_some()
    }

    pub(crate) fn wake(&mut self) {
        *self = Self::default();
    }
}
