//! Registers the clock of the cloths, and skips the systems of a step in updates without one.

use crate::{
    cloth::schedule::{FinishSystems, PrepareSystems, StepSchedule},
    time::{
        ClothClock, ClothTime, advance_cloth_time, cloth_step_due,
        pause_detection::{PauseDetection, count_update},
    },
};
use bevy::prelude::*;

/// Decides which updates of the schedule take a step.
pub(crate) struct TimePlugin;

impl Plugin for TimePlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClothTime>()
            .register_type::<ClothClock>()
            .init_resource::<ClothTime>()
            .init_resource::<ClothClock>()
            .init_resource::<PauseDetection>()
            .add_systems(
                StepSchedule::Begin,
                (advance_cloth_time, count_update).in_set(PrepareSystems::Clock),
            )
            // Not on the public sets: systems of users in those run in every update.
            .configure_sets(
                StepSchedule::Begin,
                PrepareSystems::LevelOfDetail.run_if(cloth_step_due),
            )
            .configure_sets(
                StepSchedule::Prepare,
                (
                    PrepareSystems::CatchUp.run_if(cloth_step_due),
                    PrepareSystems::StepDue.run_if(cloth_step_due),
                ),
            )
            .configure_sets(
                StepSchedule::Finish,
                (
                    FinishSystems::EndStep.run_if(cloth_step_due),
                    FinishSystems::Tear.run_if(cloth_step_due),
                ),
            );
    }
}
