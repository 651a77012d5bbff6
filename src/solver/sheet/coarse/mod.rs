//! Holds a sheet together over long distances: a hierarchy of ever coarser grids (after Müller,
//! "Hierarchical Position Based Dynamics", 2008).
//!
//! Along a row, a column or a diagonal no two particles can be farther apart than the threads between
//! them are long, however the cloth is folded. Each level keeps that between its nodes, every 8th, 16th,
//! 32nd, … particle or nearly so, the coarsest level first; what moves a node moves all particles around it,
//! in proportion (bilinear interpolation). A node has the mass of what it moves, so momentum is kept.
//!
//! A node speaks for the particles around it. One that was torn away from its neighbours, by a hand
//! say, does not: until it is back, it holds nothing and moves nothing, or it would push them off.
//!
//! Around a hole in the threads, where the cloth is torn, nodes hold nothing and move nothing.
//!
//! | file | what it holds |
//! |---|---|
//! | `axis` | nodes along one side |
//! | `distances` | how far apart nodes may be |
//! | `level` | one coarse grid |
//! | `spread` | from the finest nodes to the particles |

mod axis;
mod distances;
mod level;
mod spread;

use super::{Family, SheetLayout, SheetSoftness, project::Planes, transpose::transpose};
use crate::solver::{
    aligned::AlignedVec,
    crew::Leader,
    relax::Softness,
    simd::{Kernel, dispatch},
};
use axis::Axis;
use distances::holes;
use level::Level;
use std::cell::RefCell;

/// Greatest distance of the nodes of the finest level. Nearer ones gain little: threads are solved
/// whole.
const FINEST: usize = 8;

/// A node whose own thread is longer than this, as a multiple of its rest length, has been torn away.
const TORN_AWAY: f32 = 1.2;

/// Sheets of fewer particles than this along both sides need no long distances.
const SMALLEST: u32 = 9;

/// All levels of a sheet.
#[derive(Clone)]
pub(super) struct Coarse {
    /// From fine to coarse.
    levels: Vec<Level>,
    /// Of the bends of the sheet: how easily the one is moved that is moved most easily, over what it gives.
    /// Infinite until it is known.
    pub(super) lightest_bend: f32,
    /// Rest lengths or threads have changed.
    pub(super) outdated: bool,
    /// What the masses of the nodes were made from.
    masses: Option<u32>,
    /// How much more than threads give nodes reach: 1 where threads do not give, else the limit of
    /// their strain.
    reach: Option<f32>,
}

impl Default for Coarse {
    fn default() -> Self {
        Self {
            levels: Vec::new(),
            lightest_bend: f32::INFINITY,
            outdated: false,
            masses: None,
            reach: None,
        }
    }
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

thread_local! {
    /// Room for the nodes of a level, turned into columns.
    static TURNED: RefCell<[AlignedVec; 3]> = RefCell::default();
}

impl Coarse {
    /// Brings everything up to date; tells whether masses or constraints have changed. `planes` and `inverse_mass` are those of the sheet's particles.
    pub(super) fn prepare(
        &mut self,
        layout: &SheetLayout,
        families: &[Family; 6],
        planes: [&[f32]; 3],
        inverse_mass: &[f32],
    ) -> bool {
        let first = self.masses.is_none();
        let mut changed = first || self.outdated;
        if first {
            self.levels = levels(layout);
        }
        if first || self.outdated {
            let holes = holes(layout, families);
            for level in &mut self.levels {
                level.set_distances(layout, families, &holes);
            }
            self.outdated = false;
            self.reach = None;
        }
        let sum = checksum(inverse_mass);
        if self.masses != Some(sum) {
            self.masses = Some(sum);
            self.set_masses(layout, inverse_mass);
            changed = true;
        }
        let [_, _, _, warp, _, weft] = families;
        self.find_idle(planes, layout, [weft, warp]);
        changed
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

    /// Finds the nodes that have been torn away.
    fn find_idle(&mut self, planes: [&[f32]; 3], layout: &SheetLayout, [weft, warp]: [&Family; 2]) {
        let columns = layout.columns as usize;
        let Some(finest) = self.levels.first_mut() else {
            return;
        };
        let rows = layout.rows as usize;
        let most = TORN_AWAY * self.reach.unwrap_or(1.0);
        let torn_away = |a: usize, b: usize, rest: f32| {
            let d = planes.map(|plane| plane[b] - plane[a]);
            let most = rest * most;
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
            let reach = self.reach.unwrap_or(1.0);
            let sides = [height, width];
            level.active.take(&level.all, reach, &level.idle, sides);
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
    pub(super) fn hold(
        &mut self,
        leader: &mut Leader,
        planes: &mut Planes,
        columns: usize,
        soft: SheetSoftness,
    ) {
        let reach = soft.limit.unwrap_or(1.0);
        if self.reach != Some(reach) {
            self.reach = Some(reach);
            self.spread_idle();
        }
        let mut moves = false;
        TURNED.with_borrow_mut(|turned| {
            dispatch(Nodes {
                coarse: self,
                planes,
                columns,
                soft,
                turned,
                moves: &mut moves,
            });
        });
        if let Some(finest) = self.levels.first()
            && moves
        {
            spread::move_particles(leader, finest, planes, columns);
        }
    }
}

/// Finds out how far the nodes of the finest level move. One thread does this: there are few nodes.
struct Nodes<'a, 'p> {
    coarse: &'a mut Coarse,
    planes: &'a Planes<'p>,
    columns: usize,
    soft: SheetSoftness,
    turned: &'a mut [AlignedVec; 3],
    /// Whether any does.
    moves: &'a mut bool,
}

impl Kernel for Nodes<'_, '_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            coarse,
            planes,
            columns,
            soft,
            turned,
            moves,
        } = self;
        let count = coarse.levels.len();
        for number in (0..count).rev() {
            let (finer, coarser) = coarse.levels.split_at_mut(number + 1);
            let level = &mut finer[number];
            level.with_particles(planes, columns, |node, particle| *node = particle);
            if let Some(coarser) = coarser.first() {
                level.follow(coarser);
            }
            let stretch = match soft.limit {
                Some(_) => Softness::TAUT,
                // Without a limit they are rigid in both directions.
                None => soft.warp,
            };
            level.solve(stretch, soft.shear, turned);
            // From where nodes are to how far they are from their particles.
            level.with_particles(planes, columns, |node, particle| *node -= particle);
        }
        *moves = coarse.levels.first().is_some_and(Level::moves);
    }

    /// The twin of a pass calls this too: these loops are plain already, only their projections are
    /// rows.
    fn run_scalar(self) {
        self.run();
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
    let finest = |length: usize| (length - 1).div_ceil(FINEST).next_power_of_two();
    let mut cells = [finest(rows), finest(columns)];
    loop {
        let level = match levels.last() {
            Some(finer) => Level {
                rows: Axis::new(rows, cells[0], finer.rows.nodes.iter().copied()),
                columns: Axis::new(columns, cells[1], finer.columns.nodes.iter().copied()),
                ..Default::default()
            },
            None => Level {
                rows: Axis::new(rows, cells[0], 0..rows as u32),
                columns: Axis::new(columns, cells[1], 0..columns as u32),
                ..Default::default()
            },
        };
        levels.push(level);
        if cells == [1, 1] {
            return levels;
        }
        cells = cells.map(|cells| (cells / 2).max(1));
    }
}
