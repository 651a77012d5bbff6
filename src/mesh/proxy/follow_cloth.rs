//! Curved surface of a cloth, and the kernel that moves the vertices of a fine mesh with it.

use super::{VertexBlock, W};
use crate::solver::simd::{Kernel, select};
use bevy::math::Vec3A;

/// Curvature between particles: 0 is flat, 1 follows the normals fully (Boubekeur and Alexa use ¾).
const ROUNDNESS: f32 = 0.75;

/// Blocks processed together.
const GROUP: usize = 8;

/// Current state of a cloth triangle, shared by all its vertices.
#[derive(Clone, Copy, Default)]
pub(super) struct CurvedTriangle {
    /// The first corner, and the sides from there.
    x: Vec3A,
    pub(super) e: Vec3A,
    pub(super) f: Vec3A,
    /// The normal of the first corner, and the differences of the other two from it.
    n: Vec3A,
    to_second: Vec3A,
    to_third: Vec3A,
    /// Bulge of each side: between the first and second corner, second and third, third and first.
    bulge: [Vec3A; 3],
}

impl CurvedTriangle {
    #[inline(always)]
    pub(super) fn new(corners: [u32; 3], particles: &[Vec3A], normals: &[Vec3A]) -> Self {
        let [a, b, c] = corners.map(|i| particles[i as usize]);
        let [u, v, w] = corners.map(|i| normals[i as usize]);
        // Boubekeur and Alexa project each point p = Σ sᵢ xᵢ to the planes of the corners and take the mean with the
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
    pub(super) fn at(&self, [second, third]: [f32; 2]) -> (Vec3A, Vec3A) {
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
pub(super) struct FollowCloth<'a> {
    pub(super) blocks: &'a [VertexBlock],
    pub(super) particles: &'a [Vec3A],
    pub(super) normals: &'a [Vec3A],
    pub(super) positions: &'a mut [[f32; 3]],
    pub(super) shading: Option<&'a mut [[f32; 3]]>,
    pub(super) bounds: &'a mut [[f32; 3]; 2],
}

/// Lanes of three coordinates, for each block of a group.
type GroupLanes = [[[f32; W]; 3]; GROUP];

/// Writes a normal; where the cloth has none, a vertex keeps the one of before.
#[inline(always)]
fn keep_or_write(into: &mut [f32; 3], normal: [f32; 3]) {
    if normal != [0.0; 3] {
        *into = normal;
    }
}

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
                    keep_or_write(&mut shading[vertex as usize], [x[k], y[k], z[k]]);
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
                    keep_or_write(&mut shading[vertex as usize], surface.shade(normal, own));
                }
                for (axis, at) in vertex_position.into_iter().enumerate() {
                    self.bounds[0][axis] = at.min(self.bounds[0][axis]) + 0.0;
                    self.bounds[1][axis] = at.max(self.bounds[1][axis]) + 0.0;
                }
            }
        }
    }
}
