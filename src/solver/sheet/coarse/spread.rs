//! From the nodes of the finest level to the particles between them.

use super::{super::project::Planes, FINEST, level::Level};
use crate::solver::{
    aligned::AlignedVec,
    crew::{Leader, PART},
    simd::{Kernel, dispatch},
};
use std::cell::RefCell;

/// How far the particles of two rows move: those at the nodes above and below.
type Rows = [[AlignedVec; 3]; 2];

thread_local! {
    static ROWS: RefCell<Rows> = RefCell::default();
}

/// Moves the particles with the nodes around them.
pub(super) fn move_particles(
    leader: &mut Leader,
    finest: &Level,
    planes: &mut Planes,
    columns: usize,
) {
    // Whole cells, so that few rows of nodes are spread twice.
    let rows = (PART / columns).next_multiple_of(FINEST).max(FINEST);
    let parts = planes.parts(0, rows * columns).enumerate();
    leader.each(parts, |(number, planes)| {
        ROWS.with_borrow_mut(|rows_moved| {
            for plane in rows_moved.as_flattened_mut() {
                if plane.len() < columns {
                    plane.resize(columns, 0.0);
                }
            }
            dispatch(Move {
                finest,
                planes,
                columns,
                first: number * rows,
                moved: rows_moved,
            });
        });
    });
}

/// Moves the particles of some rows.
struct Move<'a> {
    finest: &'a Level,
    planes: Planes<'a>,
    columns: usize,
    /// The first of the rows.
    first: usize,
    moved: &'a mut Rows,
}

impl Kernel for Move<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            finest,
            planes,
            columns,
            first,
            moved: [above, below],
        } = self;
        let width = finest.columns.len();
        let moved = [&finest.x, &finest.y, &finest.z];
        let mut node = usize::MAX;
        let count = planes.w.len() / columns;
        let between = &finest.rows.between[first..][..count];
        for (r, &(i, down)) in between.iter().enumerate() {
            let i = i as usize;
            if i != node {
                // The row below is the one above of the next nodes.
                let known = node.wrapping_add(1) == i && node != usize::MAX;
                for (axis, moved) in moved.into_iter().enumerate() {
                    let row = |i: usize| &moved[i * width..][..width];
                    if known {
                        std::mem::swap(&mut above[axis], &mut below[axis]);
                    } else {
                        spread(finest, row(i), &mut above[axis][..columns]);
                    }
                    spread(finest, row(i + 1), &mut below[axis][..columns]);
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

    /// The twin of a pass calls this too: these loops are plain already.
    fn run_scalar(self) {
        self.run();
    }
}

/// Spreads what the nodes of a row move over the particles of the row.
#[inline(always)]
fn spread(finest: &Level, nodes: &[f32], row: &mut [f32]) {
    let ends = finest.columns.nodes.windows(2);
    for (ends, of_ends) in ends.zip(nodes.windows(2)) {
        let [from, to] = [ends[0] as usize, ends[1] as usize];
        let slope = (of_ends[1] - of_ends[0]) / (to - from) as f32;
        for (k, place) in row[from..to].iter_mut().enumerate() {
            *place = of_ends[0] + slope * k as f32;
        }
    }
    if let ([.., last], [.., of_last]) = (row, nodes) {
        *last = *of_last;
    }
}

#[inline(always)]
fn move_row(x: &mut [f32], w: &[f32], above: &[f32], below: &[f32], down: f32) {
    let n = x.len();
    let (w, above, below) = (&w[..n], &above[..n], &below[..n]);
    for k in 0..n {
        let moved = above[k] + (below[k] - above[k]) * down;
        x[k] += if w[k] > 0.0 { moved } else { 0.0 };
    }
}
