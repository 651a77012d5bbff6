//! List of indices that takes no memory while it is the identity 0, 1, 2, ….

use std::sync::Arc;

/// List of indices that takes no memory while each entry is its own position, for example the particle of each
/// vertex of a mesh that needed neither welding nor reordering. Clones share their memory until one of them is
/// changed.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", serde(from = "Vec<u32>", into = "Vec<u32>"))]
pub struct CompactIndices {
    /// Length of the list while it is the identity and `list` is empty; else 0.
    identity_len: usize,
    list: Arc<Vec<u32>>,
}

impl CompactIndices {
    /// Creates the list 0, 1, 2, … of `count` entries.
    pub fn identity(count: usize) -> Self {
        Self {
            identity_len: count,
            list: Arc::default(),
        }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.identity_len.max(self.list.len())
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the list is stored as the identity. A list that has been changed may be the identity
    /// without being stored as such.
    pub fn is_identity(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the entry at a position, or `None` beyond the end.
    #[inline(always)]
    pub fn get(&self, position: usize) -> Option<u32> {
        if self.list.is_empty() {
            (position < self.identity_len).then_some(position as u32)
        } else {
            self.list.get(position).copied()
        }
    }

    /// Returns the entry at a position. Panics beyond the end, as slices do.
    #[inline(always)]
    pub fn at(&self, position: u32) -> u32 {
        if self.list.is_empty() {
            assert!(
                (position as usize) < self.identity_len,
                "the position is beyond the end of the list"
            );
            position
        } else {
            self.list[position as usize]
        }
    }

    /// Iterates over the entries.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        (0..self.len()).map(|position| self.at(position as u32))
    }

    /// Returns the entries as a mutable list, which takes memory from then on.
    pub fn to_mut(&mut self) -> &mut Vec<u32> {
        if self.list.is_empty() {
            self.list = Arc::new(self.iter().collect());
            self.identity_len = 0;
        }
        Arc::make_mut(&mut self.list)
    }

    /// Keeps the first `count` entries.
    pub fn truncate(&mut self, count: usize) {
        if count < self.len() {
            let mut kept = std::mem::take(self.to_mut());
            kept.truncate(count);
            *self = kept.into();
        }
    }
}

impl From<Vec<u32>> for CompactIndices {
    fn from(mut indices: Vec<u32>) -> Self {
        let mut numbered = (0..).zip(&indices);
        if numbered.all(|(position, &index)| position == index) {
            return Self::identity(indices.len());
        }
        indices.shrink_to_fit();
        Self {
            identity_len: 0,
            list: Arc::new(indices),
        }
    }
}

impl From<CompactIndices> for Vec<u32> {
    fn from(indices: CompactIndices) -> Self {
        indices.iter().collect()
    }
}

impl FromIterator<u32> for CompactIndices {
    fn from_iter<I: IntoIterator<Item = u32>>(indices: I) -> Self {
        indices.into_iter().collect::<Vec<_>>().into()
    }
}

/// Compares the entries, however they are stored.
impl PartialEq for CompactIndices {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_holds(indices: &CompactIndices, expected: &[u32]) {
        assert!(indices.iter().eq(expected.iter().copied()));
        assert_eq!(indices.len(), expected.len());
        assert_eq!(indices.get(expected.len()), None);
        assert_eq!(indices.get(0), expected.first().copied());
    }

    #[test]
    fn the_identity_takes_no_list_until_it_is_changed() {
        let mut indices: CompactIndices = (0..5).collect();
        assert!(indices.is_identity());
        let copy = indices.clone();
        assert_holds(&indices, &[0, 1, 2, 3, 4]);
        indices.to_mut().push(2);
        assert_holds(&indices, &[0, 1, 2, 3, 4, 2]);
        assert_ne!(indices, copy);
        indices.truncate(9);
        indices.truncate(5);
        assert!(indices.is_identity(), "the identity again");
        assert_eq!(indices, copy);
        indices.truncate(3);
        assert_holds(&indices, &[0, 1, 2]);
        assert_holds(&copy, &[0, 1, 2, 3, 4]);
    }

    #[test]
    fn other_indices_are_stored_as_a_list() {
        let indices = CompactIndices::from(vec![1, 0, 7]);
        assert!(!indices.is_identity());
        assert_holds(&indices, &[1, 0, 7]);
        assert_holds(&CompactIndices::default(), &[]);
        let mut none = CompactIndices::default();
        none.to_mut().push(3);
        assert_holds(&none, &[3]);
    }
}
