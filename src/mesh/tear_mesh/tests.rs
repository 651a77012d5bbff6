//! Meshes that tear along with their cloth, and are restored.

use super::*;
use crate::{
    mesh::{ClothGrid, TriangleMesh},
    solver::topology::{Blade, EditTarget, TopologyEdit},
};
use bevy::math::{Mat3, Vec3};
use bevy::mesh::VertexAttributeValues;
use std::collections::BTreeSet;

struct Cloth {
    topology: Topology,
    binding: MeshBinding,
    mesh: Mesh,
    assembly: crate::mesh::Assembly,
    rest: Vec<Vec3>,
}

impl Cloth {
    fn new(mut mesh: Mesh) -> Self {
        let source = TriangleMesh::read(&mesh).unwrap();
        let topology = Topology::new(&source).unwrap();
        let binding = MeshBinding::new(&source, &topology, &mut mesh);
        Self {
            assembly: topology.assemble(Vec3::ZERO, Mat3::IDENTITY, 0.2),
            rest: topology.positions.to_vec(),
            topology,
            binding,
            mesh,
        }
    }

    fn edit(&mut self, work: impl FnOnce(&mut TopologyEdit)) {
        let mut edit = TopologyEdit::new(EditTarget {
            particles: &mut self.assembly.particles,
            constraints: &mut self.assembly.constraints,
            triangles: &mut self.assembly.triangles,
            rest: &mut self.rest,
            edge_length: 1.0,
        });
        work(&mut edit);
        let changes = edit.finish();
        let result = self
            .binding
            .tear(&self.topology, &changes, Some(&mut self.mesh));
        result.unwrap();
        self.check();
    }

    fn cut(&mut self, x: f32, lean: f32) {
        let (from, to) = (
            Vec3::new(x - lean, 0.0, -9.0),
            Vec3::new(x + lean, 0.0, 9.0),
        );
        let blade = Blade::stroke(from, to, Vec3::Y);
        self.edit(|edit| {
            edit.cut(&blade, None, 10_000);
        });
    }

    /// Asserts that the mesh shows exactly the triangles of the cloth, and that every vertex is at the rest
    /// position of its particle.
    fn check(&self) {
        let read = TriangleMesh::read(&self.mesh).unwrap();
        assert_eq!(read.out_of_range, 0);
        assert_eq!(read.positions.len(), self.binding.vertex_to_particle.len());
        let sorted = |mut t: [u32; 3]| {
            t.sort_unstable();
            t
        };
        let shown: BTreeSet<_> = read
            .triangles
            .iter()
            .map(|t| sorted(t.map(|v| self.binding.vertex_to_particle.at(v))))
            .collect();
        let there: BTreeSet<_> = self.assembly.triangles.indices.iter().map(sorted).collect();
        assert_eq!(shown, there);
        for (v, position) in read.positions.iter().enumerate() {
            let particle = self.binding.vertex_to_particle.at(v as u32);
            let rest = self.rest[particle as usize];
            assert!(
                (*position - rest).length() < 1e-5,
                "vertex {v} at {position}, not {rest}"
            );
        }
    }

    fn write(&mut self) {
        let places: Vec<Vec3> = self.rest.clone();
        self.binding.write(&places, &mut self.mesh).unwrap();
    }
}

#[test]
fn a_cut_keeps_uvs_normals_tangents_and_colours() {
    let mut mesh = Mesh::from(ClothGrid::new(4.0, 4.0, 5, 5));
    let colours: Vec<_> = (0..25).map(|i| [(i % 5) as f32, 0.5, 0.0, 1.0]).collect();
    mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, colours);
    let mut cloth = Cloth::new(mesh);
    let whole = (cloth.mesh.clone(), cloth.binding.clone());
    cloth.cut(0.4, 0.3);
    cloth.cut(-0.7, -0.2);
    cloth.write();
    // A copy is restored to its original state.
    let (mut mesh, mut binding) = (cloth.mesh.clone(), cloth.binding.clone());
    binding.restore(Some(&mut mesh)).unwrap();
    binding.write(&cloth.topology.positions, &mut mesh).unwrap();
    let mut before = whole;
    before
        .1
        .write(&cloth.topology.positions, &mut before.0)
        .unwrap();
    assert_eq!(binding, before.1);
    let indices = |mesh: &Mesh| mesh.indices().unwrap().iter().collect::<Vec<_>>();
    assert_eq!(indices(&mesh), indices(&before.0));
    for (attribute, values) in before.0.attributes() {
        let restored = mesh.attribute(attribute.id).unwrap();
        assert_eq!(
            restored.get_bytes(),
            values.get_bytes(),
            "{}",
            attribute.name
        );
    }
    let read = TriangleMesh::read(&cloth.mesh).unwrap();
    let Some(VertexAttributeValues::Float32x2(uvs)) = cloth.mesh.attribute(Mesh::ATTRIBUTE_UV_0)
    else {
        panic!("no UVs");
    };
    let Some(VertexAttributeValues::Float32x4(colours)) =
        cloth.mesh.attribute(Mesh::ATTRIBUTE_COLOR)
    else {
        panic!("no colours");
    };
    let Some(VertexAttributeValues::Float32x4(tangents)) =
        cloth.mesh.attribute(Mesh::ATTRIBUTE_TANGENT)
    else {
        panic!("no tangents");
    };
    let normals = cloth.mesh.attribute(Mesh::ATTRIBUTE_NORMAL).unwrap();
    let normals = normals.as_float3().unwrap();
    for (v, position) in read.positions.iter().enumerate() {
        // UVs and colours both follow the position: the sheet is 4 m wide, with five vertices in a row.
        let expected = Vec2::new(position.x + 2.0, position.z + 2.0) / 4.0;
        assert!(
            (Vec2::from(uvs[v]) - expected).length() < 1e-5,
            "vertex {v}"
        );
        assert!(
            (colours[v][0] - (position.x + 2.0)).abs() < 1e-5,
            "vertex {v}"
        );
        assert!(
            (Vec3::from(normals[v]) - Vec3::Y).length() < 1e-5,
            "vertex {v}"
        );
        assert!(
            (tangents[v][0] - 1.0).abs() < 1e-5,
            "vertex {v}: {:?}",
            tangents[v]
        );
    }
}

#[test]
fn both_sides_of_a_two_sided_sheet_open_and_strips_become_lists() {
    let mut front = Mesh::from(ClothGrid::new(2.0, 2.0, 4, 4));
    let mut back = front.clone();
    back.invert_winding().unwrap();
    front.duplicate_vertices();
    back.duplicate_vertices();
    front.merge(&back).unwrap();
    let mut cloth = Cloth::new(front);
    cloth.cut(0.1, 0.2);
    cloth.edit(|edit| {
        edit.tear_across([5, 6], 1);
    });
    // The same area on each side, with the same winding.
    let read = TriangleMesh::read(&cloth.mesh).unwrap();
    let (mut up, mut down) = (0.0, 0.0);
    for t in &read.triangles {
        let [a, b, c] = t.map(|v| read.positions[v as usize]);
        let area = (b - a).cross(c - a).y * 0.5;
        if area > 0.0 { up += area } else { down -= area }
    }
    assert!(
        (up - 4.0).abs() < 1e-4 && (down - 4.0).abs() < 1e-4,
        "{up}, {down}"
    );

    let mut strip = Mesh::new(PrimitiveTopology::TriangleStrip, Default::default());
    let places: Vec<_> = (0..12)
        .map(|i| [(i % 2) as f32, 0.0, (i / 2) as f32])
        .collect();
    strip.insert_attribute(Mesh::ATTRIBUTE_POSITION, places);
    let mut cloth = Cloth::new(strip);
    cloth.edit(|edit| {
        assert!(edit.tear_across([4, 6], 1));
    });
    assert_eq!(
        cloth.mesh.primitive_topology(),
        PrimitiveTopology::TriangleList
    );
    assert_eq!(cloth.rest.len(), 14);
}
