//! Rate at which a cloth is updated: its steps, substeps and iterations, from its level of detail and what requires more.
//!
//! All cloths share a sequence of common substeps. A cloth with fewer substeps takes each of its own, longer ones at
//! one of these.

use crate::cloth::settings::ClothSubsteps;
use crate::solver::{SubstepPlan, SubstepTime, affordable_in_substep};
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Detail of cloths from some distance on.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct LodLevel {
    /// Distance from which the level applies, m. At least 0, default 0.
    pub beyond: f32,
    /// Most substeps of a step. Default one every 1/480 s.
    pub substeps: ClothSubsteps,
    /// Maximum number of relaxation iterations per substep. At least 1; default 1.
    pub iterations: u32,
    /// Whether self-collision and cloth–cloth collision, if enabled on the cloth, stay enabled. Default `true`.
    pub self_collision: bool,
    /// Number of fixed updates per step: the cloth takes one step of this many times the length, and is
    /// interpolated in between. 1 to 6, default 1.
    pub every: u32,
}

impl Default for LodLevel {
    fn default() -> Self {
        Self {
            beyond: 0.0,
            substeps: ClothSubsteps::default(),
            iterations: 1,
            self_collision: true,
            every: 1,
        }
    }
}

/// Largest number of fixed updates per step: fewer steps are visible.
pub(crate) const MAX_STEP_INTERVAL: u32 = 6;

/// Update rate of a cloth: its steps, substeps and iterations. Written before each step, by the level of detail and
/// by the plan of the substeps; read by the step and by rendering.
#[derive(Component, Clone, Copy, Debug)]
#[component(clone_behavior = Ignore)]
pub(crate) struct UpdateRate {
    /// Whether the cloth is left out of the current step.
    pub(crate) is_skipped: bool,
    /// Number of levels whose distance is exceeded; 0 is full detail.
    pub(crate) level: u32,
    /// Settings of the level that applies; `None` at full detail.
    pub(crate) level_settings: Option<LodLevel>,
    /// Planned number of substeps; 0 before the first plan.
    substeps: u32,
    /// Plan by which that exceeds the number that the settings ask for.
    plan: SubstepPlan,
    /// Number of fixed updates since its last step.
    updates_since_step: u32,
    /// Number of fixed updates that its last step covers.
    steps_covered: u32,
    /// Number of consecutive fixed updates in which it was not visible.
    pub(crate) unseen_updates: u32,
    /// Whether the user was told that not all iterations of the settings are taken.
    is_limit_told: bool,
}

impl Default for UpdateRate {
    fn default() -> Self {
        Self {
            is_skipped: false,
            level: 0,
            level_settings: None,
            substeps: 0,
            plan: SubstepPlan::NONE,
            updates_since_step: 0,
            steps_covered: 1,
            unseen_updates: 0,
            is_limit_told: false,
        }
    }
}

impl UpdateRate {
    fn interval(&self) -> u32 {
        self.level_settings
            .map_or(1, |level| level.every.clamp(1, MAX_STEP_INTERVAL))
    }

    /// Advances by a fixed update. Cloths with the same interval are staggered by their `offset`.
    pub(crate) fn advance(&mut self, now: u32, offset: u32) {
        self.updates_since_step += 1;
        let every = self.interval();
        self.is_skipped = !now.wrapping_add(offset).is_multiple_of(every);
        if !self.is_skipped {
            self.steps_covered = self.updates_since_step.min(MAX_STEP_INTERVAL);
            self.updates_since_step = 0;
        }
    }

    /// Plans the substeps of a step: those of `base`, limited by the level of detail, times the factor of the plan.
    pub(crate) fn plan_substeps(&mut self, base: &SubstepTime, plan: SubstepPlan) {
        self.substeps = self.limit_substeps(base) * plan.factor;
        self.plan = plan;
    }

    /// Returns the number of substeps of the last step.
    pub(crate) fn substeps(&self) -> u32 {
        self.substeps
    }

    /// Returns the plan of the substeps of the last step.
    pub(crate) fn plan(&self) -> SubstepPlan {
        self.plan
    }

    /// Returns `own`, the step of this cloth, with the number of substeps that it would have without that factor.
    pub(crate) fn without_extra_substeps(&self, own: &SubstepTime) -> SubstepTime {
        if self.plan.factor == 1 {
            return *own;
        }
        let count = (own.count / self.plan.factor).max(1);
        SubstepTime {
            substep: own.step / count as f32,
            count,
            ..*own
        }
    }

    fn limit_substeps(&self, base: &SubstepTime) -> u32 {
        self.level_settings.map_or(base.count, |level| {
            base.count.min(level.substeps.count(base.step))
        })
    }

    /// Returns the step of this cloth, given the common step.
    pub(crate) fn step(&self, all: &SubstepTime) -> SubstepTime {
        let count = match self.substeps {
            0 => self.limit_substeps(all),
            count => count.min(all.count),
        };
        if count == all.count && self.steps_covered == 1 {
            return *all;
        }
        let step = all.step * self.steps_covered as f32;
        SubstepTime {
            step,
            substep: step / count as f32,
            index: 0,
            count,
        }
    }

    /// Returns the cloth's own substep that it takes at this common substep, if any; none while the cloth is left out of
    /// the step.
    pub(crate) fn due(&self, all: &SubstepTime) -> Option<SubstepTime> {
        match self.is_skipped {
            true => None,
            false => self.substep(all),
        }
    }

    /// Returns the cloth's own substep that it takes at this common substep, if any, unless it is left out of the step.
    fn substep(&self, all: &SubstepTime) -> Option<SubstepTime> {
        let own = self.step(all);
        let number = |index: u32| index * own.count / all.count.max(1);
        let index = number(all.index);
        let new = all.index == 0 || number(all.index - 1) != index;
        new.then_some(SubstepTime { index, ..own })
    }

    /// Returns the number of relaxation iterations per substep, given that of the settings.
    pub(crate) fn iterations(&self, wanted: u32) -> u32 {
        let detail = self
            .level_settings
            .map_or(wanted, |level| level.iterations.max(1));
        wanted.min(detail).min(affordable_in_substep(self.substeps))
    }

    /// Returns the most iterations per substep that the number of substeps allows, unless it allows those of the settings or
    /// was asked for them before.
    pub(crate) fn new_limit_of_iterations(&mut self, wanted: u32) -> Option<u32> {
        let substeps = self.substeps / self.plan.factor;
        let affordable = affordable_in_substep(substeps);
        let is_limited = wanted > affordable;
        let is_new = is_limited && !self.is_limit_told;
        self.is_limit_told = is_limited;
        is_new.then_some(affordable)
    }

    /// Returns whether self-collision and cloth–cloth collision are allowed.
    pub(crate) fn collides(&self) -> bool {
        self.level_settings.is_none_or(|level| level.self_collision)
    }

    /// Returns the number of fixed updates that its step covers.
    pub(crate) fn steps_covered(&self) -> u32 {
        self.steps_covered
    }

    /// Returns the interpolation factor between its last two steps, given that of a cloth that takes every step.
    pub(crate) fn render_alpha(&self, alpha: f32) -> f32 {
        let every = self.interval();
        if every == 1 {
            return alpha;
        }
        ((self.updates_since_step as f32 + alpha) / every as f32).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(index: u32) -> SubstepTime {
        SubstepTime {
            index,
            ..SubstepTime::default()
        }
    }

    #[test]
    fn fewer_substeps_are_longer_and_evenly_spaced() {
        let mut rate = UpdateRate::default();
        let own = |rate: &UpdateRate| {
            (0..8)
                .filter_map(|k| rate.substep(&time(k)))
                .collect::<Vec<_>>()
        };
        assert_eq!(own(&rate), (0..8).map(time).collect::<Vec<_>>());
        for substeps in [1, 2, 3, 4, 5, 8, 20] {
            rate.level_settings = Some(LodLevel {
                substeps: ClothSubsteps::PerStep(substeps),
                ..default()
            });
            let all = own(&rate);
            let count = substeps.min(8);
            assert_eq!(all.len() as u32, count);
            assert!(
                (0..)
                    .zip(&all)
                    .all(|(k, own)| own.index == k && own.count == count)
            );
            let sum: f32 = all.iter().map(|own| own.substep).sum();
            assert!((sum - 1.0 / 60.0).abs() < 1e-7);
        }
    }

    #[test]
    fn a_step_every_third_update_covers_the_others() {
        let mut rate = UpdateRate {
            level_settings: Some(LodLevel {
                every: 3,
                ..default()
            }),
            ..default()
        };
        let mut elapsed = 0.0;
        let mut alphas = Vec::new();
        for now in 0..30 {
            rate.advance(now, 2);
            if !rate.is_skipped {
                elapsed += rate.step(&time(0)).step;
            }
            alphas.push(rate.render_alpha(0.5));
        }
        // The last updates are not covered by a step yet.
        assert!((elapsed - 29.0 / 60.0).abs() < 1e-5, "{elapsed}");
        assert_eq!(alphas[25..28], [0.5 / 3.0, 1.5 / 3.0, 2.5 / 3.0]);
    }
}
