//! How fast a cloth is, to know when it has come to rest.

use super::{
    particles::ParticleArrays,
    simd::{Kernel, dispatch},
};

/// Particles that are looked at before the next ones are: most cloths that move show it at once.
const BLOCK: usize = 512;

/// Whether no particle is more than `way` from where it was when the fixed step began, m. What is NaN
/// has gone farther.
pub fn has_stayed_within(particles: &ParticleArrays, way: f32) -> bool {
    let now = particles.position.chunks(BLOCK);
    let most = way * way;
    now.zip(particles.previous.chunks(BLOCK))
        .all(|(now, before)| {
            let mut farthest = 0;
            dispatch(Farthest {
                now,
                before,
                farthest: &mut farthest,
            });
            f32::from_bits(farthest) <= most
        })
}

/// The greatest square of a distance, as bits: as integers they have the order of the numbers, with NaN
/// at the end.
struct Farthest<'a> {
    now: [&'a [f32]; 3],
    before: [&'a [f32]; 3],
    farthest: &'a mut u32,
}

impl Kernel for Farthest<'_> {
    #[inline(always)]
    fn run(self) {
        let ([x, y, z], [px, py, pz]) = (self.now, self.before);
        let mut farthest = 0;
        for (((((x, y), z), px), py), pz) in x.iter().zip(y).zip(z).zip(px).zip(py).zip(pz) {
            let (dx, dy, dz) = (x - px, y - py, z - pz);
            let square = dx * dx + dy * dy + dz * dz;
            farthest = farthest.max(square.abs().to_bits());
        }
        *self.farthest = farthest;
    }

    fn run_scalar(self) {
        for i in 0..self.now[0].len() {
            let way = [0, 1, 2].map(|axis| self.now[axis][i] - self.before[axis][i]);
            let square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
            *self.farthest = (*self.farthest).max(square.abs().to_bits());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{SoaVec3, simd::levels::same_bits};
    use bevy::math::Vec3;

    #[test]
    fn the_farthest_particle_counts() {
        for farthest in [0, 3, 511, 512, 699] {
            let mut p = ParticleArrays::new(Vec3::ONE, SoaVec3::zeros(700), vec![1.0; 700]);
            p.position.set(farthest, Vec3::new(0.3, 0.0, -0.4));
            let bits = same_bits(|| {
                vec![
                    u32::from(has_stayed_within(&p, 0.51)),
                    u32::from(has_stayed_within(&p, 0.49)),
                ]
            });
            assert_eq!(bits, [1, 0], "{farthest}");
        }
    }

    #[test]
    fn what_is_no_number_does_not_rest() {
        let mut p = ParticleArrays::new(Vec3::ZERO, SoaVec3::zeros(5), vec![1.0; 5]);
        for bad in [f32::NAN, -f32::NAN, f32::INFINITY] {
            p.position.set(2, Vec3::Y * bad);
            assert!(!has_stayed_within(&p, 1e18));
        }
        assert!(!has_stayed_within(&p, f32::NAN));
    }
}
