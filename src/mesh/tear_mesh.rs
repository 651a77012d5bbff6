//! Tears a mesh along with its cloth: each side of a tear gets its own vertices, which copy the UVs, colours,
//! tangents and skin weights of their source vertices; cuts insert vertices between two others.

use super::{
    binding::MeshBinding,
    tangents::TangentWeights,
    topology::{NO_PARTICLE, Topology},
    vertex::{NewVertex, append},
};
use crate::solver::topology::{BoundaryPoint, TopologyChanges, TrianglePiece, TriangleReplacement};
use bevy::{
    math::Vec2,
    mesh::{Indices, Mesh, MeshAccessError, PrimitiveTopology},
};
use std::collections::BTreeMap;

/// Changes of a torn mesh since it was intact.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct TornMesh {
    /// The cloth triangle of each mesh triangle.
    faces: Vec<u32>,
    /// Counts of the intact mesh.
    whole_vertices: usize,
    whole_faces: usize,
    whole_groups: usize,
    /// The new vertices, in the order of their numbers.
    new: Vec<NewVertex>,
    /// Original vertices and tangent weights of the triangles of the intact mesh that have changed.
    whole: BTreeMap<usize, ([u32; 3], Option<[f32; 2]>)>,
}

impl TornMesh {
    /// Creates the state of a mesh that is still intact.
    fn new(binding: &MeshBinding, topology: &Topology) -> Self {
        let particles = |vertices: [u32; 3]| vertices.map(|v| binding.vertex_to_particle.at(v));
        let sorted = |mut corners: [u32; 3]| {
            corners.sort_unstable();
            corners
        };
        // The triangles of the cloth are those of the mesh in the same order, without duplicates. Only triangles
        // out of order have to be looked up.
        let mut by_corners = None;
        let mut next = 0;
        let find = |vertices: [u32; 3]| {
            let corners = particles(vertices);
            if next < topology.triangles.len() && topology.triangles.at(next) == corners {
                next += 1;
                return next as u32 - 1;
            }
            let all = by_corners.get_or_insert_with(|| {
                let all = (0_u32..).zip(topology.triangles.iter());
                all.map(|(t, c)| (sorted(c), t)).collect::<BTreeMap<_, _>>()
            });
            // A triangle with fewer than three distinct particles is not part of the cloth.
            all.get(&sorted(corners)).copied().unwrap_or(NO_PARTICLE)
        };
        Self {
            faces: binding.triangles.iter().map(find).collect(),
            whole_vertices: binding.vertex_to_particle.len(),
            whole_faces: binding.triangles.len(),
            whole_groups: binding.group_count,
            new: Vec::new(),
            whole: BTreeMap::new(),
        }
    }
}

impl MeshBinding {
    /// Tears the mesh along with the cloth. `topology` is that of the intact cloth. Without a mesh, only the
    /// binding is updated.
    pub fn tear(
        &mut self,
        topology: &Topology,
        changes: &TopologyChanges,
        mesh: Option<&mut Mesh>,
    ) -> Result<(), MeshAccessError> {
        let torn = self.torn.take();
        let mut torn = torn.unwrap_or_else(|| Box::new(TornMesh::new(self, topology)));
        let mut new_vertices = NewVertices {
            old_vertices: self.vertex_to_particle.len(),
            new: Vec::new(),
            known: BTreeMap::new(),
            groups: BTreeMap::new(),
        };
        // The replacement of each cloth triangle, by its number.
        let mut change_of: Vec<Option<&TriangleReplacement>> = Vec::new();
        for replaced in &changes.replaced {
            let triangle = replaced.triangle as usize;
            change_of.resize(change_of.len().max(triangle + 1), None);
            change_of[triangle] = Some(replaced);
        }
        let mut touched = Vec::new();
        for face in 0..self.triangles.len() {
            let change = change_of.get(torn.faces[face] as usize);
            if let Some(replaced) = change.copied().flatten() {
                self.replace(face, replaced, &mut torn, &mut new_vertices);
                touched.push(face);
            }
        }
        torn.new.extend(&new_vertices.new);
        self.vertex_windows = None;
        self.torn = Some(torn);

        let Some(mesh) = mesh else {
            return Ok(());
        };
        append(mesh, new_vertices.old_vertices, &new_vertices.new)?;
        self.write_indices(&touched, mesh)
    }

    /// Restores the intact binding and, if given, the mesh.
    pub fn restore(&mut self, mesh: Option<&mut Mesh>) -> Result<(), MeshAccessError> {
        let Some(torn) = self.torn.take() else {
            return Ok(());
        };
        self.vertex_to_particle.truncate(torn.whole_vertices);
        self.normal_group.truncate(torn.whole_vertices);
        self.group_count = torn.whole_groups;
        let mut triangles = std::mem::take(self.triangles.to_mut());
        let weights = self.tangent_weights.as_mut();
        let mut weights = weights.map(|weights| std::mem::take(weights.to_mut()));
        triangles.truncate(torn.whole_faces);
        if let Some(weights) = &mut weights {
            weights.truncate(torn.whole_faces);
        }
        for (face, (vertices, tangent)) in torn.whole {
            triangles[face] = vertices;
            if let (Some(weights), Some(tangent)) = (&mut weights, tangent) {
                weights[face] = tangent;
            }
        }
        // Compressed again, as for an intact mesh.
        self.triangles = triangles.into();
        self.tangent_weights = weights.map(TangentWeights::compress);
        self.vertex_windows = None;
        let Some(mesh) = mesh else {
            return Ok(());
        };
        append(mesh, torn.whole_vertices, &[])?;
        self.write_indices(&[], mesh)
    }

    /// Tears or restores the mesh to the state of another binding of the same mesh.
    pub(crate) fn copy_state_from(
        &mut self,
        other: &Self,
        mesh: Option<&mut Mesh>,
    ) -> Result<(), MeshAccessError> {
        if self.torn == other.torn && self.triangles == other.triangles {
            return Ok(());
        }
        *self = other.without_caches();
        let (Some(mesh), Some(torn)) = (mesh, &self.torn) else {
            return Ok(());
        };
        append(mesh, torn.whole_vertices, &torn.new)?;
        self.write_indices(&[], mesh)
    }

    /// Returns whether a binding read from a file is valid for a torn cloth with this number of particles and
    /// triangles.
    pub(crate) fn is_valid(&self, particles: usize, triangles: usize) -> bool {
        let Some(torn) = &self.torn else {
            return false;
        };
        let vertices = self.vertex_to_particle.len();
        let below = |count: usize| move |&number: &u32| (number as usize) < count;
        let is_one = below(particles);
        let is_triangle = below(triangles);
        let (faces, weights) = (self.triangles.len(), &self.tangent_weights);
        let mut particles_of = self.vertex_to_particle.iter();
        particles_of.all(|of| of == NO_PARTICLE || is_one(&of))
            && self.normal_group.len() == vertices
            && self.normal_group.iter().all(|group| below(self.group_count)(&group))
            // Each group has a vertex.
            && self.group_count <= vertices
            && self.triangles.iter().flatten().all(|vertex| {
                let particle = self.vertex_to_particle.get(vertex as usize);
                particle.is_some_and(|particle| particle != NO_PARTICLE)
            })
            && weights.as_ref().is_none_or(|weights| weights.len() == faces)
            && torn.faces.len() == faces
            && torn.faces.iter().all(|of| *of == NO_PARTICLE || is_triangle(of))
            && torn.whole_faces <= faces
            && torn.whole_groups <= self.group_count
            && torn.whole_vertices + torn.new.len() == vertices
            && (torn.whole_vertices..).zip(&torn.new).all(|(number, new)| {
                new.between.iter().all(below(number))
            })
            && torn.whole.iter().all(|(&face, (corners, _))| {
                face < torn.whole_faces && corners.iter().all(below(torn.whole_vertices))
            })
    }

    /// Writes the indices: only those of changed and new triangles or, if the mesh has indices in another format,
    /// all.
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
                    indices[3 * face..3 * face + 3].copy_from_slice(&self.triangles.at(face));
                }
                let known = indices.len() / 3;
                let new = (known..self.triangles.len()).map(|face| self.triangles.at(face));
                indices.extend(new.flatten());
            }
            _ => {
                let all = self.triangles.iter().flatten().collect();
                mesh.try_insert_indices(Indices::U32(all))?;
            }
        }
        if !is_list {
            *mesh = as_triangle_list(mesh);
        }
        Ok(())
    }

    /// Replaces a triangle of the mesh by pieces.
    fn replace(
        &mut self,
        face: usize,
        replaced: &TriangleReplacement,
        torn: &mut TornMesh,
        new_vertices: &mut NewVertices,
    ) {
        let vertices = self.triangles.at(face);
        // The particles of the vertices before this edit.
        let particles = vertices.map(|v| self.vertex_to_particle.at(v));
        let corner_of = |k: usize| {
            replaced
                .corners_before
                .iter()
                .position(|&p| p == particles[k])
        };
        let [Some(a), Some(b), Some(c)] = [0, 1, 2].map(corner_of) else {
            return;
        };
        // Corner of the cloth triangle → corner of the mesh triangle.
        let mut to_face = [0; 3];
        (to_face[a], to_face[b], to_face[c]) = (0, 1, 2);
        let is_back = (b + 3 - a) % 3 == 2;
        let weights = self.tangent_weights.as_ref().map(|all| all.at(face));
        if face < torn.whole_faces {
            torn.whole.entry(face).or_insert((vertices, weights));
        }
        for (number, piece) in replaced.pieces.iter().enumerate() {
            let order = if is_back { [0, 2, 1] } else { [0, 1, 2] };
            let corners = order.map(|k| new_vertices.vertex(self, vertices, to_face, piece, k));
            let tangent = weights.map(|weights| {
                let places = order.map(|k| point_on_face(&piece.corners[k], to_face));
                tangent_of_piece(weights, places)
            });
            if number == 0 {
                self.triangles.to_mut()[face] = corners;
                if let (Some(all), Some(tangent)) = (&mut self.tangent_weights, tangent) {
                    all.to_mut()[face] = tangent;
                }
            } else {
                self.triangles.to_mut().push(corners);
                torn.faces.push(piece.triangle);
                if let (Some(all), Some(tangent)) = (&mut self.tangent_weights, tangent) {
                    all.to_mut().push(tangent);
                }
            }
        }
    }
}

/// The vertices created by one edit.
struct NewVertices {
    old_vertices: usize,
    new: Vec<NewVertex>,
    /// New vertices, by the vertices they lie between and their particle.
    known: BTreeMap<([u32; 2], u32), u32>,
    /// New normal groups, by their source group and their particle.
    groups: BTreeMap<(u32, u32), u32>,
}

impl NewVertices {
    /// Returns the vertex for a corner of a piece, and creates it if necessary.
    fn vertex(
        &mut self,
        binding: &mut MeshBinding,
        vertices: [u32; 3],
        to_face: [usize; 3],
        piece: &TrianglePiece,
        k: usize,
    ) -> u32 {
        let corner = piece.corners[k];
        let particle = piece.particles[k];
        let [from, to] = [corner.from, corner.to].map(|c| vertices[to_face[c as usize]]);
        if from == to && binding.vertex_to_particle.at(from) == particle {
            return from;
        }
        let (between, fraction) = if from <= to {
            ([from, to], corner.fraction)
        } else {
            ([to, from], 1.0 - corner.fraction)
        };
        if let Some(&known) = self.known.get(&(between, particle)) {
            return known;
        }
        let vertex = binding.vertex_to_particle.len() as u32;
        debug_assert_eq!(vertex as usize, self.old_vertices + self.new.len());
        self.known.insert((between, particle), vertex);
        self.new.push(NewVertex { between, fraction });
        binding.vertex_to_particle.to_mut().push(particle);
        let groups = between.map(|v| binding.normal_group.at(v));
        let key = (groups[0].min(groups[1]), particle);
        let count = &mut binding.group_count;
        let group = *self.groups.entry(key).or_insert_with(|| {
            *count += 1;
            *count as u32 - 1
        });
        binding.normal_group.to_mut().push(group);
        vertex
    }
}

/// Returns a point on the mesh triangle, as weights of its sides ab and ac.
fn point_on_face(corner: &BoundaryPoint, to_face: [usize; 3]) -> Vec2 {
    let mut weights = [0.0; 3];
    for (weight, k) in corner.weights().into_iter().zip(to_face) {
        weights[k] = weight;
    }
    Vec2::new(weights[1], weights[2])
}

/// Converts a tangent from weights of a triangle's sides to weights of the sides of a piece.
fn tangent_of_piece(weights: [f32; 2], [a, b, c]: [Vec2; 3]) -> [f32; 2] {
    let (ab, ac) = (b - a, c - a);
    let tangent = Vec2::from(weights);
    let area = ab.perp_dot(ac);
    let tangent_of_piece = [tangent.perp_dot(ac) / area, ab.perp_dot(tangent) / area];
    if tangent_of_piece.iter().all(|w| w.is_finite()) {
        tangent_of_piece
    } else {
        [0.0; 2]
    }
}

/// Returns a triangle list with the same vertices and indices.
pub(super) fn as_triangle_list(mesh: &Mesh) -> Mesh {
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
mod tests;
