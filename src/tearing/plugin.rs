//! Registers tearing and cutting.

use crate::{
    cloth::schedule::{FinishSystems, StepSchedule},
    tearing::{
        ClothTearing,
        overload::tear_overloaded,
        requests::{cut, shred, tear_edge},
    },
};
use bevy::prelude::*;

/// Tears overloaded edges after each step, and cuts and tears cloth by events.
pub(crate) struct TearingPlugin;

impl Plugin for TearingPlugin {
    fn build(&self, app: &mut App) {
        let is_possible =
            any_with_component::<ClothTearing>.and_then(resource_exists::<Assets<Mesh>>);
        app.register_type::<ClothTearing>()
            .add_systems(
                StepSchedule::Finish,
                tear_overloaded
                    .in_set(FinishSystems::Tear)
                    .run_if(is_possible),
            )
            .add_observer(cut)
            .add_observer(tear_edge)
            .add_observer(shred);
    }
}
