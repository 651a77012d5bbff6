//! Reads positions and triangles of a mesh.

use crate::solver::particles::is_within_reach;
use bevy::{
    asset::RenderAssetUsages,
    math::Vec3,
    mesh::{Indices, Mesh, MeshAccessError, PrimitiveTopology, VertexAttributeValues},
};
use std::fmt;

/// Reason why a mesh cannot become cloth. The text names the remedy.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshError {
    /// The mesh was uploaded to the GPU and is gone from main memory.
    NotReadable,
    /// The mesh consists of points or lines.
    NotTriangles(PrimitiveTopology),
    /// The mesh has no `ATTRIBUTE_POSITION` of three floats.
    NoPositions,
    /// A position is NaN, infinite, or beyond 16 777 km.
    NonFinite {
        /// Index of the vertex.
        vertex: usize,
    },
    /// The mesh has no triangle with three different positions.
    NoTriangles,
}

impl fmt::Display for MeshError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NotReadable => write!(
                f,
                "the mesh is not readable in the main world; create or load it with {:?} | {:?}",
                RenderAssetUsages::MAIN_WORLD,
                RenderAssetUsages::RENDER_WORLD
            ),
            Self::NotTriangles(topology) => write!(
                f,
                "the mesh is a {topology:?}; cloth needs a TriangleList or TriangleStrip"
            ),
            Self::NoPositions => write!(
                f,
                "the mesh has no Mesh::ATTRIBUTE_POSITION of type Float32x3; insert one"
            ),
            Self::NonFinite { vertex } => write!(
                f,
                "the position of vertex {vertex} is not finite or beyond 16 777 km; repair the mesh"
            ),
            Self::NoTriangles => write!(
                f,
                "the mesh has no triangle with three different positions; add some, for example \
                 with ClothGrid"
            ),
        }
    }
}

impl std::error::Error for MeshError {}

/// Positions and triangles of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleMesh {
    /// Vertex positions in mesh space, m.
    pub positions: Vec<Vec3>,
    /// Vertex indices of each triangle's corners.
    pub triangles: Vec<[u32; 3]>,
    /// Number of triangles that were left out because they refer to vertices that do not exist.
    pub out_of_range: usize,
}

impl TriangleMesh {
    /// Reads a mesh. Triangles that refer to vertices that do not exist are left out and counted.
    pub fn read(mesh: &Mesh) -> Result<Self, MeshError> {
        let positions = match mesh.try_attribute(Mesh::ATTRIBUTE_POSITION) {
            Ok(VertexAttributeValues::Float32x3(positions)) => positions,
            Ok(_) | Err(MeshAccessError::NotFound) => return Err(MeshError::NoPositions),
            Err(MeshAccessError::ExtractedToRenderWorld) => return Err(MeshError::NotReadable),
        };
        let mut positions: Vec<Vec3> = positions.iter().map(|&p| Vec3::from(p)).collect();
        let is_strip = mesh.primitive_topology() == PrimitiveTopology::TriangleStrip;
        let indices: Vec<u32> = match mesh.try_indices() {
            Ok(Indices::U16(indices)) => {
                // 0xFFFF ends a strip, as 0xFFFF_FFFF does in the wider format. In a list it is the last
                // of 65536 vertices.
                let ends = |i: u16| is_strip && i == u16::MAX;
                let wide = |&i: &u16| if ends(i) { u32::MAX } else { i.into() };
                indices.iter().map(wide).collect()
            }
            Ok(Indices::U32(indices)) => indices.clone(),
            Err(MeshAccessError::NotFound) => (0..positions.len() as u32).collect(),
            Err(MeshAccessError::ExtractedToRenderWorld) => return Err(MeshError::NotReadable),
        };
        let all = match mesh.primitive_topology() {
            PrimitiveTopology::TriangleList => indices.as_chunks::<3>().0.to_vec(),
            PrimitiveTopology::TriangleStrip => strip_to_list(&indices),
            other => return Err(MeshError::NotTriangles(other)),
        };

        let exists = |&i: &u32| (i as usize) < positions.len();
        let count = all.len();
        let triangles: Vec<_> = all
            .into_iter()
            .filter(|corners| corners.iter().all(exists))
            .collect();
        if triangles.is_empty() {
            return Err(MeshError::NoTriangles);
        }
        let is_bad = |&&vertex: &&u32| !is_within_reach(positions[vertex as usize]);
        if let Some(&vertex) = triangles.as_flattened().iter().find(is_bad) {
            let vertex = vertex as usize;
            return Err(MeshError::NonFinite { vertex });
        }
        // Others are in no triangle.
        positions
            .iter_mut()
            .filter(|at| !is_within_reach(**at))
            .for_each(|at| *at = Vec3::ZERO);
        Ok(Self {
            out_of_range: count - triangles.len(),
            positions,
            triangles,
        })
    }
}

/// Converts a triangle strip to a list. Each vertex forms a triangle with the two before it; the winding of
/// every second triangle is flipped, so that all face the same way.
fn strip_to_list(indices: &[u32]) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for run in indices.split(|&i| i == u32::MAX) {
        for (i, corners) in run.windows(3).enumerate() {
            let [a, b, c] = [corners[0], corners[1], corners[2]];
            triangles.push(if i % 2 == 0 { [a, b, c] } else { [b, a, c] });
        }
    }
    triangles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh(topology: PrimitiveTopology, positions: Vec<[f32; 3]>) -> Mesh {
        Mesh::new(topology, RenderAssetUsages::default())
            .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
    }

    const QUAD: [[f32; 3]; 4] = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [1.0, 1.0, 0.0],
    ];

    #[test]
    fn lists_and_strips_with_and_without_indices() {
        let strip = mesh(PrimitiveTopology::TriangleStrip, QUAD.to_vec());
        let read = TriangleMesh::read(&strip).unwrap();
        assert_eq!(read.triangles, [[0, 1, 2], [2, 1, 3]]);
        let restarted = strip.with_inserted_indices(Indices::U16(vec![0, 1, 2, 65535, 1, 2, 3]));
        let read = TriangleMesh::read(&restarted).unwrap();
        assert_eq!(read.triangles, [[0, 1, 2], [1, 2, 3]]);
        let list = mesh(PrimitiveTopology::TriangleList, QUAD.to_vec());
        assert_eq!(TriangleMesh::read(&list).unwrap().triangles, [[0, 1, 2]]);
    }

    #[test]
    fn unsuitable_meshes_are_refused_with_the_reason() {
        let list = |positions| mesh(PrimitiveTopology::TriangleList, positions);
        let bare = Mesh::new(
            PrimitiveTopology::TriangleList,
            RenderAssetUsages::default(),
        );
        let mut taken = list(QUAD.to_vec());
        taken.asset_usage = RenderAssetUsages::RENDER_WORLD;
        let taken = {
            let mut original = taken;
            let _gone = original.take_gpu_data();
            original
        };
        let cases = [
            (list(vec![]), MeshError::NoTriangles),
            (list(QUAD[..2].to_vec()), MeshError::NoTriangles),
            (bare, MeshError::NoPositions),
            (taken, MeshError::NotReadable),
            (
                list(vec![[0.0; 3], [f32::NAN; 3], [1.0; 3]]),
                MeshError::NonFinite { vertex: 1 },
            ),
            (
                list(vec![[0.0; 3], [1.0; 3], [0.0, 1e30, 0.0]]),
                MeshError::NonFinite { vertex: 2 },
            ),
            (
                mesh(PrimitiveTopology::LineList, QUAD.to_vec()),
                MeshError::NotTriangles(PrimitiveTopology::LineList),
            ),
        ];
        for (mesh, error) in cases {
            assert_eq!(TriangleMesh::read(&mesh), Err(error));
        }
    }

    #[test]
    fn a_list_of_u16_indices_may_use_all_of_them() {
        let last = u16::MAX as usize;
        let positions = (0..=last).map(|i| [i as f32, (i % 2) as f32, 0.0]);
        let list = mesh(PrimitiveTopology::TriangleList, positions.collect())
            .with_inserted_indices(Indices::U16(vec![0, 1, u16::MAX]));
        assert_eq!(
            TriangleMesh::read(&list).unwrap().triangles,
            [[0, 1, 65535]]
        );
    }

    #[test]
    fn triangles_of_vertices_that_do_not_exist_are_left_out() {
        let list = mesh(PrimitiveTopology::TriangleList, QUAD.to_vec())
            .with_inserted_indices(Indices::U32(vec![0, 1, 2, 0, 1, 99, 1, 3, 2]));
        let read = TriangleMesh::read(&list).unwrap();
        assert_eq!(read.triangles, [[0, 1, 2], [1, 3, 2]]);
        assert_eq!(read.out_of_range, 1);
    }
}
