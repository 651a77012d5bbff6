//! Vectors stored as three planes of `f32` (structure of arrays), so that a loop over particles
//! loads eight neighbouring x at once instead of gathering them from structs.

use super::{
    aligned::AlignedVec,
    crew::Parts,
    simd::{Kernel, dispatch},
};
use bevy::math::Vec3;

/// A list of 3D vectors, one plane for each axis. The three planes always have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct SoaVec3 {
    /// x of every vector.
    pub x: AlignedVec,
    /// y of every vector.
    pub y: AlignedVec,
    /// z of every vector.
    pub z: AlignedVec,
}

impl SoaVec3 {
    /// `len` zero vectors.
    pub fn zeros(len: usize) -> Self {
        Self {
            x: AlignedVec::zeros(len),
            y: AlignedVec::zeros(len),
            z: AlignedVec::zeros(len),
        }
    }

    /// How many vectors there are.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// The vector at `i`. Panics if `i` is out of range, as slices do.
    #[inline(always)]
    pub fn get(&self, i: usize) -> Vec3 {
        Vec3::new(self.x.at(i), self.y.at(i), self.z.at(i))
    }

    /// Replaces the vector at `i`.
    #[inline(always)]
    pub fn set(&mut self, i: usize, v: Vec3) {
        *self.x.at_mut(i) = v.x;
        *self.y.at_mut(i) = v.y;
        *self.z.at_mut(i) = v.z;
    }

    /// Adds to the vector at `i`.
    #[inline(always)]
    pub fn add(&mut self, i: usize, v: Vec3) {
        *self.x.at_mut(i) += v.x;
        *self.y.at_mut(i) += v.y;
        *self.z.at_mut(i) += v.z;
    }

    /// Adds to every vector.
    pub fn add_all(&mut self, v: Vec3) {
        for (plane, dv) in [(&mut self.x, v.x), (&mut self.y, v.y), (&mut self.z, v.z)] {
            plane.iter_mut().for_each(|c| *c += dv);
        }
    }

    /// Sets every vector to `v`.
    pub fn fill(&mut self, v: Vec3) {
        self.x.fill(v.x);
        self.y.fill(v.y);
        self.z.fill(v.z);
    }

    /// Copies all of `other`, which must have the same length.
    pub fn copy_from(&mut self, other: &Self) {
        self.x.copy_from_slice(&other.x);
        self.y.copy_from_slice(&other.y);
        self.z.copy_from_slice(&other.z);
    }

    /// The vectors, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Vec3> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Parts of `size` vectors each, the last one of what is left: x, y and z of them.
    pub(super) fn chunks(&self, size: usize) -> impl Parts<Item = [&[f32]; 3]> {
        let planes = self.x.chunks(size).zip(self.y.chunks(size));
        planes.zip(self.z.chunks(size)).map(|((x, y), z)| [x, y, z])
    }

    /// The same, to write.
    pub(super) fn chunks_mut(&mut self, size: usize) -> impl Parts<Item = [&mut [f32]; 3]> {
        let planes = self.x.chunks_mut(size).zip(self.y.chunks_mut(size));
        planes
            .zip(self.z.chunks_mut(size))
            .map(|((x, y), z)| [x, y, z])
    }

    /// Whether every component is a finite number.
    pub fn is_finite(&self) -> bool {
        all_finite(&self.x) && all_finite(&self.y) && all_finite(&self.z)
    }

    /// The corners of the smallest box around all vectors; `None` if there are none. Components that
    /// are NaN do not count.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        if self.is_empty() {
            return None;
        }
        let [low, high] = bounds([&self.x, &self.y, &self.z]).map(Vec3::from);
        Some((low, high))
    }

    /// The bits of all components, plane by plane, for tests that compare them.
    #[cfg(test)]
    pub(crate) fn bits(&self) -> impl Iterator<Item = u32> + '_ {
        let planes = [&self.x, &self.y, &self.z].into_iter().flatten();
        planes.map(|value| value.to_bits())
    }
}

/// Whether all are finite numbers.
pub(super) fn all_finite(values: &[f32]) -> bool {
    let mut finite = true;
    dispatch(Finite {
        values,
        finite: &mut finite,
    });
    finite
}

/// The exponent's bits; in NaN and infinities all of them are set, in no other number.
const EXPONENT: u32 = 0x7f80_0000;

struct Finite<'a> {
    values: &'a [f32],
    finite: &'a mut bool,
}

impl Kernel for Finite<'_> {
    #[inline(always)]
    fn run(self) {
        // Without a way out of the loop, which would keep it from being vectorised.
        let mut bad = 0;
        for value in self.values {
            bad |= u32::from(value.to_bits() & EXPONENT == EXPONENT);
        }
        *self.finite = bad == 0;
    }

    fn run_scalar(self) {
        *self.finite = self.values.iter().all(|value| value.is_finite());
    }
}

/// The corners of a box.
pub(super) type Bounds = [[f32; 3]; 2];

/// The corners of the smallest box around some vectors, at least one, given as x, y and z. Components
/// that are NaN do not count.
pub(super) fn bounds(of: [&[f32]; 3]) -> Bounds {
    let mut bounds = [[0.0; 3]; 2];
    dispatch(FindBounds {
        of,
        bounds: &mut bounds,
    });
    bounds
}

struct FindBounds<'a> {
    of: [&'a [f32]; 3],
    bounds: &'a mut Bounds,
}

impl Kernel for FindBounds<'_> {
    #[inline(always)]
    fn run(self) {
        let [x, y, z] = self.of;
        *self.bounds = corners([range(x), range(y), range(z)]);
    }

    fn run_scalar(self) {
        *self.bounds = corners(self.of.map(range_without_nan));
    }
}

/// The corners of a box from its ranges.
#[inline(always)]
pub(super) fn corners([x, y, z]: [[f32; 2]; 3]) -> Bounds {
    [[x[0], y[0], z[0]], [x[1], y[1], z[1]]]
}

/// The least and the greatest of some numbers. NaN do not count. A 0 has no sign, so that it does not
/// depend on the order in which they were compared.
#[inline(always)]
pub(crate) fn range(values: &[f32]) -> [f32; 2] {
    // Compared as integers: those may be reduced in any order, floats may not because of NaN.
    let (mut low, mut high) = (i32::MAX, i32::MIN);
    for &value in values {
        low = low.min(order(value));
        high = high.max(order(value));
    }
    // A NaN is below or above all other numbers, so it shows.
    if low < order(f32::NEG_INFINITY) || high > order(f32::INFINITY) {
        return range_without_nan(values);
    }
    [low, high].map(|order| f32::from_bits(flip(order) as u32) + 0.0)
}

/// An integer that is the greater the greater a number is.
#[inline(always)]
fn order(value: f32) -> i32 {
    flip(value.to_bits() as i32)
}

/// The bits of a negative number all but the sign, which turns its order around. Its own inverse.
#[inline(always)]
fn flip(bits: i32) -> i32 {
    bits ^ ((bits >> 31) as u32 >> 1) as i32
}

/// [`range`], number by number.
fn range_without_nan(values: &[f32]) -> [f32; 2] {
    let from = [f32::INFINITY, f32::NEG_INFINITY];
    let [low, high] = values.iter().fold(from, |[low, high], &value| {
        [low.min(value), high.max(value)]
    });
    [low + 0.0, high + 0.0]
}

impl FromIterator<Vec3> for SoaVec3 {
    fn from_iter<I: IntoIterator<Item = Vec3>>(vectors: I) -> Self {
        let mut soa = Self::default();
        for v in vectors {
            soa.x.push(v.x);
            soa.y.push(v.y);
            soa.z.push(v.z);
        }
        soa
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::simd::levels::same_bits;

    #[test]
    fn finite_sees_every_kind_of_bad_number() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut v = SoaVec3::zeros(5000);
            v.x.fill(f32::MAX);
            assert!(v.is_finite());
            v.z[4321] = bad;
            assert!(!v.is_finite(), "{bad} passed as finite");
        }
    }

    #[test]
    fn bounds_enclose_all() {
        let v: SoaVec3 = [Vec3::new(1.0, -2.0, 0.0), Vec3::new(-1.0, 5.0, 3.0)]
            .into_iter()
            .collect();
        assert_eq!(
            v.bounds(),
            Some((Vec3::new(-1.0, -2.0, 0.0), Vec3::new(1.0, 5.0, 3.0)))
        );
        assert_eq!(SoaVec3::default().bounds(), None);
    }

    #[test]
    fn bounds_and_finite_are_the_same_at_all_levels() {
        // All tails there are; NaN and zeros of either sign everywhere.
        for count in 0..100 {
            let v: SoaVec3 = (0..count)
                .map(|i| {
                    let part = |k: usize| [f32::NAN, -0.0, 0.0, k as f32, -(k as f32)][k * k % 5];
                    Vec3::new(part(i), (i * 37 % 100) as f32 - 50.0, part(i + 1))
                })
                .collect();
            let bits = same_bits(|| {
                let (low, high) = v.bounds().unwrap_or_default();
                let finite = [&v.x, &v.y, &v.z].map(|plane| u32::from(all_finite(plane)));
                let bits = low.to_array().into_iter().chain(high.to_array());
                bits.map(f32::to_bits).chain(finite).collect()
            });
            assert_eq!(bits[6..], [u32::from(count == 0), 1, u32::from(count < 5)]);
        }
    }
}
