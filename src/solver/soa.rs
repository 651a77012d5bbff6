//! Vectors stored as three planes of `f32` (structure of arrays), so that a loop over particles
//! loads eight neighbouring x at once instead of gathering them from structs.

use bevy::math::Vec3;

/// A list of 3D vectors, one plane for each axis. The three planes always have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct SoaVec3 {
    /// x of every vector.
    pub x: Vec<f32>,
    /// y of every vector.
    pub y: Vec<f32>,
    /// z of every vector.
    pub z: Vec<f32>,
}

impl SoaVec3 {
    /// `len` zero vectors.
    pub fn zeros(len: usize) -> Self {
        Self {
            x: vec![0.0; len],
            y: vec![0.0; len],
            z: vec![0.0; len],
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
    #[inline]
    pub fn get(&self, i: usize) -> Vec3 {
        Vec3::new(self.x[i], self.y[i], self.z[i])
    }

    /// Replaces the vector at `i`.
    #[inline]
    pub fn set(&mut self, i: usize, v: Vec3) {
        self.x[i] = v.x;
        self.y[i] = v.y;
        self.z[i] = v.z;
    }

    /// Adds to the vector at `i`.
    #[inline]
    pub fn add(&mut self, i: usize, v: Vec3) {
        self.x[i] += v.x;
        self.y[i] += v.y;
        self.z[i] += v.z;
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

    /// Whether every component is a finite number.
    ///
    /// `c * 0` is 0 for finite numbers and NaN for all others, which keeps the loop free of branches.
    pub fn is_finite(&self) -> bool {
        [&self.x, &self.y, &self.z].iter().all(|plane| {
            plane.chunks(1024).all(|chunk| {
                let sum: f32 = chunk.iter().map(|c| c * 0.0).sum();
                sum == 0.0
            })
        })
    }

    /// The corners of the smallest box around all vectors; `None` if there are none.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        if self.is_empty() {
            return None;
        }
        let range = |plane: &[f32]| {
            plane
                .iter()
                .fold((f32::INFINITY, f32::NEG_INFINITY), |(lo, hi), &c| {
                    (lo.min(c), hi.max(c))
                })
        };
        let (x, y, z) = (range(&self.x), range(&self.y), range(&self.z));
        Some((Vec3::new(x.0, y.0, z.0), Vec3::new(x.1, y.1, z.1)))
    }
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
}
