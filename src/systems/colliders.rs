//! Finds out where all colliders are and how they move during the coming step.

use crate::{
    collider::ClothCollider,
    solver::{Collider, Pose},
};
use bevy::{
    ecs::entity::{EntityHashMap, EntityHashSet},
    prelude::*,
};

/// The colliders of the running step, ordered by entity: the same order gives the same bits.
#[derive(Resource, Default)]
pub(crate) struct ActiveColliders {
    pub(crate) list: Vec<Collider>,
    last_pose: EntityHashMap<Pose>,
    /// Reported as unusable; not again before they were usable.
    reported: EntityHashSet,
}

pub(crate) fn find_colliders(
    mut active: ResMut<ActiveColliders>,
    colliders: Query<(Entity, &ClothCollider)>,
    transforms: TransformHelper,
    time: Res<Time>,
) {
    let ActiveColliders {
        list,
        last_pose,
        reported,
    } = &mut *active;
    let mut poses = EntityHashMap::with_capacity(colliders.iter().len());
    list.clear();
    let mut sorted: Vec<_> = colliders.iter().collect();
    sorted.sort_unstable_by_key(|&(entity, _)| entity);
    for (entity, collider) in sorted {
        let Ok(transform) = transforms.compute_global_transform(entity) else {
            continue;
        };
        let (scale, rotation, translation) = transform.to_scale_rotation_translation();
        let end = Pose {
            // A parent that is scaled unevenly shears what is turned inside it; the nearest rotation
            // is the best that a rigid shape can do.
            rotation: rotation.normalize(),
            translation,
        };
        let shape = collider.scaled_shape(scale);
        if !(shape.is_valid() && end.is_valid()) {
            if reported.insert(entity) {
                error!(
                    "cloth collider {entity}: {shape:?} at {translation} is left out; all lengths \
                     must be finite and above 0, the transform finite"
                );
            }
            continue;
        }
        reported.remove(&entity);
        poses.insert(entity, end);
        let moved = Collider {
            shape,
            start: last_pose.get(&entity).copied().unwrap_or(end),
            end,
            friction: collider.friction(),
        };
        list.push(moved.without_teleport(time.delta_secs()));
    }
    // Those that are gone are forgotten with the old map.
    *last_pose = poses;
    reported.retain(|&entity| colliders.contains(entity));
}
