//! Clamps settings to their allowed ranges, with a warning for each.

use crate::{
    character::inertia::ClothInertia,
    cloth::{
        Cloth,
        settings::{ClothGravity, ClothSubsteps},
    },
    label::EntityLabel,
    params::{self, Param},
    pressure::ClothPressure,
    wind::{
        settings::{Wind, WindOcclusion, WindTurbulence},
        zone::WindZone,
    },
};
use bevy::{ecs::component::Mutable, prelude::*};
use std::fmt::Display;

pub(crate) fn check_settings(
    mut gravity: ResMut<ClothGravity>,
    mut wind: ResMut<Wind>,
    mut turbulence: ResMut<WindTurbulence>,
    mut occlusion: ResMut<WindOcclusion>,
    mut substeps: ResMut<ClothSubsteps>,
    mut cloths: Query<(EntityLabel, &mut Cloth), Changed<Cloth>>,
    mut zones: Query<(EntityLabel, &mut WindZone), Changed<WindZone>>,
    mut pressures: Query<(EntityLabel, &mut ClothPressure), Changed<ClothPressure>>,
    mut motions: Query<(EntityLabel, &mut ClothInertia), Changed<ClothInertia>>,
) {
    check(params::GRAVITY, &mut gravity);
    check(params::WIND, &mut wind);
    check(params::TURBULENCE, &mut turbulence);
    check(params::WIND_OCCLUSION, &mut occlusion);
    check(params::SUBSTEPS, &mut substeps);
    for (label, mut cloth) in &mut cloths {
        // The correction is not a change to which other systems should react.
        check_cloth(&label, cloth.bypass_change_detection());
    }
    check_changed(params::WIND_ZONE, "wind zone", &mut zones);
    check_changed(params::INERTIA, "cloth", &mut motions);
    check_changed(params::PRESSURE, "cloth", &mut pressures);
}

/// Clamps the settings of one cloth to their ranges.
pub(crate) fn check_cloth(label: &dyn Display, cloth: &mut Cloth) {
    let messages = params::sanitize(params::CLOTH, cloth)
        .into_iter()
        .chain(params::sanitize(params::FABRIC, &mut cloth.fabric));
    for message in messages {
        warn!("cloth {label}: {message}");
    }
}

fn check_changed<T: Component<Mutability = Mutable> + Default>(
    params: &[Param<T>],
    owner: &str,
    values: &mut Query<(EntityLabel, &mut T), Changed<T>>,
) {
    for (label, mut value) in values {
        for message in params::sanitize(params, value.bypass_change_detection()) {
            warn!("{owner} {label}: {message}");
        }
    }
}

fn check<T: Resource<Mutability = Mutable> + Default>(params: &[Param<T>], value: &mut ResMut<T>) {
    if value.is_changed() {
        for message in params::sanitize(params, value.bypass_change_detection()) {
            warn!("{message}");
        }
    }
}
