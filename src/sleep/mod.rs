//! Sleeping of cloths at rest.
//!
//! A cloth falls asleep when its fastest particle has been slower than
//! [`Cloth::sleep_speed`](crate::cloth::Cloth::sleep_speed) for [`TIME_TO_SLEEP`], and its surroundings have not changed
//! in that time. It keeps a fingerprint of them, and wakes when that differs.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | [`ClothSleeping`], and the sleep state of a cloth |
//! | `detect` | puts cloths to sleep, and wakes them |
//! | `detect/surroundings` | hashes everything outside a cloth that may move it |
//! | `plugin` | registration |

pub(crate) mod detect;
pub(crate) mod plugin;

pub use crate::cloth::activity::ClothSleeping;

use crate::{
    cloth::{Cloth, body::RampedSettings},
    tearing::ClothTearing,
};
use bevy::{
    ecs::{archetype::ArchetypeId, change_detection::Tick},
    prelude::*,
};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Time for which a cloth must be slow before it falls asleep, s.
pub const TIME_TO_SLEEP: f32 = 0.5;

/// Sleep state of a cloth. Written before each step, and at its end; read there, and by snapshots.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct SleepTimer {
    pub(crate) state: SleepState,
    /// Tick of the last check while asleep. Writes after that wake the cloth.
    pub(crate) checked_at: Tick,
    /// Archetype of the entity at the last check while asleep, if its inputs were only its own components and the
    /// surroundings of all cloths: until one of these changes, the cloth needs no further check.
    pub(crate) alone_in: Option<ArchetypeId>,
}

/// Part of the sleep state that a snapshot keeps.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
pub(crate) struct SleepState {
    /// Time since the cloth became slow, s.
    pub(crate) slow_time: f32,
    pub(crate) asleep: bool,
    /// Inputs of the cloth in the last slow step.
    pub(crate) inputs: Option<SleepInputs>,
    /// Corners of the world-space box for which the inputs were taken, m.
    pub(crate) bounds: [Vec3; 2],
}

/// Everything that may move a cloth, to detect a change.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
pub(crate) struct SleepInputs {
    pub(crate) cloth: Cloth,
    pub(crate) tearing: Option<ClothTearing>,
    /// Ramped settings: a ramp in progress keeps the cloth awake.
    pub(crate) ramped: Option<RampedSettings>,
    /// Fingerprint of the surroundings.
    pub(crate) fingerprint: u64,
}

impl SleepState {
    /// Records whether the cloth was slow in a step of this length, s.
    pub(crate) fn record(&mut self, is_slow: bool, step: f32) {
        // `inputs` may stay: `update_sleep` takes them again once the cloth is slow.
        self.slow_time = if is_slow { self.slow_time + step } else { 0.0 };
    }

    /// Returns whether the cloth has been slow for long enough to fall asleep.
    pub(crate) fn is_ready_to_sleep(&self) -> bool {
        self.slow_time >= TIME_TO_SLEEP && self.inputs.is_some()
    }

    pub(crate) fn wake(&mut self) {
        *self = Self::default();
    }
}
