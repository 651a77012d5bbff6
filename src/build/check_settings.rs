//! Clamps settings to their allowed ranges, with a warning for each.

use crate::{
    character::inertia::ClothInertia,
    cloth::{
        Cloth,
        settings::{ClothGravity, ClothSubsteps},
    },
    params::{self, Param},
    pressure::ClothPressure,
    wind::{
        settings::{Wind, WindOcclusion, WindTurbulence},
        zone::WindZone,
    },
};
use bevy::prelude::*;

pub(crate) fn check_settings(
    mut gravity: ResMut<ClothGravity>,
    mut wind: ResMut<Wind>,
    mut turbulence: ResMut<WindTurbulence>,
    mut occlusion: ResMut<WindOcclusion>,
    mut substeps: ResMut<ClothSubsteps>,
    mut cloths: Query<(Entity, &mut Cloth), Changed<Cloth>>,
    mut zones: Query<(Entity, &mut WindZone), Changed<WindZone>>,
    mut pressures: Query<(Entity, &mut ClothPressure), Changed<ClothPressure>>,
    mut motions: Query<(Entity, &mut ClothInertia), Changed<ClothInertia>>,
) {
    check(params::GRAVITY, &mut gravity);
    check(params::WIND, &mut wind);
    check(params::TURBULENCE, &mut turbulence);
    check(params::WIND_OCCLUSION, &mut occlusion);
    check(params::SUBSTEPS, &mut substeps);
    for (entity, mut cloth) in &mut cloths {
        // The correction is not a change to which other systems should react.
        check_cloth(entity, cloth.bypass_change_detection());
    }
    for (entity, mut zone) in &mut zones {
        for message in params::sanitize(params::WIND_ZONE, zone.bypass_change_detection()) {
            warn!("wind zone {entity}: {message}");
        }
    }
    for (entity, mut motion) in &mut motions {
        for message in params::sanitize(params::INERTIA, motion.bypass_change_detection()) {
            warn!("cloth {entity}: {message}");
        }
    }
    for (entity, mut pressure) in &mut pressures {
        for message in params::sanitize(params::PRESSURE, pressure.bypass_change_detection()) {
            warn!("cloth {entity}: {message}");
        }
    }
}

/// Clamps the settings of one cloth to their ranges.
pub(crate) fn check_cloth(entity: Entity, cloth: &mut Cloth) {
    let messages = params::sanitize(params::CLOTH, cloth)
        .into_iter()
        .chain(params::sanitize(params::FABRIC, &mut cloth.fabric));
    for message in messages {
        warn!("cloth {entity}: {message}");
    }
}

fn check<T: Resource<Mutability = bevy::ecs::component::Mutable> + Default>(
    params: &[Param<T>],
    value: &mut ResMut<T>,
) {
    if value.is_changed() {
        for message in params::sanitize(params, value.bypass_change_detection()) {
            warn!("{message}");
        }
    }
}
