//! Tells once a cloth is built if its weight and the wind are about to tear it.

use crate::{
    cloth::{Cloth, ClothReady, settings::ClothGravity, shape::ClothShape},
    label::EntityLabel,
    tearing::{ClothTearing, TearLimit},
    wind::settings::Wind,
};
use bevy::prelude::*;

pub(crate) fn check_tear_limit(
    event: On<ClothReady>,
    cloths: Query<(EntityLabel, &Cloth, &ClothShape, &ClothTearing)>,
    gravity: Res<ClothGravity>,
    wind: Res<Wind>,
) {
    let Ok((label, cloth, shape, tearing)) = cloths.get(event.entity) else {
        return;
    };
    let TearLimit::Load(limit) = tearing.limit else {
        return;
    };
    let fabric = &cloth.fabric;
    let weight = fabric.areal_density * (cloth.gravity_scale * **gravity).length();
    // Cloth that bulges to a half circle bears a pressure with a tension of pressure times radius.
    let load = (weight + 0.5 * wind_pressure(&wind, fabric.drag)) * shape.size;
    if load > limit {
        warn!(
            "cloth {label} is {} m across: its weight and the wind load it by up to {load} N/m, and it tears at \
             {limit} N/m; raise ClothTearing::limit unless it is to tear by itself",
            shape.size
        );
    }
}

/// Returns the pressure of the wind on cloth with this drag coefficient across it, Pa.
fn wind_pressure(wind: &Wind, drag: f32) -> f32 {
    0.5 * wind.air_density * drag * wind.velocity.length_squared()
}
