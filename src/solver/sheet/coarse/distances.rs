//! The greatest distances between the nodes of a level: how long the threads between them are.

use super::{
    super::{
        Family, SheetLayout,
        family::{NONE, Weave},
    },
    axis::Axis,
};
use crate::solver::{aligned::AlignedVec, constraints::ConstraintKind};

/// Lengths are sums, which rounding may leave too short. So much longer they never hold what is at
/// rest.
const LONGER: f32 = 1.0001;

/// How much longer diagonals may get: cloth shears before it stretches, or it could not lie on a ball
/// without folds. Held to their rest length, as threads are, they compressed the threads of a 64²
/// cloth on a ball by half as much again and kept it trembling.
const SHEARED: f32 = 1.1;

/// Distances to the node on the right (stored column by column), below, below right, and from the
/// right one to the one below.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Distances {
    pub(super) weft: AlignedVec,
    pub(super) warp: AlignedVec,
    pub(super) down: AlignedVec,
    pub(super) up: AlignedVec,
}

impl Distances {
    /// Those between nodes that have no hole around them.
    pub(super) fn measure(
        layout: &SheetLayout,
        families: &[Family; 6],
        [rows, columns]: [&Axis; 2],
        holes: &[Hole],
    ) -> Self {
        let (height, width) = (rows.len(), columns.len());
        let whole = whole_nodes([rows, columns], holes);
        let walk = |from: [usize; 2], to: [usize; 2], number: usize| {
            let whole = whole[from[0] * width + from[1]] && whole[to[0] * width + to[1]];
            let place = |[i, j]: [usize; 2]| [rows.nodes[i] as usize, columns.nodes[j] as usize];
            let length = walk(layout, families, place(from), place(to), number);
            let sheared = Weave::ALL[number].kind() == ConstraintKind::Shear;
            if whole {
                length * if sheared { SHEARED } else { LONGER }
            } else {
                NONE
            }
        };
        let number = |weave: Weave| Weave::ALL.iter().position(|w| *w == weave).unwrap_or(0);
        let (weft, warp) = (number(Weave::Weft), number(Weave::Warp));
        let (down, up) = (number(Weave::ShearDown), number(Weave::ShearUp));
        let pairs = |height: usize, width: usize| {
            (0..height).flat_map(move |i| (0..width).map(move |j| (i, j)))
        };
        let wefts = (0..width - 1)
            .flat_map(|j| (0..height).map(move |i| (i, j)))
            .map(|(i, j)| walk([i, j], [i, j + 1], weft))
            .collect();
        let warps = pairs(height - 1, width)
            .map(|(i, j)| walk([i, j], [i + 1, j], warp))
            .collect();
        let downs = pairs(height - 1, width - 1)
            .map(|(i, j)| walk([i, j], [i + 1, j + 1], down))
            .collect();
        let ups = pairs(height - 1, width - 1)
            .map(|(i, j)| walk([i, j + 1], [i + 1, j], up))
            .collect();
        Self {
            weft: wefts,
            warp: warps,
            down: downs,
            up: ups,
        }
    }

    /// Takes those between nodes that are not idle, so many times as long.
    pub(super) fn take(
        &mut self,
        all: &Self,
        longer: f32,
        idle: &[bool],
        [height, width]: [usize; 2],
    ) {
        let take = |to: &mut AlignedVec, from: &[f32], nodes: &dyn Fn(usize) -> [usize; 2]| {
            to.clear();
            to.extend(from.iter().enumerate().map(|(index, &rest)| {
                let is_idle = nodes(index).iter().any(|&node| idle[node]);
                if is_idle { NONE } else { rest * longer }
            }));
        };
        take(&mut self.weft, &all.weft, &|index| {
            let node = index % height * width + index / height;
            [node, node + 1]
        });
        take(&mut self.warp, &all.warp, &|index| [index, index + width]);
        let corner = |index: usize| index / (width - 1) * width + index % (width - 1);
        take(&mut self.down, &all.down, &|index| {
            [corner(index), corner(index) + width + 1]
        });
        take(&mut self.up, &all.up, &|index| {
            [corner(index) + 1, corner(index) + width]
        });
    }
}

/// Which nodes have no hole in any of the cells around them.
fn whole_nodes([rows, columns]: [&Axis; 2], holes: &[Hole]) -> Vec<bool> {
    let (height, width) = (rows.len(), columns.len());
    let mut whole = vec![true; height * width];
    // The cells, by their first and last node, that contain the particles from `from` to `to`.
    let cells = |axis: &Axis, from: usize, to: usize| {
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
            whole[i * width + j0..=i * width + j1].fill(false);
        }
    }
    whole
}

/// A thread that is not there.
pub(super) struct Hole {
    /// Row and column of its first particle.
    r: usize,
    c: usize,
    /// Whether it runs along the row.
    along_row: bool,
}

/// All threads that are not there.
pub(super) fn holes(layout: &SheetLayout, families: &[Family; 6]) -> Vec<Hole> {
    let mut holes = Vec::new();
    for family in families {
        let along_row = match family.weave() {
            Weave::Weft => true,
            Weave::Warp => false,
            _ => continue,
        };
        holes.extend(
            family
                .missing(layout)
                .map(|[r, c]| Hole { r, c, along_row }),
        );
    }
    holes
}

/// Length of the way from one place to another in steps of a family, and straight on where the other
/// side is farther; negative if there is a hole in it.
fn walk(
    layout: &SheetLayout,
    families: &[Family; 6],
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
        let Some(step) = Weave::between(first, second) else {
            return NONE;
        };
        if !straight && step != number {
            return NONE;
        }
        let family = &families[step];
        let rest = family.rest[family.index(layout, [first[0], at[1].min(next[1])])];
        if rest < 0.0 {
            return NONE;
        }
        length += rest;
        at = next;
    }
    length
}
