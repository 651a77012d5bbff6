//! Turbulence: value noise in space and time.
//!
//! Each point of a lattice has three random values per tick of time, an integer hash of its coordinates.
//! Smoothstep, 3f² − 2f³, interpolates between points and ticks (value noise, after Perlin, "An Image
//! Synthesizer", 1985). All arithmetic is on integers or + − × ÷, so the same position and time give the same
//! bits on every machine.

use crate::solver::{math::smoothstep, simd::select, triangles::corners::BLOCK};
use bevy::math::Vec3;

/// Turbulent wind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eddies {
    /// Largest magnitude of each component of the velocity, m/s. Its root mean square is 0.32 of that, its mean 0.
    pub strength: f32,
    /// Correlation length: distance between lattice points, m.
    pub size: f32,
    /// Correlation time: time between ticks, s.
    pub period: f32,
    /// Seed of the random values.
    pub seed: u32,
    /// Present time, s.
    pub seconds: f64,
}

/// Odd multipliers that distribute the coordinates x, y, z and the ticks over all bits: φ⁻¹ to φ⁻⁴ in units of
/// 2⁻³², where φ⁵ = φ + 1 (the R-sequence in four dimensions; Roberts 2018).
const HASH_MULTIPLIERS: [u32; 4] = [0xdb4f_0b91, 0xbbe0_5633, 0xa0f2_ec75, 0x89e1_8285];

/// Largest random value: each of the three values of a hash has ten bits.
const MAX_RANDOM: i32 = 1023;

impl Eddies {
    /// Returns whether the strength is above zero.
    pub fn is_active(&self) -> bool {
        self.strength > 0.0
    }

    /// Returns the turbulent velocity of the air at a world position, m/s.
    pub fn wind(&self, position: Vec3) -> Vec3 {
        NoiseLattice::new(self, position).wind(Vec3::ZERO)
    }
}

/// Noise lattice at one time, relative to the origin of a cloth.
#[derive(Clone, Copy)]
pub(in crate::solver) struct NoiseLattice {
    strength: f32,
    inverse_size: f32,
    /// Position of the origin within its cell, from 0 to 1.
    offset: [f32; 3],
    /// Hash keys of the coordinates of the cell of the origin.
    base: [u32; 3],
    /// Hash keys of the ticks before and after.
    ticks: [u32; 2],
    /// Interpolation weights of both ticks.
    tick_weights: [f32; 2],
}

/// Cell of a position on one axis: hash key, and smoothed interpolation weight of the next cell.
type LatticeCell = (u32, f32);

impl NoiseLattice {
    pub(in crate::solver) fn new(eddies: &Eddies, origin: Vec3) -> Self {
        let cells = origin
            .to_array()
            .map(|x| split_whole(f64::from(x) / f64::from(eddies.size)));
        let (tick, part) = split_whole(eddies.seconds / f64::from(eddies.period));
        let later = smoothstep(part);
        let first = tick
            .wrapping_mul(HASH_MULTIPLIERS[3])
            .wrapping_add(mix(eddies.seed));
        Self {
            strength: eddies.strength,
            inverse_size: 1.0 / eddies.size,
            offset: cells.map(|(_, part)| part),
            base: [0, 1, 2].map(|axis| cells[axis].0.wrapping_mul(HASH_MULTIPLIERS[axis])),
            ticks: [first, first.wrapping_add(HASH_MULTIPLIERS[3])],
            tick_weights: [1.0 - later, later],
        }
    }

    /// Returns the turbulent velocity of the air at a position relative to the origin, m/s.
    #[inline(always)]
    pub(in crate::solver) fn wind(&self, position: Vec3) -> Vec3 {
        let cells = [0, 1, 2].map(|axis| self.cell(axis, position[axis]));
        let mut sum = [0.0; 3];
        for corner in 0..8 {
            let (key, weight) = corner_of(corner, cells);
            for (tick, tick_weight) in self.ticks.into_iter().zip(self.tick_weights) {
                let random_values = random_values(key.wrapping_add(tick));
                for (sum, value) in sum.iter_mut().zip(random_values) {
                    *sum += value * (weight * tick_weight);
                }
            }
        }
        Vec3::from(sum.map(|sum| self.scale(sum)))
    }

    /// Adds `factor` times the velocity at up to [`BLOCK`] positions: the same operations in the same order as
    /// [`wind`](Self::wind), corner by corner for all positions.
    #[inline(always)]
    pub(in crate::solver) fn add(&self, [x, y, z]: [&[f32]; 3], to: [&mut [f32]; 3], factor: f32) {
        let n = x.len().min(BLOCK);
        let mut cells = [([0; BLOCK], [0.0; BLOCK]); 3];
        for (axis, positions) in [x, y, z].into_iter().enumerate() {
            let (keys, weights) = &mut cells[axis];
            let inputs = positions[..n].iter();
            let cells = inputs.zip(&mut keys[..n]).zip(&mut weights[..n]);
            for ((&position, key), weight) in cells {
                (*key, *weight) = self.cell(axis, position);
            }
        }
        let mut sums = [[0.0; BLOCK]; 3];
        let [sum_x, sum_y, sum_z] = &mut sums;
        let [(kx, fx), (ky, fy), (kz, fz)] = &cells;
        for corner in 0..8 {
            for (tick, tick_weight) in self.ticks.into_iter().zip(self.tick_weights) {
                for k in 0..n {
                    let cells = [(kx[k], fx[k]), (ky[k], fy[k]), (kz[k], fz[k])];
                    let (key, weight) = corner_of(corner, cells);
                    let [x, y, z] = random_values(key.wrapping_add(tick));
                    let weight = weight * tick_weight;
                    sum_x[k] += x * weight;
                    sum_y[k] += y * weight;
                    sum_z[k] += z * weight;
                }
            }
        }
        for (to, sums) in to.into_iter().zip(&sums) {
            for (to, &sum) in to[..n].iter_mut().zip(&sums[..n]) {
                *to += self.scale(sum) * factor;
            }
        }
    }

    /// Returns the cell of a coordinate relative to the origin, m.
    #[inline(always)]
    fn cell(&self, axis: usize, coordinate: f32) -> LatticeCell {
        let at = coordinate * self.inverse_size + self.offset[axis];
        // Floor: truncates, then subtracts 1 if that rounded up.
        let cell = at as i32;
        let cell = cell.wrapping_sub(i32::from(at < cell as f32));
        let fraction = at - cell as f32;
        // Far out, beyond the range of `i32`, any fraction will do.
        let fraction = select((0.0..=1.0).contains(&fraction), fraction, 0.0);
        let key = (cell as u32).wrapping_mul(HASH_MULTIPLIERS[axis]);
        (key.wrapping_add(self.base[axis]), smoothstep(fraction))
    }

    /// Maps 0 to [`MAX_RANDOM`] to −strength to +strength.
    #[inline(always)]
    fn scale(&self, sum: f32) -> f32 {
        (sum * (2.0 / MAX_RANDOM as f32) - 1.0) * self.strength
    }
}

/// Returns the floor, wrapped to 32 bits, and the fraction of a number; finite for any input.
fn split_whole(at: f64) -> (u32, f32) {
    let floor = at.floor();
    let fraction = (at - floor) as f32;
    let fraction = if fraction.is_finite() { fraction } else { 0.0 };
    (floor as i64 as u32, fraction)
}

/// Returns the hash key and the interpolation weight of one of the eight corners of a cell.
#[inline(always)]
fn corner_of(corner: usize, cells: [LatticeCell; 3]) -> (u32, f32) {
    let mut key = 0_u32;
    let mut weight = 1.0;
    for (axis, (cell, fraction)) in cells.into_iter().enumerate() {
        let next = corner >> axis & 1 == 1;
        key = key.wrapping_add(cell);
        if next {
            key = key.wrapping_add(HASH_MULTIPLIERS[axis]);
        }
        weight *= if next { fraction } else { 1.0 - fraction };
    }
    (key, weight)
}

/// Returns the random values of a key, each from 0 to [`MAX_RANDOM`].
#[inline(always)]
fn random_values(key: u32) -> [f32; 3] {
    let hash = mix(key);
    // Signed, since processors convert signed integers to floats in one instruction.
    [hash >> 2, hash >> 12, hash >> 22].map(|bits| (bits as i32 & MAX_RANDOM) as f32)
}

/// Computes the hash "lowbias32" (Wellons, "Prospecting for Hash Functions", 2018).
#[inline(always)]
fn mix(mut h: u32) -> u32 {
    h = (h ^ (h >> 16)).wrapping_mul(0x7feb_352d);
    h = (h ^ (h >> 15)).wrapping_mul(0x846c_a68b);
    h ^ (h >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDDIES: Eddies = Eddies {
        strength: 2.0,
        size: 0.5,
        period: 0.3,
        seed: 7,
        seconds: 1.3,
    };

    /// 4000 positions and times, far apart from each other.
    fn samples() -> impl Iterator<Item = (Eddies, Vec3)> {
        (0..4000_u16).map(|i| {
            let position = Vec3::new(1.7, -2.3, 3.1) * f32::from(i);
            let seconds = f64::from(i) * 0.77 - 500.0;
            (Eddies { seconds, ..EDDIES }, position)
        })
    }

    #[test]
    fn it_is_bounded_with_zero_mean_and_the_documented_strength() {
        let (mut sum, mut squares, mut most) = (Vec3::ZERO, Vec3::ZERO, 0.0_f32);
        for (eddies, position) in samples() {
            let wind = eddies.wind(position) / EDDIES.strength;
            sum += wind;
            squares += wind * wind;
            most = most.max(wind.abs().max_element());
        }
        let (mean, rms) = (sum / 4000.0, (squares / 4000.0).map(f32::sqrt));
        assert!(most <= 1.00001 && most > 0.8, "{most}");
        assert!(mean.abs().max_element() < 0.02, "{mean}");
        assert!((rms - 0.32).abs().max_element() < 0.015, "{rms}");
    }

    #[test]
    fn seeds_axes_positions_and_times_are_uncorrelated() {
        let other = |eddies| Eddies { seed: 8, ..eddies };
        // Correlations of two seeds, of two axes, of positions two sizes apart, of times two periods apart.
        let mut sums = [0.0; 4];
        let mut square = 0.0;
        for (eddies, position) in samples() {
            let wind = eddies.wind(position);
            let later = Eddies {
                seconds: eddies.seconds + 2.0 * f64::from(eddies.period),
                ..eddies
            };
            sums[0] += wind.dot(other(eddies).wind(position));
            sums[1] += wind.dot(Vec3::new(wind.y, wind.z, wind.x));
            sums[2] += wind.dot(eddies.wind(position + Vec3::X * 2.0 * eddies.size));
            sums[3] += wind.dot(later.wind(position));
            square += wind.length_squared();
        }
        for sum in sums {
            assert!((sum / square).abs() < 0.05, "{sums:?} of {square}");
        }
    }

    #[test]
    fn it_is_continuous_in_space_and_time() {
        // Each of the eight corners may change by 2, and smoothstep has a slope of at most 1.5.
        for (eddies, position) in samples() {
            for step in 0..10 {
                let position = position + Vec3::Z * (0.1 * step as f32);
                let here = eddies.wind(position);
                let beside = eddies.wind(position + Vec3::Z * 0.005);
                let soon = Eddies {
                    seconds: eddies.seconds + 0.003,
                    ..eddies
                };
                for change in [beside - here, soon.wind(position) - here] {
                    let most = 3.0 * 0.0105 * eddies.strength;
                    assert!(change.abs().max_element() < most, "{change} at {position}");
                }
            }
        }
    }

    #[test]
    fn extreme_and_non_finite_inputs_give_finite_wind() {
        for seconds in [f64::NAN, f64::INFINITY, -1e300] {
            for position in [0.0, 1e9, -1e30, 3e38] {
                let eddies = Eddies { seconds, ..EDDIES };
                assert!(eddies.wind(Vec3::splat(position)).is_finite());
                let lattice = NoiseLattice::new(&eddies, Vec3::ZERO);
                assert!(
                    lattice.wind(Vec3::splat(position)).is_finite(),
                    "{position}"
                );
            }
        }
    }
}
