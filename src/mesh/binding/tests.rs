use super::*;
use crate::mesh::grid::ClothGrid;
use bevy::math::{Quat, Vec2, Vec4};

fn bound(mut mesh: Mesh) -> (Mesh, MeshBinding, Vec<Vec3>) {
    let source = TriangleMesh::read(&mesh).unwrap();
    let topology = Topology::new(&source).unwrap();
    let binding = MeshBinding::new(&source, &topology, &mut mesh);
    (mesh, binding, topology.positions.to_vec())
}

fn float3(mesh: &Mesh, attribute: bevy::mesh::MeshVertexAttribute) -> Vec<Vec3> {
    let values = mesh.attribute(attribute).unwrap().as_float3().unwrap();
    values.iter().map(|&v| Vec3::from(v)).collect()
}

#[test]
fn normals_and_tangents_turn_with_the_cloth() {
    let (mut mesh, mut binding, rest) = bound(ClothGrid::new(2.0, 2.0, 6, 6).into());
    let turn = Quat::from_rotation_z(0.7) * Quat::from_rotation_x(1.1);
    let moved: Vec<_> = rest.iter().map(|&p| turn * p + Vec3::splat(3.0)).collect();
    binding.write(&moved, &mut mesh).unwrap();
    for normal in float3(&mesh, Mesh::ATTRIBUTE_NORMAL) {
        assert!((normal - turn * Vec3::Y).length() < 1e-5);
    }
    let Some(VertexAttributeValues::Float32x4(tangents)) = mesh.attribute(Mesh::ATTRIBUTE_TANGENT)
    else {
        panic!("no tangents");
    };
    for &tangent in tangents {
        let expected = (turn * Vec3::X).extend(1.0);
        assert!((Vec4::from(tangent) - expected).length() < 1e-5);
    }
}

#[test]
fn other_attributes_do_not_change() {
    let mut mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 3, 3));
    let colours: Vec<_> = (0..9).map(|i| [i as f32, 0.0, 0.0, 1.0]).collect();
    mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, colours);
    let before = mesh.clone();
    let (mut mesh, mut binding, rest) = bound(mesh);
    let moved: Vec<_> = rest.iter().map(|p| p * 2.0).collect();
    binding.write(&moved, &mut mesh).unwrap();
    for attribute in [Mesh::ATTRIBUTE_COLOR, Mesh::ATTRIBUTE_UV_0] {
        assert_eq!(
            mesh.attribute(attribute).unwrap().get_bytes(),
            before.attribute(attribute).unwrap().get_bytes()
        );
    }
    assert_eq!(
        float3(&mesh, Mesh::ATTRIBUTE_POSITION)[8],
        Vec3::new(1.0, 0.0, 1.0)
    );
}

#[test]
fn stray_vertices_are_finite() {
    let mut mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 3, 3));
    let mut positions = float3(&mesh, Mesh::ATTRIBUTE_POSITION);
    positions.extend([Vec3::INFINITY, Vec3::NAN, Vec3::ONE]);
    mesh.remove_attribute(Mesh::ATTRIBUTE_NORMAL);
    mesh.remove_attribute(Mesh::ATTRIBUTE_UV_0);
    mesh.remove_attribute(Mesh::ATTRIBUTE_TANGENT);
    mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, positions);
    let (mut mesh, mut binding, rest) = bound(mesh);
    binding.write(&rest, &mut mesh).unwrap();
    for attribute in [Mesh::ATTRIBUTE_POSITION, Mesh::ATTRIBUTE_NORMAL] {
        let values = float3(&mesh, attribute);
        assert!(values.len() == 12 && values.iter().all(|value| value.is_finite()));
    }
    assert_eq!(
        float3(&mesh, Mesh::ATTRIBUTE_POSITION)[9..],
        [Vec3::ZERO, Vec3::ZERO, Vec3::ONE]
    );
}

#[test]
fn flat_shaded_meshes_become_smooth_and_two_sided_ones_keep_their_sides() {
    let mut mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 3, 3));
    let mut back = mesh.clone();
    back.invert_winding().unwrap();
    for sheet in [&mut mesh, &mut back] {
        sheet.duplicate_vertices();
        sheet.remove_attribute(Mesh::ATTRIBUTE_NORMAL);
    }
    mesh.merge(&back).unwrap();
    let (mut mesh, mut binding, rest) = bound(mesh);
    assert_eq!(rest.len(), 9);
    assert_eq!(binding.group_count, 18);
    // A roof over the middle column: the normal on its ridge must be the mean of both sides.
    let roof: Vec<_> = rest
        .iter()
        .map(|p| Vec3::new(p.x, 0.5 - p.x.abs(), p.z))
        .collect();
    binding.write(&roof, &mut mesh).unwrap();
    let positions = float3(&mesh, Mesh::ATTRIBUTE_POSITION);
    let normals = float3(&mesh, Mesh::ATTRIBUTE_NORMAL);
    let half = normals.len() / 2;
    for (i, (position, normal)) in positions.iter().zip(&normals).enumerate() {
        let side = if i < half { 1.0 } else { -1.0 };
        assert!(normal.y * side > 0.5, "vertex {i}: {normal}");
        if Vec2::new(position.x, position.z) == Vec2::ZERO {
            assert!(
                normal.x.abs() < 1e-5,
                "the normal on the ridge is tilted: {normal}"
            );
        }
    }
}
