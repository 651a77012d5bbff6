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
//! | `pass` | one pass over the constraints of a grid |
//! | `reference` | scalar reference of a pass, one constraint at a time |

mod constraint_set;
mod diagonals;
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
        compliance::{Aspects, Compliance},
        constraint::ConstraintKind,
        graph::distance,
        list::{ConstraintList, Slots},
        points::PassParams,
    },
    particles::ParticleArrays,
    simd::soa::SoaVec3,
    triangles::grid_layout::GridLayout,
};
use constraint_set::GridConstraintSet;
pub(in crate::solver) use constraint_set::GridDirection;
pub(in crate::solver) use pass::relax_grid;

/// Largest generalized inverse mass ΣwᵢKᵢ² of a bend of a grid, divided by its ρ.
#[derive(Clone, Copy, Debug)]
struct BendMobility {
    /// 1/(kg·m²); infinite until it has been computed.
    largest: f32,
    /// Checksum of the inverse masses that it was computed from.
    masses: Option<u32>,
}

impl Default for BendMobility {
    fn default() -> Self {
        Self {
            largest: f32::INFINITY,
            masses: None,
        }
    }
}

/// Always equal, because it follows from bends and masses.
impl PartialEq for BendMobility {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Constraints of a grid.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct GridConstraints {
    pub(in crate::solver) layout: GridLayout,
    /// One set per direction, in the order of [`GridDirection::ALL`].
    pub(in crate::solver) sets: [GridConstraintSet; 6],
    pub(in crate::solver) aspects: Aspects,
    #[cfg_attr(feature = "serialize", serde(skip))]
    bend_mobility: BendMobility,
}

impl GridConstraints {
    /// Creates a grid without constraints.
    pub(in crate::solver) fn new(layout: GridLayout) -> Self {
        Self {
            layout,
            sets: GridDirection::ALL.map(|direction| GridConstraintSet::empty(direction, &layout)),
            aspects: Aspects::default(),
            bend_mobility: BendMobility::default(),
        }
    }

    /// Adds a distance constraint if it lies along one of the grid's directions. Returns whether it does.
    pub(in crate::solver) fn try_add(
        &mut self,
        kind: ConstraintKind,
        [a, b]: [u32; 2],
        positions: &SoaVec3,
    ) -> bool {
        let Some((set, slot)) = self.find_slot(a, b) else {
            return false;
        };
        let fits = set.list.kind == kind;
        if fits {
            set.list.set(slot, distance(positions, a, b));
        }
        fits
    }

    /// Returns set and slot of a constraint between two particles, the one with the smaller index first, if it lies
    /// along one of the grid's directions.
    fn find_slot(&mut self, a: u32, b: u32) -> Option<(&mut GridConstraintSet, usize)> {
        let (from, to) = (self.layout.row_column(a)?, self.layout.row_column(b)?);
        let set = &mut self.sets[GridDirection::index_between(from, to)?];
        let slot = set.slot_between(&self.layout, from, to);
        Some((set, slot))
    }

    /// Adds a flat bend constraint of equal edges if its stencil runs along a row or column. Returns whether
    /// it does.
    pub(in crate::solver) fn try_add_bend(&mut self, bend: &BendConstraint) -> bool {
        let layout = self.layout;
        let [a, b] = bend.stencil().ends;
        let Some((set, slot)) = self.find_slot(a.min(b), a.max(b)) else {
            return false;
        };
        let fits = set.list.kind == ConstraintKind::Bend
            && set.direction.bend_stencil(&layout, slot).middle == bend.stencil().middle;
        if fits {
            set.list.set(slot, bend.rho);
        }
        fits
    }

    /// Returns whether all arrays fit the layout, and the layout fits this number of particles.
    pub(in crate::solver) fn is_sound(&self, particles: usize) -> bool {
        let layout = &self.layout;
        let fits = layout.rows >= 2
            && layout.columns >= 2
            && (layout.first as usize)
                .checked_add(layout.len())
                .is_some_and(|end| end <= particles);
        let mut sets = GridDirection::ALL.into_iter().zip(&self.sets);
        fits && self.aspects.is_sound()
            && sets.all(|(direction, set)| set.is_sound(direction, layout))
    }

    /// Iterates over the lists of constraints, direction by direction, with the particles of their slots.
    pub(in crate::solver) fn lists(&self) -> impl Iterator<Item = (Slots<'_>, &ConstraintList)> {
        let sets = self.sets.iter();
        sets.map(|set| (set.slots(&self.layout), &set.list))
    }

    /// Iterates over the lists of constraints, direction by direction, with the particles of their slots.
    pub(in crate::solver) fn lists_mut(
        &mut self,
    ) -> impl Iterator<Item = (Slots<'_>, &mut ConstraintList)> {
        let Self { layout, sets, .. } = self;
        let sets = sets.iter_mut();
        sets.map(|set| (set.slots(layout), &mut set.list))
    }

    /// Forgets the mobility of the bends, because bends have changed.
    pub(in crate::solver) fn forget_bend_mobility(&mut self) {
        self.bend_mobility = BendMobility::default();
    }

    /// Updates the mobility of the bends after a change of masses, once per step.
    pub(in crate::solver) fn prepare(&mut self, particles: &ParticleArrays) {
        let inverse_mass = &particles.inverse_mass[self.layout.particles()];
        let masses = checksum(inverse_mass);
        if self.bend_mobility.masses != Some(masses) {
            let bends = (self.sets.iter()).filter(|set| set.list.kind == ConstraintKind::Bend);
            let mobilities = bends.map(|set| set.max_bend_mobility(&self.layout, inverse_mass));
            self.bend_mobility = BendMobility {
                largest: mobilities.fold(0.0, f32::max),
                masses: Some(masses),
            };
        }
    }

    /// Returns the compliance of the distance constraints, m/N, in this fabric.
    pub(in crate::solver) fn compliance(&self, fabric: &Compliance) -> Compliance {
        // Diagonals of elastic fabric resist shear alone, and rigid edges need no compensation.
        self.aspects.constraint_compliance(fabric, false)
    }

    /// Returns whether bends are too stiff to be solved explicitly, as forces.
    fn bends_are_stiff(&self, params: &PassParams) -> bool {
        params.bend.is_some_and(|bend| {
            bend.alpha < MIN_EXPLICIT_RATIO * bend.diagonal_scale * self.bend_mobility.largest
        })
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
