//! Constraints of a grid, by direction. In each of the six directions a particle at row r and column c has
//! one neighbour.

use super::{GridLayout, groups::LaneGroups};
use crate::solver::{
    constraints::{
        bend::{BendConstraint, BendStencil},
        graph::{Compliance, ConstraintKind, DistanceConstraint, distance},
    },
    simd::{aligned::AlignedVec, soa::SoaVec3},
};

/// Rest length, or ρ of a bend, that marks a missing constraint.
pub(super) const ABSENT: f32 = -1.0;

/// Direction of the constraints in a set: warp runs from row to row, weft along a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) enum GridDirection {
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

impl GridDirection {
    /// All directions in solving order: the last ones are satisfied best, which must be warp and weft.
    pub(super) const ALL: [Self; 6] = [
        Self::ShearDown,
        Self::ShearUp,
        Self::BendWarp,
        Self::Warp,
        Self::BendWeft,
        Self::Weft,
    ];

    /// Selects the compliance of the distance constraints in this direction; 0 for bends.
    pub(in crate::solver) fn compliance(self, compliance: &Compliance) -> f32 {
        match self {
            Self::Warp => compliance.warp,
            Self::Weft => compliance.weft,
            Self::ShearDown | Self::ShearUp => compliance.shear,
            Self::BendWarp | Self::BendWeft => 0.0,
        }
    }

    /// Returns the index in [`ALL`](Self::ALL) of the direction between two cells (row, column); the first
    /// one must be the particle with the smaller index.
    pub(super) fn index_between([r, c]: [usize; 2], [to_r, to_c]: [usize; 2]) -> Option<usize> {
        let direction = match (to_r as isize - r as isize, to_c as isize - c as isize) {
            (1, 1) => Self::ShearDown,
            (1, -1) => Self::ShearUp,
            (2, 0) => Self::BendWarp,
            (1, 0) => Self::Warp,
            (0, 2) => Self::BendWeft,
            (0, 1) => Self::Weft,
            _ => return None,
        };
        Self::ALL.iter().position(|other| *other == direction)
    }

    pub(super) fn kind(self) -> ConstraintKind {
        match self {
            Self::ShearDown | Self::ShearUp => ConstraintKind::Shear,
            Self::BendWarp | Self::BendWeft => ConstraintKind::Bend,
            Self::Warp | Self::Weft => ConstraintKind::Structural,
        }
    }

    /// Returns the number of constraints side by side, which are independent, and the number of constraints
    /// one after the other, each of which depends on the one before.
    fn extent(self, layout: &GridLayout) -> [usize; 2] {
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

    /// Returns the number of values that a set stores, with groups filled up.
    fn stored_len(self, layout: &GridLayout) -> usize {
        let [across, along] = self.extent(layout);
        LaneGroups::of(across).stored_len() * along
    }
}

/// Constraints of one direction, group by group ([`LaneGroups`]): warp, weft and bends along their chains,
/// shear row by row.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct GridConstraintSet {
    direction: GridDirection,
    /// Rest lengths, m, or ρ of bends, m², all of which are flat and of equal edges; [`ABSENT`] where there is
    /// no constraint.
    pub(in crate::solver) rest: AlignedVec,
    /// Lagrange multipliers of the running substep, or empty, as in a batch.
    pub(in crate::solver) lambda: AlignedVec,
    /// Mean tension during the running step, N, or empty, as in a batch.
    pub(in crate::solver) load: AlignedVec,
    count: usize,
}

impl GridConstraintSet {
    pub(super) fn empty(direction: GridDirection, layout: &GridLayout) -> Self {
        Self {
            direction,
            rest: AlignedVec::filled(direction.stored_len(layout), ABSENT),
            lambda: AlignedVec::new(),
            load: AlignedVec::new(),
            count: 0,
        }
    }

    pub(in crate::solver) fn kind(&self) -> ConstraintKind {
        self.direction.kind()
    }

    pub(in crate::solver) fn direction(&self) -> GridDirection {
        self.direction
    }

    pub(in crate::solver) fn len(&self) -> usize {
        self.count
    }

    /// Returns whether the set is of this direction and its arrays and count fit the layout.
    pub(super) fn is_sound(&self, direction: GridDirection, layout: &GridLayout) -> bool {
        let len = direction.stored_len(layout);
        let optional = |values: &[f32]| values.is_empty() || values.len() == len;
        let present = self.rest.iter().filter(|&&rest| rest >= 0.0).count();
        self.direction == direction
            && self.rest.len() == len
            && self.count == present
            && optional(&self.lambda)
            && optional(&self.load)
    }

    pub(super) fn recount(&mut self) {
        self.count = self.rest.iter().filter(|&&rest| rest >= 0.0).count();
    }

    /// Returns the storage index of the constraint at a row and column.
    pub(super) fn index(&self, layout: &GridLayout, [r, c]: [usize; 2]) -> usize {
        let [across, along] = self.direction.extent(layout);
        let [side, behind] = if self.direction.is_weft() {
            [r, c]
        } else {
            [c, r]
        };
        let groups = LaneGroups::of(across);
        let [group, lane] = groups.group_and_lane(side);
        let line = if self.direction.is_shear() {
            behind * groups.len() + group
        } else {
            group * along + behind
        };
        line * groups.size() + lane
    }

    /// Returns row and column of a stored constraint.
    pub(super) fn row_column(&self, layout: &GridLayout, index: usize) -> [usize; 2] {
        let [across, along] = self.direction.extent(layout);
        let groups = LaneGroups::of(across);
        let (line, lane) = (index / groups.size(), index % groups.size());
        let [group, behind] = if self.direction.is_shear() {
            [line % groups.len(), line / groups.len()]
        } else {
            [line / along, line % along]
        };
        let side = groups.start(group) + lane;
        if self.direction.is_weft() {
            [side, behind]
        } else {
            [behind, side]
        }
    }

    /// Returns the two particles of a stored constraint; of a bend, its ends.
    pub(in crate::solver) fn pair(&self, layout: &GridLayout, index: usize) -> [u32; 2] {
        let [r, c] = self.row_column(layout, index);
        let at = |r: usize, c: usize| layout.first + (r * layout.columns as usize + c) as u32;
        match self.direction {
            GridDirection::ShearDown => [at(r, c), at(r + 1, c + 1)],
            GridDirection::ShearUp => [at(r, c + 1), at(r + 1, c)],
            GridDirection::BendWarp => [at(r, c), at(r + 2, c)],
            GridDirection::Warp => [at(r, c), at(r + 1, c)],
            GridDirection::BendWeft => [at(r, c), at(r, c + 2)],
            GridDirection::Weft => [at(r, c), at(r, c + 1)],
        }
    }

    /// Iterates over row and column of the first particle of each missing constraint.
    pub(super) fn missing(&self, layout: &GridLayout) -> impl Iterator<Item = [usize; 2]> + '_ {
        let layout = *layout;
        let absent = (0..self.rest.len()).filter(|&index| self.rest[index] < 0.0);
        absent.filter_map(move |index| {
            let row_column = self.row_column(&layout, index);
            // A group may leave out constraints because the group before has them: these are not missing.
            (self.index(&layout, row_column) == index).then_some(row_column)
        })
    }

    /// Inserts a constraint between two cells (row, column); the first one must be the particle with the
    /// smaller index.
    pub(super) fn insert(
        &mut self,
        layout: &GridLayout,
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

    /// Iterates over the constraints with their storage indices.
    pub(in crate::solver) fn iter(
        &self,
        layout: &GridLayout,
    ) -> impl Iterator<Item = (usize, DistanceConstraint)> + '_ {
        let layout = *layout;
        let present = (0..self.rest.len()).filter(|&index| self.rest[index] >= 0.0);
        present.map(move |index| (index, self.constraint(&layout, index)))
    }

    /// Removes the constraints for which `keep` returns false.
    pub(in crate::solver) fn retain(
        &mut self,
        layout: &GridLayout,
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

    /// Returns the constraint at a storage index; it must not be missing.
    pub(in crate::solver) fn constraint(
        &self,
        layout: &GridLayout,
        index: usize,
    ) -> DistanceConstraint {
        let particles = self.pair(layout, index);
        DistanceConstraint {
            kind: self.kind(),
            particles,
            rest_length: self.rest[index],
            middle: self
                .bend_between(particles, layout)
                .map(|stencil| stencil.middle),
        }
    }

    /// Returns the stencil of the bend between two ends, if this is a set of bends.
    pub(super) fn bend_between(
        &self,
        [a, b]: [u32; 2],
        layout: &GridLayout,
    ) -> Option<BendStencil> {
        let step = match self.direction {
            GridDirection::BendWarp => layout.columns,
            GridDirection::BendWeft => 1,
            _ => return None,
        };
        Some(BendStencil::three_point([a, a + step, b]))
    }

    /// Returns the bend constraint at a storage index, if this is a set of bends; it must not be missing.
    pub(in crate::solver) fn bend_constraint(
        &self,
        layout: &GridLayout,
        index: usize,
    ) -> Option<BendConstraint> {
        let stencil = self.bend_between(self.pair(layout, index), layout)?;
        let [a, b] = stencil.ends;
        let particles = [a, stencil.middle[0], b];
        Some(BendConstraint::uniform(particles, self.rest[index]))
    }

    /// Returns the largest generalized inverse mass w₀ + 4w₁ + w₂ of a bend, divided by its ρ: 1/(kg·m²).
    /// `w` are the inverse masses of the particles of the grid, 1/kg.
    pub(super) fn max_bend_mobility(&self, layout: &GridLayout, w: &[f32]) -> f32 {
        let [across, along] = self.direction.extent(layout);
        let groups = LaneGroups::of(across);
        let columns = layout.columns as usize;
        // Index strides between neighbouring chains and between neighbouring particles of a chain.
        let [aside, step] = if self.direction.is_weft() {
            [columns, 1]
        } else {
            [1, columns]
        };
        let mut largest = 0.0_f32;
        for (line, rhos) in self.rest.chunks_exact(groups.size()).enumerate() {
            let first = groups.start(line / along) * aside + line % along * step;
            for (lane, &rho) in rhos.iter().enumerate() {
                let [w0, w1, w2] = [0, 1, 2].map(|i| w[first + lane * aside + i * step]);
                let masses = w0 + 4.0 * w1 + w2;
                if rho > 0.0 && masses > largest * rho {
                    largest = masses / rho;
                }
            }
        }
        largest
    }

    /// Calls `measure` with the stencil and ρ of each bend, to be updated.
    pub(in crate::solver) fn measure_bends(
        &mut self,
        layout: &GridLayout,
        measure: &mut impl FnMut(BendStencil, &mut f32),
    ) {
        for index in 0..self.rest.len() {
            if self.rest[index] >= 0.0
                && let Some(stencil) = self.bend_between(self.pair(layout, index), layout)
            {
                measure(stencil, &mut self.rest[index]);
            }
        }
    }

    /// Removes a constraint.
    pub(in crate::solver) fn remove(&mut self, index: usize) {
        self.rest[index] = ABSENT;
        if let Some(load) = self.load.get_mut(index) {
            *load = 0.0;
        }
    }

    /// Sets the rest lengths to the distances between particles at these positions, m.
    pub(in crate::solver) fn set_rest_lengths(&mut self, layout: &GridLayout, positions: &SoaVec3) {
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
    fn every_constraint_is_stored_once_and_found_again() {
        for (columns, rows) in [(2, 2), (5, 3), (7, 33), (40, 64), (3, 100)] {
            let layout = GridLayout {
                first: 11,
                columns,
                rows,
            };
            for (number, direction) in GridDirection::ALL.into_iter().enumerate() {
                let set = GridConstraintSet::empty(direction, &layout);
                let mut seen = std::collections::HashSet::new();
                for index in 0..set.rest.len() {
                    let row_column = set.row_column(&layout, index);
                    let [a, b] = set.pair(&layout, index);
                    assert!(a < b);
                    let (from, to) = (layout.row_column(a).unwrap(), layout.row_column(b).unwrap());
                    assert_eq!(GridDirection::index_between(from, to), Some(number));
                    // The last group may begin with constraints of the group before.
                    let first = !seen.contains(&[a, b]);
                    assert_eq!(set.index(&layout, row_column) == index, first);
                    seen.insert([a, b]);
                }
                let [across, along] = direction.extent(&layout);
                assert_eq!(seen.len(), across * along);
            }
        }
    }
}
