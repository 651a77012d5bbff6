//! Test of displacements for the sleep of a cloth (`src/sleep/`).

use super::simd::{Kernel, dispatch, soa::SoaVec3};

/// Number of particles tested before the next block: most moving cloths are detected in the first.
const BLOCK: usize = 512;

/// Returns whether no particle is farther than `distance` from its position before, m. NaN counts as farther.
pub fn has_stayed_within(now: &SoaVec3, before: &SoaVec3, distance: f32) -> bool {
    let max_squared = distance * distance;
    now.chunks(BLOCK)
        .zip(before.chunks(BLOCK))
        .all(|(now, before)| {
            let mut max_bits = 0;
            dispatch(MaxDisplacement {
                now,
                before,
                max_bits: &mut max_bits,
            });
            f32::from_bits(max_bits) <= max_squared
        })
}

/// Computes the largest squared displacement as bits: as integers they have the order of the values, with NaN at
/// the end.
struct MaxDisplacement<'a> {
    now: [&'a [f32]; 3],
    before: [&'a [f32]; 3],
    max_bits: &'a mut u32,
}

impl Kernel for MaxDisplacement<'_> {
    #[inline(always)]
    fn run(self) {
        let ([x, y, z], [px, py, pz]) = (self.now, self.before);
        let mut max_bits = 0;
        for (((((x, y), z), px), py), pz) in x.iter().zip(y).zip(z).zip(px).zip(py).zip(pz) {
            let (dx, dy, dz) = (x - px, y - py, z - pz);
            let squared = dx * dx + dy * dy + dz * dz;
            max_bits = max_bits.max(squared.abs().to_bits());
        }
        *self.max_bits = max_bits;
    }

    #[cfg(test)]
    fn run_reference(self) {
        for i in 0..self.now[0].len() {
            let d = [0, 1, 2].map(|axis| self.now[axis][i] - self.before[axis][i]);
            let squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            *self.max_bits = (*self.max_bits).max(squared.abs().to_bits());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{ParticleArrays, simd::levels::same_bits};
    use bevy::math::Vec3;

    #[test]
    fn the_farthest_particle_counts() {
        for particle in [0, 3, 511, 512, 699] {
            let mut p = ParticleArrays::new(Vec3::ONE, SoaVec3::zeros(700), vec![1.0; 700]);
            p.position.set(particle, Vec3::new(0.3, 0.0, -0.4));
            let bits = same_bits(|| {
                vec![
                    u32::from(has_stayed_within(&p.position, &p.previous, 0.51)),
                    u32::from(has_stayed_within(&p.position, &p.previous, 0.49)),
                ]
            });
            assert_eq!(bits, [1, 0], "{particle}");
        }
    }

    #[test]
    fn non_finite_positions_are_not_at_rest() {
        let mut p = ParticleArrays::new(Vec3::ZERO, SoaVec3::zeros(5), vec![1.0; 5]);
        for bad in [f32::NAN, -f32::NAN, f32::INFINITY] {
            p.position.set(2, Vec3::Y * bad);
            assert!(!has_stayed_within(&p.position, &p.previous, 1e18));
        }
        assert!(!has_stayed_within(&p.position, &p.previous, f32::NAN));
    }
}
