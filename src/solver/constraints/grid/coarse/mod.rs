//! Multigrid hierarchy of coarse levels that limits the stretch of a grid over long distances (after Müller,
//! "Hierarchical Position Based Dynamics", 2008).
//!
//! Along a row, a column or a diagonal the distance of two particles cannot exceed the length of the edges
//! between them, however the cloth is folded. Each level enforces that between its nodes, which are every
//! 8th, 16th, 32nd, … particle or nearly so, the coarsest level first. The displacement of a node is
//! interpolated bilinearly to all particles around it. A node has the mass of the particles that it
//! displaces, so momentum is conserved.
//!
//! A node represents the particles around it. A node that has been pulled away from its neighbours, for
//! example by a grab, does not: it stays inactive until it is back, or it would push them off.
//!
//! Nodes around missing edges, where the cloth is torn, have no constraints and are not displaced.
//!
//! | file | contents |
//! |---|---|
//! | `axis` | nodes along one side of a grid |
//! | `distances` | largest distances between nodes |
//! | `level` | one coarse level |
//! | `prolongation` | interpolation from the nodes of the finest level to the particles |

mod axis;
mod distances;
mod level;
mod prolongation;

use super::{
    GridConstraintSet, GridLayout, GridSolveParams, project::ParticlePlanes, transpose::transpose,
};
use crate::solver::{
    constraints::points::Regularization,
    parallel::workers::Workers,
    simd::{Kernel, aligned::AlignedVec, dispatch},
};
use axis::NodeAxis;
use distances::find_holes;
use level::CoarseLevel;
use std::cell::RefCell;

/// Largest spacing of the nodes of the finest level, in edges. Smaller spacings gain little, because chains
/// are solved directly.
const FINEST_SPACING: usize = 8;

/// Length of an edge at a node, as a multiple of its rest length, above which the node counts as detached
/// from the particles around it.
const DETACHED_STRETCH: f32 = 1.2;

/// Smallest number of particles along the longer side of a grid that has coarse levels.
const MIN_SIDE: u32 = 9;

/// All coarse levels of a grid.
#[derive(Clone)]
pub(super) struct CoarseHierarchy {
    /// From fine to coarse.
    levels: Vec<CoarseLevel>,
    /// Largest generalized inverse mass of a bend of the grid, divided by its ρ, 1/(kg·m²). Infinite until it
    /// has been computed.
    pub(super) max_bend_mobility: f32,
    /// Whether rest lengths or edges have changed since the last [`prepare`](Self::prepare).
    pub(super) outdated: bool,
    /// Checksum of the inverse masses from which those of the nodes were computed.
    masses: Option<u32>,
    /// Largest distance of nodes as a multiple of the length of the edges between them: 1 if edges are rigid,
    /// else the strain limit.
    max_stretch: Option<f32>,
}

impl Default for CoarseHierarchy {
    fn default() -> Self {
        Self {
            levels: Vec::new(),
            max_bend_mobility: f32::INFINITY,
            outdated: false,
            masses: None,
            max_stretch: None,
        }
    }
}

/// Always equal, because the hierarchy follows from rest lengths and masses.
impl PartialEq for CoarseHierarchy {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for CoarseHierarchy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CoarseHierarchy({} levels)", self.levels.len())
    }
}

thread_local! {
    /// Scratch buffer for the transposed nodes of a level.
    static TRANSPOSED: RefCell<[AlignedVec; 3]> = RefCell::default();
}

impl CoarseHierarchy {
    /// Updates all levels. Returns whether masses or constraints have changed. `planes` and `inverse_mass` are
    /// positions, m, and inverse masses, 1/kg, of the particles of the grid.
    pub(super) fn prepare(
        &mut self,
        layout: &GridLayout,
        sets: &[GridConstraintSet; 6],
        planes: [&[f32]; 3],
        inverse_mass: &[f32],
    ) -> bool {
        let first = self.masses.is_none();
        let mut changed = first || self.outdated;
        if first {
            self.levels = levels(layout);
        }
        if first || self.outdated {
            let holes = find_holes(layout, sets);
            for level in &mut self.levels {
                level.set_distances(layout, sets, &holes);
            }
            self.outdated = false;
            self.max_stretch = None;
        }
        let sum = checksum(inverse_mass);
        if self.masses != Some(sum) {
            self.masses = Some(sum);
            self.set_masses(layout, inverse_mass);
            changed = true;
        }
        let [_, _, _, warp, _, weft] = sets;
        self.find_detached(planes, layout, [weft, warp]);
        changed
    }

    /// Distributes the masses of the particles to the nodes of each level, in the proportions of the bilinear
    /// interpolation.
    fn set_masses(&mut self, layout: &GridLayout, inverse_mass: &[f32]) {
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
                    // A node on a pinned particle is pinned.
                    let free = own > 0.0 && mass > 0.0;
                    level.w.push(if free { 1.0 / mass } else { 0.0 });
                }
            }
            level.w_transposed.resize(level.w.len(), 0.0);
            let height = rows.len();
            transpose(
                &level.w,
                width,
                &mut level.w_transposed,
                height,
                height,
                width,
            );
            finer = masses;
        }
    }

    /// Finds the nodes that have been pulled away from their neighbours and deactivates them.
    fn find_detached(
        &mut self,
        planes: [&[f32]; 3],
        layout: &GridLayout,
        [weft, warp]: [&GridConstraintSet; 2],
    ) {
        let columns = layout.columns as usize;
        let Some(finest) = self.levels.first_mut() else {
            return;
        };
        let rows = layout.rows as usize;
        let max_ratio = DETACHED_STRETCH * self.max_stretch.unwrap_or(1.0);
        let is_overstretched = |a: usize, b: usize, rest: f32| {
            let d = planes.map(|plane| plane[b] - plane[a]);
            let max_length = rest * max_ratio;
            rest >= 0.0 && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > max_length * max_length
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
                let weft_rest = weft.rest[weft.index(layout, [r, left])];
                let warp_rest = warp.rest[warp.index(layout, [above, c])];
                let is_inactive = is_overstretched(along_row, along_row + 1, weft_rest)
                    | is_overstretched(along_column, along_column + columns, warp_rest);
                changed |= finest.inactive[node] != is_inactive;
                finest.inactive[node] = is_inactive;
                node += 1;
            }
        }
        if changed {
            self.update_active();
        }
    }

    /// Updates the active distances of all levels. A node that is inactive on the finest level is inactive on
    /// every coarser level too.
    fn update_active(&mut self) {
        for number in 0..self.levels.len() {
            let (finer, coarser) = self.levels.split_at_mut(number + 1);
            let level = &mut finer[number];
            let (height, width) = (level.rows.len(), level.columns.len());
            let max_stretch = self.max_stretch.unwrap_or(1.0);
            let sides = [height, width];
            level
                .active
                .copy_active(&level.all, max_stretch, &level.inactive, sides);
            let Some(coarser) = coarser.first_mut() else {
                return;
            };
            let mut inactive = coarser.inactive.iter_mut();
            for r in &coarser.rows.nodes {
                let i = level.rows.nodes.partition_point(|node| node < r);
                for c in &coarser.columns.nodes {
                    let j = level.columns.nodes.partition_point(|node| node < c);
                    if let Some(inactive) = inactive.next() {
                        *inactive = level.inactive[i * width + j];
                    }
                }
            }
        }
    }

    /// Moves nodes that are too far apart together, with the particles around them.
    pub(super) fn solve(
        &mut self,
        workers: &mut Workers,
        planes: &mut ParticlePlanes,
        columns: usize,
        params: GridSolveParams,
    ) {
        let max_stretch = params.stretch_limit.unwrap_or(1.0);
        if self.max_stretch != Some(max_stretch) {
            self.max_stretch = Some(max_stretch);
            self.update_active();
        }
        let mut any_moved = false;
        TRANSPOSED.with_borrow_mut(|transposed| {
            dispatch(CoarseSolveKernel {
                coarse: self,
                planes,
                columns,
                params,
                transposed,
                any_moved: &mut any_moved,
            });
        });
        if let Some(finest) = self.levels.first()
            && any_moved
        {
            prolongation::move_particles(workers, finest, planes, columns);
        }
    }
}

/// Computes the displacements of the nodes of the finest level. Serial, because there are few nodes.
struct CoarseSolveKernel<'a, 'p> {
    coarse: &'a mut CoarseHierarchy,
    planes: &'a ParticlePlanes<'p>,
    columns: usize,
    params: GridSolveParams,
    transposed: &'a mut [AlignedVec; 3],
    /// Output: whether any node is displaced.
    any_moved: &'a mut bool,
}

impl Kernel for CoarseSolveKernel<'_, '_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            coarse,
            planes,
            columns,
            params,
            transposed,
            any_moved,
        } = self;
        let count = coarse.levels.len();
        for number in (0..count).rev() {
            let (finer, coarser) = coarse.levels.split_at_mut(number + 1);
            let level = &mut finer[number];
            level.for_each_node(planes, columns, |node, particle| *node = particle);
            if let Some(coarser) = coarser.first() {
                level.prolongate_from(coarser);
            }
            let stretch = match params.stretch_limit {
                Some(_) => Regularization::RIGID,
                // Without a strain limit warp and weft are both rigid.
                None => params.warp,
            };
            level.solve(stretch, params.shear, transposed);
            // From positions of nodes to displacements from their particles.
            level.for_each_node(planes, columns, |node, particle| *node -= particle);
        }
        *any_moved = coarse.levels.first().is_some_and(CoarseLevel::any_moved);
    }

    /// Runs the same code: these loops are scalar already, except for the projection of rows.
    #[cfg(test)]
    fn run_reference(self) {
        self.run();
    }
}

/// Returns a checksum that changes, except for rare collisions, if any of the values does.
fn checksum(values: &[f32]) -> u32 {
    let weights = (0_u32..).map(|i| i.wrapping_mul(2_654_435_761) | 1);
    values
        .iter()
        .zip(weights)
        .fold(0, |sum, (value, weight): (&f32, u32)| {
            sum.wrapping_add(value.to_bits().wrapping_mul(weight))
        })
}

/// Creates the levels of a grid, from fine to coarse, each with half as many cells per side.
fn levels(layout: &GridLayout) -> Vec<CoarseLevel> {
    let mut levels: Vec<CoarseLevel> = Vec::new();
    let [rows, columns] = [layout.rows as usize, layout.columns as usize];
    if layout.rows.max(layout.columns) < MIN_SIDE {
        return levels;
    }
    let finest = |length: usize| (length - 1).div_ceil(FINEST_SPACING).next_power_of_two();
    let mut cells = [finest(rows), finest(columns)];
    loop {
        let level = match levels.last() {
            Some(finer) => CoarseLevel {
                rows: NodeAxis::new(rows, cells[0], finer.rows.nodes.iter().copied()),
                columns: NodeAxis::new(columns, cells[1], finer.columns.nodes.iter().copied()),
                ..Default::default()
            },
            None => CoarseLevel {
                rows: NodeAxis::new(rows, cells[0], 0..rows as u32),
                columns: NodeAxis::new(columns, cells[1], 0..columns as u32),
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
