//! Attributes of new vertices between two others, which appear where a mesh opens along a tear.

use super::sanitize::normalize_directions;
use bevy::mesh::{Mesh, MeshAccessError, VertexAttributeValues};

/// Vertex to be added between two others.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct NewVertex {
    /// Vertices on either side; twice the same for a copy.
    pub(super) between: [u32; 2],
    /// Fraction of the distance from the first to the second, 0 to 1.
    pub(super) fraction: f32,
}

impl NewVertex {
    /// Appends the value of an attribute: interpolated where that is meaningful, else copied from the nearer
    /// vertex (joint indices, for example).
    pub(super) fn push(&self, values: &mut VertexAttributeValues) {
        use VertexAttributeValues as V;
        /// Interpolates integers that stand for fractions (Unorm, Snorm).
        macro_rules! blend {
            ($values:ident, $number:ty) => {
                $values.push(self.blended($values, f32::from, |x| x.round() as $number))
            };
        }
        /// Copies the value of the nearer vertex.
        macro_rules! copy_nearer {
            ($values:ident) => {
                $values.push($values[self.nearer()])
            };
        }
        match values {
            V::Float32(v) => {
                let [a, b] = self.between.map(|i| v[i as usize]);
                v.push(self.lerp(a, b));
            }
            V::Float32x2(v) => v.push(self.blended(v, |x| x, |x| x)),
            V::Float32x3(v) => v.push(self.blended(v, |x| x, |x| x)),
            V::Float32x4(v) => v.push(self.blended(v, |x| x, |x| x)),
            V::Unorm8x2(v) => blend!(v, u8),
            V::Unorm8x4(v) | V::Unorm8x4Bgra(v) => blend!(v, u8),
            V::Snorm8x2(v) => blend!(v, i8),
            V::Snorm8x4(v) => blend!(v, i8),
            V::Unorm16x2(v) => blend!(v, u16),
            V::Unorm16x4(v) => blend!(v, u16),
            V::Snorm16x2(v) => blend!(v, i16),
            V::Snorm16x4(v) => blend!(v, i16),
            V::Uint8(v) | V::Unorm8(v) => copy_nearer!(v),
            V::Uint8x2(v) => copy_nearer!(v),
            V::Uint8x4(v) => copy_nearer!(v),
            V::Sint8(v) | V::Snorm8(v) => copy_nearer!(v),
            V::Sint8x2(v) => copy_nearer!(v),
            V::Sint8x4(v) => copy_nearer!(v),
            V::Uint16(v) | V::Unorm16(v) => copy_nearer!(v),
            V::Uint16x2(v) => copy_nearer!(v),
            V::Uint16x4(v) => copy_nearer!(v),
            V::Sint16(v) | V::Snorm16(v) => copy_nearer!(v),
            V::Sint16x2(v) => copy_nearer!(v),
            V::Sint16x4(v) => copy_nearer!(v),
            V::Float16(v) => copy_nearer!(v),
            V::Float16x2(v) => copy_nearer!(v),
            V::Float16x4(v) => copy_nearer!(v),
            V::Uint32(v) | V::Unorm10_10_10_2(v) => copy_nearer!(v),
            V::Uint32x2(v) => copy_nearer!(v),
            V::Uint32x3(v) => copy_nearer!(v),
            V::Uint32x4(v) => copy_nearer!(v),
            V::Sint32(v) => copy_nearer!(v),
            V::Sint32x2(v) => copy_nearer!(v),
            V::Sint32x3(v) => copy_nearer!(v),
            V::Sint32x4(v) => copy_nearer!(v),
            V::Float64(v) => copy_nearer!(v),
            V::Float64x2(v) => copy_nearer!(v),
            V::Float64x3(v) => copy_nearer!(v),
            V::Float64x4(v) => copy_nearer!(v),
        }
    }

    fn lerp(&self, a: f32, b: f32) -> f32 {
        a + (b - a) * self.fraction
    }

    fn blended<T: Copy, const N: usize>(
        &self,
        values: &[[T; N]],
        to_real: impl Fn(T) -> f32,
        from_real: impl Fn(f32) -> T,
    ) -> [T; N] {
        let [a, b] = self.between.map(|i| values[i as usize]);
        std::array::from_fn(|k| from_real(self.lerp(to_real(a[k]), to_real(b[k]))))
    }

    fn nearer(&self) -> usize {
        self.between[usize::from(self.fraction >= 0.5)] as usize
    }
}

/// Truncates a mesh to `count` vertices, and appends new ones. Their normals and tangents have unit length.
pub(super) fn append(
    mesh: &mut Mesh,
    count: usize,
    new: &[NewVertex],
) -> Result<(), MeshAccessError> {
    for (attribute, values) in mesh.try_attributes_mut()? {
        // Bevy allows attributes that are longer or shorter than the positions.
        resize(values, count);
        new.iter().for_each(|new| new.push(values));
        normalize_directions(attribute.id, values, count);
    }
    Ok(())
}

/// Truncates the values to `count` vertices, or fills up with zeros.
fn resize(values: &mut VertexAttributeValues, count: usize) {
    use VertexAttributeValues as V;
    macro_rules! resize {
        ($($variant:ident)*) => {
            match values {
                $(V::$variant(values) => values.resize(count, Default::default()),)*
            }
        };
    }
    resize!(
        Float32 Float32x2 Float32x3 Float32x4 Float16 Float16x2 Float16x4 Float64 Float64x2
        Float64x3 Float64x4 Uint8 Uint8x2 Uint8x4 Sint8 Sint8x2 Sint8x4 Unorm8 Unorm8x2 Unorm8x4
        Snorm8 Snorm8x2 Snorm8x4 Uint16 Uint16x2 Uint16x4 Sint16 Sint16x2 Sint16x4 Unorm16
        Unorm16x2 Unorm16x4 Snorm16 Snorm16x2 Snorm16x4 Uint32 Uint32x2 Uint32x3 Uint32x4 Sint32
        Sint32x2 Sint32x3 Sint32x4 Unorm10_10_10_2 Unorm8x4Bgra
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use VertexAttributeValues as V;

    #[test]
    fn fractions_are_interpolated_and_indices_copied() {
        let new = NewVertex {
            between: [0, 1],
            fraction: 0.75,
        };
        let mut colours = V::Unorm8x4(vec![[0, 100, 255, 8], [100, 0, 255, 8]]);
        let mut joints = V::Uint16x4(vec![[1, 2, 3, 4], [5, 6, 7, 8]]);
        let mut weights = V::Float32x4(vec![[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]);
        for values in [&mut colours, &mut joints, &mut weights] {
            new.push(values);
            assert_eq!(values.len(), 3);
        }
        assert!(matches!(colours, V::Unorm8x4(v) if v[2] == [75, 25, 255, 8]));
        assert!(matches!(joints, V::Uint16x4(v) if v[2] == [5, 6, 7, 8]));
        assert!(matches!(weights, V::Float32x4(v) if v[2] == [0.25, 0.75, 0.0, 0.0]));
    }
}
