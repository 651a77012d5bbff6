//! Contacts of features that are very near each other when a step begins: in each substep they keep a gap.
//!
//! Particles that keep a distance leave gaps where edges are long, and where particles are too close to each other at rest to
//! collide. Cloth that is pressed into such a gap would be stopped by the filter alone, after each step and against all
//! constraints: crumpled sheets of irregular triangles trembled by 100 to 600 mm/s, with links stretched by 20 to 50 %. With
//! these contacts, the filter has nothing to stop in cloth that rests.
//!
//! As with particles, colliders act later in the substep, and cloth that does not take the substep touches nothing.

use super::{
    Part,
    limits::Limits,
    patches::Patches,
    time_of_contact::{Features, combine},
    triangle_pairs::{bounds, boxes_overlap},
};
use crate::solver::particles::ParticleArrays;
use bevy::math::{DVec3, Vec3A};

/// Distance of features that are near each other, as a fraction of the distance that particles keep: much more than rounding, much
/// less than is seen.
pub(super) const GAP: f32 = 0.1;

/// Gap that near features keep, as a fraction of that distance: less, so that features which keep it count as near in the next
/// step too.
const KEPT_GAP: f64 = 0.9;

/// Distance by which near features move apart in a substep, as a fraction of the distance that particles keep.
const SEPARATION: f64 = 0.02;

/// Smallest cosine of the angle between the line from feature to feature and the normal of the triangle, or of both edges.
/// Features beside each other in one surface do not touch, however narrow its triangles are.
const MIN_COSINE: f64 = 0.25;

/// Particles for each pair of near features for which memory is reserved: crumpled sheets of irregular triangles have ten.
const PARTICLES_PER_PAIR: usize = 8;

/// Particles of a cloth of the filter in a substep; `None` if it does not take this substep, or is not filtered.
pub(crate) type FeatureCloth<'a> = Option<&'a mut ParticleArrays>;

/// Two features that are near each other.
#[derive(Clone, Copy, Debug)]
struct FeaturePair {
    features: Features,
    particles: [u32; 4],
    /// Side of the second feature on which the first one was when they were found: 1 or −1.
    side: i8,
}

/// Pairs of features that are near each other.
#[derive(Clone, Debug, Default)]
pub(super) struct NearFeatures {
    pairs: Vec<FeaturePair>,
    /// Whether these are all pairs; false before the first search.
    pub(super) is_known: bool,
}

impl NearFeatures {
    /// Reserves memory for as many pairs as cloth of this many particles has in most folds.
    pub(super) fn reserve(&mut self, particles: usize) {
        self.pairs.reserve(particles / PARTICLES_PER_PAIR);
    }

    pub(super) fn clear(&mut self) {
        self.pairs.clear();
        self.is_known = true;
    }

    /// Replaces the pairs by those of some pairs of triangles, among which are all near ones. `at` are the positions of all
    /// particles, which keep this `distance`, m.
    pub(super) fn find(
        &mut self,
        patches: &Patches,
        at: &[Vec3A],
        distance: f32,
        candidates: &[[u32; 2]],
        limits: &Limits,
    ) {
        self.clear();
        let gap = GAP * distance;
        let box_around = |particles: &[u32]| bounds(particles.iter().map(|&i| at[i as usize]));
        for &pair in candidates {
            let [one, other] = pair.map(|triangle| box_around(&patches.corners(triangle)));
            if !boxes_overlap(one, other, gap) {
                continue;
            }
            patches.for_each_features(pair, |features, particles| {
                let (one, other) = particles.split_at(features.first_particles());
                if boxes_overlap(box_around(one), box_around(other), gap) {
                    let points = particles.map(|i| at[i as usize].as_dvec3());
                    if let Some(separation) = Separation::of(features, points)
                        && separation.apart.length() < f64::from(gap)
                        && !limits.are_tangled(features, particles)
                    {
                        self.pairs.push(FeaturePair {
                            features,
                            particles,
                            side: separation.side,
                        });
                    }
                }
            });
        }
    }

    /// Moves the features of all pairs apart that keep less than their gap, and removes the velocity at which they approach.
    /// Displacements must be up to date. Momentum is conserved.
    pub(super) fn keep_apart(&self, parts: &[Part], cloths: &mut [FeatureCloth], distance: f32) {
        for pair in &self.pairs {
            if let Some(loaded) = FeatureParticles::load(parts, cloths, pair.particles)
                && let Some(correction) = loaded.correction(pair, f64::from(distance))
            {
                loaded.apply(&correction, cloths);
            }
        }
    }
}

/// Four particles of two features.
struct FeatureParticles {
    /// Cloth, and index in it, of each.
    of: [(usize, usize); 4],
    /// Positions, m.
    at: [DVec3; 4],
    /// Displacements in the substep, m.
    displacement: [DVec3; 4],
    /// Inverse masses, 1/kg.
    inverse_mass: [f64; 4],
}

/// Line from one feature to another across the surface.
struct Separation {
    /// Weights of the particles in the vector from the second feature to the first, and that vector, m.
    weights: [f64; 4],
    apart: DVec3,
    /// Side of the second feature on which the first one is: 1 or −1.
    side: i8,
}

impl Separation {
    /// Returns the separation of two features; `None` if they touch or are beside each other in one surface.
    fn of(features: Features, points: [DVec3; 4]) -> Option<Self> {
        let weights = features.closest_points(points);
        let apart = combine(weights, points);
        let [p, a, b, c] = points;
        let normal = match features {
            Features::ParticleTriangle => (b - a).cross(c - a),
            Features::EdgeEdge => (a - p).cross(c - b),
        };
        let along = apart.dot(normal);
        let is_across = along.abs() > MIN_COSINE * apart.length() * normal.length();
        is_across.then_some(Self {
            weights,
            apart,
            side: if along > 0.0 { 1 } else { -1 },
        })
    }

    /// Returns whether the line begins and ends within both features, at no end and no edge.
    fn is_within(&self) -> bool {
        self.weights.iter().all(|&weight| weight != 0.0)
    }
}

/// Correction of two features.
struct Correction {
    /// Direction in which the first one moves.
    normal: DVec3,
    /// Change of the distance, m, and of the relative displacement, m.
    moved: f64,
    stopped: f64,
    /// Fraction of both for each particle, in that direction.
    shares: [f64; 4],
}

impl FeatureParticles {
    /// Loads the particles; `None` if a cloth does not take this substep, or has changed.
    fn load(parts: &[Part], cloths: &[FeatureCloth], particles: [u32; 4]) -> Option<Self> {
        let mut loaded = Self {
            of: [(0, 0); 4],
            at: [DVec3::ZERO; 4],
            displacement: [DVec3::ZERO; 4],
            inverse_mass: [0.0; 4],
        };
        let mut origin = None;
        for (k, i) in particles.into_iter().enumerate() {
            let cloth = parts.partition_point(|part| part.first <= i as usize) - 1;
            let i = i as usize - parts[cloth].first;
            let p = cloths.get(cloth)?.as_ref()?;
            if p.len() != parts[cloth].len {
                return None;
            }
            let shift = (p.origin - *origin.get_or_insert(p.origin)).as_dvec3();
            loaded.of[k] = (cloth, i);
            loaded.at[k] = p.position.get(i).as_dvec3() + shift;
            loaded.displacement[k] = p.displacement.get(i).as_dvec3();
            loaded.inverse_mass[k] = f64::from(p.inverse_mass[i]);
        }
        Some(loaded)
    }

    /// Returns how the features have to move; `None` if they keep their gap, or have slid off each other. Features that have passed
    /// through each other return.
    fn correction(&self, pair: &FeaturePair, distance: f64) -> Option<Correction> {
        let now = Separation::of(pair.features, self.at)?;
        let side = pair.side * now.side;
        if side < 0 && !now.is_within() {
            return None;
        }
        let gap = f64::from(side) * now.apart.length();
        let kept = KEPT_GAP * f64::from(GAP) * distance;
        let weights = now.weights;
        let mass = |k: usize| weights[k] * weights[k] * self.inverse_mass[k];
        let masses: f64 = (0..4).map(mass).sum();
        if gap >= kept || masses == 0.0 {
            return None;
        }
        let normal = now.apart / gap;
        let approach = normal.dot(combine(weights, self.displacement)).min(0.0);
        let shares = [0, 1, 2, 3].map(|k| weights[k] * self.inverse_mass[k] / masses);
        // A light one with a small weight beside heavy ones would be thrown many times as far: 59 mm in one step of cloth at rest
        // on a cone.
        let most = shares
            .iter()
            .fold(1.0, |most: f64, share| most.max(share.abs()));
        Some(Correction {
            normal,
            moved: (kept - gap).min(SEPARATION * distance - approach),
            stopped: -approach,
            shares: shares.map(|share| share / most),
        })
    }

    fn apply(&self, correction: &Correction, cloths: &mut [FeatureCloth]) {
        for ((cloth, i), share) in self.of.into_iter().zip(correction.shares) {
            if let Some(p) = &mut cloths[cloth] {
                let direction = correction.normal * share;
                p.position.add(i, (direction * correction.moved).as_vec3());
                // The rest of the change of positions is not to be added to the displacement as motion.
                p.predicted.set(i, p.position.get(i));
                (p.displacement).add(i, (direction * correction.stopped).as_vec3());
            }
        }
    }
}

#[cfg(test)]
mod tests;
