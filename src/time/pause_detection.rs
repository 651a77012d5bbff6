//! Detects pauses of cloths by run conditions on their system sets.

use crate::collision::collider::LastPose;
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
}

/// Counts an update. Runs regardless of conditions on the cloth sets.
pub(crate) fn count_update(mut pause_detection: ResMut<PauseDetection>) {
    pause_detection.updates += 1;
}

/// Runs only with the cloth sets. After a pause, clears the last poses of colliders, so that their motion during
/// the pause does not happen in one step.
pub(crate) fn end_pause(
    mut pause_detection: ResMut<PauseDetection>,
    mut last_poses: Query<&mut LastPose>,
) {
    let PauseDetection { updates, last_run } = *pause_detection;
    if last_run + 1 != updates {
        for mut last in &mut last_poses {
            last.set_if_neq(LastPose(None));
        }
    }
    pause_detection.last_run = updates;
}
