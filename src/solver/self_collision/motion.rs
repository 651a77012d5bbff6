//! How far particles that were near each other have moved with respect to each other, and where.
//!
//! Who moved together may have turned together: the farther two were apart, the more. So what is
//! allowed grows with the distance. Particles of neighbouring small bins may move by the skin with respect
//! to each other, those of neighbouring large bins by what they were apart at least, since they were in
//! no neighbouring small ones.

use crate::solver::{
    simd::{Kernel, dispatch},
    soa::SoaVec3,
};
use bevy::math::Vec3;

/// Ways of particles: the least of x, y and z, and the greatest turned around, so that all are least.
type Box8 = [f32; 8];

const NOTHING: Box8 = [f32::INFINITY; 8];

/// Particles that are neighbours in memory, and mostly in the cloth, are taken together.
const GROUP: usize = 8;

/// Room for small cloths, which may be in more bins than they have particles for.
const ROOM: usize = 64;

/// The side of large bins, in small ones.
const LARGE: u32 = 4;

/// Bins of one size of which some hold particles.
#[derive(Clone, Debug, Default)]
struct Level {
    /// Between which corners the ways of the particles in each bin are.
    boxes: Vec<Box8>,
    /// Bins that touch, each also with itself.
    links: Vec<[u32; 2]>,
    /// Whether something in a bin has moved too far.
    hot: Vec<bool>,
    /// The cell of each bin.
    cells: Vec<[u32; 3]>,
}

/// Bins over the particles as they were when `before` was noted.
#[derive(Clone, Debug, Default)]
pub(super) struct Motion {
    /// Where particles were when pairs were looked for.
    pub(super) before: SoaVec3,
    /// Side of a small bin, m.
    size: f32,
    /// The small bin of each particle.
    of: Vec<u32>,
    /// Which group has particles in which small bin.
    groups: Vec<[u32; 2]>,
    /// The large bin of each small one.
    larger: Vec<u32>,
    small: Level,
    large: Level,
    ranges: Vec<Box8>,
    /// The bin of each cell of a level, while bins are made.
    grid: Vec<u32>,
    known: bool,
}

/// What motion is allowed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    /// Pairs that are nearer than this are looked for, m.
    pub(super) near: f32,
    /// Pairs that were nearer than this and the former are known, m.
    pub(super) skin: f32,
    /// Small bins are at least so large, m.
    pub(super) bin: f32,
}

/// Where more may have come near each other than is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    Nowhere,
    /// Among the particles of the hot bins.
    Somewhere,
    Everywhere,
}

impl Motion {
    /// Notes where particles are. Asks for room for so many, so that later nothing asks for any.
    pub(super) fn begin(&mut self, positions: &SoaVec3) {
        let n = positions.len();
        let Self { before: at, .. } = self;
        let planes = [&positions.x, &positions.y, &positions.z];
        for (kept, now) in [&mut at.x, &mut at.y, &mut at.z].into_iter().zip(planes) {
            kept.clone_from(now);
        }
        self.known = false;
        self.of.clear();
        self.of.reserve(n);
        self.groups.clear();
        self.groups.reserve(n / 2 + ROOM);
        self.ranges.clear();
        self.ranges.reserve(n.div_ceil(GROUP));
        self.grid.clear();
        self.grid.reserve(most(n) as usize);
        // A sheet of particles is in a bin for nine of them, or, askew, in up to twice as many bins.
        self.larger.clear();
        self.larger.reserve(n / 4 + ROOM);
        self.small.reserve(n / 4 + ROOM);
        self.large.reserve(n / 16 + ROOM);
    }

    /// Finds out where particles that were near each other have moved farther than is allowed.
    pub(super) fn look(&mut self, now: &SoaVec3, allowed: Allowed) -> Moved {
        self.ranges.resize(now.len().div_ceil(GROUP), NOTHING);
        dispatch(Ranges {
            now: [&now.x, &now.y, &now.z],
            before: [&self.before.x, &self.before.y, &self.before.z],
            ranges: &mut self.ranges,
        });
        let mut all = NOTHING;
        for range in &self.ranges {
            least(&mut all, range);
        }
        let spread = spread(&all, &all);
        if !is_over(spread, allowed.skin) {
            return Moved::Nowhere;
        }
        self.sort(allowed.bin);
        // Who comes from beyond the neighbouring bin moves at least so far.
        let far = self.size - allowed.near;
        if is_over(spread, LARGE as f32 * self.size - allowed.near) {
            return Moved::Everywhere;
        }
        let Self { small, large, .. } = self;
        small.boxes.fill(NOTHING);
        for &[group, bin] in &self.groups {
            least(&mut small.boxes[bin as usize], &self.ranges[group as usize]);
        }
        let mut hot = small.heat(allowed.skin);
        if is_over(spread, far) {
            large.boxes.fill(NOTHING);
            for (&bin, range) in self.larger.iter().zip(&small.boxes) {
                least(&mut large.boxes[bin as usize], range);
            }
            if large.heat(far) {
                hot = true;
                for (&bin, hot) in self.larger.iter().zip(&mut small.hot) {
                    *hot |= large.hot[bin as usize];
                }
            }
        }
        if hot {
            Moved::Somewhere
        } else {
            Moved::Nowhere
        }
    }

    /// The particles of bins in which something has moved too far.
    pub(super) fn hot(&self, particles: &mut Vec<u32>) {
        particles.clear();
        let hot = |&(_, &bin): &(u32, &u32)| self.small.hot[bin as usize];
        particles.extend((0..).zip(&self.of).filter(hot).map(|(i, _)| i));
    }

    /// Sorts particles into bins that are at least so large, m, if that is not done yet.
    fn sort(&mut self, size: f32) {
        if self.known {
            return;
        }
        self.known = true;
        let n = self.before.len();
        let (low, high) = self.before.bounds().unwrap_or_default();
        let extent = high - low;
        self.size = size;
        let mut counts = [1; 3];
        if extent.is_finite() && size > 0.0 {
            let count = |size: f32| (extent / size).floor() + Vec3::ONE;
            while count(self.size).element_product() > most(n) {
                self.size *= 1.25;
            }
            counts = count(self.size).to_array().map(|count| count as u32);
        }
        let (size, last) = (
            self.size,
            Vec3::from(counts.map(|count| count as f32)) - 1.0,
        );
        let Self {
            small,
            large,
            grid,
            of,
            larger,
            ..
        } = self;
        let cells = self.before.iter().map(|at| {
            let cell = ((at - low) / size).min(last).to_array();
            cell.map(|along| along as u32)
        });
        small.gather(cells, counts, grid, of);
        let cells = small
            .cells
            .iter()
            .map(|cell| cell.map(|along| along / LARGE));
        large.gather(
            cells,
            counts.map(|count| count.div_ceil(LARGE)),
            grid,
            larger,
        );
        self.groups.clear();
        for (group, bins) in (0..).zip(self.of.chunks(GROUP)) {
            let from = self.groups.len();
            for &bin in bins {
                if !self.groups[from..].contains(&[group, bin]) {
                    self.groups.push([group, bin]);
                }
            }
        }
    }
}

impl Level {
    /// Asks for room for so many bins.
    fn reserve(&mut self, bins: usize) {
        let Self {
            boxes,
            links,
            hot,
            cells,
        } = self;
        boxes.clear();
        boxes.reserve(bins);
        links.clear();
        links.reserve(6 * bins);
        hot.clear();
        hot.reserve(bins);
        cells.clear();
        cells.reserve(bins);
    }

    /// Makes a bin of each cell in which there is something, and tells in `of` who is in which.
    fn gather(
        &mut self,
        cells: impl Iterator<Item = [u32; 3]>,
        counts: [u32; 3],
        grid: &mut Vec<u32>,
        of: &mut Vec<u32>,
    ) {
        const EMPTY: u32 = u32::MAX;
        let [nx, ny, nz] = counts;
        let place = |[x, y, z]: [u32; 3]| ((z * ny + y) * nx + x) as usize;
        grid.clear();
        grid.resize(place([nx - 1, ny - 1, nz - 1]) + 1, EMPTY);
        self.cells.clear();
        of.clear();
        of.extend(cells.map(|cell| {
            let cell = [
                cell[0].min(nx - 1),
                cell[1].min(ny - 1),
                cell[2].min(nz - 1),
            ];
            let bin = &mut grid[place(cell)];
            if *bin == EMPTY {
                *bin = self.cells.len() as u32;
                self.cells.push(cell);
            }
            *bin
        }));
        self.links.clear();
        for (bin, &[x, y, z]) in (0..).zip(&self.cells) {
            // The neighbours from this one on; before it are those of which this is a neighbour.
            let own = place([x, y, z]);
            for z in z..=(z + 1).min(nz - 1) {
                for y in y.saturating_sub(1)..=(y + 1).min(ny - 1) {
                    for x in x.saturating_sub(1)..=(x + 1).min(nx - 1) {
                        let other = place([x, y, z]);
                        if other >= own && grid[other] != EMPTY {
                            self.links.push([bin, grid[other]]);
                        }
                    }
                }
            }
        }
        self.boxes.resize(self.cells.len(), NOTHING);
        self.hot.resize(self.cells.len(), false);
    }

    /// Finds the bins in which, or in neighbours of which, ways differ by more than this, m. Returns
    /// whether there are any.
    fn heat(&mut self, skin: f32) -> bool {
        self.hot.fill(false);
        let mut any = false;
        for &[a, b] in &self.links {
            let [a, b] = [a as usize, b as usize];
            if is_over(spread(&self.boxes[a], &self.boxes[b]), skin) {
                self.hot[a] = true;
                self.hot[b] = true;
                any = true;
            }
        }
        any
    }
}

/// No more cells than this for so many particles.
fn most(particles: usize) -> f32 {
    (2 * particles + 64) as f32
}

/// Whether the square of a way, m², is that of a longer one than this, m, or no number.
#[inline(always)]
fn is_over(square: f32, way: f32) -> bool {
    square > way * way || square.is_nan()
}

/// The square of the farthest that two ways in either of these boxes can be apart, m².
#[inline(always)]
fn spread(a: &Box8, b: &Box8) -> f32 {
    let mut both = *a;
    least(&mut both, b);
    let [x, y, z, _, right, up, front, _] = both;
    // Less than nothing where there is nothing.
    let way = Vec3::new(-right - x, -up - y, -front - z).max(Vec3::ZERO);
    way.length_squared()
}

/// The lesser of each lane. NaN do not count.
#[inline(always)]
fn least(into: &mut Box8, other: &Box8) {
    for (into, &other) in into.iter_mut().zip(other) {
        *into = if other < *into { other } else { *into };
    }
}

/// Finds between which corners the ways of the particles of each group are.
struct Ranges<'a> {
    now: [&'a [f32]; 3],
    before: [&'a [f32]; 3],
    ranges: &'a mut [Box8],
}

impl Kernel for Ranges<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            now,
            before,
            ranges,
        } = self;
        let [now, before] =
            [now, before].map(|planes| planes.map(|plane| plane.as_chunks::<GROUP>()));
        for (g, range) in ranges.iter_mut().enumerate() {
            for axis in 0..3 {
                let [low, high] = match (now[axis].0.get(g), before[axis].0.get(g)) {
                    (Some(now), Some(before)) => range_of(now, before),
                    _ => range_one_by_one(now[axis].1, before[axis].1),
                };
                range[axis] = low;
                range[axis + 4] = -high;
            }
        }
    }

    fn run_scalar(self) {
        for (g, range) in self.ranges.iter_mut().enumerate() {
            for axis in 0..3 {
                let end = (GROUP * (g + 1)).min(self.now[axis].len());
                let [now, before] = [self.now, self.before].map(|of| &of[axis][GROUP * g..end]);
                let [low, high] = range_one_by_one(now, before);
                range[axis] = low;
                range[axis + 4] = -high;
            }
        }
    }
}

/// The least and the greatest of ways, lane by lane, then half by half. A NaN may or may not count.
#[inline(always)]
fn range_of(now: &[f32; GROUP], before: &[f32; GROUP]) -> [f32; 2] {
    let mut ways = [0.0; GROUP];
    for ((way, now), before) in ways.iter_mut().zip(now).zip(before) {
        *way = now - before;
    }
    let (mut low, mut high) = (ways, ways);
    let mut half = GROUP / 2;
    while half > 0 {
        for l in 0..half {
            low[l] = if low[l + half] < low[l] {
                low[l + half]
            } else {
                low[l]
            };
            high[l] = if high[l + half] > high[l] {
                high[l + half]
            } else {
                high[l]
            };
        }
        half /= 2;
    }
    [low[0], high[0]]
}

fn range_one_by_one(now: &[f32], before: &[f32]) -> [f32; 2] {
    let from = [f32::INFINITY, f32::NEG_INFINITY];
    now.iter()
        .zip(before)
        .fold(from, |[low, high], (now, before)| {
            let way = now - before;
            [low.min(way), high.max(way)]
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::simd::levels::same_bits;

    const ALLOWED: Allowed = Allowed {
        near: 0.05,
        skin: 0.03,
        bin: 0.1,
    };

    /// Particles of each cloud.
    const CLOUD: usize = 512;

    /// Two cubes of 0.7 m, 10 m apart, that fly apart, each turning a little. Particles that come one
    /// after the other are near each other (Morton order), as those of a cloth are.
    fn clouds(moved: f32) -> SoaVec3 {
        let along = |i: usize, axis: usize| {
            (0..3)
                .map(|k| (i >> (3 * k + axis) & 1) << k)
                .sum::<usize>()
        };
        let cloud = |centre: Vec3| {
            (0..CLOUD).map(move |i| {
                let at = Vec3::from([0, 1, 2].map(|axis| 0.1 * along(i, axis) as f32));
                centre + at + Vec3::new(0.0, moved * 0.05 * at.x, 0.0)
            })
        };
        let right = Vec3::X * (10.0 + 0.2 * moved);
        cloud(Vec3::ZERO).chain(cloud(right)).collect()
    }

    #[test]
    fn only_where_neighbours_part_is_it_hot() {
        let mut motion = Motion::default();
        motion.begin(&clouds(0.0));
        assert_eq!(motion.look(&clouds(0.0), ALLOWED), Moved::Nowhere);
        // Neighbours move by less than 0.03 m with respect to each other, the ends of a cloud by
        // 0.035 m, and the clouds by 0.2 m.
        assert_eq!(motion.look(&clouds(1.0), ALLOWED), Moved::Nowhere);
        // Whoever moves alone is seen, and those around him.
        let mut now = clouds(1.0);
        now.add(55, Vec3::Z * 0.05);
        assert_eq!(motion.look(&now, ALLOWED), Moved::Somewhere);
        let mut hot = Vec::new();
        motion.hot(&mut hot);
        assert!(hot.contains(&55) && hot.len() < CLOUD, "{hot:?}");
        assert!(hot.iter().all(|&i| (i as usize) < CLOUD));
        // Who goes farther than from any bin to the next but one is in nobody's neighbourhood.
        now.add(55, Vec3::Z * 100.0);
        assert_eq!(motion.look(&now, ALLOWED), Moved::Everywhere);
        let moved = Moved::Nowhere;
        motion.begin(&now);
        assert_eq!(motion.look(&now, ALLOWED), moved);
    }

    #[test]
    fn all_levels_find_the_same() {
        let (before, now) = (clouds(0.0), clouds(1.7));
        let bits = same_bits(|| {
            let mut motion = Motion::default();
            motion.begin(&before);
            motion.look(&now, ALLOWED);
            motion
                .ranges
                .iter()
                .flatten()
                .map(|v| v.to_bits())
                .collect()
        });
        assert_eq!(bits.len(), 2 * CLOUD);
    }

    #[test]
    fn numbers_that_are_not_finite_do_no_harm() {
        for bad in [f32::NAN, f32::INFINITY, 1e38] {
            let before: SoaVec3 = [Vec3::ZERO, Vec3::splat(bad), Vec3::ONE]
                .into_iter()
                .collect();
            let now: SoaVec3 = [Vec3::ONE, Vec3::ZERO, Vec3::NEG_ONE].into_iter().collect();
            let mut motion = Motion::default();
            motion.begin(&before);
            for bin in [1e-30, 0.0, f32::NAN] {
                motion.known = false;
                motion.look(&now, Allowed { bin, ..ALLOWED });
                motion.sort(bin);
                assert!(motion.small.boxes.len() <= 3);
            }
        }
        let mut motion = Motion::default();
        let nobody = SoaVec3::default();
        motion.begin(&nobody);
        assert_eq!(motion.look(&nobody, ALLOWED), Moved::Nowhere);
    }
}
