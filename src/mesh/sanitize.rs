//! Corrects meshes of users where they cannot be drawn.

use super::{direction::direction_or_up, read::TriangleMesh, tear_mesh::as_triangle_list};
use crate::solver::particles::is_within_reach;
use bevy::{
    math::Vec3,
    mesh::{Indices, Mesh, MeshVertexAttributeId, VertexAttributeValues},
};

/// Largest difference of the squared length of a direction from 1.
const TOLERANCE: f32 = 1e-3;

/// Removes triangles whose vertices do not exist, moves vertices that are not finite or beyond reach to the origin, as
/// [`TriangleMesh::read`] does, and gives normals and tangents unit length. In a mesh that was read, such vertices are in no
/// triangle.
pub(crate) fn sanitize_mesh(mesh: &mut Mesh) {
    remove_triangles_without_vertices(mesh);
    let Ok(attributes) = mesh.try_attributes_mut() else {
        return;
    };
    for (attribute, values) in attributes {
        normalize_directions(attribute.id, values, 0);
        if let VertexAttributeValues::Float32x3(positions) = values
            && attribute.id == Mesh::ATTRIBUTE_POSITION.id
        {
            for position in positions {
                if !is_within_reach((*position).into()) {
                    *position = [0.0; 3];
                }
            }
        }
    }
}

/// Removes triangles whose vertices do not exist: a renderer would read past the others.
fn remove_triangles_without_vertices(mesh: &mut Mesh) {
    let positions = mesh.try_attribute(Mesh::ATTRIBUTE_POSITION);
    let count = positions.map_or(0, VertexAttributeValues::len);
    let indices = mesh.try_indices();
    let is_missing = indices.is_ok_and(|all| all.iter().any(|index| index >= count));
    // Strips have an index that ends them.
    if is_missing
        && let Ok(read) = TriangleMesh::read(mesh)
        && read.out_of_range > 0
    {
        mesh.insert_indices(Indices::U32(read.triangles.concat()));
        *mesh = as_triangle_list(mesh);
    }
}

/// Gives normals or tangents from that vertex on unit length; upwards if they have no direction. Does nothing to other
/// attributes. The fourth number of a tangent is the handedness of the texture.
pub(super) fn normalize_directions(
    id: MeshVertexAttributeId,
    values: &mut VertexAttributeValues,
    first: usize,
) {
    let unit = |vector: &mut [f32]| {
        let direction = Vec3::from_slice(vector);
        let is_unit = (direction.length_squared() - 1.0).abs() < TOLERANCE;
        if !is_unit {
            direction_or_up(direction).write_to_slice(vector);
        }
    };
    match values {
        VertexAttributeValues::Float32x3(v) if id == Mesh::ATTRIBUTE_NORMAL.id => {
            v[first..].iter_mut().for_each(|v| unit(v));
        }
        VertexAttributeValues::Float32x4(v) if id == Mesh::ATTRIBUTE_TANGENT.id => {
            v[first..].iter_mut().for_each(|v| unit(v));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::ClothGrid;

    #[test]
    fn only_vertices_that_cannot_be_drawn_change() {
        let good = Mesh::from(ClothGrid::new(1.0, 1.0, 4, 4));
        let mut mesh = good.clone();
        sanitize_mesh(&mut mesh);
        let pairs = good.attributes().zip(mesh.attributes());
        for ((_, before), (_, after)) in pairs {
            assert_eq!(before.get_bytes(), after.get_bytes());
        }
        let far = vec![[f32::NAN, 0.0, 0.0], [1.0, 2.0, 3.0], [0.0, 1e30, 0.0]];
        let normals = vec![[f32::NAN; 3], [0.0, 0.0, 1e30], [0.0, 0.0, 2.0]];
        let tangents = vec![
            [0.0, 0.0, 0.0, -1.0],
            [14.0, 0.0, 0.0, 1.0],
            [f32::INFINITY; 4],
        ];
        mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, far);
        mesh.insert_attribute(Mesh::ATTRIBUTE_NORMAL, normals);
        mesh.insert_attribute(Mesh::ATTRIBUTE_TANGENT, tangents);
        sanitize_mesh(&mut mesh);
        let float3 = |id| mesh.attribute(id).unwrap().as_float3().unwrap().to_vec();
        assert_eq!(
            float3(Mesh::ATTRIBUTE_POSITION.id),
            [[0.0; 3], [1.0, 2.0, 3.0], [0.0; 3]]
        );
        let unit = |vector: [f32; 3]| (Vec3::from(vector).length() - 1.0).abs() < 1e-6;
        assert!(float3(Mesh::ATTRIBUTE_NORMAL.id).into_iter().all(unit));
        let Some(VertexAttributeValues::Float32x4(tangents)) =
            mesh.attribute(Mesh::ATTRIBUTE_TANGENT)
        else {
            panic!("no tangents");
        };
        assert!(tangents.iter().all(|&[x, y, z, _]| unit([x, y, z])));
        assert_eq!([tangents[0][3], tangents[1][3]], [-1.0, 1.0]);
    }

    #[test]
    fn triangles_without_vertices_are_removed() {
        let mut mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 2, 2));
        mesh.insert_indices(Indices::U16(vec![0, 1, 2, 1, 2, 4, 1, 3, 2]));
        sanitize_mesh(&mut mesh);
        let indices: Vec<_> = mesh.indices().unwrap().iter().collect();
        assert_eq!(indices, [0, 1, 2, 1, 3, 2]);
    }
}
