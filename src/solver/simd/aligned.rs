//! Lists of `f32` that begin at a cache line, at different offsets in their pages.
//!
//! The widest instructions load and store a whole cache line. In an unaligned list each of them would touch two
//! lines, which costs about a tenth of a solver step. And processors that compare only the last twelve bits of
//! addresses delay a load after a store to another array at the same page offset (4K aliasing). Large arrays
//! therefore begin at different offsets, which saves about half as much.

use std::{
    ops::{Deref, DerefMut},
    sync::atomic::{AtomicUsize, Ordering},
};

/// Size of a cache line, bytes.
const CACHE_LINE: usize = 64;

/// Range of the offsets of large arrays, bytes; a whole page would cost too much memory.
const OFFSET_PERIOD: usize = 1024;

/// Length from which an array gets its own page offset. For shorter ones the padding would cost too much memory.
const LARGE_LEN: usize = 4096;

/// Page offset of a large array relative to the one allocated before, in cache lines.
const LINE_OFFSET: usize = 11;

/// Number of large arrays allocated so far. Determines addresses, never contents.
static ALLOCATION_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Growable list of `f32` for SIMD loops: its first number begins a cache line.
#[derive(Default)]
pub struct AlignedVec {
    /// Padding, then the numbers of the list.
    buffer: Vec<f32>,
    /// Length of the padding.
    padding: usize,
}

impl AlignedVec {
    /// Returns an empty list.
    pub const fn new() -> Self {
        Self {
            buffer: Vec::new(),
            padding: 0,
        }
    }

    /// Returns a list of `len` times `value`.
    pub fn filled(len: usize, value: f32) -> Self {
        let mut filled = Self::with_capacity(len);
        filled.resize(len, value);
        filled
    }

    /// Returns a list of `len` zeros.
    pub fn zeros(len: usize) -> Self {
        Self::filled(len, 0.0)
    }

    /// Returns an empty list with space for `capacity` numbers.
    pub fn with_capacity(capacity: usize) -> Self {
        if capacity == 0 {
            return Self::default();
        }
        let (period, offset) = if capacity < LARGE_LEN {
            (CACHE_LINE, 0)
        } else {
            let number = ALLOCATION_COUNT.fetch_add(1, Ordering::Relaxed);
            (
                OFFSET_PERIOD,
                number.wrapping_mul(LINE_OFFSET) % (OFFSET_PERIOD / CACHE_LINE) * CACHE_LINE,
            )
        };
        let mut buffer: Vec<f32> = Vec::with_capacity(capacity + period / size_of::<f32>());
        let begin = buffer.as_ptr().addr() % period;
        let padding = (period + offset - begin) % period / size_of::<f32>();
        buffer.resize(padding, 0.0);
        Self { buffer, padding }
    }

    /// Reserves space for `more` further numbers.
    pub fn reserve(&mut self, more: usize) {
        if self.buffer.capacity() - self.buffer.len() < more {
            // A new allocation needs another padding, so the buffer cannot grow in place.
            let len = self.len();
            let mut other = Self::with_capacity((len + more).max(2 * len));
            other.buffer.extend_from_slice(self);
            *self = other;
        }
    }

    /// Returns the number at `i`. Panics if `i` is out of range, as slices do, but with a single bounds check.
    #[inline(always)]
    pub(in crate::solver) fn at(&self, i: usize) -> f32 {
        self.buffer[self.padding + i]
    }

    /// Mutable version of [`at`](Self::at).
    #[inline(always)]
    pub(in crate::solver) fn at_mut(&mut self, i: usize) -> &mut f32 {
        &mut self.buffer[self.padding + i]
    }

    /// Appends a number.
    pub fn push(&mut self, value: f32) {
        self.reserve(1);
        self.buffer.push(value);
    }

    /// Appends numbers.
    pub fn extend_from_slice(&mut self, values: &[f32]) {
        self.reserve(values.len());
        self.buffer.extend_from_slice(values);
    }

    /// Changes the length to `len`; new numbers are `value`.
    pub fn resize(&mut self, len: usize, value: f32) {
        self.reserve(len.saturating_sub(self.len()));
        self.buffer.resize(self.padding + len, value);
    }

    /// Removes all but the first `len` numbers; the capacity stays.
    pub fn truncate(&mut self, len: usize) {
        self.buffer.truncate(self.padding.saturating_add(len));
    }

    /// Removes all numbers; the capacity stays.
    pub fn clear(&mut self) {
        self.truncate(0);
    }
}

impl Deref for AlignedVec {
    type Target = [f32];

    #[inline]
    fn deref(&self) -> &[f32] {
        &self.buffer[self.padding..]
    }
}

impl DerefMut for AlignedVec {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.buffer[self.padding..]
    }
}

impl From<&[f32]> for AlignedVec {
    fn from(values: &[f32]) -> Self {
        let mut aligned = Self::with_capacity(values.len());
        aligned.buffer.extend_from_slice(values);
        aligned
    }
}

impl From<Vec<f32>> for AlignedVec {
    fn from(values: Vec<f32>) -> Self {
        Self::from(&values[..])
    }
}

impl FromIterator<f32> for AlignedVec {
    fn from_iter<I: IntoIterator<Item = f32>>(values: I) -> Self {
        let values = values.into_iter();
        let mut aligned = Self::with_capacity(values.size_hint().0);
        aligned.extend(values);
        aligned
    }
}

impl Extend<f32> for AlignedVec {
    fn extend<I: IntoIterator<Item = f32>>(&mut self, values: I) {
        let values = values.into_iter();
        let (least, most) = values.size_hint();
        self.reserve(least);
        if most == Some(least) {
            // The capacity suffices, so the buffer is not reallocated.
            self.buffer.extend(values);
        } else {
            values.for_each(|value| self.push(value));
        }
    }
}

impl<'a> IntoIterator for &'a AlignedVec {
    type Item = &'a f32;
    type IntoIter = std::slice::Iter<'a, f32>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut AlignedVec {
    type Item = &'a mut f32;
    type IntoIter = std::slice::IterMut<'a, f32>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl Clone for AlignedVec {
    fn clone(&self) -> Self {
        Self::from(&self[..])
    }

    fn clone_from(&mut self, other: &Self) {
        self.clear();
        self.extend_from_slice(other);
    }
}

impl PartialEq for AlignedVec {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl std::fmt::Debug for AlignedVec {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

#[cfg(feature = "serialize")]
impl serde::Serialize for AlignedVec {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self[..].serialize(serializer)
    }
}

#[cfg(feature = "serialize")]
impl<'de> serde::Deserialize<'de> for AlignedVec {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_begins_at_a_cache_line() {
        let is_aligned = |list: &AlignedVec| list.as_ptr().addr().is_multiple_of(CACHE_LINE);
        for len in [1, 7, 16, 1000, 4096, 70_000] {
            let numbers: Vec<f32> = (0..len).map(|i| i as f32).collect();
            let mut list = AlignedVec::default();
            for &number in &numbers {
                list.push(number);
                assert!(is_aligned(&list));
            }
            assert_eq!(list[..], numbers[..]);
            let mut copy = AlignedVec::from_iter(numbers.iter().copied());
            assert!(is_aligned(&copy) && is_aligned(&list.clone()));
            assert_eq!(copy, list);
            copy.resize(len + 5000, -1.0);
            assert!(is_aligned(&copy));
            assert_eq!(copy[..len], numbers[..]);
            assert!(copy.len() == len + 5000 && copy[len..].iter().all(|&n| n == -1.0));
            copy.clone_from(&list);
            assert_eq!(copy, list);
            copy.clear();
            assert!(copy.is_empty());
        }
    }

    #[test]
    fn large_lists_begin_at_different_page_offsets() {
        let lists: Vec<AlignedVec> = (0..8).map(|_| AlignedVec::zeros(LARGE_LEN)).collect();
        // Concurrent tests may allocate in between, so a few of the eight offsets may coincide.
        let mut offsets: Vec<usize> = lists
            .iter()
            .map(|l| l.as_ptr().addr() % OFFSET_PERIOD)
            .collect();
        offsets.sort_unstable();
        offsets.dedup();
        assert!(offsets.len() >= 4, "{offsets:?}");
    }

    #[test]
    fn capacity_is_kept_when_a_list_is_cleared_and_refilled() {
        let mut list = AlignedVec::zeros(5000);
        let before = list.as_ptr();
        list.clear();
        list.resize(5000, 1.0);
        assert_eq!(list.as_ptr(), before);
    }
}
