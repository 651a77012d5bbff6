//! Triangle surface at one moment of a step: closest points, normals, signed distance.

use super::{normals::unit_normal, surface::TriangleSurface, triangle::TriangleAt};
use crate::solver::math::closest_point::{ClosestOnTriangle, Feature};
use bevy::math::Vec3;

/// Triangle surface at one moment of a step.
#[derive(Clone, Copy)]
pub(super) struct SurfaceAt<'a> {
    surface: &'a TriangleSurface,
    /// Fraction of the step that remains, by which points of a deforming surface are behind.
    remaining: f32,
}

/// Point of a surface closest to a query point.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClosestPoint {
    pub(super) triangle: u32,
    /// Feature of the triangle on which the point lies.
    pub(super) feature: Feature,
    /// Barycentric weights of the corners.
    pub(super) weights: [f32; 3],
    /// Position of the point, m.
    pub(super) at: Vec3,
    /// Squared distance to the query point, m².
    pub(super) square: f32,
}

impl<'a> SurfaceAt<'a> {
    /// Returns a surface when this fraction of the step remains.
    pub(super) fn new(surface: &'a TriangleSurface, remaining: f32) -> Self {
        Self { surface, remaining }
    }

    /// Returns the indices of the corners of a triangle.
    #[inline(always)]
    pub(super) fn indices(self, triangle: u32) -> &'a [u32; 3] {
        &self.surface.triangles[triangle as usize]
    }

    #[inline(always)]
    pub(super) fn corners(self, triangle: u32) -> [Vec3; 3] {
        let points = &self.surface.points;
        // Written out: `array::map` is not always inlined, which doubles the time of a contact.
        let [a, b, c] = *self.indices(triangle);
        let (a, b, c) = (a as usize, b as usize, c as usize);
        match &self.surface.deformation {
            None => [points[a], points[b], points[c]],
            Some(deformation) => {
                let (movement, behind) = (&deformation.movement, self.remaining);
                [
                    points[a] - movement[a] * behind,
                    points[b] - movement[b] * behind,
                    points[c] - movement[c] * behind,
                ]
            }
        }
    }

    /// Returns the corners and the normal of a triangle.
    #[inline]
    pub(super) fn triangle(self, triangle: u32) -> TriangleAt {
        TriangleAt {
            corners: self.corners(triangle),
            normal: self.normal(triangle),
        }
    }

    /// Returns the unit normal of a triangle, outwards; 0 without area.
    #[inline]
    pub(super) fn normal(self, triangle: u32) -> Vec3 {
        match &self.surface.deformation {
            None => self.surface.normals.triangles[triangle as usize],
            Some(_) => unit_normal(self.corners(triangle)),
        }
    }

    /// Returns the point of one triangle that is closest to a point.
    #[inline]
    pub(super) fn nearest_on(self, triangle: u32, to: Vec3) -> ClosestPoint {
        let corners = self.corners(triangle);
        let closest = ClosestOnTriangle::new(corners, to);
        let (at, feature) = (closest.position(corners), closest.feature);
        let found = ClosestPoint {
            triangle,
            feature,
            weights: closest.weights,
            at,
            square: (to - at).length_squared(),
        };
        if found.square.is_nan() && to.is_finite() {
            // The triangle has lost its area.
            let at = corners[0];
            return ClosestPoint {
                weights: [1.0, 0.0, 0.0],
                at,
                square: (to - at).length_squared(),
                ..found
            };
        }
        found
    }

    /// Returns the point of the surface that is closest to a point.
    pub(super) fn nearest(self, to: Vec3) -> Option<ClosestPoint> {
        let mut best: Option<ClosestPoint> = None;
        let mut limit = f32::INFINITY;
        self.surface.tree.visit_near(to, |triangle| {
            let other = self.nearest_on(triangle, to);
            // The tree is unordered, so ties are resolved by the index of the triangle.
            let better = best
                .is_none_or(|best| (other.square, other.triangle) < (best.square, best.triangle));
            if better {
                best = Some(other);
                limit = square_limit(other.square.sqrt(), to);
            }
            limit
        });
        best
    }

    /// Returns the pseudo-normal at a point of a closed surface, or the triangle normal of an open one.
    #[inline]
    pub(super) fn pseudo_normal(self, near: &ClosestPoint) -> Vec3 {
        let (surface, triangle) = (self.surface, near.triangle as usize);
        match (near.feature, &surface.deformation) {
            (Feature::Face | Feature::Degenerate, _) => self.normal(near.triangle),
            _ if !surface.is_closed() => self.normal(near.triangle),
            (Feature::Edge(k), None) => surface.normals.edges[triangle][k],
            (Feature::Edge(k), Some(moving)) => moving.edge_normal(self, near.triangle, k),
            (Feature::Corner(k), None) => {
                surface.normals.points[self.indices(near.triangle)[k] as usize]
            }
            (Feature::Corner(k), Some(moving)) => {
                moving.point_normal(self, self.indices(near.triangle)[k])
            }
        }
    }

    /// Returns the signed distance from a closed surface, m (negative inside), and its unit gradient, given the
    /// closest point.
    #[inline]
    pub(super) fn signed_distance(self, near: &ClosestPoint, point: Vec3) -> (f32, Vec3) {
        let away = point - near.at;
        let distance = near.square.sqrt();
        let pseudo = self.pseudo_normal(near);
        if distance > 0.0 {
            let side = if pseudo.dot(away) < 0.0 { -1.0 } else { 1.0 };
            (distance * side, away * (side / distance))
        } else {
            (0.0, self.normal(near.triangle))
        }
    }

    /// Returns the signed distance of a point from a closed surface, m; negative inside.
    pub(super) fn distance(self, point: Vec3) -> f32 {
        let near = self.nearest(point);
        near.map_or(f32::INFINITY, |near| self.signed_distance(&near, point).0)
    }

    /// Returns the surface.
    pub(super) fn surface(self) -> &'a TriangleSurface {
        self.surface
    }
}

/// Returns the square of a distance from a point, m², increased by the rounding error.
#[inline(always)]
pub(super) fn square_limit(distance: f32, from: Vec3) -> f32 {
    let distance = distance + 16.0 * f32::EPSILON * (distance + from.abs().max_element());
    distance * distance
}
