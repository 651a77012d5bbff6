//! Triangle surface that cloth collides with, in its own frame: a closed surface around a solid, or an open,
//! two-sided one. Rigid, unless it is [deforming](TriangleSurface::deforming).

#[cfg(test)]
use super::tree::overlap;
use super::{
    deformation::Deformation,
    normals::StoredNormals,
    surface_at::SurfaceAt,
    surface_error::SurfaceError,
    tree::{TriangleBox, TriangleTree, union},
};
use crate::solver::collision::shape::Shape;
use bevy::{math::Vec3, platform::collections::HashMap};
#[cfg(feature = "parry")]
use parry3d::transformation::try_convex_hull;
use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

/// A hull that encloses less than this fraction of its bounding cube counts as flat.
#[cfg(feature = "parry")]
const FLAT: f32 = 1e-6;

/// Triangle surface that cloth collides with, in its own frame. Cloth is kept outside of a closed surface, and on
/// its current side of an open one.
#[derive(Clone)]
pub struct TriangleSurface {
    /// Unique number of the surface.
    pub(super) id: u64,
    /// Positions of the points, at the end of the step if it is deforming.
    pub(super) points: Vec<Vec3>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Normals of a rigid surface.
    pub(super) normals: StoredNormals,
    /// Movement of the points of a deforming surface.
    pub(super) deformation: Option<Deformation>,
    /// Whether it encloses a solid.
    closed: bool,
    /// Whether cloth is kept inside (container).
    hollow: bool,
    pub(super) tree: TriangleTree,
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

impl TriangleSurface {
    /// Creates a surface from points and triangles. Points at the same position should be welded: a surface with a
    /// triangle on both sides of each edge is closed and solid inside. The winding order of a closed surface does
    /// not matter as long as it is consistent.
    pub fn new(points: Vec<Vec3>, mut triangles: Vec<[u32; 3]>) -> Result<Self, SurfaceError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        SurfaceError::check(&points, &triangles)?;
        // Remove triangles with repeated corners.
        triangles.retain(|&[a, b, c]| a != b && b != c && c != a);
        let closed = is_closed(&triangles);
        if closed && volume(&points, &triangles) < 0.0 {
            for corners in &mut triangles {
                corners.swap(1, 2);
            }
        }
        let normals = StoredNormals::new(&points, &triangles, closed);
        let mut this = Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            points,
            triangles,
            normals,
            deformation: None,
            closed,
            hollow: false,
            tree: TriangleTree::default(),
        };
        let at = this.at_end();
        // Triangles without area are covered by their neighbours.
        let with_area = (0..this.triangles.len() as u32).filter(|i| at.normal(*i) != Vec3::ZERO);
        let leaves: Vec<_> = with_area.map(|i| (i, this.step_box(i))).collect();
        if leaves.is_empty() {
            return Err(SurfaceError::NoTriangles);
        }
        this.tree = TriangleTree::new(leaves);
        Ok(this)
    }

    /// Creates the convex hull of points.
    #[cfg(feature = "parry")]
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
            self.normals.reverse();
        }
        self
    }

    /// Returns whether the surface is closed, enclosing a solid.
    pub fn is_closed(&self) -> bool {
        self.closed
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

    /// Returns the corners of the bounding box, over the whole step if it is deforming.
    pub(super) fn bounds(&self) -> [Vec3; 2] {
        self.tree.bounds()
    }

    /// Returns the smallest box centred at the origin that contains the surface.
    pub(super) fn bounding_cuboid(&self) -> Shape {
        let [low, high] = self.bounds();
        let half_size = low.abs().max(high.abs());
        Shape::Cuboid { half_size }
    }

    /// Returns the surface at the end of the step.
    pub(super) fn at_end(&self) -> SurfaceAt<'_> {
        SurfaceAt::new(self, 0.0)
    }

    /// Returns the box around a triangle during the whole step.
    #[inline]
    pub(super) fn step_box(&self, triangle: u32) -> TriangleBox {
        let [a, b, c] = self.triangles[triangle as usize];
        let (a, b, c) = (a as usize, b as usize, c as usize);
        match &self.deformation {
            None => triangle_box([self.points[a], self.points[b], self.points[c]]),
            Some(deformation) => {
                let boxes = &deformation.boxes;
                union([boxes[a], boxes[b], boxes[c]].into_iter())
            }
        }
    }

    /// Returns the triangles with a box that overlaps a box, at any time of the step.
    #[cfg(test)]
    pub(super) fn find(&self, bounds: [Vec3; 2]) -> Vec<u32> {
        let bounds = bounds.map(Into::into);
        let mut found = Vec::new();
        self.tree.visit_leaves(&bounds, |leaf| {
            let near = leaf.triangles.iter().copied();
            found.extend(near.filter(|&triangle| overlap(&self.step_box(triangle), &bounds)));
        });
        found
    }

    /// Returns the signed distance of a point from a closed surface at the end of the step, m; negative inside.
    pub fn distance(&self, point: Vec3) -> f32 {
        self.at_end().distance(point)
    }
}

/// Returns the box around a triangle.
#[inline(always)]
fn triangle_box([a, b, c]: [Vec3; 3]) -> TriangleBox {
    [a.min(b).min(c).into(), a.max(b).max(c).into()]
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
