//! Constrains particles to a plane, for cloth in two dimensions.

use crate::solver::particles::ParticleArrays;
use bevy::math::Vec3;

/// Plane in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// A point of the plane, m.
    pub point: Vec3,
    /// Unit normal.
    pub normal: Vec3,
}

/// Projects every unpinned particle along the normal n of a plane onto the plane through p, and removes the normal part
/// of its displacement: x ← x − n(n·(x − p)), d ← d − n(n·d).
pub(crate) fn constrain_to_plane(particles: &mut ParticleArrays, plane: &Plane) {
    let Plane { point, normal } = *plane;
    let point = point - particles.origin;
    for i in 0..particles.len() {
        if particles.is_pinned(i) {
            continue;
        }
        let out = normal.dot(particles.position.get(i) - point);
        particles.position.add(i, normal * -out);
        let out = normal.dot(particles.displacement.get(i));
        particles.displacement.add(i, normal * -out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::SoaVec3;

    #[test]
    fn only_the_normal_part_is_removed() {
        let positions = [Vec3::new(1.0, 2.0, 3.0), Vec3::new(-1.0, 0.0, 0.5)];
        let positions: SoaVec3 = positions.into_iter().collect();
        let mut p = ParticleArrays::new(Vec3::Z * 10.0, positions, vec![1.0, 0.0]);
        p.displacement.fill(Vec3::new(0.1, 0.2, 0.3));
        let plane = Plane {
            point: Vec3::Z * 11.0,
            normal: Vec3::Z,
        };
        constrain_to_plane(&mut p, &plane);
        assert_eq!(p.world_position(0), Vec3::new(1.0, 2.0, 11.0));
        assert_eq!(p.displacement.get(0), Vec3::new(0.1, 0.2, 0.0));
        // The pinned particle stays where it is.
        assert_eq!(p.world_position(1), Vec3::new(-1.0, 0.0, 10.5));
    }

    #[test]
    fn slanted_planes_are_supported() {
        let normal = Vec3::new(1.0, 2.0, -0.5).normalize();
        let positions: SoaVec3 = (0..9).map(|i| Vec3::splat(i as f32 * 0.1)).collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, positions, vec![1.0; 9]);
        let plane = Plane {
            point: Vec3::X * 0.2,
            normal,
        };
        constrain_to_plane(&mut p, &plane);
        for x in p.position.iter() {
            assert!(normal.dot(x - Vec3::X * 0.2).abs() < 1e-7);
        }
    }
}
