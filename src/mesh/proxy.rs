//! Fine mesh that follows a coarse cloth.
//!
//! Each vertex is bound to a point of a cloth triangle by barycentric coordinates, plus an offset in the frame of
//! two sides and the smooth normal at that point. So the fine mesh keeps its detail and turns with the cloth.
//! Phong tessellation (Boubekeur, Alexa, "Phong Tessellation", 2008) curves the surface between particles and
//! hides the flat triangles of a coarse cloth.

mod follow_cloth;

use super::{binding::MeshAttributes, direction::direction, nearest::NearestTriangle};
use crate::solver::simd::dispatch;
use bevy::{
    math::{Mat3, Vec3, Vec3A},
    mesh::Mesh,
};
use follow_cloth::{CurvedTriangle, FollowCloth};

/// Vertices of one triangle processed together, as SIMD lanes.
const W: usize = 8;

/// Mapping from a coarse cloth to the vertices of a fine mesh.
#[derive(Clone, Debug, Default)]
pub struct ProxyBinding {
    /// Blocks of vertices of one triangle each, so its corners are read once per block.
    blocks: Vec<VertexBlock>,
    /// Tangents of the same vertices, as weights of two sides and the normal; empty if the mesh has none.
    tangents: Vec<[[f32; 3]; W]>,
    vertices: usize,
    /// Number of particles of the cloth.
    particles: usize,
}

/// Vertices of one triangle. Unused lanes repeat the last vertex.
#[derive(Clone, Copy, Debug)]
struct VertexBlock {
    corners: [u32; 3],
    vertices: [u32; W],
    /// Barycentric weights of the second and third corner.
    second: [f32; W],
    third: [f32; W],
    /// Offset from the point on the triangle to the vertex: weights of two sides, and distance along the normal,
    /// m.
    away: [[f32; W]; 3],
    /// The normal of the vertex, likewise.
    normal: [[f32; W]; 3],
}

/// Vertex before it is assigned to a block.
struct BoundVertex {
    triangle: u32,
    vertex: u32,
    weights: [f32; 2],
    away: [f32; 3],
    normal: [f32; 3],
    tangent: [f32; 3],
}

/// Geometry of a fine mesh, in the space of the cloth, m.
#[derive(Clone, Copy, Debug)]
pub struct FineMesh<'a> {
    /// The vertices.
    pub positions: &'a [Vec3],
    /// The normals of the vertices.
    pub normals: &'a [Vec3],
    /// The tangents of the vertices; empty if the mesh has none.
    pub tangents: &'a [Vec3],
}

impl ProxyBinding {
    /// Binds a fine mesh to a coarse cloth at rest; `None` if the cloth has no triangles.
    pub fn new(cloth: &[Vec3], triangles: &[[u32; 3]], fine: FineMesh) -> Option<Self> {
        let nearest = NearestTriangle::new(cloth, triangles)?;
        let particles: Vec<Vec3A> = cloth.iter().map(|&p| p.into()).collect();
        let mut normals = Vec::new();
        smooth_normals(&particles, triangles.iter().copied(), &mut normals);
        let up = fine
            .normals
            .iter()
            .copied()
            .chain(std::iter::repeat(Vec3::Y));
        let mut along = fine.tangents.iter();
        let vertices = (0..).zip(fine.positions).zip(up);
        let mut bound: Vec<BoundVertex> = vertices
            .map(|((vertex, &position), normal)| {
                let (triangle, weights) = nearest.find(position);
                let surface =
                    CurvedTriangle::new(triangles[triangle as usize], &particles, &normals);
                let (point, smooth) = surface.at(weights);
                let frame = Mat3::from_cols(surface.e.into(), surface.f.into(), smooth.into());
                // A degenerate triangle has no frame; the offset becomes zero.
                let inverse = frame.inverse();
                let parts = |v: Vec3| {
                    let parts = inverse * v;
                    if parts.is_finite() {
                        parts.to_array()
                    } else {
                        [0.0; 3]
                    }
                };
                BoundVertex {
                    triangle,
                    vertex,
                    weights,
                    away: parts(position - Vec3::from(point)),
                    normal: parts(normal),
                    tangent: along.next().map_or([0.0; 3], |&tangent| parts(tangent)),
                }
            })
            .collect();
        bound.sort_by_key(|bound| bound.triangle);
        let groups = bound.chunk_by(|a, b| a.triangle == b.triangle);
        let blocks = groups.flat_map(|group| group.chunks(W));
        let has_tangents = fine.tangents.len() == fine.positions.len();
        Some(Self {
            tangents: if has_tangents {
                let lane = |chunk: &[BoundVertex], k: usize| chunk[k.min(chunk.len() - 1)].tangent;
                let tangents = blocks.clone();
                tangents
                    .map(|chunk| std::array::from_fn(|k| lane(chunk, k)))
                    .collect()
            } else {
                Vec::new()
            },
            blocks: blocks
                .map(|chunk| VertexBlock::new(chunk, triangles))
                .collect(),
            vertices: fine.positions.len(),
            particles: cloth.len(),
        })
    }

    /// Returns the number of vertices.
    pub fn len(&self) -> usize {
        self.vertices
    }

    /// Returns whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.vertices == 0
    }

    /// Writes the fine mesh into a [`Mesh`]; see [`write`](Self::write).
    pub fn write_mesh(
        &self,
        particles: &[Vec3A],
        normals: &[Vec3A],
        mesh: &mut Mesh,
    ) -> Option<(Vec3, Vec3)> {
        let attributes = MeshAttributes::find(mesh).ok()?;
        self.write(
            particles,
            normals,
            attributes.positions?,
            attributes.normals,
            attributes.tangents,
        )
    }

    /// Writes the fine mesh, given the positions and smooth normals ([`smooth_normals`]) of the particles in the
    /// space of the fine mesh. Attributes of another length are left unchanged. Returns the low and high corner of
    /// the bounding box, `None` if there is nothing to write.
    pub fn write(
        &self,
        particles: &[Vec3A],
        normals: &[Vec3A],
        positions: &mut [[f32; 3]],
        shading: Option<&mut [[f32; 3]]>,
        tangents: Option<&mut [[f32; 4]]>,
    ) -> Option<(Vec3, Vec3)> {
        let count = self.len();
        let enough = particles.len().min(normals.len()) >= self.particles;
        if !enough || self.is_empty() || positions.len() != count {
            return None;
        }
        let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        dispatch(FollowCloth {
            blocks: &self.blocks,
            particles,
            normals,
            positions,
            shading: shading.filter(|shading| shading.len() == count),
            bounds: &mut bounds,
        });
        if let Some(tangents) = tangents.filter(|tangents| tangents.len() == count) {
            self.write_tangents(particles, normals, tangents);
        }
        let [low, high] = bounds.map(Vec3::from);
        Some((low, high))
    }

    fn write_tangents(&self, particles: &[Vec3A], normals: &[Vec3A], tangents: &mut [[f32; 4]]) {
        for (block, parts) in self.blocks.iter().zip(&self.tangents) {
            let surface = CurvedTriangle::new(block.corners, particles, normals);
            for (k, &[a, b, c]) in parts.iter().enumerate() {
                let (_, smooth) = surface.at([block.second[k], block.third[k]]);
                let tangent = surface.e * a + surface.f * b + smooth * c;
                // The handedness of the texture does not change.
                if let Some(unit) = direction(tangent) {
                    let tangent = &mut tangents[block.vertices[k] as usize];
                    [tangent[0], tangent[1], tangent[2]] = unit.to_array();
                }
            }
        }
    }
}

impl VertexBlock {
    fn new(chunk: &[BoundVertex], triangles: &[[u32; 3]]) -> Self {
        let lane = |k: usize| &chunk[k.min(chunk.len() - 1)];
        let lanes = |value: &dyn Fn(&BoundVertex) -> f32| std::array::from_fn(|k| value(lane(k)));
        Self {
            corners: triangles[chunk[0].triangle as usize],
            vertices: std::array::from_fn(|k| lane(k).vertex),
            second: lanes(&|bound| bound.weights[0]),
            third: lanes(&|bound| bound.weights[1]),
            away: [0, 1, 2].map(|axis| lanes(&|bound| bound.away[axis])),
            normal: [0, 1, 2].map(|axis| lanes(&|bound| bound.normal[axis])),
        }
    }
}

/// Computes the normal of each particle: the area-weighted mean over its triangles.
pub fn smooth_normals(
    positions: &[Vec3A],
    triangles: impl Iterator<Item = [u32; 3]>,
    normals: &mut Vec<Vec3A>,
) {
    normals.clear();
    normals.resize(positions.len(), Vec3A::ZERO);
    for corners in triangles {
        let [a, b, c] = corners.map(|i| positions[i as usize]);
        let normal = (b - a).cross(c - a);
        for corner in corners {
            normals[corner as usize] += normal;
        }
    }
    for normal in normals {
        *normal = direction(*normal).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mesh::{ClothGrid, TriangleMesh},
        solver::simd::levels,
    };
    use bevy::math::Quat;

    fn grid(side: u32) -> TriangleMesh {
        TriangleMesh::read(&ClothGrid::new(1.0, 1.0, side, side).into()).unwrap()
    }

    /// Returns the positions and normals of a fine mesh with a bulge, after a deformation of its coarse cloth, and
    /// its positions at rest.
    fn follow(change: impl Fn(Vec3) -> Vec3) -> (Vec<Vec3>, Vec<Vec3>, Vec<Vec3>) {
        let coarse = grid(6);
        let fine = grid(31);
        let positions: Vec<Vec3> = fine
            .positions
            .iter()
            .map(|at| *at + Vec3::Y * 0.03 * (9.0 * at.x).sin())
            .collect();
        let normals: Vec<Vec3> = positions
            .iter()
            .map(|at| Vec3::new(-0.27 * (9.0 * at.x).cos(), 1.0, 0.0).normalize())
            .collect();
        let tangents = vec![Vec3::Z; positions.len()];
        let bound = FineMesh {
            positions: &positions,
            normals: &normals,
            tangents: &tangents,
        };
        let binding = ProxyBinding::new(&coarse.positions, &coarse.triangles, bound).unwrap();
        let particles: Vec<Vec3A> = coarse
            .positions
            .iter()
            .map(|&at| change(at).into())
            .collect();
        let mut smooth = Vec::new();
        smooth_normals(&particles, coarse.triangles.iter().copied(), &mut smooth);
        let mut drawn = vec![[0.0; 3]; positions.len()];
        let mut shaded = drawn.clone();
        let mut along = vec![[0.0, 0.0, 0.0, -1.0]; positions.len()];
        let (low, high) = binding
            .write(
                &particles,
                &smooth,
                &mut drawn,
                Some(&mut shaded),
                Some(&mut along),
            )
            .unwrap();
        let drawn: Vec<Vec3> = drawn.into_iter().map(Vec3::from).collect();
        assert!(
            drawn
                .iter()
                .all(|at| at.cmpge(low).all() && at.cmple(high).all())
        );
        assert!(
            along
                .iter()
                .all(|t| t[3] == -1.0 && (t[0].hypot(t[1]).hypot(t[2]) - 1.0).abs() < 1e-4)
        );
        let shaded = shaded.into_iter().map(Vec3::from).collect();
        (drawn, shaded, positions)
    }

    #[test]
    fn the_fine_mesh_is_exact_at_rest_and_after_rigid_motions() {
        let turn = Quat::from_rotation_z(0.7) * Quat::from_rotation_x(1.1);
        for change in [Quat::IDENTITY, turn] {
            let by = Vec3::new(3.0, -1.0, 2.0);
            let (drawn, normals, rest) = follow(|at| change * at + by);
            for ((drawn, normal), rest) in drawn.iter().zip(&normals).zip(&rest) {
                assert!(drawn.distance(change * *rest + by) < 1e-5);
                let expected = Vec3::new(-0.27 * (9.0 * rest.x).cos(), 1.0, 0.0).normalize();
                assert!(normal.distance(change * expected) < 1e-4, "{normal}");
            }
        }
    }

    #[test]
    fn the_surface_between_particles_is_curved() {
        // Bent to a cylinder of radius 0.5, without the bulge: measure the distance of the vertices from it.
        let bend = |at: Vec3| Vec3::new(0.5 * (2.0 * at.x).sin(), 0.5 * (2.0 * at.x).cos(), at.z);
        let coarse = grid(6);
        let fine = grid(31);
        let bound = FineMesh {
            positions: &fine.positions,
            normals: &vec![Vec3::Y; fine.positions.len()],
            tangents: &[],
        };
        let binding = ProxyBinding::new(&coarse.positions, &coarse.triangles, bound).unwrap();
        let positions: Vec<Vec3A> = coarse.positions.iter().map(|&at| bend(at).into()).collect();
        let mut smooth = Vec::new();
        smooth_normals(&positions, coarse.triangles.iter().copied(), &mut smooth);
        let mut drawn = vec![[0.0; 3]; fine.positions.len()];
        binding
            .write(&positions, &smooth, &mut drawn, None, None)
            .unwrap();
        // Flat, the centres of the cells would be 0.01 m inside.
        let off = drawn.iter().map(|[x, y, _]| (x.hypot(*y) - 0.5).abs());
        let worst = off.fold(0.0, f32::max);
        assert!(worst < 0.005, "{worst}");
    }

    #[test]
    fn all_simd_levels_give_the_same_bits() {
        levels::same_bits(|| {
            let (drawn, shaded, _) = follow(|at| Vec3::new(at.x, at.z.sin(), at.z * at.x.cos()));
            let all = drawn.iter().chain(&shaded).flat_map(Vec3::to_array);
            all.map(f32::to_bits).collect()
        });
    }
}
