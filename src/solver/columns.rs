//! Columns of a plane that is stored row by row: what several threads may write at the same time.
//!
//! Rows, or blocks of them, are slices, which `chunks_mut` hands out. A strip of columns is no slice;
//! here is the little that is needed to hand it out all the same. The `unsafe` of this file is all
//! about one thing: which numbers of the plane belong to which strip.

use std::{marker::PhantomData, ops::Range};

/// Neighbouring columns of a plane: of each of its rows the same part.
///
/// Owns, for its lifetime, the numbers at `first + r·stride + c` with r < `rows` and c < `width`.
/// They lie in the slice that it was made from, and no other strip of that slice owns any of them.
#[derive(Debug)]
pub(super) struct Columns<'a> {
    first: *mut f32,
    rows: usize,
    stride: usize,
    width: usize,
    /// The number of its first column.
    column: usize,
    plane: PhantomData<&'a mut [f32]>,
}

// SAFETY: it is the only way to the numbers that it owns, as a `&mut [f32]` would be.
#[allow(unsafe_code)]
unsafe impl Send for Columns<'_> {}

impl<'a> Columns<'a> {
    /// All columns of a plane whose rows have `stride` numbers; what is left behind the last whole
    /// row does not belong to it.
    pub(super) fn all(plane: &'a mut [f32], stride: usize) -> Self {
        Self {
            first: plane.as_mut_ptr(),
            rows: plane.len().checked_div(stride).unwrap_or(0),
            stride,
            width: stride,
            column: 0,
            plane: PhantomData,
        }
    }

    /// The same columns as strips of `width`, the last one of what is left.
    pub(super) fn strips(self, width: usize) -> Strips<'a> {
        let width = width.max(1);
        let count = self.width.div_ceil(width);
        Strips {
            all: self,
            width,
            count,
            left: 0..count,
        }
    }

    /// The same columns as three strips of the same width, from left to right.
    #[inline(always)]
    pub(super) fn three(self) -> [Self; 3] {
        let width = self.width / 3;
        assert!(width > 0 && self.width == 3 * width);
        let strips = self.strips(width);
        [0, 2, 1].map(|turn| strips.strip(turn))
    }

    /// Lends it.
    #[inline(always)]
    pub(super) fn lend(&mut self) -> Columns<'_> {
        Columns {
            plane: PhantomData,
            ..*self
        }
    }

    /// The number of its first column.
    pub(super) fn column(&self) -> usize {
        self.column
    }

    /// How many columns it has.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Whether it has no rows.
    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Where its part of a row begins, in the plane.
    #[inline(always)]
    fn start(&self, r: usize) -> *mut f32 {
        assert!(r < self.rows);
        self.first.wrapping_add(r * self.stride)
    }

    /// Its part of a row.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(super) fn row(&mut self, r: usize) -> &mut [f32] {
        let start = self.start(r);
        // SAFETY: these numbers are owned by this strip, which is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(start, self.width) }
    }

    /// Its part of a row, or nothing of a plane that has no rows.
    #[inline(always)]
    pub(super) fn row_if_any(&mut self, r: usize) -> &mut [f32] {
        if self.is_empty() {
            &mut []
        } else {
            self.row(r)
        }
    }

    /// Its parts of two rows, the second of which lies behind the first.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(super) fn two_rows(&mut self, a: usize, b: usize) -> [&mut [f32]; 2] {
        assert!(a < b);
        let (from, to) = (self.start(a), self.start(b));
        // SAFETY: these numbers are owned by this strip, which is borrowed exclusively; those of
        // different rows are not the same, for a row is no longer than the distance of two.
        unsafe {
            [
                std::slice::from_raw_parts_mut(from, self.width),
                std::slice::from_raw_parts_mut(to, self.width),
            ]
        }
    }
}

/// Hands out strips. From the front those of the left half come, from left to right, from the back
/// those of the right half, from left to right too: two threads are half a plane apart then, and do not
/// write to one cache line from both sides.
#[derive(Debug)]
pub(super) struct Strips<'a> {
    all: Columns<'a>,
    width: usize,
    count: usize,
    /// Which turns have not been taken, see [`strip`](Self::strip).
    left: Range<usize>,
}

impl<'a> Strips<'a> {
    /// The strip of a turn. Each turn has another one: the first half of them from the left on, the
    /// second half from the right on.
    fn strip(&self, turn: usize) -> Columns<'a> {
        let half = self.count / 2;
        let number = if turn < half {
            turn
        } else {
            self.count - 1 - (turn - half)
        };
        // All turns are different, so what strips own is too; nobody can reach it through `all`, which
        // is never lent.
        let column = number * self.width;
        Columns {
            first: self.all.first.wrapping_add(column),
            width: self.width.min(self.all.width - column),
            column,
            plane: PhantomData,
            ..self.all
        }
    }
}

impl<'a> Iterator for Strips<'a> {
    type Item = Columns<'a>;

    fn next(&mut self) -> Option<Columns<'a>> {
        let turn = self.left.next()?;
        Some(self.strip(turn))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl DoubleEndedIterator for Strips<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let turn = self.left.next_back()?;
        Some(self.strip(turn))
    }
}

impl ExactSizeIterator for Strips<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::crew::threads;

    /// Every number of whole rows belongs to exactly one strip, whatever the shape, and nothing else
    /// does.
    #[test]
    fn strips_share_a_plane_without_overlap() {
        for (rows, stride) in [(0, 5), (1, 1), (3, 64), (7, 65), (20, 200), (5, 0)] {
            for width in [1, 2, 63, 64, 65, 1000] {
                for count in threads::COUNTS {
                    // Half a row more, which belongs to nobody.
                    let mut plane = vec![0.0; rows * stride + stride / 2];
                    threads::with(count, |leader| {
                        let strips = Columns::all(&mut plane, stride).strips(width);
                        assert_eq!(strips.len(), stride.div_ceil(width));
                        leader.each(strips, |mut strip| {
                            assert_eq!(strip.is_empty(), rows == 0);
                            let first = strip.column();
                            assert_eq!(strip.width(), width.min(stride - first));
                            for r in 0..rows {
                                let row = strip.row(r);
                                assert_eq!(row.len(), width.min(stride - first));
                                for (c, place) in (first..).zip(row) {
                                    *place += (r * stride + c) as f32 + 0.5;
                                }
                            }
                        });
                    });
                    for (i, &number) in plane.iter().enumerate() {
                        let owned = i < rows * stride;
                        let expected = if owned { i as f32 + 0.5 } else { 0.0 };
                        assert_eq!(number, expected, "{rows} rows of {stride} by {width}");
                    }
                }
            }
        }
    }

    #[test]
    fn two_rows_do_not_overlap() {
        let mut plane: Vec<f32> = (0..60).map(|i| i as f32).collect();
        let mut strips = Columns::all(&mut plane, 12).strips(5);
        let mut left = strips.next().unwrap();
        assert_eq!(strips.next_back().unwrap().column(), 5);
        let mut right = strips.next_back().unwrap();
        assert!(strips.next().is_none() && strips.next_back().is_none());
        let [a, b] = left.two_rows(1, 4);
        let [c, d] = right.two_rows(0, 1);
        assert_eq!(
            (&*a, &*b),
            (
                &[12.0, 13.0, 14.0, 15.0, 16.0][..],
                &[48.0, 49.0, 50.0, 51.0, 52.0][..]
            )
        );
        assert_eq!((&*c, &*d), (&[10.0, 11.0][..], &[22.0, 23.0][..]));
        a.swap_with_slice(b);
        c.swap_with_slice(d);
        assert_eq!(plane[12..17], [48.0, 49.0, 50.0, 51.0, 52.0]);
        assert_eq!(plane[22..24], [10.0, 11.0]);
    }

    #[test]
    fn three_strips_stand_from_left_to_right() {
        let mut plane: Vec<f32> = (0..30).map(|i| i as f32).collect();
        let three = Columns::all(&mut plane, 15).three();
        for (number, mut strip) in three.into_iter().enumerate() {
            assert_eq!((strip.column(), strip.width()), (5 * number, 5));
            assert_eq!(strip.lend().row(1)[0], (15 + 5 * number) as f32);
        }
    }

    #[test]
    #[should_panic(expected = "r < self.rows")]
    fn there_is_no_row_behind_the_last() {
        Columns::all(&mut [0.0; 10], 4).row(2);
    }

    #[test]
    #[should_panic(expected = "a < b")]
    fn no_row_is_two_rows() {
        Columns::all(&mut [0.0; 10], 4).two_rows(1, 1);
    }
}
