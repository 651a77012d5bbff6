//! Finds out where all colliders are and how they move during the coming step.

use super::follow::Anchors;
use crate::{
    collider::{ClothCollider, LastPose},
    layers::ClothLayers,
    lod::{ClothBudget, ClothLod, MOST_UPDATES},
    settings::WindOcclusion,
    solver::{Collider, Occlusion, Pose, Shape},
};
use bevy::{ecs::entity::EntityHashSet, prelude::*};
use std::collections::VecDeque;

/// The colliders of the running step, ordered by entity: the same order gives the same bits.
#[derive(Resource, Default)]
pub(crate) struct ActiveColliders {
    list: Vec<(Collider, ClothLayers)>,
    /// The same ones, if they keep off the wind.
    screens: Vec<Collider>,
    /// Corners of boxes around them, wherever they are during the step, in the same order.
    around: Vec<[Vec3; 2]>,
    /// Whose they are, in the same order.
    of: Vec<Entity>,
    /// Where they began in the steps before, the last one first, by entity: for cloths that take longer steps.
    past: VecDeque<Vec<(Entity, Pose)>>,
    /// All of them, in their order.
    order: Vec<Entity>,
    /// Reported as unusable; not again before they were usable.
    reported: EntityHashSet,
    /// Those that are no primitives.
    #[cfg(feature = "parry")]
    pub(crate) meshes: super::mesh_colliders::ActiveMeshColliders,
}

impl ActiveColliders {
    /// Those that meet a cloth on these layers.
    pub(crate) fn meeting(
        &self,
        layers: Option<&ClothLayers>,
    ) -> impl Iterator<Item = &Collider> + Clone {
        let layers = layers.copied().unwrap_or_default();
        let met = self.list.iter().filter(move |(_, of)| layers.meets(*of));
        met.map(|(collider, _)| collider)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The same ones on their way through the last so many steps and the running one, `covers` in all.
    pub(crate) fn meeting_since(
        &self,
        layers: Option<&ClothLayers>,
        covers: u32,
    ) -> impl Iterator<Item = Collider> {
        let layers = layers.copied().unwrap_or_default();
        let past = covers
            .checked_sub(2)
            .and_then(|k| self.past.get(k as usize));
        let all = self.list.iter().zip(&self.of);
        let met = all.filter(move |((_, of), _)| layers.meets(*of));
        met.map(move |((collider, _), entity)| {
            let start = past.and_then(|past| {
                let k = past.binary_search_by_key(entity, |(entity, _)| *entity);
                Some(past[k.ok()?].1)
            });
            Collider {
                start: start.unwrap_or(collider.start),
                ..*collider
            }
        })
    }

    /// All of them where they are now, as if they stood still. Mesh colliders are those of the last step.
    pub(super) fn still(
        &self,
        colliders: &Query<(Entity, &ClothCollider, Option<&ClothLayers>)>,
        transforms: &TransformHelper,
    ) -> Self {
        let mut all: Vec<_> = colliders.iter().collect();
        all.sort_unstable_by_key(|(entity, ..)| *entity);
        let mut still = Self {
            #[cfg(feature = "parry")]
            meshes: self.meshes.still(),
            ..default()
        };
        for (entity, collider, layers) in all {
            let transform = transforms.compute_global_transform(entity).ok();
            if let Some((shape, pose)) = transform.map(|transform| placed(collider, &transform))
                && shape.is_valid()
                && pose.is_valid()
            {
                let solid = Collider {
                    hollow: collider.hollow,
                    ..Collider::fixed(shape, pose, collider.friction())
                };
                still.around.push(solid.around());
                still.of.push(entity);
                still
                    .list
                    .push((solid, layers.copied().unwrap_or_default()));
            }
        }
        still
    }

    /// How they keep off the wind, if they do.
    pub(crate) fn occlusion(&self, by: &WindOcclusion) -> Option<Occlusion<'_>> {
        (by.length > 0.0 && !self.screens.is_empty()).then_some(Occlusion {
            colliders: &self.screens,
            length: by.length,
            spread: by.spread,
        })
    }

    /// Those of them that may touch anything in a box, given by its corners.
    pub(super) fn near(
        &self,
        layers: Option<&ClothLayers>,
        [low, high]: [Vec3; 2],
    ) -> impl Iterator<Item = &Collider> {
        let layers = layers.copied().unwrap_or_default();
        let all = self.list.iter().zip(&self.around);
        // Of many colliders most are far away, so that comes first.
        let close =
            all.filter(move |(_, [from, to])| low.cmple(*to).all() && from.cmple(high).all());
        let met = close
            .filter(move |((collider, of), _)| layers.meets(*of) && collider.is_near([low, high]));
        met.map(|((collider, _), _)| collider)
    }
}

pub(crate) fn find_colliders(
    mut active: ResMut<ActiveColliders>,
    mut colliders: Query<(Entity, &ClothCollider, Option<&ClothLayers>, &mut LastPose)>,
    anchors: Anchors,
    time: Res<Time>,
    occlusion: Res<WindOcclusion>,
    lod: Res<ClothLod>,
    budget: Res<ClothBudget>,
) {
    let ActiveColliders {
        list,
        screens,
        around,
        of,
        past,
        order,
        reported,
        ..
    } = &mut *active;
    // Only where somebody wants it.
    if lod.levels.iter().any(|level| level.every > 1) || budget.levels_lost > 0 {
        past.truncate(MOST_UPDATES as usize - 1);
        let starts = list.iter().map(|(collider, _)| collider.start);
        past.push_front(of.iter().copied().zip(starts).collect());
    } else {
        past.clear();
    }
    list.clear();
    of.clear();
    around.clear();
    order.clear();
    order.extend(colliders.iter().map(|(entity, ..)| entity));
    order.sort_unstable();
    for &entity in &*order {
        let Ok((_, collider, layers, mut last)) = colliders.get_mut(entity) else {
            continue;
        };
        let Some(at) = anchors.at(entity) else {
            last.set_if_neq(LastPose(None));
            continue;
        };
        let (shape, end) = placed(collider, &at);
        if !(shape.is_valid() && end.is_valid()) {
            if reported.insert(entity) {
                error!(
                    "cloth collider {entity}: {shape:?} at {} is left out; all lengths must be finite \
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
        let moved = Collider {
            shape,
            start,
            end,
            friction: collider.friction(),
            hollow: collider.hollow,
        };
        let layers = layers.copied().unwrap_or_default();
        let moved = moved.without_teleport(time.delta_secs());
        around.push(moved.around());
        of.push(entity);
        list.push((moved, layers));
    }
    reported.retain(|&entity| colliders.contains(entity));
    screens.clear();
    if occlusion.length > 0.0 {
        screens.extend(list.iter().map(|(collider, _)| *collider));
    }
}

/// The shape of a collider and where it is.
fn placed(collider: &ClothCollider, at: &GlobalTransform) -> (Shape, Pose) {
    let (scale, rotation, translation) = at.to_scale_rotation_translation();
    let pose = Pose {
        // A parent that is scaled unevenly shears what is turned inside it; the nearest rotation is the
        // best that a rigid shape can do.
        rotation: rotation.normalize(),
        translation,
    };
    (collider.scaled_shape(scale), pose)
}
