//! Chains of edges outside grids, solved side by side in batches.

use super::particle_access::ParticleAccess;
use crate::solver::{
    constraints::{
        bend::{BendConstraint, BendStencil},
        chain::{ChainLinks, NormalTile, SCRATCH_PER_PARTICLE, Tile},
        constraint::ConstraintKind,
        list::{ConstraintList, Slots},
        points::{PassParams, Supported, transpose},
    },
    shared::Shared,
    simd::aligned::AlignedVec,
};
use bevy::math::Vec4;

/// Lanes of a chain batch: number of chains solved side by side.
pub(super) const WIDTH: usize = 16;

/// Chains that share no particle, in lanes, and the constraints along them.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct ChainBatch {
    rows: ChainRows,
    /// Bend and structural constraints, in solving order.
    pub(in crate::solver) lists: [ConstraintList; 2],
}

/// Particles of all lanes of a batch, row by row.
///
/// A lane may hold several chains, one behind the other, and is padded with its last particle; an empty lane is
/// padded with the first particle of the first lane. A batch is written back from its end, so each particle is
/// written after its padding.
///
/// The constraint of a row and a lane begins at the particle there and ends one row farther on in the same lane,
/// bends two rows.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct ChainRows(Shared<Vec<[u32; WIDTH]>>);

impl ChainRows {
    fn stride(kind: ConstraintKind) -> usize {
        match kind {
            ConstraintKind::Bend => 2,
            ConstraintKind::Structural | ConstraintKind::Shear => 1,
        }
    }

    /// Returns the number of slots for constraints of one kind.
    fn slots(&self, kind: ConstraintKind) -> usize {
        self.0.len().saturating_sub(Self::stride(kind)) * WIDTH
    }

    /// Returns the two end particles of a constraint.
    pub(in crate::solver) fn ends(&self, kind: ConstraintKind, slot: usize) -> [u32; 2] {
        let [row, lane] = [slot / WIDTH, slot % WIDTH];
        [row, row + Self::stride(kind)].map(|row| self.0[row][lane])
    }

    /// Copies the normals of the contacts of all particles. Returns whether there are any.
    #[inline(always)]
    fn copy_normals(&self, access: &impl ParticleAccess, to: &mut [NormalTile<WIDTH>]) -> bool {
        let mut any = false;
        for (tile, row) in to.iter_mut().zip(&self.0) {
            for (q, four) in row.as_chunks::<4>().0.iter().enumerate() {
                let [x, y, z, _] = transpose(access.contact_normals_of_four(*four));
                for (axis, normals) in tile.iter_mut().zip([x, y, z]) {
                    axis[4 * q..4 * q + 4].copy_from_slice(&normals.to_array());
                    any |= normals != Vec4::ZERO;
                }
            }
        }
        any
    }

    /// Returns the stencil of a bend.
    pub(in crate::solver) fn bend_stencil(&self, slot: usize) -> BendStencil {
        let [row, lane] = [slot / WIDTH, slot % WIDTH];
        BendStencil::three_point([row, row + 1, row + 2].map(|row| self.0[row][lane]))
    }
}

const KINDS: [ConstraintKind; 2] = [ConstraintKind::Bend, ConstraintKind::Structural];

fn links(list: &mut ConstraintList) -> ChainLinks<'_, WIDTH> {
    ChainLinks {
        rest: list.rest.as_chunks().0,
        lambda: list.lambda.as_chunks_mut().0,
    }
}

impl ChainBatch {
    /// Lets future clones share the particles.
    pub(in crate::solver) fn share_particles(&mut self) {
        self.rows.0.share();
    }

    /// Creates a batch with these particles in each lane, without constraints.
    pub(super) fn new(lanes: &[Vec<u32>; WIDTH]) -> Self {
        let rows = lanes.iter().map(Vec::len).max().unwrap_or(0);
        let first = lanes.iter().flatten().next().copied().unwrap_or(0);
        let in_lane = |row: usize, lane: &Vec<u32>| {
            let last = lane.last().copied().unwrap_or(first);
            lane.get(row).copied().unwrap_or(last)
        };
        let row = |row| std::array::from_fn(|lane| in_lane(row, &lanes[lane]));
        let rows = ChainRows((0..rows).map(row).collect());
        Self {
            lists: KINDS.map(|kind| ConstraintList::vacant(kind, rows.slots(kind))),
            rows,
        }
    }

    /// Iterates over the lists of constraints with the particles of their slots.
    pub(in crate::solver) fn lists(&self) -> impl Iterator<Item = (Slots<'_>, &ConstraintList)> {
        let lists = self.lists.iter();
        lists.map(|list| (Slots::Chains(&self.rows, list.kind), list))
    }

    /// Iterates over the lists of constraints with the particles of their slots.
    pub(in crate::solver) fn lists_mut(
        &mut self,
    ) -> impl Iterator<Item = (Slots<'_>, &mut ConstraintList)> {
        let Self { rows, lists } = self;
        let lists = lists.iter_mut();
        lists.map(|list| (Slots::Chains(rows, list.kind), list))
    }

    /// Returns the particle at a row and a lane.
    fn at(&self, row: usize, lane: usize) -> Option<u32> {
        self.rows.0.get(row).map(|row| row[lane])
    }

    /// Sets the rest length of the link at a row and a lane.
    pub(super) fn set_link(&mut self, row: usize, lane: usize, rest: f32) {
        let [_, links] = &mut self.lists;
        links.set(row * WIDTH + lane, rest);
    }

    /// Returns whether the batch has no constraints.
    pub(in crate::solver) fn is_empty(&self) -> bool {
        self.lists.iter().all(|list| list.len() == 0)
    }

    /// Iterates over the numbers of links of all chains.
    pub(super) fn chain_lengths(&self) -> impl Iterator<Item = usize> + '_ {
        let [_, links] = &self.lists;
        (0..WIDTH).flat_map(move |lane| {
            let lane: Vec<bool> = (lane..links.rest.len())
                .step_by(WIDTH)
                .map(|slot| links.is_occupied(slot))
                .collect();
            let chains = lane.chunk_by(|a, b| a == b).filter(|chain| chain[0]);
            chains.map(<[bool]>::len).collect::<Vec<_>>()
        })
    }

    /// Returns the number of slots for constraints, empty ones included.
    pub(super) fn capacity(&self) -> usize {
        self.lists.iter().map(|list| list.rest.len()).sum()
    }

    /// Iterates over the particles, with padding.
    pub(super) fn particles(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows.0.as_flattened().iter().copied()
    }

    /// Returns whether all arrays have the right length.
    pub(super) fn is_sound(&self) -> bool {
        (self.lists.iter().zip(KINDS))
            .all(|(list, kind)| list.is_sound(kind, self.rows.slots(kind)))
    }

    /// Solves all constraints once.
    #[inline(always)]
    pub(super) fn solve(
        &mut self,
        access: &mut impl ParticleAccess,
        params: &PassParams,
        scratch: &mut ChainScratch,
    ) {
        let rows = self.rows.0.len();
        for (scratch, numbers) in [
            (&mut scratch.tiles, 4),
            (
                &mut scratch.normals,
                if access.in_contact() { 3 } else { 0 },
            ),
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
        let mut contacts: &mut [NormalTile<WIDTH>] = &mut [];
        if access.in_contact() {
            let (tiles, _) = scratch.normals.as_chunks_mut::<WIDTH>();
            let (tiles, _): (&mut [NormalTile<WIDTH>], _) = tiles.as_chunks_mut();
            if self.rows.copy_normals(access, tiles) {
                contacts = &mut tiles[..rows];
            }
        }
        for (tile, row) in tiles.iter_mut().zip(&self.rows.0) {
            for (q, four) in row.as_chunks::<4>().0.iter().enumerate() {
                let transposed = transpose(access.load_four(*four));
                for (axis, transposed) in tile.iter_mut().zip(transposed) {
                    axis[4 * q..4 * q + 4].copy_from_slice(&transposed.to_array());
                }
            }
        }
        let [bends, edges] = &mut self.lists;
        if let Some(bend) = params.bend {
            links(bends).solve_bending(tiles, bend, true, eliminated);
        }
        if let Some(chains) = &params.chains {
            links(edges).solve_stretch(tiles, contacts, chains, chains.warp, eliminated);
        }
        let limit = params.chains.and_then(|chains| chains.stretch_limit);
        if limit.is_some_and(|limit| limit.supported == Supported::Hold) {
            // The limit has set the inverse mass of supported particles to 0.
            for ([_, _, _, w], row) in tiles.iter_mut().zip(&self.rows.0) {
                for (w, &i) in w.iter_mut().zip(row) {
                    *w = access.load(i).w;
                }
            }
        }
        for (tile, row) in tiles.iter().zip(&self.rows.0).rev() {
            let (fours, _) = row.as_chunks::<4>();
            for q in (0..fours.len()).rev() {
                let [x, y, z, w] = tile;
                let four = |axis: &[f32; WIDTH]| Vec4::from_array(axis.as_chunks::<4>().0[q]);
                let [a, b, c, d] = transpose([four(x), four(y), four(z), four(w)]);
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
        params: &PassParams,
    ) {
        let rows = self.rows.0.len();
        for lane in 0..WIDTH {
            let own: Vec<u32> = self.rows.0.iter().map(|row| row[lane]).collect();
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
            for list in &mut self.lists {
                let rest = lane_of(&list.rest);
                let mut lambda = lane_of(&list.lambda);
                let links = ChainLinks {
                    rest: &rest,
                    lambda: &mut lambda,
                };
                let mut eliminated = vec![[0.0; 1]; rows * SCRATCH_PER_PARTICLE];
                if list.kind == ConstraintKind::Bend {
                    if let Some(bend) = params.bend {
                        links.solve_bending(&mut tiles, bend, true, &mut eliminated);
                    }
                } else if let Some(chains) = &params.chains {
                    let normal = |&i: &u32| access.contact_normal(i).truncate().to_array();
                    let mut contacts: Vec<NormalTile<1>> = match access.in_contact() {
                        true => own.iter().map(|i| normal(i).map(|axis| [axis])).collect(),
                        false => Vec::new(),
                    };
                    let scratch = &mut eliminated;
                    links.solve_stretch(&mut tiles, &mut contacts, chains, chains.warp, scratch);
                }
                for (sum, [own]) in list.lambda.iter_mut().skip(lane).step_by(WIDTH).zip(lambda) {
                    *sum = own;
                }
            }
            let is_padding = |row: usize| match row {
                0 => lane > 0 && own[0] == self.rows.0[0][0],
                _ => own[row] == own[row - 1],
            };
            for (row, tile) in tiles
                .iter()
                .enumerate()
                .filter(|(row, _)| !is_padding(*row))
            {
                let w = access.load(own[row]).w;
                let [[x], [y], [z], _] = *tile;
                access.store(own[row], Vec4::new(x, y, z, w));
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
    pub(in crate::solver) fn new<'a>(batches: impl Iterator<Item = &'a ChainBatch>) -> Self {
        let mut entries = Vec::new();
        for (number, batch) in (0..).zip(batches) {
            for (row, particles) in (0..).zip(&batch.rows.0) {
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
        batches: &mut [&mut ChainBatch],
        bend: &BendConstraint,
    ) -> bool {
        let middle = bend.stencil().middle[0];
        let from = self.entries.partition_point(|entry| entry.0 < middle);
        let own = self.entries[from..].iter();
        for &(_, number, row, lane) in own.take_while(|entry| entry.0 == middle) {
            let batch = &mut *batches[number as usize];
            let (row, lane) = (row as usize, lane as usize);
            let Some(before) = row.checked_sub(1) else {
                continue;
            };
            let (Some(a), Some(b)) = (batch.at(before, lane), batch.at(row + 1, lane)) else {
                continue;
            };
            let [bends, _] = &mut batch.lists;
            let slot = before * WIDTH + lane;
            if [[a, b], [b, a]].contains(&bend.stencil().ends) && !bends.is_occupied(slot) {
                bends.set(slot, bend.rho);
                return true;
            }
        }
        false
    }
}

/// Scratch buffers of [`ChainBatch::solve`].
pub(super) struct ChainScratch {
    tiles: AlignedVec,
    normals: AlignedVec,
    eliminated: AlignedVec,
}

impl ChainScratch {
    pub(super) const fn new() -> Self {
        Self {
            tiles: AlignedVec::new(),
            normals: AlignedVec::new(),
            eliminated: AlignedVec::new(),
        }
    }
}
