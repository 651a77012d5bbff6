//! The six families of constraints that a sheet has. In each, a particle at row r and column c has
//! one neighbour, always in the same direction.

use super::{SheetLayout, groups::Groups};
use crate::solver::{
    aligned::AlignedVec,
    bend::{Bend, Hinge},
    constraints::{Compliance, ConstraintKind, DistanceConstraint, distance},
    soa::SoaVec3,
};

/// Stands for the rest length of a constraint, or for what a bend gives, where there is none.
pub(super) const NONE: f32 = -1.0;

/// The direction of a family: warp runs from row to row, weft along a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) enum Weave {
    /// (r, c) to (r+1, c+1)
    ShearDown,
    /// (r, c+1) to (r+1, c)
    ShearUp,
    /// (r, c) over (r+1, c) to (r+2, c)
    BendWarp,
    /// (r, c) to (r+1, c)
    Warp,
    /// (r, c) over (r, c+1) to (r, c+2)
    BendWeft,
    /// (r, c) to (r, c+1)
    Weft,
}

impl Weave {
    /// In the order in which they are solved: what comes last is satisfied best, and that must be
    /// the threads.
    pub(super) const ALL: [Self; 6] = [
        Self::ShearDown,
        Self::ShearUp,
        Self::BendWarp,
        Self::Warp,
        Self::BendWeft,
        Self::Weft,
    ];

    /// Which of these compliances is that of its distances.
    pub(in crate::solver) fn compliance(self, of: &Compliance) -> f32 {
        match self {
            Self::Warp => of.warp,
            Self::Weft => of.weft,
            Self::ShearDown | Self::ShearUp => of.shear,
            Self::BendWarp | Self::BendWeft => 0.0,
        }
    }

    /// The number of the family of a constraint from one place to another, the first having the
    /// smaller index.
    pub(super) fn between([r, c]: [usize; 2], [to_r, to_c]: [usize; 2]) -> Option<usize> {
        let weave = match (to_r as isize - r as isize, to_c as isize - c as isize) {
            (1, 1) => Self::ShearDown,
            (1, -1) => Self::ShearUp,
            (2, 0) => Self::BendWarp,
            (1, 0) => Self::Warp,
            (0, 2) => Self::BendWeft,
            (0, 1) => Self::Weft,
            _ => return None,
        };
        Self::ALL.iter().position(|w| *w == weave)
    }

    pub(super) fn kind(self) -> ConstraintKind {
        match self {
            Self::ShearDown | Self::ShearUp => ConstraintKind::Shear,
            Self::BendWarp | Self::BendWeft => ConstraintKind::Bend,
            Self::Warp | Self::Weft => ConstraintKind::Structural,
        }
    }

    /// How many constraints there are in a line, side by side, and how many such lines behind each
    /// other. Along a thread each depends on the one before; what is side by side is independent.
    fn extent(self, layout: &SheetLayout) -> [usize; 2] {
        let [rows, columns] = [layout.rows as usize, layout.columns as usize];
        match self {
            Self::ShearDown | Self::ShearUp => [columns - 1, rows - 1],
            Self::BendWarp => [columns, rows.saturating_sub(2)],
            Self::Warp => [columns, rows - 1],
            Self::BendWeft => [rows, columns.saturating_sub(2)],
            Self::Weft => [rows, columns - 1],
        }
    }

    fn is_weft(self) -> bool {
        matches!(self, Self::Weft | Self::BendWeft)
    }

    fn is_shear(self) -> bool {
        matches!(self, Self::ShearDown | Self::ShearUp)
    }

    /// How many numbers a family stores: groups are full.
    fn stored(self, layout: &SheetLayout) -> usize {
        let [across, along] = self.extent(layout);
        Groups::of(across).stored() * along
    }
}

/// The constraints of one direction, group by group ([`Groups`]): of threads along the thread, of
/// diagonals those of a row after each other.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct Family {
    weave: Weave,
    /// Rest lengths, m, or of bends, which are those of even and straight threads, what they give, m²;
    /// [`NONE`] where there is no constraint.
    pub(in crate::solver) rest: AlignedVec,
    /// As in a batch: Lagrange multipliers of the running substep, or empty.
    pub(in crate::solver) lambda: AlignedVec,
    /// As in a batch: mean tension during the running step, N, or empty.
    pub(in crate::solver) load: AlignedVec,
    count: usize,
}

impl Family {
    pub(super) fn empty(weave: Weave, layout: &SheetLayout) -> Self {
        Self {
            weave,
            rest: AlignedVec::filled(weave.stored(layout), NONE),
            lambda: AlignedVec::new(),
            load: AlignedVec::new(),
            count: 0,
        }
    }

    pub(in crate::solver) fn kind(&self) -> ConstraintKind {
        self.weave.kind()
    }

    pub(in crate::solver) fn weave(&self) -> Weave {
        self.weave
    }

    pub(in crate::solver) fn len(&self) -> usize {
        self.count
    }

    /// Whether it is the family that it should be, with as many constraints.
    pub(super) fn is_sound(&self, weave: Weave, layout: &SheetLayout) -> bool {
        let len = weave.stored(layout);
        let optional = |numbers: &[f32]| numbers.is_empty() || numbers.len() == len;
        let there = self.rest.iter().filter(|&&rest| rest >= 0.0).count();
        self.weave == weave
            && self.rest.len() == len
            && self.count == there
            && optional(&self.lambda)
            && optional(&self.load)
    }

    pub(super) fn recount(&mut self) {
        self.count = self.rest.iter().filter(|&&rest| rest >= 0.0).count();
    }

    /// Where the constraint at a row and a column is stored.
    pub(super) fn index(&self, layout: &SheetLayout, [r, c]: [usize; 2]) -> usize {
        let [across, along] = self.weave.extent(layout);
        let [side, behind] = if self.weave.is_weft() { [r, c] } else { [c, r] };
        let groups = Groups::of(across);
        let [group, lane] = groups.place(side);
        let line = if self.weave.is_shear() {
            behind * groups.len() + group
        } else {
            group * along + behind
        };
        line * groups.size() + lane
    }

    /// The row and the column of a stored constraint.
    pub(super) fn place(&self, layout: &SheetLayout, index: usize) -> [usize; 2] {
        let [across, along] = self.weave.extent(layout);
        let groups = Groups::of(across);
        let (line, lane) = (index / groups.size(), index % groups.size());
        let [group, behind] = if self.weave.is_shear() {
            [line % groups.len(), line / groups.len()]
        } else {
            [line / along, line % along]
        };
        let side = groups.start(group) + lane;
        if self.weave.is_weft() {
            [side, behind]
        } else {
            [behind, side]
        }
    }

    /// The two particles of a stored constraint.
    pub(in crate::solver) fn pair(&self, layout: &SheetLayout, index: usize) -> [u32; 2] {
        let [r, c] = self.place(layout, index);
        let at = |r: usize, c: usize| layout.first + (r * layout.columns as usize + c) as u32;
        match self.weave {
            Weave::ShearDown => [at(r, c), at(r + 1, c + 1)],
            Weave::ShearUp => [at(r, c + 1), at(r + 1, c)],
            Weave::BendWarp => [at(r, c), at(r + 2, c)],
            Weave::Warp => [at(r, c), at(r + 1, c)],
            Weave::BendWeft => [at(r, c), at(r, c + 2)],
            Weave::Weft => [at(r, c), at(r, c + 1)],
        }
    }

    /// The row and the column of the first particle of each constraint that could be there, but is not.
    pub(super) fn missing(&self, layout: &SheetLayout) -> impl Iterator<Item = [usize; 2]> + '_ {
        let layout = *layout;
        let gone = (0..self.rest.len()).filter(|&index| self.rest[index] < 0.0);
        gone.filter_map(move |index| {
            let place = self.place(&layout, index);
            // What a group leaves out is not missing: the group before has it.
            (self.index(&layout, place) == index).then_some(place)
        })
    }

    /// Puts a constraint in. The first place has the smaller index.
    pub(super) fn set(
        &mut self,
        layout: &SheetLayout,
        [r, c]: [usize; 2],
        [_, to_c]: [usize; 2],
        rest: f32,
    ) {
        let index = self.index(layout, [r, c.min(to_c)]);
        if self.rest[index] < 0.0 {
            self.count += 1;
        }
        self.rest[index] = rest;
    }

    /// The constraints, and where they are stored.
    pub(in crate::solver) fn iter(
        &self,
        layout: &SheetLayout,
    ) -> impl Iterator<Item = (usize, DistanceConstraint)> + '_ {
        let layout = *layout;
        let there = (0..self.rest.len()).filter(|&index| self.rest[index] >= 0.0);
        there.map(move |index| (index, self.constraint(&layout, index)))
    }

    /// Removes what is not to be kept.
    pub(in crate::solver) fn retain(
        &mut self,
        layout: &SheetLayout,
        keep: &mut impl FnMut(&DistanceConstraint) -> bool,
    ) {
        for index in 0..self.rest.len() {
            if self.rest[index] >= 0.0 {
                let constraint = self.constraint(layout, index);
                if !keep(&constraint) {
                    self.remove(index);
                }
            }
        }
    }

    /// A constraint that is there.
    pub(in crate::solver) fn constraint(
        &self,
        layout: &SheetLayout,
        index: usize,
    ) -> DistanceConstraint {
        let particles = self.pair(layout, index);
        DistanceConstraint {
            kind: self.kind(),
            particles,
            rest_length: self.rest[index],
            over: self.bend(particles, layout).map(|bend| bend.over),
        }
    }

    /// The bend between two ends, if it is a family of bends.
    pub(super) fn bend(&self, [a, b]: [u32; 2], layout: &SheetLayout) -> Option<Bend> {
        let step = match self.weave {
            Weave::BendWarp => layout.columns,
            Weave::BendWeft => 1,
            _ => return None,
        };
        Some(Bend::along([a, a + step, b]))
    }

    /// A bend that is there.
    pub(in crate::solver) fn hinge(&self, layout: &SheetLayout, index: usize) -> Option<Hinge> {
        let bend = self.bend(self.pair(layout, index), layout)?;
        let [a, b] = bend.ends;
        Some(Hinge::plain([a, bend.over[0], b], self.rest[index]))
    }

    /// Of bends: inverse mass of the one that moves most easily, over what it gives, 1/(kg·m²). Whole lines
    /// at a time; `w` is that of the particles of the sheet.
    pub(super) fn lightest_bend(&self, layout: &SheetLayout, w: &[f32]) -> f32 {
        let [across, along] = self.weave.extent(layout);
        let groups = Groups::of(across);
        let columns = layout.columns as usize;
        // From one bend of a line to the next, and from one particle of a thread to the next.
        let [aside, step] = if self.weave.is_weft() {
            [columns, 1]
        } else {
            [1, columns]
        };
        let mut lightest = 0.0_f32;
        for (line, gives) in self.rest.chunks_exact(groups.size()).enumerate() {
            let first = groups.start(line / along) * aside + line % along * step;
            for (lane, &give) in gives.iter().enumerate() {
                let [w0, w1, w2] = [0, 1, 2].map(|i| w[first + lane * aside + i * step]);
                let masses = w0 + 4.0 * w1 + w2;
                if give > 0.0 && masses > lightest * give {
                    lightest = masses / give;
                }
            }
        }
        lightest
    }

    /// Lets each bend that is there be measured anew.
    pub(in crate::solver) fn measure_bends(
        &mut self,
        layout: &SheetLayout,
        measure: &mut impl FnMut(Bend, &mut f32),
    ) {
        for index in 0..self.rest.len() {
            if self.rest[index] >= 0.0
                && let Some(bend) = self.bend(self.pair(layout, index), layout)
            {
                measure(bend, &mut self.rest[index]);
            }
        }
    }

    /// Removes a constraint.
    pub(in crate::solver) fn remove(&mut self, index: usize) {
        self.rest[index] = NONE;
        if let Some(load) = self.load.get_mut(index) {
            *load = 0.0;
        }
    }

    /// Takes the distances between particles at these positions as the new rest lengths.
    pub(in crate::solver) fn set_rest_lengths(
        &mut self,
        layout: &SheetLayout,
        positions: &SoaVec3,
    ) {
        if self.kind() == ConstraintKind::Bend {
            return;
        }
        for index in 0..self.rest.len() {
            if self.rest[index] >= 0.0 {
                let [a, b] = self.pair(layout, index);
                self.rest[index] = distance(positions, a, b);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_stored_once_and_found_again() {
        for (columns, rows) in [(2, 2), (5, 3), (7, 33), (40, 64), (3, 100)] {
            let layout = SheetLayout {
                first: 11,
                columns,
                rows,
            };
            for (number, weave) in Weave::ALL.into_iter().enumerate() {
                let family = Family::empty(weave, &layout);
                let mut seen = std::collections::HashSet::new();
                for index in 0..family.rest.len() {
                    let place = family.place(&layout, index);
                    let [a, b] = family.pair(&layout, index);
                    assert!(a < b);
                    let (from, to) = (layout.place(a).unwrap(), layout.place(b).unwrap());
                    assert_eq!(Weave::between(from, to), Some(number));
                    // The last group of a line may begin with some of the one before.
                    let first = !seen.contains(&[a, b]);
                    assert_eq!(family.index(&layout, place) == index, first);
                    seen.insert([a, b]);
                }
                let [across, along] = weave.extent(&layout);
                assert_eq!(seen.len(), across * along);
            }
        }
    }
}
