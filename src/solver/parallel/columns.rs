//! Strips of columns of a plane that is stored row by row, which several threads may write at the same time.
//!
//! Blocks of rows are slices and come from `chunks_mut`. A strip of columns is not a slice; [`Columns`] is its
//! counterpart. All `unsafe` code of this file relies on one invariant: each number of the plane belongs to at
//! most one strip.

use super::{
    split::{Cut, Split},
    workers::PartIterator,
};
use std::{marker::PhantomData, ops::Range};

/// Neighbouring columns of a plane: the same range of each row.
///
/// Owns, for its lifetime, the numbers at `first + r·stride + c` with r < `rows` and c < `width`.
/// They lie in the slice that it was made from, and no other strip of that slice owns any of them.
#[derive(Debug)]
pub(in crate::solver) struct Columns<'a> {
    first: *mut f32,
    rows: usize,
    stride: usize,
    width: usize,
    plane: PhantomData<&'a mut [f32]>,
}

// SAFETY: a strip is the only access to the numbers that it owns, as a `&mut [f32]` would be.
#[allow(unsafe_code)]
unsafe impl Send for Columns<'_> {}

impl<'a> Columns<'a> {
    /// Returns all columns of a plane with rows of `stride` numbers; numbers behind the last whole row are not
    /// included.
    pub(in crate::solver) fn all(plane: &'a mut [f32], stride: usize) -> Self {
        Self {
            first: plane.as_mut_ptr(),
            rows: plane.len().checked_div(stride).unwrap_or(0),
            stride,
            width: stride,
            plane: PhantomData,
        }
    }

    /// Splits the columns into strips of these ranges; see [`Split`].
    pub(in crate::solver) fn strips<I: PartIterator<Item = Range<usize>>>(
        self,
        ranges: I,
    ) -> Split<Self, I> {
        Split { left: self, ranges }
    }

    /// Returns the distance between rows.
    pub(in crate::solver) fn stride(&self) -> usize {
        self.stride
    }

    /// Returns a pointer to the first number of row `r` in this strip.
    #[inline(always)]
    fn start(&self, r: usize) -> *mut f32 {
        assert!(r < self.rows);
        self.first.wrapping_add(r * self.stride)
    }

    /// Returns the numbers of row `r` in this strip.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(in crate::solver) fn row(&mut self, r: usize) -> &mut [f32] {
        let start = self.start(r);
        // SAFETY: these numbers are owned by this strip, which is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(start, self.width) }
    }
}

impl Cut for Columns<'_> {
    fn cut_front(&mut self, size: usize) -> Self {
        // Ownership moves to the strip for the columns before `width`; `self` keeps the others.
        let width = size.min(self.width);
        let strip = Columns {
            width,
            plane: PhantomData,
            ..*self
        };
        self.first = self.first.wrapping_add(width);
        self.width -= width;
        strip
    }

    fn cut_back(&mut self, size: usize) -> Self {
        // Ownership moves to the strip for the last columns; `self` keeps the others.
        let width = size.min(self.width);
        self.width -= width;
        Columns {
            first: self.first.wrapping_add(self.width),
            width,
            plane: PhantomData,
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::parallel::workers::threads;

    /// For every shape, each number of whole rows belongs to exactly one strip, and no other number does.
    #[test]
    fn strips_share_a_plane_without_overlap() {
        for (rows, stride) in [(0, 5), (1, 1), (3, 64), (7, 65), (20, 200), (5, 0)] {
            for width in [1, 2, 63, 64, 65, 1000] {
                for count in threads::COUNTS {
                    // Half a row more, which belongs to no strip.
                    let mut plane = vec![0.0; rows * stride + stride / 2];
                    threads::with(count, |workers| {
                        let ranges = (0..stride.div_ceil(width))
                            .map(|k| k * width..((k + 1) * width).min(stride));
                        let strips = Columns::all(&mut plane, stride).strips(ranges);
                        workers.for_each_part(strips.enumerate(), |(number, mut strip)| {
                            let first = (number * width).min(stride);
                            // With stride 0 there are no rows.
                            for r in 0..if stride > 0 { rows } else { 0 } {
                                let row = strip.row(r);
                                assert_eq!(row.len(), width.min(stride - first));
                                for (c, value) in (first..).zip(row) {
                                    *value += (r * stride + c) as f32 + 0.5;
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
    #[should_panic(expected = "r < self.rows")]
    fn a_row_beyond_the_last_panics() {
        Columns::all(&mut [0.0; 10], 4).row(2);
    }
}
