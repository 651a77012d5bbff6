//! Opens a mesh where its cloth has opened: each side of a tear gets vertices of its own, which keep
//! the UVs, colours, tangents and skin weights of those they are copies of; along a cut, vertices
//! come between two others.

use super::{
    binding::MeshBinding,
    tangents::TangentWeights,
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
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Opened {
    /// Which triangle of the cloth each triangle of the mesh belongs to.
    faces: Vec<u32>,
    /// Counts of the whole mesh.
    whole_vertices: usize,
    whole_faces: usize,
    whole_groups: usize,
    /// Vertices that came, in their order.
    new: Vec<NewVertex>,
    /// The vertices, and the tangent, that triangles of the whole mesh had before they changed.
    whole: BTreeMap<usize, ([u32; 3], Option<[f32; 2]>)>,
}

impl Opened {
    /// Begins with a mesh that is still whole.
    fn new(binding: &MeshBinding, topology: &Topology) -> Self {
        let particles = |vertices: [u32; 3]| vertices.map(|v| binding.vertex_to_particle.at(v));
        let sorted = |mut corners: [u32; 3]| {
            corners.sort_unstable();
            corners
        };
        // The triangles of the cloth are those of the mesh in the same order, less what was there
        // twice. Only what is out of order has to be looked up.
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
            // One that touches fewer than three particles is no part of the cloth.
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
        opened.new.extend(&opening.new);
        self.bands = None;
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
        let mut triangles = std::mem::take(self.triangles.to_mut());
        let weights = self.tangent_weights.as_mut();
        let mut weights = weights.map(|weights| std::mem::take(weights.to_mut()));
        triangles.truncate(opened.whole_faces);
        if let Some(weights) = &mut weights {
            weights.truncate(opened.whole_faces);
        }
        for (face, (vertices, tangent)) in opened.whole {
            triangles[face] = vertices;
            if let (Some(weights), Some(tangent)) = (&mut weights, tangent) {
                weights[face] = tangent;
            }
        }
        // Whole, they take little memory.
        self.triangles = triangles.into();
        self.tangent_weights = weights.map(TangentWeights::by_kinds);
        self.bands = None;
        let Some(mesh) = mesh else {
            return Ok(());
        };
        for (_, values) in mesh.try_attributes_mut()? {
            resize(values, opened.whole_vertices);
        }
        self.write_indices(&[], mesh)
    }

    /// Opens it, or mends it, to be as another binding of the same mesh.
    pub(crate) fn become_like(
        &mut self,
        other: &Self,
        mesh: Option<&mut Mesh>,
    ) -> Result<(), MeshAccessError> {
        if self.opened == other.opened && self.triangles == other.triangles {
            return Ok(());
        }
        *self = other.to_save();
        let (Some(mesh), Some(opened)) = (mesh, &self.opened) else {
            return Ok(());
        };
        for (_, values) in mesh.try_attributes_mut()? {
            resize(values, opened.whole_vertices);
            opened.new.iter().for_each(|new| new.push(values));
        }
        self.write_indices(&[], mesh)
    }

    /// Whether it can be that of a torn cloth with so many particles and triangles: one from a file may
    /// be anything.
    pub(crate) fn is_sound(&self, particles: usize, triangles: usize) -> bool {
        let Some(opened) = &self.opened else {
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
            && opened.faces.len() == faces
            && opened.faces.iter().all(|of| *of == NO_PARTICLE || is_triangle(of))
            && opened.whole_faces <= faces
            && opened.whole_groups <= self.group_count
            && opened.whole_vertices + opened.new.len() == vertices
            && (opened.whole_vertices..).zip(&opened.new).all(|(number, new)| {
                new.between.iter().all(below(number))
            })
            && opened.whole.iter().all(|(&face, (corners, _))| {
                face < opened.whole_faces && corners.iter().all(below(opened.whole_vertices))
            })
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

    /// Puts pieces in the place of a triangle of the mesh.
    fn replace(
        &mut self,
        face: usize,
        replaced: &Replaced,
        opened: &mut Opened,
        opening: &mut Opening,
    ) {
        let vertices = self.triangles.at(face);
        // The particles that the vertices had before this operation.
        let particles = vertices.map(|v| self.vertex_to_particle.at(v));
        let corner_of = |k: usize| replaced.before.iter().position(|&p| p == particles[k]);
        let [Some(a), Some(b), Some(c)] = [0, 1, 2].map(corner_of) else {
            return;
        };
        // Corner of the cloth's triangle → corner of the mesh's.
        let mut to_face = [0; 3];
        (to_face[a], to_face[b], to_face[c]) = (0, 1, 2);
        let is_back = (b + 3 - a) % 3 == 2;
        let weights = self.tangent_weights.as_ref().map(|all| all.at(face));
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
                self.triangles.to_mut()[face] = corners;
                if let (Some(all), Some(tangent)) = (&mut self.tangent_weights, tangent) {
                    all.to_mut()[face] = tangent;
                }
            } else {
                self.triangles.to_mut().push(corners);
                opened.faces.push(piece.triangle);
                if let (Some(all), Some(tangent)) = (&mut self.tangent_weights, tangent) {
                    all.to_mut().push(tangent);
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
        if from == to && binding.vertex_to_particle.at(from) == particle {
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
mod tests;
