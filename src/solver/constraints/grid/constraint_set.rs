//! Constraints of a grid, by direction. In each of the six directions a particle at row r and column c has
//! one neighbour.

use super::{GridLayout, groups::LaneGroups};
use crate::solver::constraints::{
    bend::BendStencil,
    compliance::Compliance,
    constraint::ConstraintKind,
    list::{ConstraintList, Slots},
};

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

    /// Returns the number of slots of a set, with groups filled up.
    fn slots(self, layout: &GridLayout) -> usize {
        let [across, along] = self.extent(layout);
        LaneGroups::of(across).stored_len() * along
    }

    /// Returns the slot of the constraint at a row and column.
    pub(super) fn slot(self, layout: &GridLayout, [r, c]: [usize; 2]) -> usize {
        let [across, along] = self.extent(layout);
        let [side, behind] = if self.is_weft() { [r, c] } else { [c, r] };
        let groups = LaneGroups::of(across);
        let [group, lane] = groups.group_and_lane(side);
        let line = if self.is_shear() {
            behind * groups.len() + group
        } else {
            group * along + behind
        };
        line * groups.size() + lane
    }

    /// Returns row and column of the constraint in a slot.
    pub(super) fn row_column(self, layout: &GridLayout, slot: usize) -> [usize; 2] {
        let [across, along] = self.extent(layout);
        let groups = LaneGroups::of(across);
        let (line, lane) = (slot / groups.size(), slot % groups.size());
        let [group, behind] = if self.is_shear() {
            [line % groups.len(), line / groups.len()]
        } else {
            [line / along, line % along]
        };
        let side = groups.start(group) + lane;
        if self.is_weft() {
            [side, behind]
        } else {
            [behind, side]
        }
    }

    /// Returns the two particles of the constraint in a slot; of a bend, its ends.
    pub(in crate::solver) fn ends(self, layout: &GridLayout, slot: usize) -> [u32; 2] {
        let [r, c] = self.row_column(layout, slot);
        let at = |r: usize, c: usize| layout.first + (r * layout.columns as usize + c) as u32;
        match self {
            Self::ShearDown => [at(r, c), at(r + 1, c + 1)],
            Self::ShearUp => [at(r, c + 1), at(r + 1, c)],
            Self::BendWarp => [at(r, c), at(r + 2, c)],
            Self::Warp => [at(r, c), at(r + 1, c)],
            Self::BendWeft => [at(r, c), at(r, c + 2)],
            Self::Weft => [at(r, c), at(r, c + 1)],
        }
    }

    /// Returns the stencil of the bend in a slot.
    pub(in crate::solver) fn bend_stencil(self, layout: &GridLayout, slot: usize) -> BendStencil {
        let [a, b] = self.ends(layout, slot);
        BendStencil::three_point([a, a + (b - a) / 2, b])
    }
}

/// Constraints of one direction, group by group ([`LaneGroups`]): warp, weft and bends along their chains,
/// shear row by row. All bends are flat and of equal edges.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct GridConstraintSet {
    pub(in crate::solver) direction: GridDirection,
    pub(in crate::solver) list: ConstraintList,
}

impl GridConstraintSet {
    pub(super) fn empty(direction: GridDirection, layout: &GridLayout) -> Self {
        Self {
            direction,
            list: ConstraintList::vacant(direction.kind(), direction.slots(layout)),
        }
    }

    /// Returns whether the set is of this direction and its list fits the layout.
    pub(super) fn is_sound(&self, direction: GridDirection, layout: &GridLayout) -> bool {
        self.direction == direction
            && self
                .list
                .is_sound(direction.kind(), direction.slots(layout))
    }

    /// Returns the particles of the slots.
    pub(super) fn slots<'a>(&self, layout: &'a GridLayout) -> Slots<'a> {
        Slots::Grid(layout, self.direction)
    }

    /// Returns the slot between two cells (row, column); the first one must be the particle with the smaller index.
    pub(super) fn slot_between(
        &self,
        layout: &GridLayout,
        [r, c]: [usize; 2],
        [_, to_c]: [usize; 2],
    ) -> usize {
        self.direction.slot(layout, [r, c.min(to_c)])
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
        for (line, rhos) in self.list.rest.chunks_exact(groups.size()).enumerate() {
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
                let mut seen = std::collections::HashSet::new();
                for index in 0..direction.slots(&layout) {
                    let row_column = direction.row_column(&layout, index);
                    let [a, b] = direction.ends(&layout, index);
                    assert!(a < b);
                    let (from, to) = (layout.row_column(a).unwrap(), layout.row_column(b).unwrap());
                    assert_eq!(GridDirection::index_between(from, to), Some(number));
                    // The last group may begin with constraints of the group before.
                    let first = !seen.contains(&[a, b]);
                    assert_eq!(direction.slot(&layout, row_column) == index, first);
                    seen.insert([a, b]);
                }
                let [across, along] = direction.extent(&layout);
                assert_eq!(seen.len(), across * along);
            }
        }
    }
}
