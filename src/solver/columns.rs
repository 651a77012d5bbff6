//! Columns of a plane that is stored row by row: what several threads may write at the same time.
//!
//! Rows, or blocks of them, are slices, which `chunks_mut` hands out. A strip of columns is no slice;
//! here is the little that is needed to hand it out all the same. The `unsafe` of this file is all
//! about one thing: which numbers of the plane belong to which strip.

use super::crew::Parts;
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
            plane: PhantomData,
        }
    }

    /// The same columns as strips of these ranges, each of which begins where the one before ends, the
    /// first at 0; of what there is not, nothing.
    pub(super) fn strips<I: Parts<Item = Range<usize>>>(self, ranges: I) -> Strips<'a, I> {
        Strips { left: self, ranges }
    }

    /// How far the rows are apart.
    pub(super) fn stride(&self) -> usize {
        self.stride
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
}

/// Hands out strips, from both sides.
#[derive(Debug)]
pub(super) struct Strips<'a, I> {
    /// What has not been handed out.
    left: Columns<'a>,
    ranges: I,
}

impl<'a, I: Parts<Item = Range<usize>>> Iterator for Strips<'a, I> {
    type Item = Columns<'a>;

    fn next(&mut self) -> Option<Columns<'a>> {
        let left = &mut self.left;
        // Of what `left` owned, the strip gets the columns before `width`, and `left` keeps those from
        // there on.
        let width = self.ranges.next()?.len().min(left.width);
        let strip = Columns {
            width,
            plane: PhantomData,
            ..*left
        };
        left.first = left.first.wrapping_add(width);
        left.width -= width;
        Some(strip)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ranges.size_hint()
    }
}

impl<I: Parts<Item = Range<usize>>> DoubleEndedIterator for Strips<'_, I> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let left = &mut self.left;
        // Of what `left` owned, the strip gets the last columns, and `left` keeps those before.
        let width = self.ranges.next_back()?.len().min(left.width);
        left.width -= width;
        Some(Columns {
            first: left.first.wrapping_add(left.width),
            width,
            plane: PhantomData,
            ..*left
        })
    }
}

impl<I: Parts<Item = Range<usize>>> ExactSizeIterator for Strips<'_, I> {}

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
                        let ranges = (0..stride.div_ceil(width))
                            .map(|k| k * width..((k + 1) * width).min(stride));
                        let strips = Columns::all(&mut plane, stride).strips(ranges);
                        leader.each(strips.enumerate(), |(number, mut strip)| {
                            let first = (number * width).min(stride);
                            // Rows of nothing are no rows.
                            for r in 0..if stride > 0 { rows } else { 0 } {
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
    #[should_panic(expected = "r < self.rows")]
    fn there_is_no_row_behind_the_last() {
        Columns::all(&mut [0.0; 10], 4).row(2);
    }
}
