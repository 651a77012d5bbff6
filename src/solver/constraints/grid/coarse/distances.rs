//! Largest distances between the nodes of a level: the lengths of the edges between them.

use super::{
    super::{
        GridConstraintSet, GridLayout,
        constraint_set::{ABSENT, GridDirection},
    },
    axis::NodeAxis,
};
use crate::solver::{constraints::graph::ConstraintKind, simd::aligned::AlignedVec};

/// Factor on the distances along warp and weft, which are sums and may be too short by rounding. With it, no
/// cloth at rest is affected.
const ROUNDING_MARGIN: f32 = 1.0001;

/// Factor on the distances along diagonals: cloth shears before it stretches, or it could not lie on a ball
/// without folds. With 1, diagonals compressed warp and weft of a 64² cloth on a ball by half as much again
/// and kept it trembling.
const SHEAR_MARGIN: f32 = 1.1;

/// Largest distances, m, from each node to the next one along the row (`weft`, stored column by column), along
/// the column (`warp`) and along both diagonals (`down` and `up`, see [`GridDirection`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NodeDistances {
    pub(super) weft: AlignedVec,
    pub(super) warp: AlignedVec,
    pub(super) down: AlignedVec,
    pub(super) up: AlignedVec,
}

impl NodeDistances {
    /// Measures the distances between nodes that have no missing edge around them.
    pub(super) fn measure(
        layout: &GridLayout,
        sets: &[GridConstraintSet; 6],
        [rows, columns]: [&NodeAxis; 2],
        holes: &[Hole],
    ) -> Self {
        let (height, width) = (rows.len(), columns.len());
        let intact = intact_nodes([rows, columns], holes);
        let distance = |from: [usize; 2], to: [usize; 2], number: usize| {
            let is_intact = intact[from[0] * width + from[1]] && intact[to[0] * width + to[1]];
            let particle = |[i, j]: [usize; 2]| [rows.nodes[i] as usize, columns.nodes[j] as usize];
            let length = path_length(layout, sets, particle(from), particle(to), number);
            let is_shear = GridDirection::ALL[number].kind() == ConstraintKind::Shear;
            if is_intact {
                length
                    * if is_shear {
                        SHEAR_MARGIN
                    } else {
                        ROUNDING_MARGIN
                    }
            } else {
                ABSENT
            }
        };
        let number = |direction: GridDirection| {
            let mut all = GridDirection::ALL.iter();
            all.position(|other| *other == direction).unwrap_or(0)
        };
        let (weft, warp) = (number(GridDirection::Weft), number(GridDirection::Warp));
        let (down, up) = (
            number(GridDirection::ShearDown),
            number(GridDirection::ShearUp),
        );
        let pairs = |height: usize, width: usize| {
            (0..height).flat_map(move |i| (0..width).map(move |j| (i, j)))
        };
        let wefts = (0..width - 1)
            .flat_map(|j| (0..height).map(move |i| (i, j)))
            .map(|(i, j)| distance([i, j], [i, j + 1], weft))
            .collect();
        let warps = pairs(height - 1, width)
            .map(|(i, j)| distance([i, j], [i + 1, j], warp))
            .collect();
        let downs = pairs(height - 1, width - 1)
            .map(|(i, j)| distance([i, j], [i + 1, j + 1], down))
            .collect();
        let ups = pairs(height - 1, width - 1)
            .map(|(i, j)| distance([i, j + 1], [i + 1, j], up))
            .collect();
        Self {
            weft: wefts,
            warp: warps,
            down: downs,
            up: ups,
        }
    }

    /// Copies the distances between active nodes, multiplied by `max_stretch`.
    pub(super) fn copy_active(
        &mut self,
        all: &Self,
        max_stretch: f32,
        inactive: &[bool],
        [height, width]: [usize; 2],
    ) {
        let copy = |to: &mut AlignedVec, from: &[f32], nodes: &dyn Fn(usize) -> [usize; 2]| {
            to.clear();
            to.extend(from.iter().enumerate().map(|(index, &rest)| {
                let is_inactive = nodes(index).iter().any(|&node| inactive[node]);
                if is_inactive {
                    ABSENT
                } else {
                    rest * max_stretch
                }
            }));
        };
        copy(&mut self.weft, &all.weft, &|index| {
            let node = index % height * width + index / height;
            [node, node + 1]
        });
        copy(&mut self.warp, &all.warp, &|index| [index, index + width]);
        let corner = |index: usize| index / (width - 1) * width + index % (width - 1);
        copy(&mut self.down, &all.down, &|index| {
            [corner(index), corner(index) + width + 1]
        });
        copy(&mut self.up, &all.up, &|index| {
            [corner(index) + 1, corner(index) + width]
        });
    }
}

/// Returns for each node whether no cell around it has a missing edge.
fn intact_nodes([rows, columns]: [&NodeAxis; 2], holes: &[Hole]) -> Vec<bool> {
    let (height, width) = (rows.len(), columns.len());
    let mut intact = vec![true; height * width];
    // First and last node of the cells that contain the particles from `from` to `to`.
    let cells = |axis: &NodeAxis, from: usize, to: usize| {
        let before = |node: &&u32| (**node as usize) < from;
        let first = axis.nodes.iter().take_while(before).count();
        let upto = |node: &&u32| (**node as usize) <= to;
        let last = axis.nodes.iter().take_while(upto).count();
        (first.saturating_sub(1), last.min(axis.len() - 1))
    };
    for &Hole { r, c, along_row } in holes {
        let (bottom, right) = if along_row { (r, c + 1) } else { (r + 1, c) };
        let (i0, i1) = cells(rows, r, bottom);
        let (j0, j1) = cells(columns, c, right);
        for i in i0..=i1 {
            intact[i * width + j0..=i * width + j1].fill(false);
        }
    }
    intact
}

/// Missing edge of warp or weft.
pub(super) struct Hole {
    /// Row of its first particle.
    r: usize,
    /// Column of its first particle.
    c: usize,
    /// Whether it belongs to weft, which runs along rows.
    along_row: bool,
}

/// Returns all missing edges of warp and weft.
pub(super) fn find_holes(layout: &GridLayout, sets: &[GridConstraintSet; 6]) -> Vec<Hole> {
    let mut holes = Vec::new();
    for set in sets {
        let along_row = match set.direction() {
            GridDirection::Weft => true,
            GridDirection::Warp => false,
            _ => continue,
        };
        holes.extend(set.missing(layout).map(|[r, c]| Hole { r, c, along_row }));
    }
    holes
}

/// Returns the length of the path between two particles (row, column): steps in the direction `number`, then,
/// from the row or column of the target on, straight along it. [`ABSENT`] if a constraint is missing.
fn path_length(
    layout: &GridLayout,
    sets: &[GridConstraintSet; 6],
    from: [usize; 2],
    to: [usize; 2],
    number: usize,
) -> f32 {
    let toward = |from: usize, to: usize| (from + usize::from(to > from)) - usize::from(to < from);
    let mut length = 0.0;
    let mut at = from;
    while at != to {
        let straight = at[0] == to[0] || at[1] == to[1];
        let next = [toward(at[0], to[0]), toward(at[1], to[1])];
        let (first, second) = (at.min(next), at.max(next));
        let Some(step) = GridDirection::index_between(first, second) else {
            return ABSENT;
        };
        if !straight && step != number {
            return ABSENT;
        }
        let set = &sets[step];
        let rest = set.rest[set.index(layout, [first[0], at[1].min(next[1])])];
        if rest < 0.0 {
            return ABSENT;
        }
        length += rest;
        at = next;
    }
    length
}
