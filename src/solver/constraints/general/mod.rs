//! Solves constraints given by particle indices: those of meshes that are no grid, of ropes, and those that
//! left a grid when the cloth was torn.
//!
//! The constraints of an independent batch share no particle and may be solved in any order. They are solved in
//! chunks, in three loops each: gather differences and masses, compute the displacements, scatter them. The
//! iterations of each loop are independent, so the processor overlaps many of them, and the middle loop is
//! plain SIMD; solved constraint by constraint, or eight at a time from gather to scatter, most of the time is
//! the latency of square root and division.
//!
//! Particles are gathered from a packed copy with x, y, z and the inverse mass side by side: one load for each
//! end, and four of them are transposed into lanes by a few shuffles.
//!
//! Edges that continue straight on form chains, which are solved as a whole like the rows and columns of a
//! grid, many side by side; a particle of a chain is loaded once for all four constraints that reach from it
//! along the chain.
//!
//! | file | contents |
//! |---|---|
//! | `particle_access` | where particles are loaded from: the packed copy, or the SoA arrays for few constraints |
//! | `chunk` | the three loops |
//! | `bends` | bend constraints |
//! | `chains` | batches of chains |
//! | `find_chains` | finds chains in a mesh |

mod bends;
mod chains;
mod chunk;
mod find_chains;
mod particle_access;

use crate::solver::{
    constraints::{
        bend_batch::BendBatch,
        coloring::Batch,
        points::{PassParams, Points},
    },
    simd::{Kernel, dispatch},
};
use bends::solve_bends;
use chains::ChainScratch;
pub(in crate::solver) use chains::{ChainBatch, ChainIndex, ChainRows};
use chunk::ChunkBuffer;
pub(in crate::solver) use find_chains::find_chains;
use particle_access::{
    PackedParticles, PackedSlice, PackedWindow, ParticleAccess, WINDOW, copy, write_back,
};
use std::cell::RefCell;

/// Smallest number of constraints per particle at which the packed copy pays: without it a constraint takes
/// about three times as long (measured at 64²).
const MIN_CONSTRAINTS_PER_PARTICLE: f32 = 0.25;

thread_local! {
    /// Packed copy of the particles and scratch buffers, shared by all cloths so that they stay in the cache:
    /// they are refilled for each cloth.
    static SCRATCH: RefCell<(PackedParticles, ChainScratch)> =
        const { RefCell::new((Vec::new(), ChainScratch::new())) };
}

/// Constraints given by particle indices, in solving order.
#[derive(Default)]
pub(in crate::solver) struct GeneralConstraints<'a> {
    pub(in crate::solver) bends: Option<&'a BendBatch>,
    /// Batches of shear constraints.
    pub(in crate::solver) diagonals: &'a mut [Batch],
    pub(in crate::solver) chain_batches: &'a mut [ChainBatch],
    /// Batches of structural constraints that belong to no chain.
    pub(in crate::solver) edges: &'a mut [Batch],
}

impl GeneralConstraints<'_> {
    /// Returns the approximate number of constraints, absent ones of chain batches included.
    fn len(&self) -> usize {
        let batches = self.diagonals.iter().chain(&*self.edges);
        let in_batches: usize = batches.map(|batch| batch.pairs.len()).sum();
        let in_chains: usize = self.chain_batches.iter().map(ChainBatch::capacity).sum();
        in_batches + 2 * self.bends.map_or(0, |bends| bends.list.len()) + in_chains
    }
}

/// Solves all constraints once for each of `passes`.
pub(in crate::solver) fn relax_general(
    points: &mut Points,
    constraints: GeneralConstraints,
    passes: impl ExactSizeIterator<Item = PassParams>,
) {
    if passes.len() == 0 || constraints.len() == 0 {
        return;
    }
    SCRATCH.with_borrow_mut(|(packed, scratch)| {
        dispatch(GeneralPasses {
            points,
            constraints,
            passes,
            packed,
            scratch,
        });
    });
}

struct GeneralPasses<'a, 'p, P> {
    points: &'a mut Points<'p>,
    constraints: GeneralConstraints<'a>,
    passes: P,
    packed: &'a mut PackedParticles,
    scratch: &'a mut ChainScratch,
}

impl<P: ExactSizeIterator<Item = PassParams>> Kernel for GeneralPasses<'_, '_, P> {
    #[inline(always)]
    fn run(self) {
        let Self {
            points,
            constraints,
            passes,
            packed,
            scratch,
        } = self;
        let normals = points.normals;
        let solved = constraints.len() as f32 * passes.len() as f32;
        if solved < MIN_CONSTRAINTS_PER_PARTICLE * points.w.len() as f32 {
            return solve(points, constraints, passes, normals, scratch);
        }
        copy(points, packed);
        if points.w.len() <= WINDOW
            && let Some(window) = packed.first_chunk_mut()
        {
            solve(
                &mut PackedWindow(window),
                constraints,
                passes,
                normals,
                scratch,
            );
        } else {
            solve(
                &mut PackedSlice(packed),
                constraints,
                passes,
                normals,
                scratch,
            );
        }
        write_back(packed, points);
    }

    #[cfg(test)]
    fn run_reference(self) {
        let points = self.points;
        let sequentially = |points: &mut Points, batches: &mut [Batch], regularization| {
            for batch in batches {
                let Batch { pairs, list, .. } = batch;
                let (rest, lambda) = (&list.rest, &mut list.lambda);
                chunk::solve_sequentially(points, pairs, rest, lambda, regularization);
            }
        };
        for params in self.passes {
            if let (Some(bends), Some(bend)) = (self.constraints.bends, params.bend) {
                solve_bends(points, bends, bend, params.is_damping);
            }
            if let Some(shear) = params.shear {
                sequentially(points, self.constraints.diagonals, shear);
            }
            let normals = points.normals;
            let solve = |batch: &mut ChainBatch| batch.solve_reference(points, &params, normals);
            let batches = self.constraints.chain_batches.iter_mut();
            match params.is_reversed {
                true => batches.rev().for_each(solve),
                false => batches.for_each(solve),
            }
            if let Some(edges) = params.edges {
                sequentially(points, self.constraints.edges, edges);
            }
        }
    }
}

#[inline(always)]
fn solve(
    access: &mut impl ParticleAccess,
    constraints: GeneralConstraints,
    passes: impl Iterator<Item = PassParams>,
    normals: Option<[&[f32]; 3]>,
    scratch: &mut ChainScratch,
) {
    let GeneralConstraints {
        bends,
        diagonals,
        chain_batches,
        edges,
    } = constraints;
    let mut chunks = ChunkBuffer::default();
    for params in passes {
        if let (Some(bends), Some(bend)) = (bends, params.bend) {
            solve_bends(access, bends, bend, params.is_damping);
        }
        if let Some(shear) = params.shear {
            chunks.solve_batches(access, diagonals, shear);
        }
        let count = chain_batches.len();
        for number in 0..count {
            let number = match params.is_reversed {
                true => count - 1 - number,
                false => number,
            };
            chain_batches[number].solve(access, &params, normals, scratch);
        }
        if let Some(regularization) = params.edges {
            chunks.solve_batches(access, edges, regularization);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::particle_access::WINDOW;
    use crate::solver::{
        BendStencil, Compliance, ConstraintGraph, ConstraintKind, ParticleArrays, RelaxSettings,
        SoaVec3, StretchSolver, Workers,
        constraints::points::{StretchLimit, Supported},
        relax,
        relax::limit_strain,
        simd::levels::same_bits,
    };
    use bevy::math::Vec3;

    fn relax_settings(iterations: u32, stretch: f32, loads: bool) -> RelaxSettings {
        RelaxSettings {
            compliance: Compliance {
                warp: stretch,
                weft: 2.0 * stretch,
                shear: 1e-6,
                bending: 1e-3,
            },
            iterations,
            dt: 0.01,
            relaxation_factor: 0.7,
            loads,
            ..RelaxSettings::default()
        }
    }

    /// Particles in rows of `columns`, with structural, shear and bend constraints, and one particle that is
    /// tied to many others. Some are pinned, some heavy, some coincident.
    fn cloth(columns: u32, count: u32) -> (ParticleArrays, ConstraintGraph) {
        let rest: SoaVec3 = (0..count)
            .map(|i| Vec3::new((i % columns) as f32, (i / columns) as f32, (i % 3) as f32) * 0.1)
            .collect();
        let (mut pairs, mut bends) = (Vec::new(), Vec::new());
        for i in 0..count {
            pairs.push((ConstraintKind::Structural, i, i + columns));
            bends.push(BendStencil::three_point([i, i + columns, i + 2 * columns]));
            if i % columns + 1 < columns {
                bends.push(BendStencil::dihedral(
                    [i, i + 1],
                    [i + columns, i + columns + 1],
                ));
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
        let mut particles = ParticleArrays::new(Vec3::ZERO, moved, w.collect());
        // Some touch colliders.
        for i in (0..count as usize).step_by(3) {
            let normal = Vec3::new(0.6, 0.0, if i % 2 == 0 { 0.8 } else { -0.8 });
            particles.contact_normal.set(i, normal);
        }
        particles.in_contact = true;
        (particles, graph)
    }

    fn assert_same_at_all_levels(columns: u32, count: u32, settings: &RelaxSettings) {
        let (particles, graph) = cloth(columns, count);
        assert_eq!(graph.grids().count(), 0);
        let bits = same_bits(|| {
            let (mut particles, mut graph) = (particles.clone(), graph.clone());
            relax(&mut Workers::serial(), &mut particles, &mut graph, settings);
            for supported in [Supported::Slide, Supported::Hold] {
                let ratio = 1.1;
                let limit = StretchLimit { ratio, supported };
                limit_strain(&mut Workers::serial(), &mut particles, &mut graph, limit);
            }
            let lambda = graph.lists().flat_map(|(_, list)| &list.lambda);
            let lambda = lambda.map(|lambda| lambda.to_bits());
            particles.position.bits().chain(lambda).collect()
        });
        let before: Vec<u32> = particles.position.bits().collect();
        assert_ne!(bits[..before.len()], before);
    }

    #[test]
    fn all_levels_give_the_bits_of_the_reference() {
        // With and without λ; batches of many chunks, with tails of all lengths, and batches that share
        // particles; chain batches that are full and others with lanes of all lengths.
        for stretch_solver in [StretchSolver::Direct, StretchSolver::GaussSeidel] {
            for settings in [
                relax_settings(1, 0.0, false),
                relax_settings(1, 1e-5, true),
                relax_settings(3, 1e-5, false),
            ] {
                for count in [9, 13, 100, 401, 2000] {
                    for strain_limit in [f32::INFINITY, 0.05] {
                        let settings = RelaxSettings {
                            stretch_solver,
                            strain_limit,
                            ..settings
                        };
                        assert_same_at_all_levels(90.min(count / 3), count, &settings);
                    }
                }
            }
        }
        let (_, graph) = cloth(90, 8100);
        assert!(graph.batches.iter().any(|batch| !batch.independent));
        assert!(graph.chain_batches.len() > 4);
        assert_same_at_all_levels(90, 8100, &relax_settings(2, 0.0, false));
    }

    #[test]
    fn a_chain_is_solved_as_a_whole() {
        // Sixteen chains of forty links, each pinned at one end and stretched by half, 2 m too long: one direct
        // pass brings the far end back up to the stiffness of the chain, one Gauss–Seidel pass hardly moves it.
        let rest: SoaVec3 = (0..16 * 41)
            .map(|i| Vec3::new((i / 41) as f32, (i % 41) as f32 * 0.1, 0.0))
            .collect();
        let pairs: Vec<_> = (0..16 * 41_u32)
            .filter(|i| i % 41 < 40)
            .map(|i| (ConstraintKind::Structural, i, i + 1))
            .collect();
        let mut graph = ConstraintGraph::new(&rest, &pairs);
        assert_eq!((graph.chain_batches.len(), graph.batch_count()), (1, 0));
        let moved = rest
            .iter()
            .map(|at| at * Vec3::new(1.0, 1.5, 1.0))
            .collect();
        let w = (0..16 * 41).map(|i| f32::from(u8::from(i % 41 > 0)));
        let stretched = ParticleArrays::new(Vec3::ZERO, moved, w.collect());
        for (stretch_solver, left) in [
            (StretchSolver::Direct, 0.0..0.2),
            (StretchSolver::GaussSeidel, 1.9..2.0),
        ] {
            let mut particles = stretched.clone();
            let settings = RelaxSettings {
                relaxation_factor: 1.0,
                chain_regularization: 1e-4,
                stretch_solver,
                ..relax_settings(1, 0.0, false)
            };
            relax(
                &mut Workers::serial(),
                &mut particles,
                &mut graph,
                &settings,
            );
            for end in (40..rest.len()).step_by(41) {
                let error = particles.position.get(end).y - rest.get(end).y;
                assert!(left.contains(&error), "{stretch_solver:?}: {error}");
            }
        }
    }

    #[test]
    fn more_particles_than_a_window_has() {
        assert_same_at_all_levels(300, WINDOW as u32 + 1001, &relax_settings(1, 0.0, false));
    }

    #[test]
    fn few_constraints_among_many_particles() {
        // Few enough constraints that they are solved without the packed copy.
        let (mut particles, graph) = cloth(50, 2500);
        let near = graph.iter().filter(|constraint| constraint.ends()[1] < 103);
        let pairs: Vec<_> = near.map(|c| (c.kind(), c.ends()[0], c.ends()[1])).collect();
        let graph = ConstraintGraph::new(&particles.position, &pairs);
        assert!(graph.len() > 200 && graph.len() < 500 && graph.chain_batches.is_empty());
        for i in 0..2500 {
            particles.position.add(i, Vec3::Y * (i % 7) as f32 * 0.01);
        }
        let settings = relax_settings(1, 0.0, false);
        let bits = same_bits(|| {
            let mut particles = particles.clone();
            relax(
                &mut Workers::serial(),
                &mut particles,
                &mut graph.clone(),
                &settings,
            );
            particles.position.bits().collect()
        });
        let before: Vec<u32> = particles.position.bits().collect();
        let moved = |i: usize| bits[i] != before[i];
        assert!((0..103).filter(|&i| moved(i)).count() > 50);
        assert!(!(103..2500).any(moved));
    }
}
