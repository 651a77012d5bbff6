//! Splits slices and columns into parts of different lengths, from both ends; splits a range into ranges of one size.

use super::workers::PartIterator;
use std::{mem::take, ops::Range};

/// Splits a range into consecutive ones of this size; the last one may be shorter.
pub(in crate::solver) fn chunk_ranges(
    range: Range<usize>,
    size: usize,
) -> impl PartIterator<Item = Range<usize>> + Clone {
    let starts = range.clone().step_by(size);
    starts.map(move |start| start..(start + size).min(range.end))
}

/// Data that can be cut in two.
pub(in crate::solver) trait Cut: Sized {
    /// Takes off the first `size` elements, or all if there are fewer.
    fn cut_front(&mut self, size: usize) -> Self;

    /// Takes off the last `size` elements, or all if there are fewer.
    fn cut_back(&mut self, size: usize) -> Self;
}

impl<T> Cut for &mut [T] {
    fn cut_front(&mut self, size: usize) -> Self {
        let size = size.min(self.len());
        let (part, left) = take(self).split_at_mut(size);
        *self = left;
        part
    }

    fn cut_back(&mut self, size: usize) -> Self {
        let size = self.len().saturating_sub(size);
        let (left, part) = take(self).split_at_mut(size);
        *self = left;
        part
    }
}

/// Iterator over the parts of some data, at these ranges. Each range begins where the one before ends, the first at 0;
/// ranges are clipped to the data, and empty data yield as many empty parts.
#[derive(Debug)]
pub(in crate::solver) struct Split<T, I> {
    /// Data that have not been returned yet.
    pub(super) left: T,
    pub(super) ranges: I,
}

/// Splits a slice into parts at these ranges; see [`Split`].
pub(in crate::solver) fn split<T, I: PartIterator<Item = Range<usize>>>(
    slice: &mut [T],
    ranges: I,
) -> Split<&mut [T], I> {
    Split {
        left: slice,
        ranges,
    }
}

impl<T: Cut, I: PartIterator<Item = Range<usize>>> Iterator for Split<T, I> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let size = self.ranges.next()?.len();
        Some(self.left.cut_front(size))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ranges.size_hint()
    }
}

impl<T: Cut, I: PartIterator<Item = Range<usize>>> DoubleEndedIterator for Split<T, I> {
    fn next_back(&mut self) -> Option<T> {
        let size = self.ranges.next_back()?.len();
        Some(self.left.cut_back(size))
    }
}

impl<T: Cut, I: PartIterator<Item = Range<usize>>> ExactSizeIterator for Split<T, I> {}
