//! Finds all wind zones.

use crate::{
    cloth::transforms::scale_and_pose,
    collision::active_colliders::sort_entities,
    label::EntityLabel,
    solver::{Eddies, Occlusion, WindField, Zone},
    wind::{settings::WindTurbulence, zone::WindZone},
};
use bevy::{ecs::entity::EntityHashSet, prelude::*};

/// Wind zones of the current step, ordered by entity: the same order gives the same bits.
#[derive(Resource, Default)]
pub(crate) struct ActiveWindZones {
    pub(crate) list: Vec<Zone>,
    /// Scratch buffer: all entities, sorted.
    order: Vec<Entity>,
    /// Invalid zones that were logged; not logged again until they have been valid.
    reported: EntityHashSet,
}

impl ActiveWindZones {
    /// Returns the wind field without the uniform wind: zones, turbulence and occlusion.
    pub(crate) fn field<'a>(
        &'a self,
        turbulence: &WindTurbulence,
        seconds: f64,
        occlusion: Option<Occlusion<'a>>,
    ) -> WindField<'a> {
        WindField {
            zones: &self.list,
            eddies: Some(Eddies {
                strength: turbulence.strength,
                size: turbulence.size,
                period: turbulence.period,
                seed: turbulence.seed,
                seconds,
            }),
            occlusion,
        }
    }
}

pub(crate) fn find_wind_zones(
    mut active: ResMut<ActiveWindZones>,
    zones: Query<(EntityLabel, &WindZone)>,
    transforms: TransformHelper,
) {
    let ActiveWindZones {
        list,
        order,
        reported,
    } = &mut *active;
    list.clear();
    sort_entities(order, zones.iter().map(|(label, _)| label.entity));
    for &entity in &*order {
        let Ok((label, zone)) = zones.get(entity) else {
            continue;
        };
        let Ok(transform) = transforms.compute_global_transform(entity) else {
            continue;
        };
        let (scale, pose) = scale_and_pose(&transform);
        let shape = zone.scaled_shape(scale);
        if !(shape.is_valid() && pose.is_valid()) {
            if reported.insert(entity) {
                error!(
                    "wind zone {label}: {shape:?} at {} does not blow; all lengths must \
                     be finite and above 0, the transform finite",
                    pose.translation
                );
            }
            continue;
        }
        reported.remove(&entity);
        list.push(Zone {
            shape,
            flow: zone.flow,
            falloff: zone.falloff,
            strength: zone.strength,
            core: zone.core,
            pose,
        });
    }
    reported.retain(|&entity| zones.contains(entity));
}
