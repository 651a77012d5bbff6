//! Finds what holds a cloth together in the triangles of its mesh: threads, the two diagonals of
//! quads, and places that resist bending.
//!
//! A grid of N×N vertices, whatever its diagonals, gives 2N(N−1) structural, 2(N−1)² shear and
//! 2N(N−2) bend constraints: the classic mass–spring cloth (Provot 1995), but for what bends do. Other
//! meshes get their edges, and each inner edge resists bending.

use super::{
    numbers::Numbers,
    read::TriangleMesh,
    weave::{self, Quad},
    weld::weld,
};
use crate::solver::{Bend, ConstraintKind, Corners, SheetLayout, sort_near};
use bevy::{math::Vec3, platform::collections::HashSet};

/// A cloth before it has a place in the world.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// The particle of each vertex; [`NO_PARTICLE`] for vertices that no triangle uses.
    pub vertex_to_particle: Numbers,
    /// Rest positions of the particles in mesh space, m.
    pub positions: Vec<Vec3>,
    /// Particles at the corners of each triangle, every triangle once.
    pub triangles: Corners,
    /// Pairs of particles that are to keep their distance. May be emptied once they are built: they
    /// follow from the triangles, see [`constraints_at`](Self::constraints_at).
    pub constraints: Vec<(ConstraintKind, u32, u32)>,
    /// Where it resists bending. May be emptied with the pairs.
    pub bends: Vec<Bend>,
    /// The grids among the particles: their particles are numbered row by row.
    pub sheets: Vec<SheetLayout>,
}

/// Stands for the particle of a vertex that is no part of the cloth.
pub const NO_PARTICLE: u32 = u32::MAX;

impl Topology {
    /// Analyses a mesh. Triangles that touch fewer than three particles hold nothing and are left
    /// out; `None` if no other is there.
    pub fn new(mesh: &TriangleMesh) -> Option<Self> {
        let mut welded = weld(&mesh.positions, &mesh.triangles);
        let to_particle = |i: u32| welded.vertex_to_particle[i as usize];
        let mut triangles = distinct(
            mesh.triangles.iter().map(|t| t.map(to_particle)),
            welded.positions.len(),
        );
        if triangles.is_empty() {
            return None;
        }
        let Found {
            pairs: mut constraints,
            mut bends,
            quads,
        } = constraints(&welded.positions, &triangles);
        let threads: Vec<[u32; 2]> = constraints
            .iter()
            .filter(|(kind, ..)| *kind == ConstraintKind::Structural)
            .map(|&(_, a, b)| [a, b])
            .collect();
        let order = weave::order(welded.positions.len(), &quads, &threads);
        // Numbers the particles anew.
        let old = &order.particles;
        let mut new = vec![0; old.len()];
        for (number, &particle) in (0..).zip(old) {
            new[particle as usize] = number;
        }
        let rename = |i: &mut u32| *i = new[*i as usize];
        let in_cloth = welded.vertex_to_particle.iter_mut();
        in_cloth.filter(|i| **i != NO_PARTICLE).for_each(rename);
        triangles.as_flattened_mut().iter_mut().for_each(rename);
        for (_, a, b) in &mut constraints {
            rename(a);
            rename(b);
        }
        for Bend { ends, over } in &mut bends {
            ends.iter_mut().chain(over).for_each(rename);
        }
        Some(Self {
            vertex_to_particle: welded.vertex_to_particle.into(),
            positions: old.iter().map(|&i| welded.positions[i as usize]).collect(),
            triangles: triangles.into(),
            constraints,
            bends,
            sheets: order.sheets,
        })
    }

    /// Finds the constraints again that were left out.
    pub(super) fn find_constraints(&self) -> (Pairs, Vec<Bend>) {
        let Found { pairs, bends, .. } = constraints(&self.positions, &self.triangles.to_vec());
        (pairs, bends)
    }
}

/// The triangles with three different corners, each once: the back of a two-sided mesh is the same
/// fabric as its front.
fn distinct(triangles: impl Iterator<Item = [u32; 3]>, particles: usize) -> Vec<[u32; 3]> {
    let mut all: Vec<[u32; 3]> = triangles
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .collect();
    let mut sorted: Vec<([u32; 3], usize)> = (0..)
        .zip(&all)
        .map(|(order, &corners)| {
            let mut key = corners;
            key.sort_unstable();
            (key, order)
        })
        .collect();
    sort_near(&mut sorted, particles, |(key, _)| key[0]);
    let twice = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    let twice: HashSet<usize> = twice.map(|pair| pair[1].1).collect();
    if !twice.is_empty() {
        let mut number = 0..;
        all.retain(|_| number.next().is_some_and(|number| !twice.contains(&number)));
    }
    all
}

/// An edge, and the triangles on it.
struct Edge<'a> {
    ends: [u32; 2],
    /// Triangle and the corner of it that is not on the edge. Most edges have one or two.
    wings: &'a [Side],
}

/// A side of a triangle.
type Side = ([u32; 2], Wing);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wing {
    triangle: u32,
    tip: u32,
}

/// The sides of all triangles, ordered by their ends: those of one edge come together.
fn sides(triangles: &[[u32; 3]], particles: usize) -> Vec<Side> {
    let mut sides: Vec<Side> = Vec::with_capacity(triangles.len() * 3);
    for (t, &[a, b, c]) in triangles.iter().enumerate() {
        for (a, b, tip) in [(a, b, c), (b, c, a), (c, a, b)] {
            let triangle = t as u32;
            sides.push(([a.min(b), a.max(b)], Wing { triangle, tip }));
        }
    }
    sort_near(&mut sides, particles, |(ends, _)| ends[0]);
    sides
}

/// All edges, ordered by their ends.
fn edges(sides: &[Side]) -> Vec<Edge<'_>> {
    let same = sides.chunk_by(|(a, _), (b, _)| a == b);
    same.map(|wings| Edge {
        ends: wings[0].0,
        wings,
    })
    .collect()
}

/// Pairs that are to keep their distance.
pub(super) type Pairs = Vec<(ConstraintKind, u32, u32)>;

/// What was found in the triangles.
struct Found {
    pairs: Pairs,
    bends: Vec<Bend>,
    quads: Vec<Quad>,
}

fn constraints(positions: &[Vec3], triangles: &[[u32; 3]]) -> Found {
    let sides = sides(triangles, positions.len());
    let edges = edges(&sides);
    let is_diagonal: Vec<bool> = edges.iter().map(|e| is_quad(e, positions)).collect();

    let mut in_quad = vec![false; triangles.len()];
    let mut constraints = Vec::with_capacity(edges.len() * 2);
    let mut quads = Vec::with_capacity(triangles.len() / 2);
    for (edge, &diagonal) in edges.iter().zip(&is_diagonal) {
        let [a, b] = edge.ends;
        if diagonal {
            let [one, other] = [edge.wings[0].1, edge.wings[1].1];
            in_quad[one.triangle as usize] = true;
            in_quad[other.triangle as usize] = true;
            quads.push([one.tip, a, other.tip, b]);
            constraints.push((ConstraintKind::Shear, a, b));
            constraints.push((ConstraintKind::Shear, one.tip, other.tip));
        } else {
            constraints.push((ConstraintKind::Structural, a, b));
        }
    }

    // Where only quads meet, bending is along the threads; everywhere else across the edges.
    let mut bends = Vec::with_capacity(edges.len());
    let mut only_quads = vec![true; positions.len()];
    for (corners, &in_quad) in triangles.iter().zip(&in_quad) {
        if !in_quad {
            corners.iter().for_each(|&i| only_quads[i as usize] = false);
        }
    }
    let threads = edges.iter().zip(&is_diagonal).filter(|(_, d)| !**d);
    along_threads(
        positions,
        threads.clone().map(|(edge, _)| edge.ends),
        &only_quads,
        &mut bends,
    );
    for (edge, _) in threads {
        let covered = edge.wings.iter().all(|(_, w)| in_quad[w.triangle as usize])
            && edge.ends.iter().any(|&i| only_quads[i as usize]);
        if !covered {
            for pair in edge.wings.windows(2) {
                let tips = [pair[0].1.tip, pair[1].1.tip];
                bends.push(Bend::across(edge.ends, tips));
            }
        }
    }
    Found {
        pairs: constraints,
        bends,
        quads,
    }
}

/// Whether the two triangles on an edge are a rectangle, near enough: flat, with right angles at
/// their tips and diagonals of the same length. The edge is then one of the diagonals.
fn is_quad(edge: &Edge, positions: &[Vec3]) -> bool {
    let [(_, one), (_, other)] = edge.wings[..] else {
        return false;
    };
    if one.tip == other.tip {
        return false;
    }
    let at = |i: u32| positions[i as usize];
    let [a, b] = edge.ends.map(at);
    let [c, d] = [one.tip, other.tip].map(at);
    let right_angle = |tip: Vec3| cosine(a - tip, b - tip).abs() < 0.35;
    let flat = cosine((b - a).cross(c - a), (d - a).cross(b - a)) > 0.85;
    let ratio = (a - b).length() / (c - d).length();
    right_angle(c) && right_angle(d) && flat && (0.8..1.25).contains(&ratio)
}

/// Cosine of the angle between two vectors; NaN, which compares as false, if one is zero.
fn cosine(a: Vec3, b: Vec3) -> f32 {
    a.dot(b) / (a.length() * b.length())
}

/// Whether one vector comes before another: by x, then y, then z.
fn before(a: Vec3, b: Vec3) -> std::cmp::Ordering {
    let by = |k: usize| a[k].total_cmp(&b[k]);
    by(0).then_with(|| by(1)).then_with(|| by(2))
}

/// Bends along threads: at each particle where only quads meet, the two neighbours that
/// continue each other in a straight line.
fn along_threads(
    positions: &[Vec3],
    threads: impl Iterator<Item = [u32; 2]>,
    only_quads: &[bool],
    bends: &mut Vec<Bend>,
) {
    let mut neighbours: Vec<(u32, u32)> = threads
        .flat_map(|[a, b]| [(a, b), (b, a)])
        .filter(|&(at, _)| only_quads[at as usize])
        .collect();
    sort_near(&mut neighbours, positions.len(), |&(at, _)| at);
    let mut ways: Vec<Vec3> = Vec::new();
    for star in neighbours.chunk_by(|a, b| a.0 == b.0) {
        let at = star[0].0;
        let centre = positions[at as usize];
        ways.clear();
        ways.extend(star.iter().map(|&(_, n)| positions[n as usize] - centre));
        // The neighbour that lies most opposite to the given one.
        let opposite = |i: usize| {
            (0..ways.len())
                .filter(|&j| j != i)
                .map(|j| (cosine(ways[i], ways[j]), j))
                .filter(|&(cos, _)| cos < -0.6)
                // Two as good as each other are told apart by their places: how particles are
                // numbered must not matter.
                .min_by(|a, b| {
                    a.0.total_cmp(&b.0)
                        .then_with(|| before(ways[a.1], ways[b.1]))
                })
                .map(|(_, j)| j)
        };
        for i in 0..ways.len() {
            if let Some(j) = opposite(i)
                && i < j
                && opposite(j) == Some(i)
            {
                bends.push(Bend::along([star[i].1, at, star[j].1]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::grid::{ClothGrid, Diagonals};
    use bevy::mesh::Mesh;

    fn count(topology: &Topology, kind: ConstraintKind) -> usize {
        match kind {
            ConstraintKind::Bend => topology.bends.len(),
            _ => {
                let of_kind = topology.constraints.iter().filter(|c| c.0 == kind);
                of_kind.count()
            }
        }
    }

    fn topology(mesh: &Mesh) -> Topology {
        Topology::new(&TriangleMesh::read(mesh).unwrap()).unwrap()
    }

    #[test]
    fn every_grid_is_the_classic_mass_spring_cloth() {
        for diagonals in [
            Diagonals::Alternating,
            Diagonals::Parallel,
            Diagonals::Zigzag,
        ] {
            for n in [2, 3, 9, 20] {
                let grid = ClothGrid {
                    diagonals,
                    ..ClothGrid::new(2.0, 3.0, n as u32, n as u32)
                };
                let topology = topology(&grid.into());
                assert_eq!(topology.positions.len(), n * n);
                assert_eq!(topology.triangles.len(), 2 * (n - 1) * (n - 1));
                let expected = [
                    (ConstraintKind::Structural, 2 * n * (n - 1)),
                    (ConstraintKind::Shear, 2 * (n - 1) * (n - 1)),
                    (ConstraintKind::Bend, 2 * n * (n - 2)),
                ];
                for (kind, expected) in expected {
                    assert_eq!(
                        count(&topology, kind),
                        expected,
                        "{kind:?}, {n}×{n}, {diagonals:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn vertices_of_separate_triangles_are_welded() {
        let mut mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 5, 5));
        mesh.duplicate_vertices();
        let topology = topology(&mesh);
        assert_eq!(topology.vertex_to_particle.len(), 96);
        assert_eq!(topology.positions.len(), 25);
    }

    #[test]
    fn triangles_that_are_no_quads_bend_across_their_edges() {
        // Two equilateral triangles: five edges, one of them inside.
        let positions = [
            Vec3::ZERO,
            Vec3::X,
            Vec3::new(0.5, 0.866, 0.0),
            Vec3::new(0.5, -0.866, 0.0),
        ];
        let mesh = TriangleMesh {
            positions: positions.to_vec(),
            triangles: vec![[0, 1, 2], [1, 0, 3]],
            out_of_range: 0,
        };
        let topology = Topology::new(&mesh).unwrap();
        assert_eq!(count(&topology, ConstraintKind::Structural), 5);
        assert_eq!(count(&topology, ConstraintKind::Shear), 0);
        let [bend] = topology.bends[..] else {
            panic!("{:?}", topology.bends);
        };
        assert_eq!((bend.over, bend.ends), ([0, 1], [2, 3]));
    }

    #[test]
    fn front_and_back_of_a_sheet_are_one_fabric() {
        let mesh = TriangleMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            triangles: vec![[0, 1, 2], [0, 2, 1], [0, 0, 1]],
            out_of_range: 0,
        };
        let topology = Topology::new(&mesh).unwrap();
        assert_eq!(topology.triangles.to_vec(), [[0, 1, 2]]);
    }

    #[test]
    fn triangles_without_area_still_hold() {
        let mesh = TriangleMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::X * 2.0, Vec3::Y],
            triangles: vec![[0, 1, 2], [0, 1, 3]],
            out_of_range: 0,
        };
        let topology = Topology::new(&mesh).unwrap();
        assert_eq!(count(&topology, ConstraintKind::Structural), 5);
    }

    #[test]
    fn a_mesh_of_one_place_is_no_cloth() {
        let mesh = TriangleMesh {
            positions: vec![Vec3::ONE; 3],
            triangles: vec![[0, 1, 2]],
            out_of_range: 0,
        };
        assert_eq!(Topology::new(&mesh), None);
    }
}
