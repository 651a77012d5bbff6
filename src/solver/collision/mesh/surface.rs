//! Triangle surface that cloth collides with, in its own frame: a closed surface around a solid, or an open,
//! two-sided one.
//!
//! The side of a closed surface on which a point lies follows from the nearest point of the surface and the
//! pseudo-normal there: the triangle normal inside a triangle, the sum of both normals at an edge, the sum of all
//! normals weighted by angle at a vertex (Bærentzen and Aanæs, "Signed distance computation using the angle
//! weighted pseudonormal", 2005).
//!
//! Triangles near a box or a point are found with parry's bounding volume hierarchy. Results do not depend on
//! how the tree was built, since leaves are compared one by one.

use super::surface_error::SurfaceError;
use crate::solver::{
    collision::shape::Shape,
    math::closest_point::{ClosestOnTriangle, Feature},
};
use bevy::{math::Vec3, platform::collections::HashMap};
use parry3d::{
    bounding_volume::Aabb,
    partitioning::{Bvh, BvhBuildStrategy, BvhNode},
    transformation::try_convex_hull,
};
use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

/// A hull that encloses less than this fraction of its bounding cube counts as flat.
const FLAT: f32 = 1e-6;

/// Triangle surface that cloth collides with, in its own frame. Cloth is kept outside of a closed surface, and on
/// its current side of an open one.
pub struct TriangleSurface {
    /// Unique number of the surface.
    pub(super) id: u64,
    pub(super) points: Vec<Vec3>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Unit normals of the triangles, outwards; 0 for triangles without area.
    normals: Vec<Vec3>,
    /// Pseudo-normals of the three edges of each triangle, edge k leading from corner k to the next; empty for an
    /// open surface.
    edge_normals: Vec<[Vec3; 3]>,
    /// Pseudo-normals of the points; empty for an open surface.
    point_normals: Vec<Vec3>,
    /// Corners of the bounding box.
    bounds: [Vec3; 2],
    /// Whether cloth is kept inside (container).
    hollow: bool,
    tree: Bvh,
}

impl fmt::Debug for TriangleSurface {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("TriangleSurface")
            .field("points", &self.points.len())
            .field("triangles", &self.triangles.len())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// Point of a surface closest to a query point.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClosestPoint {
    pub(super) triangle: u32,
    /// Feature of the triangle on which the point lies.
    pub(super) feature: Feature,
    /// Position of the point, m.
    pub(super) at: Vec3,
    /// Squared distance to the query point, m².
    pub(super) square: f32,
}

impl TriangleSurface {
    /// Creates a surface from points and triangles. Points at the same position should be welded: a surface with a
    /// triangle on both sides of each edge is closed and solid inside. The winding order of a closed surface does
    /// not matter as long as it is consistent.
    pub fn new(points: Vec<Vec3>, mut triangles: Vec<[u32; 3]>) -> Result<Self, SurfaceError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let corners = triangles.as_flattened();
        if let Some(&index) = corners.iter().find(|&&i| i as usize >= points.len()) {
            return Err(SurfaceError::OutOfRange { index });
        }
        if let Some(&index) = corners.iter().find(|&&i| !points[i as usize].is_finite()) {
            let index = index as usize;
            return Err(SurfaceError::NonFinite { index });
        }
        // Remove triangles with repeated corners.
        triangles.retain(|&[a, b, c]| a != b && b != c && c != a);
        let closed = is_closed(&triangles);
        if closed && volume(&points, &triangles) < 0.0 {
            for corners in &mut triangles {
                corners.swap(1, 2);
            }
        }
        let corners_of = |corners: &[u32; 3]| corners.map(|i| points[i as usize]);
        let normals = triangles.iter().map(|t| unit_normal(corners_of(t)));
        let normals: Vec<Vec3> = normals.collect();
        // Triangles without area are covered by their neighbours.
        let with_area = triangles.iter().zip(&normals).enumerate();
        let with_area = with_area.filter(|(_, (_, normal))| **normal != Vec3::ZERO);
        let leaves = with_area.map(|(triangle, (corners, _))| {
            let [a, b, c] = corners_of(corners);
            (triangle, Aabb::new(a.min(b).min(c), a.max(b).max(c)))
        });
        let leaves: Vec<_> = leaves.collect();
        if leaves.is_empty() {
            return Err(SurfaceError::NoTriangles);
        }
        let low = leaves.iter().map(|(_, leaf)| leaf.mins);
        let high = leaves.iter().map(|(_, leaf)| leaf.maxs);
        let mut this = Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            normals,
            edge_normals: Vec::new(),
            point_normals: Vec::new(),
            bounds: [
                low.fold(Vec3::INFINITY, Vec3::min),
                high.fold(Vec3::NEG_INFINITY, Vec3::max),
            ],
            hollow: false,
            tree: Bvh::from_iter(BvhBuildStrategy::Binned, leaves),
            points,
            triangles,
        };
        if closed {
            this.find_pseudo_normals();
        }
        Ok(this)
    }

    /// Creates the convex hull of points.
    pub fn convex_hull(points: &[Vec3]) -> Result<Self, SurfaceError> {
        if let Some(index) = points.iter().position(|point| !point.is_finite()) {
            return Err(SurfaceError::NonFinite { index });
        }
        let low = points.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let high = points.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
        let size = (high - low).max_element();
        // parry may loop forever or panic if there are too few points or all are the same.
        if points.len() < 4 || !(size > 0.0 && size.is_finite()) {
            return Err(SurfaceError::Flat);
        }
        let (points, triangles) =
            try_convex_hull(points).map_err(|reason| SurfaceError::NoHull(reason.to_string()))?;
        if volume(&points, &triangles).abs() < FLAT * size * size * size {
            return Err(SurfaceError::Flat);
        }
        let hull = Self::new(points, triangles)?;
        if hull.is_closed() {
            Ok(hull)
        } else {
            Err(SurfaceError::NoHull("it is open".into()))
        }
    }

    /// Turns a closed surface inside out, so that cloth is kept inside (container); open surfaces are unchanged.
    pub fn hollow(mut self) -> Self {
        if self.is_closed() {
            self.hollow = !self.hollow;
            for corners in &mut self.triangles {
                corners.swap(1, 2);
            }
            for [first, _, last] in &mut self.edge_normals {
                std::mem::swap(first, last);
            }
            let edges = self.edge_normals.as_flattened_mut().iter_mut();
            let all = self.normals.iter_mut().chain(edges);
            for normal in all.chain(&mut self.point_normals) {
                *normal = -*normal;
            }
        }
        self
    }

    /// Returns whether the surface is closed, enclosing a solid.
    pub fn is_closed(&self) -> bool {
        !self.edge_normals.is_empty()
    }

    /// Returns whether cloth is kept inside.
    pub(super) fn is_hollow(&self) -> bool {
        self.hollow
    }

    /// Returns the number of triangles.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.triangles.len()
    }

    /// Iterates over the end points of all edges, in the local frame. Edges of a closed surface occur once, inner
    /// edges of an open one twice.
    pub fn edges(&self) -> impl Iterator<Item = [Vec3; 2]> + '_ {
        let closed = self.is_closed();
        let ends = self
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let once = ends.filter(move |&[from, to]| !closed || from < to);
        once.map(|ends| ends.map(|i| self.points[i as usize]))
    }

    /// Returns the corners of the bounding box.
    pub(super) fn bounds(&self) -> [Vec3; 2] {
        self.bounds
    }

    /// Returns the smallest box centred at the origin that contains the surface.
    pub(super) fn bounding_cuboid(&self) -> Shape {
        let half_size = self.bounds[0].abs().max(self.bounds[1].abs());
        Shape::Cuboid { half_size }
    }

    #[inline]
    pub(super) fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.triangles[triangle as usize].map(|i| self.points[i as usize])
    }

    #[inline]
    pub(super) fn normal(&self, triangle: u32) -> Vec3 {
        self.normals[triangle as usize]
    }

    /// Appends the triangles with a bounding box that overlaps a box, in ascending order.
    pub(super) fn find(&self, [low, high]: [Vec3; 2], found: &mut Vec<u32>) {
        let first = found.len();
        found.extend(self.tree.leaves(|node| overlaps(node, low, high)));
        found[first..].sort_unstable();
    }

    /// Returns the point of one triangle that is closest to a point.
    #[inline]
    pub(super) fn nearest_on(&self, triangle: u32, to: Vec3) -> ClosestPoint {
        let corners = self.corners(triangle);
        let closest = ClosestOnTriangle::new(corners, to);
        let (at, feature) = (closest.position(corners), closest.feature);
        ClosestPoint {
            triangle,
            feature,
            at,
            square: (to - at).length_squared(),
        }
    }

    /// Returns the point of the surface that is closest to a point.
    pub(super) fn nearest(&self, to: Vec3) -> Option<ClosestPoint> {
        let apart = |node: &BvhNode, _: f32| {
            let beside = (node.mins() - to).max(to - node.maxs()).max(Vec3::ZERO);
            beside.length_squared()
        };
        let square = |triangle, _| Some(self.nearest_on(triangle, to).square);
        let (_, square) = self.tree.find_best(f32::MAX, apart, square)?;
        // The tree is unordered, so ties are resolved by the index of the triangle.
        let reach = square.sqrt();
        let reach = reach + 16.0 * f32::EPSILON * (reach + to.abs().max_element());
        let mut best: Option<ClosestPoint> = None;
        for triangle in self
            .tree
            .leaves(|node| overlaps(node, to - reach, to + reach))
        {
            let other = self.nearest_on(triangle, to);
            let better = best
                .is_none_or(|best| (other.square, other.triangle) < (best.square, best.triangle));
            if better {
                best = Some(other);
            }
        }
        best
    }

    /// Returns the pseudo-normal at a point of a closed surface, or the triangle normal of an open one.
    #[inline]
    pub(super) fn pseudo_normal(&self, near: &ClosestPoint) -> Vec3 {
        let triangle = near.triangle as usize;
        match near.feature {
            _ if self.edge_normals.is_empty() => self.normals[triangle],
            Feature::Face | Feature::Degenerate => self.normals[triangle],
            Feature::Edge(k) => self.edge_normals[triangle][k],
            Feature::Corner(k) => self.point_normals[self.triangles[triangle][k] as usize],
        }
    }

    /// Returns the signed distance from a closed surface, m (negative inside), and its unit gradient, given the
    /// closest point.
    #[inline]
    pub(super) fn signed_distance(&self, near: &ClosestPoint, point: Vec3) -> (f32, Vec3) {
        let away = point - near.at;
        let distance = near.square.sqrt();
        let pseudo = self.pseudo_normal(near);
        if distance > 0.0 {
            let side = if pseudo.dot(away) < 0.0 { -1.0 } else { 1.0 };
            (distance * side, away * (side / distance))
        } else {
            (0.0, self.normals[near.triangle as usize])
        }
    }

    /// Returns the signed distance of a point from a closed surface, m; negative inside.
    pub fn distance(&self, point: Vec3) -> f32 {
        let near = self.nearest(point);
        near.map_or(f32::INFINITY, |near| self.signed_distance(&near, point).0)
    }

    fn find_pseudo_normals(&mut self) {
        self.point_normals = vec![Vec3::ZERO; self.points.len()];
        // Sum in the order of triangles, for deterministic results.
        for (triangle, &indices) in self.triangles.iter().enumerate() {
            let corners = self.corners(triangle as u32);
            for k in 0..3 {
                let along = corners[(k + 1) % 3] - corners[k];
                let back = corners[(k + 2) % 3] - corners[k];
                let lengths = (along.length_squared() * back.length_squared()).sqrt();
                if lengths > 0.0 {
                    let angle = arc_cosine(along.dot(back) / lengths);
                    self.point_normals[indices[k] as usize] += self.normals[triangle] * angle;
                }
            }
        }
        // Both triangles of an edge share one sum, so its bits are the same on both sides.
        let mut sums: HashMap<[u32; 2], Vec3> = HashMap::default();
        let edges = |corners: [u32; 3]| {
            [0, 1, 2].map(|k| {
                let (from, to) = (corners[k], corners[(k + 1) % 3]);
                [from.min(to), from.max(to)]
            })
        };
        for (corners, normal) in self.triangles.iter().zip(&self.normals) {
            for edge in edges(*corners) {
                *sums.entry(edge).or_default() += *normal;
            }
        }
        let sum_of = |edge: [u32; 2]| sums.get(&edge).copied().unwrap_or_default();
        self.edge_normals = (self.triangles.iter())
            .map(|&corners| edges(corners).map(sum_of))
            .collect();
    }
}

/// Returns the unit normal of a triangle; 0 without area.
fn unit_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    let across = (b - a).cross(c - a);
    let length = across.length();
    if length > 0.0 && length.is_finite() {
        across / length
    } else {
        Vec3::ZERO
    }
}

/// Computes the arc cosine to within 7·10⁻⁵ (Abramowitz and Stegun, 4.4.45), using only + − × ÷ √, so that
/// pseudo-normals have the same bits on all platforms.
pub(super) fn arc_cosine(cosine: f32) -> f32 {
    let x = cosine.abs().min(1.0);
    let series = 1.570_728_8 + x * (-0.212_114_4 + x * (0.074_261 - x * 0.018_729_3));
    let angle = (1.0 - x).sqrt() * series;
    if cosine < 0.0 {
        std::f32::consts::PI - angle
    } else {
        angle
    }
}

/// Returns the volume enclosed by triangles, m³; negative if they face inwards.
fn volume(points: &[Vec3], triangles: &[[u32; 3]]) -> f32 {
    let from = points.first().copied().unwrap_or_default();
    let sixfold: f32 = triangles
        .iter()
        .map(|corners| {
            let [a, b, c] = corners.map(|i| points[i as usize] - from);
            a.dot(b.cross(c))
        })
        .sum();
    sixfold / 6.0
}

/// Returns whether a node of the tree overlaps a box.
fn overlaps(node: &BvhNode, low: Vec3, high: Vec3) -> bool {
    node.mins().cmple(high).all() && node.maxs().cmpge(low).all()
}

/// Returns whether each edge has one triangle on both sides, with consistent winding order.
fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let mut sides: HashMap<[u32; 2], u32> = HashMap::default();
    let edges = || {
        let corners = triangles.iter();
        corners.flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
    };
    for edge in edges() {
        *sides.entry(edge).or_default() += 1;
    }
    let paired = |[from, to]: [u32; 2]| {
        sides.get(&[from, to]) == Some(&1) && sides.get(&[to, from]) == Some(&1)
    };
    !triangles.is_empty() && edges().all(paired)
}
