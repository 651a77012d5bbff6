//! Broad phase between cloths: finds those that may touch in a step, by sweep and prune along x.
//!
//! Two cloths collide if both have self-collision ([`Cloth::self_collision`]) and matching layers. At the
//! beginning of a step, pairs with overlapping swept bounds are found. Cloths connected by pairs form an
//! island and take their substeps together; a cloth in no pair takes all its substeps alone.

use crate::solver::{
    CrossingFilter, IslandContacts, ParticleArrays, math::components::connected_components,
};
use crate::{
    cloth::{
        Cloth,
        activity::{ClothCulled, ClothPaused},
        body::ClothBody,
        particles::ClothParticles,
        schedule::ClothSubstepTime,
        settings::ClothGravity,
        shape::ClothShape,
        update_rate::UpdateRate,
    },
    collision::{contacts::ClothContacts, layers::ClothLayers},
};
use bevy::prelude::*;

/// Assumed motion per substep, as a multiple of that in the last one. Cloths accelerated more are candidates one
/// step later.
const MOTION_MARGIN: f32 = 1.5;

/// Islands of cloths that may touch in the current step, sorted by entity: the same order gives the same bits.
#[derive(Resource, Default)]
pub(crate) struct ClothIslands {
    pub(crate) islands: Vec<Island>,
    /// Scratch buffer: islands of the previous step.
    before: Vec<Island>,
    /// Scratch buffer: all cloths that may form islands.
    candidates: Vec<IslandCandidate>,
}

/// Cloths connected by pairs that may touch.
#[derive(Default)]
pub(crate) struct Island {
    /// At least two cloths, sorted.
    pub(crate) cloths: Vec<Entity>,
    pub(crate) contacts: IslandContacts,
    /// Keeps the cloths from passing through each other.
    pub(crate) filter: CrossingFilter,
}

/// Cloth that may touch others, with its swept bounds in a step.
struct IslandCandidate {
    entity: Entity,
    low: Vec3,
    high: Vec3,
    layers: ClothLayers,
}

impl ClothIslands {
    /// Returns the cloths of all islands in which the predicate holds for any cloth.
    pub(crate) fn with_any(&self, predicate: impl Fn(Entity) -> bool) -> Vec<Entity> {
        let islands = self.islands.iter().map(|island| &island.cloths);
        let found = islands.filter(|cloths| cloths.iter().any(|&cloth| predicate(cloth)));
        found.flatten().copied().collect()
    }
}

/// Finds the cloths that may touch in this step.
pub(crate) fn find_cloth_islands(
    mut cloths: Query<
        (
            Entity,
            &Cloth,
            Option<&ClothLayers>,
            &ClothParticles,
            &ClothBody,
            &ClothShape,
            &UpdateRate,
            &mut ClothContacts,
        ),
        (Without<ClothPaused>, Without<ClothCulled>),
    >,
    gravity: Res<ClothGravity>,
    time: Res<ClothSubstepTime>,
    mut cloth_islands: ResMut<ClothIslands>,
) {
    let ClothIslands {
        islands,
        before,
        candidates,
    } = &mut *cloth_islands;
    candidates.clear();
    for (entity, cloth, layers, particles, body, shape, rate, mut contacts) in &mut cloths {
        let contacts = contacts.bypass_change_detection();
        let Some(distance) = contacts.distance(cloth, body, shape, rate, &time) else {
            continue;
        };
        let fall = gravity.0 * cloth.gravity_scale * time.step * time.step;
        let margin = 2.0 * distance + fall.abs().max_element();
        if let Some((low, high)) = swept_bounds(particles, rate.step(&time).count, margin) {
            candidates.push(IslandCandidate {
                entity,
                low,
                high,
                layers: layers.copied().unwrap_or_default(),
            });
        }
    }
    std::mem::swap(islands, before);
    islands.clear();
    let pairs = sweep_and_prune(candidates);
    if !pairs.is_empty() {
        connect(candidates, pairs, islands);
    }
    // Islands of the previous step keep their contacts.
    for island in islands {
        if let Ok(k) = before.binary_search_by(|known| known.cloths.cmp(&island.cloths)) {
            island.contacts = std::mem::take(&mut before[k].contacts);
            island.filter = std::mem::take(&mut before[k].filter);
        }
    }
    before.clear();
}

/// Returns all pairs of candidates with overlapping bounds and matching layers.
fn sweep_and_prune(candidates: &mut [IslandCandidate]) -> Vec<[usize; 2]> {
    candidates.sort_unstable_by(|a, b| a.low.x.total_cmp(&b.low.x).then(a.entity.cmp(&b.entity)));
    let mut pairs = Vec::new();
    for (k, a) in candidates.iter().enumerate() {
        let others = (k + 1..).zip(&candidates[k + 1..]);
        for (other, b) in others.take_while(|(_, b)| b.low.x <= a.high.x) {
            let near = a.low.cmple(b.high).all() && b.low.cmple(a.high).all();
            if near && a.layers.interacts_with(b.layers) {
                pairs.push([k, other]);
            }
        }
    }
    pairs
}

/// Appends the islands formed by pairs of candidates.
fn connect(candidates: &[IslandCandidate], pairs: Vec<[usize; 2]>, islands: &mut Vec<Island>) {
    let first = connected_components(candidates.len(), pairs.into_iter());
    let mut members: Vec<Vec<Entity>> = vec![Vec::new(); candidates.len()];
    for (candidate, first) in candidates.iter().zip(first) {
        members[first].push(candidate.entity);
    }
    members.retain(|cloths| cloths.len() > 1);
    for cloths in &mut members {
        cloths.sort_unstable();
    }
    members.sort_unstable();
    islands.extend(members.into_iter().map(|cloths| Island {
        cloths,
        ..default()
    }));
}

/// Returns the bounds swept by a cloth during a step, in the world, m.
fn swept_bounds(p: &ParticleArrays, substeps: u32, margin: f32) -> Option<(Vec3, Vec3)> {
    let (low, high) = p.position.bounds()?;
    let (back, forth) = p.displacement.bounds()?;
    let ahead = MOTION_MARGIN * substeps as f32;
    let low = p.origin + low + (back * ahead).min(Vec3::ZERO) - margin;
    let high = p.origin + high + (forth * ahead).max(Vec3::ZERO) + margin;
    (low.is_finite() && high.is_finite()).then_some((low, high))
}
