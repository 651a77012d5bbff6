//! Edges that have gone through triangles, and how they come back.
//!
//! Where cloth is stretched, wrung or was made so, an edge may be through a triangle though all particles
//! keep apart, or almost. Along such places two parts of a cloth meet in a contour. Which side of it is the
//! right one nobody can say, but where the contour gets shorter, it vanishes at last (Volino, Magnenat-
//! Thalmann, "Resolving surface collisions through intersection contour minimization", 2006).
//!
//! An edge with the direction e is through a triangle with the normal n. In a triangle at this edge, with the
//! normal m, the contour begins along R, which is ±n × m and points inwards. If the edge is moved by D, the
//! contour gets shorter by D·G, G being the sum of R − n(e·R)/(e·n) over the triangles at the edge: 0 in
//! the middle of a straight contour, so that it is taken back from its ends.
//!
//! Only around particles that are too near each other is looked: a mesh that is not stretched can't be
//! through itself anywhere else. Of what is through each other, particles do not touch that would push each
//! other the wrong way.

use crate::solver::{corners::Corners, particles::ParticleArrays};
use bevy::math::Vec3;

/// By what share of the distance that particles keep an edge and a triangle move in a substep.
const BACK: f32 = 0.05;

/// Where an edge of a square grid is through a triangle, one of its ends is nearer to a corner than 0.87 of the
/// distance of neighbours, and particles keep at least that distance. A little more, for cloth that gives.
const NEAR: f32 = 0.9;

/// An edge as good as lies in the plane of a triangle if the sine of its angle to it is less.
const FLAT: f32 = 0.1;

/// An edge through a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Crossing {
    edge: [u32; 2],
    triangle: [u32; 3],
}

/// Finds what is through each other, and moves it back.
#[derive(Clone, Debug, Default)]
pub(super) struct Untangle {
    /// How many particles and triangles there are. Triangles change only where a tear makes particles.
    known: [usize; 2],
    /// The other two corners of the triangles at each particle, in their order, and where they end.
    fans: Vec<[u32; 2]>,
    ends: Vec<u32>,
    crossings: Vec<Crossing>,
    /// Pairs of particles that do not touch, in their order.
    through: Vec<[u32; 2]>,
}

impl Untangle {
    /// Looks around those of these pairs that are much nearer than the distance they keep, m.
    pub(super) fn look(
        &mut self,
        p: &ParticleArrays,
        triangles: &Corners,
        pairs: &[[u32; 2]],
        distance: f32,
    ) {
        self.crossings.clear();
        let n = p.len();
        if self.known != [n, triangles.len()] {
            self.learn(n, triangles);
        }
        let at = |i: u32| p.position.get(i as usize);
        let near = NEAR * distance;
        for &[i, j] in pairs {
            if at(i).distance_squared(at(j)) < near * near {
                self.look_at(p, i, j);
                self.look_at(p, j, i);
            }
        }
        if self.crossings.is_empty() {
            return;
        }
        self.crossings.sort_unstable();
        self.crossings.dedup();
        let mut through = std::mem::take(&mut self.through);
        through.clear();
        for crossing in &self.crossings {
            let Some(way) = self.way(p, crossing) else {
                continue;
            };
            for i in crossing.edge {
                for j in crossing.triangle {
                    if (at(i) - at(j)).dot(way) < 0.0 {
                        through.push([i.min(j), i.max(j)]);
                    }
                }
            }
        }
        through.sort_unstable();
        through.dedup();
        self.through = through;
    }

    /// Has it learn its triangles anew.
    pub(super) fn forget(&mut self) {
        self.known = [0; 2];
    }

    /// Notes which triangles are at each particle.
    fn learn(&mut self, n: usize, triangles: &Corners) {
        self.known = [n, triangles.len()];
        self.ends.clear();
        self.ends.resize(n + 1, 0);
        let sound = |corners: &[u32; 3]| corners.iter().all(|&corner| (corner as usize) < n);
        for corner in triangles.iter().filter(sound).flatten() {
            self.ends[corner as usize + 1] += 1;
        }
        let mut sum = 0;
        for end in &mut self.ends {
            sum += *end;
            *end = sum;
        }
        self.fans.clear();
        self.fans.resize(sum as usize, [0; 2]);
        // What is where the fan of a particle begins becomes where it ends.
        for [a, b, c] in triangles.iter().filter(sound) {
            for (corner, others) in [(a, [b, c]), (b, [c, a]), (c, [a, b])] {
                let end = &mut self.ends[corner as usize];
                self.fans[*end as usize] = others;
                *end += 1;
            }
        }
    }

    /// The triangles at a particle, by their other two corners.
    fn fan(&self, i: u32) -> &[[u32; 2]] {
        let i = i as usize;
        let begin = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.fans[begin as usize..self.ends[i] as usize]
    }

    /// Looks for edges at particle `i` through triangles at particle `j`.
    fn look_at(&mut self, p: &ParticleArrays, i: u32, j: u32) {
        let at = |i: u32| p.position.get(i as usize);
        let mut found = std::mem::take(&mut self.crossings);
        for &[k, l] in self.fan(j) {
            let corners = [j, k, l];
            if corners.contains(&i) {
                continue;
            }
            let places = corners.map(at);
            let [a, b, c] = places;
            let normal = (b - a).cross(c - a);
            let side = normal.dot(at(i) - a);
            // Inner edges come twice, once from each side.
            for &end in self.fan(i).as_flattened() {
                let place = at(end);
                let through = side * normal.dot(place - a) < 0.0
                    && !corners.contains(&end)
                    && pierces([at(i), place], places).is_some();
                if through {
                    found.push(Crossing::new([i, end], corners));
                }
            }
        }
        self.crossings = found;
    }

    /// Whether anything is through anything.
    pub(super) fn any(&self) -> bool {
        !self.crossings.is_empty()
    }

    /// Of these pairs, those that may touch, if anything is through anything.
    pub(super) fn spare(&self, pairs: &[[u32; 2]], kept: &mut Vec<[u32; 2]>) {
        let mut through = self.through.iter().peekable();
        kept.clear();
        for pair in pairs {
            while through.next_if(|other| *other < pair).is_some() {}
            if through.peek() != Some(&pair) {
                kept.push(*pair);
            }
        }
    }

    /// Moves all that is through each other a little back. Momentum is kept, and so are displacements: it
    /// comes out as slowly as it is moved.
    pub(super) fn back(&self, p: &mut ParticleArrays, distance: f32) {
        for crossing in &self.crossings {
            let Crossing { edge, triangle } = *crossing;
            let at = |i: u32| p.position.get(i as usize);
            let Some([t, u, v]) = pierces(edge.map(at), triangle.map(at)) else {
                continue;
            };
            let Some(way) = self.way(p, crossing) else {
                continue;
            };
            let [p0, p1] = edge;
            let [a, b, c] = triangle;
            let shares = [(p0, 1.0 - t), (p1, t), (a, u + v - 1.0), (b, -u), (c, -v)];
            let inverse = |i: u32| p.inverse_mass[i as usize];
            let sum: f32 = shares.iter().map(|&(i, s)| inverse(i) * s * s).sum();
            if sum <= 0.0 || sum.is_nan() {
                continue;
            }
            for (i, share) in shares {
                let moved = way * (BACK * distance * share * p.inverse_mass[i as usize] / sum);
                p.position.add(i as usize, moved);
                // It is no motion that has still to be added to the displacement.
                p.predicted.set(i as usize, p.position.get(i as usize));
            }
        }
    }

    /// Where the edge has to go for the contour to get shorter: at most 1 long, and shorter where
    /// that hardly depends on it.
    fn way(&self, p: &ParticleArrays, crossing: &Crossing) -> Option<Vec3> {
        let at = |i: u32| p.position.get(i as usize);
        let [p0, p1] = crossing.edge;
        let [a, b, c] = crossing.triangle.map(at);
        let normal = (b - a).cross(c - a).try_normalize()?;
        let along = (at(p1) - at(p0)).try_normalize()?;
        let steep = along.dot(normal);
        let steep = steep.abs().max(FLAT).copysign(steep);
        let mut sum = Vec3::ZERO;
        for &[k, l] in self.fan(p0) {
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

impl Crossing {
    /// The same however its edge and its triangle were found.
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

/// Where an edge goes through a triangle: how far along the edge, and how much of the second and third
/// corners (Möller, Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection", 1997).
fn pierces([from, to]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> Option<[f32; 3]> {
    let (way, ab, ac) = (to - from, b - a, c - a);
    let across = way.cross(ac);
    let volume = ab.dot(across);
    let out = from - a;
    let turned = out.cross(ab);
    let [t, u, v] = [ac.dot(turned), out.dot(across), way.dot(turned)].map(|n| n / volume);
    let through = u > 0.0 && v > 0.0 && u + v < 1.0 && t > 0.0 && t < 1.0;
    through.then_some([t, u, v])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::SoaVec3;

    /// Two strips of 7 × 2 particles, the second one upright and through the first for `depth` of its cells.
    fn crossed(depth: f32) -> (ParticleArrays, Corners) {
        let place = |i: u32| Vec3::new((i / 2) as f32, 0.0, (i % 2) as f32);
        let lying = (0..14).map(place);
        let upright = (0..14).map(place).map(|at| {
            let at = Vec3::new(at.z - 0.5, at.x - depth, 0.13 * at.x);
            at + Vec3::new(3.4, 0.0, 0.3)
        });
        let places: SoaVec3 = lying.chain(upright).collect();
        let cells = (0..12).filter(|i| i % 2 == 0);
        let cells = [0, 14]
            .into_iter()
            .flat_map(|first| cells.clone().map(move |i| first + i));
        let triangles: Vec<[u32; 3]> = cells
            .flat_map(|i| [[i, i + 2, i + 1], [i + 1, i + 2, i + 3]])
            .collect();
        let p = ParticleArrays::new(Vec3::ZERO, places, vec![1.0; 28]);
        (p, triangles.into())
    }

    fn all_pairs() -> Vec<[u32; 2]> {
        (0..28)
            .flat_map(|i| (i + 1..28).map(move |j| [i, j]))
            .collect()
    }

    #[test]
    fn what_is_through_is_found_once_and_comes_back() {
        for depth in [0.2, 0.45, 1.3] {
            let (mut p, triangles) = crossed(depth);
            let mut untangle = Untangle::default();
            let mass = |p: &ParticleArrays| p.position.iter().sum::<Vec3>();
            let before = mass(&p);
            untangle.look(&p, &triangles, &all_pairs(), 2.0);
            assert!(untangle.any(), "{depth}");
            let first = untangle.crossings.clone();
            let mut twice = first.clone();
            twice.dedup();
            assert_eq!(first, twice);
            let mut substeps = 0;
            while untangle.any() {
                untangle.back(&mut p, 1.0);
                untangle.look(&p, &triangles, &all_pairs(), 2.0);
                substeps += 1;
                assert!(substeps < 200, "{depth}: {:?}", untangle.crossings);
            }
            assert!((mass(&p) - before).length() < 1e-3);
        }
    }

    #[test]
    fn particles_that_would_hold_it_on_the_wrong_side_do_not_touch() {
        let (p, triangles) = crossed(0.2);
        let mut untangle = Untangle::default();
        untangle.look(&p, &triangles, &all_pairs(), 2.0);
        let mut kept = Vec::new();
        untangle.spare(&all_pairs(), &mut kept);
        let all = all_pairs();
        let spared: Vec<_> = all.iter().filter(|pair| !kept.contains(pair)).collect();
        assert!(!spared.is_empty());
        for [i, j] in spared {
            // Of different strips, and of one crossing.
            assert!(*i < 14 && *j >= 14);
            let of_one = untangle
                .crossings
                .iter()
                .any(|Crossing { edge, triangle }| {
                    let corners = [&edge[..], triangle].concat();
                    corners.contains(i) && corners.contains(j)
                });
            assert!(of_one);
        }
        untangle.look(&p, &triangles, &[], 2.0);
        assert!(!untangle.any());
    }
}
