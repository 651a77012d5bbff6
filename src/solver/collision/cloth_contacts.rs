//! Cloth–cloth contact: the particles of two cloths keep a distance from each other, and edges that have passed
//! through triangles are brought back, as within one cloth ([`self_collision`](super::self_collision)).

use crate::solver::{
    collision::{
        collider::Friction,
        self_collision::{SelfCollisionSettings, SelfContactPairs},
    },
    integrate::update_displacements,
    particles::ParticleArrays,
    simd::soa::SoaVec3,
    triangles::corners::Corners,
};
use bevy::math::{Mat3, Vec3};

/// Offset of the rest positions of the second cloth from those of the first, m. All particles of one cloth get the same
/// rest position. Only pairs far apart at rest may touch, so pairs within one cloth never touch here.
const REST_OFFSET: f32 = 1e6;

/// Parameters of the collision between two cloths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossCollisionSettings {
    /// Distance that their particles keep from each other, m. If it is less than the distance that each cloth
    /// keeps from itself ([`self_distance`](crate::solver::self_distance)), the other cloth passes between its particles.
    pub distance: f32,
    /// Friction between the two cloths.
    pub friction: Friction,
}

/// Candidate contacts of two cloths, and scratch buffers for their search.
///
/// They follow from the positions, so they are not part of the state of a cloth.
#[derive(Clone, Debug, Default)]
pub struct CrossContacts {
    contacts: SelfContactPairs,
    /// Particles of both cloths, concatenated, relative to the origin of the first.
    both: ParticleArrays,
    rest: Vec<Vec3>,
    /// Number of particles of the first cloth.
    first: usize,
    triangles: Option<JoinedTriangles>,
}

/// Triangles of two cloths.
#[derive(Clone, Debug)]
struct JoinedTriangles {
    each: [Corners; 2],
    /// Concatenated.
    both: Corners,
}

impl CrossContacts {
    /// Keeps two cloths apart in a substep, after relaxation and before colliders; edges that have passed through triangles
    /// of the other cloth are brought back. Returns whether the cloths touched.
    /// Momentum is conserved. Does not depend on threads or SIMD levels, but on which cloth comes first.
    pub fn collide(
        &mut self,
        [a, b]: [&mut ParticleArrays; 2],
        triangles: [&Corners; 2],
        settings: &CrossCollisionSettings,
        substep: u32,
    ) -> bool {
        // Each cloth has its own origin.
        let shift = b.origin - a.origin;
        if !(settings.distance > 0.0 && are_near(a, b, shift, 2.0 * settings.distance)) {
            return false;
        }
        update_displacements(a);
        update_displacements(b);
        self.join_particles(a, b, shift);
        let triangles = self.join_triangles(triangles);
        let joined_settings = SelfCollisionSettings {
            distance: settings.distance,
            friction: settings.friction,
            rest: &self.rest,
            to_world: Mat3::IDENTITY,
            triangles: &triangles,
        };
        let touched = self
            .contacts
            .collide(&mut self.both, &joined_settings, substep);
        write_back(&self.both, 0, a, Vec3::ZERO);
        write_back(&self.both, a.len(), b, shift);
        touched
    }

    /// Concatenates the particles of both cloths.
    fn join_particles(&mut self, a: &ParticleArrays, b: &ParticleArrays, shift: Vec3) {
        let both = &mut self.both;
        join(&mut both.position, &a.position, &b.position, shift);
        join(
            &mut both.displacement,
            &a.displacement,
            &b.displacement,
            Vec3::ZERO,
        );
        join(&mut both.predicted, &a.position, &b.position, shift);
        both.is_tangled = a.is_tangled || b.is_tangled;
        both.inverse_mass.clear();
        both.inverse_mass.extend_from_slice(&a.inverse_mass);
        both.inverse_mass.extend_from_slice(&b.inverse_mass);
        if self.first != a.len() || self.rest.len() != both.len() {
            self.first = a.len();
            self.rest.clear();
            self.rest.resize(a.len(), Vec3::ZERO);
            self.rest.resize(both.len(), Vec3::X * REST_OFFSET);
            self.triangles = None;
            self.contacts.forget();
        }
    }

    /// Returns the concatenated triangles of both cloths: those of the last substep, if they are the same.
    fn join_triangles(&mut self, [a, b]: [&Corners; 2]) -> Corners {
        if let Some(joined) = &self.triangles
            && joined.each[0].is_copy_of(a)
            && joined.each[1].is_copy_of(b)
        {
            return joined.both.clone();
        }
        let first = self.first as u32;
        let shifted = b.iter().map(|corners| corners.map(|i| i + first));
        let both = Corners::from(a.iter().chain(shifted).collect::<Vec<_>>());
        self.triangles = Some(JoinedTriangles {
            each: [a.clone(), b.clone()],
            both: both.clone(),
        });
        self.contacts.forget();
        both
    }
}

/// Returns whether the bounding boxes of two cloths are closer than this, m.
fn are_near(a: &ParticleArrays, b: &ParticleArrays, shift: Vec3, distance: f32) -> bool {
    let (Some((a_min, a_max)), Some((b_min, b_max))) = (a.position.bounds(), b.position.bounds())
    else {
        return false;
    };
    let gap = (b_min + shift - a_max).max(a_min - b_max - shift);
    gap.max_element() < distance
}

/// Concatenates two lists, with the second one shifted.
fn join(both: &mut SoaVec3, a: &SoaVec3, b: &SoaVec3, shift: Vec3) {
    let inputs = a.planes().into_iter().zip(b.planes());
    let inputs = inputs.zip(shift.to_array());
    for (to, ((a, b), shift)) in both.planes_mut().into_iter().zip(inputs) {
        to.clear();
        to.extend_from_slice(a);
        to.extend(b.iter().map(|position| position + shift));
    }
}

/// Writes the changes of one cloth, which begins at `from`, back to its particles. Untouched particles lose no bit
/// to the change of origin.
fn write_back(both: &ParticleArrays, from: usize, p: &mut ParticleArrays, shift: Vec3) {
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
    use std::sync::LazyLock;

    static NO_TRIANGLES: LazyLock<[Corners; 2]> = LazyLock::new(Default::default);

    const SETTINGS: CrossCollisionSettings = CrossCollisionSettings {
        distance: 0.1,
        friction: Friction {
            static_coefficient: 0.3,
            kinetic_coefficient: 0.2,
        },
    };

    /// A cloth of 5 × 5 particles, 0.1 m apart, at this height above an origin, that moves down by `fall` in a
    /// substep.
    fn flat_cloth(origin: Vec3, height: f32, fall: f32, w: f32) -> ParticleArrays {
        let positions =
            (0..25).map(|i| Vec3::new((i % 5) as f32 * 0.1, height, (i / 5) as f32 * 0.1));
        let mut p = ParticleArrays::new(origin, positions.collect(), vec![w; 25]);
        p.displacement.fill(Vec3::NEG_Y * fall);
        p.position.add_all(Vec3::NEG_Y * fall);
        p.predicted.copy_from(&p.position);
        p
    }

    #[test]
    fn colliding_cloths_keep_apart_and_conserve_momentum() {
        for origin in [Vec3::ZERO, Vec3::new(3.0, -2.0, 7.0)] {
            let mut below = flat_cloth(Vec3::ZERO, 0.0, 0.0, 1.0);
            // The same world position, relative to another origin.
            let mut above = flat_cloth(origin, 0.11, 0.05, 4.0);
            above.position.add_all(-origin);
            above.predicted.copy_from(&above.position);
            let touched = CrossContacts::default().collide(
                [&mut below, &mut above],
                NO_TRIANGLES.each_ref(),
                &SETTINGS,
                0,
            );
            assert!(touched);
            for i in 0..25 {
                let apart = above.world_position(i) - below.world_position(i);
                assert!((apart.y - 0.1).abs() < 2e-3, "{apart}");
            }
            let momentum: f32 = (0..25)
                .map(|i| below.displacement.y[i] + 0.25 * above.displacement.y[i])
                .sum();
            assert!((momentum + 25.0 * 0.25 * 0.05).abs() < 1e-5, "{momentum}");
            // The light cloth takes most of the correction.
            assert!(below.displacement.y[12] > -0.02);
        }
    }

    #[test]
    fn distant_particles_and_particles_of_one_cloth_are_left_alone() {
        let mut contacts = CrossContacts::default();
        let mut a = flat_cloth(Vec3::ZERO, 0.0, 0.01, 1.0);
        for height in [0.3, 5.0] {
            let mut b = flat_cloth(Vec3::X, height, 0.0, 1.0);
            b.position.add_all(Vec3::NEG_X);
            b.predicted.copy_from(&b.position);
            let before = (a.state_hash(), b.state_hash());
            assert!(!contacts.collide([&mut a, &mut b], NO_TRIANGLES.each_ref(), &SETTINGS, 0));
            assert_eq!((a.state_hash(), b.state_hash()), before);
        }
        // The spacing within a cloth is less than the distance from another cloth.
        let mut empty = ParticleArrays::default();
        assert!(!contacts.collide([&mut a, &mut empty], NO_TRIANGLES.each_ref(), &SETTINGS, 0));
        let settings = CrossCollisionSettings {
            distance: f32::NAN,
            ..SETTINGS
        };
        let mut b = a.clone();
        assert!(!contacts.collide([&mut a, &mut b], NO_TRIANGLES.each_ref(), &settings, 0));
    }

    #[test]
    fn two_cloths_in_the_same_position_separate_slowly() {
        let mut a = flat_cloth(Vec3::ZERO, 0.0, 0.0, 1.0);
        let mut b = a.clone();
        assert!(CrossContacts::default().collide(
            [&mut a, &mut b],
            NO_TRIANGLES.each_ref(),
            &SETTINGS,
            0
        ));
        for p in [&a, &b] {
            assert!(p.is_finite());
            let max_offset = p
                .position
                .y
                .iter()
                .fold(0.0, |max: f32, y| max.max(y.abs()));
            assert!(max_offset > 0.0 && max_offset < 0.1, "{max_offset}");
            assert!(p.displacement.iter().all(|d| d.length() < 1e-3));
        }
    }
}
