//! Edges of the mesh, in the triangles of nodes in which they lie: in blocks of four, which are computed side by side.

use super::{CoarseLevel, mesh::LevelMesh};
use crate::solver::{
    constraints::{
        constraint::ConstraintKind,
        general::{GeneralConstraints, RegionConstraints},
        geodesic::RestShape,
        list::{ConstraintList, Slots},
    },
    math::{closest_point::ClosestOnTriangle, particle_lists::ParticleLists},
    parallel::workers::Workers,
    shared_lists::SharedLists,
};
use bevy::math::{Vec3, Vec4};

/// Largest absolute weight of the strain of a link, and of a corner: an edge across a narrow triangle would have larger ones.
const MAX_WEIGHT: f32 = 2.0;

/// Edges in a block.
pub(super) const LANES: usize = 4;

/// Number of the edge of a slot whose edge lies in no triangle.
const ALONE: u32 = u32::MAX;

/// Edges of the mesh by triangle of nodes.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct TriangleEdges {
    /// Edges in each triangle.
    pub(super) blocks: SharedLists<EdgeBlock>,
    /// Number of the edge in each slot for edges, region by region; [`ALONE`] without one.
    slots: SharedLists<u32>,
}

/// Four edges in a triangle of nodes; places that are left over have both ends in one particle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct EdgeBlock {
    /// First and second particles.
    pub(super) ends: [[u32; LANES]; 2],
    /// Rest lengths, m.
    rest: [f32; LANES],
    /// Weights of the strain of the first two links around the triangle; all three sum up to 1.
    strain_weights: [[f32; LANES]; 2],
    /// Each edge is the sum of the corners of the triangle times δ: that of the first two; all three sum up to 0.
    corner_weights: [[f32; LANES]; 2],
}

/// Weights of an edge in a triangle of nodes.
#[derive(Clone, Copy, Default)]
struct EdgeWeights {
    rest: f32,
    of_strain: [f32; 2],
    of_corners: [f32; 2],
}

impl EdgeBlock {
    /// Returns by how much each edge is longer if the links around the triangle have this strain, m.
    #[inline(always)]
    pub(super) fn changes(&self, [a, b, c]: [f32; 3]) -> Vec4 {
        let [u, v] = self.strain_weights.map(Vec4::from_array);
        let strain = u * a + v * b + (Vec4::ONE - u - v) * c;
        strain * self.rest()
    }

    #[inline(always)]
    pub(super) fn rest(&self) -> Vec4 {
        Vec4::from_array(self.rest)
    }

    #[inline(always)]
    pub(super) fn corner_weights(&self) -> [Vec4; 2] {
        let [u, v] = self.corner_weights;
        [Vec4::from_array(u), Vec4::from_array(v)]
    }

    fn set(&mut self, lane: usize, ends: [u32; 2], weights: EdgeWeights) {
        for k in [0, 1] {
            self.ends[k][lane] = ends[k];
            self.strain_weights[k][lane] = weights.of_strain[k];
            self.corner_weights[k][lane] = weights.of_corners[k];
        }
        self.rest[lane] = weights.rest;
    }

    fn is_sound(&self, particles: usize) -> bool {
        let is_usable = |weight: &f32| weight.abs() <= 2.0 * MAX_WEIGHT;
        let exists = |&i: &u32| (i as usize) < particles;
        self.ends.as_flattened().iter().all(exists)
            && self
                .rest
                .iter()
                .all(|rest| *rest >= 0.0 && rest.is_finite())
            && self.strain_weights.as_flattened().iter().all(is_usable)
            && self.corner_weights.as_flattened().iter().all(is_usable)
    }
}

impl TriangleEdges {
    /// Finds the triangle of each edge. `means` are the means around the nodes at rest.
    pub(super) fn new(
        shape: &RestShape,
        level: &CoarseLevel,
        mesh: &LevelMesh,
        means: &[Vec3],
    ) -> Self {
        let edges = shape.constraints.general.regions().iter();
        let edges = edges.flat_map(edge_slots).map(|(ends, rest)| {
            let triangle = (rest >= 0.0).then(|| find_triangle(ends, shape, level, mesh));
            (triangle.flatten(), ends, rest)
        });
        let edges: Vec<_> = edges.collect();
        let mut by_triangle = ParticleLists::default();
        by_triangle.fill(mesh.triangles().len(), || {
            let found = (0_u32..).zip(&edges);
            found.filter_map(|(slot, (triangle, ..))| Some(((*triangle)? as u32, slot)))
        });
        let mut blocks = SharedLists::default();
        let mut numbers = vec![ALONE; edges.len()];
        for (triangle, corners) in (0_u32..).zip(mesh.triangles()) {
            let own = by_triangle.for_particle(triangle);
            let first = blocks.all().len() * LANES;
            for (number, &slot) in (first as u32..).zip(own) {
                numbers[slot as usize] = number;
            }
            let [at, mean] = [
                corners.map(|node| {
                    let particle = level.nodes[node as usize];
                    shape.positions.get(particle as usize)
                }),
                corners.map(|node| means[node as usize]),
            ];
            blocks.push(own.chunks(LANES).map(|slots| {
                let (_, ends, _) = edges[slots[0] as usize];
                let mut block = EdgeBlock {
                    ends: [[ends[0]; LANES]; 2],
                    ..EdgeBlock::default()
                };
                for (lane, &slot) in slots.iter().enumerate() {
                    let (_, ends, rest) = edges[slot as usize];
                    let [a, b] = ends.map(|i| shape.positions.get(i as usize));
                    block.set(lane, ends, EdgeWeights::new(rest, b - a, at, mean));
                }
                block
            }));
        }
        let mut slots = SharedLists::default();
        let mut numbers = numbers.into_iter();
        for region in shape.constraints.general.regions() {
            slots.push(numbers.by_ref().take(edge_slots(region).count()));
        }
        Self { blocks, slots }
    }

    /// Sets the multipliers of all edges to those of their places in the blocks, or to 0.
    pub(super) fn set_multipliers(
        &self,
        workers: &mut Workers,
        general: &mut GeneralConstraints,
        multipliers: &[[f32; LANES]],
    ) {
        let multipliers = multipliers.as_flattened();
        let regions = general.regions_mut().iter_mut().enumerate();
        workers.for_each_part(regions, |(number, region)| {
            let mut numbers = self.slots.at(number).iter();
            let lists = region.lists_mut().filter(|(_, list)| is_stretch(list));
            for (_, list) in lists {
                for (lambda, &number) in list.lambda.iter_mut().zip(&mut numbers) {
                    *lambda = multipliers.get(number as usize).copied().unwrap_or(0.0);
                }
            }
        });
    }

    /// Lets future clones share all data.
    pub(super) fn share(&mut self) {
        self.blocks.share();
        self.slots.share();
    }

    /// Returns whether all data are consistent with the constraints and this many triangles.
    pub(super) fn is_sound(
        &self,
        particles: usize,
        triangles: usize,
        general: &GeneralConstraints,
    ) -> bool {
        let ends = |number: u32| {
            let block = self.blocks.all().get(number as usize / LANES)?;
            Some(block.ends.map(|ends| ends[number as usize % LANES]))
        };
        self.blocks.is_sound(triangles)
            && self
                .blocks
                .all()
                .iter()
                .all(|block| block.is_sound(particles))
            && self.slots.is_sound(general.regions().len())
            && (general.regions().iter().enumerate()).all(|(number, region)| {
                let numbers = self.slots.at(number);
                edge_slots(region).count() == numbers.len()
                    && (edge_slots(region).zip(numbers))
                        .all(|((own, _), &number)| number == ALONE || ends(number) == Some(own))
            })
    }
}

impl EdgeWeights {
    /// Finds the weights of an edge in a triangle with corners at these places, where the means around them are `means`.
    fn new(rest: f32, edge: Vec3, at: [Vec3; 3], means: [Vec3; 3]) -> Self {
        let is_usable = |weights: &[f32; 3]| weights.iter().all(|w| w.abs() <= MAX_WEIGHT);
        let first_two = |[u, v, _]: [f32; 3]| [u, v];
        let of_strain = strain_weights(means, edge);
        let of_corners = corner_weights(at, edge);
        Self {
            rest,
            of_strain: match is_usable(&of_strain) {
                true => first_two(of_strain),
                false => [1.0 / 3.0; 2],
            },
            of_corners: match is_usable(&of_corners) {
                true => first_two(of_corners),
                false => [0.0; 2],
            },
        }
    }
}

/// Returns the factors of corners whose sum is an edge in their plane; they sum up to 0.
fn corner_weights([a, b, c]: [Vec3; 3], edge: Vec3) -> [f32; 3] {
    let (ab, ac) = (b - a, c - a);
    let (bb, cc, bc) = (ab.length_squared(), ac.length_squared(), ab.dot(ac));
    let determinant = bb * cc - bc * bc;
    let (by_b, by_c) = (edge.dot(ab), edge.dot(ac));
    let of_b = (cc * by_b - bc * by_c) / determinant;
    let of_c = (bb * by_c - bc * by_b) / determinant;
    [-of_b - of_c, of_b, of_c]
}

/// Returns the weights of the strain of the sides of a triangle, each from one corner to the next, in that of an edge.
///
/// An edge that is the sum of the corners times δ, where all δ sum up to 0, is as long as the root of −Σδᵢδⱼ|xᵢ − xⱼ|², summed
/// over all pairs. So it is stretched by −Σδᵢδⱼ|xᵢ − xⱼ|²εᵢⱼ relative to the square of its length.
fn strain_weights(corners: [Vec3; 3], edge: Vec3) -> [f32; 3] {
    let [a, b, c] = corners;
    let [of_a, of_b, of_c] = corner_weights(corners, edge);
    let parts = [
        -of_a * of_b * a.distance_squared(b),
        -of_b * of_c * b.distance_squared(c),
        -of_c * of_a * c.distance_squared(a),
    ];
    let square: f32 = parts.iter().sum();
    parts.map(|part| part / square)
}

/// Finds the triangle of nodes that is nearest to an edge, of those in which its ends lie, or else of those at nodes around them.
fn find_triangle(
    ends: [u32; 2],
    shape: &RestShape,
    level: &CoarseLevel,
    mesh: &LevelMesh,
) -> Option<usize> {
    let position = |i: u32| shape.positions.get(i as usize);
    let [a, b] = ends.map(position);
    let middle = (a + b) * 0.5;
    let distance = |number: usize| {
        let corners = mesh.triangles()[number].map(|node| position(level.nodes[node as usize]));
        let closest = ClosestOnTriangle::new(corners, middle);
        closest.position(corners).distance_squared(middle)
    };
    let places = ends.map(|i| level.corners[i as usize]);
    let own = places.map(|corners| mesh.number_of(corners.map(u32::from)));
    match own {
        [Some(a), Some(b)] if a == b || distance(a) <= distance(b) => Some(a),
        [_, Some(number)] | [Some(number), _] => Some(number),
        [None, None] => {
            let triangles = places.as_flattened().iter();
            let triangles = triangles.flat_map(|&node| mesh.numbers_at(node.into()));
            triangles.min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
        }
    }
}

/// Returns whether a list has edges that levels carry loads across.
fn is_stretch(list: &ConstraintList) -> bool {
    list.kind == ConstraintKind::Structural
}

/// Iterates over the particles and rest lengths of all slots for edges of a region.
fn edge_slots(region: &RegionConstraints) -> impl Iterator<Item = ([u32; 2], f32)> + '_ {
    let lists = region.lists().filter(|(_, list)| is_stretch(list));
    lists.flat_map(|(slots, list): (Slots, &ConstraintList)| {
        (0..list.rest.len()).map(move |slot| (slots.ends(slot), list.rest[slot]))
    })
}
