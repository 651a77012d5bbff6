//! Broad phase of self-collision: a spatial hash with particles sorted into cell order. The particles around a cell are
//! gathered once for all that are in it, and each of these is compared with a whole SIMD register of them at a time.

mod neighbourhood;

use self::neighbourhood::{MAX_CANDIDATES, Neighbourhood};
use super::clear_and_reserve;
use crate::solver::simd::{Kernel, LANES, dispatch, join_bits, lane_bit, soa::SoaVec3};
use bevy::math::Vec3;
use std::ops::Range;

/// Largest number of particles of a cell that share one list of candidates: each is compared with those behind it, of which a
/// list holds only so many.
const MAX_TOGETHER: usize = 64;

/// Number of particles around a cell beyond which it is crowded, in cloth whose particles keep their spacing from each other; more
/// in thicker cloth. Stacks have up to 100. In crowded cells, groups of particles are compared with each other and with a sample
/// of those around them: all parts of a crowd push each other apart, not just those with neighbouring numbers.
const CROWD: usize = 384;

/// Number of particles of such a group, and of their sample.
const SAMPLE: [usize; 2] = [16, 16];

/// Largest number of pairs per particle, counted at the particle that finds them.
const MAX_PAIRS: usize = 48;

/// Rows of cells ahead of the row of a particle, as offsets in y and z. Together with the following cells of the
/// particle's own row they are half of all neighbours, so each pair is found once.
const ROWS_AHEAD: [[i32; 2]; 4] = [[1, 0], [-1, 1], [0, 1], [1, 1]];

/// Largest number of ranges of sorted particles that cover the neighbourhood of one cell: one for its own row, one
/// for each row ahead, and three for a row that wraps around the end of the hash.
const MAX_RANGES: usize = 2 + 3 * ROWS_AHEAD.len();

/// Particles sorted by the hash of their cells. Cells adjacent along x have adjacent slots.
///
/// Different cells may share a slot; particles that meet there by a hash collision are either too far apart to
/// form a pair, or are found a second time.
#[derive(Clone, Debug, Default)]
pub(super) struct SpatialHash {
    /// Index of the first sorted particle of each slot of the hash.
    starts: Vec<u32>,
    /// Slot of each particle.
    slots: Vec<u32>,
    /// Particle index of each sorted particle, padded by a whole register.
    particles: Vec<u32>,
    /// Positions of the sorted particles, m, padded by a whole register.
    at: SoaVec3,
    /// Rest positions of the sorted particles, m, padded likewise.
    rest: SoaVec3,
    min: Vec3,
    /// Inverse of the cell size, 1/m.
    inverse_cell_size: f32,
}

impl SpatialHash {
    /// Reserves memory for this number of particles, so that no later call allocates.
    pub(super) fn reserve(&mut self, particles: usize) {
        let Self { at, rest, .. } = self;
        for plane in [at, rest].into_iter().flat_map(SoaVec3::planes_mut) {
            plane.clear();
            plane.reserve(particles + LANES);
        }
        clear_and_reserve(&mut self.particles, particles + LANES);
        clear_and_reserve(&mut self.slots, particles);
        clear_and_reserve(&mut self.starts, slot_count(particles) + 1);
    }

    /// Sorts the given particles into cells of this size, m (counting sort). `rest` holds the rest positions of
    /// all particles.
    pub(super) fn sort<I>(&mut self, positions: &SoaVec3, particles: I, size: f32, rest: &SoaVec3)
    where
        I: ExactSizeIterator<Item = u32> + DoubleEndedIterator + Clone,
    {
        let n = particles.len();
        self.min = positions.bounds().map_or(Vec3::ZERO, |(min, _)| min);
        self.inverse_cell_size = 1.0 / size;
        self.starts.clear();
        self.starts.resize(slot_count(n) + 1, 0);
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        slots.extend(
            particles
                .clone()
                .map(|i| self.slot(self.cell(positions.get(i as usize)))),
        );
        for &slot in &slots {
            self.starts[slot as usize] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.particles.resize(n + LANES, 0);
        // Backwards, so that the order within a slot is that of the particles.
        for (&slot, i) in slots.iter().zip(particles).rev() {
            let start = &mut self.starts[slot as usize];
            *start -= 1;
            self.particles[*start as usize] = i;
        }
        self.slots = slots;
        for (sorted, all) in [(&mut self.at, positions), (&mut self.rest, rest)] {
            for (to, from) in sorted.planes_mut().into_iter().zip(all.planes()) {
                to.clear();
                to.extend(self.particles[..n].iter().map(|&i| from[i as usize]));
                to.resize(n + LANES, 0.0);
            }
        }
    }

    /// Collects all pairs closer than `reach`, which is at most the cell size, and farther apart at rest than
    /// `min_rest_distance`, both m; the lower index comes first, and a pair may occur twice. `density` is the number of particles
    /// of a flat cloth in the square of the distance that they keep.
    pub(super) fn find_pairs(
        &self,
        reach: f32,
        min_rest_distance: f32,
        density: f32,
        pairs: &mut Vec<[u32; 2]>,
    ) -> Found {
        pairs.clear();
        let mut found = Found {
            is_complete: true,
            in_crowds: 0,
        };
        dispatch(PairSearch {
            hash: self,
            max_squared: reach * reach,
            min_rest_squared: min_rest_distance * min_rest_distance,
            crowd: ((CROWD as f32 * density) as usize).min(MAX_CANDIDATES),
            pairs,
            found: &mut found,
        });
        found
    }

    /// Writes the ranges of sorted particles near a cell and returns their number. The first range begins with the
    /// slot of the cell itself.
    #[inline(always)]
    fn near_ranges(&self, cell: [i32; 3], near: &mut [Range<u32>; MAX_RANGES]) -> usize {
        let last = self.starts.len() - 2;
        let range = |from: usize, to: usize| self.starts[from]..self.starts[to];
        let own = self.slot(cell) as usize;
        let mut count = 1;
        let mut push = |range: Range<u32>| {
            near[count] = range;
            count += 1;
        };
        let first = if own < last {
            range(own, own + 2)
        } else {
            push(range(0, 1));
            range(own, own + 1)
        };
        let [x, y, z] = cell;
        for [dy, dz] in ROWS_AHEAD {
            let row = [x, y.wrapping_add(dy), z.wrapping_add(dz)];
            let middle = self.slot(row) as usize;
            if 0 < middle && middle < last {
                push(range(middle - 1, middle + 2));
            } else {
                // The row wraps around the end of the hash.
                for dx in [-1, 0, 1] {
                    let slot = self.slot([x.wrapping_add(dx), row[1], row[2]]) as usize;
                    push(range(slot, slot + 1));
                }
            }
        }
        near[0] = first;
        count
    }

    #[inline(always)]
    fn cell(&self, at: Vec3) -> [i32; 3] {
        // All coordinates are positive, so truncation rounds down; values that overflow and NaN end in some cell
        // too.
        ((at - self.min) * self.inverse_cell_size)
            .to_array()
            .map(|axis| axis as i32)
    }

    /// Hashes y and z as in Teschner et al., "Optimized Spatial Hashing for Collision Detection of Deformable
    /// Objects", 2003.
    #[inline(always)]
    fn slot(&self, [x, y, z]: [i32; 3]) -> u32 {
        let row = (y as u32).wrapping_mul(19_349_663) ^ (z as u32).wrapping_mul(83_492_791);
        row.wrapping_add(x as u32) & (self.starts.len() as u32 - 2)
    }
}

/// Returns the number of slots for this number of particles. Three consecutive ones must fit.
fn slot_count(particles: usize) -> usize {
    particles.next_power_of_two().max(64)
}

/// Extent of the pairs that a search has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Whether these are all pairs: their number per particle is limited.
    pub(super) is_complete: bool,
    /// Number of particles in crowded cells, of which only some pairs were looked for.
    pub(super) in_crowds: usize,
}

/// Searches for pairs.
struct PairSearch<'a> {
    hash: &'a SpatialHash,
    /// Squares of the search distance and of the minimum rest distance, m².
    max_squared: f32,
    min_rest_squared: f32,
    /// Number of particles around a cell beyond which it is crowded.
    crowd: usize,
    pairs: &'a mut Vec<[u32; 2]>,
    found: &'a mut Found,
}

impl Kernel for PairSearch<'_> {
    #[inline(always)]
    fn run(self) {
        let SpatialHash { at, slots, .. } = self.hash;
        let mut near = [const { 0..0 }; MAX_RANGES];
        let mut around = Neighbourhood::EMPTY;
        let mut from = 0;
        while from < slots.len() {
            // Particles of one cell mostly follow one another.
            let cell = self.hash.cell(at.get(from));
            let last = (from + MAX_TOGETHER).min(slots.len());
            let mut to = from + 1;
            while to < last && self.hash.cell(at.get(to)) == cell {
                to += 1;
            }
            let ranges = self.hash.near_ranges(cell, &mut near);
            // In its own slot, a particle is compared only with those behind it.
            near[0].start = near[0].start.max(from as u32);
            let ranges = &near[..ranges];
            if ranges.iter().map(ExactSizeIterator::len).sum::<usize>() > self.crowd {
                let [most, others] = SAMPLE;
                to = to.min(from + most);
                around.sample(self.hash, ranges, [to - from, others], from / most);
                self.found.in_crowds += to - from;
                self.found.is_complete = false;
            } else {
                around.gather(self.hash, ranges);
            }
            for own in 0..to - from {
                let max_len = self.pairs.len() + MAX_PAIRS;
                let particle = around.particles[own];
                'candidates: for first in (own + 1..around.len).step_by(LANES) {
                    let mut found = self.hits(&around, own, first);
                    while found != 0 {
                        let other = around.particles[first + found.trailing_zeros() as usize];
                        found &= found - 1;
                        if self.pairs.len() == max_len {
                            self.found.is_complete = false;
                            break 'candidates;
                        } else if other != particle {
                            self.pairs.push([particle.min(other), particle.max(other)]);
                        }
                    }
                }
            }
            from = to;
        }
    }
}

impl PairSearch<'_> {
    /// Tests up to [`LANES`] candidates from `first` on against one of them: a bit for each hit.
    #[inline(always)]
    fn hits(&self, around: &Neighbourhood, own: usize, first: usize) -> u32 {
        #[cfg(test)]
        if crate::solver::simd::levels::is_reference() {
            return self.hits_reference(around, own, first);
        }
        let lanes = |plane: usize| -> [f32; LANES] {
            let mut lanes = [0.0; LANES];
            lanes.copy_from_slice(&around.planes[plane][first..first + LANES]);
            lanes
        };
        let [x, y, z, u, v, w] = [lanes(0), lanes(1), lanes(2), lanes(3), lanes(4), lanes(5)];
        let of = around.of(own);
        let count = (around.len - first) as u32;
        let mut hits = [0; LANES];
        for l in 0..LANES {
            let (dx, dy, dz) = (x[l] - of[0], y[l] - of[1], z[l] - of[2]);
            let (du, dv, dw) = (u[l] - of[3], v[l] - of[4], w[l] - of[5]);
            let near = dx * dx + dy * dy + dz * dz < self.max_squared;
            let far = du * du + dv * dv + dw * dw > self.min_rest_squared;
            hits[l] = lane_bit(l, near & far & ((l as u32) < count));
        }
        join_bits(hits)
    }

    /// Scalar reference of [`hits`](Self::hits).
    #[cfg(test)]
    fn hits_reference(&self, around: &Neighbourhood, own: usize, first: usize) -> u32 {
        let both = |k: usize| {
            let [x, y, z, u, v, w] = around.of(k);
            [Vec3::new(x, y, z), Vec3::new(u, v, w)]
        };
        let [at, rest] = both(own);
        let mut hits = 0;
        for k in first..around.len.min(first + LANES) {
            let [other_at, other_rest] = both(k);
            let near = (other_at - at).length_squared() < self.max_squared;
            let far = (other_rest - rest).length_squared() > self.min_rest_squared;
            hits |= u32::from(near && far) << (k - first);
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::simd::levels::same_bits;
    use std::cell::RefCell;

    /// Rest positions far from each other.
    fn line(count: usize) -> SoaVec3 {
        (0..count).map(|i| Vec3::X * i as f32).collect()
    }

    /// Pseudo-random numbers from 0 to 1.
    fn random(seed: u32) -> impl FnMut() -> f32 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32
        }
    }

    #[test]
    fn all_near_pairs_are_found() {
        let mut hash = SpatialHash::default();
        let found = RefCell::new(Vec::new());
        for seed in 0..40 {
            let mut random = random(seed);
            let count = 2 + 13 * seed as usize;
            let spread = Vec3::new(2.0, 0.1 + random(), 3.0 * random());
            let positions: SoaVec3 = (0..count)
                .map(|_| Vec3::new(random(), random(), random()) * spread - Vec3::ONE)
                .collect();
            let reach = 0.05 + 0.1 * random();
            let rest = line(count);
            hash.sort(&positions, 0..count as u32, reach, &rest);
            let bits = same_bits(|| {
                let all = hash.find_pairs(reach, 0.5, 1.0, &mut found.borrow_mut());
                assert!(all.is_complete);
                found.borrow().iter().flatten().copied().collect()
            });
            let mut pairs: Vec<[u32; 2]> = bits.as_chunks().0.to_vec();
            pairs.sort_unstable();
            pairs.dedup();
            let mut expected = Vec::new();
            for i in 0..count {
                for j in i + 1..count {
                    let offset = positions.get(j) - positions.get(i);
                    if offset.length_squared() < reach * reach {
                        expected.push([i as u32, j as u32]);
                    }
                }
            }
            assert_eq!(pairs, expected, "seed {seed}");
        }
    }

    #[test]
    fn cells_are_searched_completely_up_to_a_limit() {
        for (density, limit) in [(1.0, CROWD), (1.5, 3 * CROWD / 2), (9.0, MAX_CANDIDATES)] {
            for (count, is_complete) in [(limit, true), (limit + 1, false)] {
                let mut random = random(count as u32);
                let positions: SoaVec3 = (0..count)
                    .map(|_| Vec3::new(random(), random(), random()))
                    .collect();
                let (reach, cell) = (0.1, 2.0);
                let (mut hash, mut pairs) = (SpatialHash::default(), Vec::new());
                hash.sort(&positions, 0..count as u32, cell, &line(count));
                let found = hash.find_pairs(reach, 0.5, density, &mut pairs);
                assert_eq!(found.is_complete, is_complete);
                assert_eq!(found.in_crowds > 0, !is_complete);
                let apart = |i: usize, j: usize| positions.get(i) - positions.get(j);
                let expected = (0..count)
                    .flat_map(|i| (i + 1..count).map(move |j| (i, j)))
                    .filter(|&(i, j)| apart(i, j).length_squared() < reach * reach)
                    .count();
                assert!(expected > 200, "{expected}");
                assert!(pairs.len() == expected || !is_complete && pairs.len() < expected);
            }
        }
    }

    #[test]
    fn in_a_crowd_each_particle_has_partners_everywhere_in_it() {
        let count = 4000;
        let positions: SoaVec3 = (0..count).map(|_| Vec3::ONE).collect();
        let (mut hash, mut pairs) = (SpatialHash::default(), Vec::new());
        hash.sort(&positions, 0..count as u32, 0.1, &line(count));
        let found = hash.find_pairs(0.1, 0.5, 1.0, &mut pairs);
        assert!(found.in_crowds > 3 * count / 4, "{found:?}");
        assert!(pairs.iter().all(|[i, j]| i < j));
        // Those of the first half have as many partners among the last three quarters as among the next few hundred.
        let mut far = vec![0; count / 2];
        for &[i, j] in &pairs {
            if (i as usize) < count / 2 && j - i > 400 {
                far[i as usize] += 1;
            }
        }
        assert!(far.iter().all(|&far| far > 3), "{:?}", far.iter().min());
    }

    #[test]
    fn only_the_given_particles_are_searched() {
        let positions: SoaVec3 = (0..100).map(|i| Vec3::X * (0.01 * i as f32)).collect();
        let (mut hash, mut found) = (SpatialHash::default(), Vec::new());
        let some = [3, 4, 50, 52, 98];
        hash.sort(&positions, some.iter().copied(), 0.025, &line(100));
        assert!(hash.find_pairs(0.025, 0.5, 1.0, &mut found).is_complete);
        found.sort_unstable();
        assert_eq!(found, [[3, 4], [50, 52]]);
    }

    #[test]
    fn a_crumpled_cloth_has_pairs_in_proportion_to_its_particles() {
        let mut hash = SpatialHash::default();
        let mut found = Vec::new();
        for count in [10, 1000, 20_000] {
            let positions: SoaVec3 = (0..count).map(|_| Vec3::ONE).collect();
            hash.sort(&positions, 0..count as u32, 0.1, &line(count));
            let all = hash.find_pairs(0.1, 0.5, 1.0, &mut found);
            assert_eq!(all.is_complete, count == 10);
            assert!(found.len() <= MAX_PAIRS * count && 2 * found.len() >= count);
        }
    }

    #[test]
    fn numbers_that_are_not_finite_do_no_harm() {
        let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 0.0];
        let positions: SoaVec3 = (0..36)
            .map(|i| Vec3::new(bad[i % 6], bad[i / 6], 0.0))
            .collect();
        let mut hash = SpatialHash::default();
        let mut found = Vec::new();
        hash.sort(&positions, 0..36, 1e-3, &line(36));
        hash.find_pairs(1e-3, 1e-3, 1.0, &mut found);
        let nowhere: SoaVec3 = (0..36).map(|_| Vec3::NAN).collect();
        hash.sort(&positions, 0..36, 1e-3, &nowhere);
        hash.find_pairs(1e-3, 1e-3, 1.0, &mut found);
    }
}
