//! Sheets: rectangular parts of a cloth, woven of threads that run along rows and columns.
//!
//! The particles of a sheet lie row by row in memory and its constraints need no indices, so that
//! its loops load and store whole rows. Any mesh has sheets in which grids of quads are found,
//! however its vertices are numbered (`mesh/weave.rs`).
//!
//! | file | what it holds |
//! |---|---|
//! | `family` | the six families of constraints: who is whose neighbour |
//! | `groups` | what is solved side by side |
//! | `project` | projects constraints between two rows |
//! | `strip` | some neighbouring threads, copied together |
//! | `transpose` | turns rows into columns, so that weft is solved as warp |
//! | `coarse` | holds the sheet together over long distances |
//! | `pass` | one pass over all constraints of a sheet |
//! | `twin` | the same, one constraint at a time |

mod coarse;
mod family;
mod groups;
mod pass;
mod project;
mod strip;
mod transpose;
mod twin;

use super::{
    aspect::Aspects,
    bend::Hinge,
    constraints::{Compliance, ConstraintKind, DistanceConstraint},
    crew::Leader,
    particles::ParticleArrays,
    soa::SoaVec3,
    thread::SOFT,
};
use coarse::Coarse;
pub(super) use family::Family;
use family::Weave;
pub(super) use pass::{SheetSoftness, relax_sheet};
use project::Planes;

/// Where a sheet is among the particles: `rows` rows of `columns` particles, row by row, from
/// `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct SheetLayout {
    /// Index of the particle at row 0, column 0.
    pub first: u32,
    /// Particles in a row, at least 2.
    pub columns: u32,
    /// Rows, at least 2.
    pub rows: u32,
}

impl SheetLayout {
    /// How many particles it has.
    pub fn len(&self) -> usize {
        self.columns as usize * self.rows as usize
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its particles.
    pub fn particles(&self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + self.len()
    }

    /// Row and column of a particle, if it is in this sheet.
    fn place(&self, particle: u32) -> Option<[usize; 2]> {
        let i = particle.checked_sub(self.first)? as usize;
        let columns = self.columns as usize;
        (i < self.len()).then(|| [i / columns, i % columns])
    }
}

/// The constraints of a sheet.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Sheet {
    pub(super) layout: SheetLayout,
    /// In solving order, see [`Weave::ALL`].
    pub(super) families: [Family; 6],
    pub(super) aspects: Aspects,
    #[cfg_attr(feature = "serialize", serde(skip))]
    coarse: Coarse,
}

impl Sheet {
    /// A sheet without constraints.
    pub(super) fn new(layout: SheetLayout) -> Self {
        Self {
            layout,
            families: Weave::ALL.map(|weave| Family::empty(weave, &layout)),
            aspects: Aspects::default(),
            coarse: Coarse::default(),
        }
    }

    /// Takes a distance constraint in, if it is one of those that a sheet has. Says whether it did.
    pub(super) fn weave_in(
        &mut self,
        kind: ConstraintKind,
        [a, b]: [u32; 2],
        positions: &SoaVec3,
    ) -> bool {
        let layout = self.layout;
        let (Some(from), Some(to)) = (layout.place(a), layout.place(b)) else {
            return false;
        };
        let Some(number) = Weave::between(from, to) else {
            return false;
        };
        let family = &mut self.families[number];
        if family.kind() != kind {
            return false;
        }
        let rest = super::constraints::distance(positions, a, b);
        family.set(&layout, from, to, rest);
        true
    }

    /// Takes the bend of an even and straight thread in, if it is one of its own.
    pub(super) fn weave_in_bend(&mut self, hinge: &Hinge) -> bool {
        let layout = self.layout;
        let [a, b] = hinge.at.ends;
        let (low, high) = (a.min(b), a.max(b));
        let (Some(from), Some(to)) = (layout.place(low), layout.place(high)) else {
            return false;
        };
        let Some(number) = Weave::between(from, to) else {
            return false;
        };
        let family = &mut self.families[number];
        let own = family.bend([low, high], &layout);
        if own.is_none_or(|own| own.over != hinge.at.over) {
            return false;
        }
        family.set(&layout, from, to, hinge.give);
        true
    }

    /// Whether it fits its layout, and that so many particles.
    pub(super) fn is_sound(&self, particles: usize) -> bool {
        let layout = &self.layout;
        let fits = layout.rows >= 2
            && layout.columns >= 2
            && (layout.first as usize)
                .checked_add(layout.len())
                .is_some_and(|end| end <= particles);
        let families = Weave::ALL.iter().zip(&self.families);
        fits && self.aspects.is_sound()
            && families
                .into_iter()
                .all(|(&weave, f)| f.is_sound(weave, layout))
    }

    /// How many constraints it has.
    pub(super) fn len(&self) -> usize {
        self.families.iter().map(Family::len).sum()
    }

    /// The constraints, family by family.
    pub(super) fn iter(&self) -> impl Iterator<Item = DistanceConstraint> + '_ {
        let families = self.families.iter();
        families.flat_map(|family| family.iter(&self.layout).map(|(_, constraint)| constraint))
    }

    /// Call this after rest lengths have changed.
    pub(super) fn outdate(&mut self) {
        self.coarse.outdated = true;
    }

    /// Call this after constraints have gone or their rest lengths have changed.
    pub(super) fn changed(&mut self) {
        self.coarse.outdated = true;
        for family in &mut self.families {
            family.recount();
        }
    }

    /// Once a step: brings what holds over long distances up to date with constraints and particles.
    pub(super) fn prepare(&mut self, particles: &ParticleArrays) {
        let own = self.layout.particles();
        let at = &particles.position;
        let planes = [&at.x, &at.y, &at.z].map(|plane| &plane[own.clone()]);
        let inverse_mass = &particles.inverse_mass[own];
        let Self {
            layout,
            families,
            coarse,
            ..
        } = self;
        if coarse.prepare(layout, families, planes, inverse_mass) {
            let bends = families
                .iter()
                .filter(|family| family.kind() == ConstraintKind::Bend);
            let lightest = bends.map(|family| family.lightest_bend(layout, inverse_mass));
            coarse.lightest_bend = lightest.fold(0.0, f32::max);
        }
    }

    /// What its distance constraints give, m/N, in this fabric.
    pub(super) fn gives(&self, fabric: &Compliance) -> Compliance {
        let mut families = self.families.iter();
        let is_diagonal = |family: &Family| family.kind() == ConstraintKind::Shear;
        let diagonals = families.any(|family| is_diagonal(family) && family.len() > 0);
        self.aspects.constraints(fabric, diagonals)
    }

    /// Whether its bends are too stiff to act as forces.
    fn is_stiff(&self, soft: &SheetSoftness) -> bool {
        soft.bend
            .is_some_and(|bend| bend.alpha < SOFT * bend.weakness * self.lightest_bend())
    }

    /// Inverse mass of the bend that moves most easily, over what it gives: 1/(kg·m²).
    fn lightest_bend(&self) -> f32 {
        self.coarse.lightest_bend
    }

    /// Holds the sheet, whose particles these are, together over long distances.
    fn hold_long_distances(
        &mut self,
        leader: &mut Leader,
        planes: &mut Planes,
        soft: SheetSoftness,
    ) {
        let columns = self.layout.columns as usize;
        self.coarse.hold(leader, planes, columns, soft);
    }
}
