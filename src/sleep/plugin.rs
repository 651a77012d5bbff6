//! Registers sleep.

use crate::{
    cloth::schedule::{PrepareSystems, StepSchedule},
    sleep::{ClothSleeping, detect::update_sleep},
};
use bevy::prelude::*;

/// Wakes sleeping cloths. `finish` puts them to sleep.
pub(crate) struct SleepPlugin;

impl Plugin for SleepPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClothSleeping>().add_systems(
            StepSchedule::Prepare,
            update_sleep.in_set(PrepareSystems::Sleep),
        );
    }
}
