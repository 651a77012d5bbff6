//! Registers sleep.

use crate::{
    cloth::schedule::{ClothStepSchedule, PrepareSystems},
    sleep::{ClothSleeping, detect::update_sleep},
};
use bevy::prelude::*;

/// Wakes sleeping cloths. [`finish`](crate::step::finish) puts them to sleep.
pub(crate) struct SleepPlugin {
    pub(crate) schedule: ClothStepSchedule,
}

impl Plugin for SleepPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClothSleeping>().add_systems(
            self.schedule.label,
            update_sleep.in_set(PrepareSystems::Sleep),
        );
    }
}
