//! Registers enclosed air.

use crate::pressure::ClothPressure;
use bevy::prelude::*;

/// Registers [`ClothPressure`]. Its systems are stages of the step.
pub(crate) struct PressurePlugin;

impl Plugin for PressurePlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClothPressure>();
    }
}
