//! Holds a sheet together over long distances: a hierarchy of ever coarser grids (after Müller,
//! "Hierarchical Position Based Dynamics", 2008).
//!
//! Along a row, a column or a diagonal no two particles can be farther apart than the threads between
//! them are long, however the cloth is folded. Each level keeps that between every 4th, 8th, 16th, …
//! particle, its nodes, the coarsest level first; what moves a node moves all particles around it,
//! in proportion (bilinear interpolation). A node has the mass of what it moves, so momentum is kept.
//!
//! A node speaks for the particles around it. One that was torn away from its neighbours, by a hand
//! say, does not: until it is back, it holds nothing and moves nothing, or it would push them off.
//!
//! Around a hole in the threads, where the cloth is torn, nodes hold nothing and move nothing.

use super::{
    Family, SheetLayout,
    family::Weave,
    project::{Planes, project},
    transpose::transpose,
};
use crate::solver::{constraints::ConstraintKind, relax::Softness};

/// Distance of the nodes of the finest level. Nearer ones gain little: threads are solved whole.
const FINEST: usize = 4;

/// Lengths are sums, which rounding may leave too short. So much longer they never hold what is at
/// rest.
const LONGER: f32 = 1.0001;

/// How much longer diagonals may get: cloth shears before it stretches, or it could not lie on a ball
/// without folds. Held to their rest length, as threads are, they compressed the threads of a 64²
/// cloth on a ball by half as much again and kept it trembling.
const SHEARED: f32 = 1.1;

/// A node whose own thread is longer than this, as a multiple of its rest length, has been torn away.
const TORN_AWAY: f32 = 1.2;

/// Sheets of fewer particles than this along both sides need no long distances.
const SMALLEST: u32 = 9;

/// All levels of a sheet.
#[derive(Clone, Default)]
pub(super) struct Coarse {
    /// From fine to coarse.
    levels: Vec<Level>,
    /// Rest lengths or threads have changed.
    pub(super) outdated: bool,
    /// What the masses of the nodes were made from.
    masses: Option<u32>,
}

/// All of it follows from rest lengths and masses.
impl PartialEq for Coarse {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for Coarse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Coarse({} levels)", self.levels.len())
    }
}

/// Nodes along one side of a sheet.
#[derive(Clone, Debug, Default, PartialEq)]
struct Axis {
    /// Where the nodes are, in particles.
    nodes: Vec<u32>,
    /// For each particle, or node of the next finer level: the node at or before it, and its place
    /// on the way to the next one, 0 to 1.
    between: Vec<(u32, f32)>,
}

impl Axis {
    /// Nodes `stride` apart, and one at the end; `finer` are the places that they move.
    fn new(length: usize, stride: usize, finer: impl Iterator<Item = u32>) -> Self {
        let mut nodes: Vec<u32> = (0..length as u32 - 1).step_by(stride).collect();
        nodes.push(length as u32 - 1);
        let mut node = 0;
        let between = finer
            .map(|place| {
                while node + 2 < nodes.len() && nodes[node + 1] <= place {
                    node += 1;
                }
                let way = (place - nodes[node]) as f32 / (nodes[node + 1] - nodes[node]) as f32;
                (node as u32, way)
            })
            .collect();
        Self { nodes, between }
    }

    fn len(&self) -> usize {
        self.nodes.len()
    }
}

/// Distances to the node on the right (stored column by column), below, below right, and from the
/// right one to the one below.
#[derive(Clone, Debug, Default, PartialEq)]
struct Distances {
    weft: Vec<f32>,
    warp: Vec<f32>,
    down: Vec<f32>,
    up: Vec<f32>,
}

impl Distances {
    /// Takes those between nodes that are not idle.
    fn take(&mut self, all: &Self, idle: &[bool], height: usize, width: usize) {
        let take = |to: &mut Vec<f32>, from: &[f32], nodes: &dyn Fn(usize) -> [usize; 2]| {
            to.clear();
            to.extend(from.iter().enumerate().map(|(index, &rest)| {
                let is_idle = nodes(index).iter().any(|&node| idle[node]);
                if is_idle { super::family::NONE } else { rest }
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

/// A coarse grid.
#[derive(Clone, Debug, Default, PartialEq)]
struct Level {
    rows: Axis,
    columns: Axis,
    /// Greatest distances, m, or none.
    all: Distances,
    /// The same without those of idle nodes.
    active: Distances,
    /// Nodes that have been torn away.
    idle: Vec<bool>,
    /// Inverse masses of the nodes, 1/kg, row by row and column by column.
    w: Vec<f32>,
    w_turned: Vec<f32>,
    /// Where the nodes are, then how far they move.
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
}

/// Room for work, as much as the finest level needs.
#[derive(Default)]
pub(super) struct CoarseScratch {
    turned: [Vec<f32>; 3],
    /// How far the particles of two rows move: those at the nodes above and below.
    rows: [[Vec<f32>; 3]; 2],
}

impl CoarseScratch {
    pub(super) fn fit(&mut self, layout: &SheetLayout) {
        let nodes = (layout.rows as usize).div_ceil(FINEST) + 1;
        let nodes = nodes * ((layout.columns as usize).div_ceil(FINEST) + 1);
        for plane in &mut self.turned {
            if plane.len() < nodes {
                plane.resize(nodes, 0.0);
            }
        }
        for plane in self.rows.as_flattened_mut() {
            if plane.len() < layout.columns as usize {
                plane.resize(layout.columns as usize, 0.0);
            }
        }
    }
}

impl Coarse {
    /// Brings everything up to date. `planes` and `inverse_mass` are those of the sheet's particles.
    pub(super) fn prepare(
        &mut self,
        layout: &SheetLayout,
        families: &[Family; 6],
        planes: [&[f32]; 3],
        inverse_mass: &[f32],
    ) {
        let first = self.masses.is_none();
        if first {
            self.levels = levels(layout);
        }
        if first || self.outdated {
            let holes = holes(layout, families);
            for level in &mut self.levels {
                level.set_distances(layout, families, &holes);
            }
            self.outdated = false;
        }
        let sum = checksum(inverse_mass);
        if self.masses != Some(sum) {
            self.masses = Some(sum);
            self.set_masses(layout, inverse_mass);
        }
        let [_, _, _, warp, _, weft] = families;
        self.find_idle(planes, layout, [weft, warp]);
    }

    fn set_masses(&mut self, layout: &SheetLayout, inverse_mass: &[f32]) {
        let mass = |w: f32| if w > 0.0 { 1.0 / w } else { 0.0 };
        let mut finer: Vec<f32> = inverse_mass.iter().copied().map(mass).collect();
        for level in &mut self.levels {
            let (rows, columns) = (&level.rows, &level.columns);
            let width = columns.len();
            let mut masses = vec![0.0; rows.len() * width];
            let across = columns.between.len();
            for (r, &(i, down)) in rows.between.iter().enumerate() {
                for (c, &(j, right)) in columns.between.iter().enumerate() {
                    let mass = finer[r * across + c];
                    let corner = i as usize * width + j as usize;
                    masses[corner] += mass * (1.0 - down) * (1.0 - right);
                    masses[corner + 1] += mass * (1.0 - down) * right;
                    masses[corner + width] += mass * down * (1.0 - right);
                    masses[corner + width + 1] += mass * down * right;
                }
            }
            level.w.clear();
            for (i, &r) in rows.nodes.iter().enumerate() {
                for (j, &c) in columns.nodes.iter().enumerate() {
                    let own = inverse_mass[r as usize * layout.columns as usize + c as usize];
                    let mass = masses[i * width + j];
                    // A node on a pinned particle does not move.
                    let free = own > 0.0 && mass > 0.0;
                    level.w.push(if free { 1.0 / mass } else { 0.0 });
                }
            }
            level.w_turned.resize(level.w.len(), 0.0);
            let height = rows.len();
            transpose(&level.w, width, &mut level.w_turned, height, height, width);
            finer = masses;
        }
    }

    /// Finds the nodes that have been torn away. `threads` are weft and warp.
    fn find_idle(&mut self, planes: [&[f32]; 3], layout: &SheetLayout, [weft, warp]: [&Family; 2]) {
        let columns = layout.columns as usize;
        let Some(finest) = self.levels.first_mut() else {
            return;
        };
        let rows = layout.rows as usize;
        let torn_away = |a: usize, b: usize, rest: f32| {
            let d = planes.map(|plane| plane[b] - plane[a]);
            let most = rest * TORN_AWAY;
            rest >= 0.0 && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > most * most
        };
        let mut changed = false;
        let mut node = 0;
        for &r in &finest.rows.nodes {
            let r = r as usize;
            let above = r.min(rows - 2);
            for &c in &finest.columns.nodes {
                let c = c as usize;
                let left = c.min(columns - 2);
                let along_row = r * columns + left;
                let along_column = above * columns + c;
                let of_weft = weft.rest[weft.index(layout, [r, left])];
                let of_warp = warp.rest[warp.index(layout, [above, c])];
                let is_idle = torn_away(along_row, along_row + 1, of_weft)
                    | torn_away(along_column, along_column + columns, of_warp);
                changed |= finest.idle[node] != is_idle;
                finest.idle[node] = is_idle;
                node += 1;
            }
        }
        if changed {
            self.spread_idle();
        }
    }

    /// A node is one on every coarser level too, or on none.
    fn spread_idle(&mut self) {
        for number in 0..self.levels.len() {
            let (finer, coarser) = self.levels.split_at_mut(number + 1);
            let level = &mut finer[number];
            let (height, width) = (level.rows.len(), level.columns.len());
            level.active.take(&level.all, &level.idle, height, width);
            let Some(coarser) = coarser.first_mut() else {
                return;
            };
            let mut idle = coarser.idle.iter_mut();
            for r in &coarser.rows.nodes {
                let i = level.rows.nodes.partition_point(|node| node < r);
                for c in &coarser.columns.nodes {
                    let j = level.columns.nodes.partition_point(|node| node < c);
                    if let Some(idle) = idle.next() {
                        *idle = level.idle[i * width + j];
                    }
                }
            }
        }
    }

    /// Puts what is too far apart back into reach.
    #[inline(always)]
    pub(super) fn hold(
        &mut self,
        planes: &mut Planes,
        columns: usize,
        stretch: Softness,
        shear: Softness,
        scratch: &mut CoarseScratch,
    ) {
        let count = self.levels.len();
        for number in (0..count).rev() {
            let (finer, coarser) = self.levels.split_at_mut(number + 1);
            let level = &mut finer[number];
            level.with_particles(planes, columns, |node, particle| *node = particle);
            if let Some(coarser) = coarser.first() {
                level.follow(coarser);
            }
            level.solve(stretch, shear, scratch);
            // From where nodes are to how far they are from their particles.
            level.with_particles(planes, columns, |node, particle| *node -= particle);
        }
        if let Some(finest) = self.levels.first()
            && finest.moves()
        {
            finest.move_particles(planes, columns, scratch);
        }
    }
}

/// Differs, but for rare chance, when any of the numbers does.
fn checksum(numbers: &[f32]) -> u32 {
    let weights = (0_u32..).map(|i| i.wrapping_mul(2_654_435_761) | 1);
    numbers
        .iter()
        .zip(weights)
        .fold(0, |sum, (number, weight): (&f32, u32)| {
            sum.wrapping_add(number.to_bits().wrapping_mul(weight))
        })
}

fn levels(layout: &SheetLayout) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    let [rows, columns] = [layout.rows as usize, layout.columns as usize];
    if layout.rows.max(layout.columns) < SMALLEST {
        return levels;
    }
    let mut stride = FINEST;
    loop {
        let level = match levels.last() {
            Some(finer) => Level {
                rows: Axis::new(rows, stride, finer.rows.nodes.iter().copied()),
                columns: Axis::new(columns, stride, finer.columns.nodes.iter().copied()),
                ..Default::default()
            },
            None => Level {
                rows: Axis::new(rows, stride, 0..rows as u32),
                columns: Axis::new(columns, stride, 0..columns as u32),
                ..Default::default()
            },
        };
        let done = level.rows.len() == 2 && level.columns.len() == 2;
        levels.push(level);
        if done {
            return levels;
        }
        stride *= 2;
    }
}

/// Threads that are not there: row and column of their first particle, and whether they run along
/// the row.
fn holes(layout: &SheetLayout, families: &[Family; 6]) -> Vec<(usize, usize, bool)> {
    let mut holes = Vec::new();
    for family in families {
        let along_row = match family.weave() {
            Weave::Weft => true,
            Weave::Warp => false,
            _ => continue,
        };
        holes.extend(family.missing(layout).map(|[r, c]| (r, c, along_row)));
    }
    holes
}

impl Level {
    fn set_distances(
        &mut self,
        layout: &SheetLayout,
        families: &[Family; 6],
        holes: &[(usize, usize, bool)],
    ) {
        let (height, width) = (self.rows.len(), self.columns.len());
        let whole = self.whole_nodes(holes);
        let walk = |from: [usize; 2], to: [usize; 2], number: usize| {
            let whole = whole[from[0] * width + from[1]] && whole[to[0] * width + to[1]];
            let place =
                |[i, j]: [usize; 2]| [self.rows.nodes[i] as usize, self.columns.nodes[j] as usize];
            let length = walk(layout, families, place(from), place(to), number);
            let sheared = Weave::ALL[number].kind() == ConstraintKind::Shear;
            if whole {
                length * if sheared { SHEARED } else { LONGER }
            } else {
                super::family::NONE
            }
        };
        let number = |weave: Weave| Weave::ALL.iter().position(|w| *w == weave).unwrap_or(0);
        let (weft, warp) = (number(Weave::Weft), number(Weave::Warp));
        let (down, up) = (number(Weave::ShearDown), number(Weave::ShearUp));
        let pairs = |rows: usize, columns: usize| {
            (0..rows).flat_map(move |i| (0..columns).map(move |j| (i, j)))
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
        self.all = Distances {
            weft: wefts,
            warp: warps,
            down: downs,
            up: ups,
        };
        self.active = self.all.clone();
        self.idle.clear();
        self.idle.resize(height * width, false);
        for plane in [&mut self.x, &mut self.y, &mut self.z] {
            plane.resize(height * width, 0.0);
        }
    }

    /// Which nodes have no hole in any of the cells around them.
    fn whole_nodes(&self, holes: &[(usize, usize, bool)]) -> Vec<bool> {
        let (height, width) = (self.rows.len(), self.columns.len());
        let mut whole = vec![true; height * width];
        // The cells, by their first and last node, that contain the particles from `from` to `to`.
        let cells = |axis: &Axis, from: usize, to: usize| {
            let before = |node: &&u32| (**node as usize) < from;
            let first = axis.nodes.iter().take_while(before).count();
            let upto = |node: &&u32| (**node as usize) <= to;
            let last = axis.nodes.iter().take_while(upto).count();
            (first.saturating_sub(1), last.min(axis.len() - 1))
        };
        for &(r, c, along_row) in holes {
            let (bottom, right) = if along_row { (r, c + 1) } else { (r + 1, c) };
            let (i0, i1) = cells(&self.rows, r, bottom);
            let (j0, j1) = cells(&self.columns, c, right);
            for i in i0..=i1 {
                whole[i * width + j0..=i * width + j1].fill(false);
            }
        }
        whole
    }

    /// Does something to each coordinate of each node, given that of its particle.
    #[inline(always)]
    fn with_particles(&mut self, planes: &Planes, columns: usize, work: impl Fn(&mut f32, f32)) {
        let width = self.columns.len();
        for (own, plane) in [
            (&mut self.x, &*planes.x),
            (&mut self.y, &*planes.y),
            (&mut self.z, &*planes.z),
        ] {
            for (own, &r) in own.chunks_exact_mut(width).zip(&self.rows.nodes) {
                let row = &plane[r as usize * columns..][..columns];
                for (own, &c) in own.iter_mut().zip(&self.columns.nodes) {
                    work(own, row[c as usize]);
                }
            }
        }
    }

    /// Moves the nodes with those of the coarser level.
    #[inline(always)]
    fn follow(&mut self, coarser: &Self) {
        let (width, nodes) = (self.columns.len(), coarser.columns.len());
        for (own, moved) in [
            (&mut self.x, &coarser.x),
            (&mut self.y, &coarser.y),
            (&mut self.z, &coarser.z),
        ] {
            let own = own.chunks_exact_mut(width);
            let weights = self.w.chunks_exact(width);
            for ((own, w), &(i, down)) in own.zip(weights).zip(&coarser.rows.between) {
                let above = &moved[i as usize * nodes..][..nodes];
                let below = &moved[(i as usize + 1) * nodes..][..nodes];
                let columns = own.iter_mut().zip(w).zip(&coarser.columns.between);
                for ((own, &w), &(j, right)) in columns {
                    let j = j as usize;
                    let top = above[j] + (above[j + 1] - above[j]) * right;
                    let bottom = below[j] + (below[j + 1] - below[j]) * right;
                    let moved = top + (bottom - top) * down;
                    *own += if w > 0.0 { moved } else { 0.0 };
                }
            }
        }
    }

    /// Projects all distances once, those in one direction after those in another.
    #[inline(always)]
    fn solve(&mut self, stretch: Softness, shear: Softness, scratch: &mut CoarseScratch) {
        let (height, width) = (self.rows.len(), self.columns.len());
        let active = &self.active;
        let mut planes = Planes {
            x: &mut self.x,
            y: &mut self.y,
            z: &mut self.z,
            w: &self.w,
        };
        for (rest, shift) in [(&active.down, [0, 1]), (&active.up, [1, 0])] {
            for first in 0..2 {
                for i in (first..height - 1).step_by(2) {
                    let (a, b) = (i * width + shift[0], (i + 1) * width + shift[1]);
                    let [a, b] = planes.rows(a, b, width - 1);
                    let rest = &rest[i * (width - 1)..][..width - 1];
                    project::<true>(a, b, rest, &mut [], shear);
                }
            }
        }
        for first in 0..2 {
            for i in (first..height - 1).step_by(2) {
                let [a, b] = planes.rows(i * width, (i + 1) * width, width);
                project::<true>(a, b, &active.warp[i * width..][..width], &mut [], stretch);
            }
        }
        let [x, y, z] = &mut scratch.turned;
        for (plane, turned) in [(&self.x, &mut *x), (&self.y, &mut *y), (&self.z, &mut *z)] {
            transpose(plane, width, turned, height, height, width);
        }
        let mut planes = Planes {
            x,
            y,
            z,
            w: &self.w_turned,
        };
        for first in 0..2 {
            for j in (first..width - 1).step_by(2) {
                let [a, b] = planes.rows(j * height, (j + 1) * height, height);
                project::<true>(a, b, &active.weft[j * height..][..height], &mut [], stretch);
            }
        }
        for (plane, turned) in [(&mut self.x, x), (&mut self.y, y), (&mut self.z, z)] {
            transpose(turned, height, plane, width, width, height);
        }
    }

    /// Whether any node has been moved.
    #[inline(always)]
    fn moves(&self) -> bool {
        let moved = |plane: &[f32]| plane.iter().fold(false, |moved, &d| moved | (d != 0.0));
        moved(&self.x) || moved(&self.y) || moved(&self.z)
    }

    /// Moves the particles with the nodes around them.
    #[inline(always)]
    fn move_particles(&self, planes: &mut Planes, columns: usize, scratch: &mut CoarseScratch) {
        let width = self.columns.len();
        let moved = [&self.x, &self.y, &self.z];
        let [above, below] = &mut scratch.rows;
        let mut node = usize::MAX;
        for (r, &(i, down)) in self.rows.between.iter().enumerate() {
            let i = i as usize;
            if i != node {
                // The row below is the one above of the next nodes.
                let known = node.wrapping_add(1) == i && node != usize::MAX;
                for (axis, moved) in moved.into_iter().enumerate() {
                    let row = |i: usize| &moved[i * width..][..width];
                    if known {
                        std::mem::swap(&mut above[axis], &mut below[axis]);
                    } else {
                        self.spread(row(i), &mut above[axis][..columns]);
                    }
                    self.spread(row(i + 1), &mut below[axis][..columns]);
                }
                node = i;
            }
            let row = r * columns..(r + 1) * columns;
            let w = &planes.w[row.clone()];
            for (axis, plane) in [&mut *planes.x, &mut *planes.y, &mut *planes.z]
                .into_iter()
                .enumerate()
            {
                move_row(&mut plane[row.clone()], w, &above[axis], &below[axis], down);
            }
        }
    }

    /// Spreads what the nodes of a row move over the particles of the row.
    #[inline(always)]
    fn spread(&self, nodes: &[f32], row: &mut [f32]) {
        let (cells, rest) = row.as_chunks_mut::<FINEST>();
        let pairs = nodes.windows(2);
        // The last cell may be a different one: its nodes are not always so far apart.
        let even = (self.columns.nodes[nodes.len() - 2] as usize) / FINEST;
        for (cell, pair) in cells[..even].iter_mut().zip(pairs) {
            let slope = (pair[1] - pair[0]) / FINEST as f32;
            for (k, place) in cell.iter_mut().enumerate() {
                *place = pair[0] + slope * k as f32;
            }
        }
        let last = cells[even..].as_flattened_mut().iter_mut().chain(rest);
        let ways = &self.columns.between[even * FINEST..];
        let [a, b] = [nodes[nodes.len() - 2], nodes[nodes.len() - 1]];
        for (place, &(_, right)) in last.zip(ways) {
            *place = a + (b - a) * right;
        }
    }
}

#[inline(always)]
fn move_row(x: &mut [f32], w: &[f32], above: &[f32], below: &[f32], down: f32) {
    let n = x.len();
    let (w, above, below) = (&w[..n], &above[..n], &below[..n]);
    for k in 0..n {
        let moved = above[k] + (below[k] - above[k]) * down;
        x[k] += if w[k] > 0.0 { moved } else { 0.0 };
    }
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
            return super::family::NONE;
        };
        if !straight && step != number {
            return super::family::NONE;
        }
        let family = &families[step];
        let rest = family.rest[family.index(layout, [first[0], at[1].min(next[1])])];
        if rest < 0.0 {
            return super::family::NONE;
        }
        length += rest;
        at = next;
    }
    length
}
