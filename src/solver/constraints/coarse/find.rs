//! Finds coarse levels in a mesh.

use super::{
    CoarseLevel, CoarseLevels, CoarseLink, MAX_LEVELS,
    mesh::{LevelMesh, NodeCells},
    stiffness::StiffnessMatrix,
    strain::CommonStrain,
};
use crate::solver::{
    constraints::{constraint::ConstraintKind, geodesic::RestShape, graph::distance},
    math::closest_point::ClosestOnTriangle,
    simd::soa::SoaVec3,
};
use bevy::math::Vec3;

/// Smallest and largest number of nodes of a level.
const NODES: std::ops::RangeInclusive<usize> = 16..=1 << 16;

/// Smallest number of edges, or links of the level before, between nodes.
const SPACING: u32 = 3;

/// Largest number of them between neighbouring nodes: links over more are left out.
const REACH: u32 = 5;

/// Vertices from which the nodes of a level are chosen: all particles, or the nodes of the level before.
struct Vertices<'a> {
    positions: &'a SoaVec3,
    particles: Vec<u32>,
    /// Area of cloth around each, m², and that at its particle.
    areas: Vec<[f32; 2]>,
    mesh: LevelMesh,
}

impl CoarseLevels {
    /// Finds the levels of a cloth. The second result are the numbers of its edges, for [`number_edges`](super::number_edges).
    pub(in crate::solver) fn new(shape: &RestShape) -> (Self, Vec<u32>) {
        let mut edges = shape.constraints.of_kind(ConstraintKind::Structural);
        let has_edges = edges.any(|(_, rest)| rest > 0.0);
        let mut vertices = Vertices {
            positions: shape.positions,
            particles: (0..shape.positions.len() as u32).collect(),
            areas: areas(shape).into_iter().map(|area| [area; 2]).collect(),
            mesh: LevelMesh::of_particles(shape),
        };
        let mut levels: Vec<CoarseLevel> = Vec::new();
        let (mut common, mut numbers) = (CommonStrain::default(), Vec::new());
        while has_edges && vertices.mesh.has_triangles() && levels.len() < MAX_LEVELS {
            let nodes = vertices.mesh.choose_nodes(SPACING);
            let is_usable = NODES.contains(&nodes.len());
            let Some(cells) = is_usable
                .then(|| vertices.mesh.find_cells(&nodes, REACH))
                .flatten()
            else {
                break;
            };
            let (level, nodes) = match levels.last() {
                None => {
                    let edges = shape.constraints.of_kind(ConstraintKind::Structural);
                    vertices.level(&nodes, cells, edges.map(|(ends, _)| (ends, 1.0)))
                }
                Some(CoarseLevel { stiffness, .. }) => {
                    vertices.level(&nodes, cells, stiffness.springs())
                }
            };
            if level.links.is_empty() {
                break;
            }
            if levels.is_empty() {
                let areas: Vec<f32> = vertices.areas.iter().map(|[area, _]| *area).collect();
                (common, numbers) = CommonStrain::new(shape, &areas, &level, &nodes.mesh);
            }
            levels.push(level);
            vertices = nodes;
        }
        (Self { levels, common }, numbers)
    }
}

/// Returns the area of cloth at each particle, m².
fn areas(shape: &RestShape) -> Vec<f32> {
    let mut areas = vec![0.0; shape.positions.len()];
    for &corners in shape.triangles {
        let [a, b, c] = corners.map(|i| shape.positions.get(i as usize));
        for i in corners {
            areas[i as usize] += (b - a).cross(c - a).length() / 6.0;
        }
    }
    areas
}

impl<'a> Vertices<'a> {
    fn at(&self, vertex: u32) -> Vec3 {
        let particle = self.particles[vertex as usize];
        self.positions.get(particle as usize)
    }

    /// Returns the level with these nodes, and the nodes as vertices of the next one. `springs` are those between its vertices.
    fn level(
        &self,
        nodes: &[u32],
        NodeCells { nearest, mesh }: NodeCells,
        springs: impl Iterator<Item = ([u32; 2], f32)>,
    ) -> (CoarseLevel, Vertices<'a>) {
        let places = (0..).zip(nearest);
        let places = places.map(|(vertex, node)| self.place(vertex, node, nodes, &mesh));
        let (corners, weights): (Vec<_>, Vec<_>) = places.unzip();
        let particles: Vec<u32> = (nodes.iter())
            .map(|&node| self.particles[node as usize])
            .collect();
        let link = |&(ends, length): &([u32; 2], f64)| {
            let [a, b] = ends.map(|node| particles[node as usize]);
            CoarseLink {
                nodes: ends.map(|node| node as u16),
                // Rounding does not move flat cloth at rest.
                rest: (length as f32).max(distance(self.positions, a, b)),
            }
        };
        let links: Vec<CoarseLink> = mesh.edges().iter().map(link).collect();
        let mut level = CoarseLevel {
            stiffness: StiffnessMatrix::new(nodes.len(), springs, &corners, &weights),
            nodes: particles.clone().into(),
            mass_ratios: Vec::new().into(),
            links: links.into(),
            corners: corners.into(),
            weights: weights.into(),
        };
        let mut areas = vec![0.0; nodes.len()];
        let own = self.areas.iter().map(|[area, _]| *area);
        level.distribute(own, |node, area| areas[node] += area);
        let areas = (nodes.iter().zip(areas)).map(|(&node, area)| {
            let [_, own] = self.areas[node as usize];
            [area.max(own), own]
        });
        let areas: Vec<[f32; 2]> = areas.collect();
        let ratio = |&[area, own]: &[f32; 2]| if own > 0.0 { own / area } else { 1.0 };
        level.mass_ratios = areas.iter().map(ratio).collect();
        let nodes = Vertices {
            particles,
            areas,
            mesh,
            ..*self
        };
        (level, nodes)
    }

    /// Returns the nodes between which a vertex lies, and the weights of the first two. `node` is the nearest one, and `mesh` that
    /// of the nodes.
    fn place(
        &self,
        vertex: u32,
        node: u32,
        nodes: &[u32],
        mesh: &LevelMesh,
    ) -> ([u16; 3], [f32; 2]) {
        let mut place = ([node as u16; 3], [1.0, 0.0]);
        if nodes[node as usize] == vertex {
            return place;
        }
        let at = self.at(vertex);
        let mut nearest = f32::INFINITY;
        for triangle in mesh.triangles_at(node) {
            let corners = triangle.map(|node| self.at(nodes[node as usize]));
            let closest = ClosestOnTriangle::new(corners, at);
            let square = closest.position(corners).distance_squared(at);
            let [u, v, _] = closest.weights;
            let is_inside = closest
                .weights
                .iter()
                .all(|weight| (0.0..=1.0).contains(weight));
            if square < nearest && is_inside {
                (place, nearest) = ((triangle.map(|node| node as u16), [u, v]), square);
            }
        }
        place
    }
}
