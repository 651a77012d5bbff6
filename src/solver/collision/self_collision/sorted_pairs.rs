//! Candidate pairs and the near ones among them, in an order that depends on the pairs alone.

use super::clear_and_reserve;
use crate::solver::{math::particle_lists::ParticleLists, simd::soa::SoaVec3, state::SubstepTime};
use bevy::math::Vec3;

/// Number of pairs filtered together.
const BLOCK: usize = 512;

/// List of unique pairs, each with the lower index first, sorted by that index and then by the other.
#[derive(Clone, Debug, Default)]
pub(super) struct SortedPairs {
    /// Pairs of each particle.
    pairs: ParticleLists<[u32; 2]>,
    near: Vec<[u32; 2]>,
}

impl SortedPairs {
    /// Reserves memory for this number of pairs per particle, so that no later call allocates.
    pub(super) fn reserve(&mut self, particles: usize, pairs_per_particle: usize) {
        clear_and_reserve(&mut self.pairs.first, particles + 2);
        for buffer in [&mut self.pairs.all, &mut self.near] {
            clear_and_reserve(buffer, pairs_per_particle * particles);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pairs.all.len()
    }

    pub(super) fn clear(&mut self) {
        self.pairs.all.clear();
    }

    /// Replaces the list by these pairs of this number of particles, of which some may occur twice: counting sort
    /// by the first index, comparison sort by the second.
    pub(super) fn set(&mut self, particles: usize, found: &[[u32; 2]]) {
        let all = || found.iter().map(|&pair| (pair[0], pair));
        self.pairs.fill(particles, all);
        for i in 0..particles as u32 {
            self.pairs.for_particle_mut(i).sort_unstable();
        }
        self.pairs.all.dedup();
    }

    /// Returns the pairs now closer than `reach`, m, in the same order.
    pub(super) fn find_near(&mut self, at: &SoaVec3, reach: f32) -> &mut Vec<[u32; 2]> {
        let [x, y, z] = at.planes();
        let position = |i: u32| {
            let i = i as usize;
            Vec3::new(x[i], y[i], z[i])
        };
        let max_squared = reach * reach;
        self.near.clear();
        let mut scratch = [[0; 2]; BLOCK];
        for block in self.pairs.all.chunks(BLOCK) {
            let mut count = 0;
            for &[i, j] in block {
                // Without a branch, which no processor could predict.
                scratch[count % BLOCK] = [i, j];
                count += usize::from((position(i) - position(j)).length_squared() < max_squared);
            }
            self.near.extend_from_slice(&scratch[..count]);
        }
        &mut self.near
    }
}

/// Merges two sorted lists.
pub(super) fn merge(a: &[[u32; 2]], b: &[[u32; 2]], merged: &mut Vec<[u32; 2]>) {
    merged.clear();
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let Some(pair) = match (a.peek(), b.peek()) {
        (Some(one), Some(other)) if one < other => a.next(),
        (_, Some(_)) => b.next(),
        _ => a.next(),
    } {
        if merged.last() != Some(pair) {
            merged.push(*pair);
        }
    }
}

/// Keeps at most `max` pairs: others in each substep, and from step to step others as their number changes. Returns of how many
/// pairs one is kept.
pub(super) fn thin_out(pairs: &mut Vec<[u32; 2]>, max: usize, time: &SubstepTime) -> usize {
    let every = pairs.len().div_ceil(max.max(1)).max(1);
    if every > 1 {
        let turn = every * time.index as usize / time.count as usize;
        let first = (turn + pairs.len()) % every;
        let mut is_kept = (0..).map(|k: usize| k % every == first);
        pairs.retain(|_| is_kept.next() == Some(true));
    }
    every
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_independent_of_the_search_order() {
        let expected = [[0, 1], [0, 3], [1, 2], [1, 4], [3, 4]];
        let mut sorted = SortedPairs::default();
        // All near each other except for the second.
        let positions: SoaVec3 = (0..5).map(|i| Vec3::Y * f32::from(i == 1)).collect();
        for rotation in 0..5 {
            let mut found = expected.to_vec();
            found.rotate_left(rotation);
            found.push(expected[rotation]);
            sorted.set(5, &found);
            assert_eq!(sorted.pairs.all, expected);
            assert_eq!(*sorted.find_near(&positions, 0.1), [[0, 3], [3, 4]]);
            assert_eq!(*sorted.find_near(&positions, 2.0), expected);
        }
        // More than one block.
        let found: Vec<_> = (0..3000).map(|i| [(i * 7919) % 3000, 3000]).collect();
        sorted.set(3001, &found);
        let positions: SoaVec3 = (0..3001).map(|i| Vec3::Y * (i % 2) as f32).collect();
        let near: Vec<u32> = sorted
            .find_near(&positions, 0.1)
            .iter()
            .map(|p| p[0])
            .collect();
        assert_eq!(near, (0..3000).step_by(2).collect::<Vec<u32>>());
        sorted.set(0, &[]);
        assert!(sorted.find_near(&SoaVec3::default(), 1.0).is_empty());
    }

    #[test]
    fn of_too_many_pairs_each_substep_keeps_others() {
        let all: Vec<_> = (0..400).map(|i| [i, i + 1]).collect();
        for (max, every) in [(400, 1), (399, 2), (50, 8)] {
            let mut kept = Vec::new();
            for time in SubstepTime::new(0.01, 8).substeps() {
                let mut pairs = all.clone();
                assert_eq!(thin_out(&mut pairs, max, &time), every);
                assert_eq!(pairs.len(), 400 / every);
                assert!(pairs.is_sorted());
                kept.extend(pairs);
            }
            kept.sort_unstable();
            kept.dedup();
            assert_eq!(kept, all);
        }
    }

    #[test]
    fn two_lists_are_merged() {
        let mut merged = Vec::new();
        merge(
            &[[0, 1], [0, 3], [2, 3]],
            &[[0, 2], [0, 3], [4, 5]],
            &mut merged,
        );
        assert_eq!(merged, [[0, 1], [0, 2], [0, 3], [2, 3], [4, 5]]);
        merge(&[], &[[0, 2]], &mut merged);
        assert_eq!(merged, [[0, 2]]);
        merge(&[[0, 2]], &[], &mut merged);
        assert_eq!(merged, [[0, 2]]);
    }
}
