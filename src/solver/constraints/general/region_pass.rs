//! Solves the constraints of one kind of a region, at each SIMD level by the same walk.

#[cfg(test)]
use super::chunk::solve_sequentially;
use super::{
    SolvedKind,
    bends::solve_bends,
    chains::{ChainBatch, ChainScratch},
    chunk::ChunkBuffer,
    particle_access::ParticleAccess,
    regions::RegionConstraints,
};
use crate::solver::{
    constraints::{
        coloring::Batch,
        points::{PassParams, Regularization},
    },
    simd::{Kernel, dispatch},
};
use std::cell::RefCell;

thread_local! {
    /// Scratch buffers of this CPU thread.
    static SCRATCH: RefCell<ChainScratch> = const { RefCell::new(ChainScratch::new()) };
}

/// Solves the constraints of one kind of a region once.
pub(super) fn solve(
    access: &mut impl ParticleAccess,
    constraints: &mut RegionConstraints,
    kind: SolvedKind,
    params: &PassParams,
) {
    SCRATCH.with_borrow_mut(|scratch| {
        dispatch(RegionPass {
            access,
            constraints,
            kind,
            params,
            scratch,
        });
    });
}

struct RegionPass<'a, A> {
    access: &'a mut A,
    constraints: &'a mut RegionConstraints,
    kind: SolvedKind,
    params: &'a PassParams,
    scratch: &'a mut ChainScratch,
}

impl<A: ParticleAccess> Kernel for RegionPass<'_, A> {
    #[inline(always)]
    fn run(self) {
        let mut chunks = ChunkBuffer::default();
        self.solve_with(&mut chunks);
    }

    #[cfg(test)]
    fn run_reference(self) {
        self.solve_with(&mut Reference);
    }
}

impl<A: ParticleAccess> RegionPass<'_, A> {
    #[inline(always)]
    fn solve_with(self, solver: &mut impl Solver) {
        let Self {
            access,
            constraints,
            kind,
            params,
            scratch,
        } = self;
        match kind {
            SolvedKind::BendsAndDiagonals => {
                if let Some(bend) = params.bend {
                    solve_bends(access, &constraints.bends, bend, params.is_damping);
                }
                if let Some(shear) = params.shear {
                    let [diagonals, _] = constraints.batches_by_kind();
                    solver.solve_batches(access, diagonals, shear);
                }
            }
            SolvedKind::ChainsAndEdges => {
                let count = constraints.chain_batches.len();
                for number in 0..count {
                    let number = match params.is_reversed {
                        true => count - 1 - number,
                        false => number,
                    };
                    let chains = &mut constraints.chain_batches[number];
                    solver.solve_chains(access, chains, params, scratch);
                }
                if let Some(regularization) = params.edges {
                    let [_, edges] = constraints.batches_by_kind();
                    solver.solve_batches(access, edges, regularization);
                }
            }
        }
    }
}

/// Solves batches: with SIMD, or one constraint after the other. A trait, because closures are compiled for the least SIMD
/// level (a step of a general mesh takes 34 % longer).
trait Solver {
    fn solve_batches(
        &mut self,
        access: &mut impl ParticleAccess,
        batches: &mut [Batch],
        regularization: Regularization,
    );

    fn solve_chains(
        &mut self,
        access: &mut impl ParticleAccess,
        chains: &mut ChainBatch,
        params: &PassParams,
        scratch: &mut ChainScratch,
    );
}

impl Solver for ChunkBuffer {
    #[inline(always)]
    fn solve_batches(
        &mut self,
        access: &mut impl ParticleAccess,
        batches: &mut [Batch],
        regularization: Regularization,
    ) {
        self.solve_batches(access, batches, regularization);
    }

    #[inline(always)]
    fn solve_chains(
        &mut self,
        access: &mut impl ParticleAccess,
        chains: &mut ChainBatch,
        params: &PassParams,
        scratch: &mut ChainScratch,
    ) {
        chains.solve(access, params, scratch);
    }
}

#[cfg(test)]
struct Reference;

#[cfg(test)]
impl Solver for Reference {
    fn solve_batches(
        &mut self,
        access: &mut impl ParticleAccess,
        batches: &mut [Batch],
        regularization: Regularization,
    ) {
        for Batch { pairs, list, .. } in batches {
            let (rest, lambda) = (&list.rest, &mut list.lambda);
            solve_sequentially(access, pairs, rest, lambda, regularization);
        }
    }

    fn solve_chains(
        &mut self,
        access: &mut impl ParticleAccess,
        chains: &mut ChainBatch,
        params: &PassParams,
        _: &mut ChainScratch,
    ) {
        chains.solve_reference(access, params);
    }
}
