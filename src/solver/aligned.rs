//! Numbers that begin where a line of the cache does, and not all at the same place of their pages.
//!
//! What the widest instructions load and store is a whole line. Of numbers that lie anyhow each of these
//! would touch two, which costs a solver step about a tenth. And a processor that compares only the
//! last twelve bits of two addresses holds a load back for a store to another array at the same place of its
//! page; arrays that are walked through together are therefore kept apart, which is worth about half as much.

use std::{
    ops::{Deref, DerefMut},
    sync::atomic::{AtomicUsize, Ordering},
};

/// Bytes of a line of the cache, and of the part of a page within which arrays are kept apart: a whole page for
/// each would be more memory than it is worth.
const LINE: usize = 64;
const PART: usize = 1024;

/// From so many numbers on it counts where in its page an array begins. Smaller ones would pay for it with
/// much more memory than they have.
const LARGE: usize = 4096;

/// By how many lines one array begins farther on in its page than the one made before.
const APART: usize = 11;

/// How many large arrays there have been. It decides where they lie, never what is in them.
static MADE: AtomicUsize = AtomicUsize::new(0);

/// A growing list of `f32` for loops with SIMD: its first number begins a line of the cache.
#[derive(Default)]
pub struct AlignedVec {
    /// What comes before the first number only fills its line or page.
    all: Vec<f32>,
    /// How much that is.
    lead: usize,
}

impl AlignedVec {
    /// An empty list.
    pub const fn new() -> Self {
        Self {
            all: Vec::new(),
            lead: 0,
        }
    }

    /// `len` times the same number.
    pub fn filled(len: usize, value: f32) -> Self {
        let mut filled = Self::with_capacity(len);
        filled.resize(len, value);
        filled
    }

    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        Self::filled(len, 0.0)
    }

    /// An empty list with room for so many.
    pub fn with_capacity(capacity: usize) -> Self {
        if capacity == 0 {
            return Self::default();
        }
        let (period, place) = if capacity < LARGE {
            (LINE, 0)
        } else {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            (PART, number.wrapping_mul(APART) % (PART / LINE) * LINE)
        };
        let mut all: Vec<f32> = Vec::with_capacity(capacity + period / size_of::<f32>());
        let begin = all.as_ptr().addr() % period;
        let lead = (period + place - begin) % period / size_of::<f32>();
        all.resize(lead, 0.0);
        Self { all, lead }
    }

    /// Makes room for so many more.
    pub fn reserve(&mut self, more: usize) {
        if self.all.capacity() - self.all.len() < more {
            // Elsewhere another lead is needed, so that it can't just grow.
            let len = self.len();
            let mut other = Self::with_capacity((len + more).max(2 * len));
            other.all.extend_from_slice(self);
            *self = other;
        }
    }

    /// The number at `i`. Panics if `i` is out of range, as slices do, but looks at one bound only.
    #[inline(always)]
    pub(super) fn at(&self, i: usize) -> f32 {
        self.all[self.lead + i]
    }

    /// The same, to write.
    #[inline(always)]
    pub(super) fn at_mut(&mut self, i: usize) -> &mut f32 {
        &mut self.all[self.lead + i]
    }

    /// Adds a number.
    pub fn push(&mut self, value: f32) {
        self.reserve(1);
        self.all.push(value);
    }

    /// Adds numbers.
    pub fn extend_from_slice(&mut self, values: &[f32]) {
        self.reserve(values.len());
        self.all.extend_from_slice(values);
    }

    /// Makes it so long, with this number where it was shorter.
    pub fn resize(&mut self, len: usize, value: f32) {
        self.reserve(len.saturating_sub(self.len()));
        self.all.resize(self.lead + len, value);
    }

    /// Keeps the first `len` numbers only; the room stays.
    pub fn truncate(&mut self, len: usize) {
        self.all.truncate(self.lead.saturating_add(len));
    }

    /// Takes all numbers out; the room stays.
    pub fn clear(&mut self) {
        self.truncate(0);
    }
}

impl Deref for AlignedVec {
    type Target = [f32];

    #[inline]
    fn deref(&self) -> &[f32] {
        &self.all[self.lead..]
    }
}

impl DerefMut for AlignedVec {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.all[self.lead..]
    }
}

impl From<&[f32]> for AlignedVec {
    fn from(values: &[f32]) -> Self {
        let mut aligned = Self::with_capacity(values.len());
        aligned.all.extend_from_slice(values);
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
            // It has room, so it stays where it is.
            self.all.extend(values);
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
    fn every_list_begins_a_line_however_it_came_to_be() {
        let is_aligned = |list: &AlignedVec| list.as_ptr().addr().is_multiple_of(LINE);
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
    fn large_lists_begin_at_different_places_of_their_pages() {
        let lists: Vec<AlignedVec> = (0..8).map(|_| AlignedVec::zeros(LARGE)).collect();
        // Other tests may make some in between, so that two of eight could meet, but not many.
        let mut places: Vec<usize> = lists.iter().map(|l| l.as_ptr().addr() % PART).collect();
        places.sort_unstable();
        places.dedup();
        assert!(places.len() >= 4, "{places:?}");
    }

    #[test]
    fn room_is_kept_when_a_list_is_emptied_and_filled_again() {
        let mut list = AlignedVec::zeros(5000);
        let before = list.as_ptr();
        list.clear();
        list.resize(5000, 1.0);
        assert_eq!(list.as_ptr(), before);
    }
}
