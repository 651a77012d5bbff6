//! Puts numbers that a user wrote into their allowed ranges, with a warning for each.

use crate::{
    cloth::Cloth,
    params::{self, Param},
    pressure::Pressure,
    settings::{ClothGravity, Substeps, Turbulence, Wind, WindOcclusion},
    wind_zone::WindZone,
    world_motion::WorldMotion,
};
use bevy::prelude::*;

pub(crate) fn check_settings(
    mut gravity: ResMut<ClothGravity>,
    mut wind: ResMut<Wind>,
    mut turbulence: ResMut<Turbulence>,
    mut occlusion: ResMut<WindOcclusion>,
    mut substeps: ResMut<Substeps>,
    mut cloths: Query<(Entity, &mut Cloth), Changed<Cloth>>,
    mut zones: Query<(Entity, &mut WindZone), Changed<WindZone>>,
    mut pressures: Query<(Entity, &mut Pressure), Changed<Pressure>>,
    mut motions: Query<(Entity, &mut WorldMotion), Changed<WorldMotion>>,
) {
    check(params::GRAVITY, &mut gravity);
    check(params::WIND, &mut wind);
    check(params::TURBULENCE, &mut turbulence);
    check(params::WIND_OCCLUSION, &mut occlusion);
    check(params::SUBSTEPS, &mut substeps);
    for (entity, mut cloth) in &mut cloths {
        // The correction is no change that anybody else must hear of.
        check_cloth(entity, cloth.bypass_change_detection());
    }
    for (entity, mut zone) in &mut zones {
        for message in params::sanitize(params::WIND_ZONE, zone.bypass_change_detection()) {
            warn!("wind zone {entity}: {message}");
        }
    }
    for (entity, mut motion) in &mut motions {
        for message in params::sanitize(params::WORLD_MOTION, motion.bypass_change_detection()) {
            warn!("cloth {entity}: {message}");
        }
    }
    for (entity, mut pressure) in &mut pressures {
        for message in params::sanitize(params::PRESSURE, pressure.bypass_change_detection()) {
            warn!("cloth {entity}: {message}");
        }
    }
}

/// Puts the numbers of one cloth into their ranges.
pub(super) fn check_cloth(entity: Entity, cloth: &mut Cloth) {
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
