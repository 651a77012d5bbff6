//! Registers wind, turbulence, occlusion and wind zones.

use crate::{
    cloth::schedule::{PrepareSystems, StepSchedule},
    wind::{
        active_zones::{ActiveWindZones, find_wind_zones},
        settings::{Wind, WindOcclusion, WindTime, WindTurbulence},
        zone::WindZone,
    },
};
use bevy::prelude::*;

/// Finds the wind zones before each step.
pub(crate) struct WindPlugin;

impl Plugin for WindPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<Wind>()
            .register_type::<WindTime>()
            .register_type::<WindTurbulence>()
            .register_type::<WindOcclusion>()
            .register_type::<WindZone>()
            .init_resource::<Wind>()
            .init_resource::<WindTime>()
            .init_resource::<WindTurbulence>()
            .init_resource::<WindOcclusion>()
            .init_resource::<ActiveWindZones>()
            .add_systems(
                StepSchedule::Prepare,
                find_wind_zones.in_set(PrepareSystems::WindZones),
            );
    }
}
