//! Strips: neighbouring chains of warp or weft, copied so that values of one SIMD loop are contiguous. Warp
//! is copied as it is, weft is transposed; both are then solved by the same loops.

use super::{
    project::ParticlePlanes,
    transpose::{transpose, transpose_back, transpose_weft},
};
use crate::solver::{
    constraints::chain::{ChainLinks, NormalTile, Tile},
    parallel::columns::Columns,
};

/// Constraints along the chains of some groups, group by group.
pub(super) struct GroupConstraints<'a> {
    /// Rest lengths, or empty if there are no constraints.
    pub(super) rest: &'a [f32],
    /// λ, or empty.
    pub(super) lambda: &'a mut [f32],
}

impl GroupConstraints<'_> {
    /// Returns the constraints of one group, `count` per chain, if there are any.
    #[inline(always)]
    pub(super) fn of_group<const W: usize>(
        &mut self,
        group: usize,
        count: usize,
    ) -> Option<ChainLinks<'_, W>> {
        let (rest, _) = self.rest.as_chunks::<W>();
        let (lambda, _) = self.lambda.as_chunks_mut::<W>();
        let range = group * count..(group + 1) * count;
        let rest = rest.get(range.clone())?;
        let lambda = lambda.get_mut(range).unwrap_or_default();
        Some(ChainLinks { rest, lambda })
    }
}

/// Copies one coordinate of `W` columns into tiles, from column `start` on.
#[inline(always)]
fn copy_warp<const W: usize>(from: &mut Columns, start: usize, axis: usize, to: &mut [Tile<W>]) {
    for (r, tile) in to.iter_mut().enumerate() {
        tile[axis].copy_from_slice(&from.row(r)[start..start + W]);
    }
}

/// Writes one coordinate of `W` columns back from tiles, from column `start` on.
#[inline(always)]
fn write_warp<const W: usize>(to: &mut Columns, start: usize, axis: usize, from: &[Tile<W>]) {
    for (r, tile) in from.iter().enumerate() {
        to.row(r)[start..start + W].copy_from_slice(&tile[axis]);
    }
}

/// Access to the particles of chains in memory.
pub(super) trait ChainStorage {
    /// Copies the particles of `W` chains, beginning with chain number `start` of the grid.
    fn copy<const W: usize>(&mut self, start: usize, to: &mut [Tile<W>]);
    /// Copies the normals of the contacts of `W` chains. Returns whether there are any.
    fn copy_normals<const W: usize>(&mut self, start: usize, to: &mut [NormalTile<W>]) -> bool;
    /// Writes the positions back.
    fn write<const W: usize>(&mut self, start: usize, from: &[Tile<W>]);
}

/// Some columns, beginning with column number `start` of the grid.
pub(super) struct WarpChains<'a> {
    pub(super) x: Columns<'a>,
    pub(super) y: Columns<'a>,
    pub(super) z: Columns<'a>,
    /// Inverse masses, from the first of these columns on.
    pub(super) w: &'a [f32],
    /// Normals of contacts, from the first of these columns on, if there are any.
    pub(super) normals: Option<[&'a [f32]; 3]>,
    pub(super) start: usize,
}

impl ChainStorage for WarpChains<'_> {
    #[inline(always)]
    fn copy<const W: usize>(&mut self, start: usize, to: &mut [Tile<W>]) {
        let start = start - self.start;
        let stride = self.x.stride();
        for (tile, w) in to.iter_mut().zip(self.w.chunks(stride)) {
            tile[3].copy_from_slice(&w[start..start + W]);
        }
        for (plane, axis) in [&mut self.x, &mut self.y, &mut self.z].into_iter().zip(0..) {
            copy_warp(plane, start, axis, to);
        }
    }

    #[inline(always)]
    fn copy_normals<const W: usize>(&mut self, start: usize, to: &mut [NormalTile<W>]) -> bool {
        let Some(planes) = self.normals else {
            return false;
        };
        let start = start - self.start;
        let stride = self.x.stride();
        for (plane, axis) in planes.into_iter().zip(0..3_usize) {
            for (tile, row) in to.iter_mut().zip(plane.chunks(stride)) {
                tile[axis].copy_from_slice(&row[start..start + W]);
            }
        }
        any_nonzero(to)
    }

    #[inline(always)]
    fn write<const W: usize>(&mut self, start: usize, from: &[Tile<W>]) {
        let start = start - self.start;
        for (plane, axis) in [&mut self.x, &mut self.y, &mut self.z].into_iter().zip(0..) {
            write_warp(plane, start, axis, from);
        }
    }
}

/// Returns whether any normal is not zero.
#[inline(always)]
fn any_nonzero<const W: usize>(normals: &[NormalTile<W>]) -> bool {
    let mut bits = 0;
    for value in normals.as_flattened().as_flattened() {
        bits |= value.to_bits();
    }
    bits << 1 != 0
}

/// Some rows, beginning with row number `start` of the grid.
pub(super) struct WeftChains<'a> {
    pub(super) planes: ParticlePlanes<'a>,
    pub(super) start: usize,
}

impl ChainStorage for WeftChains<'_> {
    #[inline(always)]
    fn copy<const W: usize>(&mut self, start: usize, to: &mut [Tile<W>]) {
        transpose_weft(&self.planes, to.len(), start - self.start, to);
    }

    #[inline(always)]
    fn copy_normals<const W: usize>(&mut self, start: usize, to: &mut [NormalTile<W>]) -> bool {
        let Some(planes) = self.planes.normals else {
            return false;
        };
        let columns = to.len();
        let rows = (start - self.start) * columns..(start - self.start + W) * columns;
        {
            let to = to.as_flattened_mut().as_flattened_mut();
            for (plane, axis) in planes.into_iter().zip(0..) {
                transpose(
                    &plane[rows.clone()],
                    columns,
                    &mut to[axis * W..],
                    3 * W,
                    W,
                    columns,
                );
            }
        }
        any_nonzero(to)
    }

    #[inline(always)]
    fn write<const W: usize>(&mut self, start: usize, from: &[Tile<W>]) {
        transpose_back(from, &mut self.planes, from.len(), start - self.start);
    }
}
