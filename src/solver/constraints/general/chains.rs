//! Chains of meshes that are no grid, solved side by side in batches.

use super::particle_access::{ParticleAccess, transpose};
use crate::solver::{
    constraints::{
        bend::{BendConstraint, BendStencil},
        chain::{ChainLinks, SCRATCH_PER_PARTICLE, Tile},
        graph::{ConstraintKind, DistanceConstraint, distance},
        grid::GridSolveParams,
    },
    simd::{aligned::AlignedVec, soa::SoaVec3},
};
use bevy::math::Vec4;

/// Lanes of a chain batch: number of chains solved side by side.
pub(super) const WIDTH: usize = 16;

/// Rest length that marks an absent constraint.
pub(super) const ABSENT: f32 = -1.0;

/// Chains that share no particle, in lanes, and the constraints along them.
///
/// A lane may hold several chains, one behind the other, and is padded with its last particle; an empty lane is
/// padded with the first particle of the first lane. A batch is written back from its end, so each particle is
/// written after its padding.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct ChainBatch {
    /// Particles of all lanes, row by row.
    particles: Vec<[u32; WIDTH]>,
    /// Bend and structural constraints, in solving order.
    pub(in crate::solver) by_kind: [ChainConstraints; 2],
}

/// Constraints of one kind in a chain batch: that of a row and a lane begins at the particle there and ends
/// [`stride`](Self::stride) rows farther on in the same lane.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct ChainConstraints {
    pub(in crate::solver) kind: ConstraintKind,
    /// Rest lengths, m, or ρ of bends, m², row by row; negative where there is no constraint.
    pub(in crate::solver) rest: AlignedVec,
    /// Lagrange multipliers of the running substep, or empty, as in [`Batch`](crate::solver::constraints::coloring::Batch).
    pub(in crate::solver) lambda: AlignedVec,
    /// Mean tension during the running step, N, or empty.
    pub(in crate::solver) load: AlignedVec,
}

impl ChainConstraints {
    fn empty(kind: ConstraintKind, rows: usize) -> Self {
        Self {
            kind,
            rest: AlignedVec::filled(rows.saturating_sub(Self::stride_of(kind)) * WIDTH, ABSENT),
            lambda: AlignedVec::new(),
            load: AlignedVec::new(),
        }
    }

    fn stride_of(kind: ConstraintKind) -> usize {
        match kind {
            ConstraintKind::Bend => 2,
            ConstraintKind::Structural | ConstraintKind::Shear => 1,
        }
    }

    fn stride(&self) -> usize {
        Self::stride_of(self.kind)
    }

    /// Returns the number of constraints.
    pub(in crate::solver) fn len(&self) -> usize {
        self.rest.iter().filter(|&&rest| rest >= 0.0).count()
    }

    /// Removes the constraint at an index.
    pub(in crate::solver) fn remove(&mut self, index: usize) {
        self.rest[index] = ABSENT;
    }

    fn links(&mut self) -> ChainLinks<'_, WIDTH> {
        ChainLinks {
            rest: self.rest.as_chunks().0,
            lambda: self.lambda.as_chunks_mut().0,
        }
    }
}

impl ChainBatch {
    /// Creates a batch with these particles in each lane, without constraints.
    pub(super) fn new(lanes: &[Vec<u32>; WIDTH]) -> Self {
        let rows = lanes.iter().map(Vec::len).max().unwrap_or(0);
        let first = lanes.iter().flatten().next().copied().unwrap_or(0);
        let in_lane = |row: usize, lane: &Vec<u32>| {
            let last = lane.last().copied().unwrap_or(first);
            lane.get(row).copied().unwrap_or(last)
        };
        let kinds = [ConstraintKind::Bend, ConstraintKind::Structural];
        Self {
            particles: (0..rows)
                .map(|row| std::array::from_fn(|lane| in_lane(row, &lanes[lane])))
                .collect(),
            by_kind: kinds.map(|kind| ChainConstraints::empty(kind, rows)),
        }
    }

    /// Returns the particle at a row and a lane.
    fn at(&self, row: usize, lane: usize) -> Option<u32> {
        self.particles.get(row).map(|row| row[lane])
    }

    /// Sets the rest length of the constraint at a row and a lane.
    pub(super) fn set(&mut self, kind: ConstraintKind, row: usize, lane: usize, rest: f32) {
        let lists = self.by_kind.iter_mut();
        for list in lists.filter(|list| list.kind == kind) {
            list.rest[row * WIDTH + lane] = rest;
        }
    }

    /// Returns the two end particles of a constraint.
    fn pair(&self, list: &ChainConstraints, index: usize) -> [u32; 2] {
        let [row, lane] = [index / WIDTH, index % WIDTH];
        [row, row + list.stride()].map(|row| self.particles[row][lane])
    }

    /// Returns a stored constraint.
    pub(in crate::solver) fn constraint(
        &self,
        list: &ChainConstraints,
        index: usize,
    ) -> DistanceConstraint {
        DistanceConstraint {
            kind: list.kind,
            particles: self.pair(list, index),
            rest_length: list.rest[index],
            middle: self.stencil(list, index).map(|bend| bend.middle),
        }
    }

    /// Returns the stencil of a bend, or `None` if the list holds structural constraints.
    fn stencil(&self, list: &ChainConstraints, index: usize) -> Option<BendStencil> {
        let [row, lane] = [index / WIDTH, index % WIDTH];
        let rows = [row, row + 1, row + 2];
        (list.kind == ConstraintKind::Bend)
            .then(|| BendStencil::three_point(rows.map(|row| self.particles[row][lane])))
    }

    /// Returns a stored bend.
    pub(in crate::solver) fn bend_constraint(
        &self,
        list: &ChainConstraints,
        index: usize,
    ) -> Option<BendConstraint> {
        let bend = self.stencil(list, index)?;
        let [a, b] = bend.ends;
        Some(BendConstraint::uniform(
            [a, bend.middle[0], b],
            list.rest[index],
        ))
    }

    /// Calls `measure` with the stencil and ρ of each bend.
    pub(in crate::solver) fn measure_bends(
        &mut self,
        measure: &mut impl FnMut(BendStencil, &mut f32),
    ) {
        for number in 0..self.by_kind.len() {
            for index in 0..self.by_kind[number].rest.len() {
                let list = &self.by_kind[number];
                if list.rest[index] >= 0.0
                    && let Some(bend) = self.stencil(list, index)
                {
                    measure(bend, &mut self.by_kind[number].rest[index]);
                }
            }
        }
    }

    /// Iterates over the constraints of a list and their indices in it.
    pub(in crate::solver) fn iter_list<'a>(
        &'a self,
        list: &'a ChainConstraints,
    ) -> impl Iterator<Item = (usize, DistanceConstraint)> + 'a {
        let present = (0..list.rest.len()).filter(|&index| list.rest[index] >= 0.0);
        present.map(|index| (index, self.constraint(list, index)))
    }

    /// Iterates over all constraints.
    pub(in crate::solver) fn iter(&self) -> impl Iterator<Item = DistanceConstraint> + '_ {
        let lists = self.by_kind.iter();
        lists.flat_map(|list| self.iter_list(list).map(|(_, constraint)| constraint))
    }

    /// Returns the number of constraints.
    pub(in crate::solver) fn len(&self) -> usize {
        self.by_kind.iter().map(ChainConstraints::len).sum()
    }

    /// Returns the number of slots for constraints, absent ones included.
    pub(super) fn capacity(&self) -> usize {
        self.by_kind.iter().map(|list| list.rest.len()).sum()
    }

    /// Removes the constraints for which `keep` returns false.
    pub(in crate::solver) fn retain(&mut self, mut keep: impl FnMut(&DistanceConstraint) -> bool) {
        for number in 0..self.by_kind.len() {
            for index in 0..self.by_kind[number].rest.len() {
                let list = &self.by_kind[number];
                if list.rest[index] >= 0.0 && !keep(&self.constraint(list, index)) {
                    self.by_kind[number].remove(index);
                }
            }
        }
    }

    /// Sets the rest lengths of structural constraints to the distances between particles at these positions.
    pub(in crate::solver) fn set_rest_lengths(&mut self, positions: &SoaVec3) {
        for number in 0..self.by_kind.len() {
            if self.by_kind[number].kind == ConstraintKind::Bend {
                continue;
            }
            for index in 0..self.by_kind[number].rest.len() {
                let [a, b] = self.pair(&self.by_kind[number], index);
                let rest = &mut self.by_kind[number].rest[index];
                if *rest >= 0.0 {
                    *rest = distance(positions, a, b);
                }
            }
        }
    }

    /// Returns whether all arrays have the right length and all particles have indices below `particles`.
    pub(in crate::solver) fn is_sound(&self, particles: usize) -> bool {
        let rows = self.particles.len();
        let ends = self.particles.as_flattened();
        let lists = self
            .by_kind
            .iter()
            .zip([ConstraintKind::Bend, ConstraintKind::Structural]);
        ends.iter().all(|&i| (i as usize) < particles)
            && lists.into_iter().all(|(list, kind)| {
                let len = rows.saturating_sub(list.stride()) * WIDTH;
                let optional = |numbers: &[f32]| numbers.is_empty() || numbers.len() == len;
                list.kind == kind
                    && list.rest.len() == len
                    && optional(&list.lambda)
                    && optional(&list.load)
            })
    }

    /// Solves all constraints once.
    #[inline(always)]
    pub(super) fn solve(
        &mut self,
        access: &mut impl ParticleAccess,
        params: &GridSolveParams,
        scratch: &mut ChainScratch,
    ) {
        let rows = self.particles.len();
        for (scratch, numbers) in [
            (&mut scratch.tiles, 4),
            (&mut scratch.eliminated, SCRATCH_PER_PARTICLE),
        ] {
            if scratch.len() < rows * numbers * WIDTH {
                scratch.resize(rows * numbers * WIDTH, 0.0);
            }
        }
        let (tiles, _) = scratch.tiles.as_chunks_mut::<WIDTH>();
        let (tiles, _): (&mut [Tile<WIDTH>], _) = tiles.as_chunks_mut();
        let tiles = &mut tiles[..rows];
        let (eliminated, _) = scratch.eliminated.as_chunks_mut();
        for (tile, row) in tiles.iter_mut().zip(&self.particles) {
            for (q, four) in row.as_chunks::<4>().0.iter().enumerate() {
                let transposed = transpose(four.map(|i| access.load(i)));
                for (axis, transposed) in tile.iter_mut().zip(transposed) {
                    axis[4 * q..4 * q + 4].copy_from_slice(&transposed.to_array());
                }
            }
        }
        let [bends, structural] = &mut self.by_kind;
        if let Some(bend) = params.bend {
            bends.links().solve_bending(tiles, bend, true, eliminated);
        }
        if !params.damping_only {
            structural
                .links()
                .solve_stretch(tiles, params, params.warp, eliminated);
        }
        for (tile, row) in tiles.iter().zip(&self.particles).rev() {
            let (fours, _) = row.as_chunks::<4>();
            for q in (0..fours.len()).rev() {
                let lanes = [0, 1, 2, 3].map(|axis: usize| tile[axis].as_chunks::<4>().0[q]);
                let [a, b, c, d] = transpose(lanes.map(Vec4::from_array));
                // The last lane is written first, because padding repeats particles of the first lane.
                access.store(fours[q][3], d);
                access.store(fours[q][2], c);
                access.store(fours[q][1], b);
                access.store(fours[q][0], a);
            }
        }
    }

    /// Scalar reference of [`solve`](Self::solve): one lane after the other.
    #[cfg(test)]
    pub(super) fn solve_reference(
        &mut self,
        access: &mut impl ParticleAccess,
        params: &GridSolveParams,
    ) {
        let rows = self.particles.len();
        for lane in 0..WIDTH {
            let own: Vec<u32> = self.particles.iter().map(|row| row[lane]).collect();
            let lane_of = |values: &[f32]| -> Vec<[f32; 1]> {
                values
                    .iter()
                    .skip(lane)
                    .step_by(WIDTH)
                    .map(|&v| [v])
                    .collect()
            };
            let mut tiles: Vec<Tile<1>> = own
                .iter()
                .map(|&i| access.load(i).to_array().map(|value| [value]))
                .collect();
            for list in &mut self.by_kind {
                let rest = lane_of(&list.rest);
                let mut lambda = lane_of(&list.lambda);
                let links = ChainLinks {
                    rest: &rest,
                    lambda: &mut lambda,
                };
                let mut eliminated = vec![[0.0; 1]; rows * SCRATCH_PER_PARTICLE];
                match (list.kind, params.bend) {
                    (ConstraintKind::Bend, Some(bend)) => {
                        links.solve_bending(&mut tiles, bend, true, &mut eliminated)
                    }
                    (ConstraintKind::Bend, None) => {}
                    _ if params.damping_only => {}
                    _ => links.solve_stretch(&mut tiles, params, params.warp, &mut eliminated),
                }
                for (sum, [own]) in list.lambda.iter_mut().skip(lane).step_by(WIDTH).zip(lambda) {
                    *sum = own;
                }
            }
            let is_padding = |row: usize| match row {
                0 => lane > 0 && own[0] == self.particles[0][0],
                _ => own[row] == own[row - 1],
            };
            for (row, tile) in tiles
                .iter()
                .enumerate()
                .filter(|(row, _)| !is_padding(*row))
            {
                access.store(own[row], tile.map(|[value]| value).into());
            }
        }
    }
}

/// Index from particles to their rows and lanes in chain batches, to find the slots of bends.
pub(in crate::solver) struct ChainIndex {
    /// Particle, batch, row and lane, sorted.
    entries: Vec<(u32, u32, u32, u32)>,
}

impl ChainIndex {
    pub(in crate::solver) fn new(batches: &[ChainBatch]) -> Self {
        let mut entries = Vec::new();
        for (number, batch) in (0..).zip(batches) {
            for (row, particles) in (0..).zip(&batch.particles) {
                entries.extend(
                    (0..)
                        .zip(particles)
                        .map(|(lane, &i)| (i, number, row, lane)),
                );
            }
        }
        entries.sort_unstable();
        Self { entries }
    }

    /// Inserts a bend of an evenly spaced, straight chain into the batch that holds this chain, if there is
    /// one with a free slot. Returns whether it did.
    pub(in crate::solver) fn insert_bend(
        &mut self,
        batches: &mut [ChainBatch],
        bend: &BendConstraint,
    ) -> bool {
        let middle = bend.stencil.middle[0];
        let from = self.entries.partition_point(|entry| entry.0 < middle);
        let own = self.entries[from..].iter();
        for &(_, number, row, lane) in own.take_while(|entry| entry.0 == middle) {
            let batch = &mut batches[number as usize];
            let (row, lane) = (row as usize, lane as usize);
            let Some(before) = row.checked_sub(1) else {
                continue;
            };
            let (Some(a), Some(b)) = (batch.at(before, lane), batch.at(row + 1, lane)) else {
                continue;
            };
            let [bends, _] = &batch.by_kind;
            let fits = [[a, b], [b, a]].contains(&bend.stencil.ends);
            if fits && bends.rest[before * WIDTH + lane] < 0.0 {
                batch.set(ConstraintKind::Bend, before, lane, bend.rho);
                return true;
            }
        }
        false
    }
}

/// Scratch buffers of [`ChainBatch::solve`].
pub(super) struct ChainScratch {
    tiles: AlignedVec,
    eliminated: AlignedVec,
}

impl ChainScratch {
    pub(super) const fn new() -> Self {
        Self {
            tiles: AlignedVec::new(),
            eliminated: AlignedVec::new(),
        }
    }
}
