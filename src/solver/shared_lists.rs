//! Lists of items in one block of memory that clones share.

use super::{math::particle_lists::ParticleLists, shared::Shared};

/// Lists of items, one list after the other, that clones share.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct SharedLists<T> {
    /// Where each list ends.
    ends: Shared<Vec<u32>>,
    all: Shared<Vec<T>>,
}

impl<T> Default for SharedLists<T> {
    fn default() -> Self {
        Self {
            ends: Shared::default(),
            all: Shared::default(),
        }
    }
}

impl<T> SharedLists<T> {
    /// Returns the number of lists.
    pub(in crate::solver) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the items of all lists.
    pub(in crate::solver) fn all(&self) -> &[T] {
        &self.all
    }

    /// Returns the places of a list in [`all`](Self::all).
    #[inline(always)]
    pub(in crate::solver) fn range(&self, list: usize) -> std::ops::Range<usize> {
        self.begin(list)..self.begin(list + 1)
    }

    /// Returns where a list begins, or where the last one ends.
    #[inline(always)]
    pub(in crate::solver) fn begin(&self, list: usize) -> usize {
        list.checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize)
    }

    /// Returns a list.
    #[inline(always)]
    pub(in crate::solver) fn at(&self, list: usize) -> &[T] {
        &self.all[self.range(list)]
    }

    /// Appends a list.
    pub(in crate::solver) fn push(&mut self, items: impl IntoIterator<Item = T>)
    where
        T: Clone,
    {
        self.all.extend(items);
        let end = self.all.len() as u32;
        self.ends.push(end);
    }

    /// Lets future clones share all lists.
    pub(in crate::solver) fn share(&mut self) {
        self.ends.share();
        self.all.share();
    }

    /// Returns whether these are this many lists, and all data are consistent.
    pub(in crate::solver) fn is_sound(&self, lists: usize) -> bool {
        self.ends.len() == lists
            && self.ends.is_sorted()
            && self.ends.last().map_or(0, |&end| end as usize) == self.all.len()
    }
}

impl<T> From<ParticleLists<T>> for SharedLists<T> {
    fn from(ParticleLists { mut first, all }: ParticleLists<T>) -> Self {
        // The begin of the first list, and the end of the last one twice.
        first.truncate(first.len().saturating_sub(1));
        first.drain(..first.len().min(1));
        Self {
            ends: first.into(),
            all: all.into(),
        }
    }
}
