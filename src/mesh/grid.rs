//! [`ClothGrid`], a builder for meshes of rectangular cloths.

use bevy::{
    asset::RenderAssetUsages,
    math::{Vec2, Vec3},
    mesh::{Indices, Mesh, MeshBuilder, PrimitiveTopology},
};

/// Direction in which the quads of a grid are cut into triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diagonals {
    /// Neighbouring quads are cut in opposite directions. The cloth folds alike in both directions.
    #[default]
    Alternating,
    /// All quads are cut in the same direction. The cloth folds more easily along the cuts.
    Parallel,
    /// The direction alternates from row to row.
    Zigzag,
}

/// Mesh builder for a rectangular cloth with UVs, normals and tangents, centred on the origin.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// let tablecloth: Mesh = ClothGrid::new(2.0, 2.0, 64, 64).into();
/// let flag: Mesh = ClothGrid::vertical(1.5, 1.0, 48, 32).into();
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClothGrid {
    /// Width (along x) and height (along z, or y if [vertical](Self::vertical)), m. A size that is not finite
    /// and above 0 is replaced by 1.
    pub size: Vec2,
    /// Number of particles along x, at least 2.
    pub columns: u32,
    /// Number of particles along the other side, at least 2.
    pub rows: u32,
    /// Direction in which quads are cut.
    pub diagonals: Diagonals,
    /// Whether the cloth stands in the xy plane facing +z, instead of lying in the xz plane facing +y.
    pub vertical: bool,
}

impl ClothGrid {
    /// Creates a cloth that lies in the xz plane and faces up; its top edge is at −z.
    pub fn new(width: f32, height: f32, columns: u32, rows: u32) -> Self {
        Self {
            size: Vec2::new(width, height),
            columns,
            rows,
            diagonals: Diagonals::default(),
            vertical: false,
        }
    }

    /// Creates a cloth that stands in the xy plane and faces +z; its top edge is at +y.
    pub fn vertical(width: f32, height: f32, columns: u32, rows: u32) -> Self {
        Self {
            vertical: true,
            ..Self::new(width, height, columns, rows)
        }
    }

    /// Sets the direction in which quads are cut.
    pub fn with_diagonals(self, diagonals: Diagonals) -> Self {
        Self { diagonals, ..self }
    }

    fn triangles(&self, columns: u32, rows: u32) -> Vec<u32> {
        let mut indices = Vec::with_capacity(6 * ((columns - 1) * (rows - 1)) as usize);
        for row in 0..rows - 1 {
            for column in 0..columns - 1 {
                let top_left = row * columns + column;
                let top_right = top_left + 1;
                let low_left = top_left + columns;
                let low_right = low_left + 1;
                let falling = match self.diagonals {
                    Diagonals::Alternating => (row + column) % 2 == 0,
                    Diagonals::Parallel => false,
                    Diagonals::Zigzag => row % 2 == 0,
                };
                indices.extend(if falling {
                    [
                        top_left, low_left, low_right, top_left, low_right, top_right,
                    ]
                } else {
                    [
                        top_left, low_left, top_right, top_right, low_left, low_right,
                    ]
                });
            }
        }
        indices
    }
}

impl MeshBuilder for ClothGrid {
    fn build(&self) -> Mesh {
        let side = |length: f32| {
            if length.is_finite() && length > 0.0 {
                length
            } else {
                1.0
            }
        };
        let size = Vec2::new(side(self.size.x), side(self.size.y));
        let (columns, rows) = (self.columns.max(2), self.rows.max(2));

        let count = columns as usize * rows as usize;
        let (mut positions, mut uvs) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for row in 0..rows {
            for column in 0..columns {
                let uv = Vec2::new(
                    column as f32 / (columns - 1) as f32,
                    row as f32 / (rows - 1) as f32,
                );
                let from_centre = (uv - 0.5) * size;
                positions.push(if self.vertical {
                    [from_centre.x, -from_centre.y, 0.0]
                } else {
                    [from_centre.x, 0.0, from_centre.y]
                });
                uvs.push(uv.to_array());
            }
        }
        let corners = self.triangles(columns, rows);
        // 16-bit indices, if they suffice, take half the memory, here and on the GPU.
        let indices = if u16::try_from(count - 1).is_ok() {
            Indices::U16(corners.into_iter().map(|i| i as u16).collect())
        } else {
            Indices::U32(corners)
        };
        let normal = if self.vertical { Vec3::Z } else { Vec3::Y };
        Mesh::new(
            PrimitiveTopology::TriangleList,
            RenderAssetUsages::default(),
        )
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, vec![normal.to_array(); count])
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, uvs)
        // u runs along +x; the bitangent (normal × tangent × w) runs against v, as in glTF.
        .with_inserted_attribute(Mesh::ATTRIBUTE_TANGENT, vec![[1.0, 0.0, 0.0, 1.0]; count])
        .with_inserted_indices(indices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::read::TriangleMesh;

    #[test]
    fn all_triangles_face_along_the_normals() {
        for diagonals in [
            Diagonals::Alternating,
            Diagonals::Parallel,
            Diagonals::Zigzag,
        ] {
            for (grid, up) in [
                (ClothGrid::new(2.0, 1.0, 5, 4), Vec3::Y),
                (ClothGrid::vertical(2.0, 1.0, 5, 4), Vec3::Z),
            ] {
                let mesh = TriangleMesh::read(&grid.with_diagonals(diagonals).into()).unwrap();
                let mut area = 0.0;
                for t in &mesh.triangles {
                    let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
                    let cross = (b - a).cross(c - a);
                    assert!(cross.normalize().dot(up) > 0.999, "{diagonals:?}");
                    area += 0.5 * cross.length();
                }
                assert!((area - 2.0).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn invalid_sizes_are_replaced_by_valid_ones() {
        let mesh = ClothGrid::new(f32::NAN, -1.0, 0, 1).build();
        let read = TriangleMesh::read(&mesh).unwrap();
        assert_eq!(read.positions.len(), 4);
        assert_eq!(read.positions[0], Vec3::new(-0.5, 0.0, -0.5));
    }
}
