//! Pairs of particles that may touch, in an order that follows from the pairs alone.

/// Pairs, by the lesser number of both, then by the greater.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// As they were found: in any order, some twice. Later, room for those that are near.
    pub(super) found: Vec<[u32; 2]>,
    /// Where the partners of each particle begin in `others`; after the last one, where they end.
    starts: Vec<u32>,
    others: Vec<u32>,
}

impl Pairs {
    pub(super) fn len(&self) -> usize {
        self.others.len()
    }

    /// Orders what was found among so many particles.
    ///
    /// The order must not depend on how or when pairs were found: then a list that holds more than it
    /// must gives the same bits.
    pub(super) fn order(&mut self, particles: usize) {
        let Self {
            found,
            starts,
            others,
        } = self;
        starts.clear();
        starts.resize(particles + 1, 0);
        for &[i, j] in &*found {
            starts[i.min(j) as usize] += 1;
        }
        let mut end = 0;
        for start in &mut *starts {
            end += *start;
            *start = end;
        }
        others.resize(found.len(), 0);
        for &[i, j] in &*found {
            let start = &mut starts[i.min(j) as usize];
            *start -= 1;
            others[*start as usize] = i.max(j);
        }
        let (mut begin, mut kept) = (0, 0);
        for i in 0..particles {
            let end = starts[i + 1] as usize;
            others[begin..end].sort_unstable();
            starts[i] = kept as u32;
            let first = kept;
            for k in begin..end {
                let other = others[k];
                if kept == first || others[kept - 1] != other {
                    others[kept] = other;
                    kept += 1;
                }
            }
            begin = end;
        }
        starts[particles] = kept as u32;
        others.truncate(kept);
    }

    /// The pairs that are near now, in order. Puts them where they were found.
    pub(super) fn near(&mut self, near: impl Fn(usize, usize) -> bool) -> &[[u32; 2]] {
        let Self {
            found,
            starts,
            others,
        } = self;
        let mut count = 0;
        if !others.is_empty() {
            for (i, ends) in starts.windows(2).enumerate() {
                for &j in &others[ends[0] as usize..ends[1] as usize] {
                    // Without a branch, which no processor foresees. There is room: all were found.
                    found[count] = [i as u32, j];
                    count += usize::from(near(i, j as usize));
                }
            }
        }
        &found[..count]
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
            pairs.order(6);
            assert_eq!(pairs.len(), 5);
            assert_eq!(pairs.near(|i, _| i != 1), [[0, 1], [0, 3], [3, 4]]);
            assert_eq!(pairs.near(|_, _| true), expected);
        }
        pairs.found.clear();
        pairs.order(0);
        assert!(pairs.near(|_, _| true).is_empty());
    }
}
