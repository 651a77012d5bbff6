//! Registers grabs.

use crate::{
    cloth::schedule::{PrepareSystems, StepSchedule},
    grab::{
        ClothGrabbed, ClothReleased,
        systems::{drag, grab, move_grabs, notify_released, release},
    },
};
use bevy::prelude::*;

/// Moves grabs before each step, and begins, moves and ends them by events.
pub(crate) struct GrabPlugin;

impl Plugin for GrabPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClothGrabbed>()
            .register_type::<ClothReleased>()
            .add_systems(
                StepSchedule::Prepare,
                move_grabs.in_set(PrepareSystems::Grab),
            )
            .add_observer(grab)
            .add_observer(drag)
            .add_observer(release)
            .add_observer(notify_released);
    }
}
