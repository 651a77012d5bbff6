//! Changes single constraints of a graph without rebuilding it: what tearing and cutting need.
//!
//! A constraint that gets a fresh particle in the place of one of its own stays in its batch: if no
//! other constraint there touched the old particle, none touches the fresh one. What is added goes
//! into a batch in which both of its particles are free. Sheets and strands only lose constraints: one
//! that gets other particles leaves them for a batch, or for the list of bends.

use super::{
    aligned::AlignedVec,
    batches::Batch,
    bend::Hinge,
    constraints::{ConstraintGraph, ConstraintKind, DistanceConstraint},
    sheet::Family,
};

/// Families of a sheet.
const FAMILIES: usize = 6;

/// Lines of a bundle.
const LINES: usize = 2;

/// Where a constraint is, until the graph changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot {
    /// The families of all sheets are counted first, then the lines of all bundles, then the batches; the
    /// list of bends comes last.
    batch: u32,
    index: u32,
}

/// A change of a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Edit {
    /// Constraints that get other particles. Fresh ones may only take the place of the particle that
    /// they are copies of. Of bends these are the ends.
    pub(super) moved: Vec<(Slot, [u32; 2])>,
    /// Constraints that go.
    pub(super) removed: Vec<Slot>,
    /// Distance constraints that come.
    pub(super) added: Vec<DistanceConstraint>,
    /// Bends that come.
    pub(super) hinges: Vec<Hinge>,
}

impl ConstraintGraph {
    /// All constraints between particles for which a condition holds.
    pub(super) fn filtered(
        &self,
        condition: impl Fn([u32; 2]) -> bool,
    ) -> Vec<(Slot, DistanceConstraint)> {
        let mut found = Vec::new();
        let families = self.sheets.iter().flat_map(|sheet| {
            let layout = sheet.layout;
            sheet.families.iter().map(move |family| (layout, family))
        });
        for (number, (layout, family)) in (0_u32..).zip(families) {
            for (index, constraint) in family.iter(&layout) {
                if condition(constraint.particles) {
                    let slot = Slot {
                        batch: number,
                        index: index as u32,
                    };
                    found.push((slot, constraint));
                }
            }
        }
        let lines = self.strands.iter().flat_map(|bundle| {
            let lines = bundle.lines.iter();
            lines.map(move |line| (bundle, line))
        });
        for (number, (bundle, line)) in (self.first_line() as u32..).zip(lines) {
            for (index, constraint) in bundle.along(line) {
                if condition(constraint.particles) {
                    let slot = Slot {
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
                    let slot = Slot {
                        batch: number,
                        index,
                    };
                    let constraint = DistanceConstraint {
                        kind: batch.kind,
                        particles,
                        rest_length: batch.rest[index as usize],
                        over: None,
                    };
                    found.push((slot, constraint));
                }
            }
        }
        let batch = self.list_of_bends() as u32;
        for (index, hinge) in (0_u32..).zip(&self.hinges) {
            if condition(hinge.at.ends) {
                found.push((Slot { batch, index }, DistanceConstraint::of_hinge(hinge)));
            }
        }
        found
    }

    /// Changes the graph. `particles` is how many there are now.
    pub(super) fn apply(&mut self, edit: Edit, particles: usize) {
        let Edit {
            moved,
            mut removed,
            mut added,
            mut hinges,
        } = edit;
        let (first_line, first_batch) = (self.first_line(), self.first_batch());
        let list_of_bends = self.list_of_bends();
        let mut touched = vec![false; self.batches.len()];
        for (slot, pair) in moved {
            if let Some(mut hinge) = self.hinge(slot) {
                hinge.at.ends = pair;
                hinges.push(hinge);
                removed.push(slot);
            } else if let Some(number) = (slot.batch as usize).checked_sub(first_batch) {
                self.batches[number].pairs[slot.index as usize] = pair;
                touched[number] = true;
            } else {
                // It leaves the sheet or the strand: there is no place for other particles.
                added.push(DistanceConstraint {
                    particles: pair,
                    ..self.of_thread(slot)
                });
                removed.push(slot);
            }
        }
        removed.sort_unstable();
        let before = |number: usize| removed.partition_point(|s| (s.batch as usize) < number);
        let [of_lines, of_batches, of_list] = [first_line, first_batch, list_of_bends].map(before);
        for &slot in &removed[..of_lines] {
            self.family(slot).remove(slot.index as usize);
        }
        for &slot in &removed[of_lines..of_batches] {
            let number = slot.batch as usize - first_line;
            let line = &mut self.strands[number / LINES].lines[number % LINES];
            line.remove(slot.index as usize);
        }
        let mut sheets: Vec<usize> = removed[..of_lines]
            .iter()
            .map(|slot| slot.batch as usize / FAMILIES)
            .collect();
        sheets.dedup();
        for sheet in sheets {
            self.sheets[sheet].changed();
        }
        for of_batch in removed[of_batches..of_list].chunk_by(|a, b| a.batch == b.batch) {
            let number = of_batch[0].batch as usize - first_batch;
            let batch = &mut self.batches[number];
            let mut gone = of_batch.iter().map(|slot| slot.index).peekable();
            let mut index = 0;
            batch.retain(|_, _| {
                let goes = gone.next_if_eq(&index).is_some();
                index += 1;
                !goes
            });
            touched[number] = true;
        }
        let mut gone = removed[of_list..].iter().map(|slot| slot.index).peekable();
        let mut index = 0;
        self.hinges.retain(|_| {
            let goes = gone.next_if_eq(&index).is_some();
            index += 1;
            !goes
        });
        self.hinges.extend(hinges);
        if !added.is_empty() {
            self.add(added, particles, &mut touched);
        }
        for (batch, touched) in self.batches.iter_mut().zip(touched) {
            if touched {
                batch.changed();
            }
        }
        self.batches.retain(|batch| !batch.pairs.is_empty());
        self.strands.retain(|bundle| bundle.len() > 0);
    }

    /// The number of the first line of a bundle.
    fn first_line(&self) -> usize {
        self.sheets.len() * FAMILIES
    }

    /// The number of the first batch.
    fn first_batch(&self) -> usize {
        self.first_line() + self.strands.len() * LINES
    }

    /// The number of the list of bends.
    fn list_of_bends(&self) -> usize {
        self.first_batch() + self.batches.len()
    }

    /// The bend at a slot, if there is one.
    pub(super) fn hinge(&self, slot: Slot) -> Option<Hinge> {
        let (number, index) = (slot.batch as usize, slot.index as usize);
        if let Some(number) = number.checked_sub(self.first_batch()) {
            let is_list = number == self.batches.len();
            return is_list.then(|| self.hinges[index]);
        }
        if let Some(number) = number.checked_sub(self.first_line()) {
            let bundle = &self.strands[number / LINES];
            return bundle.hinge(&bundle.lines[number % LINES], index);
        }
        let sheet = &self.sheets[number / FAMILIES];
        sheet.families[number % FAMILIES].hinge(&sheet.layout, index)
    }

    /// The constraint at a slot in a sheet or a bundle.
    fn of_thread(&self, slot: Slot) -> DistanceConstraint {
        let index = slot.index as usize;
        if let Some(number) = (slot.batch as usize).checked_sub(self.first_line()) {
            let bundle = &self.strands[number / LINES];
            return bundle.constraint(&bundle.lines[number % LINES], index);
        }
        let number = slot.batch as usize;
        let sheet = &self.sheets[number / FAMILIES];
        sheet.families[number % FAMILIES].constraint(&sheet.layout, index)
    }

    /// The family of a slot in a sheet.
    fn family(&mut self, slot: Slot) -> &mut Family {
        let number = slot.batch as usize;
        &mut self.sheets[number / FAMILIES].families[number % FAMILIES]
    }

    fn add(&mut self, added: Vec<DistanceConstraint>, particles: usize, touched: &mut Vec<bool>) {
        // The particles in question, and one bit for each batch that already uses them.
        let mut number_of = vec![u32::MAX; particles];
        let mut count = 0;
        for i in added.iter().flat_map(|constraint| constraint.particles) {
            let number = &mut number_of[i as usize];
            if *number == u32::MAX {
                *number = count;
                count += 1;
            }
        }
        // So many batches may come at most: each constraint needs one in which it stands alone.
        let words = (self.batches.len() + added.len()).div_ceil(64);
        let mut used = vec![0_u64; count as usize * words];
        let place = |i: u32, batch: usize| {
            let number = number_of[i as usize];
            (number != u32::MAX)
                .then(|| (number as usize * words + batch / 64, 1_u64 << (batch % 64)))
        };
        for (number, batch) in self.batches.iter().enumerate() {
            for &i in batch.pairs.as_flattened() {
                if let Some((word, bit)) = place(i, number) {
                    used[word] |= bit;
                }
            }
        }
        // New batches come last until all are placed, so that the numbers stay.
        for constraint in added {
            let is_used = |i: u32, number: usize| {
                place(i, number).is_some_and(|(word, bit)| used[word] & bit != 0)
            };
            let free = |&number: &usize| {
                let batch = &self.batches[number];
                batch.kind == constraint.kind
                    && batch.independent
                    && !constraint.particles.iter().any(|&i| is_used(i, number))
            };
            let number = (0..self.batches.len()).find(free).unwrap_or_else(|| {
                self.batches.push(Batch::empty(constraint.kind));
                touched.push(true);
                self.batches.len() - 1
            });
            let batch = &mut self.batches[number];
            batch.pairs.push(constraint.particles);
            batch.rest.push(constraint.rest_length);
            touched[number] = true;
            for i in constraint.particles {
                if let Some((word, bit)) = place(i, number) {
                    used[word] |= bit;
                }
            }
        }
        // A stable sort: within a kind the order stays.
        let mut order: Vec<_> = std::mem::take(&mut self.batches)
            .into_iter()
            .zip(std::mem::take(touched))
            .collect();
        order.sort_by_key(|(batch, _)| batch.kind.solve_rank());
        (self.batches, *touched) = order.into_iter().unzip();
    }

    /// Begins to measure what each structural constraint carries.
    pub fn clear_loads(&mut self) {
        let clear = |kind, load: &mut AlignedVec, len: usize| {
            load.clear();
            if kind == ConstraintKind::Structural {
                load.resize(len, 0.0);
            }
        };
        for family in self.sheets.iter_mut().flat_map(|sheet| &mut sheet.families) {
            clear(family.kind(), &mut family.load, family.rest.len());
        }
        for line in self.strands.iter_mut().flat_map(|bundle| &mut bundle.lines) {
            clear(line.kind, &mut line.load, line.rest.len());
        }
        for batch in &mut self.batches {
            clear(batch.kind, &mut batch.load, batch.pairs.len());
        }
    }

    /// Adds the tension in the last substep, −λ/Δt² in N (Macklin et al. 2016), times a share: that
    /// of the substep in the fixed step. Relaxation must have been told to keep it.
    pub fn add_loads(&mut self, dt: f32, share: f32) {
        let factor = -share / (dt * dt);
        let families = self.sheets.iter_mut().flat_map(|sheet| &mut sheet.families);
        let woven = families.map(|family| (&mut family.load, &family.lambda));
        let lines = self.strands.iter_mut().flat_map(|bundle| &mut bundle.lines);
        let strands = lines.map(|line| (&mut line.load, &line.lambda));
        let batches = self.batches.iter_mut();
        let single = batches.map(|batch| (&mut batch.load, &batch.lambda));
        for (load, lambda) in woven.chain(strands).chain(single) {
            for (load, lambda) in load.iter_mut().zip(lambda) {
                *load += lambda * factor;
            }
        }
    }

    /// The structural constraints and what they have carried on average since
    /// [`clear_loads`](Self::clear_loads), N; 0 for those that are newer.
    pub fn loads(&self) -> impl Iterator<Item = (DistanceConstraint, f32)> + '_ {
        let load = |load: &[f32], i: usize| load.get(i).copied().unwrap_or(0.0);
        let woven = self.sheets.iter().flat_map(move |sheet| {
            let families = sheet.families.iter();
            let threads = families.filter(|f| f.kind() == ConstraintKind::Structural);
            threads.flat_map(move |family| {
                let all = family.iter(&sheet.layout);
                all.map(move |(i, constraint)| (constraint, load(&family.load, i)))
            })
        });
        let strands = self.strands.iter().flat_map(move |bundle| {
            let lines = bundle.lines.iter();
            let threads = lines.filter(|line| line.kind == ConstraintKind::Structural);
            threads.flat_map(move |line| {
                let all = bundle.along(line);
                all.map(move |(i, constraint)| (constraint, load(&line.load, i)))
            })
        });
        let batches = self.batches.iter();
        let threads = batches.filter(|batch| batch.kind == ConstraintKind::Structural);
        let single = threads.flat_map(move |batch| {
            (0..batch.pairs.len()).map(move |i| {
                let constraint = DistanceConstraint {
                    kind: batch.kind,
                    particles: batch.pairs[i],
                    rest_length: batch.rest[i],
                    over: None,
                };
                (constraint, load(&batch.load, i))
            })
        });
        woven.chain(strands).chain(single)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{Bend, SoaVec3};
    use bevy::math::Vec3;

    /// A row of threads 0–1–2–…
    fn chain(n: u32) -> ConstraintGraph {
        let positions: SoaVec3 = (0..=n).map(|i| Vec3::X * i as f32).collect();
        let pairs: Vec<_> = (0..n)
            .map(|i| (ConstraintKind::Structural, i, i + 1))
            .collect();
        let bends: Vec<_> = (1..n).map(|i| Bend::along([i - 1, i, i + 1])).collect();
        let mut graph = ConstraintGraph::new(&positions, &pairs);
        graph.add_bends(&positions, &bends);
        graph
    }

    fn thread(a: u32, b: u32) -> DistanceConstraint {
        DistanceConstraint {
            kind: ConstraintKind::Structural,
            particles: [a, b],
            rest_length: 1.0,
            over: None,
        }
    }

    #[test]
    fn what_is_added_finds_a_free_batch_and_all_stays_independent() {
        let mut graph = chain(20);
        let near = graph.filtered(|pair| pair.iter().all(|i| (4..8).contains(i)));
        assert_eq!(near.len(), 3 + 2);
        let (first, _) = near[0];
        let mut edit = Edit {
            removed: vec![first],
            ..Default::default()
        };
        // A star around particle 3, and fresh particles.
        edit.added = (10..20).map(|i| thread(3, i)).collect();
        edit.added.push(thread(21, 22));
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
    fn a_fresh_particle_takes_the_place_of_another() {
        let mut graph = chain(3);
        let all = graph.filtered(|_| true);
        let (slot, _) = *all
            .iter()
            .find(|(_, c)| c.particles == [2, 3])
            .expect("it is there");
        let edit = Edit {
            moved: vec![(slot, [4, 3])],
            ..Default::default()
        };
        graph.apply(edit, 5);
        assert!(graph.iter().any(|c| c.particles == [4, 3]));
        assert!(!graph.iter().any(|c| c.particles == [2, 3]));
    }

    #[test]
    fn a_strand_loses_what_gets_other_particles() {
        // Sixteen threads side by side are a bundle.
        let positions: SoaVec3 = (0..16 * 21)
            .map(|i| Vec3::new((i / 21) as f32, (i % 21) as f32, 0.0))
            .collect();
        let links = (0..16 * 21_u32).filter(|i| i % 21 < 20);
        let pairs: Vec<_> = links
            .map(|i| (ConstraintKind::Structural, i, i + 1))
            .collect();
        let mut graph = ConstraintGraph::new(&positions, &pairs);
        assert_eq!((graph.strands.len(), graph.batches.len()), (1, 0));
        graph.clear_loads();
        let slot = |graph: &ConstraintGraph, pair| {
            let found = graph.filtered(|particles| particles == pair);
            let [(slot, _)] = found[..] else {
                panic!("{found:?}");
            };
            slot
        };
        let fresh = 16 * 21;
        let edit = Edit {
            moved: vec![(slot(&graph, [30, 31]), [fresh, 31])],
            removed: vec![slot(&graph, [40, 41])],
            ..Default::default()
        };
        graph.apply(edit, fresh as usize + 1);
        assert_eq!(graph.len(), 16 * 20 - 1);
        assert_eq!(graph.count(ConstraintKind::Structural), graph.len());
        assert_eq!((graph.strands.len(), graph.batches.len()), (1, 1));
        let all: Vec<_> = graph.iter().map(|c| c.particles).collect();
        assert!(all.contains(&[fresh, 31]) && !all.contains(&[30, 31]) && !all.contains(&[40, 41]));
        assert_eq!(graph.loads().count(), graph.len());
        graph.retain(|constraint| constraint.particles[0] == fresh);
        assert_eq!((graph.len(), graph.strands.len()), (1, 0));
    }
}
