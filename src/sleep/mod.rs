//! Sleeping of cloths at rest.
//!
//! A cloth falls asleep when no particle has moved in [`TIME_TO_SLEEP`] farther than
//! [`Cloth::sleep_speed`](crate::cloth::Cloth::sleep_speed) would bring it, and its surroundings have not changed in that
//! time: the displacement counts, not the speed, because a particle between contacts may tremble without going anywhere.
//! Before it falls asleep, inextensible cloth settles: for up to a second it is only moved to shorten stretched links
//! ([`StepSettings::settling`](crate::solver::StepSettings::settling)).
//! The cloth keeps a fingerprint of its surroundings, and wakes when that differs.
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
    solver::{
        ConstraintGraph, MAX_SETTLED_STRAIN, ParticleArrays, SoaVec3, StretchSolver,
        has_stayed_within, measure_stretch,
    },
    tearing::ClothTearing,
};
use bevy::{
    ecs::{archetype::ArchetypeId, change_detection::Tick},
    prelude::*,
};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Time for which a cloth must stay in place before it falls asleep, s.
pub const TIME_TO_SLEEP: f32 = 0.5;

/// Longest time for which a cloth settles before it falls asleep, s. Most cloths take one or two steps, fine ones on edges and
/// tips all of it.
pub const MAX_SETTLING_TIME: f32 = 1.0;

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
    /// Time for which the cloth has stayed in place, s.
    pub(crate) still_time: f32,
    /// Positions near which it has stayed in that time; `None` if it moves or sleeps.
    pub(crate) test_positions: Option<TestPositions>,
    /// Time for which it has settled, s; `None` if it does not settle.
    pub(crate) settling_time: Option<f32>,
    pub(crate) asleep: bool,
    /// Inputs of the cloth in the last step in which it stayed in place.
    pub(crate) inputs: Option<SleepInputs>,
    /// Corners of the world-space box for which the inputs were taken, m.
    pub(crate) bounds: [Vec3; 2],
}

/// Positions from which displacements are measured, m.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
pub(crate) struct TestPositions {
    origin: Vec3,
    positions: SoaVec3,
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
    /// Records the positions after a step of this length, s. Particles stay in place up to this distance, m.
    pub(crate) fn record(&mut self, particles: &ParticleArrays, distance: f32, step: f32) {
        let ParticleArrays {
            origin,
            position,
            previous,
            ..
        } = particles;
        let has_stayed = self.test_positions.as_ref().is_some_and(|test| {
            test.origin == *origin
                && test.positions.len() == position.len()
                && has_stayed_within(position, &test.positions, distance)
        });
        if has_stayed {
            self.still_time += step;
            return;
        }
        // `inputs` may stay: `update_inputs` compares them in the next step in which the cloth stays in place.
        self.still_time = 0.0;
        // The positions of a cloth that has moved as far in one step are not worth a copy.
        if !has_stayed_within(position, previous, distance) {
            self.test_positions = None;
            return;
        }
        match &mut self.test_positions {
            Some(test) if test.positions.len() == position.len() => {
                test.origin = *origin;
                test.positions.copy_from(position);
            }
            other => {
                *other = Some(TestPositions {
                    origin: *origin,
                    positions: position.clone(),
                })
            }
        }
    }

    /// Returns whether the cloth has stayed in place for long enough to fall asleep.
    pub(crate) fn is_ready_to_sleep(&self) -> bool {
        self.still_time >= TIME_TO_SLEEP && self.inputs.is_some()
    }

    pub(crate) fn is_settling(&self) -> bool {
        self.settling_time.is_some()
    }

    /// Returns whether the cloth must settle, or go on with it, before it falls asleep.
    pub(crate) fn must_settle(
        &self,
        cloth: &Cloth,
        particles: &ParticleArrays,
        constraints: &ConstraintGraph,
    ) -> bool {
        cloth.stretch_solver == StretchSolver::Direct
            && !cloth.fabric.is_elastic()
            && self.settling_time.unwrap_or(0.0) < MAX_SETTLING_TIME
            && measure_stretch(particles, constraints).max > MAX_SETTLED_STRAIN
    }

    pub(crate) fn wake(&mut self) {
        *self = Self::default();
    }
}
