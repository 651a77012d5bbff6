//! Edits single constraints of a graph without rebuilding it, for tearing and cutting.
//!
//! A distance constraint of a batch in which a new particle of its region replaces one of its own stays there: if no other
//! constraint of the batch contains the old particle, none contains the new one. Added constraints go into a batch of
//! their region in which both of their particles are free. Grids and chains only lose constraints: those that get other
//! particles move to a batch, or to the end of a list of bends, as do bends of such a list.

use crate::solver::constraints::{
    bend::BendConstraint,
    coloring::Batch,
    constraint::{Constraint, ConstraintKind, DistanceConstraint},
    graph::ConstraintGraph,
};

/// Location of a constraint, valid until the graph changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::solver) struct ConstraintSlot {
    /// Number of the list in the order of [`ConstraintGraph::lists`].
    list: u32,
    slot: u32,
}

/// Change of a graph.
#[derive(Clone, Debug, Default)]
pub(in crate::solver) struct GraphEdit {
    /// Constraints that get other particles; for bends these are the ends. A new particle may only replace its
    /// source particle.
    pub(in crate::solver) replaced: Vec<(ConstraintSlot, [u32; 2])>,
    /// Constraints to remove.
    pub(in crate::solver) removed: Vec<ConstraintSlot>,
    /// Distance constraints to add.
    pub(in crate::solver) added: Vec<DistanceConstraint>,
    /// Bends to add.
    pub(in crate::solver) added_bends: Vec<BendConstraint>,
    /// Particles at which triangles have changed, and their neighbours.
    pub(in crate::solver) opened: Vec<u32>,
}

impl ConstraintGraph {
    /// Returns all constraints with end particles that satisfy `condition`.
    pub(in crate::solver) fn find_constraints(
        &self,
        condition: impl Fn([u32; 2]) -> bool,
    ) -> Vec<(ConstraintSlot, Constraint)> {
        let mut found = Vec::new();
        for (number, (slots, list)) in (0..).zip(self.lists()) {
            for slot in list.occupied() {
                if condition(slots.ends(slot)) {
                    let location = ConstraintSlot {
                        list: number,
                        slot: slot as u32,
                    };
                    found.push((location, slots.constraint(list, slot)));
                }
            }
        }
        found
    }

    /// Applies an edit. `particles` is the number of particles after it.
    pub(in crate::solver) fn apply(&mut self, edit: GraphEdit, particles: usize) {
        let GraphEdit {
            replaced,
            mut removed,
            mut added,
            mut added_bends,
            opened,
        } = edit;
        self.coarse.open(&opened, particles);
        let in_grids = self.lists().count() - self.general.lists().count();
        for (location, pair) in replaced {
            let (number, slot) = (location.list as usize, location.slot as usize);
            let general = number.checked_sub(in_grids);
            if let Some(batch) = general.and_then(|list| self.general.batch_with(list, pair)) {
                batch.pairs[slot] = pair;
                batch.list.discard_results();
                batch.list.leave_levels(slot);
                continue;
            }
            match self
                .lists()
                .nth(number)
                .map(|(slots, list)| slots.constraint(list, slot))
            {
                Some(Constraint::Distance(mut constraint)) => {
                    constraint.particles = pair;
                    added.push(constraint);
                }
                Some(Constraint::Bend(mut bend)) => {
                    bend.shape.stencil.ends = pair;
                    added_bends.push(bend);
                }
                None => continue,
            }
            removed.push(location);
        }
        removed.sort_unstable();
        let mut removed = removed.into_iter().peekable();
        for (number, (_, list)) in (0..).zip(self.lists_mut()) {
            while let Some(location) = removed.next_if(|location| location.list == number) {
                list.remove(location.slot as usize);
            }
        }
        // Batches without empty slots, for what is added.
        self.compact();
        for bend in added_bends {
            self.general.push_bend(bend);
        }
        self.add(added, particles);
    }

    /// Adds constraints, each to a batch of its region in which both of its particles are free.
    fn add(&mut self, mut added: Vec<DistanceConstraint>, particles: usize) {
        if added.is_empty() {
            return;
        }
        // Numbers the affected particles, each with one bit per batch that already contains it.
        let mut number_of = vec![u32::MAX; particles];
        let mut count = 0;
        for i in added.iter().flat_map(|constraint| constraint.particles) {
            let number = &mut number_of[i as usize];
            if *number == u32::MAX {
                *number = count;
                count += 1;
            }
        }
        let layout = self.general.layout();
        let region_of = |constraint: &DistanceConstraint| layout.region_of(constraint.particles);
        added.sort_by_key(region_of);
        for added in added.chunk_by(|a, b| region_of(a) == region_of(b)) {
            let region = &mut self.general.regions_mut()[region_of(&added[0])];
            add_to_batches(&mut region.batches, added, &number_of, count as usize);
        }
    }

    /// Begins to measure the load of each structural constraint.
    pub(crate) fn clear_loads(&mut self) {
        self.lists_mut().for_each(|(_, list)| list.clear_load());
    }

    /// Adds the tension of the last substep, −λ/Δt² in N (Macklin et al. 2016), times the `fraction` of the fixed
    /// step that the substep is. Requires [`RelaxSettings::loads`](crate::solver::RelaxSettings::loads).
    pub(crate) fn add_loads(&mut self, dt: f32, fraction: f32) {
        let factor = -fraction / (dt * dt);
        for (_, list) in self.lists_mut() {
            for (load, lambda) in list.load.iter_mut().zip(&list.lambda) {
                *load += lambda * factor;
            }
        }
    }

    /// Iterates over the structural constraints and their mean load since `clear_loads`, N;
    /// 0 for constraints added since.
    pub fn loads(&self) -> impl Iterator<Item = (DistanceConstraint, f32)> + '_ {
        let lists = self.lists();
        let structural = lists.filter(|(_, list)| list.kind == ConstraintKind::Structural);
        structural.flat_map(|(slots, list)| {
            list.occupied().filter_map(move |slot| {
                let load = list.load.get(slot).copied().unwrap_or(0.0);
                Some((slots.constraint(list, slot).distance()?, load))
            })
        })
    }
}

/// Adds constraints to batches in which both of their particles are free. `number_of` numbers the `count` affected particles.
fn add_to_batches(
    batches: &mut Vec<Batch>,
    added: &[DistanceConstraint],
    number_of: &[u32],
    count: usize,
) {
    // Upper bound of the number of batches: each added constraint may need a batch of its own.
    let words = (batches.len() + added.len()).div_ceil(64);
    let mut used = vec![0_u64; count * words];
    let bit_of = |i: u32, batch: usize| {
        let number = number_of[i as usize];
        (number != u32::MAX).then(|| (number as usize * words + batch / 64, 1_u64 << (batch % 64)))
    };
    for (number, batch) in batches.iter().enumerate() {
        for &i in batch.pairs.as_flattened() {
            if let Some((word, bit)) = bit_of(i, number) {
                used[word] |= bit;
            }
        }
    }
    // New batches are appended at the end, so the numbers stay valid; the batches are sorted afterwards.
    for constraint in added {
        let is_used = |i: u32, number: usize| {
            bit_of(i, number).is_some_and(|(word, bit)| used[word] & bit != 0)
        };
        let free = |&number: &usize| {
            let batch = &batches[number];
            batch.list.kind == constraint.kind
                && batch.independent
                && !constraint.particles.iter().any(|&i| is_used(i, number))
        };
        let number = (0..batches.len()).find(free).unwrap_or_else(|| {
            batches.push(Batch::empty(constraint.kind));
            batches.len() - 1
        });
        let batch = &mut batches[number];
        batch.pairs.push(constraint.particles);
        batch.list.push(constraint.rest_length);
        for i in constraint.particles {
            if let Some((word, bit)) = bit_of(i, number) {
                used[word] |= bit;
            }
        }
    }
    // A stable sort keeps the order within a kind.
    batches.sort_by_key(|batch| batch.list.kind.solve_rank());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{BendStencil, SoaVec3};
    use bevy::math::Vec3;

    /// A chain 0–1–2–… of edges and bends.
    fn chain(n: u32) -> ConstraintGraph {
        let positions: SoaVec3 = (0..=n).map(|i| Vec3::X * i as f32).collect();
        let pairs: Vec<_> = (0..n)
            .map(|i| (ConstraintKind::Structural, i, i + 1))
            .collect();
        let bends: Vec<_> = (1..n)
            .map(|i| BendStencil::three_point([i - 1, i, i + 1]))
            .collect();
        let mut graph = ConstraintGraph::new(&positions, &pairs);
        graph.add_bends(&positions, &bends);
        graph
    }

    /// Numbers of chain batches and other batches.
    fn counts(graph: &ConstraintGraph) -> (usize, usize) {
        (graph.general.chain_batches().count(), graph.batch_count())
    }

    fn edge(a: u32, b: u32) -> DistanceConstraint {
        DistanceConstraint {
            kind: ConstraintKind::Structural,
            particles: [a, b],
            rest_length: 1.0,
        }
    }

    #[test]
    fn added_constraints_get_a_free_batch_and_batches_stay_independent() {
        let mut graph = chain(20);
        let near = graph.find_constraints(|pair| pair.iter().all(|i| (4..8).contains(i)));
        assert_eq!(near.len(), 3 + 2);
        let (first, _) = near[0];
        let mut edit = GraphEdit {
            removed: vec![first],
            ..Default::default()
        };
        // A star around particle 3, and new particles.
        edit.added = (10..20).map(|i| edge(3, i)).collect();
        edit.added.push(edge(21, 22));
        graph.apply(edit, 23);
        assert_eq!(graph.len(), 20 + 19 - 1 + 11);
        let mut last = 0;
        for batch in graph.general.batches() {
            assert!(
                batch.list.kind.solve_rank() >= last,
                "kinds are out of order"
            );
            last = batch.list.kind.solve_rank();
            let mut seen = std::collections::BTreeSet::new();
            assert!(batch.pairs.as_flattened().iter().all(|i| seen.insert(*i)));
            assert_eq!(batch.pairs.len(), batch.list.len());
        }
    }

    #[test]
    fn a_new_particle_replaces_another() {
        let mut graph = chain(3);
        let all = graph.find_constraints(|_| true);
        let (slot, _) = *all
            .iter()
            .find(|(_, c)| c.ends() == [2, 3])
            .expect("the link from 2 to 3 exists");
        let edit = GraphEdit {
            replaced: vec![(slot, [4, 3])],
            ..Default::default()
        };
        graph.apply(edit, 5);
        assert!(graph.iter().any(|c| c.ends() == [4, 3]));
        assert!(!graph.iter().any(|c| c.ends() == [2, 3]));
    }

    #[test]
    fn a_chain_loses_constraints_that_get_other_particles() {
        // Sixteen chains side by side form a batch.
        let positions: SoaVec3 = (0..16 * 21)
            .map(|i| Vec3::new((i / 21) as f32, (i % 21) as f32, 0.0))
            .collect();
        let links = (0..16 * 21_u32).filter(|i| i % 21 < 20);
        let pairs: Vec<_> = links
            .map(|i| (ConstraintKind::Structural, i, i + 1))
            .collect();
        let mut graph = ConstraintGraph::new(&positions, &pairs);
        assert_eq!(counts(&graph), (1, 0));
        graph.clear_loads();
        let slot = |graph: &ConstraintGraph, pair| {
            let found = graph.find_constraints(|particles| particles == pair);
            let [(slot, _)] = found[..] else {
                panic!("{found:?}");
            };
            slot
        };
        let new = 16 * 21;
        let edit = GraphEdit {
            replaced: vec![(slot(&graph, [30, 31]), [new, 31])],
            removed: vec![slot(&graph, [40, 41])],
            ..Default::default()
        };
        graph.apply(edit, new as usize + 1);
        assert_eq!(graph.len(), 16 * 20 - 1);
        assert_eq!(graph.count(ConstraintKind::Structural), graph.len());
        assert_eq!(counts(&graph), (1, 1));
        let all: Vec<_> = graph.iter().map(|c| c.ends()).collect();
        assert!(all.contains(&[new, 31]) && !all.contains(&[30, 31]) && !all.contains(&[40, 41]));
        assert_eq!(graph.loads().count(), graph.len());
        graph.retain(|constraint| constraint.ends()[0] == new);
        assert_eq!((graph.len(), counts(&graph)), (1, (0, 1)));
    }
}
