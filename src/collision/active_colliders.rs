//! Finds all primitive colliders and their motion in the coming step.

use crate::solver::{Collider, Occlusion, Pose, Shape};
use crate::{
    cloth::{transforms::Anchors, update_rate::MAX_STEP_INTERVAL},
    collision::{
        collider::{ClothCollider, LastPose},
        layers::ClothLayers,
    },
};
use bevy::{ecs::entity::EntityHashSet, prelude::*};
use std::collections::VecDeque;

/// Colliders of the current step, ordered by entity: the same order gives the same bits.
#[derive(Resource, Default)]
pub(crate) struct ActiveColliders {
    list: Vec<Collider>,
    /// Their layers, in the same order.
    layers: Vec<ClothLayers>,
    /// Corners of the boxes they sweep during the step, in the same order.
    swept_boxes: Vec<[Vec3; 2]>,
    /// Their entities, in the same order.
    entities: Vec<Entity>,
    /// Start poses in previous steps, latest first, sorted by entity: for cloths that take longer steps.
    past_starts: VecDeque<Vec<(Entity, Pose)>>,
    /// Whether cloths may take longer steps, so that `past_starts` is needed. Written by the level of detail.
    pub(crate) keep_past_starts: bool,
    /// Scratch buffer: all entities, sorted.
    order: Vec<Entity>,
    /// Invalid colliders that were logged; not logged again until they have been valid.
    reported: EntityHashSet,
    /// Mesh colliders.
    #[cfg(feature = "parry")]
    pub(crate) meshes: crate::collision::active_mesh_colliders::ActiveMeshColliders,
}

impl ActiveColliders {
    /// Returns the colliders that interact with a cloth on these layers.
    pub(crate) fn on_layers(
        &self,
        layers: Option<&ClothLayers>,
    ) -> impl Iterator<Item = &Collider> + Clone {
        let layers = layers.copied().unwrap_or_default();
        let all = self.list.iter().zip(&self.layers);
        let matching = all.filter(move |(_, other)| layers.interacts_with(**other));
        matching.map(|(collider, _)| collider)
    }

    /// Returns all colliders with their layers.
    pub(crate) fn with_layers(&self) -> impl Iterator<Item = (&Collider, &ClothLayers)> {
        self.list.iter().zip(&self.layers)
    }

    /// Returns the number of colliders.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the same colliders with their motion over the last `steps_covered` steps, including the current
    /// one.
    pub(crate) fn on_layers_over_steps(
        &self,
        layers: Option<&ClothLayers>,
        steps_covered: u32,
    ) -> impl Iterator<Item = Collider> {
        let layers = layers.copied().unwrap_or_default();
        let past_starts = steps_covered
            .checked_sub(2)
            .and_then(|k| self.past_starts.get(k as usize));
        let all = self.list.iter().zip(&self.layers).zip(&self.entities);
        let matching = all.filter(move |((_, other), _)| layers.interacts_with(**other));
        matching.map(move |((collider, _), entity)| {
            let start = past_starts.and_then(|past_starts| {
                let k = past_starts.binary_search_by_key(entity, |(entity, _)| *entity);
                Some(past_starts[k.ok()?].1)
            });
            Collider {
                start: start.unwrap_or(collider.start),
                ..*collider
            }
        })
    }

    /// Returns all colliders at their current transforms, without velocity. Mesh colliders are those of the last
    /// step.
    pub(crate) fn stationary(
        &self,
        colliders: &Query<(Entity, &ClothCollider, Option<&ClothLayers>)>,
        transforms: &TransformHelper,
    ) -> Self {
        let mut all: Vec<_> = colliders.iter().collect();
        all.sort_unstable_by_key(|(entity, ..)| *entity);
        let mut stationary = Self {
            #[cfg(feature = "parry")]
            meshes: self.meshes.stationary(),
            ..default()
        };
        for (entity, collider, layers) in all {
            let transform = transforms.compute_global_transform(entity).ok();
            if let Some((shape, pose)) =
                transform.map(|transform| shape_and_pose(collider, &transform))
                && shape.is_valid()
                && pose.is_valid()
            {
                let solid = Collider {
                    hollow: collider.hollow,
                    ..Collider::fixed(shape, pose, collider.friction())
                };
                stationary.swept_boxes.push(solid.swept_bounds());
                stationary.entities.push(entity);
                stationary.list.push(solid);
                stationary.layers.push(layers.copied().unwrap_or_default());
            }
        }
        stationary
    }

    /// Returns the wind occlusion by colliders, if enabled. `length` is that of the lee, m, `spread` the widening
    /// of its edge, m/m.
    pub(crate) fn occlusion(&self, length: f32, spread: f32) -> Option<Occlusion<'_>> {
        (length > 0.0 && !self.list.is_empty()).then_some(Occlusion {
            colliders: &self.list,
            length,
            spread,
        })
    }

    /// Returns the colliders on these layers that may touch anything in a box, given by its corners.
    pub(crate) fn near(
        &self,
        layers: Option<&ClothLayers>,
        [low, high]: [Vec3; 2],
    ) -> impl Iterator<Item = &Collider> {
        let layers = layers.copied().unwrap_or_default();
        let all = self.list.iter().zip(&self.layers).zip(&self.swept_boxes);
        // Most colliders are far away, so the box test comes first.
        let near =
            all.filter(move |(_, [from, to])| low.cmple(*to).all() && from.cmple(high).all());
        let matching = near.filter(move |((collider, other), _)| {
            layers.interacts_with(**other) && collider.may_reach([low, high])
        });
        matching.map(|((collider, _), _)| collider)
    }
}

pub(crate) fn find_colliders(
    mut active: ResMut<ActiveColliders>,
    mut colliders: Query<(Entity, &ClothCollider, Option<&ClothLayers>, &mut LastPose)>,
    anchors: Anchors,
    time: Res<Time>,
) {
    let ActiveColliders {
        list,
        layers: all_layers,
        swept_boxes,
        entities,
        past_starts,
        keep_past_starts,
        order,
        reported,
        ..
    } = &mut *active;
    if *keep_past_starts {
        past_starts.truncate(MAX_STEP_INTERVAL as usize - 1);
        let starts = list.iter().map(|collider| collider.start);
        past_starts.push_front(entities.iter().copied().zip(starts).collect());
    } else {
        past_starts.clear();
    }
    list.clear();
    all_layers.clear();
    entities.clear();
    swept_boxes.clear();
    order.clear();
    order.extend(colliders.iter().map(|(entity, ..)| entity));
    order.sort_unstable();
    for &entity in &*order {
        let Ok((_, collider, layers, mut last)) = colliders.get_mut(entity) else {
            continue;
        };
        let Some(transform) = anchors.at(entity) else {
            last.set_if_neq(LastPose(None));
            continue;
        };
        let (shape, end) = shape_and_pose(collider, &transform);
        if !(shape.is_valid() && end.is_valid()) {
            if reported.insert(entity) {
                error!(
                    "cloth collider {entity}: {shape:?} at {} is ignored; all lengths must be finite \
                     and above 0, the transform finite",
                    end.translation
                );
            }
            last.set_if_neq(LastPose(None));
            continue;
        }
        reported.remove(&entity);
        let start = last.map_or(end, |last| Pose {
            rotation: last.rotation,
            translation: last.translation.into(),
        });
        last.set_if_neq(LastPose(Some(Isometry3d::new(
            end.translation,
            end.rotation,
        ))));
        let swept = Collider {
            shape,
            start,
            end,
            friction: collider.friction(),
            hollow: collider.hollow,
        };
        let layers = layers.copied().unwrap_or_default();
        let swept = swept.without_teleport(time.delta_secs());
        swept_boxes.push(swept.swept_bounds());
        entities.push(entity);
        list.push(swept);
        all_layers.push(layers);
    }
    reported.retain(|&entity| colliders.contains(entity));
}

/// Returns the scaled shape of a collider and its pose.
fn shape_and_pose(collider: &ClothCollider, transform: &GlobalTransform) -> (Shape, Pose) {
    let (scale, rotation, translation) = transform.to_scale_rotation_translation();
    let pose = Pose {
        // A non-uniformly scaled parent shears rotated children; the nearest rotation is the best
        // approximation for a rigid shape.
        rotation: rotation.normalize(),
        translation,
    };
    (collider.scaled_shape(scale), pose)
}
