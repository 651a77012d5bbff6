//! Solves constraints between particles anywhere: of meshes that are no grid, of ropes, and what a
//! tear has left of a grid's order.
//!
//! The constraints of an independent batch share no particle, so they may be taken in any order. They
//! are taken in chunks, in three loops each: fetch differences and masses, compute how far to move,
//! move. Each loop's turns are independent of each other, so that the processor has many of them
//! under way, and the one in the middle is plain SIMD; done constraint by constraint, or eight at a
//! time from fetching to moving, most of the time goes into waiting for square root and division.
//!
//! Fetched is from a copy of the particles that has x, y, z and the inverse mass of each side by
//! side: one load for each end, and four of them are turned into lanes by a few shuffles.
//!
//! | file | what it holds |
//! |---|---|
//! | `places` | where particles are fetched from: the copy, or the planes if there is little to do |
//! | `chunk` | the three loops |

mod chunk;
mod places;

use super::{
    batches::Batch,
    relax::{Points, Softness},
    simd::{Kernel, dispatch},
};
use chunk::{Chunks, solve_singly};
use places::{Anywhere, Copied, Places, WINDOW, Window, copy, write_back};
use std::cell::RefCell;

/// A copy of the particles pays if there are so many constraints to solve for each of them: without,
/// a constraint takes about three times as long (measured at 64²).
const COPY_PAYS: f32 = 0.25;

thread_local! {
    /// The copy, which belongs to no cloth: it is filled anew for each, and what was just in use is
    /// in the cache.
    static COPY: RefCell<Copied> = const { RefCell::new(Vec::new()) };
}

/// Solves batches in their order, all of them so many times.
pub(super) fn relax_batches(
    points: &mut Points,
    batches: &mut [Batch],
    passes: u32,
    softness: impl Fn(&Batch) -> Softness + Copy,
) {
    if batches.is_empty() || passes == 0 {
        return;
    }
    COPY.with_borrow_mut(|copy| {
        dispatch(GeneralPass {
            points,
            batches,
            passes,
            softness,
            copy,
        });
    });
}

struct GeneralPass<'a, 'p, S> {
    points: &'a mut Points<'p>,
    batches: &'a mut [Batch],
    passes: u32,
    softness: S,
    copy: &'a mut Copied,
}

impl<S: Fn(&Batch) -> Softness> Kernel for GeneralPass<'_, '_, S> {
    #[inline(always)]
    fn run(self) {
        let Self {
            points,
            batches,
            passes,
            softness,
            copy: copied,
        } = self;
        let constraints: usize = batches.iter().map(|batch| batch.pairs.len()).sum();
        let solved = constraints as f32 * passes as f32;
        if solved < COPY_PAYS * points.w.len() as f32 {
            return in_chunks(points, batches, passes, softness);
        }
        copy(points, copied);
        if points.w.len() <= WINDOW
            && let Some(window) = copied.first_chunk_mut()
        {
            in_chunks(&mut Window(window), batches, passes, softness);
        } else {
            in_chunks(&mut Anywhere(copied), batches, passes, softness);
        }
        write_back(copied, points);
    }

    fn run_scalar(self) {
        for _ in 0..self.passes {
            for batch in &mut *self.batches {
                let soft = (self.softness)(batch);
                solve_singly(
                    self.points,
                    &batch.pairs,
                    &batch.rest,
                    &mut batch.lambda,
                    soft,
                );
            }
        }
    }
}

#[inline(always)]
fn in_chunks(
    places: &mut impl Places,
    batches: &mut [Batch],
    passes: u32,
    softness: impl Fn(&Batch) -> Softness,
) {
    let mut chunks = Chunks::default();
    for _ in 0..passes {
        for batch in &mut *batches {
            let soft = softness(batch);
            let (pairs, rest, lambda) = (&batch.pairs, &batch.rest, &mut batch.lambda);
            if batch.independent {
                chunks.solve(places, pairs, rest, lambda, soft);
            } else {
                solve_singly(places, pairs, rest, lambda, soft);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::places::WINDOW;
    use crate::solver::{
        Compliance, ConstraintGraph, ConstraintKind, ParticleArrays, Relaxation, SoaVec3, Strength,
        ThreadSolver, relax, simd::levels::same_bits,
    };
    use bevy::math::Vec3;

    fn settings(iterations: u32, stretch: f32, loads: bool) -> Relaxation {
        Relaxation {
            compliance: Compliance {
                stretch,
                shear: 1e-6,
                bend: 1e-4,
            },
            threads: ThreadSolver::Direct,
            iterations,
            dt: 0.01,
            strength: Strength::part(0.7),
            loads,
        }
    }

    /// Particles in rows of `columns`, with threads, diagonals and bends, and one particle that is
    /// tied to many others. Some are pinned, some heavy, some at one place.
    fn cloth(columns: u32, count: u32) -> (ParticleArrays, ConstraintGraph) {
        let rest: SoaVec3 = (0..count)
            .map(|i| Vec3::new((i % columns) as f32, (i / columns) as f32, (i % 3) as f32) * 0.1)
            .collect();
        let mut pairs = Vec::new();
        for i in 0..count {
            pairs.push((ConstraintKind::Structural, i, i + columns));
            pairs.push((ConstraintKind::Bend, i, i + 2 * columns));
            if i % columns + 1 < columns {
                pairs.push((ConstraintKind::Structural, i, i + 1));
                pairs.push((ConstraintKind::Shear, i, i + columns + 1));
            }
        }
        pairs.extend((2..columns).map(|i| (ConstraintKind::Bend, 0, i * columns + 5)));
        let graph = ConstraintGraph::new(&rest, &pairs);
        let mut moved = rest;
        for i in 0..count as usize {
            moved.add(i, Vec3::splat((i * i % 13) as f32 * 0.01));
        }
        moved.set(1, moved.get(2));
        let w = (0..count).map(|i| [1.0, 5.0, 0.0, 0.1, 2.0][i as usize % 5]);
        let particles = ParticleArrays::new(Vec3::ZERO, moved, w.collect());
        (particles, graph)
    }

    fn same_at_all_levels(columns: u32, count: u32, by: &Relaxation) {
        let (particles, graph) = cloth(columns, count);
        assert_eq!(graph.sheets().count(), 0);
        let bits = same_bits(|| {
            let (mut particles, mut graph) = (particles.clone(), graph.clone());
            relax(&mut particles, &mut graph, by);
            let lambda = graph.batches.iter().flat_map(|batch| &batch.lambda);
            let lambda = lambda.map(|lambda| lambda.to_bits());
            particles.position.bits().chain(lambda).collect()
        });
        let before: Vec<u32> = particles.position.bits().collect();
        assert_ne!(bits[..before.len()], before);
    }

    #[test]
    fn all_levels_give_the_bits_of_the_twin() {
        // With and without λ; batches of many chunks, with all kinds of tails, and some that share
        // particles.
        for by in [
            settings(1, 0.0, false),
            settings(1, 1e-5, true),
            settings(3, 1e-5, false),
        ] {
            for count in [9, 13, 100, 401, 2000] {
                same_at_all_levels(90.min(count / 3), count, &by);
            }
        }
        let (_, graph) = cloth(90, 8100);
        assert!(graph.batches.iter().any(|batch| !batch.independent));
        same_at_all_levels(90, 8100, &settings(2, 0.0, false));
    }

    #[test]
    fn more_particles_than_a_window_has() {
        same_at_all_levels(300, WINDOW as u32 + 1001, &settings(1, 0.0, false));
    }

    #[test]
    fn few_constraints_among_many_particles() {
        let (mut particles, mut graph) = cloth(50, 2500);
        let before = particles.clone();
        graph.retain(|constraint| constraint.particles[1] < 103);
        assert!(graph.len() < 400 && graph.len() > 200);
        let by = settings(1, 0.0, false);
        let bits = same_bits(|| {
            let mut particles = particles.clone();
            relax(&mut particles, &mut graph.clone(), &by);
            particles.position.bits().collect()
        });
        relax(&mut particles, &mut graph, &by);
        assert_eq!(bits, particles.position.bits().collect::<Vec<_>>());
        for i in 0..2500 {
            let moved = particles.position.get(i) != before.position.get(i);
            assert!(!moved || i < 103, "{i}");
        }
    }
}
