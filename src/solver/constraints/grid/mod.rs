//! Constraints of grids: rectangular patches of a cloth with warp along columns and weft along rows.
//!
//! The particles of a grid lie row by row in memory and its constraints need no indices, so the solver's
//! loops load and store whole rows. Grids are found in any mesh that has patches of quads, however its
//! vertices are numbered (`mesh/find_grids.rs`).
//!
//! | file | contents |
//! |---|---|
//! | `constraint_set` | the constraints of one of six directions: warp, weft, two shears, two bends |
//! | `groups` | division of independent chains into SIMD-wide groups |
//! | `project` | projection of the constraints between two rows |
//! | `strip` | copies of neighbouring chains, laid out for SIMD |
//! | `transpose` | rows to columns, so that weft is solved by the loops for warp |
//! | `coarse` | multigrid hierarchy of coarse levels |
//! | `pass` | one pass over all constraints of a grid |
//! | `reference` | scalar reference of a pass, one constraint at a time |

mod coarse;
mod constraint_set;
mod groups;
mod pass;
mod project;
#[cfg(test)]
mod reference;
mod strip;
mod transpose;

use crate::solver::{
    constraints::{
        bend::BendConstraint,
        chain::MIN_EXPLICIT_RATIO,
        compliance::Aspects,
        graph::{Compliance, ConstraintKind, DistanceConstraint},
    },
    parallel::workers::Workers,
    particles::ParticleArrays,
    simd::soa::SoaVec3,
    triangles::grid_layout::GridLayout,
};
use coarse::CoarseHierarchy;
pub(in crate::solver) use constraint_set::GridConstraintSet;
use constraint_set::GridDirection;
pub(in crate::solver) use pass::{GridSolveParams, relax_grid};
use project::ParticlePlanes;

/// Constraints of a grid.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct GridConstraints {
    pub(in crate::solver) layout: GridLayout,
    /// One set per direction in solving order, see [`GridDirection::ALL`].
    pub(in crate::solver) sets: [GridConstraintSet; 6],
    pub(in crate::solver) aspects: Aspects,
    #[cfg_attr(feature = "serialize", serde(skip))]
    coarse: CoarseHierarchy,
}

impl GridConstraints {
    /// Creates a grid without constraints.
    pub(in crate::solver) fn new(layout: GridLayout) -> Self {
        Self {
            layout,
            sets: GridDirection::ALL.map(|direction| GridConstraintSet::empty(direction, &layout)),
            aspects: Aspects::default(),
            coarse: CoarseHierarchy::default(),
        }
    }

    /// Adds a distance constraint if it lies along one of the grid's directions. Returns whether it does.
    pub(in crate::solver) fn try_add(
        &mut self,
        kind: ConstraintKind,
        [a, b]: [u32; 2],
        positions: &SoaVec3,
    ) -> bool {
        let layout = self.layout;
        let (Some(from), Some(to)) = (layout.row_column(a), layout.row_column(b)) else {
            return false;
        };
        let Some(number) = GridDirection::index_between(from, to) else {
            return false;
        };
        let set = &mut self.sets[number];
        if set.kind() != kind {
            return false;
        }
        let rest = crate::solver::constraints::graph::distance(positions, a, b);
        set.insert(&layout, from, to, rest);
        true
    }

    /// Adds a flat bend constraint of equal edges if its stencil runs along a row or column. Returns whether
    /// it does.
    pub(in crate::solver) fn try_add_bend(&mut self, bend: &BendConstraint) -> bool {
        let layout = self.layout;
        let [a, b] = bend.stencil.ends;
        let (low, high) = (a.min(b), a.max(b));
        let (Some(from), Some(to)) = (layout.row_column(low), layout.row_column(high)) else {
            return false;
        };
        let Some(number) = GridDirection::index_between(from, to) else {
            return false;
        };
        let set = &mut self.sets[number];
        let own = set.bend_between([low, high], &layout);
        if own.is_none_or(|own| own.middle != bend.stencil.middle) {
            return false;
        }
        set.insert(&layout, from, to, bend.rho);
        true
    }

    /// Returns whether all arrays fit the layout, and the layout fits this number of particles.
    pub(in crate::solver) fn is_sound(&self, particles: usize) -> bool {
        let layout = &self.layout;
        let fits = layout.rows >= 2
            && layout.columns >= 2
            && (layout.first as usize)
                .checked_add(layout.len())
                .is_some_and(|end| end <= particles);
        let sets = GridDirection::ALL.iter().zip(&self.sets);
        fits && self.aspects.is_sound()
            && sets
                .into_iter()
                .all(|(&direction, set)| set.is_sound(direction, layout))
    }

    /// Returns the number of constraints.
    pub(in crate::solver) fn len(&self) -> usize {
        self.sets.iter().map(GridConstraintSet::len).sum()
    }

    /// Iterates over the constraints, direction by direction.
    pub(in crate::solver) fn iter(&self) -> impl Iterator<Item = DistanceConstraint> + '_ {
        let sets = self.sets.iter();
        sets.flat_map(|set| set.iter(&self.layout).map(|(_, constraint)| constraint))
    }

    /// Marks the coarse levels as outdated; must be called after rest lengths change.
    pub(in crate::solver) fn invalidate_coarse(&mut self) {
        self.coarse.outdated = true;
    }

    /// Recounts the constraints and marks the coarse levels as outdated; must be called after constraints are
    /// removed or their rest lengths change.
    pub(in crate::solver) fn recount(&mut self) {
        self.coarse.outdated = true;
        for set in &mut self.sets {
            set.recount();
        }
    }

    /// Updates the coarse levels from constraints and particles, once per step.
    pub(in crate::solver) fn prepare(&mut self, particles: &ParticleArrays) {
        let own = self.layout.particles();
        let at = &particles.position;
        let planes = [&at.x, &at.y, &at.z].map(|plane| &plane[own.clone()]);
        let inverse_mass = &particles.inverse_mass[own];
        let Self {
            layout,
            sets,
            coarse,
            ..
        } = self;
        if coarse.prepare(layout, sets, planes, inverse_mass) {
            let bends = sets.iter().filter(|set| set.kind() == ConstraintKind::Bend);
            let mobilities = bends.map(|set| set.max_bend_mobility(layout, inverse_mass));
            coarse.max_bend_mobility = mobilities.fold(0.0, f32::max);
        }
    }

    /// Returns the compliance of the distance constraints, m/N, in this fabric.
    pub(in crate::solver) fn compliance(&self, fabric: &Compliance) -> Compliance {
        let mut sets = self.sets.iter();
        let is_diagonal = |set: &GridConstraintSet| set.kind() == ConstraintKind::Shear;
        let diagonals = sets.any(|set| is_diagonal(set) && set.len() > 0);
        self.aspects.constraint_compliance(fabric, diagonals)
    }

    /// Returns whether bends are too stiff to be solved explicitly, as forces.
    fn bends_are_stiff(&self, params: &GridSolveParams) -> bool {
        params.bend.is_some_and(|bend| {
            bend.alpha < MIN_EXPLICIT_RATIO * bend.diagonal_scale * self.max_bend_mobility()
        })
    }

    /// Returns the largest generalized inverse mass ΣwᵢKᵢ² of a bend, divided by its ρ: 1/(kg·m²).
    fn max_bend_mobility(&self) -> f32 {
        self.coarse.max_bend_mobility
    }

    /// Solves the coarse levels; `planes` are the particles of this grid.
    fn solve_coarse(
        &mut self,
        workers: &mut Workers,
        planes: &mut ParticlePlanes,
        params: GridSolveParams,
    ) {
        let columns = self.layout.columns as usize;
        self.coarse.solve(workers, planes, columns, params);
    }
}
