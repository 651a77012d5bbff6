//! Edges of the mesh, in the triangles of nodes in which they lie: in blocks of four, which are computed side by side.

use super::{CoarseLevel, mesh::LevelMesh};
use crate::solver::{
    constraints::{
        constraint::ConstraintKind,
        general::GeneralConstraints,
        geodesic::RestShape,
        list::{ConstraintList, NO_LEVEL_EDGE},
    },
    math::{closest_point::ClosestOnTriangle, particle_lists::ParticleLists},
    parallel::workers::Workers,
    shared_lists::SharedLists,
    simd::soa::SoaVec3,
};
use bevy::math::{Vec3, Vec4};

/// Largest absolute weight of the strain of a link, and of a corner: an edge across a narrow triangle would have larger ones.
const MAX_WEIGHT: f32 = 2.0;

/// Smallest part of an edge that is one of its own, as a fraction of its length.
const MIN_PART: f32 = 0.2;

/// Steps in which the point is found where an edge leaves a triangle.
const BISECTIONS: usize = 6;

/// Edges in a block.
pub(super) const LANES: usize = 4;

/// Four edges in a triangle of nodes; places that are left over have both ends in one particle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct EdgeBlock {
    /// First and second particles.
    pub(super) ends: [[u32; LANES]; 2],
    /// Rest lengths, m.
    rest: [f32; LANES],
    /// Length of the part in the triangle as a fraction of that of the edge.
    fractions: [f32; LANES],
    /// Weights of the strain of the first two links around the triangle; all three sum up to 1.
    strain_weights: [[f32; LANES]; 2],
    /// The part of each edge in the triangle is the sum of the corners times δ: that of the first two; all three sum up to 0.
    corner_weights: [[f32; LANES]; 2],
}

impl EdgeBlock {
    /// Returns by how much each edge is longer if the links around the triangle have this strain, m.
    #[inline(always)]
    pub(super) fn changes(&self, [a, b, c]: [f32; 3]) -> Vec4 {
        let [u, v] = self.strain_weights.map(Vec4::from_array);
        let strain = u * a + v * b + (Vec4::ONE - u - v) * c;
        strain * self.rest()
    }

    /// Returns how much of an edge lies in the triangle.
    pub(super) fn fraction(&self, lane: usize) -> f32 {
        self.fractions[lane]
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

    fn set(
        &mut self,
        lane: usize,
        ends: [u32; 2],
        [rest, fraction]: [f32; 2],
        of_strain: [f32; 2],
        of_corners: [f32; 2],
    ) {
        for k in [0, 1] {
            self.ends[k][lane] = ends[k];
            self.strain_weights[k][lane] = of_strain[k];
            self.corner_weights[k][lane] = of_corners[k];
        }
        self.rest[lane] = rest;
        self.fractions[lane] = fraction;
    }

    pub(super) fn is_sound(&self, particles: usize) -> bool {
        let is_usable = |weight: &f32| weight.abs() <= MAX_WEIGHT;
        let exists = |&i: &u32| (i as usize) < particles;
        self.ends.as_flattened().iter().all(exists)
            && self.fractions.iter().all(|part| (0.0..=1.0).contains(part))
            && self
                .rest
                .iter()
                .all(|rest| *rest >= 0.0 && rest.is_finite())
            && self.strain_weights.as_flattened().iter().all(is_usable)
            && self.corner_weights.as_flattened().iter().all(is_usable)
    }
}

/// Part of an edge that lies in a triangle of nodes.
#[derive(Clone, Copy, Default)]
struct EdgePart {
    slot: u32,
    /// Its length as a fraction of that of the edge.
    fraction: f32,
}

/// Finds the edges of the mesh in each triangle of nodes. `means` are the means around the nodes at rest. The second result are the
/// numbers of the edges in all slots for edges, or [`NO_LEVEL_EDGE`]: where the longer part of each lies.
pub(super) fn find_edges(
    shape: &RestShape,
    level: &CoarseLevel,
    mesh: &LevelMesh,
    means: &[Vec3],
) -> (SharedLists<EdgeBlock>, Vec<u32>) {
    let edges: Vec<([u32; 2], f32)> = edge_slots(&shape.constraints.general).collect();
    let occupied = (0_u32..).zip(&edges).filter(|(_, (_, rest))| *rest >= 0.0);
    let parts = occupied.flat_map(|(slot, (ends, _))| {
        let parts = find_parts(*ends, shape, level, mesh);
        parts.map(move |(triangle, fraction)| (triangle as u32, EdgePart { slot, fraction }))
    });
    let parts: Vec<(u32, EdgePart)> = parts.collect();
    let mut by_triangle = ParticleLists::default();
    by_triangle.fill(mesh.triangles().len(), || parts.iter().copied());
    let mut blocks = SharedLists::default();
    let mut numbers = vec![NO_LEVEL_EDGE; edges.len()];
    for (triangle, corners) in (0_u32..).zip(mesh.triangles()) {
        let own = by_triangle.for_particle(triangle);
        let first = blocks.all().len() * LANES;
        for (number, part) in (first as u32..).zip(own) {
            if part.fraction > 0.5 {
                numbers[part.slot as usize] = number;
            }
        }
        let at = corners.map(|node| level.node_at(shape.positions, node as usize));
        let means = corners.map(|node| means[node as usize]);
        blocks.push(own.chunks(LANES).map(|parts| {
            let (ends, _) = edges[parts[0].slot as usize];
            let mut block = EdgeBlock {
                ends: [[ends[0]; LANES]; 2],
                ..EdgeBlock::default()
            };
            for (lane, part) in parts.iter().enumerate() {
                let (ends, rest) = edges[part.slot as usize];
                let [a, b] = ends.map(|i| shape.positions.get(i as usize));
                let of_strain = usable(strain_weights(means, b - a)).unwrap_or([1.0 / 3.0; 2]);
                // Particles beside all triangles move as the nearest point of one.
                let [a, b] = ends.map(|i| level.point(shape.positions, i));
                let of_corners = corner_weights(at, (b - a) * part.fraction);
                let of_corners = usable(of_corners).unwrap_or_default();
                block.set(lane, ends, [rest, part.fraction], of_strain, of_corners);
            }
            block
        }));
    }
    (blocks, numbers)
}

/// Tells all slots for edges the numbers of these.
pub(in crate::solver) fn number_edges(
    general: &mut GeneralConstraints,
    numbers: impl IntoIterator<Item = u32>,
) {
    let mut numbers = numbers.into_iter();
    for (_, list) in general.lists_mut().filter(|(_, list)| is_stretch(list)) {
        list.level_edges = numbers.by_ref().take(list.rest.len()).collect();
    }
}

/// Sets the multipliers of all edges to those of their places in the blocks.
pub(super) fn set_multipliers(
    workers: &mut Workers,
    general: &mut GeneralConstraints,
    multipliers: &[[f32; LANES]],
) {
    let multipliers = multipliers.as_flattened();
    let regions = general.regions_mut().iter_mut();
    workers.for_each_part(regions, |region| {
        for (_, list) in region.lists_mut().filter(|(_, list)| is_stretch(list)) {
            for (lambda, &number) in list.lambda.iter_mut().zip(&list.level_edges) {
                *lambda = multipliers.get(number as usize).copied().unwrap_or(0.0);
            }
        }
    });
}

impl CoarseLevel {
    /// Returns the position of a node at rest.
    fn node_at(&self, positions: &SoaVec3, node: usize) -> Vec3 {
        positions.get(self.nodes[node] as usize)
    }

    /// Returns the weighted mean of the nodes around a particle at rest.
    fn point(&self, positions: &SoaVec3, particle: u32) -> Vec3 {
        let mut point = Vec3::ZERO;
        self.distribute_one(particle as usize, 1.0, |node, weight: f32| {
            point += self.node_at(positions, node) * weight;
        });
        point
    }
}

/// Returns the first two of three weights, unless one of them is too large or no number.
fn usable(weights: [f32; 3]) -> Option<[f32; 2]> {
    let is_usable = weights.iter().all(|weight| weight.abs() <= MAX_WEIGHT);
    is_usable.then_some([weights[0], weights[1]])
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

/// Finds the triangles of nodes in which the ends of an edge lie, or else one near its ends, and the fractions of its length that
/// lie in them: more than half in one, and up to half in the other.
fn find_parts(
    ends: [u32; 2],
    shape: &RestShape,
    level: &CoarseLevel,
    mesh: &LevelMesh,
) -> impl Iterator<Item = (usize, f32)> + use<> {
    let [a, b] = ends.map(|i| shape.positions.get(i as usize));
    let distance = |number: usize, along: f32| {
        let corners = mesh.triangles()[number];
        let corners = corners.map(|node| level.node_at(shape.positions, node as usize));
        let at = a.lerp(b, along);
        let closest = ClosestOnTriangle::new(corners, at);
        closest.position(corners).distance_squared(at)
    };
    let places = ends.map(|i| level.corners[i as usize]);
    let own = places.map(|corners| mesh.number_of(corners.map(u32::from)));
    let parts = match own {
        [Some(a), Some(b)] if a != b => {
            let (mut in_a, mut in_b) = (0.0, 1.0);
            for _ in 0..BISECTIONS {
                let along = (in_a + in_b) * 0.5;
                match distance(a, along) <= distance(b, along) {
                    true => in_a = along,
                    false => in_b = along,
                }
            }
            // Never half.
            match (in_a + in_b) * 0.5 {
                ..MIN_PART => [Some((b, 1.0)), None],
                in_a if in_a > 1.0 - MIN_PART => [Some((a, 1.0)), None],
                in_a => [Some((a, in_a)), Some((b, 1.0 - in_a))],
            }
        }
        [Some(number), _] | [_, Some(number)] => [Some((number, 1.0)), None],
        [None, None] => {
            let triangles = places.as_flattened().iter();
            let triangles = triangles.flat_map(|&node| mesh.numbers_at(node.into()));
            let nearest = triangles.min_by(|&a, &b| distance(a, 0.5).total_cmp(&distance(b, 0.5)));
            [nearest.map(|number| (number, 1.0)), None]
        }
    };
    parts.into_iter().flatten()
}

/// Returns whether a list has edges that levels carry loads across.
fn is_stretch(list: &ConstraintList) -> bool {
    list.kind == ConstraintKind::Structural
}

/// Iterates over the particles and rest lengths of all slots for edges.
fn edge_slots(general: &GeneralConstraints) -> impl Iterator<Item = ([u32; 2], f32)> + '_ {
    let lists = general.lists().filter(|(_, list)| is_stretch(list));
    lists.flat_map(|(slots, list)| {
        (0..list.rest.len()).map(move |slot| (slots.ends(slot), list.rest[slot]))
    })
}
