//! Forgets the motion of colliders during a pause.

use crate::{collision::collider::LastPose, time::pause_detection::PauseDetection};
use bevy::prelude::*;

/// After a pause by run conditions on the cloth sets, clears the last poses of colliders, so that their motion during the
/// pause does not happen in one step.
pub(crate) fn end_pause(
    mut pause_detection: ResMut<PauseDetection>,
    mut last_poses: Query<&mut LastPose>,
) {
    if pause_detection.begin_run() {
        for mut last in &mut last_poses {
            last.set_if_neq(LastPose(None));
        }
    }
}
