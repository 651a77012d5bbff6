//! Detects pauses of cloths by run conditions on their system sets.

use bevy::prelude::*;

/// Number of updates of the schedule, and of the last one in which cloth systems ran.
#[derive(Resource, Debug, Default)]
pub(crate) struct PauseDetection {
    updates: u64,
    last_run: u64,
}

impl PauseDetection {
    /// Returns whether cloth systems did not run in the last update.
    pub(crate) fn is_paused(&self) -> bool {
        self.last_run != self.updates
    }

    /// Records that cloth systems run in this update. Returns whether they did not run in the one before.
    pub(crate) fn begin_run(&mut self) -> bool {
        let was_paused = self.last_run + 1 != self.updates;
        self.last_run = self.updates;
        was_paused
    }
}

/// Counts an update. Runs regardless of conditions on the cloth sets.
pub(crate) fn count_update(mut pause_detection: ResMut<PauseDetection>) {
    pause_detection.updates += 1;
}
