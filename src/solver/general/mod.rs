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
//! Where threads run straight on from edge to edge they are strands. Those are solved as a sheet's
//! threads are, as a whole, many side by side; a particle of a strand is fetched once for all four
//! constraints that reach from it along the strand.
//!
//! | file | what it holds |
//! |---|---|
//! | `places` | where particles are fetched from: the copy, or the planes if there is little to do |
//! | `chunk` | the three loops |
//! | `hinges` | bends |
//! | `strands` | bundles of strands |
//! | `braid` | finds strands |

mod braid;
mod chunk;
mod hinges;
mod places;
mod strands;

use super::{
    batches::Batch,
    bend::Hinge,
    relax::{Points, Softness},
    sheet::SheetSoftness,
    simd::{Kernel, dispatch},
};
pub(super) use braid::braid;
use chunk::{Chunks, solve_singly};
use hinges::solve_hinges;
use places::{Anywhere, Copied, Places, WINDOW, Window, copy, write_back};
use std::cell::RefCell;
use strands::Room;
pub(super) use strands::{Bundle, InStrands};

/// A copy of the particles pays if there are so many constraints to solve for each of them: without,
/// a constraint takes about three times as long (measured at 64²).
const COPY_PAYS: f32 = 0.25;

thread_local! {
    /// A copy of the particles and room for work, which belong to no cloth: they are filled anew for
    /// each, and what was just in use is in the cache.
    static ROOM: RefCell<(Copied, Room)> = const { RefCell::new((Vec::new(), Room::new())) };
}

/// Constraints between particles anywhere, in solving order.
#[derive(Default)]
pub(super) struct General<'a> {
    /// Solved first, if strands are to resist bending too.
    pub(super) hinges: &'a [Hinge],
    /// All that comes before the strands.
    pub(super) before: &'a mut [Batch],
    pub(super) strands: &'a mut [Bundle],
    /// Threads that are in no strand.
    pub(super) after: &'a mut [Batch],
}

impl General<'_> {
    /// How many places there are for constraints, roughly.
    fn len(&self) -> usize {
        let batches = self.before.iter().chain(&*self.after);
        let single: usize = batches.map(|batch| batch.pairs.len()).sum();
        single + 2 * self.hinges.len() + self.strands.iter().map(Bundle::room).sum::<usize>()
    }
}

/// How soft constraints are: of a batch, and of strands.
#[derive(Clone, Copy)]
pub(super) struct GeneralSoftness<S> {
    pub(super) of_batch: S,
    pub(super) of_strands: SheetSoftness,
}

/// Solves all of them so many times.
pub(super) fn relax_general(
    points: &mut Points,
    constraints: General,
    passes: u32,
    softness: GeneralSoftness<impl Fn(&Batch) -> Softness>,
) {
    if passes == 0 || constraints.len() == 0 {
        return;
    }
    ROOM.with_borrow_mut(|(copy, room)| {
        dispatch(GeneralPass {
            points,
            constraints,
            passes,
            softness,
            copy,
            room,
        });
    });
}

struct GeneralPass<'a, 'p, S> {
    points: &'a mut Points<'p>,
    constraints: General<'a>,
    passes: u32,
    softness: GeneralSoftness<S>,
    copy: &'a mut Copied,
    room: &'a mut Room,
}

impl<S: Fn(&Batch) -> Softness> Kernel for GeneralPass<'_, '_, S> {
    #[inline(always)]
    fn run(self) {
        let Self {
            points,
            constraints,
            passes,
            softness,
            copy: copied,
            room,
        } = self;
        let solved = constraints.len() as f32 * passes as f32;
        if solved < COPY_PAYS * points.w.len() as f32 {
            return pass(points, constraints, passes, softness, room);
        }
        copy(points, copied);
        if points.w.len() <= WINDOW
            && let Some(window) = copied.first_chunk_mut()
        {
            pass(&mut Window(window), constraints, passes, softness, room);
        } else {
            pass(&mut Anywhere(copied), constraints, passes, softness, room);
        }
        write_back(copied, points);
    }

    fn run_scalar(self) {
        let points = self.points;
        let softness = self.softness;
        let singly = |points: &mut Points, batches: &mut [Batch]| {
            for batch in batches {
                let soft = (softness.of_batch)(batch);
                solve_singly(points, &batch.pairs, &batch.rest, &mut batch.lambda, soft);
            }
        };
        for _ in 0..self.passes {
            if let Some(bend) = softness.of_strands.bend {
                let hinges = self.constraints.hinges;
                solve_hinges(points, hinges, bend, softness.of_strands.damping);
            }
            singly(points, self.constraints.before);
            for bundle in &mut *self.constraints.strands {
                bundle.solve_singly(points, &softness.of_strands);
            }
            singly(points, self.constraints.after);
        }
    }
}

#[inline(always)]
fn pass(
    places: &mut impl Places,
    constraints: General,
    passes: u32,
    softness: GeneralSoftness<impl Fn(&Batch) -> Softness>,
    room: &mut Room,
) {
    let General {
        hinges,
        before,
        strands,
        after,
    } = constraints;
    let mut chunks = Chunks::default();
    for _ in 0..passes {
        if let Some(bend) = softness.of_strands.bend {
            solve_hinges(places, hinges, bend, softness.of_strands.damping);
        }
        chunks.solve_batches(places, before, &softness.of_batch);
        for bundle in &mut *strands {
            bundle.solve(places, &softness.of_strands, room);
        }
        chunks.solve_batches(places, after, &softness.of_batch);
    }
}

#[cfg(test)]
mod tests {
    use super::places::WINDOW;
    use crate::solver::{
        Bend, Compliance, ConstraintGraph, ConstraintKind, ParticleArrays, Relaxation, SoaVec3,
        Strength, ThreadSolver, relax, simd::levels::same_bits,
    };
    use bevy::math::Vec3;

    fn settings(iterations: u32, stretch: f32, loads: bool) -> Relaxation {
        Relaxation {
            compliance: Compliance {
                warp: stretch,
                weft: 2.0 * stretch,
                shear: 1e-6,
                bending: 1e-3,
            },
            threads: ThreadSolver::Direct,
            strain_limit: f32::INFINITY,
            iterations,
            dt: 0.01,
            strength: Strength::part(0.7),
            to_come: 0,
            loads,
        }
    }

    /// Particles in rows of `columns`, with threads, diagonals and bends, and one particle that is
    /// tied to many others. Some are pinned, some heavy, some at one place.
    fn cloth(columns: u32, count: u32) -> (ParticleArrays, ConstraintGraph) {
        let rest: SoaVec3 = (0..count)
            .map(|i| Vec3::new((i % columns) as f32, (i / columns) as f32, (i % 3) as f32) * 0.1)
            .collect();
        let (mut pairs, mut bends) = (Vec::new(), Vec::new());
        for i in 0..count {
            pairs.push((ConstraintKind::Structural, i, i + columns));
            bends.push(Bend::along([i, i + columns, i + 2 * columns]));
            if i % columns + 1 < columns {
                bends.push(Bend::across([i, i + 1], [i + columns, i + columns + 1]));
                pairs.push((ConstraintKind::Structural, i, i + 1));
                pairs.push((ConstraintKind::Shear, i, i + columns + 1));
            }
        }
        pairs.extend((2..columns).map(|i| (ConstraintKind::Shear, 0, i * columns + 5)));
        let mut graph = ConstraintGraph::new(&rest, &pairs);
        graph.add_bends(&rest, &bends);
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
            let lines = graph.strands.iter().flat_map(|bundle| &bundle.lines);
            let lambda = lines.flat_map(|line| &line.lambda);
            let lambda = lambda.chain(graph.batches.iter().flat_map(|batch| &batch.lambda));
            let lambda = lambda.map(|lambda| lambda.to_bits());
            particles.position.bits().chain(lambda).collect()
        });
        let before: Vec<u32> = particles.position.bits().collect();
        assert_ne!(bits[..before.len()], before);
    }

    #[test]
    fn all_levels_give_the_bits_of_the_twin() {
        // With and without λ; batches of many chunks, with all kinds of tails, and some that share
        // particles; bundles that are full and others with lanes of all lengths.
        for threads in [ThreadSolver::Direct, ThreadSolver::Relaxation] {
            for by in [
                settings(1, 0.0, false),
                settings(1, 1e-5, true),
                settings(3, 1e-5, false),
            ] {
                for count in [9, 13, 100, 401, 2000] {
                    for strain_limit in [f32::INFINITY, 0.05] {
                        let by = Relaxation {
                            threads,
                            strain_limit,
                            ..by
                        };
                        same_at_all_levels(90.min(count / 3), count, &by);
                    }
                }
            }
        }
        let (_, graph) = cloth(90, 8100);
        assert!(graph.batches.iter().any(|batch| !batch.independent));
        assert!(graph.strands.len() > 4);
        same_at_all_levels(90, 8100, &settings(2, 0.0, false));
    }

    #[test]
    fn a_strand_is_solved_as_a_whole() {
        // Sixteen threads of forty links, each held at one end and stretched by half, 2 m too long: one
        // pass brings the far end back as far as threads are rigid, where relaxation only begins.
        let rest: SoaVec3 = (0..16 * 41)
            .map(|i| Vec3::new((i / 41) as f32, (i % 41) as f32 * 0.1, 0.0))
            .collect();
        let pairs: Vec<_> = (0..16 * 41_u32)
            .filter(|i| i % 41 < 40)
            .map(|i| (ConstraintKind::Structural, i, i + 1))
            .collect();
        let mut graph = ConstraintGraph::new(&rest, &pairs);
        assert_eq!((graph.strands.len(), graph.batch_count()), (1, 0));
        let moved = rest
            .iter()
            .map(|at| at * Vec3::new(1.0, 1.5, 1.0))
            .collect();
        let w = (0..16 * 41).map(|i| f32::from(u8::from(i % 41 > 0)));
        let stretched = ParticleArrays::new(Vec3::ZERO, moved, w.collect());
        for (threads, left) in [
            (ThreadSolver::Direct, 0.0..0.2),
            (ThreadSolver::Relaxation, 1.9..2.0),
        ] {
            let mut particles = stretched.clone();
            let by = Relaxation {
                strength: Strength::default(),
                threads,
                ..settings(1, 0.0, false)
            };
            relax(&mut particles, &mut graph, &by);
            for end in (40..rest.len()).step_by(41) {
                let error = particles.position.get(end).y - rest.get(end).y;
                assert!(left.contains(&error), "{threads:?}: {error}");
            }
        }
    }

    #[test]
    fn more_particles_than_a_window_has() {
        same_at_all_levels(300, WINDOW as u32 + 1001, &settings(1, 0.0, false));
    }

    #[test]
    fn few_constraints_among_many_particles() {
        // No more than are solved without a copy of all the particles.
        let (mut particles, graph) = cloth(50, 2500);
        let near = graph
            .iter()
            .filter(|constraint| constraint.particles[1] < 103);
        let pairs: Vec<_> = near
            .map(|c| (c.kind, c.particles[0], c.particles[1]))
            .collect();
        let graph = ConstraintGraph::new(&particles.position, &pairs);
        assert!(graph.len() > 200 && graph.len() < 500 && graph.strands.is_empty());
        for i in 0..2500 {
            particles.position.add(i, Vec3::Y * (i % 7) as f32 * 0.01);
        }
        let by = settings(1, 0.0, false);
        let bits = same_bits(|| {
            let mut particles = particles.clone();
            relax(&mut particles, &mut graph.clone(), &by);
            particles.position.bits().collect()
        });
        let before: Vec<u32> = particles.position.bits().collect();
        let moved = |i: usize| bits[i] != before[i];
        assert!((0..103).filter(|&i| moved(i)).count() > 50);
        assert!(!(103..2500).any(moved));
    }
}
