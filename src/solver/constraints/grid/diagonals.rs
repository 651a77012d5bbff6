//! Diagonals of the cells of a grid, which resist shear.
//!
//! Two springs along the diagonals of a cell resist stretch too. In elastic fabric they would take part of the load of
//! the edges, so each pass gives them rest lengths that follow the stretch of the cell.

use super::{
    GridLayout,
    constraint_set::GridConstraintSet,
    groups::LaneGroups,
    project::{ParticlePlanes, project},
};
use crate::solver::{
    constraints::points::Regularization,
    parallel::{
        split::split,
        workers::{PARTICLES_PER_PART, Workers},
    },
    simd::{Kernel, aligned::AlignedVec, dispatch, select},
};
use std::{cell::RefCell, ops::Range};

/// Returns rest lengths of both diagonals of a cell, each multiplied by their mean stretch, the sum of length over rest
/// length divided by two. `squares` are their squared lengths. Where one diagonal is missing, the other keeps its own.
///
/// Diagonals of these rest lengths L′ resist shear alone: a cell that is sheared by γ makes one of them longer by as
/// much as the other becomes shorter, relative to their lengths, so their mean stretch is 1; a cell that is stretched
/// along warp or weft stretches both equally. For diagonals of equal rest lengths, the forces k(|d| − L′) are those
/// of the energy k(|d₁| − |d₂|)²/4.
#[inline(always)]
pub(super) fn shear_lengths(rest: [f32; 2], squares: [f32; 2]) -> [f32; 2] {
    let [down, up] = [squares[0].sqrt() / rest[0], squares[1].sqrt() / rest[1]];
    let both = (rest[0] > 0.0) & (rest[1] > 0.0);
    let mean = select(both, 0.5 * (down + up), 1.0);
    [rest[0] * mean, rest[1] * mean]
}

/// Solves both diagonals of the cells in every second row of cells, then in the others. With `is_pure` they resist
/// shear alone.
pub(super) fn solve_diagonals(
    workers: &mut Workers,
    planes: &mut ParticlePlanes,
    layout: &GridLayout,
    sets: [&mut GridConstraintSet; 2],
    regularization: Regularization,
    is_pure: bool,
) {
    let [down, up] = sets;
    if down.list.len() + up.list.len() == 0 {
        return;
    }
    let columns = layout.columns as usize;
    let groups = LaneGroups::of(columns - 1);
    let stored_len = groups.stored_len();
    let pairs = (PARTICLES_PER_PART / (2 * columns)).max(1);
    for first in 0..2 {
        let size = 2 * pairs * stored_len;
        let [down, up] = [&mut *down, &mut *up].map(|set| {
            let rest = set.list.rest.get(first * stored_len..).unwrap_or_default();
            let lambda = set
                .list
                .lambda
                .get_mut(first * stored_len..)
                .unwrap_or_default();
            let parts = rest.chunks(size);
            let own = move |part: usize| part * size..((part + 1) * size).min(rest.len());
            let own = (0..parts.len()).map(own);
            parts.zip(split(lambda, own))
        });
        let rows = planes.parts(first * columns, 2 * pairs * columns);
        workers.for_each_part(rows.zip(down).zip(up), |((planes, down), up)| {
            SHEAR_LENGTHS.with_borrow_mut(|buffers| {
                let (rest, lambda) = ([down.0, up.0], [down.1, up.1]);
                dispatch(DiagonalsKernel {
                    planes,
                    columns,
                    groups,
                    rest,
                    lambda,
                    regularization,
                    buffers: is_pure.then_some(buffers),
                });
            });
        });
    }
}

thread_local! {
    /// Rest lengths of the diagonals of a block of cells.
    static SHEAR_LENGTHS: RefCell<[AlignedVec; 2]> = RefCell::default();
}

/// Number of particles in a block of rows that is processed at a time.
const PARTICLES_PER_BLOCK: usize = 1024;

/// Solves the diagonals of some rows of cells, every second one.
struct DiagonalsKernel<'a> {
    planes: ParticlePlanes<'a>,
    columns: usize,
    groups: LaneGroups,
    /// Rest lengths and λ of both diagonals from the first row of cells on, including the rows in between that belong
    /// to the other colour.
    rest: [&'a [f32]; 2],
    lambda: [&'a mut [f32]; 2],
    regularization: Regularization,
    /// Buffers for rest lengths, if diagonals resist shear alone.
    buffers: Option<&'a mut [AlignedVec; 2]>,
}

impl Kernel for DiagonalsKernel<'_> {
    #[inline(always)]
    fn run(mut self) {
        let stored_len = self.groups.stored_len();
        let rows = self.rest[0].len() / stored_len;
        // Blocks of rows: large enough that no value is loaded again while its store is still under way,
        // small enough to stay in the cache.
        let block = (PARTICLES_PER_BLOCK / self.columns)
            .max(2)
            .next_multiple_of(2);
        let mut buffers = self.buffers.take();
        for first in (0..rows).step_by(block) {
            let rows = first..rows.min(first + block);
            let own = rows.start * stored_len..rows.end * stored_len;
            let rest = self.rest.map(|rest| &rest[own.clone()]);
            if let Some(buffers) = buffers.as_deref_mut() {
                for buffer in buffers.iter_mut().filter(|buffer| buffer.len() < own.len()) {
                    buffer.resize(own.len(), 0.0);
                }
                let [down, up] = &mut *buffers;
                self.write_shear_lengths(rows.clone(), rest, [down, up]);
                self.project(rows, [down, up]);
            } else {
                self.project(rows, rest);
            }
        }
    }

    /// Runs the same code: the scalar reference stands for the pass as a whole.
    #[cfg(test)]
    fn run_reference(self) {
        self.run();
    }
}

impl DiagonalsKernel<'_> {
    /// Returns ranges of cells that are processed together: the first column of each and its slots within a row.
    /// All groups but the last are contiguous.
    #[inline(always)]
    fn parts(&self) -> [(usize, Range<usize>); 2] {
        let stored_len = self.groups.stored_len();
        let whole = stored_len - self.groups.size();
        let last = self.groups.start(self.groups.len() - 1);
        [(0, 0..whole), (last, whole..stored_len)]
    }

    /// Writes the [`shear_lengths`] of a block of rows to `lengths`.
    #[inline(always)]
    fn write_shear_lengths(
        &self,
        rows: Range<usize>,
        [down, up]: [&[f32]; 2],
        [down_lengths, up_lengths]: [&mut [f32]; 2],
    ) {
        let stored_len = self.groups.stored_len();
        for row in rows.clone().step_by(2) {
            for (start, slots) in self.parts() {
                let n = slots.len();
                let first = row * self.columns + start;
                let corners = [
                    first,
                    first + 1,
                    first + self.columns,
                    first + self.columns + 1,
                ];
                let [xa, xb, xc, xd] = corners.map(|at| &self.planes.x[at..][..n]);
                let [ya, yb, yc, yd] = corners.map(|at| &self.planes.y[at..][..n]);
                let [za, zb, zc, zd] = corners.map(|at| &self.planes.z[at..][..n]);
                let slot = (row - rows.start) * stored_len + slots.start;
                let [down, up] = [down, up].map(|rest| &rest[slot..][..n]);
                let down_lengths = &mut down_lengths[slot..][..n];
                let up_lengths = &mut up_lengths[slot..][..n];
                let square = |[x, y, z]: [f32; 3]| x * x + y * y + z * z;
                for k in 0..n {
                    let squares = [
                        square([xd[k] - xa[k], yd[k] - ya[k], zd[k] - za[k]]),
                        square([xc[k] - xb[k], yc[k] - yb[k], zc[k] - zb[k]]),
                    ];
                    [down_lengths[k], up_lengths[k]] = shear_lengths([down[k], up[k]], squares);
                }
            }
        }
    }

    /// Solves both diagonals of a block of rows, whose rest lengths `rest` begin with the block.
    #[inline(always)]
    fn project(&mut self, rows: Range<usize>, rest: [&[f32]; 2]) {
        let stored_len = self.groups.stored_len();
        for (direction, shift) in [[0, 1], [1, 0]].into_iter().enumerate() {
            for (start, slots) in self.parts() {
                for row in rows.clone().step_by(2) {
                    let a = row * self.columns + shift[0] + start;
                    let b = (row + 1) * self.columns + shift[1] + start;
                    let [a, b] = self.planes.rows(a, b, slots.len());
                    let slot = (row - rows.start) * stored_len + slots.start;
                    let rest = &rest[direction][slot..][..slots.len()];
                    let own = row * stored_len + slots.start..row * stored_len + slots.end;
                    let lambda = lambda_range(self.lambda[direction], own);
                    project(a, b, rest, lambda, self.regularization);
                }
            }
        }
    }
}

/// Returns the λ of a range of constraints, or an empty slice if λ is not stored.
#[inline(always)]
fn lambda_range(all: &mut [f32], range: Range<usize>) -> &mut [f32] {
    if all.is_empty() { all } else { &mut all[range] }
}
