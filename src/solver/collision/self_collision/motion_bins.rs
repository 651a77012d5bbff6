//! Relative motion since the last pair search: which particles may have come near others without being in the pair
//! list.
//!
//! When cloth rotates, particles move relative to each other by more the farther apart they are. The allowed relative
//! displacement therefore grows with distance. In the same or neighbouring small bins it is the skin. In the same or
//! neighbouring large bins it is the side of a small bin minus the near distance: particles that were farther apart than
//! one small bin cannot come near with less. Beyond that it is the side of a large bin minus the near distance, compared
//! with the relative motion in the whole cloth.

mod displacement_bounds;

use self::displacement_bounds::{
    DisplacementBounds, DisplacementBox, EMPTY_BOX, GROUP, exceeds, merge_bounds, spread_squared,
};
use super::clear_and_reserve;
use crate::solver::simd::{dispatch, soa::SoaVec3};
use bevy::math::Vec3;

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
        let kept = self.start.planes_mut().into_iter();
        for (kept, now) in kept.zip(positions.planes()) {
            kept.clear();
            kept.extend_from_slice(now);
        }
        self.is_sorted = false;
        clear_and_reserve(&mut self.bin_of, n);
        clear_and_reserve(&mut self.groups, n / 2 + EXTRA_BINS);
        clear_and_reserve(&mut self.group_bounds, n.div_ceil(GROUP));
        clear_and_reserve(&mut self.grid, max_cells(n) as usize);
        // A flat cloth occupies one bin per nine particles; if it lies askew, up to twice as many.
        clear_and_reserve(&mut self.large_bin, n / 4 + EXTRA_BINS);
        self.small.reserve(n / 4 + EXTRA_BINS);
        self.large.reserve(n / 16 + EXTRA_BINS);
    }

    /// Finds where particles that were near each other have moved relative to each other by more than allowed.
    pub(super) fn update(&mut self, now: &SoaVec3, thresholds: MotionThresholds) -> Staleness {
        self.group_bounds
            .resize(now.len().div_ceil(GROUP), EMPTY_BOX);
        dispatch(DisplacementBounds {
            now: now.planes(),
            before: self.start.planes(),
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
        // Least relative motion by which particles of small bins that are not neighbours can come near each other.
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
        clear_and_reserve(bounds, bins);
        clear_and_reserve(links, 6 * bins);
        clear_and_reserve(stale, bins);
        clear_and_reserve(cells, bins);
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

#[cfg(test)]
mod tests;
