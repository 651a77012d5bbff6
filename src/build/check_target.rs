//! Tells of components and events that have no effect because their entity is no cloth.

use crate::{
    character::{
        inertia::ClothInertia,
        max_distance::ClothMaxDistance,
        paint::{ClothPaint, ClothPart},
    },
    cloth::{Cloth, planar::PlanarCloth, warm_up::ClothWarmUp},
    label::{EntityLabel, label_of},
    pins::Pins,
    pressure::ClothPressure,
    proxy::ClothProxy,
    tearing::ClothTearing,
};
use bevy::{
    ecs::entity::{EntityHashMap, EntityHashSet},
    prelude::*,
    utils::prelude::ShortName,
};

/// Number of steps, about a second, in which an entity may still become cloth.
const STEPS_TO_BECOME_CLOTH: u32 = 60;

/// Lists the components that have an effect on cloth only.
macro_rules! cloth_components {
    ($($component:ident),* $(,)?) => {
        type AnyAdded = Or<($(Added<$component>,)*)>;
        type Present = ($(Has<$component>,)*);
        const NAMES: &[&str] = &[$(stringify!($component)),*];
    };
}

cloth_components!(
    Pins,
    ClothTearing,
    ClothPressure,
    ClothMaxDistance,
    ClothInertia,
    PlanarCloth,
    ClothPaint,
    ClothPart,
    ClothWarmUp,
);

/// Warns of components of cloth on entities that have not become cloth, and of proxies of such entities. A rope is a
/// cloth, too. An entity whose [`Cloth`] was removed may keep the other components.
pub(crate) fn check_components(
    new: Query<Entity, (Without<Cloth>, Or<(AnyAdded, Changed<ClothProxy>)>)>,
    others: Query<(EntityLabel, Present, Option<&ClothProxy>), Without<Cloth>>,
    cloths: Query<(), With<Cloth>>,
    labels: Query<EntityLabel>,
    mut steps_left: Local<EntityHashMap<u32>>,
) {
    for entity in &new {
        steps_left.insert(entity, STEPS_TO_BECOME_CLOTH);
    }
    steps_left.retain(|&entity, steps| {
        let Ok((label, present, proxy)) = others.get(entity) else {
            return false;
        };
        *steps -= 1;
        if *steps > 0 {
            return true;
        }
        let present = <[bool; NAMES.len()]>::from(present);
        let names: Vec<&str> = (NAMES.iter().zip(present))
            .filter_map(|(name, is_present)| is_present.then_some(*name))
            .collect();
        if !names.is_empty() {
            warn!(
                "entity {label}: has {}, but neither Cloth nor Rope, so that has no effect; add one of them, or move it to \
                 the entity of the cloth",
                names.join(", ")
            );
        }
        if let Some(&ClothProxy { cloth }) = proxy.filter(|proxy| !cloths.contains(proxy.cloth)) {
            let cloth = label_of(cloth, &labels);
            warn!(
                "cloth proxy {label}: follows {cloth}, which has no Cloth, so it does not move; set ClothProxy::cloth to the \
                 entity of the cloth"
            );
        }
        false
    });
}

/// Warns of an event on an entity that is no cloth, once per entity.
pub(crate) fn check_event<E: EntityEvent>(
    event: On<E>,
    others: Query<EntityLabel, Without<Cloth>>,
    mut reported: Local<EntityHashSet>,
) {
    let Ok(label) = others.get(event.event_target()) else {
        return;
    };
    if reported.insert(label.entity) {
        warn!(
            "entity {label}: {} has no effect, since the entity has neither Cloth nor Rope; trigger it on the entity of \
             the cloth",
            ShortName::of::<E>()
        );
    }
}
