//! Strain that the edges of a mesh have in common: that between the means of the cloth around the nodes of the finest level.

use super::{CoarseLevel, CoarseLink, mesh::LevelMesh};
use crate::solver::{
    constraints::{
        constraint::ConstraintKind,
        general::GeneralConstraints,
        geodesic::RestShape,
        list::{ConstraintList, Slots},
        points::Points,
    },
    math::closest_point::ClosestOnTriangle,
    shared::Shared,
};
use bevy::math::{Vec3, Vec3A};
use std::ops::Deref;

/// Largest absolute weight of the strain of a link: an edge across a narrow triangle would have larger ones.
const MAX_WEIGHT: f32 = 2.0;

/// Smallest distance between the means around the nodes of a link, as a fraction of its length: below, cloth is rolled up or has
/// no area, and its strain is not measured.
const MIN_MEAN_LENGTH: f32 = 0.1;

/// Strain across a stretched cloth as a fraction of that along it: so much narrower does it become (Poisson's ratio of springs in
/// triangles).
const CONTRACTION: f32 = 1.0 / 3.0;

/// Measures the strain that edges have in common; empty without levels.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct CommonStrain {
    /// Area of cloth at each particle, m².
    areas: Shared<Vec<f32>>,
    /// Reciprocal of the area around each node, 1/m².
    inverse_areas: Shared<Vec<f32>>,
    /// Distance between the means around both nodes of each link at rest, m; 0 where no strain is measured.
    mean_lengths: Shared<Vec<f32>>,
    /// Links around each triangle of nodes.
    triangles: Shared<Vec<[u32; 3]>>,
    /// Edge in each slot for edges of the mesh.
    edges: Shared<Vec<EdgeWeights>>,
}

/// Edge of the mesh, and the strain that it has in common with others: a weighted mean of those of the links around a triangle of
/// nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct EdgeWeights {
    /// Its particles.
    pub(super) ends: [u32; 2],
    /// Number of the triangle; `u32::MAX` without one.
    triangle: u32,
    /// Weights of the first two links; all three sum up to 1.
    weights: [f32; 2],
}

/// Results of a measurement, and scratch buffers.
pub(super) struct MeasuredStrain {
    /// Positions of the particles, m; packed, so that those of an edge are loaded fast.
    pub(super) positions: Vec<Vec3A>,
    /// Means around the nodes.
    means: Vec<Vec3A>,
    /// Strain of each link.
    links: Vec<f32>,
    /// Strain of the links around each triangle.
    triangles: Vec<[f32; 3]>,
    /// Sums over the edges in each triangle, m: how much each is longer or shorter, and what of it they have in common.
    changes: Vec<[f32; 2]>,
}

impl EdgeWeights {
    /// Finds the weights of an edge in a triangle with these corners, whose links lead from each corner to the next.
    ///
    /// An edge that is the sum of the corners times δ, where all δ sum up to 0, is as long as the root of −Σδᵢδⱼ|xᵢ − xⱼ|², summed
    /// over all pairs. So it is stretched by −Σδᵢδⱼ|xᵢ − xⱼ|²εᵢⱼ relative to the square of its length.
    fn in_triangle(ends: [u32; 2], triangle: u32, [a, b, c]: [Vec3; 3], edge: Vec3) -> Self {
        let (ab, ac) = (b - a, c - a);
        let (bb, cc, bc) = (ab.length_squared(), ac.length_squared(), ab.dot(ac));
        let determinant = bb * cc - bc * bc;
        let (by_b, by_c) = (edge.dot(ab), edge.dot(ac));
        let of_b = (cc * by_b - bc * by_c) / determinant;
        let of_c = (bb * by_c - bc * by_b) / determinant;
        let of_a = -of_b - of_c;
        let parts = [
            -of_a * of_b * bb,
            -of_b * of_c * b.distance_squared(c),
            -of_c * of_a * cc,
        ];
        let square: f32 = parts.iter().sum();
        let weights = parts.map(|part| part / square);
        let is_usable = weights.iter().all(|weight| weight.abs() <= MAX_WEIGHT);
        Self {
            ends,
            triangle,
            weights: match is_usable {
                true => [weights[0], weights[1]],
                false => [1.0 / 3.0; 2],
            },
        }
    }

    /// Creates an edge that has no strain in common with others.
    fn alone(ends: [u32; 2]) -> Self {
        Self {
            ends,
            triangle: u32::MAX,
            weights: [0.0; 2],
        }
    }

    fn is_sound(&self) -> bool {
        let [u, v] = self.weights;
        let all = [u, v, 1.0 - u - v];
        all.iter().all(|weight| weight.abs() <= 1.001 * MAX_WEIGHT)
    }
}

impl CommonStrain {
    /// Prepares measurements with the finest level of a cloth and the mesh of its nodes.
    pub(super) fn new(
        shape: &RestShape,
        areas: Vec<f32>,
        level: &CoarseLevel,
        mesh: &LevelMesh,
    ) -> Self {
        let mut around = vec![0.0; level.nodes.len()];
        level.distribute(areas.iter().copied(), |node, area| around[node] += area);
        let inverse = |&area: &f32| if area > 0.0 { 1.0 / area } else { 0.0 };
        let mut common = Self {
            inverse_areas: around.iter().map(inverse).collect(),
            areas: areas.into(),
            triangles: mesh.edges_of_triangles().collect(),
            ..Self::default()
        };
        let mut means = Vec::new();
        let positions: Vec<Vec3A> = shape.positions.iter().map(Vec3A::from).collect();
        common.find_means(level, &positions, &mut means);
        let slots = edge_slots(&shape.constraints.general);
        let edges = slots.map(|(ends, is_occupied)| match is_occupied {
            true => find_weights(ends, shape, level, mesh, &means),
            false => EdgeWeights::alone(ends),
        });
        common.edges = edges.collect();
        let length = |link: &CoarseLink| {
            let [a, b] = link.nodes.map(|node| means[usize::from(node)]);
            let length = a.distance(b);
            if length > MIN_MEAN_LENGTH * link.rest {
                length
            } else {
                0.0
            }
        };
        common.mean_lengths = level.links.iter().map(length).collect();
        common
    }

    /// Iterates over lists of constraints, of which those that are no edges are left out, and the edges in their slots.
    pub(super) fn edges<'a, L: Deref<Target = ConstraintList>>(
        &'a self,
        lists: impl Iterator<Item = (Slots<'a>, L)>,
    ) -> impl Iterator<Item = (L, &'a [EdgeWeights])> {
        let mut edges = &self.edges[..];
        let lists = lists.filter(|(_, list)| is_stretch(list));
        lists.map(move |(_, list)| {
            let own = edges.split_off(..list.rest.len()).unwrap_or_default();
            (list, own)
        })
    }

    /// Measures the strain in each triangle.
    pub(super) fn measure(&self, level: &CoarseLevel, points: &Points, to: &mut MeasuredStrain) {
        to.positions.clear();
        let planes = points.x.iter().zip(&*points.y).zip(&*points.z);
        (to.positions).extend(planes.map(|((&x, &y), &z)| Vec3A::new(x, y, z)));
        self.find_means(level, &to.positions, &mut to.means);
        let links = level.links.iter().zip(&self.mean_lengths);
        to.links.clear();
        to.links.extend(links.map(|(link, &rest)| {
            let [a, b] = link.nodes.map(|node| to.means[usize::from(node)]);
            let strain = a.distance(b) / rest - 1.0;
            // Neither without a length, nor if positions are no numbers.
            if strain.is_finite() { strain } else { 0.0 }
        }));
        to.triangles.clear();
        to.triangles.extend(self.triangles.iter().map(|links| {
            let strains = links.map(|link| to.links[link as usize]);
            // Cloth that is stretched resists that it becomes narrower, as far as that follows from the stretch; folds are free.
            let least = -CONTRACTION * strains.into_iter().fold(0.0, f32::max);
            strains.map(|strain| strain.max(least))
        }));
    }

    /// Finds the mean position of the cloth around each node.
    fn find_means(&self, level: &CoarseLevel, positions: &[Vec3A], means: &mut Vec<Vec3A>) {
        means.clear();
        means.resize(level.nodes.len(), Vec3A::ZERO);
        let weighted = positions.iter().zip(&self.areas);
        let weighted = weighted.map(|(&at, &area)| at * area);
        level.distribute(weighted, |node, part| means[node] += part);
        for (mean, &inverse) in means.iter_mut().zip(&self.inverse_areas) {
            *mean *= inverse;
        }
    }

    /// Lets future clones share all data.
    pub(super) fn share(&mut self) {
        self.areas.share();
        self.inverse_areas.share();
        self.mean_lengths.share();
        self.triangles.share();
        self.edges.share();
    }

    /// Returns whether all data are consistent with the finest level and the constraints.
    pub(super) fn is_sound(&self, level: &CoarseLevel, general: &GeneralConstraints) -> bool {
        let is_positive = |value: &f32| *value >= 0.0 && value.is_finite();
        let ends = edge_slots(general).map(|(ends, _)| ends);
        self.areas.len() == level.corners.len()
            && self.inverse_areas.len() == level.nodes.len()
            && self.mean_lengths.len() == level.links.len()
            && self.areas.iter().all(is_positive)
            && self.inverse_areas.iter().all(is_positive)
            && self.mean_lengths.iter().all(is_positive)
            && (self.triangles.as_flattened().iter())
                .all(|&link| (link as usize) < level.links.len())
            && ends.eq(self.edges.iter().map(|edge| edge.ends))
            && self.edges.iter().all(EdgeWeights::is_sound)
    }
}

/// Finds the weights of an edge in the nearest triangle of the nodes, with the means around them at rest.
fn find_weights(
    ends: [u32; 2],
    shape: &RestShape,
    level: &CoarseLevel,
    mesh: &LevelMesh,
    means: &[Vec3A],
) -> EdgeWeights {
    let position = |i: u32| shape.positions.get(i as usize);
    let [a, b] = ends.map(position);
    let middle = (a + b) * 0.5;
    let distance = |number: usize| {
        let corners = mesh.triangles()[number].map(|node| position(level.nodes[node as usize]));
        let closest = ClosestOnTriangle::new(corners, middle);
        closest.position(corners).distance_squared(middle)
    };
    let [[a0, b0, c0], [a1, b1, c1]] = ends.map(|i| level.corners[i as usize]);
    let mut nodes = [a0, b0, c0, a1, b1, c1];
    nodes.sort_unstable();
    let nodes = nodes.chunk_by(|a, b| a == b).map(|same| same[0]);
    let triangles = nodes.flat_map(|node| mesh.numbers_at(node.into()));
    let triangles = triangles.map(|number| (distance(number), number));
    let nearest = triangles.min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map_or(EdgeWeights::alone(ends), |(_, number)| {
        let corners = mesh.triangles()[number].map(|node| means[node as usize].into());
        EdgeWeights::in_triangle(ends, number as u32, corners, b - a)
    })
}

impl MeasuredStrain {
    pub(super) const fn new() -> Self {
        Self {
            positions: Vec::new(),
            means: Vec::new(),
            links: Vec::new(),
            triangles: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Returns the strain that an edge has in common with others.
    #[inline(always)]
    pub(super) fn at(&self, edge: &EdgeWeights) -> f32 {
        let [a, b, c] = match self.triangles.get(edge.triangle as usize) {
            Some(strains) => *strains,
            None => [0.0; 3],
        };
        let [u, v] = edge.weights;
        a * u + b * v + c * (1.0 - u - v)
    }

    /// Forgets the changes of length of all edges.
    pub(super) fn clear_changes(&mut self) {
        self.changes.clear();
        self.changes.resize(self.triangles.len(), [0.0; 2]);
    }

    /// Adds the change of length of an edge, and what of it others have in common with it, m.
    #[inline(always)]
    pub(super) fn add_change(&mut self, edge: &EdgeWeights, change: f32, common: f32) {
        if let Some([own, in_common]) = self.changes.get_mut(edge.triangle as usize) {
            *own += change.abs();
            *in_common += common.abs();
        }
    }

    /// Limits the strain of each triangle to twice that of its edges: where a tube is flattened, the means around the nodes lie
    /// farther apart, but nothing is stretched.
    pub(super) fn limit_to_changes(&mut self) {
        for (strains, &[own, in_common]) in self.triangles.iter_mut().zip(&self.changes) {
            let most = 2.0 * own;
            if most <= in_common {
                let scale = if own > 0.0 { most / in_common } else { 0.0 };
                *strains = strains.map(|strain| strain * scale);
            }
        }
    }
}

/// Returns whether a list has edges that levels carry loads across.
fn is_stretch(list: &ConstraintList) -> bool {
    list.kind == ConstraintKind::Structural
}

/// Iterates over the particles of all slots for edges, and whether each is occupied.
fn edge_slots(general: &GeneralConstraints) -> impl Iterator<Item = ([u32; 2], bool)> {
    let lists = general.lists().filter(|(_, list)| is_stretch(list));
    lists.flat_map(|(slots, list)| {
        let all = 0..list.rest.len();
        all.map(move |slot| (slots.ends(slot), list.is_occupied(slot)))
    })
}
