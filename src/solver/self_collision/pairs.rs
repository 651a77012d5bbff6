//! Pairs of particles that may touch, and those that are near now, in an order that follows from the
//! pairs alone.

/// Pairs that are taken together.
const BLOCK: usize = 512;

/// Pairs of particles.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// Those that may touch, in any order, some twice.
    pub(super) found: Vec<[u32; 2]>,
    near: Vec<[u32; 2]>,
    /// For each particle where its pairs end in `ordered`.
    ends: Vec<u32>,
    ordered: Vec<[u32; 2]>,
}

impl Pairs {
    /// Asks for room for so many particles at once, as much as they need where layers lie tight, so that
    /// later steps ask for none.
    pub(super) fn reserve(&mut self, particles: usize) {
        let Self {
            found,
            near,
            ends,
            ordered,
        } = self;
        ends.clear();
        ends.reserve(particles + 1);
        for (room, most) in [(found, 4), (near, 3), (ordered, 3)] {
            room.clear();
            room.reserve(most * particles);
        }
    }

    /// The pairs that are near now of so many particles, by the lesser number of both, then by the
    /// greater, each once.
    ///
    /// The order does not depend on how or when pairs were found: a list that holds more than it must
    /// gives the same bits.
    pub(super) fn near(
        &mut self,
        particles: usize,
        near: impl Fn(usize, usize) -> bool,
    ) -> &[[u32; 2]] {
        self.near.clear();
        let mut room = [[0; 2]; BLOCK];
        for block in self.found.chunks(BLOCK) {
            let mut count = 0;
            for &[i, j] in block {
                // Without a branch, which no processor foresees.
                room[count % BLOCK] = [i.min(j), i.max(j)];
                count += usize::from(near(i as usize, j as usize));
            }
            self.near.extend_from_slice(&room[..count]);
        }
        if self.near.is_empty() {
            return &[];
        }
        self.order(particles);
        &self.ordered
    }

    /// Sorts what is near: counted by the first, compared by the second.
    fn order(&mut self, particles: usize) {
        let Self {
            near,
            ends,
            ordered,
            ..
        } = self;
        ends.clear();
        ends.resize(particles + 1, 0);
        for &[i, _] in &*near {
            ends[i as usize + 1] += 1;
        }
        let mut sum = 0;
        for end in &mut *ends {
            sum += *end;
            *end = sum;
        }
        ordered.resize(near.len(), [0; 2]);
        // What was where the pairs of a particle begin becomes where they end.
        for &[i, j] in &*near {
            let end = &mut ends[i as usize];
            ordered[*end as usize] = [i, j];
            *end += 1;
        }
        let mut begin = 0;
        for &end in &ends[..particles] {
            let end = end as usize;
            if end > begin + 1 {
                ordered[begin..end].sort_unstable();
            }
            begin = end;
        }
        ordered.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_does_not_depend_on_how_they_were_found() {
        let expected = [[0, 1], [0, 3], [1, 2], [1, 4], [3, 4]];
        let mut pairs = Pairs::default();
        for turn in 0..5 {
            pairs.found = expected.map(|[i, j]| [[i, j], [j, i]][turn % 2]).to_vec();
            pairs.found.rotate_left(turn);
            pairs.found.push(expected[turn]);
            let one_is_no_first = |i: usize, j: usize| i.min(j) != 1;
            assert_eq!(pairs.near(6, one_is_no_first), [[0, 1], [0, 3], [3, 4]]);
            assert_eq!(pairs.near(6, |_, _| true), expected);
        }
        // More than a block of them.
        pairs.found = (0..3000).map(|i| [(i * 7919) % 3000, 3000]).collect();
        let near: Vec<u32> = pairs
            .near(3001, |i, _| i % 2 == 0)
            .iter()
            .map(|p| p[0])
            .collect();
        assert_eq!(near, (0..3000).step_by(2).collect::<Vec<u32>>());
        pairs.found.clear();
        assert!(pairs.near(0, |_, _| true).is_empty());
    }
}
