//! Cloths that may touch each other in a step.
//!
//! Two cloths collide if both collide with themselves ([`Cloth::self_collision`]) and their layers meet.
//! Those whose bounds come near each other in a step are found when it begins. They go through it
//! together, in clusters; a cloth that meets none goes through all its substeps by itself.

use crate::{
    cloth::{Cloth, SelfCollision},
    components::{ClothBody, Particles, SelfContacts},
    fabric::Fabric,
    layers::ClothLayers,
    lod::{ClothCulled, ClothPaused},
    plugin::SubstepTime,
    settings::ClothGravity,
    solver::{Corners, CrossCollision, CrossContacts, Friction, ParticleArrays},
};
use bevy::prelude::*;

/// How much farther than it did in the last substep a cloth may move in each of the next: who is pulled
/// or pushed harder is found a step later.
const FASTER: f32 = 1.5;

/// The cloths that may touch in the running step, by entity: the same order gives the same bits.
#[derive(Resource, Default)]
pub(crate) struct ClothsTouching {
    pairs: Vec<Pair>,
    /// Room for those of the step before, and for what is looked at.
    before: Vec<Pair>,
    cloths: Vec<Reach>,
}

/// Two cloths that may touch.
pub(crate) struct Pair {
    /// The lesser first.
    pub(crate) cloths: [Entity; 2],
    by: CrossCollision,
    /// Edges of one that have gone through triangles of the other are brought back.
    edges: bool,
    contacts: CrossContacts,
}

/// What a cloth may touch in a step.
struct Reach {
    entity: Entity,
    low: Vec3,
    high: Vec3,
    layers: ClothLayers,
    /// What it keeps from others, m.
    distance: f32,
    friction: Friction,
    /// Whether its edges are to be brought back.
    edges: bool,
}

impl ClothsTouching {
    /// Whether no cloth may touch another.
    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The pairs that may touch.
    pub(super) fn pairs_mut(&mut self) -> &mut [Pair] {
        &mut self.pairs
    }

    /// The cloths that may touch others, and which of them hang together.
    pub(super) fn groups(&self) -> Groups {
        let mut entities: Vec<Entity> = self.pairs.iter().flat_map(|pair| pair.cloths).collect();
        entities.sort_unstable();
        entities.dedup();
        let place = |entity| entities.binary_search(&entity).ok();
        let joined = self.pairs.iter().filter_map(|pair| {
            let [a, b] = pair.cloths;
            Some([place(a)?, place(b)?])
        });
        let of = clusters(entities.len(), joined);
        Groups { entities, of }
    }
}

/// Cloths that may touch others.
pub(super) struct Groups {
    /// In their order.
    pub(super) entities: Vec<Entity>,
    /// The first one of those that each hangs together with.
    of: Vec<usize>,
}

impl Groups {
    /// For each of them, whether any of those that it hangs together with is so.
    pub(super) fn any(&self, is_so: impl Fn(Entity) -> bool) -> Vec<bool> {
        let mut any = vec![false; self.entities.len()];
        for (entity, &first) in self.entities.iter().zip(&self.of) {
            any[first] |= is_so(*entity);
        }
        self.of.iter().map(|&first| any[first]).collect()
    }
}

impl Pair {
    /// Keeps both apart in a substep. Returns whether they touched.
    pub(super) fn collide(
        &mut self,
        cloths: [&mut ParticleArrays; 2],
        triangles: [&Corners; 2],
        time: &SubstepTime,
    ) -> bool {
        let triangles = self.edges.then_some(triangles);
        (self.contacts).collide(cloths, triangles, &self.by, time.index)
    }
}

/// Finds the cloths that may touch in this step.
pub(crate) fn find_touching(
    mut cloths: Query<
        (
            Entity,
            &Cloth,
            Option<&ClothLayers>,
            &Particles,
            &ClothBody,
            &mut SelfContacts,
        ),
        (Without<ClothPaused>, Without<ClothCulled>),
    >,
    gravity: Res<ClothGravity>,
    time: Res<SubstepTime>,
    mut touching: ResMut<ClothsTouching>,
) {
    let ClothsTouching {
        pairs,
        before,
        cloths: found,
    } = &mut *touching;
    found.clear();
    for (entity, cloth, layers, particles, body, mut contacts) in &mut cloths {
        let contacts = contacts.bypass_change_detection();
        let Some(distance) = contacts.distance(cloth, body, &time) else {
            continue;
        };
        let fall = gravity.0 * cloth.gravity_scale * time.step * time.step;
        let margin = 2.0 * distance + fall.abs().max_element();
        if let Some((low, high)) = swept(particles, body.pace.step(&time).count, margin) {
            found.push(Reach {
                entity,
                low,
                high,
                layers: layers.copied().unwrap_or_default(),
                distance,
                friction: friction(&cloth.fabric),
                edges: cloth.self_collision == SelfCollision::ParticlesAndEdges,
            });
        }
    }
    std::mem::swap(pairs, before);
    pairs.clear();
    // Along x, so that not all have to be compared with all.
    found.sort_unstable_by(|a, b| a.low.x.total_cmp(&b.low.x).then(a.entity.cmp(&b.entity)));
    for (k, a) in found.iter().enumerate() {
        for b in &found[k + 1..] {
            if b.low.x > a.high.x {
                break;
            }
            let near = a.low.cmple(b.high).all() && b.low.cmple(a.high).all();
            if near && a.layers.meets(b.layers) {
                let mut cloths = [a.entity, b.entity];
                cloths.sort_unstable();
                pairs.push(Pair {
                    cloths,
                    by: CrossCollision {
                        // So that neither lets the other through between its particles.
                        distance: a.distance.max(b.distance),
                        friction: mean(a.friction, b.friction),
                    },
                    edges: a.edges || b.edges,
                    contacts: CrossContacts::default(),
                });
            }
        }
    }
    pairs.sort_unstable_by_key(|pair| pair.cloths);
    // Those that were near before know where they may touch.
    for pair in &mut *pairs {
        if let Ok(k) = before.binary_search_by_key(&pair.cloths, |pair| pair.cloths) {
            pair.contacts = std::mem::take(&mut before[k].contacts);
        }
    }
    before.clear();
}

/// The box in which a cloth is during a step, in the world, m.
fn swept(p: &ParticleArrays, substeps: u32, margin: f32) -> Option<(Vec3, Vec3)> {
    let (low, high) = p.position.bounds()?;
    let (back, forth) = p.displacement.bounds()?;
    let ahead = FASTER * substeps as f32;
    let low = p.origin + low + (back * ahead).min(Vec3::ZERO) - margin;
    let high = p.origin + high + (forth * ahead).max(Vec3::ZERO) + margin;
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

fn friction(fabric: &Fabric) -> Friction {
    fabric.surface().friction
}

/// Friction of two fabrics on each other.
fn mean(a: Friction, b: Friction) -> Friction {
    Friction {
        fixed: 0.5 * (a.fixed + b.fixed),
        kinetic: 0.5 * (a.kinetic + b.kinetic),
    }
}

/// Numbers clusters: `joined` are pairs of so many; each gets the least number of those that it is joined
/// with, directly or through others.
pub(super) fn clusters(count: usize, joined: impl Iterator<Item = [usize; 2]>) -> Vec<usize> {
    let mut of: Vec<usize> = (0..count).collect();
    fn root(of: &mut [usize], mut i: usize) -> usize {
        while of[i] != i {
            of[i] = of[of[i]];
            i = of[i];
        }
        i
    }
    for [a, b] in joined {
        let [a, b] = [root(&mut of, a), root(&mut of, b)];
        of[a.max(b)] = a.min(b);
    }
    for i in 0..count {
        of[i] = root(&mut of, i);
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_joined_is_in_one_cluster() {
        let joined = [[3, 1], [4, 5], [1, 6], [5, 4]];
        assert_eq!(clusters(7, joined.into_iter()), [0, 1, 2, 1, 4, 4, 1]);
        assert_eq!(clusters(2, [[0, 1]].into_iter()), [0, 0]);
        assert!(clusters(0, [].into_iter()).is_empty());
    }
}
