//! Opens a mesh where its cloth has opened: each side of a tear gets vertices of its own, which keep
//! the UVs, colours, tangents and skin weights of those they are copies of; along a cut, vertices
//! come between two others.

use super::{
    binding::MeshBinding,
    topology::{NO_PARTICLE, Topology},
    vertex::{NewVertex, resize},
};
use crate::solver::tear::{Changes, Corner, Piece, Replaced};
use bevy::{
    math::Vec2,
    mesh::{Indices, Mesh, MeshAccessError, PrimitiveTopology},
};
use std::collections::BTreeMap;

/// What has to be known of a mesh that has been opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Opened {
    /// Which triangle of the cloth each triangle of the mesh belongs to.
    faces: Vec<u32>,
    /// Counts of the whole mesh.
    whole_vertices: usize,
    whole_faces: usize,
    whole_groups: usize,
    /// The vertices, and the tangent, that triangles of the whole mesh had before they changed.
    whole: BTreeMap<usize, ([u32; 3], Option<[f32; 2]>)>,
}

impl Opened {
    /// Begins with a mesh that is still whole.
    fn new(binding: &MeshBinding, topology: &Topology) -> Self {
        let particles =
            |vertices: &[u32; 3]| vertices.map(|v| binding.vertex_to_particle[v as usize]);
        let sorted = |mut corners: [u32; 3]| {
            corners.sort_unstable();
            corners
        };
        // The triangles of the cloth are those of the mesh in the same order, less what was there
        // twice. Only what is out of order has to be looked up.
        let mut by_corners = None;
        let mut next = 0;
        let find = |vertices: &[u32; 3]| {
            let corners = particles(vertices);
            if topology.triangles.get(next) == Some(&corners) {
                next += 1;
                return next as u32 - 1;
            }
            let all = by_corners.get_or_insert_with(|| {
                let all = (0_u32..).zip(&topology.triangles);
                all.map(|(t, &c)| (sorted(c), t))
                    .collect::<BTreeMap<_, _>>()
            });
            // One that touches fewer than three particles is no part of the cloth.
            all.get(&sorted(corners)).copied().unwrap_or(NO_PARTICLE)
        };
        Self {
            faces: binding.triangles.iter().map(find).collect(),
            whole_vertices: binding.vertex_to_particle.len(),
            whole_faces: binding.triangles.len(),
            whole_groups: binding.group_count,
            whole: BTreeMap::new(),
        }
    }
}

impl MeshBinding {
    /// Opens the mesh where the cloth has opened. `topology` is that of the cloth when it was whole. A
    /// mesh that is not there, because somebody has taken it away, cannot be opened.
    pub fn open(
        &mut self,
        topology: &Topology,
        changes: &Changes,
        mesh: Option<&mut Mesh>,
    ) -> Result<(), MeshAccessError> {
        let opened = self.opened.take();
        let mut opened = opened.unwrap_or_else(|| Box::new(Opened::new(self, topology)));
        let mut opening = Opening {
            old_vertices: self.vertex_to_particle.len(),
            new: Vec::new(),
            known: BTreeMap::new(),
            groups: BTreeMap::new(),
        };
        // The change of each triangle, by its number.
        let mut change_of: Vec<Option<&Replaced>> = Vec::new();
        for replaced in &changes.replaced {
            let triangle = replaced.triangle as usize;
            change_of.resize(change_of.len().max(triangle + 1), None);
            change_of[triangle] = Some(replaced);
        }
        let mut touched = Vec::new();
        for face in 0..self.triangles.len() {
            let change = change_of.get(opened.faces[face] as usize);
            if let Some(replaced) = change.copied().flatten() {
                self.replace(face, replaced, &mut opened, &mut opening);
                touched.push(face);
            }
        }
        self.opened = Some(opened);

        let Some(mesh) = mesh else {
            return Ok(());
        };
        for (_, values) in mesh.try_attributes_mut()? {
            // Bevy lets attributes be longer or shorter than the positions.
            resize(values, opening.old_vertices);
            opening.new.iter().for_each(|new| new.push(values));
        }
        self.write_indices(&touched, mesh)
    }

    /// Makes the mesh whole again, if it is there.
    pub fn mend(&mut self, mesh: Option<&mut Mesh>) -> Result<(), MeshAccessError> {
        let Some(opened) = self.opened.take() else {
            return Ok(());
        };
        self.vertex_to_particle.truncate(opened.whole_vertices);
        self.normal_group.truncate(opened.whole_vertices);
        self.group_count = opened.whole_groups;
        self.triangles.truncate(opened.whole_faces);
        if let Some(weights) = &mut self.tangent_weights {
            weights.truncate(opened.whole_faces);
        }
        for (face, (vertices, tangent)) in opened.whole {
            self.triangles[face] = vertices;
            if let (Some(weights), Some(tangent)) = (&mut self.tangent_weights, tangent) {
                weights[face] = tangent;
            }
        }
        let Some(mesh) = mesh else {
            return Ok(());
        };
        for (_, values) in mesh.try_attributes_mut()? {
            resize(values, opened.whole_vertices);
        }
        self.write_indices(&[], mesh)
    }

    /// Writes the indices: those of the triangles that have changed and of those that came, or, where
    /// the mesh has other indices, all.
    fn write_indices(&self, touched: &[usize], mesh: &mut Mesh) -> Result<(), MeshAccessError> {
        let is_list = mesh.primitive_topology() == PrimitiveTopology::TriangleList;
        match mesh.try_indices_mut_option()? {
            Some(Indices::U32(indices))
                if is_list
                    && !touched.is_empty()
                    && indices.len().is_multiple_of(3)
                    && indices.len() <= self.triangles.len() * 3 =>
            {
                for &face in touched {
                    indices[3 * face..3 * face + 3].copy_from_slice(&self.triangles[face]);
                }
                let new = &self.triangles[indices.len() / 3..];
                indices.extend(new.as_flattened());
            }
            _ => {
                let all = self.triangles.as_flattened().to_vec();
                mesh.try_insert_indices(Indices::U32(all))?;
            }
        }
        if !is_list {
            *mesh = as_triangle_list(mesh);
        }
        Ok(())
    }

    /// Puts pieces in the place of a triangle of the mesh.
    fn replace(
        &mut self,
        face: usize,
        replaced: &Replaced,
        opened: &mut Opened,
        opening: &mut Opening,
    ) {
        let vertices = self.triangles[face];
        // The particles that the vertices had before this operation.
        let particles = vertices.map(|v| self.vertex_to_particle[v as usize]);
        let corner_of = |k: usize| replaced.before.iter().position(|&p| p == particles[k]);
        let [Some(a), Some(b), Some(c)] = [0, 1, 2].map(corner_of) else {
            return;
        };
        // Corner of the cloth's triangle → corner of the mesh's.
        let mut to_face = [0; 3];
        (to_face[a], to_face[b], to_face[c]) = (0, 1, 2);
        let is_back = (b + 3 - a) % 3 == 2;
        let weights = self.tangent_weights.as_ref().map(|all| all[face]);
        if face < opened.whole_faces {
            opened.whole.entry(face).or_insert((vertices, weights));
        }
        for (number, piece) in replaced.pieces.iter().enumerate() {
            let order = if is_back { [0, 2, 1] } else { [0, 1, 2] };
            let corners = order.map(|k| opening.vertex(self, vertices, to_face, piece, k));
            let tangent = weights.map(|weights| {
                let places = order.map(|k| on_face(&piece.corners[k], to_face));
                turned(weights, places)
            });
            if number == 0 {
                self.triangles[face] = corners;
                if let (Some(all), Some(tangent)) = (&mut self.tangent_weights, tangent) {
                    all[face] = tangent;
                }
            } else {
                self.triangles.push(corners);
                opened.faces.push(piece.triangle);
                if let (Some(all), Some(tangent)) = (&mut self.tangent_weights, tangent) {
                    all.push(tangent);
                }
            }
        }
    }
}

/// The vertices that an operation makes.
struct Opening {
    old_vertices: usize,
    new: Vec<NewVertex>,
    /// New vertices by what they lie between and the particle they belong to.
    known: BTreeMap<([u32; 2], u32), u32>,
    /// New normal groups by the one they come from and the particle.
    groups: BTreeMap<(u32, u32), u32>,
}

impl Opening {
    /// The vertex for a corner of a piece.
    fn vertex(
        &mut self,
        binding: &mut MeshBinding,
        vertices: [u32; 3],
        to_face: [usize; 3],
        piece: &Piece,
        k: usize,
    ) -> u32 {
        let corner = piece.corners[k];
        let particle = piece.particles[k];
        let [from, to] = [corner.from, corner.to].map(|c| vertices[to_face[c as usize]]);
        if from == to && binding.vertex_to_particle[from as usize] == particle {
            return from;
        }
        let (between, share) = if from <= to {
            ([from, to], corner.share)
        } else {
            ([to, from], 1.0 - corner.share)
        };
        if let Some(&known) = self.known.get(&(between, particle)) {
            return known;
        }
        let vertex = binding.vertex_to_particle.len() as u32;
        debug_assert_eq!(vertex as usize, self.old_vertices + self.new.len());
        self.known.insert((between, particle), vertex);
        self.new.push(NewVertex { between, share });
        binding.vertex_to_particle.push(particle);
        let groups = between.map(|v| binding.normal_group[v as usize]);
        let key = (groups[0].min(groups[1]), particle);
        let count = &mut binding.group_count;
        let group = *self.groups.entry(key).or_insert_with(|| {
            *count += 1;
            *count as u32 - 1
        });
        binding.normal_group.push(group);
        vertex
    }
}

/// A place on the triangle of the mesh, as shares of its sides ab and ac.
fn on_face(corner: &Corner, to_face: [usize; 3]) -> Vec2 {
    let mut weights = [0.0; 3];
    for (weight, place) in corner.weights().into_iter().zip(to_face) {
        weights[place] = weight;
    }
    Vec2::new(weights[1], weights[2])
}

/// A tangent in terms of the sides of a triangle, in terms of the sides of a part of it.
fn turned(weights: [f32; 2], [a, b, c]: [Vec2; 3]) -> [f32; 2] {
    let (ab, ac) = (b - a, c - a);
    let tangent = Vec2::from(weights);
    let area = ab.perp_dot(ac);
    let turned = [tangent.perp_dot(ac) / area, ab.perp_dot(tangent) / area];
    if turned.iter().all(|w| w.is_finite()) {
        turned
    } else {
        [0.0; 2]
    }
}

/// The same vertices and indices, drawn as separate triangles.
pub(crate) fn as_triangle_list(mesh: &Mesh) -> Mesh {
    let mut list = Mesh::new(PrimitiveTopology::TriangleList, mesh.asset_usage);
    for (attribute, values) in mesh.attributes() {
        list.insert_attribute(*attribute, values.clone());
    }
    if let Some(indices) = mesh.indices() {
        list.insert_indices(indices.clone());
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mesh::{ClothGrid, TriangleMesh},
        solver::tear::{Blade, Sheet, Surgery},
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
                rest: topology.positions.clone(),
                topology,
                binding,
                mesh,
            }
        }

        fn operate(&mut self, work: impl FnOnce(&mut Surgery)) {
            let mut surgery = Surgery::new(Sheet {
                particles: &mut self.assembly.particles,
                constraints: &mut self.assembly.constraints,
                triangles: &mut self.assembly.triangles,
                rest: &mut self.rest,
                edge_length: 1.0,
            });
            work(&mut surgery);
            let changes = surgery.finish();
            let opened = self
                .binding
                .open(&self.topology, &changes, Some(&mut self.mesh));
            opened.unwrap();
            self.check();
        }

        fn cut(&mut self, x: f32, lean: f32) {
            let (from, to) = (
                Vec3::new(x - lean, 0.0, -9.0),
                Vec3::new(x + lean, 0.0, 9.0),
            );
            let blade = Blade::stroke(from, to, Vec3::Y);
            self.operate(|surgery| {
                surgery.cut(&blade, None, 10_000);
            });
        }

        /// The mesh must show exactly the triangles of the cloth, and every vertex must lie where its
        /// particle is at rest.
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
                .map(|t| sorted(t.map(|v| self.binding.vertex_to_particle[v as usize])))
                .collect();
            let there: BTreeSet<_> = self
                .assembly
                .triangles
                .indices
                .iter()
                .map(|&t| sorted(t))
                .collect();
            assert_eq!(shown, there);
            for (v, place) in read.positions.iter().enumerate() {
                let particle = self.binding.vertex_to_particle[v];
                let rest = self.rest[particle as usize];
                assert!(
                    (*place - rest).length() < 1e-5,
                    "vertex {v} at {place}, not {rest}"
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
        // A copy is mended to what it was.
        let (mut mesh, mut binding) = (cloth.mesh.clone(), cloth.binding.clone());
        binding.mend(Some(&mut mesh)).unwrap();
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
            let mended = mesh.attribute(attribute.id).unwrap();
            assert_eq!(mended.get_bytes(), values.get_bytes(), "{}", attribute.name);
        }
        let read = TriangleMesh::read(&cloth.mesh).unwrap();
        let Some(VertexAttributeValues::Float32x2(uvs)) =
            cloth.mesh.attribute(Mesh::ATTRIBUTE_UV_0)
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
        for (v, place) in read.positions.iter().enumerate() {
            // Both follow the place: the sheet is 4 m wide, five vertices in a row.
            let expected = Vec2::new(place.x + 2.0, place.z + 2.0) / 4.0;
            assert!(
                (Vec2::from(uvs[v]) - expected).length() < 1e-5,
                "vertex {v}"
            );
            assert!((colours[v][0] - (place.x + 2.0)).abs() < 1e-5, "vertex {v}");
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
        cloth.operate(|surgery| {
            surgery.tear_across([5, 6], 1);
        });
        // As many of each side, and facing the way they did.
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
        cloth.operate(|surgery| {
            assert!(surgery.tear_across([4, 6], 1));
        });
        assert_eq!(
            cloth.mesh.primitive_topology(),
            PrimitiveTopology::TriangleList
        );
        assert_eq!(cloth.rest.len(), 14);
    }
}
