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
mod tests;
