//! Broad phase between cloths: finds pairs that may touch in a step, by sweep and prune along x.
//!
//! Two cloths collide if both have self-collision ([`Cloth::self_collision`]) and matching layers. At the
//! beginning of a step, pairs with overlapping swept bounds are candidates. Cloths connected by pairs form an
//! island and take their substeps together; a cloth in no pair takes all its substeps alone.

use crate::solver::{
    Corners, CrossCollisionSettings, CrossContacts, CrossingFilter, Friction, ParticleArrays,
    SubstepTime,
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

/// Pairs of cloths that may touch in the current step, sorted by entity: the same order gives the same bits.
#[derive(Resource, Default)]
pub(crate) struct ClothPairs {
    pairs: Vec<ClothPair>,
    /// Scratch buffer: pairs of the previous step.
    before: Vec<ClothPair>,
    /// Scratch buffer: all cloths that may form pairs.
    cloths: Vec<PairCandidate>,
    /// Filters that keep the cloths of an island from passing through each other.
    pub(crate) filters: Vec<IslandFilter>,
}

/// Filter of the cloths of an island.
#[derive(Default)]
pub(crate) struct IslandFilter {
    /// The cloths, sorted.
    pub(crate) cloths: Vec<Entity>,
    pub(crate) filter: CrossingFilter,
}

/// Pair of cloths that may touch.
pub(crate) struct ClothPair {
    /// Both entities, sorted.
    pub(crate) cloths: [Entity; 2],
    settings: CrossCollisionSettings,
    contacts: CrossContacts,
}

/// Cloth that may form pairs, with its swept bounds in a step.
struct PairCandidate {
    entity: Entity,
    low: Vec3,
    high: Vec3,
    layers: ClothLayers,
    /// Minimum distance kept from other cloths, m.
    distance: f32,
    friction: Friction,
}

impl ClothPairs {
    /// Returns whether there are no pairs.
    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns all pairs.
    pub(crate) fn pairs_mut(&mut self) -> &mut [ClothPair] {
        &mut self.pairs
    }

    /// Returns the cloths in pairs and the islands they form.
    pub(crate) fn islands(&self) -> ClothIslands {
        let mut entities: Vec<Entity> = self.pairs.iter().flat_map(|pair| pair.cloths).collect();
        entities.sort_unstable();
        entities.dedup();
        let index = |entity| entities.binary_search(&entity).ok();
        let edges = self.pairs.iter().filter_map(|pair| {
            let [a, b] = pair.cloths;
            Some([index(a)?, index(b)?])
        });
        let first = connected_components(entities.len(), edges);
        ClothIslands { entities, first }
    }
}

/// Islands: sets of cloths connected by pairs.
pub(crate) struct ClothIslands {
    /// All cloths in pairs, sorted.
    pub(crate) entities: Vec<Entity>,
    /// Index of the first cloth in the island of each.
    first: Vec<usize>,
}

impl ClothIslands {
    /// Returns the cloths of each island, sorted.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Vec<Entity>> + '_ {
        let islands = (0..self.first.len()).filter(|&k| self.first[k] == k);
        islands.map(|island| {
            let all = self.entities.iter().zip(&self.first);
            let own = all.filter(move |&(_, &first)| first == island);
            own.map(|(&entity, _)| entity).collect()
        })
    }

    /// Returns for each cloth whether the predicate holds for any cloth in its island.
    pub(crate) fn any(&self, predicate: impl Fn(Entity) -> bool) -> Vec<bool> {
        let mut any = vec![false; self.entities.len()];
        for (entity, &first) in self.entities.iter().zip(&self.first) {
            any[first] |= predicate(*entity);
        }
        self.first.iter().map(|&first| any[first]).collect()
    }
}

impl ClothPair {
    /// Pairs two cloths, without contacts.
    fn new(a: &PairCandidate, b: &PairCandidate) -> Self {
        let mut cloths = [a.entity, b.entity];
        cloths.sort_unstable();
        Self {
            cloths,
            settings: CrossCollisionSettings {
                // The larger one, so that neither passes between particles of the other.
                distance: a.distance.max(b.distance),
                friction: mean_friction(a.friction, b.friction),
            },
            contacts: CrossContacts::default(),
        }
    }

    /// Solves contacts between both in a substep. Returns whether they touched.
    pub(crate) fn collide(
        &mut self,
        cloths: [&mut ParticleArrays; 2],
        triangles: [&Corners; 2],
        time: &SubstepTime,
    ) -> bool {
        (self.contacts).collide(cloths, triangles, &self.settings, time.index)
    }
}

/// Finds the pairs of cloths that may touch in this step.
pub(crate) fn find_cloth_pairs(
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
    mut cloth_pairs: ResMut<ClothPairs>,
) {
    let ClothPairs {
        pairs,
        before,
        cloths: candidates,
        ..
    } = &mut *cloth_pairs;
    candidates.clear();
    for (entity, cloth, layers, particles, body, shape, rate, mut contacts) in &mut cloths {
        let contacts = contacts.bypass_change_detection();
        let Some(distance) = contacts.distance(cloth, body, shape, rate, &time) else {
            continue;
        };
        let fall = gravity.0 * cloth.gravity_scale * time.step * time.step;
        let margin = 2.0 * distance + fall.abs().max_element();
        if let Some((low, high)) = swept_bounds(particles, rate.step(&time).count, margin) {
            candidates.push(PairCandidate {
                entity,
                low,
                high,
                layers: layers.copied().unwrap_or_default(),
                distance,
                friction: cloth.fabric.surface().friction,
            });
        }
    }
    std::mem::swap(pairs, before);
    pairs.clear();
    sweep_and_prune(candidates, pairs);
    pairs.sort_unstable_by_key(|pair| pair.cloths);
    // Pairs of the previous step keep their contacts.
    for pair in &mut *pairs {
        if let Ok(k) = before.binary_search_by_key(&pair.cloths, |pair| pair.cloths) {
            pair.contacts = std::mem::take(&mut before[k].contacts);
        }
    }
    before.clear();
}

/// Appends all pairs of candidates with overlapping bounds and matching layers.
fn sweep_and_prune(candidates: &mut [PairCandidate], pairs: &mut Vec<ClothPair>) {
    candidates.sort_unstable_by(|a, b| a.low.x.total_cmp(&b.low.x).then(a.entity.cmp(&b.entity)));
    for (k, a) in candidates.iter().enumerate() {
        let overlapping_in_x = candidates[k + 1..]
            .iter()
            .take_while(|b| b.low.x <= a.high.x);
        for b in overlapping_in_x {
            let near = a.low.cmple(b.high).all() && b.low.cmple(a.high).all();
            if near && a.layers.interacts_with(b.layers) {
                pairs.push(ClothPair::new(a, b));
            }
        }
    }
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

/// Returns the friction between two fabrics: the mean.
fn mean_friction(a: Friction, b: Friction) -> Friction {
    Friction {
        static_coefficient: 0.5 * (a.static_coefficient + b.static_coefficient),
        kinetic_coefficient: 0.5 * (a.kinetic_coefficient + b.kinetic_coefficient),
    }
}

/// Computes connected components by union-find: `edges` are pairs of `count` nodes. Returns for each node the
/// smallest node of its component.
pub(crate) fn connected_components(
    count: usize,
    edges: impl Iterator<Item = [usize; 2]>,
) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..count).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    for [a, b] in edges {
        let [a, b] = [root(&mut parent, a), root(&mut parent, b)];
        parent[a.max(b)] = a.min(b);
    }
    for i in 0..count {
        parent[i] = root(&mut parent, i);
    }
    parent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connected_nodes_are_in_one_component() {
        let edges = [[3, 1], [4, 5], [1, 6], [5, 4]];
        assert_eq!(
            connected_components(7, edges.into_iter()),
            [0, 1, 2, 1, 4, 4, 1]
        );
        assert_eq!(connected_components(2, [[0, 1]].into_iter()), [0, 0]);
        assert!(connected_components(0, [].into_iter()).is_empty());
    }
}
