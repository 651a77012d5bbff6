//! A list of numbers that is mostly 0, 1, 2 and so on.

use std::sync::Arc;

/// Numbers that take no memory as long as each is its own index: the particle of each vertex, say, of
/// a mesh in which nothing had to be welded or ordered. Copies share their memory until one of them
/// is changed.
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Vec<u32>", into = "Vec<u32>")
)]
pub struct Numbers {
    /// So many are in order, and nothing is listed.
    ordered: usize,
    listed: Arc<Vec<u32>>,
}

impl Numbers {
    /// 0, 1, 2 and so on, so many of them.
    pub fn ordered(count: usize) -> Self {
        Self {
            ordered: count,
            listed: Arc::default(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ordered.max(self.listed.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether they are 0, 1, 2 and so on, as far as is known without looking at each.
    pub fn are_ordered(&self) -> bool {
        self.listed.is_empty()
    }

    /// The number at a place, if there is such a place.
    #[inline(always)]
    pub fn get(&self, place: usize) -> Option<u32> {
        if self.listed.is_empty() {
            (place < self.ordered).then_some(place as u32)
        } else {
            self.listed.get(place).copied()
        }
    }

    /// The number at a place. Panics if there is no such place, as slices do.
    #[inline(always)]
    pub fn at(&self, place: u32) -> u32 {
        if self.listed.is_empty() {
            assert!((place as usize) < self.ordered, "there is no such place");
            place
        } else {
            self.listed[place as usize]
        }
    }

    /// All numbers.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        (0..self.len()).map(|place| self.at(place as u32))
    }

    /// The numbers as a list that can be changed.
    pub fn to_mut(&mut self) -> &mut Vec<u32> {
        if self.listed.is_empty() {
            self.listed = Arc::new(self.iter().collect());
            self.ordered = 0;
        }
        Arc::make_mut(&mut self.listed)
    }

    /// Keeps the first ones.
    pub fn truncate(&mut self, count: usize) {
        if count < self.len() {
            let mut kept = std::mem::take(self.to_mut());
            kept.truncate(count);
            *self = kept.into();
        }
    }
}

impl From<Vec<u32>> for Numbers {
    fn from(mut numbers: Vec<u32>) -> Self {
        if (0..).zip(&numbers).all(|(place, &number)| place == number) {
            return Self::ordered(numbers.len());
        }
        numbers.shrink_to_fit();
        Self {
            ordered: 0,
            listed: Arc::new(numbers),
        }
    }
}

impl From<Numbers> for Vec<u32> {
    fn from(numbers: Numbers) -> Self {
        numbers.iter().collect()
    }
}

impl FromIterator<u32> for Numbers {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        numbers.into_iter().collect::<Vec<_>>().into()
    }
}

/// It does not matter how they are stored.
impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_holds(numbers: &Numbers, expected: &[u32]) {
        assert!(numbers.iter().eq(expected.iter().copied()));
        assert_eq!(numbers.len(), expected.len());
        assert_eq!(numbers.get(expected.len()), None);
        assert_eq!(numbers.get(0), expected.first().copied());
    }

    #[test]
    fn numbers_in_order_take_no_list_until_they_change() {
        let mut numbers: Numbers = (0..5).collect();
        assert!(numbers.are_ordered());
        let copy = numbers.clone();
        assert_holds(&numbers, &[0, 1, 2, 3, 4]);
        numbers.to_mut().push(2);
        assert_holds(&numbers, &[0, 1, 2, 3, 4, 2]);
        assert_ne!(numbers, copy);
        numbers.truncate(9);
        numbers.truncate(5);
        assert!(numbers.are_ordered(), "in order again");
        assert_eq!(numbers, copy);
        numbers.truncate(3);
        assert_holds(&numbers, &[0, 1, 2]);
        assert_holds(&copy, &[0, 1, 2, 3, 4]);
    }

    #[test]
    fn others_are_a_list() {
        let numbers = Numbers::from(vec![1, 0, 7]);
        assert!(!numbers.are_ordered());
        assert_holds(&numbers, &[1, 0, 7]);
        assert_holds(&Numbers::default(), &[]);
        let mut none = Numbers::default();
        none.to_mut().push(3);
        assert_holds(&none, &[3]);
    }
}
