//! Moving triangles, as the filter sees them, and the pairs of their features.

use super::{
    limits::GAP,
    patches::{EDGE_BIT, Patches},
    time_of_contact::Features,
    triangle_pairs::{bounds, boxes_overlap},
};
use crate::solver::simd::LANES;
use bevy::math::{DVec3, Vec3A};

/// Distance between boxes around features that may touch, as a fraction of the distance that particles keep: more than
/// the tolerance of the time of contact.
pub(super) const TOUCH: f32 = 1e-2;

/// Moving triangles.
pub(super) struct MovingMesh<'a> {
    pub(super) patches: &'a Patches,
    /// Positions of all particles when the motion begins, and as far as they may go, m.
    pub(super) start: &'a [Vec3A],
    pub(super) end: &'a mut [Vec3A],
    /// `end` without the common motion.
    pub(super) relative_end: &'a mut [Vec3A],
    pub(super) common: Vec3A,
    /// Motion of the particles that are held, m.
    pub(super) held: Vec3A,
    /// Displacement of each particle in a step at the velocity that it ends with, m.
    pub(super) velocity: &'a mut [Vec3A],
    /// Inverse masses, 1/kg; 0 for particles that go their whole way in any case.
    pub(super) inverse_mass: &'a [f32],
    /// Distance that particles keep, m.
    pub(super) distance: f32,
}

/// Motion of the centre of mass of some particles in a step, m, and by its velocity, m.
#[derive(Clone, Copy)]
pub(super) struct SharedMotion {
    pub(super) motion: Vec3A,
    pub(super) velocity: Vec3A,
}

impl MovingMesh<'_> {
    /// Returns the corners of the triangle of a lane.
    pub(super) fn corners(&self, triangle: u32) -> [u32; 3] {
        let triangle = triangle as usize;
        self.patches.triangles[triangle / LANES][triangle % LANES]
    }

    /// Returns the corners of all triangles of its patch.
    pub(super) fn around(&self, triangle: u32) -> &[u32] {
        self.patches.triangles[triangle as usize / LANES].as_flattened()
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

    /// Returns whether the boxes around the ways of two features come within this fraction of the distance that particles keep.
    pub(super) fn may_touch(&self, features: Features, particles: [u32; 4], gap: f32) -> bool {
        let (one, other) = particles.split_at(features.first_particles());
        let ways = |particles: &[u32]| bounds(particles.iter().flat_map(|&i| self.way(i)));
        boxes_overlap(ways(one), ways(other), gap * self.distance)
    }

    /// Returns the ends of the way of a particle, without the common motion.
    fn way(&self, i: u32) -> [Vec3A; 2] {
        [self.start[i as usize], self.relative_end[i as usize]]
    }

    /// Returns the motion of the centre of mass of some particles. If the way of any of them is fixed, only those count.
    pub(super) fn shared_motion(&self, particles: impl IntoIterator<Item = u32>) -> SharedMotion {
        let mut sums = [(0.0, DVec3::ZERO, DVec3::ZERO); 2];
        for i in particles {
            let i = i as usize;
            let w = f64::from(self.inverse_mass[i]);
            let (kind, mass) = if w > 0.0 { (0, 1.0 / w) } else { (1, 1.0) };
            let sum = &mut sums[kind];
            sum.0 += mass;
            sum.1 += (self.end[i] - self.start[i]).as_dvec3() * mass;
            sum.2 += self.velocity[i].as_dvec3() * mass;
        }
        let (mass, motion, velocity) = if sums[1].0 > 0.0 { sums[1] } else { sums[0] };
        SharedMotion {
            motion: (motion / mass).as_vec3a(),
            velocity: (velocity / mass).as_vec3a(),
        }
    }

    fn owned(&self, triangle: u32) -> u8 {
        let triangle = triangle as usize;
        self.patches.owned[triangle / LANES][triangle % LANES]
    }
}

/// Calls `test` with the pairs of features of two triangles that may touch.
pub(super) fn for_each_features(
    mesh: &mut MovingMesh,
    pair: [u32; 2],
    mut test: impl FnMut(&mut MovingMesh, Features, [u32; 4]),
) {
    let both = pair.map(|triangle| mesh.corners(triangle));
    let [one, other] = both.map(|corners| bounds(corners.into_iter().flat_map(|i| mesh.way(i))));
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
