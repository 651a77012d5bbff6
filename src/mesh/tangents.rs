//! The tangents of triangles in terms of their sides, which turn and stretch with the cloth.

use super::read::TriangleMesh;
use bevy::math::{Vec3, Vec4};

/// So many kinds of triangles at most.
const KINDS: usize = 32;

/// Triangles whose weights differ by less than this share are of one kind: 0.006°, which nobody sees.
const ALIKE: f32 = 1e-4;

/// For each triangle, what its tangent is made of: the shares of its sides ab and ac. Where few kinds
/// of triangles come again and again, as in a grid, each takes one byte.
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Vec<[f32; 2]>", into = "Vec<[f32; 2]>")
)]
pub(super) struct TangentWeights {
    kinds: Vec<[f32; 2]>,
    of: Vec<u8>,
    /// Those that are of no kind; then there are no kinds.
    listed: Vec<[f32; 2]>,
}

impl TangentWeights {
    /// Writes the mean tangent of each triangle's corners as a combination of its sides ab and ac.
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
        Self::by_kinds(weights.collect())
    }

    /// Puts weights that are alike together.
    pub(super) fn by_kinds(mut listed: Vec<[f32; 2]>) -> Self {
        let alike = |a: &[f32; 2], b: &[f32; 2]| {
            let size = a[0].abs().max(a[1].abs());
            let apart = (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
            apart <= size * ALIKE
        };
        let mut kinds: Vec<[f32; 2]> = Vec::new();
        let mut of = Vec::with_capacity(listed.len());
        for weights in &listed {
            let known = kinds.iter().position(|kind| alike(kind, weights));
            let kind = known.unwrap_or(kinds.len());
            if kind == KINDS {
                listed.shrink_to_fit();
                return listed.into();
            }
            if known.is_none() {
                kinds.push(*weights);
            }
            of.push(kind as u8);
        }
        Self {
            kinds,
            of,
            listed: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.of.len().max(self.listed.len())
    }

    #[inline(always)]
    pub(super) fn at(&self, triangle: usize) -> [f32; 2] {
        if self.listed.is_empty() {
            self.kinds[usize::from(self.of[triangle])]
        } else {
            self.listed[triangle]
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = [f32; 2]> + '_ {
        (0..self.len()).map(|triangle| self.at(triangle))
    }

    /// The weights as a list that can be changed.
    pub(super) fn to_mut(&mut self) -> &mut Vec<[f32; 2]> {
        if self.listed.is_empty() {
            *self = Self {
                listed: self.iter().collect(),
                ..Self::default()
            };
        }
        &mut self.listed
    }
}

/// To the last bit, as snapshots need it.
impl From<Vec<[f32; 2]>> for TangentWeights {
    fn from(listed: Vec<[f32; 2]>) -> Self {
        Self {
            listed,
            ..Self::default()
        }
    }
}

impl From<TangentWeights> for Vec<[f32; 2]> {
    fn from(weights: TangentWeights) -> Self {
        weights.iter().collect()
    }
}

/// It does not matter how they are stored.
impl PartialEq for TangentWeights {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_kinds_take_a_byte_each() {
        let list: Vec<[f32; 2]> = (0..1000)
            .map(|i| [3.0 + (i % 4) as f32, -0.5 + i as f32 * 1e-8])
            .collect();
        let mut weights = TangentWeights::by_kinds(list.clone());
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
        assert_eq!(weights, packed, "stored otherwise, it is the same");
    }

    #[test]
    fn many_kinds_are_kept_as_they_are() {
        let list: Vec<[f32; 2]> = (0..100).map(|i| [i as f32, 1.0]).collect();
        let weights = TangentWeights::by_kinds(list.clone());
        assert!(weights.iter().eq(list));
        assert_eq!(TangentWeights::default().len(), 0);
    }
}
