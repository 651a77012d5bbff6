//! Contact response of two touching particles of a cloth: push-out and friction.

use crate::solver::{
    collision::collider::Friction, math::noise::noise_point, particles::ParticleArrays,
};
use bevy::math::Vec3;

/// Recovery distance per substep, as a fraction of the contact distance: particles that were too near each other
/// at the beginning of a substep move apart by no more, so that a cloth that begins in intersection does not jump.
const RECOVERY: f32 = 0.1;

/// Share of noise in the direction in which two particles in one point move apart.
const NOISE: f32 = 0.01;

/// Rules for the contacts of pairs of particles.
pub(in crate::solver::collision) trait PairRules {
    /// Removes pairs that do not touch, however near they are.
    fn retain(&self, pairs: &mut Vec<[u32; 2]>);

    /// Returns the friction of two particles, which touch.
    fn touch(&mut self, pair: [u32; 2]) -> Friction;
}

/// Friction of particles of one fabric, which may all touch.
impl PairRules for Friction {
    fn retain(&self, _: &mut Vec<[u32; 2]>) {}

    fn touch(&mut self, _: [u32; 2]) -> Friction {
        *self
    }
}

/// Parameters of the contact between particles.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactResponse {
    /// Distance that particles keep from each other, m.
    pub(super) distance: f32,
}

impl ContactResponse {
    /// Solves all pairs once, one after the other (Gauss–Seidel). Displacements must be up to date, and are so
    /// afterwards.
    ///
    /// Corrections are split in proportion to inverse mass, so momentum is conserved. As with colliders, the push-out
    /// changes positions only; the displacements lose the approaching component of the relative motion and the
    /// tangential part removed by friction. Returns whether any two particles touched.
    pub(super) fn solve(
        &self,
        p: &mut ParticleArrays,
        pairs: &[[u32; 2]],
        rules: &mut impl PairRules,
    ) -> bool {
        let mut touched = false;
        let n = p.len();
        let ParticleArrays {
            position,
            displacement,
            predicted,
            inverse_mass,
            ..
        } = p;
        for pair in pairs {
            let [a, b] = pair.map(|particle| particle as usize);
            if a.max(b) >= n {
                continue;
            }
            let relative = displacement.get(a) - displacement.get(b);
            let apart = position.get(a) - position.get(b);
            let respond = self.respond(*pair, apart, relative, || rules.touch(*pair));
            let Some([out, into, lost]) = respond else {
                continue;
            };
            let inverse_masses = [inverse_mass.at(a), inverse_mass.at(b)];
            let sum = inverse_masses[0] + inverse_masses[1];
            // Both pinned, or NaN.
            if sum <= 0.0 || sum.is_nan() {
                continue;
            }
            touched = true;
            for (particle, weight) in [(a, inverse_masses[0] / sum), (b, -inverse_masses[1] / sum)]
            {
                position.add(particle, (out - lost) * weight);
                displacement.add(particle, (into + lost) * -weight);
                // Push-out is not to be added to the displacement as motion.
                predicted.set(particle, position.get(particle));
            }
        }
        touched
    }

    /// Returns the push-out of the first particle from the second, and two parts to remove from their relative
    /// displacement: the approach and the friction. `None` if the particles do not touch.
    fn respond(
        &self,
        pair: [u32; 2],
        apart: Vec3,
        relative: Vec3,
        friction: impl FnOnce() -> Friction,
    ) -> Option<[Vec3; 3]> {
        let before = apart - relative;
        // Closest approach on their straight paths, if it lies between the ends.
        let path_squared = relative.length_squared();
        let time = -before.dot(relative);
        let nearest = if time > 0.0 && time < path_squared {
            before + relative * (time / path_squared)
        } else {
            apart
        };
        let distance_squared = nearest.length_squared();
        let min_squared = self.distance * self.distance;
        if distance_squared >= min_squared || distance_squared.is_nan() {
            return None;
        }
        // Particles that nearly passed through each other return to the sides that they came from.
        let towards = if distance_squared < 0.25 * min_squared {
            before
        } else {
            nearest
        };
        let length = towards.length();
        let normal = if length > 0.0 {
            towards / length
        } else {
            // Two sheets in one place separate upwards. A cloth in one point does not stay in a line.
            let [a, b] = pair.map(|particle| noise_point(particle as usize, 0));
            (Vec3::Y + NOISE * (a - b)).normalize()
        };
        let depth = self.distance - apart.dot(normal);
        if depth <= 0.0 || depth.is_nan() {
            return None;
        }
        let approach = relative.dot(normal);
        let tangential = relative - normal * approach;
        let approach = approach.min(0.0);
        let depth = depth.min(RECOVERY * self.distance - approach);
        let lost = friction().removed(tangential, depth);
        Some([normal * depth, normal * approach, lost])
    }
}
