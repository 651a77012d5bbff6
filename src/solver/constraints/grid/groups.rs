//! Division of independent chains into groups that fill a SIMD register.

use crate::solver::parallel::workers::PartIterator;
pub(super) use crate::solver::simd::LANES;
use std::ops::Range;

/// Smallest number of groups in a chunk of work for one worker.
const GROUPS_PER_CHUNK: usize = 2;

/// Division of `count` independent items into groups of equal size, each of which is solved in one SIMD loop.
///
/// A last group that would not be full begins earlier and overlaps the group before; its slots for the shared items
/// hold no constraint. This avoids loops over the remainder, which cost as much as whole groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaneGroups {
    count: usize,
}

impl LaneGroups {
    pub(super) fn of(count: usize) -> Self {
        Self { count }
    }

    /// Returns the number of items in a group: [`LANES`], or 4 or 1 if there are fewer items.
    pub(super) fn size(self) -> usize {
        match self.count {
            LANES.. => LANES,
            4.. => 4,
            _ => 1,
        }
    }

    /// Returns the number of groups.
    pub(super) fn len(self) -> usize {
        self.count.div_ceil(self.size())
    }

    /// Returns the first item of a group.
    pub(super) fn start(self, group: usize) -> usize {
        (group * self.size()).min(self.count.saturating_sub(self.size()))
    }

    /// Returns the number of slots of all groups together.
    pub(super) fn stored_len(self) -> usize {
        self.len() * self.size()
    }

    /// Divides the groups into chunks for the workers. Groups that share items are in the same chunk.
    pub(super) fn chunks(self) -> impl PartIterator<Item = Range<usize>> + Clone {
        let len = self.len();
        let disjoint = self.count / self.size();
        let chunks = (disjoint / GROUPS_PER_CHUNK).max(1);
        (0..chunks).map(move |chunk| {
            let end = if chunk + 1 < chunks {
                (chunk + 1) * GROUPS_PER_CHUNK
            } else {
                len
            };
            chunk * GROUPS_PER_CHUNK..end
        })
    }

    /// Returns the items of each chunk.
    pub(super) fn ranges(self) -> impl PartIterator<Item = Range<usize>> + Clone {
        self.chunks().map(move |chunk| {
            let end = if chunk.end < self.len() {
                self.start(chunk.end)
            } else {
                self.count
            };
            self.start(chunk.start)..end
        })
    }

    /// Returns the group of an item, and its lane there.
    pub(super) fn group_and_lane(self, item: usize) -> [usize; 2] {
        let group = item / self.size();
        [group, item - self.start(group)]
    }
}
