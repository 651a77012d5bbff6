//! Updates the constraints after a topology edit.
//!
//! A constraint along an edge stays with the edge: if the edge was duplicated, one copy on each side of a cut, so
//! is the constraint; if the edge was divided, so is the constraint, with the rest length in proportion. A
//! constraint that bridges an edge or a particle (the second diagonal of a quad, a bend constraint) stays only
//! while the bridged element is intact, so that no constraint connects the two sides of a cut.

use super::{
    edit_neighbourhood::{EditNeighbourhood, Pair, sorted},
    topology_edit::TopologyEdit,
};
use crate::solver::constraints::{
    bend::BendConstraint,
    constraint::{Constraint, DistanceConstraint},
    edit::{ConstraintSlot, GraphEdit},
};
use bevy::platform::collections::{HashMap, HashSet};

/// Distance of an old particle from the edit, in edges.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RingDistance {
    /// No constraint from here spans an affected particle.
    Far,
    /// Two edges away: a constraint that begins at an affected particle may end here.
    TwoRing,
    /// One edge away: a constraint that spans an affected particle ends here.
    OneRing,
    /// A triangle around this particle has changed.
    Affected,
}

/// Updates the constraints around an edit.
pub(super) fn update_constraints(edit: &mut TopologyEdit) {
    let is_old = |i: &u32| (*i as usize) < edit.old_particles;
    let affected: Vec<u32> = edit.affected.iter().copied().filter(is_old).collect();
    if affected.is_empty() {
        return;
    }
    let first = with_neighbours(edit, &affected);
    let second = with_neighbours(edit, &first);
    let mut ring_distance = vec![RingDistance::Far; edit.target.particles.len()];
    for (particles, degree) in [
        (&second, RingDistance::TwoRing),
        (&first, RingDistance::OneRing),
        (&affected, RingDistance::Affected),
    ] {
        for &i in particles {
            ring_distance[i as usize] = degree;
        }
    }
    let constraints = &edit.target.constraints;
    let known = constraints.find_constraints(|[a, b]| {
        let [a, b] = [a, b].map(|i| ring_distance[i as usize]);
        let (less, more) = (a.min(b), a.max(b));
        less >= RingDistance::OneRing
            || (less == RingDistance::TwoRing && more == RingDistance::Affected)
    });
    let mut update = ConstraintUpdate {
        near: EditNeighbourhood::new(edit, &second),
        changes: GraphEdit::default(),
        present: HashSet::default(),
    };
    let is_affected = |i: u32| ring_distance[i as usize] == RingDistance::Affected;
    for (slot, constraint) in &known {
        match constraint {
            Constraint::Bend(bend) => update.update_bend(*slot, bend),
            Constraint::Distance(distance) => update.update_distance(*slot, distance, is_affected),
        }
    }
    if !edit.divided.is_empty() {
        let pair = |c: &DistanceConstraint| sorted(c.particles[0], c.particles[1]);
        let distances = known.iter().filter_map(|(_, c)| c.distance());
        let lengths = distances.map(|c| (pair(&c), c)).collect();
        update.add_inside_triangles(&lengths);
    }
    let mut changes = update.changes;
    changes.opened = first;
    let count = edit.target.particles.len();
    edit.target.constraints.apply(changes, count);
}

/// Changes of the constraints around an edit.
struct ConstraintUpdate<'a, 'b> {
    near: EditNeighbourhood<'a, 'b>,
    changes: GraphEdit,
    /// Pairs of particles that have a distance constraint after the edit.
    present: HashSet<Pair>,
}

impl ConstraintUpdate<'_, '_> {
    /// Replaces a bend by those of the sides on which its stencil is intact.
    fn update_bend(&mut self, slot: ConstraintSlot, bend: &BendConstraint) {
        let now = self.near.bends(bend);
        if now.len() != 1 || now[0].stencil() != bend.stencil() {
            self.changes.removed.push(slot);
            self.changes.added_bends.extend(now);
        }
    }

    /// Replaces a distance constraint by those that its edge or diagonal has become. `is_affected` tells whether a
    /// triangle at a particle has changed.
    fn update_distance(
        &mut self,
        slot: ConstraintSlot,
        constraint: &DistanceConstraint,
        is_affected: impl Fn(u32) -> bool,
    ) {
        let pair = constraint.particles;
        let [a, b] = pair;
        let is_edge = !self.near.triangles_at(a, b).is_empty();
        // An edge between unaffected particles does not change.
        if is_edge && !is_affected(a) && !is_affected(b) {
            return;
        }
        let mut now: Vec<(Pair, f32)> = if is_edge {
            self.near.along_edge(pair)
        } else {
            let whole = self.near.bridging(pair).into_iter();
            whole.map(|pair| (pair, 1.0)).collect()
        };
        now.retain(|([a, b], _)| self.present.insert(sorted(*a, *b)));
        // The first result replaces the old constraint in place, if it keeps the rest length.
        let added = match now[..] {
            [(kept, 1.0), ref others @ ..] => {
                if kept != pair {
                    self.changes.replaced.push((slot, kept));
                }
                others
            }
            ref all => {
                self.changes.removed.push(slot);
                all
            }
        };
        let parts = added
            .iter()
            .map(|&(particles, fraction)| DistanceConstraint {
                particles,
                rest_length: constraint.rest_length * fraction,
                ..*constraint
            });
        self.changes.added.extend(parts);
    }

    /// Adds constraints for the edges inside divided triangles, unless there are any already.
    fn add_inside_triangles(&mut self, lengths: &HashMap<Pair, DistanceConstraint>) {
        for constraint in self.near.inside_triangles(lengths) {
            let [a, b] = constraint.particles;
            if self.present.insert(sorted(a, b)) {
                self.changes.added.push(constraint);
            }
        }
    }
}

/// Returns old particles and all that share a triangle with them, sorted.
fn with_neighbours(edit: &TopologyEdit, particles: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = particles
        .iter()
        .flat_map(|&i| edit.old_triangles_near(i))
        .flat_map(|t| edit.old_corners(t))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}
