//! Splits a slice into parts of different lengths, from both ends.

use super::workers::PartIterator;
use std::{mem::take, ops::Range};

/// Iterator over the parts of a slice; see [`split`].
#[derive(Debug)]
pub(in crate::solver) struct Split<'a, I> {
    left: &'a mut [f32],
    ranges: I,
}

/// Splits a slice into parts at these ranges. Each range begins where the one before ends, the first at 0. An
/// empty slice yields as many empty parts.
pub(in crate::solver) fn split<I: PartIterator<Item = Range<usize>>>(
    slice: &mut [f32],
    ranges: I,
) -> Split<'_, I> {
    Split {
        left: slice,
        ranges,
    }
}

impl<'a, I: PartIterator<Item = Range<usize>>> Iterator for Split<'a, I> {
    type Item = &'a mut [f32];

    fn next(&mut self) -> Option<Self::Item> {
        let size = self.ranges.next()?.len();
        let left = take(&mut self.left);
        let (part, left) = left.split_at_mut(size.min(left.len()));
        self.left = left;
        Some(part)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ranges.size_hint()
    }
}

impl<I: PartIterator<Item = Range<usize>>> DoubleEndedIterator for Split<'_, I> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let size = self.ranges.next_back()?.len();
        let left = take(&mut self.left);
        let (left, part) = left.split_at_mut(left.len().saturating_sub(size));
        self.left = left;
        Some(part)
    }
}

impl<I: PartIterator<Item = Range<usize>>> ExactSizeIterator for Split<'_, I> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_from_both_ends_cover_the_slice() {
        let mut numbers: Vec<f32> = (0..10).map(|i| i as f32).collect();
        let ranges = [0..3, 3..4, 4..4, 4..9, 9..10];
        for front in 0..=5 {
            let mut parts = split(&mut numbers, ranges.clone().into_iter());
            assert_eq!(parts.len(), 5);
            let mut all: Vec<_> = (0..front).filter_map(|_| parts.next()).collect();
            let mut back: Vec<_> = (front..5).filter_map(|_| parts.next_back()).collect();
            assert!(parts.next().is_none());
            back.reverse();
            all.extend(back);
            for (part, range) in all.iter().zip(&ranges) {
                assert!(part.iter().map(|x| *x as usize).eq(range.clone()));
            }
        }
        let mut nothing = split(&mut [], ranges.into_iter());
        assert!(nothing.by_ref().all(|part| part.is_empty()));
    }
}
