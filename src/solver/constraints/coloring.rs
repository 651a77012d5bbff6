//! Orders constraints and groups them into batches that may be solved in parallel.
//!
//! Gauss–Seidel solves one constraint after the other, and the result depends on the order: solved row by row,
//! a symmetric cloth becomes skewed. Constraints are therefore grouped by direction (all warp constraints, then
//! all weft constraints) and, within a group, coloured greedily block by block, so no two constraints of a
//! batch share a particle. The constraints of a batch may then be solved in any order, several at a time, with
//! the same bits (Box2D v3 colours its contacts in the same way).

use crate::solver::{
    constraints::{
        constraint::ConstraintKind, general::RegionLayout, graph::distance, list::ConstraintList,
    },
    shared::Shared,
    simd::soa::SoaVec3,
};

/// Largest number of colours of a block; its remaining constraints go into one batch that is solved serially.
const MAX_COLOURS: usize = 64;

/// Particles per block. A group of constraints is cut into blocks by its first particles, and the colours of a
/// block are solved while its particles (128 KiB) are in the cache. Measured at 256² in wavefront order: 15 %
/// faster.
const BLOCK: u32 = 1 << 13;

/// Distance constraints of one kind that are solved together.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct Batch {
    /// Whether no two constraints of this batch share a particle.
    pub(in crate::solver) independent: bool,
    pub(in crate::solver) pairs: Shared<Vec<[u32; 2]>>,
    pub(in crate::solver) list: ConstraintList,
}

impl Batch {
    /// Creates a batch of constraints with the current distances as rest lengths.
    fn new(
        kind: ConstraintKind,
        independent: bool,
        pairs: Vec<[u32; 2]>,
        positions: &SoaVec3,
    ) -> Self {
        let rest = pairs.iter().map(|&[a, b]| distance(positions, a, b));
        Self {
            independent,
            list: ConstraintList::of(kind, rest),
            pairs: pairs.into(),
        }
    }

    /// Creates an empty, independent batch.
    pub(in crate::solver) fn empty(kind: ConstraintKind) -> Self {
        Self::new(kind, true, Vec::new(), &SoaVec3::default())
    }
}

/// Groups constraints (sorted by particles, without duplicates) into batches, in solving order. Passes each to `emit` with
/// the number of its region.
pub(in crate::solver) fn arrange(
    positions: &SoaVec3,
    constraints: Vec<(u32, u32, ConstraintKind)>,
    layout: RegionLayout,
    mut emit: impl FnMut(usize, Batch),
) {
    let mut groups = vec![Vec::new(); layout.count() * 3 * DIRECTIONS];
    for (a, b, kind) in constraints {
        let by_kind = layout.region_of([a, b]) * 3 + kind.solve_rank();
        groups[by_kind * DIRECTIONS + direction(positions, a, b)].push([a, b]);
    }

    // One bit for each colour already used at the particle.
    let mut used = vec![0_u64; positions.len()];
    for (group, members) in groups.iter().enumerate() {
        let by_kind = group / DIRECTIONS;
        let (region, kind) = (by_kind / 3, ConstraintKind::SOLVE_ORDER[by_kind % 3]);
        for block in members.chunk_by(|[a, _]: &[u32; 2], [b, _]| a / BLOCK == b / BLOCK) {
            colour(block, &mut used, |members, independent| {
                emit(region, Batch::new(kind, independent, members, positions));
            });
        }
    }
}

/// Passes to `emit` groups of constraints that share no particle, then the constraints that no colour was left
/// for. `used` is a scratch buffer of one number per particle.
fn colour(members: &[[u32; 2]], used: &mut [u64], mut emit: impl FnMut(Vec<[u32; 2]>, bool)) {
    for &i in members.as_flattened() {
        used[i as usize] = 0;
    }
    let mut colours: Vec<Vec<[u32; 2]>> = Vec::new();
    let mut overflow = Vec::new();
    for &[a, b] in members {
        let taken = used[a as usize] | used[b as usize];
        let colour = taken.trailing_ones() as usize;
        if colour == MAX_COLOURS {
            overflow.push([a, b]);
            continue;
        }
        used[a as usize] |= 1 << colour;
        used[b as usize] |= 1 << colour;
        if colour == colours.len() {
            colours.push(Vec::new());
        }
        colours[colour].push([a, b]);
    }
    for members in colours {
        emit(members, true);
    }
    if !overflow.is_empty() {
        emit(overflow, false);
    }
}

/// Number of directions that constraints are grouped by: axes, face diagonals and space diagonals of a cube,
/// without sign, and 0 for coincident particles.
pub(in crate::solver) const DIRECTIONS: usize = 14;

/// Returns which of the [`DIRECTIONS`] is nearest to the line through two particles; 0 if they coincide.
pub(in crate::solver) fn direction(positions: &SoaVec3, a: u32, b: u32) -> usize {
    let d = positions.get(b as usize) - positions.get(a as usize);
    let largest = d.abs().max_element();
    if largest == 0.0 || largest.is_nan() {
        return 0;
    }
    // Each component is rounded to −1, 0 or 1, and the three digits form a number in base 3 from −13 to 13.
    let digits = (d / largest).to_array().map(|c| c.round() as i32);
    let code = digits[0] * 9 + digits[1] * 3 + digits[2];
    code.unsigned_abs() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::ConstraintGraph;
    use bevy::math::Vec3;

    fn assert_independent(graph: &ConstraintGraph, particles: usize) {
        for batch in graph.general.batches().filter(|b| b.independent) {
            let mut seen = vec![false; particles];
            for pair in &batch.pairs {
                for &i in pair {
                    assert!(!seen[i as usize], "particle {i} twice in {batch:?}");
                    seen[i as usize] = true;
                }
            }
        }
    }

    #[test]
    fn a_chain_needs_two_batches() {
        let positions: SoaVec3 = (0..100).map(|i| Vec3::X * i as f32).collect();
        let pairs: Vec<_> = (0..99)
            .map(|i| (ConstraintKind::Structural, i, i + 1))
            .collect();
        let graph = ConstraintGraph::new(&positions, &pairs);
        assert_eq!(graph.batch_count(), 2);
        assert_eq!(graph.len(), 99);
        assert_independent(&graph, 100);
    }

    #[test]
    fn a_hub_overflows_and_loses_nothing() {
        // One particle tied to 200 others in the same direction, with only 64 colours.
        let positions: SoaVec3 = (0..201).map(|i| Vec3::Y * i as f32).collect();
        let pairs: Vec<_> = (1..201)
            .map(|i| (ConstraintKind::Structural, 0, i))
            .collect();
        let graph = ConstraintGraph::new(&positions, &pairs);
        assert_eq!(graph.len(), 200);
        assert_eq!(graph.batch_count(), MAX_COLOURS + 1);
        assert!(!graph.general.batches().last().unwrap().independent);
        assert_independent(&graph, 201);
    }
}
