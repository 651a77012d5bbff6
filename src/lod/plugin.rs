//! Registers level of detail, culling, pause and time budget.

use crate::{
    cloth::schedule::{ClothStepSchedule, ClothSystems, PrepareSystems, StepSchedule},
    lod::{
        ClothBudget, ClothCulled, ClothLod, ClothPaused, ClothViewer,
        choose_level::{
            StepCost, begin_step_cost, choose_level_of_detail, end_step_cost, enforce_budget,
            has_budget,
        },
    },
    time::cloth_step_due,
};
use bevy::prelude::*;

/// Chooses the level of detail of each cloth, and measures the cost of steps.
pub(crate) struct LodPlugin {
    pub(crate) schedule: ClothStepSchedule,
}

impl Plugin for LodPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClothLod>()
            .register_type::<ClothBudget>()
            .register_type::<ClothViewer>()
            .register_type::<ClothPaused>()
            .register_type::<ClothCulled>()
            .init_resource::<ClothLod>()
            .init_resource::<ClothBudget>()
            .init_resource::<StepCost>()
            .add_systems(
                StepSchedule::Begin,
                (choose_level_of_detail, begin_step_cost.run_if(has_budget))
                    .chain()
                    .in_set(PrepareSystems::LevelOfDetail),
            )
            .add_systems(
                self.schedule.label,
                end_step_cost
                    .after(ClothSystems::Finish)
                    .run_if(cloth_step_due.and_then(has_budget)),
            )
            .add_systems(Last, enforce_budget.run_if(has_budget));
    }
}
