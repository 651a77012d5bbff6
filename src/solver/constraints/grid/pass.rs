//! One pass over all constraints of a grid, divided into parts that share no particle.
//!
//! Shear is solved for every second pair of rows, then for the others; a part is some pairs of rows. For
//! warp a part is some columns, for weft some rows. The division depends on the grid alone, not on the
//! number of workers.

use super::{
    GridConstraints, GridLayout,
    constraint_set::GridConstraintSet,
    diagonals::solve_diagonals,
    groups::{LANES, LaneGroups},
    project::ParticlePlanes,
    strip::{ChainStorage, GroupConstraints, WarpChains, WeftChains},
};
use crate::solver::{
    constraints::{
        chain::{NormalTile, SCRATCH_PER_PARTICLE},
        points::{ChainParams, PassParams, Points, Regularization},
    },
    parallel::{
        columns::Columns,
        split::split,
        workers::{PartIterator, Workers},
    },
    simd::{Kernel, aligned::AlignedVec, dispatch},
};
use std::{cell::RefCell, ops::Range};

/// Scratch buffers: the particles of a strip, and values that the direct solver keeps for each link.
#[derive(Default)]
struct ChainScratch {
    tiles: AlignedVec,
    normals: AlignedVec,
    kept: AlignedVec,
}

impl ChainScratch {
    /// Grows the buffers to fit chains of `length` particles.
    fn fit(&mut self, length: usize) {
        for (buffer, values) in [
            (&mut self.tiles, 4),
            (&mut self.normals, 3),
            (&mut self.kept, SCRATCH_PER_PARTICLE),
        ] {
            if buffer.len() < values * length * LANES {
                buffer.resize(values * length * LANES, 0.0);
            }
        }
    }
}

thread_local! {
    /// Buffers of this CPU thread, reused for all cloths so that they stay in the cache.
    static SCRATCH: RefCell<ChainScratch> = RefCell::default();
}

/// Solves the constraints of a grid that the pass includes, once.
pub(in crate::solver) fn relax_grid(
    workers: &mut Workers,
    points: &mut Points,
    grid: &mut GridConstraints,
    params: PassParams,
) {
    let particles = grid.layout.particles();
    let mut planes = ParticlePlanes {
        x: &mut points.x[particles.clone()],
        y: &mut points.y[particles.clone()],
        z: &mut points.z[particles.clone()],
        w: &points.w[particles.clone()],
        normals: (points.normals).map(|planes| planes.map(|plane| &plane[particles.clone()])),
    };
    #[cfg(test)]
    if crate::solver::simd::levels::is_reference() {
        return super::reference::pass(planes, grid, params);
    }
    let layout = grid.layout;
    let stiff = grid.bends_are_stiff(&params);
    let [down, up, bend_warp, warp, bend_weft, weft] = &mut grid.sets;
    if let Some(shear) = params.shear {
        let is_pure = params.is_pure_shear;
        solve_diagonals(workers, &mut planes, &layout, [down, up], shear, is_pure);
    }
    for is_weft in [params.is_reversed, !params.is_reversed] {
        if is_weft {
            let sets = [&mut *bend_weft, &mut *weft];
            solve_weft(workers, &mut planes, &layout, sets, stiff, params);
        } else {
            let sets = [&mut *bend_warp, &mut *warp];
            solve_warp(workers, &mut planes, &layout, sets, stiff, params);
        }
    }
}

/// Solves bending and stretching along columns.
fn solve_warp(
    workers: &mut Workers,
    planes: &mut ParticlePlanes,
    layout: &GridLayout,
    [bend, warp]: [&mut GridConstraintSet; 2],
    stiff: bool,
    params: PassParams,
) {
    let [rows, columns] = [layout.rows as usize, layout.columns as usize];
    let groups = LaneGroups::of(columns);
    let strips = |plane| Columns::all(plane, columns).strips(groups.ranges());
    let positions = strips(planes.x).zip(strips(planes.y)).zip(strips(planes.z));
    let chain_groups = chain_groups(groups, rows, [bend, warp], stiff);
    let (w, normals) = (planes.w, planes.normals);
    workers.for_each_part(
        positions.zip(chain_groups),
        |(((x, y), z), chain_groups)| {
            let start = groups.start(chain_groups.groups.start);
            let w = &w[start..];
            let normals = normals.map(|planes| planes.map(|plane| &plane[start..]));
            let chains = WarpChains {
                x,
                y,
                z,
                w,
                normals,
                start,
            };
            solve_chains(chains, groups, rows, chain_groups, params, |chains| {
                chains.warp
            });
        },
    );
}

/// Solves bending and stretching along rows.
fn solve_weft(
    workers: &mut Workers,
    planes: &mut ParticlePlanes,
    layout: &GridLayout,
    [bend, weft]: [&mut GridConstraintSet; 2],
    stiff: bool,
    params: PassParams,
) {
    let [rows, columns] = [layout.rows as usize, layout.columns as usize];
    let groups = LaneGroups::of(rows);
    let rows = groups.ranges();
    let particles = rows.map(move |rows| rows.start * columns..rows.end * columns);
    let chain_groups = chain_groups(groups, columns, [bend, weft], stiff);
    workers.for_each_part(
        planes.split(particles).zip(chain_groups),
        |(planes, chain_groups)| {
            let start = groups.start(chain_groups.groups.start);
            solve_chains(
                WeftChains { planes, start },
                groups,
                columns,
                chain_groups,
                params,
                |chains| chains.weft,
            );
        },
    );
}

/// Constraints of some groups of chains.
struct ChainGroups<'a> {
    groups: Range<usize>,
    /// Whether the bends of a chain are solved at once instead of explicitly, as forces.
    stiff: bool,
    bend: GroupConstraints<'a>,
    links: GroupConstraints<'a>,
}

/// Divides the bends and links of chains of `length` particles into parts for the workers.
fn chain_groups<'a>(
    groups: LaneGroups,
    length: usize,
    [bend, links]: [&'a mut GridConstraintSet; 2],
    stiff: bool,
) -> impl PartIterator<Item = ChainGroups<'a>> {
    let size = groups.size();
    let constraints = |set: &'a mut GridConstraintSet, span: usize| {
        let count = length.saturating_sub(span) * size;
        let own = move |part: Range<usize>| part.start * count..part.end * count;
        let has_any = set.list.len() > 0;
        let rest = if has_any { &set.list.rest[..] } else { &[] };
        let lambda = split(&mut set.list.lambda, groups.chunks().map(own));
        let chunks = groups.chunks().zip(lambda);
        chunks.map(move |(part, lambda)| GroupConstraints {
            rest: rest.get(own(part)).unwrap_or_default(),
            lambda,
        })
    };
    let (bend, links) = (constraints(bend, 2), constraints(links, 1));
    let chunks = groups.chunks().zip(bend.zip(links));
    chunks.map(move |(groups, (bend, links))| ChainGroups {
        groups,
        stiff,
        bend,
        links,
    })
}

/// Solves some chains of `length` particles, group by group.
fn solve_chains<P: ChainStorage>(
    storage: P,
    groups: LaneGroups,
    length: usize,
    chain_groups: ChainGroups,
    params: PassParams,
    stretch: fn(&ChainParams) -> Regularization,
) {
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.fit(length);
        dispatch(ChainsKernel {
            storage,
            groups,
            length,
            chain_groups,
            bend: params.bend,
            chains: params.chains.map(|chains| (chains, stretch(&chains))),
            scratch,
        });
    });
}

struct ChainsKernel<'a, P> {
    storage: P,
    groups: LaneGroups,
    length: usize,
    chain_groups: ChainGroups<'a>,
    bend: Option<Regularization>,
    /// Parameters and regularization of the links.
    chains: Option<(ChainParams, Regularization)>,
    scratch: &'a mut ChainScratch,
}

impl<P: ChainStorage> Kernel for ChainsKernel<'_, P> {
    #[inline(always)]
    fn run(self) {
        match self.groups.size() {
            LANES => self.solve::<LANES>(),
            4 => self.solve::<4>(),
            _ => self.solve::<1>(),
        }
    }

    /// Runs the same code: the scalar reference stands for the pass as a whole.
    #[cfg(test)]
    fn run_reference(self) {
        self.run();
    }
}

impl<P: ChainStorage> ChainsKernel<'_, P> {
    #[inline(always)]
    fn solve<const W: usize>(mut self) {
        let (tiles, _) = self.scratch.tiles.as_chunks_mut::<W>();
        let (tiles, _) = tiles.as_chunks_mut::<4>();
        let tiles = &mut tiles[..self.length];
        let (normals, _) = self.scratch.normals.as_chunks_mut::<W>();
        let (normals, _) = normals.as_chunks_mut::<3>();
        let normals = &mut normals[..self.length];
        let (kept, _) = self.scratch.kept.as_chunks_mut::<W>();
        let ChainGroups {
            groups,
            stiff,
            mut bend,
            mut links,
        } = self.chain_groups;
        for (number, group) in groups.enumerate() {
            let start = self.groups.start(group);
            self.storage.copy(start, tiles);
            if let Some(regularization) = self.bend
                && let Some(bend) = bend.of_group::<W>(number, self.length.saturating_sub(2))
            {
                bend.solve_bending(tiles, regularization, stiff, kept);
            }
            if let Some((params, stretch)) = &self.chains
                && let Some(links) = links.of_group::<W>(number, self.length - 1)
            {
                let normals: &mut [NormalTile<W>] = match self.storage.copy_normals(start, normals)
                {
                    true => normals,
                    false => &mut [],
                };
                links.solve_stretch(tiles, normals, params, *stretch, kept);
            }
            self.storage.write(start, tiles);
        }
    }
}

#[cfg(test)]
mod tests;
