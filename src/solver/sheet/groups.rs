//! How what lies side by side is put into groups that fill a register.

use crate::solver::crew::Parts;
pub(super) use crate::solver::simd::LANES;
use std::ops::Range;

/// So many groups are a part, at least.
const AT_ONCE: usize = 2;

/// How things in a line, `count` of them, are put into groups of one size, which are solved at once.
///
/// If the last group would not be full, it begins earlier, and what the group before has already is
/// left out of it: so there are no loops over a few that remain, which cost as much as whole groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Groups {
    count: usize,
}

impl Groups {
    pub(super) fn of(count: usize) -> Self {
        Self { count }
    }

    /// How many are in a group: as many as there are lanes, or fewer where there are fewer.
    pub(super) fn size(self) -> usize {
        match self.count {
            LANES.. => LANES,
            4.. => 4,
            _ => 1,
        }
    }

    /// How many groups there are.
    pub(super) fn len(self) -> usize {
        self.count.div_ceil(self.size())
    }

    /// What a group begins with.
    pub(super) fn start(self, group: usize) -> usize {
        (group * self.size()).min(self.count.saturating_sub(self.size()))
    }

    /// How many places the groups have together.
    pub(super) fn stored(self) -> usize {
        self.len() * self.size()
    }

    /// Cuts them into parts for several threads: some groups each, groups that have things in common
    /// in the same part.
    pub(super) fn parts(self) -> impl Parts<Item = Range<usize>> + Clone {
        let len = self.len();
        let apart = self.count / self.size();
        let parts = (apart / AT_ONCE).max(1);
        (0..parts).map(move |part| {
            let end = if part + 1 < parts {
                (part + 1) * AT_ONCE
            } else {
                len
            };
            part * AT_ONCE..end
        })
    }

    /// Which things are in each part.
    pub(super) fn ranges(self) -> impl Parts<Item = Range<usize>> + Clone {
        self.parts().map(move |part| {
            let end = if part.end < self.len() {
                self.start(part.end)
            } else {
                self.count
            };
            self.start(part.start)..end
        })
    }

    /// In which group something is, and where in it.
    pub(super) fn place(self, number: usize) -> [usize; 2] {
        let group = number / self.size();
        [group, number - self.start(group)]
    }
}
