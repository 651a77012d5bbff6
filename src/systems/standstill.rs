//! Cloth that stands still because a run condition keeps its systems from running.

use crate::collider::LastPose;
use bevy::prelude::*;

/// Counts the updates in which cloths might move, and remembers the last in which they were asked to.
#[derive(Resource, Debug, Default)]
pub(crate) struct Standstill {
    updates: u64,
    attended: u64,
}

impl Standstill {
    /// Whether cloths were left out of the last update.
    pub(super) fn lasts(&self) -> bool {
        self.attended != self.updates
    }
}

/// Runs in every update, whatever conditions the sets of cloth have.
pub(crate) fn count_update(mut standstill: ResMut<Standstill>) {
    standstill.updates += 1;
}

/// Runs with cloths only. What moved while they were left out must not catch up in one step: colliders come
/// from nowhere then.
pub(crate) fn end_standstill(
    mut standstill: ResMut<Standstill>,
    mut last_poses: Query<&mut LastPose>,
) {
    let Standstill { updates, attended } = *standstill;
    if attended + 1 != updates {
        for mut last in &mut last_poses {
            last.set_if_neq(LastPose(None));
        }
    }
    standstill.attended = updates;
}
