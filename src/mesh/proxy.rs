//! Fine mesh that follows a coarse cloth.
//!
//! Each vertex is bound to a point of a cloth triangle by barycentric coordinates, plus an offset in the frame of
//! two sides and the smooth normal at that point. So the fine mesh keeps its detail and turns with the cloth.
//! Phong tessellation (Boubekeur, Alexa, "Phong Tessellation", 2008) curves the surface between particles and
//! hides the flat triangles of a coarse cloth.

use super::{binding::MeshAttributes, nearest::NearestTriangle};
use crate::solver::simd::{Kernel, dispatch, select};
use bevy::{
    math::{Mat3, Vec3, Vec3A},
    mesh::Mesh,
};

/// Curvature between particles: 0 is flat, 1 follows the normals fully (the paper uses ¾).
const ROUNDNESS: f32 = 0.75;

/// Vertices of one triangle processed together, as SIMD lanes.
const W: usize = 8;

/// Blocks processed together.
const GROUP: usize = 8;

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
                let unit = (surface.e * a + surface.f * b + smooth * c).normalize_or_zero();
                // The handedness of the texture does not change.
                if unit != Vec3A::ZERO {
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

/// Current state of a cloth triangle, shared by all its vertices.
#[derive(Clone, Copy, Default)]
struct CurvedTriangle {
    /// The first corner, and the sides from there.
    x: Vec3A,
    e: Vec3A,
    f: Vec3A,
    /// The normal of the first corner, and the differences of the other two from it.
    n: Vec3A,
    to_second: Vec3A,
    to_third: Vec3A,
    /// Bulge of each side: between the first and second corner, second and third, third and first.
    bulge: [Vec3A; 3],
}

impl CurvedTriangle {
    #[inline(always)]
    fn new(corners: [u32; 3], particles: &[Vec3A], normals: &[Vec3A]) -> Self {
        let [a, b, c] = corners.map(|i| particles[i as usize]);
        let [u, v, w] = corners.map(|i| normals[i as usize]);
        // The paper projects each point p = Σ sᵢ xᵢ to the planes of the corners and takes the mean with the
        // weights sᵢ. With Σ sᵢ = 1 that equals p + Σ sᵢ sⱼ bᵢⱼ over the three sides, where
        // bᵢⱼ = ((xᵢ − xⱼ)·nᵢ) nᵢ + ((xⱼ − xᵢ)·nⱼ) nⱼ is the same for all points.
        let bulge = |(x, n): (Vec3A, Vec3A), (y, m): (Vec3A, Vec3A)| {
            (n * (x - y).dot(n) + m * (y - x).dot(m)) * ROUNDNESS
        };
        Self {
            x: a,
            e: b - a,
            f: c - a,
            n: u,
            to_second: v - u,
            to_third: w - u,
            bulge: [
                bulge((a, u), (b, v)),
                bulge((b, v), (c, w)),
                bulge((c, w), (a, u)),
            ],
        }
    }

    /// Returns the curved point at these barycentric weights, and the unit normal there.
    fn at(&self, [second, third]: [f32; 2]) -> (Vec3A, Vec3A) {
        let normal = self.normal(second, third);
        let vertex_position = self.vertex_position(second, third, normal, [0.0; 3]);
        (vertex_position.into(), normal.into())
    }

    /// Returns the unit normal at these weights. Scalar code: in a loop over a block the compiler vectorizes it.
    #[inline(always)]
    fn normal(&self, second: f32, third: f32) -> [f32; 3] {
        let (n, s, t) = (self.n, self.to_second, self.to_third);
        let x = n.x + s.x * second + t.x * third;
        let y = n.y + s.y * second + t.y * third;
        let z = n.z + s.z * second + t.z * third;
        let length = (x * x + y * y + z * z).sqrt();
        let unit = select(length > 0.0, 1.0 / length, 0.0);
        [x * unit, y * unit, z * unit]
    }

    /// Returns the position of a vertex with this offset from the point at these weights. `n` is the normal there.
    #[inline(always)]
    fn vertex_position(
        &self,
        second: f32,
        third: f32,
        n: [f32; 3],
        [p, q, r]: [f32; 3],
    ) -> [f32; 3] {
        let (at, e, f) = (self.x, self.e, self.f);
        let [b, c, d] = self.bulge;
        let first = 1.0 - second - third;
        let (i, j, k) = (first * second, second * third, third * first);
        let (p, q) = (p + second, q + third);
        [
            at.x + e.x * p + f.x * q + (b.x * i + c.x * j + d.x * k) + n[0] * r,
            at.y + e.y * p + f.y * q + (b.y * i + c.y * j + d.y * k) + n[1] * r,
            at.z + e.z * p + f.z * q + (b.z * i + c.z * j + d.z * k) + n[2] * r,
        ]
    }

    /// Returns the unit normal of a vertex, where the normal of the cloth is `n`.
    #[inline(always)]
    fn shade(&self, n: [f32; 3], [p, q, r]: [f32; 3]) -> [f32; 3] {
        let (e, f) = (self.e, self.f);
        let x = e.x * p + f.x * q + n[0] * r;
        let y = e.y * p + f.y * q + n[1] * r;
        let z = e.z * p + f.z * q + n[2] * r;
        let length = (x * x + y * y + z * z).sqrt();
        let there = length > 0.0;
        let unit = select(there, 1.0 / length, 0.0);
        // Fall back to the normal of the cloth.
        let else_by = select(there, 0.0, 1.0);
        [
            x * unit + n[0] * else_by,
            y * unit + n[1] * else_by,
            z * unit + n[2] * else_by,
        ]
    }
}

/// Kernel that writes the vertices of a fine mesh.
struct FollowCloth<'a> {
    blocks: &'a [VertexBlock],
    particles: &'a [Vec3A],
    normals: &'a [Vec3A],
    positions: &'a mut [[f32; 3]],
    shading: Option<&'a mut [[f32; 3]]>,
    bounds: &'a mut [[f32; 3]; 2],
}

/// Lanes of three coordinates, for each block of a group.
type GroupLanes = [[[f32; W]; 3]; GROUP];

impl Kernel for FollowCloth<'_> {
    /// Runs in several passes over a few blocks: square roots and divisions have a high latency, which overlaps if
    /// they are independent.
    #[inline(always)]
    fn run(self) {
        let Self {
            blocks,
            particles,
            normals,
            positions,
            mut shading,
            bounds,
        } = self;
        let mut low = [[f32::INFINITY; W]; 3];
        let mut high = [[f32::NEG_INFINITY; W]; 3];
        let mut triangles = [CurvedTriangle::default(); GROUP];
        let mut smooth: GroupLanes = [[[0.0; W]; 3]; GROUP];
        let mut shaded: GroupLanes = [[[0.0; W]; 3]; GROUP];
        for group in blocks.chunks(GROUP) {
            let mut corners = None;
            let mut surface = CurvedTriangle::default();
            for ((block, triangle), smooth) in group.iter().zip(&mut triangles).zip(&mut smooth) {
                if corners != Some(block.corners) {
                    surface = CurvedTriangle::new(block.corners, particles, normals);
                    corners = Some(block.corners);
                }
                *triangle = surface;
                let [x, y, z] = smooth;
                for k in 0..W {
                    [x[k], y[k], z[k]] = surface.normal(block.second[k], block.third[k]);
                }
            }
            for ((block, surface), [nx, ny, nz]) in group.iter().zip(&triangles).zip(&smooth) {
                let (mut x, mut y, mut z) = ([0.0; W], [0.0; W], [0.0; W]);
                let [p, q, r] = &block.away;
                for k in 0..W {
                    let (normal, away) = ([nx[k], ny[k], nz[k]], [p[k], q[k], r[k]]);
                    [x[k], y[k], z[k]] =
                        surface.vertex_position(block.second[k], block.third[k], normal, away);
                }
                let [lx, ly, lz] = &mut low;
                let [hx, hy, hz] = &mut high;
                for k in 0..W {
                    lx[k] = x[k].min(lx[k]);
                    ly[k] = y[k].min(ly[k]);
                    lz[k] = z[k].min(lz[k]);
                    hx[k] = x[k].max(hx[k]);
                    hy[k] = y[k].max(hy[k]);
                    hz[k] = z[k].max(hz[k]);
                }
                for (k, &vertex) in block.vertices.iter().enumerate() {
                    positions[vertex as usize] = [x[k], y[k], z[k]];
                }
            }
            let Some(shading) = &mut shading else {
                continue;
            };
            let known = group.iter().zip(&triangles).zip(&smooth);
            for (((block, surface), [nx, ny, nz]), [x, y, z]) in known.zip(&mut shaded) {
                let [p, q, r] = &block.normal;
                for k in 0..W {
                    let (normal, own) = ([nx[k], ny[k], nz[k]], [p[k], q[k], r[k]]);
                    [x[k], y[k], z[k]] = surface.shade(normal, own);
                }
            }
            for (block, [x, y, z]) in group.iter().zip(&shaded) {
                for (k, &vertex) in block.vertices.iter().enumerate() {
                    shading[vertex as usize] = [x[k], y[k], z[k]];
                }
            }
        }
        for axis in 0..3 {
            // Adding 0 removes the sign of −0.
            bounds[0][axis] = low[axis].into_iter().fold(f32::INFINITY, f32::min) + 0.0;
            bounds[1][axis] = high[axis].into_iter().fold(f32::NEG_INFINITY, f32::max) + 0.0;
        }
    }

    #[cfg(test)]
    fn run_reference(mut self) {
        for block in self.blocks {
            let surface = CurvedTriangle::new(block.corners, self.particles, self.normals);
            for (k, &vertex) in block.vertices.iter().enumerate() {
                let (second, third) = (block.second[k], block.third[k]);
                let normal = surface.normal(second, third);
                let vertex_position = surface.vertex_position(
                    second,
                    third,
                    normal,
                    block.away.map(|plane| plane[k]),
                );
                self.positions[vertex as usize] = vertex_position;
                if let Some(shading) = &mut self.shading {
                    let own = block.normal.map(|plane| plane[k]);
                    shading[vertex as usize] = surface.shade(normal, own);
                }
                for (axis, at) in vertex_position.into_iter().enumerate() {
                    self.bounds[0][axis] = at.min(self.bounds[0][axis]) + 0.0;
                    self.bounds[1][axis] = at.max(self.bounds[1][axis]) + 0.0;
                }
            }
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
        *normal = normal.normalize_or_zero();
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
