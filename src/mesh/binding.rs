//! Writes a cloth back into its mesh: positions, smooth normals and, where the mesh has them,
//! tangents. All other attributes stay as they are.

use super::{
    open::Opened,
    read::TriangleMesh,
    topology::{NO_PARTICLE, Topology},
};
use bevy::{
    math::{Vec3, Vec4},
    mesh::{Mesh, MeshAccessError, VertexAttributeValues},
};

/// How the vertices of a mesh follow the particles of a cloth.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct MeshBinding {
    pub(super) vertex_to_particle: Vec<u32>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Vertices with the same number have the same normal.
    pub(super) normal_group: Vec<u32>,
    pub(super) group_count: usize,
    /// The tangent of each triangle in terms of its sides, if the mesh has tangents.
    pub(super) tangent_weights: Option<Vec<[f32; 2]>>,
    /// What has changed since the cloth opened for the first time.
    pub(super) opened: Option<Box<Opened>>,
    #[cfg_attr(feature = "serialize", serde(skip))]
    group_normals: Vec<Vec3>,
    #[cfg_attr(feature = "serialize", serde(skip))]
    tangents: Vec<Vec3>,
}

impl MeshBinding {
    /// Binds a mesh to the topology that was found in it, and gives the mesh what it lacks: normals.
    pub fn new(source: &TriangleMesh, topology: &Topology, mesh: &mut Mesh) -> Self {
        let faces = vertex_normals(source);
        let original = match mesh.try_attribute(Mesh::ATTRIBUTE_NORMAL) {
            Ok(VertexAttributeValues::Float32x3(normals)) if normals.len() == faces.len() => {
                normals.iter().map(|&n| Vec3::from(n)).collect()
            }
            _ => {
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
                Some(tangent_weights(source, tangents))
            }
            _ => None,
        };
        Self {
            vertex_to_particle: topology.vertex_to_particle.clone(),
            triangles: source.triangles.clone(),
            normal_group,
            group_count,
            tangent_weights,
            opened: None,
            group_normals: Vec::new(),
            tangents: Vec::new(),
        }
    }

    /// The particle of each vertex.
    pub fn vertex_to_particle(&self) -> &[u32] {
        &self.vertex_to_particle
    }

    /// What tells it from the binding of another mesh with the same particles.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> + '_ {
        let corners = self.triangles.as_flattened().iter();
        let groups = self.normal_group.iter();
        let weights = self.tangent_weights.iter().flatten().flatten();
        let counts = [self.triangles.len(), self.normal_group.len()].map(|count| count as u64);
        counts
            .into_iter()
            .chain(corners.chain(groups).map(|&number| number.into()))
            .chain(weights.map(|weight| weight.to_bits().into()))
    }

    /// A copy without what is only kept from one picture to the next.
    pub(crate) fn to_save(&self) -> Self {
        Self {
            vertex_to_particle: self.vertex_to_particle.clone(),
            triangles: self.triangles.clone(),
            normal_group: self.normal_group.clone(),
            group_count: self.group_count,
            tangent_weights: self.tangent_weights.clone(),
            opened: self.opened.clone(),
            group_normals: Vec::new(),
            tangents: Vec::new(),
        }
    }

    /// Writes the cloth into its mesh. `particles` are their positions in mesh space.
    pub fn write(&mut self, particles: &[Vec3], mesh: &mut Mesh) -> Result<(), MeshAccessError> {
        self.sum_normals(particles);
        if let Some(VertexAttributeValues::Float32x3(positions)) =
            mesh.try_attribute_mut_option(Mesh::ATTRIBUTE_POSITION)?
        {
            for (position, &particle) in positions.iter_mut().zip(&self.vertex_to_particle) {
                if let Some(place) = particles.get(particle as usize) {
                    *position = place.to_array();
                }
            }
        }
        if let Some(VertexAttributeValues::Float32x3(normals)) =
            mesh.try_attribute_mut_option(Mesh::ATTRIBUTE_NORMAL)?
        {
            for (normal, &group) in normals.iter_mut().zip(&self.normal_group) {
                // Where there is no area there is no normal; the last one stays.
                if let Some(unit) = self.group_normals[group as usize].try_normalize() {
                    *normal = unit.to_array();
                }
            }
        }
        if let Some(weights) = &self.tangent_weights
            && let Some(VertexAttributeValues::Float32x4(tangents)) =
                mesh.try_attribute_mut_option(Mesh::ATTRIBUTE_TANGENT)?
        {
            self.tangents.clear();
            self.tangents.resize(tangents.len(), Vec3::ZERO);
            for (corners, &[along_ab, along_ac]) in self.triangles.iter().zip(weights) {
                let [a, b, c] = self.corners(particles, corners);
                let tangent = (b - a) * along_ab + (c - a) * along_ac;
                for &vertex in corners {
                    self.tangents[vertex as usize] += tangent;
                }
            }
            let rows = tangents.iter_mut().zip(&self.tangents);
            for ((tangent, sum), &group) in rows.zip(&self.normal_group) {
                let normal = self.group_normals[group as usize].normalize_or_zero();
                if let Some(unit) = (sum - normal * normal.dot(*sum)).try_normalize() {
                    // The handedness of the texture does not change.
                    *tangent = unit.extend(tangent[3]).to_array();
                }
            }
        }
        Ok(())
    }

    fn corners(&self, particles: &[Vec3], corners: &[u32; 3]) -> [Vec3; 3] {
        corners.map(|v| particles[self.vertex_to_particle[v as usize] as usize])
    }

    /// Sums the triangles' normals, weighted by area, over every normal group.
    fn sum_normals(&mut self, particles: &[Vec3]) {
        let mut sums = std::mem::take(&mut self.group_normals);
        sums.clear();
        sums.resize(self.group_count, Vec3::ZERO);
        for corners in &self.triangles {
            let [a, b, c] = self.corners(particles, corners);
            let normal = (b - a).cross(c - a);
            for &vertex in corners {
                sums[self.normal_group[vertex as usize] as usize] += normal;
            }
        }
        self.group_normals = sums;
    }
}

/// Normals from the triangles of each vertex alone.
fn vertex_normals(mesh: &TriangleMesh) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; mesh.positions.len()];
    for corners in &mesh.triangles {
        let [a, b, c] = corners.map(|v| mesh.positions[v as usize]);
        let normal = (b - a).cross(c - a);
        for &vertex in corners {
            normals[vertex as usize] += normal;
        }
    }
    normals
        .into_iter()
        .map(|n| n.normalize_or(Vec3::Y))
        .collect()
}

/// Groups the vertices of each particle by the side they face. Cloth is smooth, so that all
/// vertices of a particle share a normal, except those of the other side of a two-sided mesh.
fn normal_groups(topology: &Topology, normals: &[Vec3]) -> (Vec<u32>, usize) {
    // Per particle at most two sides: the first normal seen, and whatever opposes it.
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
        .map(|(&particle, &normal)| {
            // Vertices outside of the cloth share one group, which no triangle ever adds to.
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

/// Writes the mean tangent of each triangle's corners as a combination of its sides ab and ac. The
/// same combination of the moved sides is the tangent of the moved triangle.
fn tangent_weights(mesh: &TriangleMesh, tangents: &[[f32; 4]]) -> Vec<[f32; 2]> {
    mesh.triangles
        .iter()
        .map(|corners| {
            let [a, b, c] = corners.map(|v| mesh.positions[v as usize]);
            let tangent: Vec3 = corners
                .iter()
                .map(|&v| Vec4::from(tangents[v as usize]).truncate())
                .sum();
            let (ab, ac) = (b - a, c - a);
            // Least squares: the normal equations of tangent = p·ab + q·ac.
            let (m00, m01, m11) = (ab.dot(ab), ab.dot(ac), ac.dot(ac));
            let (r0, r1) = (ab.dot(tangent), ac.dot(tangent));
            let determinant = m00 * m11 - m01 * m01;
            let weights = [
                (r0 * m11 - r1 * m01) / determinant,
                (r1 * m00 - r0 * m01) / determinant,
            ];
            if weights.iter().all(|w| w.is_finite()) {
                weights
            } else {
                [0.0; 2]
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::grid::ClothGrid;
    use bevy::math::{Quat, Vec2};

    fn bound(mut mesh: Mesh) -> (Mesh, MeshBinding, Vec<Vec3>) {
        let source = TriangleMesh::read(&mesh).unwrap();
        let topology = Topology::new(&source).unwrap();
        let binding = MeshBinding::new(&source, &topology, &mut mesh);
        (mesh, binding, topology.positions)
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
        let Some(VertexAttributeValues::Float32x4(tangents)) =
            mesh.attribute(Mesh::ATTRIBUTE_TANGENT)
        else {
            panic!("no tangents");
        };
        for &tangent in tangents {
            let expected = (turn * Vec3::X).extend(1.0);
            assert!((Vec4::from(tangent) - expected).length() < 1e-5);
        }
    }

    #[test]
    fn other_attributes_survive() {
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
        // A roof over the middle column: on its ridge the normal must be the mean of both sides.
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
                    "the ridge leans to one side: {normal}"
                );
            }
        }
    }
}
