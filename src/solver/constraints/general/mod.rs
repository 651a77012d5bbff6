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
//! Constraints of different regions are solved by different threads.
//!
//! Edges that continue straight on form chains, which are solved as a whole like the rows and columns of a
//! grid, many side by side; a particle of a chain is loaded once for all four constraints that reach from it
//! along the chain.
//!
//! | file | contents |
//! |---|---|
//! | `regions` | constraints by region |
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
mod regions;

#[cfg(test)]
use crate::solver::constraints::coloring::Batch;
use crate::solver::{
    constraints::{
        constraint::ConstraintKind,
        points::{PassParams, Points},
    },
    parallel::workers::Workers,
    simd::{Kernel, dispatch},
};
use bends::solve_bends;
use chains::ChainScratch;
pub(in crate::solver) use chains::{ChainBatch, ChainIndex, ChainRows};
use chunk::ChunkBuffer;
pub(in crate::solver) use find_chains::find_chains;
use particle_access::{PackedParticles, PackedRegion, ParticleAccess, copy, write_back};
use regions::{BLOCK, REGION};
pub(in crate::solver) use regions::{GeneralConstraints, RegionConstraints, RegionLayout};
use std::cell::RefCell;

/// Smallest number of constraints per particle at which the packed copy pays: without it a constraint takes
/// about three times as long (measured at 64²).
const MIN_CONSTRAINTS_PER_PARTICLE: f32 = 0.25;

thread_local! {
    /// Packed copy of the particles, shared by all cloths so that it stays in the cache: it is refilled for each cloth.
    static PACKED: RefCell<PackedParticles> = const { RefCell::new(Vec::new()) };
    /// Scratch buffers of this CPU thread.
    static SCRATCH: RefCell<ChainScratch> = const { RefCell::new(ChainScratch::new()) };
}

/// Constraints that a call of [`relax_general`] solves.
#[derive(Clone, Copy)]
pub(in crate::solver) struct SolvedKinds {
    /// Bends that belong to no chain, and diagonals.
    pub(in crate::solver) bends_and_diagonals: bool,
    /// Chains, with the bends along them, and edges that belong to no chain.
    pub(in crate::solver) chains_and_edges: bool,
}

impl SolvedKinds {
    /// All constraints.
    pub(in crate::solver) const ALL: Self = Self {
        bends_and_diagonals: true,
        chains_and_edges: true,
    };

    /// Returns the kinds that are solved one after the other, each in all regions before the next: otherwise chains would come
    /// between diagonals, and cloth would tremble (see `RelaxSettings::passes`).
    fn in_turn(self) -> [Self; 2] {
        let first = Self {
            chains_and_edges: false,
            ..self
        };
        let last = Self {
            bends_and_diagonals: false,
            ..self
        };
        [first, last]
    }

    /// Returns whether a pass solves any of these constraints.
    fn are_in(self, params: &PassParams) -> bool {
        let first = params.bend.is_some() || params.shear.is_some();
        (self.bends_and_diagonals && first) || self.chains_and_edges
    }

    /// Returns the approximate number of these constraints of a region, absent ones of chain batches included.
    fn count(self, region: &RegionConstraints) -> usize {
        let mut count = 0;
        for batch in &region.batches {
            let is_solved = match batch.list.kind {
                ConstraintKind::Structural => self.chains_and_edges,
                _ => self.bends_and_diagonals,
            };
            count += if is_solved { batch.pairs.len() } else { 0 };
        }
        if self.bends_and_diagonals {
            count += 2 * region.bends.list.len();
        }
        if self.chains_and_edges {
            count += region
                .chain_batches
                .iter()
                .map(ChainBatch::capacity)
                .sum::<usize>();
        }
        count
    }
}

/// Solves constraints once for each of `passes`.
pub(in crate::solver) fn relax_general(
    workers: &mut Workers,
    points: &mut Points,
    constraints: &mut GeneralConstraints,
    kinds: SolvedKinds,
    passes: impl ExactSizeIterator<Item = PassParams>,
) {
    let regions = constraints.regions().iter();
    let count: usize = regions.map(|region| kinds.count(region)).sum();
    let solved = count as f32 * passes.len() as f32;
    if solved == 0.0 {
        return;
    }
    let normals = points.normals;
    if solved < MIN_CONSTRAINTS_PER_PARTICLE * points.w.len() as f32 {
        for params in passes {
            for kinds in kinds.in_turn() {
                for group in in_order(constraints.groups_mut(), params.is_reversed) {
                    for region in group {
                        solve(points, region, kinds, &params, normals);
                    }
                }
            }
        }
        return;
    }
    PACKED.with_borrow_mut(|packed| {
        copy(workers, points, packed);
        for params in passes {
            for kinds in kinds.in_turn() {
                solve_packed(workers, packed, constraints, kinds, &params, normals);
            }
        }
        write_back(workers, packed, points);
    });
}

/// Returns groups in their order, or in reverse.
fn in_order<T, const N: usize>(mut groups: [T; N], is_reversed: bool) -> [T; N] {
    if is_reversed {
        groups.reverse();
    }
    groups
}

/// Solves the constraints of all regions once: those of regions that share no particle at the same time.
fn solve_packed(
    workers: &mut Workers,
    packed: &mut PackedParticles,
    constraints: &mut GeneralConstraints,
    kinds: SolvedKinds,
    params: &PassParams,
    normals: Option<[&[f32]; 3]>,
) {
    if !kinds.are_in(params) {
        return;
    }
    for group in in_order([0, 1, 2], params.is_reversed) {
        let [even, odd, all] = constraints.groups_mut();
        match group {
            0 => solve_side_by_side::<0>(workers, packed, even, kinds, params, normals),
            1 => solve_side_by_side::<BLOCK>(workers, packed, odd, kinds, params, normals),
            _ => {
                for region in all {
                    solve(packed, region, kinds, params, normals);
                }
            }
        }
    }
}

/// Solves the constraints of even regions, with `FIRST` 0, or of odd ones, with `FIRST` [`BLOCK`].
fn solve_side_by_side<const FIRST: usize>(
    workers: &mut Workers,
    packed: &mut PackedParticles,
    regions: &mut [RegionConstraints],
    kinds: SolvedKinds,
    params: &PassParams,
    normals: Option<[&[f32]; 3]>,
) {
    let particles = packed[FIRST..].as_chunks_mut::<REGION>().0;
    workers.for_each_part(regions.iter_mut().zip(particles), |(region, particles)| {
        let access = &mut PackedRegion::<FIRST>(particles);
        solve(access, region, kinds, params, normals);
    });
}

/// Solves the constraints of a region once.
fn solve(
    access: &mut impl ParticleAccess,
    constraints: &mut RegionConstraints,
    kinds: SolvedKinds,
    params: &PassParams,
    normals: Option<[&[f32]; 3]>,
) {
    SCRATCH.with_borrow_mut(|scratch| {
        dispatch(RegionPass {
            access,
            constraints,
            kinds,
            params,
            normals,
            scratch,
        });
    });
}

struct RegionPass<'a, A> {
    access: &'a mut A,
    constraints: &'a mut RegionConstraints,
    kinds: SolvedKinds,
    params: &'a PassParams,
    normals: Option<[&'a [f32]; 3]>,
    scratch: &'a mut ChainScratch,
}

impl<A: ParticleAccess> Kernel for RegionPass<'_, A> {
    #[inline(always)]
    fn run(self) {
        let Self {
            access,
            constraints,
            kinds,
            params,
            normals,
            scratch,
        } = self;
        let mut chunks = ChunkBuffer::default();
        if kinds.bends_and_diagonals {
            if let Some(bend) = params.bend {
                solve_bends(access, &constraints.bends, bend, params.is_damping);
            }
            if let Some(shear) = params.shear {
                let [diagonals, _] = constraints.batches_by_kind();
                chunks.solve_batches(access, diagonals, shear);
            }
        }
        if kinds.chains_and_edges {
            let count = constraints.chain_batches.len();
            for number in 0..count {
                let number = match params.is_reversed {
                    true => count - 1 - number,
                    false => number,
                };
                constraints.chain_batches[number].solve(access, params, normals, scratch);
            }
            if let Some(regularization) = params.edges {
                let [_, edges] = constraints.batches_by_kind();
                chunks.solve_batches(access, edges, regularization);
            }
        }
    }

    #[cfg(test)]
    fn run_reference(self) {
        let Self {
            access,
            constraints,
            kinds,
            params,
            normals,
            ..
        } = self;
        let sequentially = |access: &mut A, batches: &mut [Batch], regularization| {
            for batch in batches {
                let Batch { pairs, list, .. } = batch;
                let (rest, lambda) = (&list.rest, &mut list.lambda);
                chunk::solve_sequentially(access, pairs, rest, lambda, regularization);
            }
        };
        if kinds.bends_and_diagonals {
            if let Some(bend) = params.bend {
                solve_bends(access, &constraints.bends, bend, params.is_damping);
            }
            if let Some(shear) = params.shear {
                let [diagonals, _] = constraints.batches_by_kind();
                sequentially(access, diagonals, shear);
            }
        }
        if kinds.chains_and_edges {
            let solve = |batch: &mut ChainBatch| batch.solve_reference(access, params, normals);
            let batches = constraints.chain_batches.iter_mut();
            match params.is_reversed {
                true => batches.rev().for_each(solve),
                false => batches.for_each(solve),
            }
            if let Some(regularization) = params.edges {
                let [_, edges] = constraints.batches_by_kind();
                sequentially(access, edges, regularization);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::regions::{BLOCK, REGION};
    use crate::solver::{
        BendStencil, Compliance, ConstraintGraph, ConstraintKind, ParticleArrays, RelaxSettings,
        SoaVec3, StretchSolver, Workers,
        constraints::points::{StretchLimit, Supported},
        parallel::workers::threads,
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
        assert!(graph.general.batches().any(|batch| !batch.independent));
        assert!(graph.general.chain_batches().count() > 4);
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
        let count = graph.general.chain_batches().count();
        assert_eq!((count, graph.batch_count()), (1, 0));
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
    fn all_levels_give_the_bits_of_the_reference_in_all_regions() {
        let count = 3 * REGION + BLOCK + 1001;
        for settings in [relax_settings(1, 0.0, false), relax_settings(2, 1e-5, true)] {
            assert_same_at_all_levels(90, count as u32, &settings);
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let (particles, graph) = cloth(90, 3 * REGION as u32 + 1001);
        let occupied = graph.general.regions().iter();
        let occupied = occupied.filter(|region| region.lists().any(|(_, list)| list.len() > 0));
        assert_eq!(occupied.count(), 4 + 3 + 1);
        let bits = threads::COUNTS.map(|count| {
            let (mut particles, mut graph) = (particles.clone(), graph.clone());
            threads::with(count, |workers| {
                let settings = relax_settings(2, 1e-5, true);
                relax(workers, &mut particles, &mut graph, &settings);
            });
            particles.position.bits().collect::<Vec<u32>>()
        });
        assert!(bits.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn few_constraints_among_many_particles() {
        // Few enough constraints that they are solved without the packed copy.
        let (mut particles, graph) = cloth(50, 2500);
        let near = graph.iter().filter(|constraint| constraint.ends()[1] < 103);
        let pairs: Vec<_> = near.map(|c| (c.kind(), c.ends()[0], c.ends()[1])).collect();
        let graph = ConstraintGraph::new(&particles.position, &pairs);
        assert!(
            graph.len() > 200 && graph.len() < 500 && graph.general.chain_batches().count() == 0
        );
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
