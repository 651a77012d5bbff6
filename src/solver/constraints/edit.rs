//! Edits single constraints of a graph without rebuilding it, for tearing and cutting.
//!
//! A constraint in which a new particle replaces one of its own stays in its batch: if no other constraint of
//! the batch contains the old particle, none contains the new one. Added constraints go into a batch in which
//! both of their particles are free. Grids and chains only lose constraints: those that get other particles
//! move to a batch, or to the list of bends.

use crate::solver::{
    constraints::{
        bend::BendConstraint,
        coloring::Batch,
        graph::{ConstraintGraph, ConstraintKind, DistanceConstraint},
        grid::GridConstraintSet,
    },
    simd::aligned::AlignedVec,
};

/// Constraint sets of a grid.
const GRID_SETS: usize = 6;

/// Constraint lists of a chain batch.
const CHAIN_LISTS: usize = 2;

/// Location of a constraint, valid until the graph changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::solver) struct ConstraintSlot {
    /// Number of the store: the sets of all grids come first, then the lists of all chain batches, then the
    /// batches, and last the list of bends.
    batch: u32,
    index: u32,
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
}

impl ConstraintGraph {
    /// Returns all constraints with end particles that satisfy `condition`.
    pub(in crate::solver) fn find_constraints(
        &self,
        condition: impl Fn([u32; 2]) -> bool,
    ) -> Vec<(ConstraintSlot, DistanceConstraint)> {
        let mut found = Vec::new();
        let sets = self.grids.iter().flat_map(|grid| {
            let layout = grid.layout;
            grid.sets.iter().map(move |set| (layout, set))
        });
        for (number, (layout, set)) in (0_u32..).zip(sets) {
            for (index, constraint) in set.iter(&layout) {
                if condition(constraint.particles) {
                    let slot = ConstraintSlot {
                        batch: number,
                        index: index as u32,
                    };
                    found.push((slot, constraint));
                }
            }
        }
        let lists = self.chain_batches.iter().flat_map(|chain_batch| {
            let lists = chain_batch.by_kind.iter();
            lists.map(move |list| (chain_batch, list))
        });
        for (number, (chain_batch, list)) in (self.first_chain_list() as u32..).zip(lists) {
            for (index, constraint) in chain_batch.iter_list(list) {
                if condition(constraint.particles) {
                    let slot = ConstraintSlot {
                        batch: number,
                        index: index as u32,
                    };
                    found.push((slot, constraint));
                }
            }
        }
        for (number, batch) in (self.first_batch() as u32..).zip(&self.batches) {
            for (index, &particles) in (0_u32..).zip(&batch.pairs) {
                if condition(particles) {
                    let slot = ConstraintSlot {
                        batch: number,
                        index,
                    };
                    let constraint = DistanceConstraint {
                        kind: batch.kind,
                        particles,
                        rest_length: batch.rest[index as usize],
                        middle: None,
                    };
                    found.push((slot, constraint));
                }
            }
        }
        let batch = self.bend_list() as u32;
        for (index, bend) in (0_u32..).zip(&self.bends) {
            if condition(bend.stencil.ends) {
                found.push((
                    ConstraintSlot { batch, index },
                    DistanceConstraint::of_bend(bend),
                ));
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
        } = edit;
        let (first_chain_list, first_batch) = (self.first_chain_list(), self.first_batch());
        let bend_list = self.bend_list();
        let mut changed = vec![false; self.batches.len()];
        for (slot, pair) in replaced {
            if let Some(mut bend) = self.bend_at(slot) {
                bend.stencil.ends = pair;
                added_bends.push(bend);
                removed.push(slot);
            } else if let Some(number) = (slot.batch as usize).checked_sub(first_batch) {
                self.batches[number].pairs[slot.index as usize] = pair;
                changed[number] = true;
            } else {
                // A grid or chain has no slot for other particles: the constraint moves to a batch.
                added.push(DistanceConstraint {
                    particles: pair,
                    ..self.stored_constraint(slot)
                });
                removed.push(slot);
            }
        }
        removed.sort_unstable();
        let before = |number: usize| removed.partition_point(|s| (s.batch as usize) < number);
        let [chain_lists_from, batches_from, bends_from] =
            [first_chain_list, first_batch, bend_list].map(before);
        for &slot in &removed[..chain_lists_from] {
            self.grid_set(slot).remove(slot.index as usize);
        }
        for &slot in &removed[chain_lists_from..batches_from] {
            let number = slot.batch as usize - first_chain_list;
            let list = &mut self.chain_batches[number / CHAIN_LISTS].by_kind[number % CHAIN_LISTS];
            list.remove(slot.index as usize);
        }
        let mut grids: Vec<usize> = removed[..chain_lists_from]
            .iter()
            .map(|slot| slot.batch as usize / GRID_SETS)
            .collect();
        grids.dedup();
        for grid in grids {
            self.grids[grid].recount();
        }
        for of_batch in removed[batches_from..bends_from].chunk_by(|a, b| a.batch == b.batch) {
            let number = of_batch[0].batch as usize - first_batch;
            let batch = &mut self.batches[number];
            let mut removed_indices = of_batch.iter().map(|slot| slot.index).peekable();
            let mut index = 0;
            batch.retain(|_, _| {
                let is_removed = removed_indices.next_if_eq(&index).is_some();
                index += 1;
                !is_removed
            });
            changed[number] = true;
        }
        let mut removed_indices = removed[bends_from..]
            .iter()
            .map(|slot| slot.index)
            .peekable();
        let mut index = 0;
        self.bends.retain(|_| {
            let is_removed = removed_indices.next_if_eq(&index).is_some();
            index += 1;
            !is_removed
        });
        self.bends.extend(added_bends);
        if !added.is_empty() {
            self.add(added, particles, &mut changed);
        }
        for (batch, changed) in self.batches.iter_mut().zip(changed) {
            if changed {
                batch.changed();
            }
        }
        self.batches.retain(|batch| !batch.pairs.is_empty());
        self.chain_batches
            .retain(|chain_batch| chain_batch.len() > 0);
    }

    /// Returns the number of the first list of a chain batch.
    fn first_chain_list(&self) -> usize {
        self.grids.len() * GRID_SETS
    }

    /// Returns the number of the first batch.
    fn first_batch(&self) -> usize {
        self.first_chain_list() + self.chain_batches.len() * CHAIN_LISTS
    }

    /// Returns the number of the list of bends.
    fn bend_list(&self) -> usize {
        self.first_batch() + self.batches.len()
    }

    /// Returns the bend at a slot, if it holds one.
    pub(in crate::solver) fn bend_at(&self, slot: ConstraintSlot) -> Option<BendConstraint> {
        let (number, index) = (slot.batch as usize, slot.index as usize);
        if let Some(number) = number.checked_sub(self.first_batch()) {
            let is_list = number == self.batches.len();
            return is_list.then(|| self.bends[index]);
        }
        if let Some(number) = number.checked_sub(self.first_chain_list()) {
            let chain_batch = &self.chain_batches[number / CHAIN_LISTS];
            return chain_batch.bend_constraint(&chain_batch.by_kind[number % CHAIN_LISTS], index);
        }
        let grid = &self.grids[number / GRID_SETS];
        grid.sets[number % GRID_SETS].bend_constraint(&grid.layout, index)
    }

    /// Returns the constraint at a slot of a grid or a chain batch.
    fn stored_constraint(&self, slot: ConstraintSlot) -> DistanceConstraint {
        let index = slot.index as usize;
        if let Some(number) = (slot.batch as usize).checked_sub(self.first_chain_list()) {
            let chain_batch = &self.chain_batches[number / CHAIN_LISTS];
            return chain_batch.constraint(&chain_batch.by_kind[number % CHAIN_LISTS], index);
        }
        let number = slot.batch as usize;
        let grid = &self.grids[number / GRID_SETS];
        grid.sets[number % GRID_SETS].constraint(&grid.layout, index)
    }

    /// Returns the constraint set of a slot of a grid.
    fn grid_set(&mut self, slot: ConstraintSlot) -> &mut GridConstraintSet {
        let number = slot.batch as usize;
        &mut self.grids[number / GRID_SETS].sets[number % GRID_SETS]
    }

    fn add(&mut self, added: Vec<DistanceConstraint>, particles: usize, changed: &mut Vec<bool>) {
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
        // Upper bound of the number of batches: each added constraint may need a batch of its own.
        let words = (self.batches.len() + added.len()).div_ceil(64);
        let mut used = vec![0_u64; count as usize * words];
        let bit_of = |i: u32, batch: usize| {
            let number = number_of[i as usize];
            (number != u32::MAX)
                .then(|| (number as usize * words + batch / 64, 1_u64 << (batch % 64)))
        };
        for (number, batch) in self.batches.iter().enumerate() {
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
                let batch = &self.batches[number];
                batch.kind == constraint.kind
                    && batch.independent
                    && !constraint.particles.iter().any(|&i| is_used(i, number))
            };
            let number = (0..self.batches.len()).find(free).unwrap_or_else(|| {
                self.batches.push(Batch::empty(constraint.kind));
                changed.push(true);
                self.batches.len() - 1
            });
            let batch = &mut self.batches[number];
            batch.pairs.push(constraint.particles);
            batch.rest.push(constraint.rest_length);
            changed[number] = true;
            for i in constraint.particles {
                if let Some((word, bit)) = bit_of(i, number) {
                    used[word] |= bit;
                }
            }
        }
        // A stable sort keeps the order within a kind.
        let mut order: Vec<_> = std::mem::take(&mut self.batches)
            .into_iter()
            .zip(std::mem::take(changed))
            .collect();
        order.sort_by_key(|(batch, _)| batch.kind.solve_rank());
        (self.batches, *changed) = order.into_iter().unzip();
    }

    /// Begins to measure the load of each structural constraint.
    pub(crate) fn clear_loads(&mut self) {
        let clear = |kind, load: &mut AlignedVec, len: usize| {
            load.clear();
            if kind == ConstraintKind::Structural {
                load.resize(len, 0.0);
            }
        };
        for set in self.grids.iter_mut().flat_map(|grid| &mut grid.sets) {
            clear(set.kind(), &mut set.load, set.rest.len());
        }
        for list in self
            .chain_batches
            .iter_mut()
            .flat_map(|chain_batch| &mut chain_batch.by_kind)
        {
            clear(list.kind, &mut list.load, list.rest.len());
        }
        for batch in &mut self.batches {
            clear(batch.kind, &mut batch.load, batch.pairs.len());
        }
    }

    /// Adds the tension of the last substep, −λ/Δt² in N (Macklin et al. 2016), times the `fraction` of the fixed
    /// step that the substep is. Requires [`RelaxSettings::loads`](crate::solver::RelaxSettings::loads).
    pub(crate) fn add_loads(&mut self, dt: f32, fraction: f32) {
        let factor = -fraction / (dt * dt);
        let sets = self.grids.iter_mut().flat_map(|grid| &mut grid.sets);
        let in_grids = sets.map(|set| (&mut set.load, &set.lambda));
        let lists = self
            .chain_batches
            .iter_mut()
            .flat_map(|chain_batch| &mut chain_batch.by_kind);
        let chain_batches = lists.map(|list| (&mut list.load, &list.lambda));
        let batches = self.batches.iter_mut();
        let in_batches = batches.map(|batch| (&mut batch.load, &batch.lambda));
        for (load, lambda) in in_grids.chain(chain_batches).chain(in_batches) {
            for (load, lambda) in load.iter_mut().zip(lambda) {
                *load += lambda * factor;
            }
        }
    }

    /// Iterates over the structural constraints and their mean load since `clear_loads`, N;
    /// 0 for constraints added since.
    pub fn loads(&self) -> impl Iterator<Item = (DistanceConstraint, f32)> + '_ {
        let load = |load: &[f32], i: usize| load.get(i).copied().unwrap_or(0.0);
        let in_grids = self.grids.iter().flat_map(move |grid| {
            let sets = grid.sets.iter();
            let structural = sets.filter(|set| set.kind() == ConstraintKind::Structural);
            structural.flat_map(move |set| {
                let all = set.iter(&grid.layout);
                all.map(move |(i, constraint)| (constraint, load(&set.load, i)))
            })
        });
        let chain_batches = self.chain_batches.iter().flat_map(move |chain_batch| {
            let lists = chain_batch.by_kind.iter();
            let structural = lists.filter(|list| list.kind == ConstraintKind::Structural);
            structural.flat_map(move |list| {
                let all = chain_batch.iter_list(list);
                all.map(move |(i, constraint)| (constraint, load(&list.load, i)))
            })
        });
        let batches = self.batches.iter();
        let structural = batches.filter(|batch| batch.kind == ConstraintKind::Structural);
        let in_batches = structural.flat_map(move |batch| {
            (0..batch.pairs.len()).map(move |i| {
                let constraint = DistanceConstraint {
                    kind: batch.kind,
                    particles: batch.pairs[i],
                    rest_length: batch.rest[i],
                    middle: None,
                };
                (constraint, load(&batch.load, i))
            })
        });
        in_grids.chain(chain_batches).chain(in_batches)
    }
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

    fn edge(a: u32, b: u32) -> DistanceConstraint {
        DistanceConstraint {
            kind: ConstraintKind::Structural,
            particles: [a, b],
            rest_length: 1.0,
            middle: None,
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
        for batch in &graph.batches {
            assert!(batch.kind.solve_rank() >= last, "kinds are out of order");
            last = batch.kind.solve_rank();
            let mut seen = std::collections::BTreeSet::new();
            assert!(batch.pairs.as_flattened().iter().all(|i| seen.insert(*i)));
            assert_eq!(batch.pairs.len(), batch.rest.len());
        }
    }

    #[test]
    fn a_new_particle_replaces_another() {
        let mut graph = chain(3);
        let all = graph.find_constraints(|_| true);
        let (slot, _) = *all
            .iter()
            .find(|(_, c)| c.particles == [2, 3])
            .expect("the link from 2 to 3 exists");
        let edit = GraphEdit {
            replaced: vec![(slot, [4, 3])],
            ..Default::default()
        };
        graph.apply(edit, 5);
        assert!(graph.iter().any(|c| c.particles == [4, 3]));
        assert!(!graph.iter().any(|c| c.particles == [2, 3]));
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
        assert_eq!((graph.chain_batches.len(), graph.batches.len()), (1, 0));
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
        assert_eq!((graph.chain_batches.len(), graph.batches.len()), (1, 1));
        let all: Vec<_> = graph.iter().map(|c| c.particles).collect();
        assert!(all.contains(&[new, 31]) && !all.contains(&[30, 31]) && !all.contains(&[40, 41]));
        assert_eq!(graph.loads().count(), graph.len());
        graph.retain(|constraint| constraint.particles[0] == new);
        assert_eq!((graph.len(), graph.chain_batches.len()), (1, 0));
    }
}
