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
//! end, and four of them are transposed into lanes by a few shuffles. So are the normals of their contacts.
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
//! | `region_pass` | solves those of a region |
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
mod region_pass;
mod regions;
#[cfg(test)]
mod tests;

use crate::solver::{
    constraints::{
        coloring::Batch,
        constraint::ConstraintKind,
        points::{PassParams, Points},
    },
    parallel::workers::Workers,
};
pub(in crate::solver) use chains::{ChainBatch, ChainIndex, ChainRows};
pub(in crate::solver) use find_chains::find_chains;
use particle_access::PackedParticles;
use region_pass::solve;
use regions::BLOCK;
pub(in crate::solver) use regions::{GeneralConstraints, RegionConstraints, RegionLayout};
use std::cell::RefCell;

/// Smallest number of constraints per particle at which the packed copy pays: without it a constraint takes
/// about three times as long (measured at 64²).
const MIN_CONSTRAINTS_PER_PARTICLE: f32 = 0.25;

thread_local! {
    /// Packed copy of the particles, shared by all cloths so that it stays in the cache: it is refilled for each cloth.
    static PACKED: RefCell<PackedParticles> = const { RefCell::new(PackedParticles::new()) };
}

/// Constraints that are solved one kind after the other, each in all regions before the next: otherwise chains would come
/// between diagonals, and cloth would tremble (see `RelaxSettings::passes`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::solver) enum SolvedKind {
    /// Bends that belong to no chain, and diagonals.
    BendsAndDiagonals,
    /// Chains, with the bends along them, and edges that belong to no chain.
    ChainsAndEdges,
}

impl SolvedKind {
    /// All constraints.
    pub(in crate::solver) const ALL: [Self; 2] = [Self::BendsAndDiagonals, Self::ChainsAndEdges];

    /// Returns whether a pass solves any of these constraints.
    fn is_in(self, params: &PassParams) -> bool {
        match self {
            Self::BendsAndDiagonals => params.bend.is_some() || params.shear.is_some(),
            Self::ChainsAndEdges => true,
        }
    }

    /// Returns the approximate number of these constraints of a region, absent ones of chain batches included.
    fn count(self, region: &RegionConstraints) -> usize {
        let is_edge = |batch: &&Batch| batch.list.kind == ConstraintKind::Structural;
        let batches = region.batches.iter();
        let len = |batch: &Batch| batch.pairs.len();
        match self {
            Self::BendsAndDiagonals => {
                let diagonals = batches.filter(|batch| !is_edge(batch)).map(len);
                diagonals.sum::<usize>() + 2 * region.bends.list.len()
            }
            Self::ChainsAndEdges => {
                let in_chains = region.chain_batches.iter().map(ChainBatch::capacity);
                batches.filter(is_edge).map(len).chain(in_chains).sum()
            }
        }
    }
}

/// Solves constraints of these kinds once for each of `passes`.
pub(in crate::solver) fn relax_general(
    workers: &mut Workers,
    points: &mut Points,
    constraints: &mut GeneralConstraints,
    kinds: &[SolvedKind],
    passes: impl ExactSizeIterator<Item = PassParams>,
) {
    let counts = |region| kinds.iter().map(move |kind| kind.count(region));
    let count: usize = constraints.regions().iter().flat_map(counts).sum();
    let solved = count as f32 * passes.len() as f32;
    if solved == 0.0 {
        return;
    }
    if solved < MIN_CONSTRAINTS_PER_PARTICLE * points.w.len() as f32 {
        for params in passes {
            for &kind in kinds {
                for region in in_order(constraints.groups_mut(), params.is_reversed)
                    .into_iter()
                    .flatten()
                {
                    solve(points, region, kind, &params);
                }
            }
        }
        return;
    }
    PACKED.with_borrow_mut(|packed| {
        let has_chains = kinds.contains(&SolvedKind::ChainsAndEdges);
        packed.copy(workers, points, has_chains);
        for params in passes {
            for &kind in kinds {
                solve_packed(workers, packed, constraints, kind, &params);
            }
        }
        packed.write_back(workers, points);
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
    kind: SolvedKind,
    params: &PassParams,
) {
    if !kind.is_in(params) {
        return;
    }
    for group in in_order([0, 1, 2], params.is_reversed) {
        let [even, odd, all] = constraints.groups_mut();
        match group {
            0 => solve_side_by_side::<0>(workers, packed, even, kind, params),
            1 => solve_side_by_side::<BLOCK>(workers, packed, odd, kind, params),
            _ => {
                for region in all {
                    solve(packed, region, kind, params);
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
    kind: SolvedKind,
    params: &PassParams,
) {
    let parts = regions.iter_mut().zip(packed.regions::<FIRST>());
    workers.for_each_part(parts, |(region, mut particles)| {
        solve(&mut particles, region, kind, params);
    });
}
