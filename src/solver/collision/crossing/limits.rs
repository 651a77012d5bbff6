//! Tests candidate pairs of triangles, and limits the motion of particles until nothing crosses.

use super::{
    patches::{EDGE_BIT, Patches},
    time_of_contact::{Features, combine},
    triangle_pairs::{boxes_overlap, edge_crosses},
};
use crate::solver::simd::LANES;
use bevy::math::Vec3A;

/// Fraction of the way to a contact that particles may go.
const APPROACH: f64 = 0.8;

/// Rounds of tests. After the exact ones, particles that still cross do not move at all, relative to the mean.
const ROUNDS: u32 = 64;
const EXACT_ROUNDS: u32 = 8;

/// Distance to which features that are nearer move apart, as a fraction of the distance that particles keep: much more
/// than rounding, much less than is seen.
pub(super) const GAP: f32 = 0.1;

/// Distance by which they move apart in a step, likewise.
const SEPARATION: f32 = 0.02;

/// Gap of features that touch, likewise: the filter keeps wider ones.
const TOUCHING: f32 = 1e-5;

/// Moving triangles.
pub(super) struct MovingMesh<'a> {
    pub(super) patches: &'a Patches,
    /// Positions of all particles when the motion begins, and as far as they may go, m.
    pub(super) start: &'a [Vec3A],
    pub(super) end: &'a mut [Vec3A],
    /// `end` without the mean motion.
    pub(super) relative_end: &'a mut [Vec3A],
    pub(super) mean: Vec3A,
    /// Displacement of each particle in a step at the velocity that it ends with, m.
    pub(super) velocity: &'a mut [Vec3A],
    /// Inverse masses, 1/kg; 0 for particles that go their whole way in any case.
    pub(super) inverse_mass: &'a [f32],
    /// Distance that particles keep, m.
    pub(super) distance: f32,
}

/// Fractions of their motion that particles may make.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    /// Fraction of the motion relative to the mean; empty if all may go their whole way.
    fraction: Vec<f32>,
    /// Factor of the fraction found in the running round.
    factor: Vec<f32>,
    /// Particles with a factor.
    pending: Vec<u32>,
    /// Whether the fraction of a particle changed in the last round.
    is_changed: Vec<bool>,
    /// Whether a particle was moved apart from others, or has to stop early.
    is_moved: Vec<bool>,
    /// Whether a particle is near an edge that crosses a triangle when the motion begins.
    is_tangled: Vec<bool>,
}

impl MovingMesh<'_> {
    /// Returns the corners of the triangle of a lane.
    fn corners(&self, triangle: u32) -> [u32; 3] {
        let triangle = triangle as usize;
        self.patches.triangles[triangle / LANES][triangle % LANES]
    }

    /// Returns the corners that the triangle of a lane tests against others.
    fn own_corners(&self, triangle: u32) -> impl Iterator<Item = u32> + use<> {
        let (corners, owned) = (self.corners(triangle), self.owned(triangle));
        (0..3)
            .filter(move |k| owned & (1 << k) != 0)
            .map(move |k| corners[k])
    }

    /// Returns the edges that the triangle of a lane tests against others.
    fn own_edges(&self, triangle: u32) -> impl Iterator<Item = [u32; 2]> + use<> {
        let (corners, owned) = (self.corners(triangle), self.owned(triangle));
        (0..3)
            .filter(move |k| owned & (1 << (k + EDGE_BIT)) != 0)
            .map(move |k| [corners[k], corners[(k + 1) % 3]])
    }

    fn owned(&self, triangle: u32) -> u8 {
        let triangle = triangle as usize;
        self.patches.owned[triangle / LANES][triangle % LANES]
    }
}

impl Limits {
    /// Reserves memory for this number of particles.
    pub(super) fn reserve(&mut self, particles: usize) {
        self.fraction.reserve(particles);
        self.factor.reserve(particles);
        self.pending.reserve(particles);
        for list in [
            &mut self.is_changed,
            &mut self.is_moved,
            &mut self.is_tangled,
        ] {
            list.reserve(particles);
        }
    }

    /// Lets all particles go their whole way.
    pub(super) fn clear(&mut self) {
        self.is_moved.clear();
    }

    /// Returns whether the end of the way of a particle was changed.
    pub(super) fn is_moved(&self, i: usize) -> bool {
        self.is_moved.get(i).copied().unwrap_or(false)
    }

    /// Moves features of these pairs of triangles apart that are very near each other, then finds the fractions of the
    /// motion that keep the pairs from crossing each other, and moves the ends of the ways. Returns whether it changed any.
    pub(super) fn find(&mut self, mesh: &mut MovingMesh, candidates: &[[u32; 2]]) -> bool {
        self.clear();
        if candidates.is_empty() {
            return false;
        }
        let n = mesh.start.len();
        self.fraction.clear();
        self.fraction.resize(n, 1.0);
        self.factor.clear();
        self.factor.resize(n, 1.0);
        self.is_changed.clear();
        self.is_changed.resize(n, true);
        for list in [&mut self.is_tangled, &mut self.is_moved] {
            list.clear();
            list.resize(n, false);
        }
        for &pair in candidates {
            if is_tangled(mesh, pair) {
                self.mark_tangled(mesh, pair);
            }
        }
        for &pair in candidates {
            for_each_features(mesh, pair, |mesh, features, particles| {
                self.separate(mesh, features, particles);
            });
        }
        for round in 0..ROUNDS {
            for &pair in candidates {
                let corners = pair.map(|triangle| mesh.corners(triangle));
                let mut corners = corners.as_flattened().iter();
                if corners.any(|&i| self.is_changed[i as usize]) {
                    for_each_features(mesh, pair, |mesh, features, particles| {
                        self.test(mesh, features, particles, round < EXACT_ROUNDS);
                    });
                }
            }
            if !self.end_round(mesh) {
                break;
            }
        }
        self.is_moved.contains(&true)
    }

    /// Marks the particles around two triangles, all those of their patches.
    fn mark_tangled(&mut self, mesh: &MovingMesh, pair: [u32; 2]) {
        for triangle in pair {
            let patch = &mesh.patches.triangles[triangle as usize / LANES];
            for &i in patch.as_flattened() {
                self.is_tangled[i as usize] = true;
            }
        }
    }

    /// Moves two features apart that are very near each other, and removes the velocity at which they approach.
    fn separate(&mut self, mesh: &mut MovingMesh, features: Features, particles: [u32; 4]) {
        let indices = particles.map(|i| i as usize);
        let at = |positions: &[Vec3A]| indices.map(|i| positions[i].as_dvec3());
        let start = at(mesh.start);
        let weights = features.closest_points(start);
        let apart = combine(weights, start);
        let (gap, distance) = (apart.length(), f64::from(mesh.distance));
        if !(gap > 0.0 && gap < f64::from(GAP) * distance) || self.are_tangled(features, particles)
        {
            return;
        }
        let normal = apart / gap;
        let masses = indices.map(|i| f64::from(mesh.inverse_mass[i]));
        let sum: f64 = (0..4).map(|k| weights[k] * weights[k] * masses[k]).sum();
        if sum == 0.0 {
            return;
        }
        let wanted = f64::from(GAP).min(gap / distance + f64::from(SEPARATION)) * distance;
        let missing = (wanted - normal.dot(combine(weights, at(mesh.end)))).max(0.0);
        let approach = normal.dot(combine(weights, at(mesh.velocity))).min(0.0);
        if missing == 0.0 && approach == 0.0 {
            return;
        }
        for (k, i) in indices.into_iter().enumerate() {
            let direction = normal * (weights[k] * masses[k] / sum);
            let moved = (direction * missing).as_vec3a();
            mesh.end[i] += moved;
            mesh.relative_end[i] += moved;
            mesh.velocity[i] -= (direction * approach).as_vec3a();
            self.is_moved[i] |= mesh.inverse_mass[i] > 0.0;
        }
    }

    /// Returns whether both features are near edges that cross triangles when the motion begins.
    fn are_tangled(&self, features: Features, particles: [u32; 4]) -> bool {
        let is_tangled = particles.map(|i| self.is_tangled[i as usize]);
        let (one, other) = is_tangled.split_at(features.first_particles());
        one.contains(&true) && other.contains(&true)
    }

    /// Tests two features, and limits the motion of their particles if they touch.
    fn test(&mut self, mesh: &MovingMesh, features: Features, particles: [u32; 4], is_exact: bool) {
        if self.are_tangled(features, particles) {
            return;
        }
        let at = |positions: &[Vec3A]| particles.map(|i| positions[i as usize].as_dvec3());
        let Some(time) = features.time_of_contact(&[at(mesh.start), at(mesh.end)]) else {
            return;
        };
        let factor = if is_exact {
            (APPROACH * time) as f32
        } else {
            0.0
        };
        for i in particles {
            let known = &mut self.factor[i as usize];
            if mesh.inverse_mass[i as usize] > 0.0 && factor < *known {
                if *known == 1.0 {
                    self.pending.push(i);
                }
                *known = factor;
            }
        }
    }

    /// Moves the ends of the ways that this round has shortened. Returns whether there are any.
    fn end_round(&mut self, mesh: &mut MovingMesh) -> bool {
        self.is_changed.fill(false);
        for i in self.pending.drain(..) {
            let i = i as usize;
            let factor = std::mem::replace(&mut self.factor[i], 1.0);
            if self.fraction[i] > 0.0 {
                let relative = (mesh.end[i] - mesh.start[i] - mesh.mean) * factor;
                mesh.end[i] = mesh.start[i] + (mesh.mean + relative);
                mesh.relative_end[i] = mesh.end[i] - mesh.mean;
                mesh.velocity[i] = mesh.mean + (mesh.velocity[i] - mesh.mean) * factor;
                self.fraction[i] *= factor;
                self.is_changed[i] = true;
                self.is_moved[i] = true;
            }
        }
        self.is_changed.contains(&true)
    }
}

/// Returns whether an edge of one triangle crosses the other when the motion begins, or touches it.
fn is_tangled(mesh: &mut MovingMesh, pair: [u32; 2]) -> bool {
    let both = pair.map(|triangle| mesh.corners(triangle));
    let at = both.map(|corners| corners.map(|i| mesh.start[i as usize]));
    if !boxes_overlap([at[0]; 2], [at[1]; 2], 0.0) {
        return false;
    }
    let mut is_tangled = false;
    for_each_features(mesh, pair, |mesh, features, particles| {
        let start = particles.map(|i| mesh.start[i as usize].as_dvec3());
        let gap = combine(features.closest_points(start), start).length();
        is_tangled |= gap < f64::from(TOUCHING * mesh.distance);
    });
    let at = at.map(|corners| corners.map(|at| at.as_dvec3()));
    for [one, other] in [[0, 1], [1, 0]] {
        for k in 0..3 {
            let ends = [k, (k + 1) % 3];
            let is_apart = ends.iter().all(|&k| !both[other].contains(&both[one][k]));
            is_tangled |= is_apart && edge_crosses(ends.map(|k| at[one][k]), at[other]);
        }
    }
    is_tangled
}

/// Calls `test` with the pairs of features of two triangles that may touch.
fn for_each_features(
    mesh: &mut MovingMesh,
    pair: [u32; 2],
    mut test: impl FnMut(&mut MovingMesh, Features, [u32; 4]),
) {
    let both = pair.map(|triangle| mesh.corners(triangle));
    let [one, other] = both.map(|corners| {
        let at = |positions: &[Vec3A]| corners.map(|i| positions[i as usize]);
        [at(mesh.start), at(mesh.relative_end)]
    });
    if !boxes_overlap(one, other, GAP * mesh.distance) {
        return;
    }
    for [one, other] in [[0, 1], [1, 0]] {
        let [a, b, c] = both[other];
        for corner in mesh.own_corners(pair[one]) {
            if ![a, b, c].contains(&corner) {
                test(mesh, Features::ParticleTriangle, [corner, a, b, c]);
            }
        }
    }
    for [a, b] in mesh.own_edges(pair[0]) {
        for [c, d] in mesh.own_edges(pair[1]) {
            if a != c && a != d && b != c && b != d {
                test(mesh, Features::EdgeEdge, [a, b, c, d]);
            }
        }
    }
}
