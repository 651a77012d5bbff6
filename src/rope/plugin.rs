//! Registers ropes.

use crate::rope::Rope;
use bevy::prelude::*;

/// Registers [`Rope`]. Ropes are built and stepped like cloths.
pub(crate) struct RopePlugin;

impl Plugin for RopePlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<Rope>();
    }
}
