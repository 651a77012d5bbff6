//! Puts numbers that a user wrote into their allowed ranges, with a warning for each.

use crate::{
    cloth::Cloth,
    params::{self, Param},
    settings::{ClothGravity, Substeps, Wind},
};
use bevy::prelude::*;

pub(crate) fn check_settings(
    mut gravity: ResMut<ClothGravity>,
    mut wind: ResMut<Wind>,
    mut substeps: ResMut<Substeps>,
    mut cloths: Query<(Entity, &mut Cloth), Changed<Cloth>>,
) {
    check(params::GRAVITY, &mut gravity);
    check(params::WIND, &mut wind);
    check(params::SUBSTEPS, &mut substeps);
    for (entity, mut cloth) in &mut cloths {
        // The correction is no change that anybody else must hear of.
        let cloth = cloth.bypass_change_detection();
        let messages = params::sanitize(params::CLOTH, cloth)
            .into_iter()
            .chain(params::sanitize(params::FABRIC, &mut cloth.fabric));
        for message in messages {
            warn!("cloth {entity}: {message}");
        }
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
