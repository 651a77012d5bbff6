//! Pairs of particles that may touch, and those that are near now, in an order that follows from the
//! pairs alone.

use crate::solver::soa::SoaVec3;
use bevy::math::Vec3;

/// Pairs that are taken together.
const BLOCK: usize = 512;

/// A list of pairs, the lesser number of each first, by that and then by the other, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Ordered {
    pairs: Vec<[u32; 2]>,
    near: Vec<[u32; 2]>,
    /// For each particle where its pairs end.
    ends: Vec<u32>,
}

impl Ordered {
    /// Asks for room for so many pairs for each of so many particles, so that later nothing asks for any.
    pub(super) fn reserve(&mut self, particles: usize, each: usize) {
        self.ends.clear();
        self.ends.reserve(particles + 1);
        for room in [&mut self.pairs, &mut self.near] {
            room.clear();
            room.reserve(each * particles);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    pub(super) fn all(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    pub(super) fn clear(&mut self) {
        self.pairs.clear();
    }

    /// Takes pairs of so many particles, of which some may come twice: counted by the first, compared by
    /// the second.
    pub(super) fn order(&mut self, particles: usize, found: &[[u32; 2]]) {
        let Self { pairs, ends, .. } = self;
        ends.clear();
        ends.resize(particles + 1, 0);
        for &[i, _] in found {
            ends[i as usize + 1] += 1;
        }
        let mut sum = 0;
        for end in &mut *ends {
            sum += *end;
            *end = sum;
        }
        pairs.resize(found.len(), [0; 2]);
        // What was where the pairs of a particle begin becomes where they end.
        for &[i, j] in found {
            let end = &mut ends[i as usize];
            pairs[*end as usize] = [i, j];
            *end += 1;
        }
        let mut begin = 0;
        for &end in &ends[..particles] {
            let end = end as usize;
            if end > begin + 1 {
                pairs[begin..end].sort_unstable();
            }
            begin = end;
        }
        pairs.dedup();
    }

    /// The pairs that are now nearer than `reach`, m, in the same order.
    pub(super) fn near(&mut self, at: &SoaVec3, reach: f32) -> &[[u32; 2]] {
        let (x, y, z) = (&at.x[..], &at.y[..], &at.z[..]);
        let place = |i: u32| {
            let i = i as usize;
            Vec3::new(x[i], y[i], z[i])
        };
        let within = reach * reach;
        self.near.clear();
        let mut room = [[0; 2]; BLOCK];
        for block in self.pairs.chunks(BLOCK) {
            let mut count = 0;
            for &[i, j] in block {
                // Without a branch, which no processor foresees.
                room[count % BLOCK] = [i, j];
                count += usize::from((place(i) - place(j)).length_squared() < within);
            }
            self.near.extend_from_slice(&room[..count]);
        }
        &self.near
    }
}

/// Puts two ordered lists together.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_does_not_depend_on_how_they_were_found() {
        let expected = [[0, 1], [0, 3], [1, 2], [1, 4], [3, 4]];
        let mut ordered = Ordered::default();
        // All near each other but for the second.
        let places: SoaVec3 = (0..5).map(|i| Vec3::Y * f32::from(i == 1)).collect();
        for turn in 0..5 {
            let mut found = expected.to_vec();
            found.rotate_left(turn);
            found.push(expected[turn]);
            ordered.order(5, &found);
            assert_eq!(ordered.pairs, expected);
            assert_eq!(ordered.near(&places, 0.1), [[0, 3], [3, 4]]);
            assert_eq!(ordered.near(&places, 2.0), expected);
        }
        // More than a block of them.
        let found: Vec<_> = (0..3000).map(|i| [(i * 7919) % 3000, 3000]).collect();
        ordered.order(3001, &found);
        let places: SoaVec3 = (0..3001).map(|i| Vec3::Y * (i % 2) as f32).collect();
        let near: Vec<u32> = ordered.near(&places, 0.1).iter().map(|p| p[0]).collect();
        assert_eq!(near, (0..3000).step_by(2).collect::<Vec<u32>>());
        ordered.order(0, &[]);
        assert!(ordered.near(&SoaVec3::default(), 1.0).is_empty());
    }

    #[test]
    fn two_lists_become_one() {
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
