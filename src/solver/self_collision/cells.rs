//! Which particles are near each other: a hash of cells, sorted into cell order, in which each particle
//! is compared with a whole register of others at a time.

use crate::solver::{
    simd::{Kernel, LANES, dispatch},
    soa::SoaVec3,
};
use bevy::math::Vec3;
use std::ops::Range;

/// At most so many particles of three cells in a row are looked at for each particle, and at most so
/// many pairs are kept for it: a cloth that is crumpled into one point stays linear in its particles.
/// Cells are little larger than the distance that particles keep, so only there more are in one.
const LOOKED_AT: usize = 128;
const KEPT: usize = 48;

/// Rows of cells (their steps in y and z) that are ahead of that of a particle. With the cells that
/// come after its own in its own row these are half of all neighbours, so each pair is found once.
const AHEAD: [[i32; 2]; 4] = [[1, 0], [-1, 1], [0, 1], [1, 1]];

/// The most stretches of the sorted particles that hold what is near those of one cell: one of its own
/// row, one of each row ahead, and three in place of one that goes round the end of the hash.
const STRETCHES: usize = 2 + 3 * AHEAD.len();

/// Some particles, sorted by a hash of the cells that they are in. Cells that are neighbours along x are
/// neighbours in it.
///
/// Different cells may share a place; what is there by chance is too far away to be a pair, or is
/// found a second time.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    /// For each place of the hash where its particles begin among the sorted ones.
    starts: Vec<u32>,
    /// The place of each particle.
    places: Vec<u32>,
    /// The number of each sorted particle.
    numbers: Vec<u32>,
    /// Where the sorted particles are, with room for a whole register behind the last.
    at: SoaVec3,
    /// Where they are at rest, likewise.
    rest: SoaVec3,
    low: Vec3,
    /// 1/m.
    per_metre: f32,
}

impl Cells {
    /// Asks for room for so many particles, so that later nothing asks for any.
    pub(super) fn reserve(&mut self, particles: usize) {
        let Self { at, rest, .. } = self;
        for plane in [at, rest]
            .into_iter()
            .flat_map(|v| [&mut v.x, &mut v.y, &mut v.z])
        {
            plane.clear();
            plane.reserve(particles + LANES);
        }
        self.numbers.clear();
        self.numbers.reserve(particles);
        self.places.clear();
        self.places.reserve(particles);
        self.starts.clear();
        self.starts.reserve(places(particles) + 1);
    }

    /// Sorts those particles whose numbers are given into cells of this size, m (counting sort). `rest`
    /// tells where all are at rest.
    pub(super) fn sort<I>(&mut self, positions: &SoaVec3, of: I, size: f32, rest: &SoaVec3)
    where
        I: ExactSizeIterator<Item = u32> + DoubleEndedIterator + Clone,
    {
        let n = of.len();
        self.low = positions.bounds().map_or(Vec3::ZERO, |(low, _)| low);
        self.per_metre = 1.0 / size;
        self.starts.clear();
        self.starts.resize(places(n) + 1, 0);
        let mut cells = std::mem::take(&mut self.places);
        cells.clear();
        cells.extend(
            of.clone()
                .map(|i| self.place(self.cell(positions.get(i as usize)))),
        );
        for &place in &cells {
            self.starts[place as usize] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.numbers.resize(n, 0);
        // From behind, so that the order within a place is that of the particles.
        for (&place, i) in cells.iter().zip(of).rev() {
            let start = &mut self.starts[place as usize];
            *start -= 1;
            self.numbers[*start as usize] = i;
        }
        self.places = cells;
        let Self { at, rest: kept, .. } = self;
        for (to, from) in [
            (&mut at.x, &positions.x),
            (&mut at.y, &positions.y),
            (&mut at.z, &positions.z),
            (&mut kept.x, &rest.x),
            (&mut kept.y, &rest.y),
            (&mut kept.z, &rest.z),
        ] {
            to.clear();
            to.extend(self.numbers.iter().map(|&i| from[i as usize]));
            // What is behind the last is never near.
            to.resize(n + LANES, f32::NAN);
        }
    }

    /// Collects all pairs that are nearer than `reach`, which is at most the size of a cell, and
    /// farther than `apart` at rest, the lesser number first; a pair may come twice. Returns whether
    /// these are all: there is a limit to what is looked at in one place.
    pub(super) fn pairs(&self, reach: f32, apart: f32, pairs: &mut Vec<[u32; 2]>) -> bool {
        pairs.clear();
        let mut all = true;
        dispatch(Search {
            cells: self,
            within: reach * reach,
            apart: apart * apart,
            pairs,
            all: &mut all,
        });
        all
    }

    /// Where the particles are that are near those of a cell, besides those of the cell that come before
    /// them: `own` begins with the cell's place.
    #[inline(always)]
    fn near(&self, cell: [i32; 3], near: &mut [Range<u32>; STRETCHES]) -> usize {
        let last = self.starts.len() - 2;
        let stretch = |from: usize, to: usize| self.starts[from]..self.starts[to];
        let own = self.place(cell) as usize;
        let mut count = 1;
        let mut push = |stretch: Range<u32>| {
            near[count] = stretch;
            count += 1;
        };
        let first = if own < last {
            stretch(own, own + 2)
        } else {
            push(stretch(0, 1));
            stretch(own, own + 1)
        };
        let [x, y, z] = cell;
        for [dy, dz] in AHEAD {
            let row = [x, y.wrapping_add(dy), z.wrapping_add(dz)];
            let middle = self.place(row) as usize;
            if 0 < middle && middle < last {
                push(stretch(middle - 1, middle + 2));
            } else {
                // The row goes round the end of the hash.
                for dx in [-1, 0, 1] {
                    let place = self.place([x.wrapping_add(dx), row[1], row[2]]) as usize;
                    push(stretch(place, place + 1));
                }
            }
        }
        near[0] = first;
        count
    }

    #[inline(always)]
    fn cell(&self, at: Vec3) -> [i32; 3] {
        // All numbers are positive, so that cutting off is rounding down; what is too great, or NaN,
        // ends in some cell too.
        ((at - self.low) * self.per_metre)
            .to_array()
            .map(|along| along as i32)
    }

    /// The hash of Teschner et al. ("Optimized Spatial Hashing for Collision Detection of Deformable
    /// Objects", 2003) in y and z.
    #[inline(always)]
    fn place(&self, [x, y, z]: [i32; 3]) -> u32 {
        let row = (y as u32).wrapping_mul(19_349_663) ^ (z as u32).wrapping_mul(83_492_791);
        row.wrapping_add(x as u32) & (self.starts.len() as u32 - 2)
    }
}

/// Places of the hash for so many particles. Three in a row must fit.
fn places(particles: usize) -> usize {
    particles.next_power_of_two().max(64)
}

/// Looks for pairs.
struct Search<'a> {
    cells: &'a Cells,
    /// Squares of the distances, m².
    within: f32,
    apart: f32,
    pairs: &'a mut Vec<[u32; 2]>,
    /// Whether nothing was left out.
    all: &'a mut bool,
}

impl Kernel for Search<'_> {
    #[inline(always)]
    fn run(self) {
        self.search::<true>();
    }

    fn run_scalar(self) {
        self.search::<false>();
    }
}

impl Search<'_> {
    #[inline(always)]
    fn search<const WIDE: bool>(self) {
        let Cells {
            at, rest, numbers, ..
        } = self.cells;
        let mut near = [const { 0..0 }; STRETCHES];
        let (mut count, mut last) = (0, None);
        for (k, &number) in numbers.iter().enumerate() {
            let place = at.get(k);
            let cell = self.cells.cell(place);
            // What is near is the same for all particles of a cell, and those mostly come together.
            if last != Some(cell) {
                last = Some(cell);
                count = self.cells.near(cell, &mut near);
            }
            let (rest, most) = (rest.get(k), self.pairs.len() + KEPT);
            let of = [place.x, place.y, place.z, rest.x, rest.y, rest.z];
            // Of its own place only those behind it.
            let own = near[0].start.max(k as u32 + 1)..near[0].end;
            for stretch in std::iter::once(&own).chain(&near[1..count]) {
                let (from, to) = (stretch.start as usize, stretch.end as usize);
                let end = to.min(from + LOOKED_AT);
                *self.all &= end == to || to < from;
                for first in (from..end).step_by(LANES) {
                    let mut found = if WIDE {
                        self.hits(of, first, end - first)
                    } else {
                        self.hits_one_by_one(of, first, end - first)
                    };
                    while found != 0 {
                        let m = first + found.trailing_zeros() as usize / 8;
                        found &= found - 1;
                        let other = numbers[m];
                        if self.pairs.len() == most {
                            *self.all = false;
                        } else if other != number {
                            self.pairs.push([number.min(other), number.max(other)]);
                        }
                    }
                }
            }
        }
    }

    /// Which of up to [`LANES`] sorted particles from `first` on are near one: the lowest bit of a byte
    /// for each.
    #[inline(always)]
    fn hits(&self, of: [f32; 6], first: usize, count: usize) -> u128 {
        let Cells { at, rest, .. } = self.cells;
        let lanes = |plane: &[f32]| -> [f32; LANES] {
            let mut lanes = [0.0; LANES];
            lanes.copy_from_slice(&plane[first..first + LANES]);
            lanes
        };
        let (x, y, z) = (lanes(&at.x), lanes(&at.y), lanes(&at.z));
        let (u, v, w) = (lanes(&rest.x), lanes(&rest.y), lanes(&rest.z));
        let mut hits = [0; LANES];
        for l in 0..LANES {
            let (dx, dy, dz) = (x[l] - of[0], y[l] - of[1], z[l] - of[2]);
            let (du, dv, dw) = (u[l] - of[3], v[l] - of[4], w[l] - of[5]);
            let near = dx * dx + dy * dy + dz * dz < self.within;
            let far = du * du + dv * dv + dw * dw > self.apart;
            hits[l] = u8::from(near & far & ((l as u32) < count as u32));
        }
        u128::from_le_bytes(hits)
    }

    /// [`hits`](Self::hits), particle by particle.
    fn hits_one_by_one(&self, of: [f32; 6], first: usize, count: usize) -> u128 {
        let Cells { at, rest, .. } = self.cells;
        let [x, y, z, u, v, w] = of;
        let mut hits = 0;
        for l in 0..count.min(LANES) {
            let near = (at.get(first + l) - Vec3::new(x, y, z)).length_squared() < self.within;
            let far = (rest.get(first + l) - Vec3::new(u, v, w)).length_squared() > self.apart;
            hits |= u128::from(near && far) << (8 * l);
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::simd::levels::same_bits;
    use std::cell::RefCell;

    /// Places at rest that are far from each other.
    fn line(count: usize) -> SoaVec3 {
        (0..count).map(|i| Vec3::X * i as f32).collect()
    }

    /// Numbers from 0 to 1.
    fn random(seed: u32) -> impl FnMut() -> f32 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32
        }
    }

    #[test]
    fn all_pairs_that_are_near_are_found() {
        let mut cells = Cells::default();
        let found = RefCell::new(Vec::new());
        for seed in 0..40 {
            let mut random = random(seed);
            let count = 2 + 13 * seed as usize;
            let spread = Vec3::new(2.0, 0.1 + random(), 3.0 * random());
            let places: SoaVec3 = (0..count)
                .map(|_| Vec3::new(random(), random(), random()) * spread - Vec3::ONE)
                .collect();
            let reach = 0.05 + 0.1 * random();
            let rest = line(count);
            cells.sort(&places, 0..count as u32, reach, &rest);
            let bits = same_bits(|| {
                assert!(cells.pairs(reach, 0.5, &mut found.borrow_mut()));
                found.borrow().iter().flatten().copied().collect()
            });
            let mut pairs: Vec<[u32; 2]> = bits.as_chunks().0.to_vec();
            pairs.sort_unstable();
            pairs.dedup();
            let mut expected = Vec::new();
            for i in 0..count {
                for j in i + 1..count {
                    let way = places.get(j) - places.get(i);
                    if way.length_squared() < reach * reach {
                        expected.push([i as u32, j as u32]);
                    }
                }
            }
            assert_eq!(pairs, expected, "seed {seed}");
        }
    }

    #[test]
    fn only_those_that_are_asked_for_are_found() {
        let places: SoaVec3 = (0..100).map(|i| Vec3::X * (0.01 * i as f32)).collect();
        let (mut cells, mut found) = (Cells::default(), Vec::new());
        let some = [3, 4, 50, 52, 98];
        cells.sort(&places, some.iter().copied(), 0.025, &line(100));
        assert!(cells.pairs(0.025, 0.5, &mut found));
        found.sort_unstable();
        assert_eq!(found, [[3, 4], [50, 52]]);
    }

    #[test]
    fn a_crumpled_cloth_has_pairs_in_proportion_to_its_particles() {
        let mut cells = Cells::default();
        let mut found = Vec::new();
        for count in [10, 1000, 20_000] {
            let places: SoaVec3 = (0..count).map(|_| Vec3::ONE).collect();
            cells.sort(&places, 0..count as u32, 0.1, &line(count));
            let all = cells.pairs(0.1, 0.5, &mut found);
            assert_eq!(all, count == 10);
            assert!(found.len() <= KEPT * count && 2 * found.len() >= count);
        }
    }

    #[test]
    fn numbers_that_are_not_finite_do_no_harm() {
        let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 0.0];
        let places: SoaVec3 = (0..36)
            .map(|i| Vec3::new(bad[i % 6], bad[i / 6], 0.0))
            .collect();
        let mut cells = Cells::default();
        let mut found = Vec::new();
        cells.sort(&places, 0..36, 1e-3, &line(36));
        cells.pairs(1e-3, 1e-3, &mut found);
        let nowhere: SoaVec3 = (0..36).map(|_| Vec3::NAN).collect();
        cells.sort(&places, 0..36, 1e-3, &nowhere);
        cells.pairs(1e-3, 1e-3, &mut found);
    }
}
