//! Finds all primitive colliders and their motion in the coming step.

use crate::solver::{Collider, Occlusion, Pose};
use crate::{
    cloth::{
        transforms::{Anchors, scale_and_pose},
        update_rate::MAX_STEP_INTERVAL,
    },
    collision::{
        active_mesh_colliders::ActiveMeshColliders,
        collider::{ClothCollider, LastPose},
        layers::ClothLayers,
    },
    label::{EntityLabel, EntityLabelItem},
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
    pub(crate) meshes: ActiveMeshColliders,
}

impl ActiveColliders {
    /// Removes all colliders, and records their start poses if longer steps need them.
    fn clear(&mut self) {
        if self.keep_past_starts {
            self.past_starts.truncate(MAX_STEP_INTERVAL as usize - 1);
            let starts = self.list.iter().map(|collider| collider.start);
            let starts = self.entities.iter().copied().zip(starts).collect();
            self.past_starts.push_front(starts);
        } else {
            self.past_starts.clear();
        }
        self.list.clear();
        self.layers.clear();
        self.entities.clear();
        self.swept_boxes.clear();
    }

    fn push(&mut self, entity: Entity, collider: Collider, layers: Option<&ClothLayers>) {
        self.swept_boxes.push(collider.swept_bounds());
        self.entities.push(entity);
        self.list.push(collider);
        self.layers.push(layers.copied().unwrap_or_default());
    }

    /// Returns whether a collider is valid; logs it once if it is not.
    fn check(&mut self, label: EntityLabelItem, collider: &Collider) -> bool {
        let is_valid = is_valid(collider);
        if is_valid {
            self.reported.remove(&label.entity);
        } else if self.reported.insert(label.entity) {
            error!(
                "cloth collider {label}: {:?} at {} is ignored; all lengths must be finite \
                 and above 0, the transform finite",
                collider.shape, collider.end.translation
            );
        }
        is_valid
    }

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

    /// Returns the colliders of [`on_layers`](Self::on_layers) with their motion over the last `steps_covered` steps,
    /// including the current one.
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
            meshes: self.meshes.stationary(),
            ..default()
        };
        for (entity, collider, layers) in all {
            let Ok(transform) = transforms.compute_global_transform(entity) else {
                continue;
            };
            let placed = place(collider, &transform, LastPose(None));
            if is_valid(&placed) {
                stationary.push(entity, placed, layers);
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

/// Finds the colliders of a step. Those with an invalid length or transform are left out.
pub(crate) fn find_colliders(
    mut active: ResMut<ActiveColliders>,
    mut colliders: Query<(
        EntityLabel,
        &ClothCollider,
        Option<&ClothLayers>,
        &mut LastPose,
    )>,
    anchors: Anchors,
    time: Res<Time>,
) {
    let active = &mut *active;
    active.clear();
    let mut order = std::mem::take(&mut active.order);
    sort_entities(&mut order, colliders.iter().map(|(label, ..)| label.entity));
    for &entity in &order {
        let Ok((label, collider, layers, mut last)) = colliders.get_mut(entity) else {
            continue;
        };
        let transform = anchors.at(entity);
        let swept = transform.map(|transform| place(collider, &transform, *last));
        let swept = swept.filter(|swept| active.check(label, swept));
        last.set_if_neq(LastPose::of(swept.map(|swept| swept.end)));
        if let Some(swept) = swept {
            active.push(entity, swept.without_teleport(time.delta_secs()), layers);
        }
    }
    active.order = order;
    active.reported.retain(|&entity| colliders.contains(entity));
}

/// Fills a buffer with entities, sorted: the same order gives the same bits.
pub(crate) fn sort_entities(order: &mut Vec<Entity>, entities: impl Iterator<Item = Entity>) {
    order.clear();
    order.extend(entities);
    order.sort_unstable();
}

/// Returns a collider that moves from its last pose to a transform.
fn place(collider: &ClothCollider, transform: &GlobalTransform, last: LastPose) -> Collider {
    let (scale, end) = scale_and_pose(transform);
    Collider {
        shape: collider.scaled_shape(scale),
        start: last.start(end),
        end,
        friction: collider.friction(),
        hollow: collider.hollow,
    }
}

fn is_valid(collider: &Collider) -> bool {
    collider.shape.is_valid() && collider.end.is_valid()
}
