//! Meshes whose nodes a level is chosen from: the mesh of the particles, and those that the nodes of each level form. They are
//! intrinsic: of edges only the length over the cloth is known.

use crate::solver::{
    constraints::{constraint::ConstraintKind, geodesic::RestShape, graph::distance},
    math::particle_lists::ParticleLists,
};
use std::{cmp::Reverse, collections::BinaryHeap};

/// Largest number of vertices near a node: meshes with more, of hubs with many arms, would take long. Usual are 100.
const MAX_REACHED: usize = 1024;

/// Relative improvement from which a distance counts as shorter; without it, rounding would prolong the search.
const MIN_IMPROVEMENT: f64 = 1e-9;

/// Edge of a mesh and its length, m.
pub(super) type Edge = ([u32; 2], f64);

/// Mesh of the vertices from which the nodes of a level are chosen.
pub(super) struct LevelMesh {
    /// Sorted by ends, of which the first has the lower number.
    edges: Vec<Edge>,
    neighbours: ParticleLists<(u32, f64)>,
    triangles: Vec<[u32; 3]>,
    corners: ParticleLists<Corner>,
}

/// Triangle at a vertex.
#[derive(Clone, Copy, Default)]
struct Corner {
    /// The other two vertices.
    others: [u32; 2],
    /// Lengths of the edges to these, m.
    to_others: [f64; 2],
    /// Length of the edge between these, m.
    opposite: f64,
}

/// Vertices that are nearest to each node.
pub(super) struct NodeCells {
    /// Number of the nearest node of each vertex.
    pub(super) nearest: Vec<u32>,
    /// Mesh of the nodes.
    pub(super) mesh: LevelMesh,
}

/// Distances from one node to the vertices around it.
struct DistanceSearch {
    /// Distance of each vertex, m, and number of edges.
    reached: Vec<(f64, u32)>,
    /// Vertices with a finite distance.
    touched: Vec<u32>,
    queue: BinaryHeap<Reverse<(u64, u32)>>,
}

impl LevelMesh {
    /// Creates the mesh of the particles, with the edges of triangles and the structural constraints.
    pub(super) fn of_particles(shape: &RestShape) -> Self {
        let count = shape.positions.len();
        let sides = shape.triangles.iter().flat_map(|&[a, b, c]| {
            let length = |[a, b]: [u32; 2]| f64::from(distance(shape.positions, a, b));
            [[a, b], [b, c], [c, a]].map(|side| (side, length(side)))
        });
        let structural = shape.constraints.of_kind(ConstraintKind::Structural);
        let structural = structural.map(|(ends, rest)| (ends, f64::from(rest)));
        Self::new(count, sides.chain(structural), shape.triangles.to_vec())
    }

    /// Creates a mesh. Edges of length 0 and triangles without three edges are left out.
    fn new(count: usize, edges: impl Iterator<Item = Edge>, mut triangles: Vec<[u32; 3]>) -> Self {
        let edges = edges.map(|([a, b], length)| ([a.min(b), a.max(b)], length));
        let mut edges: Vec<Edge> = edges
            .filter(|&([a, b], length)| a != b && (b as usize) < count && length > 0.0)
            .collect();
        edges.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        edges.dedup_by_key(|(ends, _)| *ends);
        let length = |a: u32, b: u32| {
            let ends = [a.min(b), a.max(b)];
            let found = edges.binary_search_by(|edge| edge.0.cmp(&ends));
            found.ok().map(|index| edges[index].1)
        };
        let corner = |[a, b, c]: [u32; 3]| {
            Some(Corner {
                others: [b, c],
                to_others: [length(a, b)?, length(a, c)?],
                opposite: length(b, c)?,
            })
        };
        triangles.retain(|&triangle| corner(triangle).is_some());
        let mut corners = ParticleLists::default();
        corners.fill(count, || {
            let triangles = triangles.iter();
            triangles.flat_map(|&[a, b, c]| {
                let all = [[a, b, c], [b, c, a], [c, a, b]].into_iter();
                all.filter_map(|triangle| Some((triangle[0], corner(triangle)?)))
            })
        });
        let mut neighbours = ParticleLists::default();
        neighbours.fill(count, || {
            let edges = edges.iter();
            edges.flat_map(|&([a, b], length)| [(a, (b, length)), (b, (a, length))])
        });
        Self {
            edges,
            neighbours,
            triangles,
            corners,
        }
    }

    /// Returns the edges.
    pub(super) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns the numbers of the edges around each triangle, from corner to corner.
    pub(super) fn edges_of_triangles(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        let number = |a: u32, b: u32| {
            let ends = [a.min(b), a.max(b)];
            // Triangles without three edges were left out.
            self.edges.partition_point(|edge| edge.0 < ends) as u32
        };
        let triangles = self.triangles.iter();
        triangles.map(move |&[a, b, c]| [number(a, b), number(b, c), number(c, a)])
    }

    /// Returns the triangles.
    pub(super) fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Returns the number of a triangle, if triangles are sorted, as those of nodes are.
    pub(super) fn number_of(&self, mut triangle: [u32; 3]) -> Option<usize> {
        triangle.sort_unstable();
        self.triangles.binary_search(&triangle).ok()
    }

    /// Iterates over the numbers of the triangles at a vertex, if triangles are sorted.
    pub(super) fn numbers_at(&self, vertex: u32) -> impl Iterator<Item = usize> + '_ {
        let triangles = self.triangles_at(vertex);
        triangles.filter_map(|triangle| self.number_of(triangle))
    }

    /// Returns whether there are any triangles.
    pub(super) fn has_triangles(&self) -> bool {
        !self.triangles.is_empty()
    }

    /// Iterates over the triangles at a vertex.
    pub(super) fn triangles_at(&self, vertex: u32) -> impl Iterator<Item = [u32; 3]> + '_ {
        let corners = self.corners.for_particle(vertex).iter();
        corners.map(move |corner| [vertex, corner.others[0], corner.others[1]])
    }

    fn len(&self) -> usize {
        self.neighbours.first.len().saturating_sub(2)
    }

    /// Returns which vertices lie at the border.
    fn border(&self) -> Vec<bool> {
        let mut border = vec![false; self.len()];
        for (vertex, is_at_border) in (0..).zip(&mut border) {
            // Around an inner vertex each neighbour is in two triangles.
            let corners = self.corners.for_particle(vertex).iter();
            let mut others: Vec<u32> = corners.flat_map(|corner| corner.others).collect();
            others.sort_unstable();
            *is_at_border = others.chunk_by(|a, b| a == b).any(|same| same.len() == 1);
        }
        border
    }

    /// Chooses nodes at least `spacing` edges apart, so that each other vertex is nearer than that to one of them: first vertices
    /// at the border, so that the level reaches as far as the cloth.
    pub(super) fn choose_nodes(&self, spacing: u32) -> Vec<u32> {
        let border = self.border();
        let mut is_near = vec![false; border.len()];
        // Node from which each vertex was reached last.
        let mut reached_from = vec![u32::MAX; border.len()];
        let mut near = Vec::new();
        let mut nodes = Vec::new();
        for at_border in [true, false] {
            for node in 0..border.len() as u32 {
                if is_near[node as usize] || border[node as usize] != at_border {
                    continue;
                }
                nodes.push(node);
                near.clear();
                near.push(node);
                reached_from[node as usize] = node;
                let mut done = 0;
                for _ in 1..spacing {
                    let ring = done..near.len();
                    done = near.len();
                    for k in ring {
                        for &(i, _) in self.neighbours.for_particle(near[k]) {
                            if reached_from[i as usize] != node {
                                reached_from[i as usize] = node;
                                near.push(i);
                            }
                        }
                    }
                }
                for &i in &near {
                    is_near[i as usize] = true;
                }
            }
        }
        nodes.sort_unstable();
        nodes
    }

    /// Finds the nearest node of each vertex, and the mesh of the nodes: an edge joins two of them if one of the mesh leads from
    /// the vertices of one to those of the other, and if there are about `reach` edges between them at most. `None` if more
    /// than [`MAX_REACHED`] vertices are as near as that to one node.
    pub(super) fn find_cells(&self, nodes: &[u32], reach: u32) -> Option<NodeCells> {
        let mut nearest = vec![(f64::INFINITY, 0); self.len()];
        let mut number_of = vec![None; self.len()];
        for (number, &node) in (0_u32..).zip(nodes) {
            number_of[node as usize] = Some(number);
        }
        let mut known: Vec<Edge> = Vec::new();
        let mut search = DistanceSearch::new(self.len());
        for (number, &node) in (0_u32..).zip(nodes) {
            if !search.run(self, node, reach) {
                return None;
            }
            for &vertex in &search.touched {
                let (distance, _) = search.reached[vertex as usize];
                let other = number_of[vertex as usize];
                known.extend(
                    other
                        .filter(|&other| other > number)
                        .map(|other| ([number, other], distance)),
                );
                let nearest = &mut nearest[vertex as usize];
                if distance < nearest.0 {
                    *nearest = (distance, number);
                }
            }
        }
        known.sort_unstable_by_key(|edge| edge.0);
        let nearest: Vec<u32> = nearest.into_iter().map(|(_, number)| number).collect();
        let mut pairs: Vec<[u32; 2]> = (self.edges.iter())
            .map(|(ends, _)| ends.map(|vertex| nearest[vertex as usize]))
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let edges = pairs.into_iter().filter_map(|pair| {
            let found = known.binary_search_by(|edge| edge.0.cmp(&pair));
            found.ok().map(|index| known[index])
        });
        let triangles = self.triangles.iter().map(|triangle| {
            let mut triangle = triangle.map(|vertex| nearest[vertex as usize]);
            triangle.sort_unstable();
            triangle
        });
        let mut triangles: Vec<_> = triangles.filter(|[a, b, c]| a < b && b < c).collect();
        triangles.sort_unstable();
        triangles.dedup();
        Some(NodeCells {
            mesh: Self::new(nodes.len(), edges, triangles),
            nearest,
        })
    }
}

impl DistanceSearch {
    fn new(vertices: usize) -> Self {
        Self {
            reached: vec![(f64::INFINITY, 0); vertices],
            touched: Vec::new(),
            queue: BinaryHeap::new(),
        }
    }

    /// Measures the distances of all vertices that are at most `reach` edges from a node, nearest first. Over a triangle a front
    /// propagates as a circle, as in `geodesic`; around holes and slits distances may be too short. Returns `false` if there are
    /// too many.
    fn run(&mut self, mesh: &LevelMesh, node: u32, reach: u32) -> bool {
        for &vertex in &self.touched {
            self.reached[vertex as usize] = (f64::INFINITY, 0);
        }
        self.touched.clear();
        self.offer(node, 0.0, 0);
        while let Some(Reverse((key, vertex))) = self.queue.pop() {
            if self.touched.len() > MAX_REACHED {
                return false;
            }
            let (own, edges) = self.reached[vertex as usize];
            if own.to_bits() != key || edges == reach {
                continue;
            }
            for &(other, length) in mesh.neighbours.for_particle(vertex) {
                self.offer(other, own + length, edges + 1);
            }
            for corner in mesh.corners.for_particle(vertex) {
                for [k, l] in [[0, 1], [1, 0]] {
                    let [(beside, _), (beyond, _)] =
                        [k, l].map(|k| self.reached[corner.others[k] as usize]);
                    // A front arrives from the nearest of the three.
                    if beside == f64::INFINITY || beyond <= own.min(beside) {
                        continue;
                    }
                    let across = [corner.to_others[l], corner.opposite];
                    let over = distance_across(corner.to_others[k], [own, beside], across);
                    if let Some(distance) = over {
                        self.offer(corner.others[l], distance, edges + 1);
                    }
                }
            }
        }
        true
    }

    /// Sets the distance of a vertex if it is shorter than the known one.
    fn offer(&mut self, vertex: u32, distance: f64, edges: u32) {
        let known = &mut self.reached[vertex as usize];
        if distance < known.0 * (1.0 - MIN_IMPROVEMENT) || known.0 == f64::INFINITY {
            if known.0 == f64::INFINITY {
                self.touched.push(vertex);
                known.1 = edges;
            }
            known.0 = distance;
            self.queue.push(Reverse((distance.to_bits(), vertex)));
        }
    }
}

/// Returns the straight distance between two points in a plane, at these distances from both ends of an edge and on different
/// sides of it. `None` if there are no such points, or if the straight line does not cross the edge.
fn distance_across(edge: f64, from_a: [f64; 2], from_b: [f64; 2]) -> Option<f64> {
    let square = |length: f64| length * length;
    // Coordinates along the edge and off it.
    let [[along_a, off_a], [along_b, off_b]] = [from_a, from_b].map(|[first, second]| {
        let along = (square(first) - square(second) + square(edge)) / (2.0 * edge);
        [along, (square(first) - square(along)).max(0.0).sqrt()]
    });
    let (aside, apart) = (along_b - along_a, off_a + off_b);
    let crossing = along_a + aside * (off_a / apart);
    (0.0..=edge).contains(&crossing).then(|| aside.hypot(apart))
}
