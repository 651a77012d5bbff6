//! Which particles are near each other: a hash of cells, sorted into cell order.

use crate::solver::soa::SoaVec3;
use bevy::math::Vec3;

/// At most so many particles of three cells in a row are looked at for each particle, and at most so
/// many pairs are kept for it: a cloth that is crumpled into one point stays linear in its particles.
/// Cells are little larger than the distance that particles keep, so only there more are in one.
const LOOKED_AT: usize = 128;
const KEPT: usize = 48;

/// Rows of cells (their steps in y and z) that are ahead of that of a particle. With the cells that
/// come after its own in its own row these are half of all neighbours, so each pair is found once.
const AHEAD: [[i32; 2]; 4] = [[1, 0], [-1, 1], [0, 1], [1, 1]];

/// Room for what is near one particle: a power of two that holds [`LOOKED_AT`] of each row, of which
/// one may go round the end of the hash in three parts.
const ROOM: usize = 2048;

/// A hash of cells. Cells that are neighbours along x are neighbours in it.
///
/// Different cells may share a place; what is there by chance is too far away to be a pair, or is
/// found a second time.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    /// For each place of the hash where its particles begin in `sorted`.
    starts: Vec<u32>,
    /// The place of each particle.
    places: Vec<u32>,
    /// Positions and numbers of the particles, by places.
    sorted: Vec<(Vec3, u32)>,
    /// Where they are at rest, in the same order.
    rest: Vec<Vec3>,
    low: Vec3,
    /// 1/m.
    per_metre: f32,
}

impl Cells {
    /// Sorts particles into cells of this size, m (counting sort). `rest` tells where a particle is at
    /// rest.
    pub(super) fn sort(&mut self, positions: &SoaVec3, size: f32, rest: impl Fn(usize) -> Vec3) {
        let n = positions.len();
        self.low = positions.bounds().map_or(Vec3::ZERO, |(low, _)| low);
        self.per_metre = 1.0 / size;
        // Three in a row must fit.
        let places = n.next_power_of_two().max(64);
        self.starts.clear();
        self.starts.resize(places + 1, 0);
        let mut of = std::mem::take(&mut self.places);
        of.clear();
        of.extend(positions.iter().map(|at| self.place(self.cell(at))));
        for &place in &of {
            self.starts[place as usize] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.sorted.resize(n, (Vec3::ZERO, 0));
        self.rest.resize(n, Vec3::ZERO);
        // From behind, so that the order within a place is that of the particles.
        for i in (0..n).rev() {
            let start = &mut self.starts[of[i] as usize];
            *start -= 1;
            self.sorted[*start as usize] = (positions.get(i), i as u32);
            self.rest[*start as usize] = rest(i);
        }
        self.places = of;
    }

    /// Collects all pairs that are nearer than `reach`, which is at most the size of a cell, and
    /// farther than `apart` at rest, in cell order; a pair may come twice. Returns whether these are
    /// all: there is a limit to what is looked at in one place.
    pub(super) fn pairs(&self, reach: f32, apart: f32, pairs: &mut Vec<[u32; 2]>) -> bool {
        pairs.clear();
        let mut near = Near {
            sorted: &self.sorted,
            within: reach * reach,
            found: [0; ROOM],
            count: 0,
            all: true,
        };
        let mut all = true;
        let last = self.starts.len() - 2;
        for (k, &(at, i)) in self.sorted.iter().enumerate() {
            near.count = 0;
            let cell = self.cell(at);
            let own = self.place(cell) as usize;
            if own < last {
                near.look(at, k + 1, self.starts[own + 2] as usize);
            } else {
                near.look(at, k + 1, self.starts[own + 1] as usize);
                near.look(at, 0, self.starts[1] as usize);
            }
            let [x, y, z] = cell;
            for [dy, dz] in AHEAD {
                let row = [x, y.wrapping_add(dy), z.wrapping_add(dz)];
                let middle = self.place(row) as usize;
                if 0 < middle && middle < last {
                    let ends = [self.starts[middle - 1], self.starts[middle + 2]];
                    near.look(at, ends[0] as usize, ends[1] as usize);
                } else {
                    // The row goes round the end of the hash.
                    for dx in [-1, 0, 1] {
                        let place = self.place([x.wrapping_add(dx), row[1], row[2]]) as usize;
                        let ends = [self.starts[place], self.starts[place + 1]];
                        near.look(at, ends[0] as usize, ends[1] as usize);
                    }
                }
            }
            let rest = self.rest[k];
            let most = pairs.len() + KEPT;
            for &m in &near.found[..near.count] {
                let m = m as usize;
                if (self.rest[m] - rest).length_squared() > apart * apart && m != k {
                    if pairs.len() == most {
                        all = false;
                        break;
                    }
                    pairs.push([i, self.sorted[m].1]);
                }
            }
        }
        all && near.all
    }

    fn cell(&self, at: Vec3) -> [i32; 3] {
        // All numbers are positive, so that cutting off is rounding down; what is too great, or NaN,
        // ends in some cell too.
        ((at - self.low) * self.per_metre)
            .to_array()
            .map(|along| along as i32)
    }

    /// The hash of Teschner et al. ("Optimized Spatial Hashing for Collision Detection of Deformable
    /// Objects", 2003) in y and z.
    fn place(&self, [x, y, z]: [i32; 3]) -> u32 {
        let row = (y as u32).wrapping_mul(19_349_663) ^ (z as u32).wrapping_mul(83_492_791);
        row.wrapping_add(x as u32) & (self.starts.len() as u32 - 2)
    }
}

/// What is near one particle.
struct Near<'a> {
    sorted: &'a [(Vec3, u32)],
    /// Square of the distance, m².
    within: f32,
    /// Places in `sorted`.
    found: [u32; ROOM],
    count: usize,
    /// Whether nothing was left out.
    all: bool,
}

impl Near<'_> {
    /// Looks at a stretch of the sorted particles.
    #[inline(always)]
    fn look(&mut self, at: Vec3, from: usize, to: usize) {
        let end = to.min(from + LOOKED_AT);
        self.all &= end == to || to < from;
        // Without a branch on what is near, which no processor foresees.
        for (m, &(other, _)) in (from..).zip(self.sorted.get(from..end).unwrap_or_default()) {
            self.found[self.count & (ROOM - 1)] = m as u32;
            self.count += usize::from((other - at).length_squared() < self.within);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut found = Vec::new();
        for seed in 0..40 {
            let mut random = random(seed);
            let count = 2 + 13 * seed as usize;
            let spread = Vec3::new(2.0, 0.1 + random(), 3.0 * random());
            let places: SoaVec3 = (0..count)
                .map(|_| Vec3::new(random(), random(), random()) * spread - Vec3::ONE)
                .collect();
            let reach = 0.05 + 0.1 * random();
            cells.sort(&places, reach, |i| Vec3::X * i as f32);
            assert!(cells.pairs(reach, 0.5, &mut found));
            let mut pairs: Vec<[u32; 2]> =
                found.iter().map(|&[i, j]| [i.min(j), i.max(j)]).collect();
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
    fn a_crumpled_cloth_has_pairs_in_proportion_to_its_particles() {
        let mut cells = Cells::default();
        let mut found = Vec::new();
        for count in [10, 1000, 20_000] {
            let places: SoaVec3 = (0..count).map(|_| Vec3::ONE).collect();
            cells.sort(&places, 0.1, |i| Vec3::X * i as f32);
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
        cells.sort(&places, 1e-3, |_| Vec3::NAN);
        cells.pairs(1e-3, 1e-3, &mut found);
    }
}
