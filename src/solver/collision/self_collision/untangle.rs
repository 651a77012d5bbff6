//! Untangling: edges that have passed through triangles, and the correction that brings them back.
//!
//! In cloth that is stretched, wrung, or modelled with intersections, an edge may pass through a triangle although all
//! particles (almost) keep their distance. There two parts of the cloth intersect along a contour. Which side is the
//! right one cannot be determined locally, but a contour that is shortened step by step vanishes in the end (Volino,
//! Magnenat-Thalmann, "Resolving surface collisions through intersection contour minimization", 2006).
//!
//! Let an edge with direction e pass through a triangle with normal n. In a triangle at this edge, with normal m,
//! the contour begins along R, which is ±n × m and points inwards. If the edge is moved by D, the contour gets
//! shorter by D·G, where G is the sum of R − n(e·R)/(e·n) over the triangles at the edge: 0 in the middle of a
//! straight contour, so the contour is shortened from its ends.
//!
//! Only the neighbourhoods of particles that are too near each other, and nearer than edges are long, are searched: an unstretched
//! mesh cannot intersect itself anywhere else. Contacts of particles around an intersection are ignored if they would push in
//! the wrong direction.

use crate::solver::{
    collision::ray::intersect_triangle, math::particle_lists::ParticleLists,
    particles::ParticleArrays, triangles::corners::Corners,
};
use bevy::math::Vec3;

/// Distance that an intersecting edge and triangle move relative to each other per substep, as a fraction of the
/// contact distance.
const CORRECTION: f32 = 0.05;

/// Largest distance of two particles around which intersections are searched, as a fraction of the contact distance, or of the
/// longest edge if that is less. Where an edge of a square grid passes through a triangle, one of its ends is nearer to a corner
/// than 0.87 of the neighbour spacing, and the contact distance is at least that spacing; in a triangle with three edges of
/// one length, than 0.77 of these. Slightly more, because cloth stretches.
const SEARCH_RATIO: f32 = 0.9;

/// Number of intersections per particle after which a search ends. It has looked at only some of the pairs then, and the next one
/// continues there. A hundred sheets in one place have 8 in all.
const MAX_FOUND: f32 = 0.15;

/// Number of near pairs per particle around which a search looks before it ends as well. Sheets in one plane have many, but do not
/// intersect yet.
const MAX_SEARCHED: f32 = 0.5;

/// Largest number of rounds in which a search looks at all pairs, and number of successive ones that it looks at in the same round.
const ROUNDS: usize = 256;
const BLOCK: usize = 16;

/// Number of intersections per particle above which cloth is tangled everywhere. Two sheets of 64² that cross along a line have
/// less than 0.1.
const TANGLED_EVERYWHERE: f32 = 1.0;

/// Least value of each of the limits above, however small the cloth is.
const MIN_LIMIT: f32 = 1000.0;

/// An edge counts as lying in the plane of a triangle if the sine of its angle to the plane is less than this.
const MIN_SINE: f32 = 0.1;

/// An edge that passes through a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EdgeIntersection {
    edge: [u32; 2],
    triangle: [u32; 3],
}

/// Finds edge–triangle intersections and resolves them.
#[derive(Clone, Debug, Default)]
pub(super) struct Untangle {
    /// Number of particles and triangles. Triangles change only together with the number of particles, in a tear.
    counts: [usize; 2],
    /// The other two corners of the triangles at each particle.
    fans: ParticleLists<[u32; 2]>,
    intersections: Vec<EdgeIntersection>,
    /// Estimated number of intersections that a look at all pairs would have found in the last search, most of them several times.
    estimate: Option<f32>,
    /// Round with which the next search begins.
    next_round: usize,
    /// Sorted pairs of particles with ignored contacts.
    ignored_pairs: Vec<[u32; 2]>,
}

impl Untangle {
    /// Searches around those of the given pairs that are closer than [`SEARCH_RATIO`] of `distance`, m; around some of them, if there
    /// are very many intersections.
    pub(super) fn find(
        &mut self,
        p: &ParticleArrays,
        triangles: &Corners,
        pairs: &[[u32; 2]],
        distance: f32,
    ) {
        self.prepare(p.len(), triangles);
        let most = [MAX_SEARCHED, MAX_FOUND].map(|most| at_least(most, p.len()) as usize);
        self.find_up_to(most, p, pairs, SEARCH_RATIO * distance);
        if self.intersections.is_empty() {
            return;
        }
        let at = |i: u32| p.position.get(i as usize);
        self.intersections.sort_unstable();
        self.intersections.dedup();
        let mut ignored = std::mem::take(&mut self.ignored_pairs);
        ignored.clear();
        for intersection in &self.intersections {
            let Some(direction) = self.direction(p, intersection) else {
                continue;
            };
            for i in intersection.edge {
                for j in intersection.triangle {
                    if (at(i) - at(j)).dot(direction) < 0.0 {
                        ignored.push([i.min(j), i.max(j)]);
                    }
                }
            }
        }
        ignored.sort_unstable();
        ignored.dedup();
        self.ignored_pairs = ignored;
    }

    /// Searches around pairs that are closer than `near`, m, round by round, until it has searched around so many pairs, or found so
    /// many intersections, or a few more.
    fn find_up_to(
        &mut self,
        [max_searched, max_found]: [usize; 2],
        p: &ParticleArrays,
        pairs: &[[u32; 2]],
        near: f32,
    ) {
        self.intersections.clear();
        let at = |i: u32| p.position.get(i as usize);
        let all_rounds = pairs.len().div_ceil(BLOCK).clamp(1, ROUNDS);
        let (mut rounds, mut searched) = (0, 0);
        while rounds < all_rounds && searched < max_searched && self.intersections.len() < max_found
        {
            let blocks = pairs.chunks(BLOCK).skip(self.next_round % all_rounds);
            for &[i, j] in blocks.step_by(all_rounds).flatten() {
                if at(i).distance_squared(at(j)) < near * near {
                    self.find_between(p, i, j);
                    self.find_between(p, j, i);
                    searched += 1;
                }
            }
            rounds += 1;
            self.next_round = (self.next_round + 1) % all_rounds;
        }
        let all = self.intersections.len() as f32 * all_rounds as f32;
        self.estimate = Some(all / rounds.max(1) as f32);
    }

    /// Prepares for `n` particles with these triangles, so that no search allocates.
    pub(super) fn prepare(&mut self, n: usize, triangles: &Corners) {
        if self.counts != [n, triangles.len()] {
            self.index_triangles(n, triangles);
        }
    }

    /// Makes the next search index the triangles again.
    pub(super) fn forget(&mut self) {
        self.counts = [0; 2];
    }

    /// Collects the triangles at each particle.
    fn index_triangles(&mut self, n: usize, triangles: &Corners) {
        self.counts = [n, triangles.len()];
        self.intersections.clear();
        self.end();
        self.fans.fill(n, || {
            let triangles = triangles.within(n);
            triangles.flat_map(|[a, b, c]| [(a, [b, c]), (b, [c, a]), (c, [a, b])])
        });
    }

    /// Searches for edges at particle `i` that pass through triangles at particle `j`.
    fn find_between(&mut self, p: &ParticleArrays, i: u32, j: u32) {
        let at = |i: u32| p.position.get(i as usize);
        let mut found = std::mem::take(&mut self.intersections);
        for &[k, l] in self.fans.for_particle(j) {
            let corners = [j, k, l];
            if corners.contains(&i) {
                continue;
            }
            let positions = corners.map(at);
            let [a, b, c] = positions;
            let normal = (b - a).cross(c - a);
            let side = normal.dot(at(i) - a);
            // Inner edges occur twice, once from each side.
            for &end in self.fans.for_particle(i).as_flattened() {
                let other_end = at(end);
                let through = side * normal.dot(other_end - a) < 0.0
                    && !corners.contains(&end)
                    && intersect_edge_triangle([at(i), other_end], positions).is_some();
                if through {
                    found.push(EdgeIntersection::new([i, end], corners));
                }
            }
        }
        self.intersections = found;
    }

    /// Returns whether the last search found any intersection.
    pub(super) fn has_intersections(&self) -> bool {
        !self.intersections.is_empty()
    }

    /// Returns whether most of the cloth is tangled, as far as is known.
    pub(super) fn is_everywhere(&self) -> bool {
        let least = at_least(TANGLED_EVERYWHERE, self.counts[0]);
        self.estimate.is_some_and(|estimate| estimate > least)
    }

    /// Returns whether there was no search since the cloth was last free of intersections.
    pub(super) fn is_new(&self) -> bool {
        self.estimate.is_none()
    }

    /// Records that the cloth is free of intersections.
    pub(super) fn end(&mut self) {
        (self.estimate, self.next_round) = (None, 0);
    }

    /// Collects the pairs with contacts that are not ignored. Meaningful only if there are intersections.
    pub(super) fn keep_contacts(&self, pairs: &[[u32; 2]], kept: &mut Vec<[u32; 2]>) {
        let mut ignored = self.ignored_pairs.iter().peekable();
        kept.clear();
        for pair in pairs {
            while ignored.next_if(|other| *other < pair).is_some() {}
            if ignored.peek() != Some(&pair) {
                kept.push(*pair);
            }
        }
    }

    /// Moves intersecting edges and triangles apart by a small step. Momentum is conserved, and displacements are
    /// unchanged: the positions separate without gaining velocity.
    pub(super) fn resolve(&self, p: &mut ParticleArrays, distance: f32) {
        for intersection in &self.intersections {
            let EdgeIntersection { edge, triangle } = *intersection;
            let at = |i: u32| p.position.get(i as usize);
            let Some([t, u, v]) = intersect_edge_triangle(edge.map(at), triangle.map(at)) else {
                continue;
            };
            let Some(direction) = self.direction(p, intersection) else {
                continue;
            };
            let [p0, p1] = edge;
            let [a, b, c] = triangle;
            let weights = [(p0, 1.0 - t), (p1, t), (a, u + v - 1.0), (b, -u), (c, -v)];
            let inverse = |i: u32| p.inverse_mass[i as usize];
            let sum: f32 = weights.iter().map(|&(i, s)| inverse(i) * s * s).sum();
            if sum <= 0.0 || sum.is_nan() {
                continue;
            }
            for (i, weight) in weights {
                let correction =
                    direction * (CORRECTION * distance * weight * p.inverse_mass[i as usize] / sum);
                p.position.add(i as usize, correction);
                // The correction is not to be added to the displacement as motion.
                p.predicted.set(i as usize, p.position.get(i as usize));
            }
        }
    }

    /// Returns the direction in which the edge must move to shorten the contour: of length 1, or less where the
    /// length of the contour hardly depends on the motion.
    fn direction(&self, p: &ParticleArrays, intersection: &EdgeIntersection) -> Option<Vec3> {
        let at = |i: u32| p.position.get(i as usize);
        let [p0, p1] = intersection.edge;
        let [a, b, c] = intersection.triangle.map(at);
        let normal = (b - a).cross(c - a).try_normalize()?;
        let along = (at(p1) - at(p0)).try_normalize()?;
        let steep = along.dot(normal);
        let steep = steep.abs().max(MIN_SINE).copysign(steep);
        let mut sum = Vec3::ZERO;
        for &[k, l] in self.fans.for_particle(p0) {
            let third = match (k == p1, l == p1) {
                (true, false) => l,
                (false, true) => k,
                _ => continue,
            };
            let inwards = at(third) - at(p0);
            let other = along.cross(inwards);
            let Some(contour) = normal.cross(other).try_normalize() else {
                continue;
            };
            let inwards = inwards - along * inwards.dot(along);
            let contour = contour * contour.dot(inwards).signum();
            sum += contour - normal * (along.dot(contour) / steep);
        }
        let length = sum.length();
        (length > 0.0).then(|| sum / length.max(1.0))
    }
}

/// Returns this number per particle of `n`, or [`MIN_LIMIT`] if that is more.
fn at_least(per_particle: f32, n: usize) -> f32 {
    (per_particle * n as f32).max(MIN_LIMIT)
}

impl EdgeIntersection {
    /// Creates the same value however the edge and the triangle are ordered.
    fn new([a, b]: [u32; 2], mut triangle: [u32; 3]) -> Self {
        while triangle[0] > triangle[1] || triangle[0] > triangle[2] {
            triangle.rotate_left(1);
        }
        Self {
            edge: [a.min(b), a.max(b)],
            triangle,
        }
    }
}

/// Returns where an edge passes through a triangle: the parameter along the edge, and the barycentric weights of
/// the second and third corners.
fn intersect_edge_triangle([from, to]: [Vec3; 2], corners: [Vec3; 3]) -> Option<[f32; 3]> {
    let [t, u, v] = intersect_triangle(from, to - from, corners);
    let through = u > 0.0 && v > 0.0 && u + v < 1.0 && t > 0.0 && t < 1.0;
    through.then_some([t, u, v])
}

#[cfg(test)]
mod tests;
