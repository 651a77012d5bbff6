//! Relative motion since the last pair search: which particles may have come near others without being in the pair
//! list.
//!
//! Particles that moved together may have rotated together, by more the farther apart they were. The allowed
//! relative displacement therefore grows with distance: particles of neighbouring small bins may move relative to
//! each other by the skin, those of neighbouring large bins by their smallest possible initial distance, given
//! that their small bins were not neighbours.

use crate::solver::simd::{Kernel, dispatch, soa::SoaVec3};
use bevy::math::Vec3;

/// Bounding box of the displacements of some particles, m: the minima of x, y and z, and the negated maxima, so
/// that merging two boxes takes the minimum of every lane.
type DisplacementBox = [f32; 8];

const EMPTY_BOX: DisplacementBox = [f32::INFINITY; 8];

/// Number of particles treated together: adjacent in memory, and mostly adjacent in the cloth.
const GROUP: usize = 8;

/// Extra capacity for small cloths, which may occupy more bins than their particle count suggests.
const EXTRA_BINS: usize = 64;

/// Side of a large bin, in small bins.
const LARGE_BIN: u32 = 4;

/// Occupied bins of one size.
#[derive(Clone, Debug, Default)]
struct BinLevel {
    /// Bounding box of the displacements in each bin.
    bounds: Vec<DisplacementBox>,
    /// Pairs of adjacent bins; each bin is also paired with itself.
    links: Vec<[u32; 2]>,
    /// Whether particles of the bin have moved too far since the last search.
    stale: Vec<bool>,
    /// Grid cell of each bin.
    cells: Vec<[u32; 3]>,
}

/// Bins over the particle positions recorded by [`MotionBins::begin`].
#[derive(Clone, Debug, Default)]
pub(super) struct MotionBins {
    /// Positions at the last pair search, m.
    pub(super) start: SoaVec3,
    /// Side of a small bin, m.
    size: f32,
    /// Small bin of each particle.
    bin_of: Vec<u32>,
    /// Pairs of a particle group and a small bin that holds some of its particles.
    groups: Vec<[u32; 2]>,
    /// Large bin of each small one.
    large_bin: Vec<u32>,
    small: BinLevel,
    large: BinLevel,
    group_bounds: Vec<DisplacementBox>,
    /// Bin of each cell of a level, a scratch buffer while bins are built.
    grid: Vec<u32>,
    is_sorted: bool,
}

/// Thresholds on relative motion.
#[derive(Clone, Copy, Debug)]
pub(super) struct MotionThresholds {
    /// Distance below which pairs are searched for, m.
    pub(super) near: f32,
    /// Skin, m: the pair list holds all pairs that were closer than `near` plus this.
    pub(super) skin: f32,
    /// Minimum side of a small bin, m.
    pub(super) bin: f32,
}

/// Where the pair list may lack pairs that have come near each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Staleness {
    Nowhere,
    /// Among the particles of the stale bins.
    Somewhere,
    Everywhere,
}

impl MotionBins {
    /// Records the positions, and reserves memory for this number of particles, so that no later call allocates.
    pub(super) fn begin(&mut self, positions: &SoaVec3) {
        let n = positions.len();
        let Self { start: at, .. } = self;
        let planes = [&positions.x, &positions.y, &positions.z];
        for (kept, now) in [&mut at.x, &mut at.y, &mut at.z].into_iter().zip(planes) {
            kept.clone_from(now);
        }
        self.is_sorted = false;
        self.bin_of.clear();
        self.bin_of.reserve(n);
        self.groups.clear();
        self.groups.reserve(n / 2 + EXTRA_BINS);
        self.group_bounds.clear();
        self.group_bounds.reserve(n.div_ceil(GROUP));
        self.grid.clear();
        self.grid.reserve(max_cells(n) as usize);
        // A flat cloth occupies one bin per nine particles; if it lies askew, up to twice as many.
        self.large_bin.clear();
        self.large_bin.reserve(n / 4 + EXTRA_BINS);
        self.small.reserve(n / 4 + EXTRA_BINS);
        self.large.reserve(n / 16 + EXTRA_BINS);
    }

    /// Finds where particles that were near each other have moved relative to each other by more than allowed.
    pub(super) fn update(&mut self, now: &SoaVec3, thresholds: MotionThresholds) -> Staleness {
        self.group_bounds
            .resize(now.len().div_ceil(GROUP), EMPTY_BOX);
        dispatch(DisplacementBounds {
            now: [&now.x, &now.y, &now.z],
            before: [&self.start.x, &self.start.y, &self.start.z],
            group_bounds: &mut self.group_bounds,
        });
        let mut all = EMPTY_BOX;
        for bounds in &self.group_bounds {
            merge_bounds(&mut all, bounds);
        }
        let spread_squared = spread_squared(&all, &all);
        if !exceeds(spread_squared, thresholds.skin) {
            return Staleness::Nowhere;
        }
        self.sort(thresholds.bin);
        // A particle from beyond the neighbouring bin moves at least this far.
        let far = self.size - thresholds.near;
        if exceeds(
            spread_squared,
            LARGE_BIN as f32 * self.size - thresholds.near,
        ) {
            return Staleness::Everywhere;
        }
        let Self { small, large, .. } = self;
        small.bounds.fill(EMPTY_BOX);
        for &[group, bin] in &self.groups {
            merge_bounds(
                &mut small.bounds[bin as usize],
                &self.group_bounds[group as usize],
            );
        }
        let mut stale = small.mark_stale(thresholds.skin);
        if exceeds(spread_squared, far) {
            large.bounds.fill(EMPTY_BOX);
            for (&bin, range) in self.large_bin.iter().zip(&small.bounds) {
                merge_bounds(&mut large.bounds[bin as usize], range);
            }
            if large.mark_stale(far) {
                stale = true;
                for (&bin, stale) in self.large_bin.iter().zip(&mut small.stale) {
                    *stale |= large.stale[bin as usize];
                }
            }
        }
        if stale {
            Staleness::Somewhere
        } else {
            Staleness::Nowhere
        }
    }

    /// Collects the particles of the stale bins.
    pub(super) fn stale_particles(&self, particles: &mut Vec<u32>) {
        particles.clear();
        let stale = |&(_, &bin): &(u32, &u32)| self.small.stale[bin as usize];
        particles.extend((0..).zip(&self.bin_of).filter(stale).map(|(i, _)| i));
    }

    /// Sorts the particles into bins of at least this size, m, unless they are sorted already.
    fn sort(&mut self, size: f32) {
        if self.is_sorted {
            return;
        }
        self.is_sorted = true;
        let n = self.start.len();
        let (low, high) = self.start.bounds().unwrap_or_default();
        let extent = high - low;
        self.size = size;
        let mut counts = [1; 3];
        if extent.is_finite() && size > 0.0 {
            let count = |size: f32| (extent / size).floor() + Vec3::ONE;
            while count(self.size).element_product() > max_cells(n) {
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
            bin_of,
            large_bin,
            ..
        } = self;
        let cells = self.start.iter().map(|at| {
            let cell = ((at - low) / size).min(last).to_array();
            cell.map(|along| along as u32)
        });
        small.fill(cells, counts, grid, bin_of);
        let cells = small
            .cells
            .iter()
            .map(|cell| cell.map(|along| along / LARGE_BIN));
        large.fill(
            cells,
            counts.map(|count| count.div_ceil(LARGE_BIN)),
            grid,
            large_bin,
        );
        self.groups.clear();
        for (group, bins) in (0..).zip(self.bin_of.chunks(GROUP)) {
            let from = self.groups.len();
            for &bin in bins {
                if !self.groups[from..].contains(&[group, bin]) {
                    self.groups.push([group, bin]);
                }
            }
        }
    }
}

impl BinLevel {
    /// Reserves memory for this number of bins.
    fn reserve(&mut self, bins: usize) {
        let Self {
            bounds,
            links,
            stale,
            cells,
        } = self;
        bounds.clear();
        bounds.reserve(bins);
        links.clear();
        links.reserve(6 * bins);
        stale.clear();
        stale.reserve(bins);
        cells.clear();
        cells.reserve(bins);
    }

    /// Creates a bin for each occupied cell, and writes the bin of each item to `bin_of`.
    fn fill(
        &mut self,
        cells: impl Iterator<Item = [u32; 3]>,
        counts: [u32; 3],
        grid: &mut Vec<u32>,
        bin_of: &mut Vec<u32>,
    ) {
        const EMPTY: u32 = u32::MAX;
        let [nx, ny, nz] = counts;
        let cell_index = |[x, y, z]: [u32; 3]| ((z * ny + y) * nx + x) as usize;
        grid.clear();
        grid.resize(cell_index([nx - 1, ny - 1, nz - 1]) + 1, EMPTY);
        self.cells.clear();
        bin_of.clear();
        bin_of.extend(cells.map(|cell| {
            let cell = [
                cell[0].min(nx - 1),
                cell[1].min(ny - 1),
                cell[2].min(nz - 1),
            ];
            let bin = &mut grid[cell_index(cell)];
            if *bin == EMPTY {
                *bin = self.cells.len() as u32;
                self.cells.push(cell);
            }
            *bin
        }));
        self.links.clear();
        for (bin, &[x, y, z]) in (0..).zip(&self.cells) {
            // Only neighbours from this cell on: earlier ones have already linked to this bin.
            let own = cell_index([x, y, z]);
            for z in z..=(z + 1).min(nz - 1) {
                for y in y.saturating_sub(1)..=(y + 1).min(ny - 1) {
                    for x in x.saturating_sub(1)..=(x + 1).min(nx - 1) {
                        let other = cell_index([x, y, z]);
                        if other >= own && grid[other] != EMPTY {
                            self.links.push([bin, grid[other]]);
                        }
                    }
                }
            }
        }
        self.bounds.resize(self.cells.len(), EMPTY_BOX);
        self.stale.resize(self.cells.len(), false);
    }

    /// Marks bins as stale where the displacements in them and a neighbour differ by more than this, m. Returns
    /// whether there are any.
    fn mark_stale(&mut self, skin: f32) -> bool {
        self.stale.fill(false);
        let mut any = false;
        for &[a, b] in &self.links {
            let [a, b] = [a as usize, b as usize];
            if exceeds(spread_squared(&self.bounds[a], &self.bounds[b]), skin) {
                self.stale[a] = true;
                self.stale[b] = true;
                any = true;
            }
        }
        any
    }
}

/// Returns the largest number of cells for this number of particles.
fn max_cells(particles: usize) -> f32 {
    (2 * particles + 64) as f32
}

/// Returns whether a squared distance, m², exceeds the square of this distance, m, or is NaN.
#[inline(always)]
fn exceeds(squared: f32, distance: f32) -> bool {
    squared > distance * distance || squared.is_nan()
}

/// Returns the square of the largest possible difference between two displacements within either of these bounds,
/// m².
#[inline(always)]
fn spread_squared(a: &DisplacementBox, b: &DisplacementBox) -> f32 {
    let mut both = *a;
    merge_bounds(&mut both, b);
    let [x, y, z, _, right, up, front, _] = both;
    // Negative for empty bounds.
    let extent = Vec3::new(-right - x, -up - y, -front - z).max(Vec3::ZERO);
    extent.length_squared()
}

/// Takes the lesser value of each lane. NaN is ignored.
#[inline(always)]
fn merge_bounds(into: &mut DisplacementBox, other: &DisplacementBox) {
    for (into, &other) in into.iter_mut().zip(other) {
        *into = if other < *into { other } else { *into };
    }
}

/// Computes the displacement bounds of each group of particles.
struct DisplacementBounds<'a> {
    now: [&'a [f32]; 3],
    before: [&'a [f32]; 3],
    group_bounds: &'a mut [DisplacementBox],
}

impl Kernel for DisplacementBounds<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            now,
            before,
            group_bounds,
        } = self;
        let [now, before] =
            [now, before].map(|planes| planes.map(|plane| plane.as_chunks::<GROUP>()));
        for (g, range) in group_bounds.iter_mut().enumerate() {
            for axis in 0..3 {
                let [low, high] = match (now[axis].0.get(g), before[axis].0.get(g)) {
                    (Some(now), Some(before)) => displacement_range(now, before),
                    _ => displacement_range_scalar(now[axis].1, before[axis].1),
                };
                range[axis] = low;
                range[axis + 4] = -high;
            }
        }
    }

    #[cfg(test)]
    fn run_reference(self) {
        for (g, range) in self.group_bounds.iter_mut().enumerate() {
            for axis in 0..3 {
                let end = (GROUP * (g + 1)).min(self.now[axis].len());
                let [now, before] =
                    [self.now, self.before].map(|planes| &planes[axis][GROUP * g..end]);
                let [low, high] = displacement_range_scalar(now, before);
                range[axis] = low;
                range[axis + 4] = -high;
            }
        }
    }
}

/// Returns the minimum and maximum displacement, reduced lane by lane, then half by half. A NaN may or may not be
/// ignored.
#[inline(always)]
fn displacement_range(now: &[f32; GROUP], before: &[f32; GROUP]) -> [f32; 2] {
    let mut displacements = [0.0; GROUP];
    for ((displacement, now), before) in displacements.iter_mut().zip(now).zip(before) {
        *displacement = now - before;
    }
    let (mut low, mut high) = (displacements, displacements);
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

fn displacement_range_scalar(now: &[f32], before: &[f32]) -> [f32; 2] {
    let from = [f32::INFINITY, f32::NEG_INFINITY];
    now.iter()
        .zip(before)
        .fold(from, |[low, high], (now, before)| {
            let displacement = now - before;
            [low.min(displacement), high.max(displacement)]
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::simd::levels::same_bits;

    const THRESHOLDS: MotionThresholds = MotionThresholds {
        near: 0.05,
        skin: 0.03,
        bin: 0.1,
    };

    /// Number of particles in each cloud.
    const CLOUD: usize = 512;

    /// Two cubes of 0.7 m, 10 m apart, that fly apart, each rotating slightly. Consecutive particles are near each
    /// other (Morton order), as those of a cloth are.
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
    fn bins_are_stale_only_where_neighbours_move_apart() {
        let mut motion = MotionBins::default();
        motion.begin(&clouds(0.0));
        assert_eq!(motion.update(&clouds(0.0), THRESHOLDS), Staleness::Nowhere);
        // Neighbours move by less than 0.03 m relative to each other, the ends of a cloud by 0.035 m, and the
        // clouds by 0.2 m.
        assert_eq!(motion.update(&clouds(1.0), THRESHOLDS), Staleness::Nowhere);
        // A single moving particle is detected, and makes its neighbourhood stale.
        let mut now = clouds(1.0);
        now.add(55, Vec3::Z * 0.05);
        assert_eq!(motion.update(&now, THRESHOLDS), Staleness::Somewhere);
        let mut stale = Vec::new();
        motion.stale_particles(&mut stale);
        assert!(stale.contains(&55) && stale.len() < CLOUD, "{stale:?}");
        assert!(stale.iter().all(|&i| (i as usize) < CLOUD));
        // A particle that moves beyond the next-but-one bin may be near any other.
        now.add(55, Vec3::Z * 100.0);
        assert_eq!(motion.update(&now, THRESHOLDS), Staleness::Everywhere);
        let expected = Staleness::Nowhere;
        motion.begin(&now);
        assert_eq!(motion.update(&now, THRESHOLDS), expected);
    }

    #[test]
    fn all_levels_find_the_same() {
        let (before, now) = (clouds(0.0), clouds(1.7));
        let bits = same_bits(|| {
            let mut motion = MotionBins::default();
            motion.begin(&before);
            motion.update(&now, THRESHOLDS);
            motion
                .group_bounds
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
            let mut motion = MotionBins::default();
            motion.begin(&before);
            for bin in [1e-30, 0.0, f32::NAN] {
                motion.is_sorted = false;
                motion.update(&now, MotionThresholds { bin, ..THRESHOLDS });
                motion.sort(bin);
                assert!(motion.small.bounds.len() <= 3);
            }
        }
        let mut motion = MotionBins::default();
        let empty = SoaVec3::default();
        motion.begin(&empty);
        assert_eq!(motion.update(&empty, THRESHOLDS), Staleness::Nowhere);
    }
}
