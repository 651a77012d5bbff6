//! What happens when two particles of a cloth touch.

use crate::solver::{collide::Friction, particles::ParticleArrays};
use bevy::math::Vec3;

/// Share of the distance that particles keep by which two that were too near at the beginning of a
/// substep are moved apart in it: cloth that begins intersected does not jump.
const RECOVERY: f32 = 0.1;

/// How pairs of particles touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    /// What they keep from each other, m.
    pub(super) distance: f32,
    pub(super) friction: Friction,
}

impl Touch {
    /// Goes through pairs once, one after the other (Gauss–Seidel). Displacements must be up to date,
    /// and are afterwards.
    ///
    /// What a pair gets is shared by inverse masses, so momentum is kept. As with colliders the
    /// push-out moves only the positions; of the displacements goes what brings the two nearer, and
    /// what friction takes of their slide. Returns whether any two touched.
    pub(super) fn all(&self, p: &mut ParticleArrays, pairs: &[[u32; 2]]) -> bool {
        let mut any = false;
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
            let Some([out, into, lost]) = self.respond(apart, relative) else {
                continue;
            };
            let weights = [inverse_mass.at(a), inverse_mass.at(b)];
            let sum = weights[0] + weights[1];
            // Both pinned, or not a number.
            if sum <= 0.0 || sum.is_nan() {
                continue;
            }
            any = true;
            for (particle, share) in [(a, weights[0] / sum), (b, -weights[1] / sum)] {
                position.add(particle, (out - lost) * share);
                displacement.add(particle, (into + lost) * -share);
                // It is no motion that has still to be added to the displacement.
                predicted.set(particle, position.get(particle));
            }
        }
        any
    }

    /// The push-out of the first particle from the second, and what goes of their relative
    /// displacement: what is into each other, and what friction takes. `None` if they do not touch.
    fn respond(&self, apart: Vec3, relative: Vec3) -> Option<[Vec3; 3]> {
        let before = apart - relative;
        // Where they were nearest on their straight ways, if that was not at an end.
        let way = relative.length_squared();
        let when = -before.dot(relative);
        let nearest = if when > 0.0 && when < way {
            before + relative * (when / way)
        } else {
            apart
        };
        let distance = nearest.length_squared();
        let square = self.distance * self.distance;
        if distance >= square || distance.is_nan() {
            return None;
        }
        // If they all but went through each other, they go back to the sides from which they came.
        let towards = if distance < 0.25 * square {
            before
        } else {
            nearest
        };
        let length = towards.length();
        let normal = if length > 0.0 {
            towards / length
        } else {
            Vec3::Y
        };
        let depth = self.distance - apart.dot(normal);
        if depth <= 0.0 || depth.is_nan() {
            return None;
        }
        let approach = relative.dot(normal);
        let tangential = relative - normal * approach;
        let approach = approach.min(0.0);
        let depth = depth.min(RECOVERY * self.distance - approach);
        let slide = tangential.length();
        let lost = if slide <= self.friction.fixed * depth {
            tangential
        } else {
            let share = self.friction.kinetic * depth / slide;
            tangential * share.min(1.0)
        };
        Some([normal * depth, normal * approach, lost])
    }
}
