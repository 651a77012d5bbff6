//! Cloth against cloth: the particles of two cloths keep a distance from each other, and edges that have gone
//! through triangles come back, as in one cloth ([`self_collision`](super::self_collision)).

use super::{
    collide::Friction,
    corners::Corners,
    integrate::update_displacements,
    particles::ParticleArrays,
    self_collision::{SelfCollision, SelfContacts},
    soa::SoaVec3,
};
use bevy::math::{Mat3, Vec3};

/// How far from those of the first the particles of the second are taken to be at rest, m: only pairs
/// that are far from each other at rest may touch, so those of one cloth never do here.
const FAR: f32 = 1e6;

/// How two cloths collide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossCollision {
    /// What their particles keep from each other, m. Less than what each keeps from itself
    /// ([`self_distance`](super::self_distance)) lets the other through between its particles.
    pub distance: f32,
    /// Friction of one on the other.
    pub friction: Friction,
}

/// Where two cloths may touch, and room to find it.
///
/// It follows from where the particles are, so it is no part of the state of a cloth.
#[derive(Clone, Debug, Default)]
pub struct CrossContacts {
    contacts: SelfContacts,
    /// Both, one after the other, relative to the origin of the first.
    both: ParticleArrays,
    rest: Vec<Vec3>,
    /// How many particles the first has.
    first: usize,
    joined: Option<Joined>,
}

/// The triangles of two cloths.
#[derive(Clone, Debug)]
struct Joined {
    each: [Corners; 2],
    /// One after the other.
    both: Corners,
}

impl CrossContacts {
    /// Keeps two cloths apart in a substep, after relaxation and before colliders. With the `triangles` of
    /// each, edges that have gone through those of the other are brought back. Returns whether they
    /// touched. What one gets the other loses: momentum is kept. Does not depend on threads or on SIMD
    /// levels, but on which is the first.
    pub fn collide(
        &mut self,
        [a, b]: [&mut ParticleArrays; 2],
        triangles: Option<[&Corners; 2]>,
        by: &CrossCollision,
        substep: u32,
    ) -> bool {
        // Cloths have origins of their own.
        let shift = b.origin - a.origin;
        if !(by.distance > 0.0 && are_near(a, b, shift, 2.0 * by.distance)) {
            return false;
        }
        update_displacements(a);
        update_displacements(b);
        self.gather(a, b, shift);
        self.gather_triangles(triangles);
        let whole = SelfCollision {
            distance: by.distance,
            friction: by.friction,
            rest: &self.rest,
            to_world: Mat3::IDENTITY,
            triangles: self.joined.as_ref().map(|joined| &joined.both),
        };
        let touched = self.contacts.collide(&mut self.both, &whole, substep);
        put_back(&self.both, 0, a, Vec3::ZERO);
        put_back(&self.both, a.len(), b, shift);
        touched
    }

    /// Puts both cloths one after the other.
    fn gather(&mut self, a: &ParticleArrays, b: &ParticleArrays, shift: Vec3) {
        let both = &mut self.both;
        join(&mut both.position, &a.position, &b.position, shift);
        join(
            &mut both.displacement,
            &a.displacement,
            &b.displacement,
            Vec3::ZERO,
        );
        join(&mut both.predicted, &a.position, &b.position, shift);
        both.inverse_mass.clear();
        both.inverse_mass.extend_from_slice(&a.inverse_mass);
        both.inverse_mass.extend_from_slice(&b.inverse_mass);
        if self.first != a.len() || self.rest.len() != both.len() {
            self.first = a.len();
            self.rest.clear();
            self.rest.resize(a.len(), Vec3::ZERO);
            self.rest.resize(both.len(), Vec3::X * FAR);
            self.joined = None;
            self.contacts.forget();
        }
    }

    /// Puts the triangles of both one after the other, if they are not those of the last substep.
    fn gather_triangles(&mut self, triangles: Option<[&Corners; 2]>) {
        let Some([a, b]) = triangles else {
            self.joined = None;
            return;
        };
        let same = |joined: &Joined| joined.each[0].is_copy_of(a) && joined.each[1].is_copy_of(b);
        if self.joined.as_ref().is_some_and(same) {
            return;
        }
        let first = self.first as u32;
        let shifted = b.iter().map(|corners| corners.map(|i| i + first));
        self.joined = Some(Joined {
            each: [a.clone(), b.clone()],
            both: a.iter().chain(shifted).collect::<Vec<_>>().into(),
        });
        self.contacts.forget();
    }
}

/// Whether the boxes around two cloths are nearer than this, m.
fn are_near(a: &ParticleArrays, b: &ParticleArrays, shift: Vec3, distance: f32) -> bool {
    let (Some((low, high)), Some((other_low, other_high))) =
        (a.position.bounds(), b.position.bounds())
    else {
        return false;
    };
    let gap = (other_low + shift - high).max(low - other_high - shift);
    gap.max_element() < distance
}

/// Writes two lists one after the other, the second moved.
fn join(both: &mut SoaVec3, a: &SoaVec3, b: &SoaVec3, shift: Vec3) {
    for (to, a, b, shift) in [
        (&mut both.x, &a.x, &b.x, shift.x),
        (&mut both.y, &a.y, &b.y, shift.y),
        (&mut both.z, &a.z, &b.z, shift.z),
    ] {
        to.clear();
        to.extend_from_slice(a);
        to.extend(b.iter().map(|place| place + shift));
    }
}

/// Puts back what has changed of one of both, which begins at `from`. Where nothing touched it, no bit is
/// lost to another origin.
fn put_back(both: &ParticleArrays, from: usize, p: &mut ParticleArrays, shift: Vec3) {
    for i in 0..p.len() {
        let moved = both.position.get(from + i) - (p.position.get(i) + shift);
        let displacement = both.displacement.get(from + i);
        if moved != Vec3::ZERO || displacement != p.displacement.get(i) {
            p.position.add(i, moved);
            p.displacement.set(i, displacement);
            let position = p.position.get(i);
            p.predicted.set(i, position);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY: CrossCollision = CrossCollision {
        distance: 0.1,
        friction: Friction {
            fixed: 0.3,
            kinetic: 0.2,
        },
    };

    /// A sheet of 5 × 5 particles, 0.1 m apart, at this height of an origin, that moves down by `fall` in a
    /// substep.
    fn sheet(origin: Vec3, height: f32, fall: f32, w: f32) -> ParticleArrays {
        let places = (0..25).map(|i| Vec3::new((i % 5) as f32 * 0.1, height, (i / 5) as f32 * 0.1));
        let mut p = ParticleArrays::new(origin, places.collect(), vec![w; 25]);
        p.displacement.fill(Vec3::NEG_Y * fall);
        p.position.add_all(Vec3::NEG_Y * fall);
        p.predicted.copy_from(&p.position);
        p
    }

    #[test]
    fn what_meets_keeps_apart_and_momentum_is_kept() {
        for origin in [Vec3::ZERO, Vec3::new(3.0, -2.0, 7.0)] {
            let mut below = sheet(Vec3::ZERO, 0.0, 0.0, 1.0);
            // The same place in the world, from another origin.
            let mut above = sheet(origin, 0.11, 0.05, 4.0);
            above.position.add_all(-origin);
            above.predicted.copy_from(&above.position);
            let touched = CrossContacts::default().collide([&mut below, &mut above], None, &BY, 0);
            assert!(touched);
            for i in 0..25 {
                let apart = above.world_position(i) - below.world_position(i);
                assert!((apart.y - 0.1).abs() < 2e-3, "{apart}");
            }
            let momentum: f32 = (0..25)
                .map(|i| below.displacement.y[i] + 0.25 * above.displacement.y[i])
                .sum();
            assert!((momentum + 25.0 * 0.25 * 0.05).abs() < 1e-5, "{momentum}");
            // The light one gives way.
            assert!(below.displacement.y[12] > -0.02);
        }
    }

    #[test]
    fn what_is_far_or_of_one_cloth_is_left_alone() {
        let mut contacts = CrossContacts::default();
        let mut a = sheet(Vec3::ZERO, 0.0, 0.01, 1.0);
        for height in [0.3, 5.0] {
            let mut b = sheet(Vec3::X, height, 0.0, 1.0);
            b.position.add_all(Vec3::NEG_X);
            b.predicted.copy_from(&b.position);
            let before = (a.state_hash(), b.state_hash());
            assert!(!contacts.collide([&mut a, &mut b], None, &BY, 0));
            assert_eq!((a.state_hash(), b.state_hash()), before);
        }
        // Its own particles are nearer to each other than they would have to be from another's.
        let mut none = ParticleArrays::default();
        assert!(!contacts.collide([&mut a, &mut none], None, &BY, 0));
        let by = CrossCollision {
            distance: f32::NAN,
            ..BY
        };
        let mut b = a.clone();
        assert!(!contacts.collide([&mut a, &mut b], None, &by, 0));
    }

    #[test]
    fn two_in_the_same_place_part_slowly() {
        let mut a = sheet(Vec3::ZERO, 0.0, 0.0, 1.0);
        let mut b = a.clone();
        assert!(CrossContacts::default().collide([&mut a, &mut b], None, &BY, 0));
        for p in [&a, &b] {
            assert!(p.is_finite());
            let most = p
                .position
                .y
                .iter()
                .fold(0.0, |most: f32, y| most.max(y.abs()));
            assert!(most > 0.0 && most < 0.1, "{most}");
            assert!(p.displacement.iter().all(|d| d.length() < 1e-3));
        }
    }
}
