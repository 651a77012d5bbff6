//! Writes a cloth back into its mesh: positions, smooth normals and, if the mesh has them, tangents. All other
//! attributes remain unchanged.

use super::{
    compact_indices::CompactIndices,
    direction::direction_or_up,
    read::TriangleMesh,
    sanitize::sanitize_mesh,
    shading::{
        RenderFrame, Shade, VertexSums, VertexWindows, add_to_corners, normalize, with_vertex_sums,
        write_units,
    },
    tangents::TangentWeights,
    tear_mesh::TornMesh,
    topology::{NO_PARTICLE, Topology},
};
use crate::solver::{Corners, ParticleArrays};
use bevy::{
    math::{Vec3, Vec3A},
    mesh::{Mesh, MeshAccessError, VertexAttributeValues},
};

/// Mapping from the particles of a cloth to the vertices of its mesh.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct MeshBinding {
    pub(super) vertex_to_particle: CompactIndices,
    pub(super) triangles: Corners,
    /// Vertices in the same group share a normal.
    pub(super) normal_group: CompactIndices,
    pub(super) group_count: usize,
    /// The tangent of each triangle as weights of its sides, if the mesh has tangents.
    pub(super) tangent_weights: Option<TangentWeights>,
    /// Changes since the mesh was intact, if it is torn.
    pub(super) torn: Option<Box<TornMesh>>,
    /// Vertex windows for shading; computed at the first write.
    #[cfg_attr(feature = "serialize", serde(skip))]
    pub(super) vertex_windows: Option<VertexWindows>,
}

/// Returns the normals of a mesh, if each of its `count` vertices has one.
pub(crate) fn normals_of(mesh: &Mesh, count: usize) -> Option<&Vec<[f32; 3]>> {
    match mesh.try_attribute(Mesh::ATTRIBUTE_NORMAL) {
        Ok(VertexAttributeValues::Float32x3(normals)) => {
            Some(normals).filter(|normals| normals.len() == count)
        }
        _ => None,
    }
}

impl MeshBinding {
    /// Binds a mesh to the topology found in it. Adds normals to a mesh without any, and corrects meshes of users where they cannot be drawn.
    pub fn new(source: &TriangleMesh, topology: &Topology, mesh: &mut Mesh) -> Self {
        sanitize_mesh(mesh);
        let faces = vertex_normals(source);
        let original = match normals_of(mesh, faces.len()) {
            Some(normals) => normals.iter().map(|&n| Vec3::from(n)).collect(),
            None => {
                let normals: Vec<_> = faces.iter().map(Vec3::to_array).collect();
                mesh.insert_attribute(Mesh::ATTRIBUTE_NORMAL, normals);
                faces
            }
        };
        let (normal_group, group_count) = normal_groups(topology, &original);
        let tangent_weights = match mesh.try_attribute(Mesh::ATTRIBUTE_TANGENT) {
            Ok(VertexAttributeValues::Float32x4(tangents))
                if tangents.len() == source.positions.len() =>
            {
                Some(TangentWeights::new(source, tangents))
            }
            _ => None,
        };
        // Usually vertices are particles, and both can share a list.
        let same = topology.vertex_to_particle.is_identity()
            && topology
                .triangles
                .iter()
                .eq(source.triangles.iter().copied());
        Self {
            vertex_to_particle: topology.vertex_to_particle.clone(),
            triangles: if same {
                topology.triangles.clone()
            } else {
                source.triangles.clone().into()
            },
            normal_group,
            group_count,
            tangent_weights,
            ..Self::default()
        }
    }

    /// Returns the particle of each vertex.
    pub fn vertex_to_particle(&self) -> &CompactIndices {
        &self.vertex_to_particle
    }

    /// Returns words for a fingerprint that differs between meshes with the same particles.
    pub(crate) fn fingerprint_words(&self) -> impl Iterator<Item = u64> + '_ {
        let corners = self.triangles.iter().flatten();
        let groups = self.normal_group.iter();
        let weights = self.tangent_weights.iter().flat_map(|w| w.iter().flatten());
        let counts = [self.triangles.len(), self.normal_group.len()].map(|count| count as u64);
        counts
            .into_iter()
            .chain(corners.chain(groups).map(u64::from))
            .chain(weights.map(|weight| weight.to_bits().into()))
    }

    /// Returns a copy without cached data.
    pub(crate) fn without_caches(&self) -> Self {
        Self {
            vertex_to_particle: self.vertex_to_particle.clone(),
            triangles: self.triangles.clone(),
            normal_group: self.normal_group.clone(),
            group_count: self.group_count,
            tangent_weights: self.tangent_weights.clone(),
            torn: self.torn.clone(),
            ..Self::default()
        }
    }

    /// Writes the cloth into its mesh, with particle positions in mesh space.
    pub fn write<P: Copy + Into<Vec3A>>(
        &mut self,
        particles: &[P],
        mesh: &mut Mesh,
    ) -> Result<(), MeshAccessError> {
        let mut attributes = MeshAttributes::find(mesh)?;
        let direct = self.vertices_are_particles(particles.len());
        if let Some(positions) = &mut attributes.positions {
            if direct {
                for (position, &source) in positions.iter_mut().zip(particles) {
                    *position = source.into().to_array();
                }
            } else {
                for (position, particle) in positions.iter_mut().zip(self.vertex_to_particle.iter())
                {
                    if let Some(&source) = particles.get(particle as usize) {
                        *position = source.into().to_array();
                    }
                }
            }
        }
        match attributes {
            MeshAttributes {
                positions: Some(positions),
                normals,
                tangents,
            } if direct && positions.len() == particles.len() => {
                self.shade_unwelded(positions, normals, tangents);
            }
            MeshAttributes {
                normals, tangents, ..
            } => self.shade(particles, normals, tangents),
        }
        Ok(())
    }

    /// Writes the cloth, interpolated and transformed by `frame`, into its mesh. Returns the low and high corner
    /// of the particles' bounding box, `None` without particles. `scratch` is a buffer for the positions, unused
    /// if vertices are particles.
    pub fn write_interpolated(
        &mut self,
        frame: &RenderFrame,
        particles: &ParticleArrays,
        scratch: &mut Vec<Vec3A>,
        mesh: &mut Mesh,
    ) -> Result<Option<(Vec3, Vec3)>, MeshAccessError> {
        if self.vertices_are_particles(particles.len())
            && let MeshAttributes {
                positions: Some(positions),
                normals,
                tangents,
            } = MeshAttributes::find(mesh)?
            && positions.len() == particles.len()
        {
            let bounds = frame.transform_into(particles, positions);
            self.shade_unwelded(positions, normals, tangents);
            return Ok(bounds);
        }
        let bounds = frame.transform(particles, scratch);
        self.write(scratch, mesh)?;
        Ok(bounds)
    }

    /// Returns whether vertices are particles, i.e. nothing was welded or torn.
    fn vertices_are_particles(&self, particles: usize) -> bool {
        self.vertex_to_particle.is_identity()
            && self.normal_group.is_identity()
            && self.vertex_to_particle.len() == self.group_count
            && self.group_count <= particles
    }

    /// Writes normals and tangents of a mesh whose vertices are particles.
    fn shade_unwelded(
        &mut self,
        positions: &[[f32; 3]],
        normals: Option<&mut [[f32; 3]]>,
        tangents: Option<&mut [[f32; 4]]>,
    ) {
        let vertices = self.group_count;
        let vertex_windows = self
            .vertex_windows
            .get_or_insert_with(|| VertexWindows::new(&self.triangles, vertices));
        let weights = self.tangent_weights.as_ref();
        with_vertex_sums(|sums| {
            Shade {
                triangles: &self.triangles,
                vertex_windows,
                positions,
                weights: weights.filter(|_| tangents.is_some()),
                sums,
                normals,
                tangents: tangents
                    .filter(|tangents| weights.is_some() && tangents.len() == vertices),
            }
            .run();
        });
    }

    /// Writes normals and tangents of any mesh.
    fn shade<P: Copy + Into<Vec3A>>(
        &self,
        particles: &[P],
        normals: Option<&mut [[f32; 3]]>,
        tangents: Option<&mut [[f32; 4]]>,
    ) {
        with_vertex_sums(|VertexSums { normal, tangent }| {
            self.sum_normals(particles, normal);
            if let Some(normals) = normals {
                let groups = self.normal_group.iter();
                let units = groups.map(|group| normal[group as usize]);
                write_units(normals.iter_mut(), units);
            }
            if let (Some(weights), Some(tangents)) = (&self.tangent_weights, tangents) {
                tangent.clear();
                tangent.resize(tangents.len(), Vec3A::ZERO);
                self.sum_tangents(particles, weights, normal, tangent);
                write_units(tangents.iter_mut(), tangent.iter().copied());
            }
        });
    }

    /// Computes the normal of every normal group: the area-weighted sum over its triangles, normalized.
    fn sum_normals<P: Copy + Into<Vec3A>>(&self, particles: &[P], sums: &mut Vec<Vec3A>) {
        let (of, group) = (&self.vertex_to_particle, &self.normal_group);
        sums.clear();
        sums.resize(self.group_count, Vec3A::ZERO);
        add_to_corners(
            particles,
            &self.triangles,
            |v| of.at(v),
            |v| group.at(v),
            sums,
            |_, [a, b, c]| (b - a).cross(c - a),
        );
        normalize(sums);
    }

    /// Computes the tangent of every vertex: the sum over its triangles, orthogonalized to its normal.
    fn sum_tangents<P: Copy + Into<Vec3A>>(
        &self,
        particles: &[P],
        weights: &TangentWeights,
        group_normals: &[Vec3A],
        sums: &mut [Vec3A],
    ) {
        let of = &self.vertex_to_particle;
        add_to_corners(
            particles,
            &self.triangles,
            |v| of.at(v),
            |v| v,
            sums,
            |number, [a, b, c]| {
                let [along_ab, along_ac] = weights.at(number);
                (b - a) * along_ab + (c - a) * along_ac
            },
        );
        for (sum, group) in sums.iter_mut().zip(self.normal_group.iter()) {
            let normal = group_normals[group as usize];
            *sum -= normal * normal.dot(*sum);
        }
        normalize(sums);
    }
}

/// The attributes of a mesh written in every frame, where present and in the usual format.
#[derive(Default)]
pub(super) struct MeshAttributes<'a> {
    pub(super) positions: Option<&'a mut [[f32; 3]]>,
    pub(super) normals: Option<&'a mut [[f32; 3]]>,
    pub(super) tangents: Option<&'a mut [[f32; 4]]>,
}

impl<'a> MeshAttributes<'a> {
    pub(super) fn find(mesh: &'a mut Mesh) -> Result<Self, MeshAccessError> {
        use VertexAttributeValues::{Float32x3, Float32x4};
        let mut attributes = Self::default();
        for (attribute, values) in mesh.try_attributes_mut()? {
            let id = attribute.id;
            match values {
                Float32x3(values) => {
                    if id == Mesh::ATTRIBUTE_POSITION.id {
                        attributes.positions = Some(values);
                    } else if id == Mesh::ATTRIBUTE_NORMAL.id {
                        attributes.normals = Some(values);
                    }
                }
                Float32x4(values) if id == Mesh::ATTRIBUTE_TANGENT.id => {
                    attributes.tangents = Some(values);
                }
                _ => {}
            }
        }
        Ok(attributes)
    }
}

/// Computes normals from the triangles of each vertex alone.
fn vertex_normals(mesh: &TriangleMesh) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; mesh.positions.len()];
    for corners in &mesh.triangles {
        let [a, b, c] = corners.map(|v| mesh.positions[v as usize]);
        let normal = (b - a).cross(c - a);
        for &vertex in corners {
            normals[vertex as usize] += normal;
        }
    }
    normals.into_iter().map(direction_or_up).collect()
}

/// Groups the vertices of each particle by the side they face. Cloth is smooth, so all vertices of a particle
/// share a normal, except those on the other side of a two-sided mesh.
fn normal_groups(topology: &Topology, normals: &[Vec3]) -> (CompactIndices, usize) {
    // At most two sides per particle: the first normal found, and normals that oppose it.
    let particles = topology.positions.len();
    let mut front: Vec<Option<(Vec3, u32)>> = vec![None; particles];
    let mut back: Vec<Option<u32>> = vec![None; particles];
    let mut outside = None;
    let mut count = 0;
    let mut new_group = || {
        count += 1;
        count - 1
    };
    let groups = topology
        .vertex_to_particle
        .iter()
        .zip(normals)
        .map(|(particle, &normal)| {
            // Vertices outside the cloth share one group, to which no triangle contributes.
            if particle == NO_PARTICLE {
                return *outside.get_or_insert_with(&mut new_group);
            }
            let particle = particle as usize;
            let (first, group) = *front[particle].get_or_insert_with(|| (normal, new_group()));
            if normal.dot(first) > -0.5 {
                group
            } else {
                *back[particle].get_or_insert_with(&mut new_group)
            }
        })
        .collect();
    (groups, count as usize)
}

#[cfg(test)]
mod tests;
