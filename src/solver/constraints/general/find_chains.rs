//! Finds the chains of a mesh: edges that continue straight on from particle to particle, as warp and weft of a
//! grid do. Chains are grouped into chain batches.

use super::{
    chains::{ChainBatch, WIDTH},
    regions::RegionLayout,
};
use crate::solver::{
    constraints::{
        coloring::{DIRECTIONS, direction},
        constraint::ConstraintKind,
        graph::distance,
    },
    simd::soa::SoaVec3,
};
use bevy::math::Vec3;
use std::{collections::VecDeque, mem::take};

/// Largest cosine of the angle between two edges of a chain, both pointing away from the common particle: a
/// turn by 45°.
const MAX_COSINE: f32 = -0.7;

/// Largest number of edges at a particle inside a chain; no chain runs through particles with more.
const MAX_EDGES: usize = 16;

/// Particles of a chain: shorter chains do not pay, longer ones are cut.
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=512;

/// Rows of a chain batch unless one of its chains is longer: its tiles then stay in the nearest caches.
const MIN_ROWS: usize = 64;

/// Largest number of chains examined for one batch, which bounds the run time where many chains cross.
const MAX_CANDIDATES: usize = 512;

/// Smallest fraction of used slots of a batch: emptier ones are slower than solving the constraints one by one.
const MIN_FILL: f32 = 0.5;

type EdgeList = Vec<(u32, u32, ConstraintKind)>;

/// Removes the constraints along chains from `constraints` (sorted by particles, without duplicates) and
/// passes them to `emit` in chain batches, each with the number of its region.
pub(in crate::solver) fn find_chains(
    positions: &SoaVec3,
    constraints: &mut EdgeList,
    layout: RegionLayout,
    mut emit: impl FnMut(usize, ChainBatch),
) {
    let mut groups = vec![Vec::new(); layout.count() * DIRECTIONS];
    for chain in trace_chains(positions, constraints) {
        if let [first, .., last] = chain[..] {
            let region = layout.region_of(chain.iter().copied());
            groups[region * DIRECTIONS + direction(positions, first, last)].push(chain);
        }
    }
    let mut taken = vec![false; constraints.len()];
    // Number of the last batch that each particle was put into, counted from 1.
    let mut last_batch = vec![0_u32; positions.len()];
    let mut round = 0;
    let last_region = (layout.count() - 1) * DIRECTIONS;
    for group in 0..groups.len() {
        let mut pending = VecDeque::from(take(&mut groups[group]));
        while !pending.is_empty() {
            round += 1;
            let lanes = assign_lanes(take_disjoint_chains(&mut pending, &mut last_batch, round));
            if let Some(batch) = build_batch(&lanes, positions, constraints, &mut taken) {
                emit(group / DIRECTIONS, batch);
            } else if group < last_region {
                let too_few = lanes.into_iter().flatten();
                groups[last_region + group % DIRECTIONS].extend(too_few);
            }
        }
    }
    let mut taken = taken.into_iter();
    constraints.retain(|_| taken.next() == Some(false));
}

/// Returns all chains, each as a list of its particles in order.
fn trace_chains(positions: &SoaVec3, constraints: &EdgeList) -> Vec<Vec<u32>> {
    let structural = constraints
        .iter()
        .filter(|c| c.2 == ConstraintKind::Structural);
    let edges: Vec<[u32; 2]> = structural.map(|&(a, b, _)| [a, b]).collect();
    let next = straight_continuations(positions, &edges);
    let mut done = vec![false; edges.len()];
    // Number of the last chain that each particle was put into.
    let mut last_chain = vec![u32::MAX; positions.len()];
    let mut chains = Vec::new();
    for start in 0..edges.len() {
        if done[start] {
            continue;
        }
        // Walk back to the first edge of the chain, or once around a loop, then forward along it. `end` is the
        // end of the current edge at which the walk continues.
        let (mut edge, mut end) = (start, 0);
        while let Some((before, at)) = next[edge][end]
            && before != start
            && !done[before]
        {
            (edge, end) = (before, 1 - at);
        }
        end = 1 - end;
        let mut chain = vec![edges[edge][1 - end]];
        let mut number = chains.len() as u32;
        last_chain[chain[0] as usize] = number;
        loop {
            done[edge] = true;
            let particle = edges[edge][end];
            chain.push(particle);
            // A chain that returns to one of its particles is cut there.
            let cut = std::mem::replace(&mut last_chain[particle as usize], number) == number
                || chain.len() >= *LENGTHS.end();
            if cut {
                if ends_in_visited_particle(&chain) {
                    chain.pop();
                }
                chains.push(std::mem::replace(&mut chain, vec![particle]));
                number = chains.len() as u32;
                last_chain[particle as usize] = number;
            }
            match next[edge][end] {
                Some((after, at)) if !done[after] => (edge, end) = (after, 1 - at),
                _ => break,
            }
        }
        chains.push(chain);
    }
    chains.retain(|chain| LENGTHS.contains(&chain.len()));
    chains
}

/// Returns whether the last particle occurs earlier in the chain.
fn ends_in_visited_particle(chain: &[u32]) -> bool {
    let Some((last, others)) = chain.split_last() else {
        return false;
    };
    others.contains(last)
}

/// Returns, for both ends of each edge, the edge that continues straight on there and the end of that edge
/// which is shared.
fn straight_continuations(
    positions: &SoaVec3,
    edges: &[[u32; 2]],
) -> Vec<[Option<(usize, usize)>; 2]> {
    let mut ends: Vec<(u32, usize, usize)> = (0..edges.len())
        .flat_map(|edge| [0, 1].map(|end| (edges[edge][end], edge, end)))
        .collect();
    ends.sort_unstable();
    let mut next = vec![[None; 2]; edges.len()];
    let mut pairs = Vec::new();
    for star in ends.chunk_by(|a, b| a.0 == b.0) {
        if star.len() > MAX_EDGES {
            continue;
        }
        let directions: Vec<Vec3> = star
            .iter()
            .map(|&(at, edge, end)| {
                let other = edges[edge][1 - end];
                let d = positions.get(other as usize) - positions.get(at as usize);
                let length = distance(positions, at, other);
                if length > 0.0 { d / length } else { Vec3::ZERO }
            })
            .collect();
        pairs.clear();
        for i in 0..star.len() {
            for j in 0..i {
                let cosine = directions[i].dot(directions[j]);
                if cosine <= MAX_COSINE {
                    pairs.push((cosine, j, i));
                }
            }
        }
        // Straightest pairs first.
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        for &(_, i, j) in &pairs {
            let [(_, a, end_a), (_, b, end_b)] = [star[i], star[j]];
            if next[a][end_a].is_none() && next[b][end_b].is_none() {
                next[a][end_a] = Some((b, end_b));
                next[b][end_b] = Some((a, end_a));
            }
        }
    }
    next
}

/// Removes from `pending` as many chains that share no particle as a batch holds.
fn take_disjoint_chains(
    pending: &mut VecDeque<Vec<u32>>,
    last_batch: &mut [u32],
    round: u32,
) -> Vec<Vec<u32>> {
    let mut chosen = Vec::new();
    let mut skipped = Vec::new();
    let (mut longest, mut count) = (MIN_ROWS, 0);
    while chosen.len() + skipped.len() < MAX_CANDIDATES
        && let Some(chain) = pending.pop_front()
    {
        longest = longest.max(chain.len());
        if count + chain.len() > longest * WIDTH {
            skipped.push(chain);
            break;
        }
        if chain.iter().any(|&i| last_batch[i as usize] == round) {
            skipped.push(chain);
            continue;
        }
        for &i in &chain {
            last_batch[i as usize] = round;
        }
        count += chain.len();
        chosen.push(chain);
    }
    for chain in skipped.into_iter().rev() {
        pending.push_front(chain);
    }
    chosen
}

/// Distributes chains over lanes, longest chain first, each to the shortest lane.
fn assign_lanes(mut chains: Vec<Vec<u32>>) -> [Vec<Vec<u32>>; WIDTH] {
    chains.sort_by_key(|chain| usize::MAX - chain.len());
    let mut lanes: [Vec<Vec<u32>>; WIDTH] = std::array::from_fn(|_| Vec::new());
    let mut lengths = [0; WIDTH];
    for chain in chains {
        let lane = (0..WIDTH).min_by_key(|&lane| lengths[lane]).unwrap_or(0);
        lengths[lane] += chain.len();
        lanes[lane].push(chain);
    }
    lanes
}

/// Creates a batch of these chains with their constraints and marks these as taken; returns `None` if the
/// batch would be too empty.
fn build_batch(
    lanes: &[Vec<Vec<u32>>; WIDTH],
    positions: &SoaVec3,
    constraints: &EdgeList,
    taken: &mut [bool],
) -> Option<ChainBatch> {
    let flat: [Vec<u32>; WIDTH] = std::array::from_fn(|lane| lanes[lane].concat());
    let rows = flat.iter().map(Vec::len).max().unwrap_or(0);
    let count: usize = flat.iter().map(Vec::len).sum();
    if (count as f32) < MIN_FILL * (rows * WIDTH) as f32 {
        return None;
    }
    let mut batch = ChainBatch::new(&flat);
    let mut take_rest_length = |kind, a: u32, b: u32| {
        let key = (a.min(b), a.max(b), kind);
        let index = constraints.binary_search(&key).ok()?;
        (!std::mem::replace(&mut taken[index], true)).then(|| distance(positions, a, b))
    };
    for (lane, chains) in lanes.iter().enumerate() {
        let mut row = 0;
        for chain in chains {
            let kind = ConstraintKind::Structural;
            for (i, ends) in chain.windows(2).enumerate() {
                if let Some(rest) = take_rest_length(kind, ends[0], ends[1]) {
                    batch.set_link(row + i, lane, rest);
                }
            }
            row += chain.len();
        }
    }
    Some(batch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::constraints::list::{ConstraintList, Slots};

    /// A grid of quads with diagonals, curved so that it is not planar.
    fn grid(columns: u32, rows: u32) -> (SoaVec3, EdgeList) {
        let at = |i: u32| {
            let (c, r) = ((i % columns) as f32 * 0.1, (i / columns) as f32 * 0.1);
            Vec3::new(c, r, (1.0 + c * c).sqrt())
        };
        let mut pairs = Vec::new();
        for i in 0..columns * rows {
            let mut add_pair = |kind, across: u32, down: u32| {
                if i % columns + across < columns && i / columns + down < rows {
                    pairs.push((i, i + across + down * columns, kind));
                }
            };
            add_pair(ConstraintKind::Structural, 1, 0);
            add_pair(ConstraintKind::Structural, 0, 1);
            add_pair(ConstraintKind::Shear, 1, 1);
        }
        pairs.sort_unstable();
        ((0..columns * rows).map(at).collect(), pairs)
    }

    fn sorted(constraints: impl Iterator<Item = (u32, u32, ConstraintKind)>) -> EdgeList {
        let mut sorted: EdgeList = constraints
            .map(|(a, b, kind)| (a.min(b), a.max(b), kind))
            .collect();
        sorted.sort_unstable();
        sorted
    }

    /// Finds chains and checks that no constraint is lost or duplicated and that the chains of a batch share no
    /// particle.
    fn find_and_check(positions: &SoaVec3, constraints: &EdgeList) -> (Vec<ChainBatch>, EdgeList) {
        let mut left = constraints.clone();
        let layout = RegionLayout::of(positions.len());
        let mut batches = Vec::new();
        find_chains(positions, &mut left, layout, |_, batch| batches.push(batch));
        let links = |batch: &ChainBatch| -> EdgeList {
            let lists = batch.lists();
            let links = lists.filter(|(_, list)| list.kind == ConstraintKind::Structural);
            let of_list = |(slots, list): (Slots, &ConstraintList)| -> EdgeList {
                let ends = list.occupied().map(|slot| slots.ends(slot));
                ends.map(|[a, b]| (a, b, list.kind)).collect()
            };
            links.flat_map(of_list).collect()
        };
        let all = batches.iter().flat_map(links);
        assert_eq!(sorted(all.chain(left.iter().copied())), *constraints);
        for batch in &batches {
            assert!(batch.is_sound());
            let mut ends = vec![[0; 2]; positions.len()];
            for (a, b, _) in links(batch) {
                ends[a as usize][0] += 1;
                ends[b as usize][1] += 1;
            }
            // Each particle has at most one link before it and one behind it.
            assert!(ends.as_flattened().iter().all(|&links| links <= 1));
        }
        (batches, left)
    }

    #[test]
    fn warp_and_weft_become_chains() {
        let (positions, constraints) = grid(20, 33);
        let (batches, left) = find_and_check(&positions, &constraints);
        assert!(
            left.iter().all(|c| c.2 == ConstraintKind::Shear),
            "{left:?}"
        );
        // Twenty chains of 33 particles, two in some lanes; 33 chains of 20 particles, three in most lanes.
        assert_eq!(batches.len(), 2);
    }

    #[test]
    fn meshes_without_chains_keep_all_constraints() {
        // A star, a zigzag, a pair of coincident particles.
        let star = (1..40).map(|i| (0, i, ConstraintKind::Structural));
        let chain = (40..70).map(|i| (i, i + 1, ConstraintKind::Structural));
        let constraints = sorted(
            star.chain(chain)
                .chain([(80, 81, ConstraintKind::Structural)]),
        );
        let mut positions: SoaVec3 = (0..82)
            .map(|i| Vec3::new(i as f32, (i * i % 7) as f32, 0.0))
            .collect();
        positions.set(81, positions.get(80));
        let (batches, left) = find_and_check(&positions, &constraints);
        assert!(batches.is_empty());
        assert_eq!(left, constraints);
    }

    #[test]
    fn rings_and_long_chains_are_cut() {
        // Forty concentric rings of sixty-four particles.
        let ring = |i: u32| {
            let around = (i % 64) as f32 / 64.0 * std::f32::consts::TAU;
            Vec3::new(around.cos(), around.sin(), 0.0) * (1 + i / 64) as f32
        };
        let positions: SoaVec3 = (0..64 * 40).map(ring).collect();
        let links =
            (0..64 * 40).map(|i| (i, i / 64 * 64 + (i + 1) % 64, ConstraintKind::Structural));
        let rings = sorted(links);
        let (batches, left) = find_and_check(&positions, &rings);
        assert!(batches.len() >= 2);
        // The link that closes each ring is left over.
        assert_eq!(left.len(), 40);

        // Chains of a thousand links, side by side; then the same chains, all through one particle.
        for knot in [None, Some(500)] {
            let position = |i: u32| {
                let (chain, along) = (i / 1001, (i % 1001) as f32 - 500.0);
                let aside = 0.2 * chain as f32 - 1.6;
                knot.map_or(Vec3::new(along, aside, 0.0), |_| {
                    Vec3::new(1.0, aside, 0.0) * along
                })
            };
            let particle = |i: u32| knot.filter(|_| i % 1001 == 500).unwrap_or(i);
            let structural = (0..16 * 1001_u32).filter(|i| i % 1001 < 1000);
            let structural =
                structural.map(|i| (particle(i), particle(i + 1), ConstraintKind::Structural));
            let positions: SoaVec3 = (0..16 * 1001).map(position).collect();
            let (batches, left) = find_and_check(&positions, &sorted(structural));
            assert_eq!(batches.is_empty(), knot.is_some());
            assert_eq!(left.is_empty(), knot.is_none());
        }
    }
}
