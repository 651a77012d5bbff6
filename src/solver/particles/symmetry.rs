//! Breaks the symmetry of flat cloth: in exact arithmetic, cloth that is compressed along its plane would never leave it.

use crate::solver::{
    math::noise::noise, particles::ParticleArrays, simd::soa::SoaVec3, triangles::corners::Corners,
};

/// Largest offset, as a fraction of the rest distance of neighbouring particles: less than a micrometre in most cloths, and in
/// lengths less than `f32` resolves.
const OFFSET: f32 = 5e-6;

/// Moves the free particles across the cloth, by pseudo-random offsets that depend on their indices alone, with velocity 0.
/// The plugin calls it for each new cloth that is not constrained to a plane.
pub fn break_symmetry(p: &mut ParticleArrays, triangles: &Corners) {
    let n = p.len();
    let mut normals = SoaVec3::zeros(n);
    let mut area = 0.0;
    for (corners, normal) in triangles.normals(&p.position) {
        area += normal.length();
        for i in corners {
            normals.add(i, normal);
        }
    }
    // The side of a square with the mean area of two triangles.
    let spacing = (area / triangles.len().max(1) as f32).sqrt();
    for i in 0..n {
        if p.inverse_mass[i] > 0.0 {
            let across = normals.get(i).normalize_or_zero();
            let position = p.position.get(i) + across * (OFFSET * spacing * noise(i, 0));
            if position.is_finite() {
                p.position.set(i, position);
            }
        }
    }
    let positions: SoaVec3 = p.position.iter().collect();
    p.reset(p.origin, &positions);
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::math::Vec3;

    #[test]
    fn free_particles_leave_the_plane_by_little() {
        let flat = (0..4).map(|i| Vec3::new((i % 2) as f32, 0.0, (i / 2) as f32));
        let mut p = ParticleArrays::new(Vec3::ZERO, flat.clone().collect(), vec![1.0; 4]);
        p.inverse_mass[3] = 0.0;
        break_symmetry(&mut p, &vec![[0, 1, 2], [1, 3, 2], [0, 1, 9]].into());
        for (i, before) in flat.enumerate() {
            let moved = p.position.get(i) - before;
            assert_eq!((moved.x, moved.z), (0.0, 0.0));
            assert_eq!(moved.y != 0.0, i != 3, "{moved}");
            assert!(moved.y.abs() <= OFFSET, "{moved}");
        }
        assert_eq!(p.previous, p.position);
    }
}
