//! Lists of constraints, in which grids, chain batches, batches and the list of bends store rest lengths, λ and loads.

use super::{
    bend::{BendConstraint, BendShape},
    constraint::{Constraint, ConstraintKind, DistanceConstraint},
    general::ChainRows,
    grid::GridDirection,
};
use crate::solver::{
    shared::Shared, simd::aligned::AlignedVec, triangles::grid_layout::GridLayout,
};

/// Rest length, or ρ of a bend, that marks an empty slot.
pub(in crate::solver) const ABSENT: f32 = -1.0;

/// Marks a slot whose edge has no place in the coarse levels.
pub(in crate::solver) const NO_LEVEL_EDGE: u32 = u32::MAX;

/// Constraints of one kind in slots, some of which may be empty. [`Slots`] holds the particles.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct ConstraintList {
    pub(in crate::solver) kind: ConstraintKind,
    /// Rest lengths, m, or ρ of bends, m²; [`ABSENT`] in empty slots.
    pub(in crate::solver) rest: Shared<AlignedVec>,
    /// Lagrange multipliers of the running substep; empty unless their sum over several passes is needed.
    pub(in crate::solver) lambda: AlignedVec,
    /// Mean tension during the running step, N; empty unless it is measured.
    pub(in crate::solver) load: AlignedVec,
    /// Place of the edge of each slot in the coarse levels: four times the number of its block plus its lane; empty without levels.
    pub(in crate::solver) level_edges: Shared<Vec<u32>>,
    /// Number of occupied slots.
    count: usize,
}

impl ConstraintList {
    /// Creates a list of empty slots.
    pub(in crate::solver) fn vacant(kind: ConstraintKind, slots: usize) -> Self {
        Self {
            kind,
            rest: AlignedVec::filled(slots, ABSENT).into(),
            lambda: AlignedVec::new(),
            load: AlignedVec::new(),
            level_edges: Shared::default(),
            count: 0,
        }
    }

    /// Creates a list from the rest lengths, or ρ, of its constraints.
    pub(in crate::solver) fn of(kind: ConstraintKind, rest: impl Iterator<Item = f32>) -> Self {
        let rest: Shared<AlignedVec> = rest.collect();
        Self {
            count: rest.len(),
            rest,
            ..Self::vacant(kind, 0)
        }
    }

    /// Returns the number of constraints.
    pub(in crate::solver) fn len(&self) -> usize {
        self.count
    }

    /// Returns whether a slot is occupied.
    pub(in crate::solver) fn is_occupied(&self, slot: usize) -> bool {
        self.rest[slot] >= 0.0
    }

    /// Iterates over the occupied slots.
    pub(in crate::solver) fn occupied(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.rest.len()).filter(|&slot| self.is_occupied(slot))
    }

    /// Puts a constraint into a slot.
    pub(in crate::solver) fn set(&mut self, slot: usize, rest: f32) {
        self.count += usize::from(!self.is_occupied(slot));
        self.rest[slot] = rest;
        self.leave_levels(slot);
    }

    /// Appends a slot with a constraint.
    pub(in crate::solver) fn push(&mut self, rest: f32) {
        self.rest.push(rest);
        self.count += 1;
        if !self.level_edges.is_empty() {
            self.level_edges.push(NO_LEVEL_EDGE);
        }
        self.discard_results();
    }

    /// Empties a slot.
    pub(in crate::solver) fn remove(&mut self, slot: usize) {
        self.count -= usize::from(self.is_occupied(slot));
        self.rest[slot] = ABSENT;
        self.leave_levels(slot);
        if let Some(load) = self.load.get_mut(slot) {
            *load = 0.0;
        }
    }

    /// Removes the edge of a slot from the coarse levels.
    pub(in crate::solver) fn leave_levels(&mut self, slot: usize) {
        if !self.level_edges.is_empty() {
            self.level_edges[slot] = NO_LEVEL_EDGE;
        }
    }

    /// Removes empty slots, and their entries in `particles`.
    pub(in crate::solver) fn compact<T>(&mut self, particles: &mut Vec<T>) {
        if self.count == self.rest.len() {
            return;
        }
        let mut rest = self.rest.iter();
        particles.retain(|_| rest.next().is_some_and(|&rest| rest >= 0.0));
        if !self.level_edges.is_empty() {
            let mut rest = self.rest.iter();
            (self.level_edges).retain(|_| rest.next().is_some_and(|&rest| rest >= 0.0));
        }
        let rest = self.rest.iter().copied();
        self.rest = rest.filter(|&rest| rest >= 0.0).collect();
        self.discard_results();
    }

    /// Discards multipliers and loads, which no longer fit the slots.
    pub(in crate::solver) fn discard_results(&mut self) {
        self.lambda.clear();
        self.load.clear();
    }

    /// Sets all multipliers to 0, or removes them if they are not `needed`.
    pub(in crate::solver) fn clear_lambda(&mut self, needed: bool) {
        self.lambda.clear();
        self.lambda
            .resize(if needed { self.rest.len() } else { 0 }, 0.0);
    }

    /// Begins to measure the loads of stretch constraints.
    pub(in crate::solver) fn clear_load(&mut self) {
        self.load.clear();
        if self.kind == ConstraintKind::Structural {
            self.load.resize(self.rest.len(), 0.0);
        }
    }

    /// Returns whether the list is of this kind and all arrays have this length.
    pub(in crate::solver) fn is_sound(&self, kind: ConstraintKind, slots: usize) -> bool {
        let optional = |values: &[f32]| values.is_empty() || values.len() == slots;
        self.kind == kind
            && self.rest.len() == slots
            && self.count == self.occupied().count()
            && optional(&self.lambda)
            && optional(&self.load)
            && (self.level_edges.is_empty() || self.level_edges.len() == slots)
    }
}

/// Particles of the slots of a [`ConstraintList`].
#[derive(Clone, Copy)]
pub(in crate::solver) enum Slots<'a> {
    /// Constraints of a grid in one direction.
    Grid(&'a GridLayout, GridDirection),
    /// Constraints along chains of a batch.
    Chains(&'a ChainRows, ConstraintKind),
    /// Distance constraints of a batch.
    Pairs(&'a [[u32; 2]]),
    /// Bends of the list of bends.
    Bends(&'a [BendShape]),
}

impl Slots<'_> {
    /// Returns the particles of a distance constraint, or the ends of a bend.
    pub(in crate::solver) fn ends(self, slot: usize) -> [u32; 2] {
        match self {
            Self::Grid(layout, direction) => direction.ends(layout, slot),
            Self::Chains(rows, kind) => rows.ends(kind, slot),
            Self::Pairs(pairs) => pairs[slot],
            Self::Bends(shapes) => shapes[slot].stencil.ends,
        }
    }

    /// Returns the constraint in an occupied slot.
    pub(in crate::solver) fn constraint(self, list: &ConstraintList, slot: usize) -> Constraint {
        let rest = list.rest[slot];
        let shape = match self {
            Self::Bends(shapes) => shapes[slot],
            Self::Grid(layout, direction) if list.kind == ConstraintKind::Bend => {
                BendShape::uniform(direction.bend_stencil(layout, slot))
            }
            Self::Chains(rows, ConstraintKind::Bend) => BendShape::uniform(rows.bend_stencil(slot)),
            _ => {
                return Constraint::Distance(DistanceConstraint {
                    kind: list.kind,
                    particles: self.ends(slot),
                    rest_length: rest,
                });
            }
        };
        Constraint::Bend(BendConstraint { shape, rho: rest })
    }
}
