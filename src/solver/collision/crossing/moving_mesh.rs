//! Moving triangles, as the filter sees them, and the pairs of their features.

use super::{
    patches::Patches,
    time_of_contact::Features,
    triangle_pairs::{bounds, boxes_overlap},
};
use bevy::math::{DVec3, Vec3A};

/// Distance between boxes around features that may touch, as a fraction of the distance that particles keep: more than
/// the tolerance of the time of contact.
const TOUCH: f32 = 1e-2;

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
    /// Returns whether the boxes around the ways of two features touch, or nearly.
    pub(super) fn may_touch(&self, features: Features, particles: [u32; 4]) -> bool {
        let (one, other) = particles.split_at(features.first_particles());
        let ways = |particles: &[u32]| bounds(particles.iter().flat_map(|&i| self.way(i)));
        boxes_overlap(ways(one), ways(other), TOUCH * self.distance)
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
}

/// Calls `test` with the pairs of features of two triangles that may touch.
pub(super) fn for_each_features(
    mesh: &mut MovingMesh,
    pair: [u32; 2],
    mut test: impl FnMut(&mut MovingMesh, Features, [u32; 4]),
) {
    let patches = mesh.patches;
    let both = pair.map(|triangle| patches.corners(triangle));
    let [one, other] = both.map(|corners| bounds(corners.into_iter().flat_map(|i| mesh.way(i))));
    if boxes_overlap(one, other, TOUCH * mesh.distance) {
        patches.for_each_features(pair, |features, particles| test(mesh, features, particles));
    }
}
