//! Keeps particles in a plane: cloth in two dimensions.

use super::particles::ParticleArrays;
use bevy::math::Vec3;

/// Moves every particle that is not pinned along `normal` onto the plane through `point`, and takes
/// what goes out of the plane from its displacement: x ← x − n(n·(x − p)), d ← d − n(n·d).
///
/// `point` is in world space, m; `normal` must have length 1.
pub fn hold_in_plane(particles: &mut ParticleArrays, point: Vec3, normal: Vec3) {
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
    fn what_goes_out_of_the_plane_is_taken_away_and_nothing_else() {
        let places = [Vec3::new(1.0, 2.0, 3.0), Vec3::new(-1.0, 0.0, 0.5)];
        let places: SoaVec3 = places.into_iter().collect();
        let mut p = ParticleArrays::new(Vec3::Z * 10.0, places, vec![1.0, 0.0]);
        p.displacement.fill(Vec3::new(0.1, 0.2, 0.3));
        hold_in_plane(&mut p, Vec3::Z * 11.0, Vec3::Z);
        assert_eq!(p.world_position(0), Vec3::new(1.0, 2.0, 11.0));
        assert_eq!(p.displacement.get(0), Vec3::new(0.1, 0.2, 0.0));
        // Pins hold what they hold.
        assert_eq!(p.world_position(1), Vec3::new(-1.0, 0.0, 10.5));
    }

    #[test]
    fn slanted_planes_too() {
        let normal = Vec3::new(1.0, 2.0, -0.5).normalize();
        let places: SoaVec3 = (0..9).map(|i| Vec3::splat(i as f32 * 0.1)).collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, places, vec![1.0; 9]);
        hold_in_plane(&mut p, Vec3::X * 0.2, normal);
        for x in p.position.iter() {
            assert!(normal.dot(x - Vec3::X * 0.2).abs() < 1e-7);
        }
    }
}
