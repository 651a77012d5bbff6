//! Impulses of the last substep, with which the next one begins (Catto, "Iterative Dynamics with Temporal Coherence", 2005).
//!
//! One pass over all contacts per substep does not find the forces in a stack: a layer that is stopped by the one below takes
//! half of its speed from it, and that one is stopped by the floor later. Stacks would creep like honey on any slope. With the
//! forces of the last substep, each pass improves on the one before, and cloth at rest finds nothing to correct.

use super::contact_particles::ContactParticles;
use crate::solver::{
    integrate::update_displacements, particles::ParticleArrays, simd::soa::SoaVec3,
};
use bevy::math::Vec3;

/// Forces of contacts on a cloth in its last substep. They are part of its state.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct WarmStart {
    /// Contacts of its particles with each other, sorted.
    pub own: Vec<ContactForce>,
    /// Contacts with other cloths, and a number that tells which. Each stands in one of the two cloths.
    pub with_others: Vec<(u64, ContactForce)>,
    /// Acceleration of each particle by contacts with colliders and bodies, m/s²; empty unless the cloth touches itself or
    /// another.
    pub reaction: SoaVec3,
}

/// Force of a contact of two particles.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactForce {
    /// The two particles; with another cloth, the first is that of the cloth in which this stands.
    pub pair: [u32; 2],
    /// Acceleration of the first relative to the second, m/s².
    pub acceleration: Vec3,
}

impl WarmStart {
    /// Reserves memory for a contact of each particle, so that no later step allocates.
    pub(in crate::solver) fn reserve(&mut self, particles: usize) {
        self.own.reserve(particles.saturating_sub(self.own.len()));
        for plane in self.reaction.planes_mut() {
            plane.reserve(particles.saturating_sub(plane.len()));
        }
    }

    /// Discards all forces.
    pub(crate) fn clear(&mut self) {
        self.own.clear();
        self.with_others.clear();
        self.reaction.resize(0);
    }

    /// Returns whether all numbers are finite, and indices those of a cloth of `count` particles.
    pub(crate) fn is_sound(&self, count: usize) -> bool {
        let is_particle = |i: u32| (i as usize) < count;
        let mut own = self.own.iter();
        let mut others = self.with_others.iter().map(|(_, force)| force);
        let planes = self.reaction.planes().map(|plane| plane.len());
        own.all(|force| force.pair.into_iter().all(is_particle) && force.acceleration.is_finite())
            && self.own.is_sorted_by_key(|force| force.pair)
            && others.all(|force| is_particle(force.pair[0]) && force.acceleration.is_finite())
            // Fewer directly after a tear.
            && planes.iter().all(|&len| len == planes[0] && len <= count)
            && self.reaction.iter().all(Vec3::is_finite)
    }

    /// Begins to record what contacts with colliders change in a substep, if the cloth touches itself or another.
    pub(in crate::solver) fn begin_reaction(&mut self, p: &mut ParticleArrays) {
        if !p.touches_cloth {
            return self.clear();
        }
        update_displacements(p);
        self.reaction.resize(p.len());
        self.reaction.copy_from(&p.displacement);
    }

    /// Records the reaction to contacts with colliders in a substep of `dt` seconds.
    pub(in crate::solver) fn end_reaction(&mut self, p: &ParticleArrays, dt: f32) {
        if dt <= 0.0 {
            return self.clear();
        }
        let planes = self.reaction.planes_mut().into_iter();
        for (reaction, displacement) in planes.zip(p.displacement.planes()) {
            for (reaction, displacement) in reaction.iter_mut().zip(displacement) {
                *reaction = (displacement - *reaction) / (dt * dt);
            }
        }
    }

    /// Returns the displacement of a particle by contacts with colliders that is to be expected in a substep of `dt` seconds.
    #[inline]
    pub(super) fn reaction(&self, i: usize, dt: f32) -> Vec3 {
        if i < self.reaction.len() {
            self.reaction.get(i) * (dt * dt)
        } else {
            Vec3::ZERO
        }
    }

    /// Applies the forces of the last substep to those of the near pairs that had any. Forces of other pairs are discarded:
    /// where cloth is crammed so much that pairs take turns (`thin_out`), and of cloth that takes fewer substeps than the others
    /// of its island, each substep begins without.
    pub(super) fn apply(&mut self, near: &mut ContactParticles, dt: f32) {
        let ContactParticles {
            particles, pairs, ..
        } = near;
        let mut known = self.own.iter().peekable();
        for pair in pairs {
            let indices = pair.of(particles).map(|particle| particle.index);
            while known.next_if(|force| force.pair < indices).is_some() {}
            if let Some(force) = known.peek().filter(|force| force.pair == indices) {
                pair.impulse = force.acceleration * (dt * dt);
                pair.shift(particles, pair.impulse, pair.impulse);
            }
        }
        self.own.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{
        SubstepTime,
        collision::{
            collider::Friction,
            self_collision::{
                SelfCollisionSettings, SelfContactPairs, surface_normals::SurfaceNormals,
            },
        },
        triangles::corners::Corners,
    };
    use bevy::math::Mat3;

    const COUNT: usize = 5;

    /// Lets a tower of particles, of which the lowest is pinned, fall on itself for some substeps. Returns the greatest speed
    /// at the end, as a multiple of what gravity adds in a substep.
    fn speed_in_tower(substeps: u32, keeps_forces: bool) -> f32 {
        const GRAVITY: f32 = 1e-4;
        let mut inverse_mass = vec![1.0; COUNT];
        inverse_mass[0] = 0.0;
        let tower = (0..COUNT).map(|i| Vec3::Y * (0.09 * i as f32)).collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, tower, inverse_mass);
        let rest: Vec<Vec3> = (0..COUNT).map(|i| Vec3::X * i as f32).collect();
        let settings = SelfCollisionSettings {
            distance: 0.1,
            friction: Friction::default(),
            rest: &rest,
            to_world: Mat3::IDENTITY,
            triangles: &Corners::default(),
        };
        let (mut pairs, mut warm_start) = (SelfContactPairs::default(), WarmStart::default());
        for _ in 0..substeps {
            for i in 1..COUNT {
                p.displacement.add(i, Vec3::NEG_Y * GRAVITY);
                p.position.add(i, p.displacement.get(i));
            }
            p.predicted.copy_from(&p.position);
            if !keeps_forces {
                warm_start.clear();
            }
            let time = SubstepTime::new(0.01, 1);
            pairs.collide(&mut p, &settings, &mut warm_start, &time);
        }
        let speeds = p.displacement.iter().map(Vec3::length);
        speeds.fold(0.0, f32::max) / GRAVITY
    }

    #[test]
    fn a_tower_comes_to_rest_with_the_forces_of_the_last_substep() {
        let still = speed_in_tower(200, true);
        assert!(still < 0.01, "{still}");
        let falling = speed_in_tower(200, false);
        assert!(falling > 1.0, "{falling}");
    }

    #[test]
    fn forces_of_other_pairs_are_discarded_and_momentum_is_conserved() {
        let at: SoaVec3 = (0..4).map(|i| Vec3::X * i as f32).collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, at.clone(), vec![1.0, 0.5, 2.0, 0.0]);
        let force = |pair| ContactForce {
            pair,
            acceleration: Vec3::Y,
        };
        let mut warm_start = WarmStart {
            own: [[0, 1], [0, 2], [2, 3]].map(force).into(),
            ..WarmStart::default()
        };
        let mut near = ContactParticles::default();
        let (pairs, normals) = ([[0, 1], [1, 2], [2, 3]], SurfaceNormals::default());
        near.gather(&p, &pairs, &normals, &warm_start, 0.5);
        warm_start.apply(&mut near, 0.5);
        near.scatter(&mut p);
        let quarter = Vec3::Y * 0.25;
        let impulses: Vec<Vec3> = near.pairs.iter().map(|pair| pair.impulse).collect();
        assert_eq!(impulses, [quarter, Vec3::ZERO, quarter]);
        assert!(warm_start.own.is_empty());
        let moved: Vec<f32> = p.displacement.iter().map(|d| d.y).collect();
        let expected = [0.25 / 1.5, -0.125 / 1.5, 0.25, 0.0];
        assert!(
            moved
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-7),
            "{moved:?}"
        );
        assert_eq!(p.predicted, p.position);
    }

    #[test]
    fn unsound_forces_are_recognized() {
        let with = |pair, acceleration| WarmStart {
            own: vec![ContactForce { pair, acceleration }],
            ..WarmStart::default()
        };
        assert!(with([0, 3], Vec3::Y).is_sound(4));
        assert!(!with([0, 4], Vec3::Y).is_sound(4));
        assert!(!with([0, 3], Vec3::NAN).is_sound(4));
        let mut warm_start = WarmStart {
            with_others: with([3, 900], Vec3::Y)
                .own
                .into_iter()
                .map(|force| (7, force))
                .collect(),
            reaction: SoaVec3::zeros(4),
            ..WarmStart::default()
        };
        assert!(warm_start.is_sound(4));
        assert!(warm_start.is_sound(5));
        assert!(!warm_start.is_sound(3));
        warm_start.reaction.set(2, Vec3::INFINITY);
        assert!(!warm_start.is_sound(4));
    }
}
