//! Tangents of triangles as weights of their sides, so that they turn and stretch with the cloth.

use super::read::TriangleMesh;
use bevy::math::{Vec3, Vec4};

/// Largest number of distinct kinds of triangles that are stored compressed.
const MAX_KINDS: usize = 32;

/// Largest relative difference of weights within one kind: 0.006°, which is invisible.
const TOLERANCE: f32 = 1e-4;

/// Weights of the sides ab and ac in the tangent of each triangle. If only a few kinds of triangles occur, as in a
/// grid, each triangle takes one byte.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serialize",
    serde(from = "Vec<[f32; 2]>", into = "Vec<[f32; 2]>")
)]
pub(super) struct TangentWeights {
    kinds: Vec<[f32; 2]>,
    of: Vec<u8>,
    /// Weights per triangle, if there are too many kinds; `kinds` is then empty.
    list: Vec<[f32; 2]>,
}

impl TangentWeights {
    /// Fits the mean tangent of each triangle's corners by a combination of its sides ab and ac.
    pub(super) fn new(mesh: &TriangleMesh, tangents: &[[f32; 4]]) -> Self {
        let weights = mesh.triangles.iter().map(|corners| {
            let [a, b, c] = corners.map(|v| mesh.positions[v as usize]);
            let tangent: Vec3 = corners
                .iter()
                .map(|&v| Vec4::from(tangents[v as usize]).truncate())
                .sum();
            let (ab, ac) = (b - a, c - a);
            // Least squares: the normal equations of tangent = p·ab + q·ac.
            let (m00, m01, m11) = (ab.dot(ab), ab.dot(ac), ac.dot(ac));
            let (r0, r1) = (ab.dot(tangent), ac.dot(tangent));
            let determinant = m00 * m11 - m01 * m01;
            let weights = [
                (r0 * m11 - r1 * m01) / determinant,
                (r1 * m00 - r0 * m01) / determinant,
            ];
            if weights.iter().all(|w| w.is_finite()) {
                weights
            } else {
                [0.0; 2]
            }
        });
        Self::compress(weights.collect())
    }

    /// Groups similar weights into kinds, if there are few enough.
    pub(super) fn compress(mut list: Vec<[f32; 2]>) -> Self {
        let alike = |a: &[f32; 2], b: &[f32; 2]| {
            let size = a[0].abs().max(a[1].abs());
            let apart = (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
            apart <= size * TOLERANCE
        };
        let mut kinds: Vec<[f32; 2]> = Vec::new();
        let mut of = Vec::with_capacity(list.len());
        for weights in &list {
            let known = kinds.iter().position(|kind| alike(kind, weights));
            let kind = known.unwrap_or(kinds.len());
            if kind == MAX_KINDS {
                list.shrink_to_fit();
                return list.into();
            }
            if known.is_none() {
                kinds.push(*weights);
            }
            of.push(kind as u8);
        }
        Self {
            kinds,
            of,
            list: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.of.len().max(self.list.len())
    }

    #[inline(always)]
    pub(super) fn at(&self, triangle: usize) -> [f32; 2] {
        if self.list.is_empty() {
            self.kinds[usize::from(self.of[triangle])]
        } else {
            self.list[triangle]
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = [f32; 2]> + '_ {
        (0..self.len()).map(|triangle| self.at(triangle))
    }

    /// Returns the weights as an editable list.
    pub(super) fn to_mut(&mut self) -> &mut Vec<[f32; 2]> {
        if self.list.is_empty() {
            *self = Self {
                list: self.iter().collect(),
                ..Self::default()
            };
        }
        &mut self.list
    }
}

/// Lossless, as snapshots require.
impl From<Vec<[f32; 2]>> for TangentWeights {
    fn from(list: Vec<[f32; 2]>) -> Self {
        Self {
            list,
            ..Self::default()
        }
    }
}

impl From<TangentWeights> for Vec<[f32; 2]> {
    fn from(weights: TangentWeights) -> Self {
        weights.iter().collect()
    }
}

/// Compares the weights, however they are stored.
impl PartialEq for TangentWeights {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_kinds_are_stored_in_one_byte_each() {
        let list: Vec<[f32; 2]> = (0..1000)
            .map(|i| [3.0 + (i % 4) as f32, -0.5 + i as f32 * 1e-8])
            .collect();
        let mut weights = TangentWeights::compress(list.clone());
        assert_eq!((weights.len(), weights.kinds.len()), (1000, 4));
        for (now, before) in weights.iter().zip(&list) {
            assert!((now[0] - before[0]).abs() + (now[1] - before[1]).abs() < 1e-4);
        }
        assert!(TangentWeights::from(list.clone()).iter().eq(list));
        let packed = weights.clone();
        weights.to_mut()[7] = [9.0, 9.0];
        assert_eq!(weights.at(7), [9.0, 9.0]);
        assert_ne!(weights, packed);
        weights.to_mut()[7] = packed.at(7);
        assert_eq!(weights, packed, "equal, although stored differently");
    }

    #[test]
    fn many_kinds_are_stored_uncompressed() {
        let list: Vec<[f32; 2]> = (0..100).map(|i| [i as f32, 1.0]).collect();
        let weights = TangentWeights::compress(list.clone());
        assert!(weights.iter().eq(list));
        assert_eq!(TangentWeights::default().len(), 0);
    }
}
