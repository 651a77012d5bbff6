//! Constraints given by particle indices, by region: threads solve several regions at the same time.
//!
//! The particles outside grids are numbered in wavefronts, so constraints reach from each particle only to others with
//! numbers close to its own. A region is two consecutive blocks of particles, and regions overlap by a block:
//!
//! ```text
//! block      0       1       2       3       4       5
//! even   |-----region 0----|-----region 1----|-----region 2----|
//! odd            |-----region 3----|-----region 4----|---region 5---
//! ```
//!
//! A constraint belongs to the region that begins with the block of its first particle, or to the last region, of all
//! particles, if it reaches farther. Even regions share no particle, and neither do odd ones: all even regions are
//! solved at the same time, then all odd ones, then the last one. None of this depends on the number of threads.

use super::chains::ChainBatch;
use crate::solver::constraints::{
    bend::BendConstraint,
    bend_batch::BendBatch,
    coloring::Batch,
    constraint::ConstraintKind,
    list::{ConstraintList, Slots},
};

/// Particles of a region: few enough that they stay in the cache of a core (128 KiB, and as much for normals), and enough for
/// the chains of meshes of 256² particles, which span up to fifteen wavefronts.
pub(super) const REGION: usize = 1 << 13;

/// Particles of a block.
pub(super) const BLOCK: usize = REGION / 2;

/// Numbers of the regions of a cloth: even ones, odd ones, and the region of all particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::solver) struct RegionLayout {
    even: usize,
    odd: usize,
}

impl RegionLayout {
    /// Returns the layout of a cloth with this number of particles. All that fit into one region are one.
    pub(in crate::solver) fn of(particles: usize) -> Self {
        match particles.div_ceil(BLOCK) {
            0..=2 => Self::with_blocks(1),
            blocks => Self::with_blocks(blocks),
        }
    }

    /// Returns the layout of regions that begin with each of this many blocks.
    fn with_blocks(blocks: usize) -> Self {
        Self {
            even: blocks.div_ceil(2),
            odd: blocks / 2,
        }
    }

    /// Returns the number of regions.
    pub(in crate::solver) fn count(self) -> usize {
        self.even + self.odd + 1
    }

    /// Returns the region of a constraint with these particles.
    pub(in crate::solver) fn region_of(self, particles: impl IntoIterator<Item = u32>) -> usize {
        let range = particles.into_iter().fold(None, |range, i| match range {
            None => Some((i, i)),
            Some((first, last)) => Some((i.min(first), i.max(last))),
        });
        let (first, last) = range.unwrap_or_default();
        let block = match self.odd {
            0 => 0,
            _ => first as usize / BLOCK,
        };
        let number = match block % 2 {
            0 if block / 2 < self.even => block / 2,
            1 if block / 2 < self.odd => self.even + block / 2,
            _ => self.even + self.odd,
        };
        match self.contains(number, [first, last]) {
            true => number,
            false => self.even + self.odd,
        }
    }

    /// Returns whether a region contains these particles.
    pub(in crate::solver) fn contains(self, region: usize, particles: [u32; 2]) -> bool {
        let first = match region.checked_sub(self.even) {
            None => region * REGION,
            Some(odd) if odd < self.odd => odd * REGION + BLOCK,
            Some(_) => return true,
        };
        let own = first..first + REGION;
        particles.iter().all(|&i| own.contains(&(i as usize)))
    }
}

/// Constraints of a region, in solving order.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct RegionConstraints {
    /// Bends that belong to no chain batch.
    pub(in crate::solver) bends: BendBatch,
    /// Constraints that belong to no chain: diagonals, then edges.
    pub(in crate::solver) batches: Vec<Batch>,
    /// Solved after the diagonals.
    pub(in crate::solver) chain_batches: Vec<ChainBatch>,
}

impl RegionConstraints {
    /// Splits the batches into diagonals and edges.
    pub(super) fn batches_by_kind(&mut self) -> [&mut [Batch]; 2] {
        let is_diagonal = |batch: &Batch| batch.list.kind != ConstraintKind::Structural;
        let diagonals = self.batches.partition_point(is_diagonal);
        let (diagonals, edges) = self.batches.split_at_mut(diagonals);
        [diagonals, edges]
    }

    /// Iterates over the lists of constraints with the particles of their slots: those of chain batches, of batches, and
    /// the list of bends.
    pub(in crate::solver) fn lists(&self) -> impl Iterator<Item = (Slots<'_>, &ConstraintList)> {
        let in_chains = self.chain_batches.iter().flat_map(ChainBatch::lists);
        let batches = self.batches.iter();
        let in_batches = batches.map(|batch| (Slots::Pairs(&batch.pairs), &batch.list));
        let BendBatch { shapes, list } = &self.bends;
        in_chains
            .chain(in_batches)
            .chain([(Slots::Bends(shapes), list)])
    }

    /// Iterates over the lists in the order of [`lists`](Self::lists).
    pub(in crate::solver) fn lists_mut(
        &mut self,
    ) -> impl Iterator<Item = (Slots<'_>, &mut ConstraintList)> {
        let in_chains = self
            .chain_batches
            .iter_mut()
            .flat_map(ChainBatch::lists_mut);
        let batches = self.batches.iter_mut();
        let in_batches = batches.map(|batch| (Slots::Pairs(&batch.pairs), &mut batch.list));
        let BendBatch { shapes, list } = &mut self.bends;
        in_chains
            .chain(in_batches)
            .chain([(Slots::Bends(shapes), list)])
    }

    /// Iterates over the particles of all constraints.
    fn particles(&self) -> impl Iterator<Item = u32> + '_ {
        let in_chains = self.chain_batches.iter().flat_map(ChainBatch::particles);
        let in_batches = self
            .batches
            .iter()
            .flat_map(|batch| batch.pairs.as_flattened());
        let bends = self.bends.shapes.iter();
        let in_bends = bends.flat_map(|bend| bend.stencil.particles());
        in_chains.chain(in_batches.copied()).chain(in_bends)
    }

    /// Returns whether all data are consistent.
    fn is_sound(&self, particles: usize) -> bool {
        let mut batches = self.batches.iter();
        self.chain_batches.iter().all(ChainBatch::is_sound)
            && batches.all(|batch| batch.list.is_sound(batch.list.kind, batch.pairs.len()))
            && self.bends.is_sound(particles)
    }
}

/// Constraints given by particle indices.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct GeneralConstraints {
    /// Even regions, odd ones, and that of all particles.
    regions: Vec<RegionConstraints>,
}

impl Default for GeneralConstraints {
    fn default() -> Self {
        Self::new(RegionLayout::of(0))
    }
}

impl GeneralConstraints {
    /// Creates regions without constraints.
    pub(in crate::solver) fn new(layout: RegionLayout) -> Self {
        let mut regions = Vec::new();
        regions.resize_with(layout.count(), RegionConstraints::default);
        Self { regions }
    }

    /// Returns the layout of the regions.
    pub(in crate::solver) fn layout(&self) -> RegionLayout {
        RegionLayout::with_blocks(self.regions.len().saturating_sub(1))
    }

    /// Returns the regions in solving order.
    pub(in crate::solver) fn regions(&self) -> &[RegionConstraints] {
        &self.regions
    }

    /// Returns the regions in solving order.
    pub(in crate::solver) fn regions_mut(&mut self) -> &mut [RegionConstraints] {
        &mut self.regions
    }

    /// Returns the even regions, the odd ones, and the region of all particles.
    pub(super) fn groups_mut(&mut self) -> [&mut [RegionConstraints]; 3] {
        let layout = self.layout();
        let (even, others) = self.regions.split_at_mut(layout.even);
        let (odd, all) = others.split_at_mut(layout.odd);
        [even, odd, all]
    }

    /// Iterates over the chain batches of all regions.
    pub(in crate::solver) fn chain_batches(&self) -> impl Iterator<Item = &ChainBatch> {
        self.regions.iter().flat_map(|region| &region.chain_batches)
    }

    /// Iterates over the chain batches of all regions.
    pub(in crate::solver) fn chain_batches_mut(&mut self) -> impl Iterator<Item = &mut ChainBatch> {
        let regions = self.regions.iter_mut();
        regions.flat_map(|region| &mut region.chain_batches)
    }

    /// Iterates over the batches of distance constraints of all regions.
    pub(in crate::solver) fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.regions.iter().flat_map(|region| &region.batches)
    }

    /// Returns whether there are no distance constraints.
    pub(in crate::solver) fn has_no_distances(&self) -> bool {
        self.batches().next().is_none() && self.chain_batches().next().is_none()
    }

    /// Returns the mean number of links of the chain to which an edge belongs; 1 for edges of none.
    pub(in crate::solver) fn mean_chain(&self) -> f32 {
        let is_edge = |batch: &&Batch| batch.list.kind == ConstraintKind::Structural;
        let others = self.batches().filter(is_edge).map(|batch| batch.list.len());
        let lengths = self.chain_batches().flat_map(ChainBatch::chain_lengths);
        let (mut edges, mut squares) = (0, 0);
        for links in lengths.chain(others.flat_map(|count| std::iter::repeat_n(1, count))) {
            edges += links;
            squares += links * links;
        }
        squares as f32 / edges.max(1) as f32
    }

    /// Iterates over the lists of all regions.
    pub(in crate::solver) fn lists(&self) -> impl Iterator<Item = (Slots<'_>, &ConstraintList)> {
        self.regions.iter().flat_map(RegionConstraints::lists)
    }

    /// Iterates over the lists of all regions.
    pub(in crate::solver) fn lists_mut(
        &mut self,
    ) -> impl Iterator<Item = (Slots<'_>, &mut ConstraintList)> {
        let regions = self.regions.iter_mut();
        regions.flat_map(RegionConstraints::lists_mut)
    }

    /// Returns the batch with this number of a list, if it is one of a region that contains these particles.
    pub(in crate::solver) fn batch_with(
        &mut self,
        mut list: usize,
        particles: [u32; 2],
    ) -> Option<&mut Batch> {
        let layout = self.layout();
        for (number, region) in self.regions.iter_mut().enumerate() {
            // Two lists for each chain batch.
            let count = 2 * region.chain_batches.len() + region.batches.len() + 1;
            if list < count {
                // The list of bends comes last.
                let first = count - 1 - region.batches.len();
                let batch = region.batches.get_mut(list.checked_sub(first)?);
                return batch.filter(|_| layout.contains(number, particles));
            }
            list -= count;
        }
        None
    }

    /// Iterates over the bends that belong to no chain batch.
    pub(in crate::solver) fn bends(&self) -> impl Iterator<Item = BendConstraint> + '_ {
        self.regions.iter().flat_map(|region| region.bends.iter())
    }

    /// Replaces the bends that belong to no chain batch. They stay in order within a region.
    pub(in crate::solver) fn set_bends(&mut self, bends: Vec<BendConstraint>) {
        let layout = self.layout();
        let mut by_region = vec![Vec::new(); self.regions.len()];
        for bend in bends {
            by_region[layout.region_of(bend.shape.stencil.particles())].push(bend);
        }
        for (region, bends) in self.regions.iter_mut().zip(by_region) {
            region.bends = BendBatch::in_order(bends);
        }
    }

    /// Appends a bend.
    pub(in crate::solver) fn push_bend(&mut self, bend: BendConstraint) {
        let number = self.layout().region_of(bend.shape.stencil.particles());
        self.regions[number].bends.push(bend);
    }

    /// Removes empty slots and batches without constraints.
    pub(in crate::solver) fn compact(&mut self) {
        for region in &mut self.regions {
            region.chain_batches.retain(|batch| !batch.is_empty());
            for batch in &mut region.batches {
                batch.list.compact(&mut batch.pairs);
            }
            region.batches.retain(|batch| batch.list.len() > 0);
            let BendBatch { shapes, list } = &mut region.bends;
            list.compact(shapes);
        }
    }

    /// Lets future clones share rest lengths and particles until one of them changes these.
    pub(in crate::solver) fn share(&mut self) {
        for region in &mut self.regions {
            for batch in &mut region.batches {
                batch.pairs.share();
            }
            (region.chain_batches.iter_mut()).for_each(ChainBatch::share_particles);
            region.bends.shapes.share();
        }
    }

    /// Returns whether all data are consistent: data read from a file may be invalid.
    pub(in crate::solver) fn is_sound(&self, particles: usize) -> bool {
        let layout = self.layout();
        (2..=RegionLayout::of(particles).count()).contains(&self.regions.len())
            && (self.regions.iter().enumerate()).all(|(number, region)| {
                let is_own = |i| (i as usize) < particles && layout.contains(number, [i, i]);
                region.is_sound(particles) && region.particles().all(is_own)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_belong_to_the_region_of_their_first_particle() {
        let block = BLOCK as u32;
        let small = RegionLayout::of(REGION);
        assert_eq!(small.count(), 2);
        assert_eq!(small.region_of([block + 1, 3]), 0);
        // A particle that was added when the cloth was torn.
        assert_eq!(small.region_of([3, 2 * block]), 1);
        let large = RegionLayout::of(5 * BLOCK);
        assert_eq!((large.even, large.odd), (3, 2));
        for (particles, region) in [
            ([0, 1], 0),
            ([block, 2 * block - 1], 3),
            ([3 * block - 1, block], 3),
            ([3 * block, block], 5),
            ([2 * block, 4 * block - 1], 1),
            ([4 * block, 5 * block], 2),
            ([5 * block, 5 * block + 1], 5),
        ] {
            assert_eq!(large.region_of(particles), region, "{particles:?}");
        }
    }
}
