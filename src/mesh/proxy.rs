//! A fine mesh that follows a coarse cloth.
//!
//! Each vertex is bound to a triangle of the cloth: to a point of it, by barycentric coordinates, and to what
//! is left from there, in the frame of two sides and the smooth normal at that point. So the fine mesh keeps
//! its detail and turns with the cloth. Between particles it is rounded by Phong tessellation (Boubekeur,
//! Alexa, "Phong Tessellation", 2008): the flat triangles of a coarse cloth do not show.

use super::{binding::Written, nearest::Nearest};
use crate::solver::simd::{Kernel, dispatch, select};
use bevy::{
    math::{Mat3, Vec3, Vec3A},
    mesh::Mesh,
};

/// How round it is between particles: 0 is flat, 1 as round as normals tell (the paper takes ¾).
const ROUND: f32 = 0.75;

/// How many vertices of a triangle are worked on at once.
const W: usize = 8;

/// How many such blocks are under way at once.
const GROUP: usize = 8;

/// How the vertices of a fine mesh follow a cloth.
#[derive(Clone, Debug, Default)]
pub struct ProxyBinding {
    /// Vertices of one triangle each, so that its corners are looked up once for all of them.
    blocks: Vec<Block>,
    /// Tangents of the same vertices, each as parts of two sides and of the normal; empty if the mesh has none.
    tangents: Vec<[[f32; 3]; W]>,
    vertices: usize,
    /// How many particles it needs.
    particles: usize,
}

/// Vertices of one triangle. Where there are fewer, the last one stands there again.
#[derive(Clone, Copy, Debug)]
struct Block {
    corners: [u32; 3],
    vertices: [u32; W],
    /// Shares of the second and the third corner.
    second: [f32; W],
    third: [f32; W],
    /// From the point of the triangle to the vertex: along two sides, in parts of them, and along the
    /// normal, m.
    away: [[f32; W]; 3],
    /// The vertex's own normal, likewise.
    normal: [[f32; W]; 3],
}

/// A vertex before it has its place in a block.
struct Bound {
    triangle: u32,
    vertex: u32,
    shares: [f32; 2],
    away: [f32; 3],
    normal: [f32; 3],
    tangent: [f32; 3],
}

/// What a fine mesh is bound by, in the same space, m.
#[derive(Clone, Copy, Debug)]
pub struct FineMesh<'a> {
    /// Its vertices.
    pub positions: &'a [Vec3],
    /// And their normals.
    pub normals: &'a [Vec3],
    /// And their tangents; none if the mesh has none.
    pub tangents: &'a [Vec3],
}

impl ProxyBinding {
    /// Binds a fine mesh to a coarse cloth at rest; `None` if that has no triangle.
    pub fn new(cloth: &[Vec3], triangles: &[[u32; 3]], fine: FineMesh) -> Option<Self> {
        let nearest = Nearest::new(cloth, triangles)?;
        let places: Vec<Vec3A> = cloth.iter().map(|&p| p.into()).collect();
        let mut normals = Vec::new();
        smooth_normals(&places, triangles.iter().copied(), &mut normals);
        let up = fine
            .normals
            .iter()
            .copied()
            .chain(std::iter::repeat(Vec3::Y));
        let mut along = fine.tangents.iter();
        let vertices = (0..).zip(fine.positions).zip(up);
        let mut bound: Vec<Bound> = vertices
            .map(|((vertex, &position), normal)| {
                let (triangle, shares) = nearest.to(position);
                let of = Triangle::of(triangles[triangle as usize], &places, &normals);
                let (point, smooth) = of.at(shares);
                let frame = Mat3::from_cols(of.e.into(), of.f.into(), smooth.into());
                // A triangle without area has no frame; its first corner carries the vertex.
                let inverse = frame.inverse();
                let parts = |v: Vec3| {
                    let parts = inverse * v;
                    if parts.is_finite() {
                        parts.to_array()
                    } else {
                        [0.0; 3]
                    }
                };
                Bound {
                    triangle,
                    vertex,
                    shares,
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
                let lane = |of: &[Bound], k: usize| of[k.min(of.len() - 1)].tangent;
                let tangents = blocks.clone();
                tangents
                    .map(|of| std::array::from_fn(|k| lane(of, k)))
                    .collect()
            } else {
                Vec::new()
            },
            blocks: blocks.map(|of| Block::of(of, triangles)).collect(),
            vertices: fine.positions.len(),
            particles: cloth.len(),
        })
    }

    /// How many vertices it has.
    pub fn len(&self) -> usize {
        self.vertices
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.vertices == 0
    }

    /// Writes the fine mesh into a [`Mesh`], as [`write`](Self::write) does.
    pub fn draw(
        &self,
        places: &[Vec3A],
        normals: &[Vec3A],
        mesh: &mut Mesh,
    ) -> Option<(Vec3, Vec3)> {
        let written = Written::find(mesh).ok()?;
        self.write(
            places,
            normals,
            written.positions?,
            written.normals,
            written.tangents,
        )
    }

    /// Writes the fine mesh. `places` and `normals` ([`smooth_normals`]) are those of the particles, in the
    /// space of the fine mesh. What has another length is left as it is. Returns the corners of the box
    /// around it, `None` if there is nothing to write.
    pub fn write(
        &self,
        places: &[Vec3A],
        normals: &[Vec3A],
        positions: &mut [[f32; 3]],
        shading: Option<&mut [[f32; 3]]>,
        tangents: Option<&mut [[f32; 4]]>,
    ) -> Option<(Vec3, Vec3)> {
        let count = self.len();
        let enough = places.len().min(normals.len()) >= self.particles;
        if !enough || self.is_empty() || positions.len() != count {
            return None;
        }
        let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        dispatch(Follow {
            blocks: &self.blocks,
            places,
            normals,
            positions,
            shading: shading.filter(|shading| shading.len() == count),
            bounds: &mut bounds,
        });
        if let Some(tangents) = tangents.filter(|tangents| tangents.len() == count) {
            self.write_tangents(places, normals, tangents);
        }
        let [low, high] = bounds.map(Vec3::from);
        Some((low, high))
    }

    fn write_tangents(&self, places: &[Vec3A], normals: &[Vec3A], tangents: &mut [[f32; 4]]) {
        for (block, parts) in self.blocks.iter().zip(&self.tangents) {
            let of = Triangle::of(block.corners, places, normals);
            for (k, &[a, b, c]) in parts.iter().enumerate() {
                let (_, smooth) = of.at([block.second[k], block.third[k]]);
                let unit = (of.e * a + of.f * b + smooth * c).normalize_or_zero();
                // The handedness of the texture does not change.
                if unit != Vec3A::ZERO {
                    let tangent = &mut tangents[block.vertices[k] as usize];
                    [tangent[0], tangent[1], tangent[2]] = unit.to_array();
                }
            }
        }
    }
}

impl Block {
    fn of(of: &[Bound], triangles: &[[u32; 3]]) -> Self {
        let lane = |k: usize| &of[k.min(of.len() - 1)];
        let lanes = |value: &dyn Fn(&Bound) -> f32| std::array::from_fn(|k| value(lane(k)));
        Self {
            corners: triangles[of[0].triangle as usize],
            vertices: std::array::from_fn(|k| lane(k).vertex),
            second: lanes(&|bound| bound.shares[0]),
            third: lanes(&|bound| bound.shares[1]),
            away: [0, 1, 2].map(|axis| lanes(&|bound| bound.away[axis])),
            normal: [0, 1, 2].map(|axis| lanes(&|bound| bound.normal[axis])),
        }
    }
}

/// A triangle of the cloth as it is now: all that its vertices have in common.
#[derive(Clone, Copy, Default)]
struct Triangle {
    /// Its first corner, and its sides from there.
    x: Vec3A,
    e: Vec3A,
    f: Vec3A,
    /// The normal of the first corner, and how those of the others differ from it.
    n: Vec3A,
    to_second: Vec3A,
    to_third: Vec3A,
    /// How far each side bulges: between the first and second corner, second and third, third and first.
    bulge: [Vec3A; 3],
}

impl Triangle {
    #[inline(always)]
    fn of(corners: [u32; 3], places: &[Vec3A], normals: &[Vec3A]) -> Self {
        let [a, b, c] = corners.map(|i| places[i as usize]);
        let [u, v, w] = corners.map(|i| normals[i as usize]);
        // The paper projects each point p = Σ sᵢ xᵢ to the planes of the corners and takes the mean by the shares s.
        // With Σ sᵢ = 1 that comes to p + Σ sᵢ sⱼ bᵢⱼ over the three sides, where
        // bᵢⱼ = ((xᵢ − xⱼ)·nᵢ) nᵢ + ((xⱼ − xᵢ)·nⱼ) nⱼ is the same for all points.
        let bulge = |(x, n): (Vec3A, Vec3A), (y, m): (Vec3A, Vec3A)| {
            (n * (x - y).dot(n) + m * (y - x).dot(m)) * ROUND
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

    /// The rounded point at these shares, and the unit normal there.
    fn at(&self, [second, third]: [f32; 2]) -> (Vec3A, Vec3A) {
        let normal = self.normal(second, third);
        let place = self.place(second, third, normal, [0.0; 3]);
        (place.into(), normal.into())
    }

    /// The unit normal at these shares. Plain numbers: in a loop over a block the compiler makes lanes of them.
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

    /// Where a vertex is that is so far away from the point at these shares. `n` is the normal there.
    #[inline(always)]
    fn place(&self, second: f32, third: f32, n: [f32; 3], [p, q, r]: [f32; 3]) -> [f32; 3] {
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

    /// The unit normal of a vertex where the normal of the cloth is `n`.
    #[inline(always)]
    fn shade(&self, n: [f32; 3], [p, q, r]: [f32; 3]) -> [f32; 3] {
        let (e, f) = (self.e, self.f);
        let x = e.x * p + f.x * q + n[0] * r;
        let y = e.y * p + f.y * q + n[1] * r;
        let z = e.z * p + f.z * q + n[2] * r;
        let length = (x * x + y * y + z * z).sqrt();
        let there = length > 0.0;
        let unit = select(there, 1.0 / length, 0.0);
        // Where its own has gone, that of the cloth will do.
        let else_by = select(there, 0.0, 1.0);
        [
            x * unit + n[0] * else_by,
            y * unit + n[1] * else_by,
            z * unit + n[2] * else_by,
        ]
    }
}

/// Vertices that follow their cloth.
struct Follow<'a> {
    blocks: &'a [Block],
    places: &'a [Vec3A],
    normals: &'a [Vec3A],
    positions: &'a mut [[f32; 3]],
    shading: Option<&'a mut [[f32; 3]]>,
    bounds: &'a mut [[f32; 3]; 2],
}

/// Lanes of three coordinates, for each block of a group.
type Lanes = [[[f32; W]; 3]; GROUP];

impl Kernel for Follow<'_> {
    /// In several passes over a few blocks: a root and a division take long, but several of them may be under way
    /// at once if none waits for another.
    #[inline(always)]
    fn run(self) {
        let Self {
            blocks,
            places,
            normals,
            positions,
            mut shading,
            bounds,
        } = self;
        let mut low = [[f32::INFINITY; W]; 3];
        let mut high = [[f32::NEG_INFINITY; W]; 3];
        let mut triangles = [Triangle::default(); GROUP];
        let mut smooth: Lanes = [[[0.0; W]; 3]; GROUP];
        let mut shaded: Lanes = [[[0.0; W]; 3]; GROUP];
        for group in blocks.chunks(GROUP) {
            let mut corners = None;
            let mut of = Triangle::default();
            for ((block, triangle), smooth) in group.iter().zip(&mut triangles).zip(&mut smooth) {
                if corners != Some(block.corners) {
                    of = Triangle::of(block.corners, places, normals);
                    corners = Some(block.corners);
                }
                *triangle = of;
                let [x, y, z] = smooth;
                for k in 0..W {
                    [x[k], y[k], z[k]] = of.normal(block.second[k], block.third[k]);
                }
            }
            for ((block, of), [nx, ny, nz]) in group.iter().zip(&triangles).zip(&smooth) {
                let (mut x, mut y, mut z) = ([0.0; W], [0.0; W], [0.0; W]);
                let [p, q, r] = &block.away;
                for k in 0..W {
                    let (normal, away) = ([nx[k], ny[k], nz[k]], [p[k], q[k], r[k]]);
                    [x[k], y[k], z[k]] = of.place(block.second[k], block.third[k], normal, away);
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
            for (((block, of), [nx, ny, nz]), [x, y, z]) in known.zip(&mut shaded) {
                let [p, q, r] = &block.normal;
                for k in 0..W {
                    let (normal, own) = ([nx[k], ny[k], nz[k]], [p[k], q[k], r[k]]);
                    [x[k], y[k], z[k]] = of.shade(normal, own);
                }
            }
            for (block, [x, y, z]) in group.iter().zip(&shaded) {
                for (k, &vertex) in block.vertices.iter().enumerate() {
                    shading[vertex as usize] = [x[k], y[k], z[k]];
                }
            }
        }
        for axis in 0..3 {
            // A 0 has no sign.
            bounds[0][axis] = low[axis].into_iter().fold(f32::INFINITY, f32::min) + 0.0;
            bounds[1][axis] = high[axis].into_iter().fold(f32::NEG_INFINITY, f32::max) + 0.0;
        }
    }

    fn run_scalar(mut self) {
        for block in self.blocks {
            let of = Triangle::of(block.corners, self.places, self.normals);
            for (k, &vertex) in block.vertices.iter().enumerate() {
                let (second, third) = (block.second[k], block.third[k]);
                let normal = of.normal(second, third);
                let place = of.place(second, third, normal, block.away.map(|plane| plane[k]));
                self.positions[vertex as usize] = place;
                if let Some(shading) = &mut self.shading {
                    let own = block.normal.map(|plane| plane[k]);
                    shading[vertex as usize] = of.shade(normal, own);
                }
                for (axis, at) in place.into_iter().enumerate() {
                    self.bounds[0][axis] = at.min(self.bounds[0][axis]) + 0.0;
                    self.bounds[1][axis] = at.max(self.bounds[1][axis]) + 0.0;
                }
            }
        }
    }
}

/// The normal of each particle, the mean of its triangles by their area.
pub fn smooth_normals(
    places: &[Vec3A],
    triangles: impl Iterator<Item = [u32; 3]>,
    normals: &mut Vec<Vec3A>,
) {
    normals.clear();
    normals.resize(places.len(), Vec3A::ZERO);
    for corners in triangles {
        let [a, b, c] = corners.map(|i| places[i as usize]);
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

    /// A fine mesh with a bulge, on a coarse one, and how it is drawn after a change of that.
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
        let places: Vec<Vec3A> = coarse
            .positions
            .iter()
            .map(|&at| change(at).into())
            .collect();
        let mut smooth = Vec::new();
        smooth_normals(&places, coarse.triangles.iter().copied(), &mut smooth);
        let mut drawn = vec![[0.0; 3]; positions.len()];
        let mut shaded = drawn.clone();
        let mut along = vec![[0.0, 0.0, 0.0, -1.0]; positions.len()];
        let (low, high) = binding
            .write(
                &places,
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
    fn at_rest_and_moved_as_a_whole_it_is_exact() {
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
    fn between_particles_it_is_round() {
        // Bent to a cylinder of radius 0.5, without the bulge: how far from it are the vertices?
        let bend = |at: Vec3| Vec3::new(0.5 * (2.0 * at.x).sin(), 0.5 * (2.0 * at.x).cos(), at.z);
        let coarse = grid(6);
        let fine = grid(31);
        let bound = FineMesh {
            positions: &fine.positions,
            normals: &vec![Vec3::Y; fine.positions.len()],
            tangents: &[],
        };
        let binding = ProxyBinding::new(&coarse.positions, &coarse.triangles, bound).unwrap();
        let places: Vec<Vec3A> = coarse.positions.iter().map(|&at| bend(at).into()).collect();
        let mut smooth = Vec::new();
        smooth_normals(&places, coarse.triangles.iter().copied(), &mut smooth);
        let mut drawn = vec![[0.0; 3]; fine.positions.len()];
        binding
            .write(&places, &smooth, &mut drawn, None, None)
            .unwrap();
        // Flat, the middles of the cells would be 0.01 m inside.
        let off = drawn.iter().map(|[x, y, _]| (x.hypot(*y) - 0.5).abs());
        let worst = off.fold(0.0, f32::max);
        assert!(worst < 0.005, "{worst}");
    }

    #[test]
    fn all_levels_give_the_same_bits() {
        levels::same_bits(|| {
            let (drawn, shaded, _) = follow(|at| Vec3::new(at.x, at.z.sin(), at.z * at.x.cos()));
            let all = drawn.iter().chain(&shaded).flat_map(Vec3::to_array);
            all.map(f32::to_bits).collect()
        });
    }
}
