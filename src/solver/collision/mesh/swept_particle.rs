//! Collision of one particle with nearby triangles in one substep: continuous detection, then push-out.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "comparisons with NaN must be false"
)]

use super::{SurfaceAtSubstep, TriangleSurface, group::reach, surface::ClosestPoint, triangle};
use bevy::math::Vec3;

/// Number of impacts resolved per substep before the particle is returned to its start position.
const MAX_IMPACTS: usize = 3;

/// Fraction of the path to a triangle that is certainly in front of it.
const BEFORE: f32 = 1.0 - 1e-3;

/// Largest number of triangles that push a particle out in the same substep.
const MAX_TOUCHED: usize = 16;

/// Particle on its path through a substep.
pub(super) struct SweptParticle<'a> {
    pub(super) at_substep: &'a SurfaceAtSubstep<'a>,
    /// Position at the beginning of the substep, in the frame of the surface at that time.
    pub(super) from: Vec3,
    /// Current position, in the frame of the surface at the end of the substep.
    pub(super) local: Vec3,
    /// Position at the beginning of the substep, m.
    pub(super) start: Vec3,
    /// Current position, m.
    pub(super) position: Vec3,
    /// Displacement in this substep, m.
    pub(super) displacement: Vec3,
}

/// Crossing of a path and a triangle.
struct TriangleHit {
    triangle: u32,
    /// Fraction of the path before the crossing.
    time: f32,
    /// 1 if the path comes from the front of the triangle, −1 if from its back.
    side: f32,
}

impl SweptParticle<'_> {
    /// Resolves the contacts with the triangles in `near`, a superset of those within reach. Returns whether the
    /// particle was moved; `None` if no triangle is near enough to tell on which side the particle is.
    pub(super) fn collide(&mut self, near: &[u32]) -> Option<bool> {
        let surface = self.at_substep.surface;
        let thickness = self.at_substep.thickness;
        let reach = reach(thickness, (self.local - self.from).length());
        let stopped = self.stop_at_impacts(near);
        let mut touched = TouchedTriangles::default();
        let nearest = touched.find(surface, near, self.local, thickness);
        let Some(nearest) = nearest.filter(|near| near.square <= reach * reach) else {
            return stopped.then(|| self.clamp_displacement());
        };
        let pushed = self.push_out(near, &nearest, &touched);
        Some((stopped || pushed) && self.clamp_displacement())
    }

    /// Stops the particle at the first triangle on its path, and again where the contact response leads through
    /// another triangle. Returns whether it was stopped.
    fn stop_at_impacts(&mut self, near: &[u32]) -> bool {
        let surface = self.at_substep.surface;
        let mut from = self.from;
        for impact in 0..=MAX_IMPACTS {
            let Some(hit) = first_hit(surface, near, from, self.local) else {
                return impact > 0;
            };
            if impact == MAX_IMPACTS {
                self.return_to_start();
                break;
            }
            let normal = surface.normal(hit.triangle) * hit.side;
            let [corner, ..] = surface.corners(hit.triangle);
            let path = self.local - from;
            let depth = self.at_substep.thickness - normal.dot(self.local - corner);
            self.respond(from + path * hit.time, normal, depth);
            // Restart shortly before the impact, on the part of the path that crosses nothing. A point above the
            // triangle might already be behind the next one.
            from += path * (hit.time * BEFORE);
        }
        true
    }

    /// Pushes the particle out of the nearest triangle, and then out of the other triangles it touches.
    fn push_out(
        &mut self,
        near: &[u32],
        nearest: &ClosestPoint,
        touched: &TouchedTriangles,
    ) -> bool {
        let surface = self.at_substep.surface;
        let thickness = self.at_substep.thickness;
        let (distance, normal) = self.signed_distance(nearest);
        let depth = thickness - distance;
        if !(depth > 0.0) {
            return false;
        }
        self.respond(self.local, normal, depth);
        let touched = touched.triangles[..touched.count].iter();
        for &triangle in touched.filter(|&&triangle| triangle != nearest.triangle) {
            let other = surface.nearest_on(triangle, self.local);
            let (distance, normal) = self.signed_distance(&other);
            // At a thin part the particle is also near the triangles of the far side, but behind them: no contact.
            if distance > 0.0 && distance < thickness {
                self.respond(self.local, normal, thickness - distance);
            }
        }
        if !surface.is_closed() && first_hit(surface, near, self.from, self.local).is_some() {
            self.return_to_start();
        }
        true
    }

    /// Returns the distance to a point of the surface, negative on the wrong side of a closed surface, and the
    /// direction out.
    fn signed_distance(&self, near: &ClosestPoint) -> (f32, Vec3) {
        let surface = self.at_substep.surface;
        if surface.is_closed() {
            return surface.signed_distance(near, self.local);
        }
        let distance = near.square.sqrt();
        if distance > 0.0 {
            return (distance, (self.local - near.at) / distance);
        }
        let normal = surface.normal(near.triangle);
        let from = normal.dot(self.from - near.at);
        (0.0, if from < 0.0 { -normal } else { normal })
    }

    /// Pushes the particle out if it is on the wrong side of a closed surface. Returns its signed distance before,
    /// m.
    pub(super) fn push_out_if_inside(&mut self) -> f32 {
        let surface = self.at_substep.surface;
        let Some(near) = surface.nearest(self.local) else {
            return 0.0;
        };
        let (distance, normal) = surface.signed_distance(&near, self.local);
        if distance < 0.0 {
            let depth = self.at_substep.thickness - distance;
            self.respond(self.local, normal, depth);
            self.clamp_displacement();
        }
        distance
    }

    /// Applies the response to a contact given in the frame of the surface.
    fn respond(&mut self, at: Vec3, normal: Vec3, depth: f32) {
        let collider = &self.at_substep.collider;
        let [push_out, approach, friction] = collider.respond(self.displacement, at, normal, depth);
        self.position = self.position + push_out - friction;
        self.displacement = self.displacement - approach - friction;
        self.local = collider.local_point(self.position);
    }

    /// Returns the particle to its position at the beginning of the substep, relative to the surface.
    fn return_to_start(&mut self) {
        self.position = self.at_substep.collider.world_point(self.from);
        self.displacement = self.position - self.start;
        self.local = self.from;
    }

    /// Limits the displacement to the length of the actual movement. Returns true, for chaining.
    fn clamp_displacement(&mut self) -> bool {
        let moved = self.position - self.start;
        if moved.length_squared() < self.displacement.length_squared() {
            self.displacement = moved;
        }
        true
    }
}

/// Triangles nearer than the thickness.
#[derive(Default)]
struct TouchedTriangles {
    triangles: [u32; MAX_TOUCHED],
    count: usize,
}

impl TouchedTriangles {
    /// Collects the triangles nearer than the thickness. Returns the point nearest to `to` on all triangles.
    fn find(
        &mut self,
        surface: &TriangleSurface,
        near: &[u32],
        to: Vec3,
        thickness: f32,
    ) -> Option<ClosestPoint> {
        let mut best: Option<ClosestPoint> = None;
        for &triangle in near {
            let other = surface.nearest_on(triangle, to);
            if other.square < thickness * thickness && self.count < MAX_TOUCHED {
                self.triangles[self.count] = triangle;
                self.count += 1;
            }
            if best.is_none_or(|best| other.square < best.square) {
                best = Some(other);
            }
        }
        best
    }
}

/// Returns the first triangle that a path crosses; in a closed surface, only crossings from the outside count.
fn first_hit(surface: &TriangleSurface, near: &[u32], from: Vec3, to: Vec3) -> Option<TriangleHit> {
    let closed = surface.is_closed();
    let mut first: Option<TriangleHit> = None;
    for &triangle in near {
        let crossing = triangle::crossing(
            surface.corners(triangle),
            surface.normal(triangle),
            from,
            to,
        );
        let Some((time, front)) = crossing else {
            continue;
        };
        if (front || !closed) && first.as_ref().is_none_or(|first| time < first.time) {
            first = Some(TriangleHit {
                triangle,
                time,
                side: if front { 1.0 } else { -1.0 },
            });
        }
    }
    first
}
