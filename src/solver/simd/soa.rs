//! Vectors stored as three planes of `f32` (structure of arrays), so that a loop over particles loads consecutive
//! x into a register at once instead of gathering them from structs.

use crate::solver::{
    parallel::workers::PartIterator,
    simd::{Kernel, aligned::AlignedVec, dispatch},
};
use bevy::math::Vec3;

/// List of 3D vectors with one plane per axis. The three planes always have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct SoaVec3 {
    /// x coordinates.
    pub x: AlignedVec,
    /// y coordinates.
    pub y: AlignedVec,
    /// z coordinates.
    pub z: AlignedVec,
}

impl SoaVec3 {
    /// Returns `len` zero vectors.
    pub fn zeros(len: usize) -> Self {
        let [x, y, z] = [(); 3].map(|()| AlignedVec::zeros(len));
        Self { x, y, z }
    }

    /// Returns the number of vectors.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Returns whether there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Returns the planes of x, y and z.
    #[inline(always)]
    pub(crate) fn planes(&self) -> [&[f32]; 3] {
        [&self.x, &self.y, &self.z]
    }

    /// Returns the planes of x, y and z for changes; all must end with the same length.
    #[inline(always)]
    pub(crate) fn planes_mut(&mut self) -> [&mut AlignedVec; 3] {
        [&mut self.x, &mut self.y, &mut self.z]
    }

    /// Returns the vector at `i`. Panics if `i` is out of range, as slices do.
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
    pub(crate) fn add_all(&mut self, v: Vec3) {
        for (plane, dv) in self.planes_mut().into_iter().zip(v.to_array()) {
            plane.iter_mut().for_each(|c| *c += dv);
        }
    }

    /// Adds each vector of `other`, which must have the same length, times a factor.
    pub(crate) fn add_scaled(&mut self, other: &Self, factor: f32) {
        for (plane, other) in self.planes_mut().into_iter().zip(other.planes()) {
            for (value, other) in plane.iter_mut().zip(other) {
                *value += other * factor;
            }
        }
    }

    /// Changes the number of vectors; new ones are zero.
    pub(crate) fn resize(&mut self, len: usize) {
        for plane in self.planes_mut() {
            plane.resize(len, 0.0);
        }
    }

    /// Sets every vector to `v`.
    pub fn fill(&mut self, v: Vec3) {
        for (plane, v) in self.planes_mut().into_iter().zip(v.to_array()) {
            plane.fill(v);
        }
    }

    /// Copies all of `other`, which must have the same length.
    pub fn copy_from(&mut self, other: &Self) {
        for (plane, other) in self.planes_mut().into_iter().zip(other.planes()) {
            plane.copy_from_slice(other);
        }
    }

    /// Returns the vectors in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Vec3> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Returns chunks of `size` vectors as slices of x, y and z; the last one may be shorter.
    pub(in crate::solver) fn chunks(&self, size: usize) -> impl PartIterator<Item = [&[f32]; 3]> {
        let planes = self.x.chunks(size).zip(self.y.chunks(size));
        planes.zip(self.z.chunks(size)).map(|((x, y), z)| [x, y, z])
    }

    /// Mutable version of [`chunks`](Self::chunks).
    pub(in crate::solver) fn chunks_mut(
        &mut self,
        size: usize,
    ) -> impl PartIterator<Item = [&mut [f32]; 3]> {
        let planes = self.x.chunks_mut(size).zip(self.y.chunks_mut(size));
        planes
            .zip(self.z.chunks_mut(size))
            .map(|((x, y), z)| [x, y, z])
    }

    /// Returns whether every component is finite.
    pub fn is_finite(&self) -> bool {
        self.planes().into_iter().all(all_finite)
    }

    /// Returns the corners of the axis-aligned bounding box of all vectors; `None` if there are none. NaN
    /// components are ignored.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        if self.is_empty() {
            return None;
        }
        let [low, high] = bounds(self.planes()).map(Vec3::from);
        Some((low, high))
    }

    /// Returns the bits of all components, plane by plane, for comparisons in tests.
    #[cfg(test)]
    pub(crate) fn bits(&self) -> impl Iterator<Item = u32> + '_ {
        let values = self.planes().into_iter().flatten();
        values.map(|value| value.to_bits())
    }
}

/// Returns whether all values are finite.
pub(in crate::solver) fn all_finite(values: &[f32]) -> bool {
    all_below(values, f32::INFINITY)
}

/// Returns whether the magnitudes of all values are below `limit`, a power of 2 or infinity.
pub(in crate::solver) fn all_below(values: &[f32], limit: f32) -> bool {
    let mut below = true;
    dispatch(FindTooLarge {
        values,
        limit,
        below: &mut below,
    });
    below
}

/// Exponent bits of an `f32`: they grow with its magnitude, and all are set in NaN and infinities.
const EXPONENT_MASK: u32 = 0x7f80_0000;

struct FindTooLarge<'a> {
    values: &'a [f32],
    limit: f32,
    below: &'a mut bool,
}

impl Kernel for FindTooLarge<'_> {
    #[inline(always)]
    fn run(self) {
        // Without an early exit, which would prevent vectorization.
        let (mut bad, limit) = (0, self.limit.to_bits());
        for value in self.values {
            bad |= u32::from(value.to_bits() & EXPONENT_MASK >= limit);
        }
        *self.below = bad == 0;
    }

    #[cfg(test)]
    fn run_reference(self) {
        *self.below = self.values.iter().all(|value| value.abs() < self.limit);
    }
}

/// Corners of an axis-aligned box.
pub(in crate::solver) type Bounds = [[f32; 3]; 2];

/// Returns the bounds of at least one vector, given as slices of x, y and z. NaN components are ignored.
pub(in crate::solver) fn bounds(planes: [&[f32]; 3]) -> Bounds {
    let mut bounds = [[0.0; 3]; 2];
    dispatch(FindBounds {
        planes,
        bounds: &mut bounds,
    });
    bounds
}

/// Returns the smallest box that contains both boxes.
pub(in crate::solver) fn union([low, high]: &Bounds, [from, to]: &Bounds) -> Bounds {
    let mut both = [*low, *high];
    for axis in 0..3 {
        both[0][axis] = low[axis].min(from[axis]);
        both[1][axis] = high[axis].max(to[axis]);
    }
    both
}

struct FindBounds<'a> {
    planes: [&'a [f32]; 3],
    bounds: &'a mut Bounds,
}

impl Kernel for FindBounds<'_> {
    #[inline(always)]
    fn run(self) {
        let [x, y, z] = self.planes;
        *self.bounds = corners([range(x), range(y), range(z)]);
    }

    #[cfg(test)]
    fn run_reference(self) {
        *self.bounds = corners(self.planes.map(range_without_nan));
    }
}

/// Returns the corners of a box from its range on each axis.
#[inline(always)]
pub(in crate::solver) fn corners([x, y, z]: [[f32; 2]; 3]) -> Bounds {
    [[x[0], y[0], z[0]], [x[1], y[1], z[1]]]
}

/// Returns the smallest and the largest of some numbers. NaN is ignored. The sign of a zero is cleared, so that
/// the result does not depend on the order of comparisons.
#[inline(always)]
pub(crate) fn range(values: &[f32]) -> [f32; 2] {
    // Compared as integers: the compiler may reorder their reduction, but not that of floats, because of NaN.
    let (mut low, mut high) = (i32::MAX, i32::MIN);
    for &value in values {
        low = low.min(order_key(value));
        high = high.max(order_key(value));
    }
    // The key of a NaN is below or above those of all other numbers.
    if low < order_key(f32::NEG_INFINITY) || high > order_key(f32::INFINITY) {
        return range_without_nan(values);
    }
    [low, high].map(|key| f32::from_bits(flip_negative(key) as u32) + 0.0)
}

/// Returns an integer that increases with the number.
#[inline(always)]
fn order_key(value: f32) -> i32 {
    flip_negative(value.to_bits() as i32)
}

/// Flips all bits but the sign if the sign is set, which reverses the order of negative numbers. Its own inverse.
#[inline(always)]
fn flip_negative(bits: i32) -> i32 {
    bits ^ ((bits >> 31) as u32 >> 1) as i32
}

/// Scalar version of [`range`].
fn range_without_nan(values: &[f32]) -> [f32; 2] {
    let from = [f32::INFINITY, f32::NEG_INFINITY];
    let [low, high] = values.iter().fold(from, |[low, high], &value| {
        [low.min(value), high.max(value)]
    });
    [low + 0.0, high + 0.0]
}

impl FromIterator<Vec3> for SoaVec3 {
    fn from_iter<I: IntoIterator<Item = Vec3>>(vectors: I) -> Self {
        let vectors = vectors.into_iter();
        let (least, _) = vectors.size_hint();
        let [x, y, z] = [(); 3].map(|()| AlignedVec::with_capacity(least));
        let mut soa = Self { x, y, z };
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
    fn is_finite_detects_nan_and_infinities() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut v = SoaVec3::zeros(5000);
            v.x.fill(f32::MAX);
            assert!(v.is_finite());
            v.z[4321] = bad;
            assert!(!v.is_finite(), "{bad} passed as finite");
        }
    }

    #[test]
    fn bounds_enclose_all_vectors() {
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
        // All remainder lengths; NaN and zeros of either sign everywhere.
        for count in 0..100 {
            let v: SoaVec3 = (0..count)
                .map(|i| {
                    let component =
                        |k: usize| [f32::NAN, -0.0, 0.0, k as f32, -(k as f32)][k * k % 5];
                    Vec3::new(component(i), (i * 37 % 100) as f32 - 50.0, component(i + 1))
                })
                .collect();
            let bits = same_bits(|| {
                let (low, high) = v.bounds().unwrap_or_default();
                let finite = v.planes().map(|plane| u32::from(all_finite(plane)));
                let below = [64.0, 32.0].map(|limit| u32::from(all_below(&v.y, limit)));
                let bits = low.to_array().into_iter().chain(high.to_array());
                bits.map(f32::to_bits).chain(finite).chain(below).collect()
            });
            let is_empty = u32::from(count == 0);
            assert_eq!(bits[6..], [is_empty, 1, u32::from(count < 5), 1, is_empty]);
        }
    }
}
