//! Finds the constraints of a cloth in the triangles of its mesh: edges, the two diagonals of quads, and bend
//! stencils.
//!
//! A grid of N×N vertices, whatever its diagonals, gives 2N(N−1) structural, 2(N−1)² shear and
//! 2N(N−2) bend constraints: the classic mass–spring cloth (Provot 1995), except for the model of bending.
//! Other meshes get their edges as structural constraints, and each inner edge resists bending.

use super::{
    compact_indices::CompactIndices,
    find_grids::{self, Quad},
    read::TriangleMesh,
    weld::weld,
};
use crate::solver::{
    BendStencil, ConstraintKind, Corners, GridLayout, Shared,
    math::components::connected_components, sort_by_particle,
};
use bevy::{math::Vec3, platform::collections::HashSet};

/// Particles, triangles and constraints of a cloth in mesh space, before it is placed in the world.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// Particle of each vertex; [`NO_PARTICLE`] for vertices that are not used by any triangle.
    pub vertex_to_particle: CompactIndices,
    /// Rest positions of the particles in mesh space, m.
    pub positions: Shared<Vec<Vec3>>,
    /// Particles at the corners of each triangle, without duplicates.
    pub triangles: Corners,
    /// Pairs of particles with a distance constraint. May be emptied once the constraints are built, because
    /// they follow from the triangles, see [`constraints_at`](Self::constraints_at).
    pub constraints: Vec<(ConstraintKind, u32, u32)>,
    /// Stencils of the bend constraints. May be emptied together with `constraints`.
    pub bends: Vec<BendStencil>,
    /// Grids among the particles, which are numbered row by row.
    pub grids: Vec<GridLayout>,
}

/// Entry of [`Topology::vertex_to_particle`] for vertices that are not part of the cloth.
pub const NO_PARTICLE: u32 = u32::MAX;

impl Topology {
    /// Analyses a mesh. Triangles with fewer than three distinct particles are left out. Returns `None` if no
    /// triangle remains.
    pub fn new(mesh: &TriangleMesh) -> Option<Self> {
        let mut welded = weld(&mesh.positions, &mesh.triangles);
        let to_particle = |i: u32| welded.vertex_to_particle[i as usize];
        let mut triangles = distinct_triangles(
            mesh.triangles.iter().map(|t| t.map(to_particle)),
            welded.positions.len(),
        );
        if triangles.is_empty() {
            return None;
        }
        let MeshConstraints {
            pairs: mut constraints,
            mut bends,
            quads,
        } = constraints(&welded.positions, &triangles);
        let structural: Vec<[u32; 2]> = constraints
            .iter()
            .filter(|(kind, ..)| *kind == ConstraintKind::Structural)
            .map(|&(_, a, b)| [a, b])
            .collect();
        let order = find_grids::order_particles(welded.positions.len(), &quads, &structural);
        // Renumber the particles.
        let old = &order.particles;
        let mut new = vec![0; old.len()];
        for (number, &particle) in (0..).zip(old) {
            new[particle as usize] = number;
        }
        let renumber = |i: &mut u32| *i = new[*i as usize];
        let in_cloth = welded.vertex_to_particle.iter_mut();
        in_cloth.filter(|i| **i != NO_PARTICLE).for_each(renumber);
        triangles.as_flattened_mut().iter_mut().for_each(renumber);
        for (_, a, b) in &mut constraints {
            renumber(a);
            renumber(b);
        }
        for BendStencil { ends, middle } in &mut bends {
            ends.iter_mut().chain(middle).for_each(renumber);
        }
        Some(Self {
            vertex_to_particle: welded.vertex_to_particle.into(),
            positions: old.iter().map(|&i| welded.positions[i as usize]).collect(),
            triangles: triangles.into(),
            constraints,
            bends,
            grids: order.grids,
        })
    }

    /// Finds the constraints in the triangles, after the lists have been emptied.
    pub(super) fn find_constraints(&self) -> (ConstraintPairs, Vec<BendStencil>) {
        let found = constraints(&self.positions, &self.triangles.to_vec());
        (found.pairs, found.bends)
    }
}

/// Returns the triangles with three different corners, without duplicates: the back of a two-sided mesh is the
/// same fabric as its front.
fn distinct_triangles(
    triangles: impl Iterator<Item = [u32; 3]>,
    particles: usize,
) -> Vec<[u32; 3]> {
    let mut all: Vec<[u32; 3]> = triangles
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .collect();
    let mut sorted: Vec<([u32; 3], usize)> = (0..)
        .zip(&all)
        .map(|(number, &corners)| {
            let mut key = corners;
            key.sort_unstable();
            (key, number)
        })
        .collect();
    sort_by_particle(&mut sorted, particles, |(key, _)| key[0]);
    let duplicates = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    let duplicates: HashSet<usize> = duplicates.map(|pair| pair[1].1).collect();
    if !duplicates.is_empty() {
        let mut numbers = 0..;
        let is_kept = |number: Option<usize>| number.is_some_and(|n| !duplicates.contains(&n));
        all.retain(|_| is_kept(numbers.next()));
    }
    all
}

/// Edge of the mesh and the triangles on it.
struct MeshEdge<'a> {
    ends: [u32; 2],
    /// Sides of triangles that form the edge; of most edges one or two.
    sides: &'a [EdgeSide],
}

/// Side of a triangle: its ends in ascending order, and the corner opposite to it.
type EdgeSide = ([u32; 2], OppositeCorner);

/// Triangle on an edge and its corner that is not on the edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct OppositeCorner {
    triangle: u32,
    corner: u32,
}

/// Returns the sides of all triangles, sorted by their ends, so that the sides of one edge are adjacent.
fn sides(triangles: &[[u32; 3]], particles: usize) -> Vec<EdgeSide> {
    let mut sides: Vec<EdgeSide> = Vec::with_capacity(triangles.len() * 3);
    for (t, &[a, b, c]) in triangles.iter().enumerate() {
        for (a, b, corner) in [(a, b, c), (b, c, a), (c, a, b)] {
            let triangle = t as u32;
            let opposite = OppositeCorner { triangle, corner };
            sides.push(([a.min(b), a.max(b)], opposite));
        }
    }
    sort_by_particle(&mut sides, particles, |(ends, _)| ends[0]);
    sides
}

/// Returns all edges, sorted by their ends.
fn edges(sides: &[EdgeSide]) -> Vec<MeshEdge<'_>> {
    let same = sides.chunk_by(|(a, _), (b, _)| a == b);
    same.map(|sides| MeshEdge {
        ends: sides[0].0,
        sides,
    })
    .collect()
}

/// Pairs of particles with a distance constraint.
pub(super) type ConstraintPairs = Vec<(ConstraintKind, u32, u32)>;

/// Constraints and quads that were found in the triangles.
struct MeshConstraints {
    pairs: ConstraintPairs,
    bends: Vec<BendStencil>,
    quads: Vec<Quad>,
}

/// Finds constraints and quads in the triangles.
fn constraints(positions: &[Vec3], triangles: &[[u32; 3]]) -> MeshConstraints {
    let sides = sides(triangles, positions.len());
    let edges = edges(&sides);
    let mut is_diagonal: Vec<bool> = edges.iter().map(|e| is_quad(e, positions)).collect();
    keep_patches(&edges, triangles.len(), &mut is_diagonal);

    let mut in_quad = vec![false; triangles.len()];
    let mut constraints = Vec::with_capacity(edges.len() * 2);
    let mut quads = Vec::with_capacity(triangles.len() / 2);
    for (edge, &diagonal) in edges.iter().zip(&is_diagonal) {
        let [a, b] = edge.ends;
        if diagonal {
            let [first, second] = [edge.sides[0].1, edge.sides[1].1];
            in_quad[first.triangle as usize] = true;
            in_quad[second.triangle as usize] = true;
            quads.push([first.corner, a, second.corner, b]);
            constraints.push((ConstraintKind::Shear, a, b));
            constraints.push((ConstraintKind::Shear, first.corner, second.corner));
        } else {
            constraints.push((ConstraintKind::Structural, a, b));
        }
    }

    // Where only quads meet, bends run along edges; everywhere else across edges.
    let mut bends = Vec::with_capacity(edges.len());
    let mut only_quads = vec![true; positions.len()];
    for (corners, &in_quad) in triangles.iter().zip(&in_quad) {
        if !in_quad {
            corners.iter().for_each(|&i| only_quads[i as usize] = false);
        }
    }
    let structural = edges.iter().zip(&is_diagonal).filter(|(_, d)| !**d);
    bends_along_edges(
        positions,
        structural.clone().map(|(edge, _)| edge.ends),
        &only_quads,
        &mut bends,
    );
    for (edge, _) in structural {
        let mut opposite = edge.sides.iter().map(|(_, opposite)| opposite);
        let covered = opposite.all(|opposite| in_quad[opposite.triangle as usize])
            && edge.ends.iter().any(|&i| only_quads[i as usize]);
        if !covered {
            for pair in edge.sides.windows(2) {
                let opposite = [pair[0].1.corner, pair[1].1.corner];
                bends.push(BendStencil::dihedral(edge.ends, opposite));
            }
        }
    }
    MeshConstraints {
        pairs: constraints,
        bends,
        quads,
    }
}

/// Quads of a patch that make it count, unless it is much of a mesh.
const MIN_PATCH: usize = 32;

/// A patch is much of a mesh if it has one in this many of its triangles.
const MUCH: usize = 8;

/// Leaves quads only in patches of many: a few quads among triangles are no fabric with warp and weft, but two triangles
/// that happen to form a rectangle. `is_diagonal` tells of each edge whether it is the diagonal of a quad.
fn keep_patches(edges: &[MeshEdge], triangles: usize, is_diagonal: &mut [bool]) {
    let mut in_quad = vec![false; triangles];
    for (edge, _) in edges.iter().zip(&*is_diagonal).filter(|(_, d)| **d) {
        for (_, side) in edge.sides {
            in_quad[side.triangle as usize] = true;
        }
    }
    // Quads with a common side are in one patch.
    let joins = edges.iter().flat_map(|edge| {
        let triangles = edge.sides.iter().map(|(_, side)| side.triangle as usize);
        let mut quads = triangles.filter(|&triangle| in_quad[triangle]);
        let first = quads.next();
        quads.filter_map(move |quad| Some([first?, quad]))
    });
    let patch = connected_components(triangles, joins);
    let mut sizes = vec![0; triangles];
    for (&patch, _) in patch.iter().zip(&in_quad).filter(|(_, in_quad)| **in_quad) {
        sizes[patch] += 1;
    }
    for (edge, is_diagonal) in edges.iter().zip(is_diagonal) {
        let size = sizes[patch[edge.sides[0].1.triangle as usize]];
        *is_diagonal &= size >= 2 * MIN_PATCH || MUCH * size >= triangles;
    }
}

/// Returns whether the two triangles on an edge approximate a rectangle: flat, with right angles at the
/// corners opposite to the edge and diagonals of equal length. The edge is then one of the diagonals.
fn is_quad(edge: &MeshEdge, positions: &[Vec3]) -> bool {
    let [(_, first), (_, second)] = edge.sides[..] else {
        return false;
    };
    if first.corner == second.corner {
        return false;
    }
    let position = |i: u32| positions[i as usize];
    let [a, b] = edge.ends.map(position);
    let [c, d] = [first.corner, second.corner].map(position);
    let right_angle = |corner: Vec3| cosine(a - corner, b - corner).abs() < 0.35;
    let flat = cosine((b - a).cross(c - a), (d - a).cross(b - a)) > 0.85;
    let ratio = (a - b).length() / (c - d).length();
    right_angle(c) && right_angle(d) && flat && (0.8..1.25).contains(&ratio)
}

/// Returns the cosine of the angle between two vectors; NaN, which compares as false, if one is zero.
fn cosine(a: Vec3, b: Vec3) -> f32 {
    a.dot(b) / (a.length() * b.length())
}

/// Compares two vectors by x, then y, then z.
fn compare_positions(a: Vec3, b: Vec3) -> std::cmp::Ordering {
    let compare = |k: usize| a[k].total_cmp(&b[k]);
    compare(0).then_with(|| compare(1)).then_with(|| compare(2))
}

/// Adds the bends along edges: at each particle where only quads meet, over each two neighbours that lie
/// opposite to each other.
fn bends_along_edges(
    positions: &[Vec3],
    structural: impl Iterator<Item = [u32; 2]>,
    only_quads: &[bool],
    bends: &mut Vec<BendStencil>,
) {
    let mut neighbours: Vec<(u32, u32)> = structural
        .flat_map(|[a, b]| [(a, b), (b, a)])
        .filter(|&(middle, _)| only_quads[middle as usize])
        .collect();
    sort_by_particle(&mut neighbours, positions.len(), |&(middle, _)| middle);
    let mut offsets: Vec<Vec3> = Vec::new();
    for star in neighbours.chunk_by(|a, b| a.0 == b.0) {
        let middle = star[0].0;
        let centre = positions[middle as usize];
        offsets.clear();
        offsets.extend(star.iter().map(|&(_, n)| positions[n as usize] - centre));
        // Returns the neighbour that lies most nearly opposite to a given one.
        let opposite = |i: usize| {
            (0..offsets.len())
                .filter(|&j| j != i)
                .map(|j| (cosine(offsets[i], offsets[j]), j))
                .filter(|&(cos, _)| cos < -0.6)
                // Ties are decided by position, so that the numbering of particles does not matter.
                .min_by(|a, b| {
                    a.0.total_cmp(&b.0)
                        .then_with(|| compare_positions(offsets[a.1], offsets[b.1]))
                })
                .map(|(_, j)| j)
        };
        for i in 0..offsets.len() {
            if let Some(j) = opposite(i)
                && i < j
                && opposite(j) == Some(i)
            {
                bends.push(BendStencil::three_point([star[i].1, middle, star[j].1]));
            }
        }
    }
}

#[cfg(test)]
mod tests;
