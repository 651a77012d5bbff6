//! Registers the clock of the cloths, and skips the systems of a step in updates without one.

use crate::{
    cloth::schedule::{ClothStepSchedule, FinishSystems, PrepareSystems},
    time::{
        ClothClock, ClothTime, advance_cloth_time, cloth_step_due,
        pause_detection::{PauseDetection, count_update},
    },
};
use bevy::prelude::*;

/// Decides which updates of the schedule take a step.
pub(crate) struct TimePlugin {
    pub(crate) schedule: ClothStepSchedule,
}

impl Plugin for TimePlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClothTime>()
            .register_type::<ClothClock>()
            .init_resource::<ClothTime>()
            .init_resource::<ClothClock>()
            .init_resource::<PauseDetection>()
            .add_systems(
                self.schedule.label,
                (advance_cloth_time, count_update).in_set(PrepareSystems::Clock),
            )
            // Not on the public sets: systems of users in those run in every update.
            .configure_sets(
                self.schedule.label,
                (
                    PrepareSystems::LevelOfDetail.run_if(cloth_step_due),
                    PrepareSystems::CatchUp.run_if(cloth_step_due),
                    PrepareSystems::StepDue.run_if(cloth_step_due),
                    FinishSystems::EndStep.run_if(cloth_step_due),
                    FinishSystems::Tear.run_if(cloth_step_due),
                ),
            );
    }
}
