//! Values that clones share.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

/// Value that clones share, once [`share`](Self::share) was called, until one of them changes it.
#[derive(Clone, Debug)]
pub struct Shared<T>(Owner<T>);

/// Mutable access to a value of its own costs nothing, other than to one in an `Arc`.
#[derive(Clone, Debug)]
enum Owner<T> {
    One(T),
    Many(Arc<T>),
}

impl<T: Default> Shared<T> {
    /// Lets future clones share the value.
    pub fn share(&mut self) {
        if let Owner::One(value) = &mut self.0 {
            self.0 = Owner::Many(Arc::new(std::mem::take(value)));
        }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        match &self.0 {
            Owner::One(value) => value,
            Owner::Many(value) => value,
        }
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        if let Owner::Many(value) = &self.0 {
            self.0 = Owner::One(T::clone(value));
        }
        match &mut self.0 {
            Owner::One(value) => value,
            Owner::Many(value) => Arc::make_mut(value),
        }
    }
}

impl<T: Default> Default for Shared<T> {
    fn default() -> Self {
        T::default().into()
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Owner::One(value))
    }
}

impl<T: FromIterator<A>, A> FromIterator<A> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = A>>(items: I) -> Self {
        items.into_iter().collect::<T>().into()
    }
}

impl<'a, T> IntoIterator for &'a Shared<T>
where
    &'a T: IntoIterator,
{
    type Item = <&'a T as IntoIterator>::Item;
    type IntoIter = <&'a T as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (**self).into_iter()
    }
}

#[cfg(feature = "serialize")]
impl<T: serde::Serialize> serde::Serialize for Shared<T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        T::serialize(self, to)
    }
}

#[cfg(feature = "serialize")]
impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Shared<T> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_until_one_changes() {
        let mut first = Shared::from(vec![1, 2]);
        first.share();
        let (second, mut third) = (first.clone(), first.clone());
        assert_eq!(first.as_ptr(), second.as_ptr());
        third[0] = 3;
        assert_eq!((&*first, &*third), (&vec![1, 2], &vec![3, 2]));
        assert_ne!(first.as_ptr(), third.as_ptr());
        assert_eq!(first, second);
        // Not before it is asked for.
        assert_ne!(third.as_ptr(), third.clone().as_ptr());
    }
}
