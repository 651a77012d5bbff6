//! Prolongation: interpolates the displacements of the finest level's nodes to the particles between them.

use super::{super::project::ParticlePlanes, FINEST_SPACING, level::CoarseLevel};
use crate::solver::{
    parallel::workers::{PARTICLES_PER_PART, Workers},
    simd::{Kernel, aligned::AlignedVec, dispatch},
};
use std::cell::RefCell;

/// Displacements of the particles of two rows: at the nodes above and at those below.
type NodeRowPair = [[AlignedVec; 3]; 2];

thread_local! {
    static NODE_ROWS: RefCell<NodeRowPair> = RefCell::default();
}

/// Displaces the particles by the bilinear interpolation of the nodes around them.
pub(super) fn move_particles(
    workers: &mut Workers,
    finest: &CoarseLevel,
    planes: &mut ParticlePlanes,
    columns: usize,
) {
    // Whole cells, so that few rows of nodes are interpolated twice.
    let rows = (PARTICLES_PER_PART / columns)
        .next_multiple_of(FINEST_SPACING)
        .max(FINEST_SPACING);
    let parts = planes.parts(0, rows * columns).enumerate();
    workers.for_each_part(parts, |(number, planes)| {
        NODE_ROWS.with_borrow_mut(|node_rows| {
            for plane in node_rows.as_flattened_mut() {
                if plane.len() < columns {
                    plane.resize(columns, 0.0);
                }
            }
            dispatch(ProlongationKernel {
                finest,
                planes,
                columns,
                first: number * rows,
                node_rows,
            });
        });
    });
}

/// Displaces the particles of some rows.
struct ProlongationKernel<'a> {
    finest: &'a CoarseLevel,
    planes: ParticlePlanes<'a>,
    columns: usize,
    /// Index of the first of these rows.
    first: usize,
    node_rows: &'a mut NodeRowPair,
}

impl Kernel for ProlongationKernel<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            finest,
            planes,
            columns,
            first,
            node_rows: [above, below],
        } = self;
        let width = finest.columns.len();
        let displacements = [&finest.x, &finest.y, &finest.z];
        let mut node = usize::MAX;
        let count = planes.w.len() / columns;
        let between = &finest.rows.between[first..][..count];
        for (r, &(i, down)) in between.iter().enumerate() {
            let i = i as usize;
            if i != node {
                // Of consecutive nodes, the row below becomes the row above.
                let is_next = node.wrapping_add(1) == i && node != usize::MAX;
                for (axis, displacement) in displacements.into_iter().enumerate() {
                    let row = |i: usize| &displacement[i * width..][..width];
                    if is_next {
                        std::mem::swap(&mut above[axis], &mut below[axis]);
                    } else {
                        interpolate_row(finest, row(i), &mut above[axis][..columns]);
                    }
                    interpolate_row(finest, row(i + 1), &mut below[axis][..columns]);
                }
                node = i;
            }
            let row = r * columns..(r + 1) * columns;
            let w = &planes.w[row.clone()];
            for (axis, plane) in [&mut *planes.x, &mut *planes.y, &mut *planes.z]
                .into_iter()
                .enumerate()
            {
                move_row(&mut plane[row.clone()], w, &above[axis], &below[axis], down);
            }
        }
    }

    /// Runs the same code: these loops are scalar already.
    #[cfg(test)]
    fn run_reference(self) {
        self.run();
    }
}

/// Interpolates the displacements of the nodes of a row linearly to the particles of the row.
#[inline(always)]
fn interpolate_row(finest: &CoarseLevel, nodes: &[f32], row: &mut [f32]) {
    let ends = finest.columns.nodes.windows(2);
    for (ends, values) in ends.zip(nodes.windows(2)) {
        let [from, to] = [ends[0] as usize, ends[1] as usize];
        let slope = (values[1] - values[0]) / (to - from) as f32;
        for (k, value) in row[from..to].iter_mut().enumerate() {
            *value = values[0] + slope * k as f32;
        }
    }
    if let ([.., last], [.., last_node]) = (row, nodes) {
        *last = *last_node;
    }
}

#[inline(always)]
fn move_row(x: &mut [f32], w: &[f32], above: &[f32], below: &[f32], down: f32) {
    let n = x.len();
    let (w, above, below) = (&w[..n], &above[..n], &below[..n]);
    for k in 0..n {
        let displacement = above[k] + (below[k] - above[k]) * down;
        x[k] += if w[k] > 0.0 { displacement } else { 0.0 };
    }
}
