//! Turbulence: eddies that come and go, by value noise in space and time.
//!
//! Each point of a lattice has three random numbers for each tick of time, which an integer hash makes
//! of its coordinates; between points and ticks it goes from one to the next by smoothstep, 3f² − 2f³
//! (value noise, after Perlin, "An Image Synthesizer", 1985). Only integers and + − × ÷, so that the
//! same place and time give the same bits on every machine.

use super::{corners::BLOCK, simd::select};
use bevy::math::Vec3;

/// Eddies in the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eddies {
    /// The most that each component of the velocity gets, m/s. The root of its mean square is 0.32 of
    /// that, its mean 0.
    pub strength: f32,
    /// Distance over which the velocity becomes another one, m.
    pub size: f32,
    /// Time after which it has become another one, s.
    pub period: f32,
    /// Another seed gives other eddies.
    pub seed: u32,
    /// The time, s.
    pub seconds: f64,
}

/// Odd numbers that spread the coordinates x, y, z and the ticks over all bits: φ⁻¹ to φ⁻⁴ in units of
/// 2⁻³², where φ⁵ = φ + 1 (the R-sequence in four dimensions; Roberts 2018).
const SPREAD: [u32; 4] = [0xdb4f_0b91, 0xbbe0_5633, 0xa0f2_ec75, 0x89e1_8285];

/// The greatest of the three numbers in a hash, ten bits each.
const MOST: i32 = 1023;

impl Eddies {
    /// Whether there are any.
    pub fn are_blowing(&self) -> bool {
        self.strength > 0.0
    }

    /// What they add to the velocity of the air at a place in the world, m/s.
    pub fn wind(&self, place: Vec3) -> Vec3 {
        Lattice::new(self, place).wind(Vec3::ZERO)
    }
}

/// The lattice at a time, relative to the origin of a cloth.
#[derive(Clone, Copy)]
pub(super) struct Lattice {
    strength: f32,
    inverse_size: f32,
    /// Of the origin within its cell, from 0 to 1.
    offset: [f32; 3],
    /// Coordinates of the cell of the origin, spread.
    base: [u32; 3],
    /// The ticks before and after, spread.
    ticks: [u32; 2],
    /// How much of each counts.
    shares: [f32; 2],
}

/// Where a place is on one axis: its cell, spread, and how far it is towards the next, smooth.
type Cell = (u32, f32);

impl Lattice {
    pub(super) fn new(eddies: &Eddies, origin: Vec3) -> Self {
        let cells = origin
            .to_array()
            .map(|x| whole(f64::from(x) / f64::from(eddies.size)));
        let (tick, part) = whole(eddies.seconds / f64::from(eddies.period));
        let later = smooth(part);
        let first = tick.wrapping_mul(SPREAD[3]).wrapping_add(mix(eddies.seed));
        Self {
            strength: eddies.strength,
            inverse_size: 1.0 / eddies.size,
            offset: cells.map(|(_, part)| part),
            base: [0, 1, 2].map(|axis| cells[axis].0.wrapping_mul(SPREAD[axis])),
            ticks: [first, first.wrapping_add(SPREAD[3])],
            shares: [1.0 - later, later],
        }
    }

    /// What the eddies add to the velocity of the air at a place relative to the origin, m/s.
    #[inline(always)]
    pub(super) fn wind(&self, place: Vec3) -> Vec3 {
        let cells = [0, 1, 2].map(|axis| self.cell(axis, place[axis]));
        let mut sum = [0.0; 3];
        for corner in 0..8 {
            let (key, weight) = corner_of(corner, cells);
            for (tick, share) in self.ticks.into_iter().zip(self.shares) {
                let numbers = numbers(key.wrapping_add(tick));
                for (sum, number) in sum.iter_mut().zip(numbers) {
                    *sum += number * (weight * share);
                }
            }
        }
        Vec3::from(sum.map(|sum| self.scaled(sum)))
    }

    /// Adds `gain` times the velocity at each of up to [`BLOCK`] places: the same numbers in the same
    /// order as [`wind`](Self::wind), corner by corner for all of them.
    #[inline(always)]
    pub(super) fn add(&self, [x, y, z]: [&[f32]; 3], to: [&mut [f32]; 3], gain: f32) {
        let n = x.len().min(BLOCK);
        let mut cells = [([0; BLOCK], [0.0; BLOCK]); 3];
        for (axis, places) in [x, y, z].into_iter().enumerate() {
            let (keys, parts) = &mut cells[axis];
            let of = places[..n].iter().zip(&mut keys[..n]).zip(&mut parts[..n]);
            for ((&place, key), part) in of {
                (*key, *part) = self.cell(axis, place);
            }
        }
        let mut sums = [[0.0; BLOCK]; 3];
        let [sum_x, sum_y, sum_z] = &mut sums;
        let [(kx, fx), (ky, fy), (kz, fz)] = &cells;
        for corner in 0..8 {
            for (tick, share) in self.ticks.into_iter().zip(self.shares) {
                for k in 0..n {
                    let cells = [(kx[k], fx[k]), (ky[k], fy[k]), (kz[k], fz[k])];
                    let (key, weight) = corner_of(corner, cells);
                    let [x, y, z] = numbers(key.wrapping_add(tick));
                    let weight = weight * share;
                    sum_x[k] += x * weight;
                    sum_y[k] += y * weight;
                    sum_z[k] += z * weight;
                }
            }
        }
        for (to, sums) in to.into_iter().zip(&sums) {
            for (to, &sum) in to[..n].iter_mut().zip(&sums[..n]) {
                *to += self.scaled(sum) * gain;
            }
        }
    }

    #[inline(always)]
    fn cell(&self, axis: usize, place: f32) -> Cell {
        let at = place * self.inverse_size + self.offset[axis];
        // Rounded towards 0, and one less where that was up.
        let cell = at as i32;
        let cell = cell.wrapping_sub(i32::from(at < cell as f32));
        let part = at - cell as f32;
        // So far out that cells cannot be counted, it is anywhere in one.
        let part = select((0.0..=1.0).contains(&part), part, 0.0);
        let key = (cell as u32).wrapping_mul(SPREAD[axis]);
        (key.wrapping_add(self.base[axis]), smooth(part))
    }

    /// From 0 to [`MOST`], to −strength to +strength.
    #[inline(always)]
    fn scaled(&self, sum: f32) -> f32 {
        (sum * (2.0 / MOST as f32) - 1.0) * self.strength
    }
}

/// The whole number below and the part above it. What is no number or endless gives some.
fn whole(at: f64) -> (u32, f32) {
    let below = at.floor();
    let part = (at - below) as f32;
    let part = if part.is_finite() { part } else { 0.0 };
    // Wraps around where it is too large.
    (below as i64 as u32, part)
}

#[inline(always)]
fn smooth(part: f32) -> f32 {
    part * part * (3.0 - 2.0 * part)
}

/// One of the eight corners of a cell, spread, and how much of it counts.
#[inline(always)]
fn corner_of(corner: usize, cells: [Cell; 3]) -> (u32, f32) {
    let mut key = 0_u32;
    let mut weight = 1.0;
    for (axis, (cell, part)) in cells.into_iter().enumerate() {
        let next = corner >> axis & 1 == 1;
        key = key.wrapping_add(cell);
        if next {
            key = key.wrapping_add(SPREAD[axis]);
        }
        weight *= if next { part } else { 1.0 - part };
    }
    (key, weight)
}

/// The random numbers of a key, each from 0 to [`MOST`].
#[inline(always)]
fn numbers(key: u32) -> [f32; 3] {
    let hash = mix(key);
    // As signed numbers, which processors turn into floats at once.
    [hash >> 2, hash >> 12, hash >> 22].map(|bits| (bits as i32 & MOST) as f32)
}

/// The hash "lowbias32" (Wellons, "Prospecting for Hash Functions", 2018).
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

    /// 4000 places and times all over, none of them near the next.
    fn samples() -> impl Iterator<Item = (Eddies, Vec3)> {
        (0..4000_u16).map(|i| {
            let place = Vec3::new(1.7, -2.3, 3.1) * f32::from(i);
            let seconds = f64::from(i) * 0.77 - 500.0;
            (Eddies { seconds, ..EDDIES }, place)
        })
    }

    #[test]
    fn it_is_bounded_has_no_mean_and_the_documented_strength() {
        let (mut sum, mut squares, mut most) = (Vec3::ZERO, Vec3::ZERO, 0.0_f32);
        for (eddies, place) in samples() {
            let wind = eddies.wind(place) / EDDIES.strength;
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
    fn seeds_and_axes_are_others_and_not_alike() {
        let other = |eddies| Eddies { seed: 8, ..eddies };
        // Correlations: of two seeds, of two axes, of places a size apart, of times a period apart.
        let mut sums = [0.0; 4];
        let mut square = 0.0;
        for (eddies, place) in samples() {
            let wind = eddies.wind(place);
            let later = Eddies {
                seconds: eddies.seconds + 2.0 * f64::from(eddies.period),
                ..eddies
            };
            sums[0] += wind.dot(other(eddies).wind(place));
            sums[1] += wind.dot(Vec3::new(wind.y, wind.z, wind.x));
            sums[2] += wind.dot(eddies.wind(place + Vec3::X * 2.0 * eddies.size));
            sums[3] += wind.dot(later.wind(place));
            square += wind.length_squared();
        }
        for sum in sums {
            assert!((sum / square).abs() < 0.05, "{sums:?} of {square}");
        }
    }

    #[test]
    fn it_is_continuous_in_space_and_time() {
        // Each of the eight corners may change by 2, smoothstep is at most 1.5 steep.
        for (eddies, place) in samples() {
            for step in 0..10 {
                let place = place + Vec3::Z * (0.1 * step as f32);
                let here = eddies.wind(place);
                let beside = eddies.wind(place + Vec3::Z * 0.005);
                let soon = Eddies {
                    seconds: eddies.seconds + 0.003,
                    ..eddies
                };
                for change in [beside - here, soon.wind(place) - here] {
                    let most = 3.0 * 0.0105 * eddies.strength;
                    assert!(change.abs().max_element() < most, "{change} at {place}");
                }
            }
        }
    }

    #[test]
    fn impossible_numbers_give_some_wind() {
        for seconds in [f64::NAN, f64::INFINITY, -1e300] {
            for place in [0.0, 1e9, -1e30, 3e38] {
                let eddies = Eddies { seconds, ..EDDIES };
                assert!(eddies.wind(Vec3::splat(place)).is_finite());
                let lattice = Lattice::new(&eddies, Vec3::ZERO);
                assert!(lattice.wind(Vec3::splat(place)).is_finite(), "{place}");
            }
        }
    }
}
