//! Collision of one particle with nearby triangles in one substep: continuous detection, then push-out.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "comparisons with NaN must be false"
)]

use super::{
    MIN_THICKNESS,
    group::reach,
    near_triangles::Near,
    surface_at::{ClosestPoint, SurfaceAt, square_limit},
    surface_at_substep::SurfaceAtSubstep,
    tree::distance_squared,
    triangle::{self, Crossing},
};
use crate::solver::collision::narrow_phase::normal_length;
use crate::solver::simd::select;
use bevy::math::{Vec3, Vec3A};

/// Number of impacts resolved per substep before the particle is returned to its start position.
const MAX_IMPACTS: usize = 3;

/// Fraction of the path to a triangle that is certainly in front of it.
const BEFORE: f32 = 1.0 - 1e-3;

/// Farthest that a particle inside a closed surface is pushed out in a substep, as a multiple of the thickness, in addition to the
/// movement of the surface. It can be inside only where parts of the surface pass through each other, as limbs do, or because it
/// began there. Pushed out at once, and so from one limb into the other and back, it drags all of the cloth between them: a
/// sheet with self-collision over the walking `Fox.glb` was pulled between the legs within a tenth of a second.
const MAX_RECOVERY: f32 = 0.2;

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
    /// Upper bound on the movement of the triangles near it in this substep, in the frame of the surface, m.
    pub(super) surface_movement: f32,
    /// Normal of the last contact, shorter if the surface is only near; zero otherwise.
    pub(super) normal: Vec3,
    /// Index of the nearest triangle in the list of those near; 0 also if none is near.
    pub(super) nearest_listed: usize,
}

/// Crossing of the path and a triangle.
struct TriangleHit {
    triangle: u32,
    crossing: Crossing,
}

impl SweptParticle<'_> {
    /// Resolves the contacts with the triangles in `near`, a superset of those within reach. Returns whether the
    /// particle was moved; `None` if no triangle is near enough to tell on which side the particle is.
    pub(super) fn collide(&mut self, near: Near) -> Option<bool> {
        if matches!(near, Near::Listed([])) {
            return None;
        }
        let surface = self.at_substep.now;
        let thickness = self.at_substep.thickness;
        let movement = (self.local - self.from).length() + self.surface_movement;
        let reach = reach(thickness, movement);
        let stopped = self.stop_at_impacts(near);
        let mut touched = TouchedTriangles::default();
        let Some(nearest) = touched.find(surface, near, self.local, [thickness, reach]) else {
            return stopped.then(|| self.clamp_displacement());
        };
        self.nearest_listed = touched.nearest;
        let pushed = self.push_out(near, &nearest, &touched);
        Some((stopped || pushed) && self.clamp_displacement())
    }

    /// Stops the particle at the first triangle on its path, and again where the contact response leads through
    /// another triangle. Returns whether it was stopped.
    fn stop_at_impacts(&mut self, near: Near) -> bool {
        let now = self.at_substep.now;
        let (mut before, mut from) = (self.at_substep.before, self.from);
        for impact in 0..=MAX_IMPACTS {
            let Some(hit) = first_hit([before, now], near, from, self.local) else {
                return impact > 0;
            };
            let Crossing {
                time,
                front,
                weights,
            } = hit.crossing;
            if impact == MAX_IMPACTS {
                self.return_to_start(&hit);
                break;
            }
            let normal = now.normal(hit.triangle) * if front { 1.0 } else { -1.0 };
            let [corner, ..] = now.corners(hit.triangle);
            let path = self.local - from;
            let depth = self.at_substep.thickness - normal.dot(self.local - corner);
            let movement = self.at_substep.movement_at(hit.triangle, weights);
            self.respond(from + path * time, normal, depth, movement);
            // Restart shortly before the impact, on the part of the path that crosses nothing. A point above the
            // triangle might already be behind the next one.
            let passed = time * BEFORE;
            from += path * passed;
            if impact == 0 && self.at_substep.is_deforming() {
                // From here on, in front of the triangle where it is at the end of the substep.
                from += movement * (1.0 - passed);
                before = now;
            }
        }
        true
    }

    /// Pushes the particle out of the nearest triangle, and then out of the other triangles it touches.
    fn push_out(&mut self, near: Near, nearest: &ClosestPoint, touched: &TouchedTriangles) -> bool {
        let at_substep = self.at_substep;
        let (surface, thickness) = (at_substep.now, at_substep.thickness);
        let (distance, normal) = self.signed_distance(nearest);
        let mut depth = thickness - distance;
        if !(depth > 0.0) {
            let length = normal_length(distance, thickness);
            self.normal = at_substep.to_world(normal) * select(length > 0.0, length, 0.0);
            return false;
        }
        let movement = at_substep.movement_at(nearest.triangle, nearest.weights);
        if distance < 0.0 {
            depth = depth.min(MAX_RECOVERY * thickness + movement.length());
        }
        self.respond(self.local, normal, depth, movement);
        let touched = touched.triangles[..touched.count].iter();
        for &triangle in touched.filter(|&&triangle| triangle != nearest.triangle) {
            let other = surface.nearest_on(triangle, self.local);
            let (distance, normal) = self.signed_distance(&other);
            // At a thin part the particle is also near the triangles of the far side, but behind them: no contact.
            if distance > 0.0 && distance < thickness {
                let movement = at_substep.movement_at(triangle, other.weights);
                self.respond(self.local, normal, thickness - distance, movement);
            }
        }
        if !at_substep.is_closed()
            && let Some(hit) = first_hit(at_substep.path(), near, self.from, self.local)
        {
            self.return_to_start(&hit);
        }
        true
    }

    /// Returns the distance to a point of the surface, negative on the wrong side of a closed surface, and the
    /// direction out.
    fn signed_distance(&self, near: &ClosestPoint) -> (f32, Vec3) {
        let surface = self.at_substep.now;
        if self.at_substep.is_closed() {
            return surface.signed_distance(near, self.local);
        }
        let distance = near.square.sqrt();
        if distance > 0.0 {
            return (distance, (self.local - near.at) / distance);
        }
        let normal = surface.normal(near.triangle);
        let movement = self.at_substep.movement_at(near.triangle, near.weights);
        let from = normal.dot(self.from + movement - near.at);
        (0.0, if from < 0.0 { -normal } else { normal })
    }

    /// Pushes the particle out if it is on the wrong side of a closed surface. Returns its signed distance before,
    /// m.
    pub(super) fn push_out_if_inside(&mut self) -> f32 {
        let surface = self.at_substep.now;
        let Some(near) = surface.nearest(self.local) else {
            return 0.0;
        };
        let (distance, normal) = surface.signed_distance(&near, self.local);
        if distance < 0.0 {
            let depth = self.at_substep.thickness - distance;
            let movement = self.at_substep.movement_at(near.triangle, near.weights);
            self.respond(self.local, normal, depth, movement);
            self.clamp_displacement();
        }
        distance
    }

    /// Applies the response to a contact given in the frame of the surface, with a point of the surface that moves by
    /// `movement` in that frame.
    fn respond(&mut self, at: Vec3, normal: Vec3, depth: f32, movement: Vec3) {
        let collider = &self.at_substep.collider;
        // The response depends on the displacement relative to the surface only.
        let relative = self.displacement - self.at_substep.to_world(movement);
        let [push_out, approach, friction] = collider.respond(relative, at, normal, depth);
        self.position = self.position + push_out - friction;
        self.displacement = self.displacement - approach - friction;
        self.local = collider.local_point(self.position);
        self.normal = self.at_substep.to_world(normal);
    }

    /// Returns the particle to its position at the beginning of the substep, relative to a triangle that it hit.
    fn return_to_start(&mut self, hit: &TriangleHit) {
        let at_substep = self.at_substep;
        let near = at_substep.before.nearest_on(hit.triangle, self.from);
        let back = self.from + at_substep.movement_at(hit.triangle, near.weights);
        self.position = at_substep.collider.world_point(back);
        self.displacement = self.position - self.start;
        self.local = back;
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

/// Triangles nearer than the thickness, in ascending order.
#[derive(Default)]
struct TouchedTriangles {
    triangles: [u32; MAX_TOUCHED],
    count: usize,
    /// Index of the nearest triangle in the list of those near.
    nearest: usize,
}

impl TouchedTriangles {
    /// Collects the triangles nearer than the thickness, or only the nearest one if many are near. Returns the point nearest
    /// to `to` on all triangles, if it is not farther away than the reach.
    fn find(
        &mut self,
        surface: SurfaceAt,
        near: Near,
        to: Vec3,
        [thickness, reach]: [f32; 2],
    ) -> Option<ClosestPoint> {
        let Near::Listed(near) = near else {
            let nearest = surface.nearest(to);
            return nearest.filter(|nearest| nearest.square <= reach * reach);
        };
        let mut best: Option<ClosestPoint> = None;
        let point = Vec3A::from(to);
        let mut limit = square_limit(reach, to);
        for (index, near) in near.iter().enumerate() {
            if distance_squared(&near.bounds, point) > limit {
                continue;
            }
            let other = surface.nearest_on(near.triangle, to);
            if other.square < thickness * thickness {
                self.insert(near.triangle);
            }
            let better = best
                .is_none_or(|best| (other.square, other.triangle) < (best.square, best.triangle));
            if better {
                best = Some(other);
                self.nearest = index;
                let distance = other.square.sqrt();
                let distance = if distance < thickness {
                    thickness
                } else {
                    distance
                };
                limit = limit.min(square_limit(distance, to));
            }
        }
        best.filter(|best| best.square <= reach * reach)
    }

    /// Adds a triangle; if there are too many, the last one drops out.
    fn insert(&mut self, triangle: u32) {
        let at = self.triangles[..self.count].partition_point(|&other| other < triangle);
        if at < MAX_TOUCHED {
            self.count = (self.count + 1).min(MAX_TOUCHED);
            self.triangles[at..self.count].rotate_right(1);
            self.triangles[at] = triangle;
        }
    }
}

/// Returns the first triangle that a path crosses while the surface moves from the first state to the second; in a closed
/// surface, only crossings from the outside count.
fn first_hit(surface: [SurfaceAt; 2], near: Near, from: Vec3, to: Vec3) -> Option<TriangleHit> {
    let [before, now] = surface;
    let closed = now.surface().is_closed();
    let is_deforming = now.surface().deformation.is_some();
    let mut first: Option<TriangleHit> = None;
    let path = [from.min(to) - MIN_THICKNESS, from.max(to) + MIN_THICKNESS].map(Vec3A::from);
    near.visit_on_path(now.surface(), &path, |triangle| {
        // Normals are not stored: nearly all triangles are left out without them.
        if is_deforming {
            let [before, now] = [before.corners(triangle), now.corners(triangle)];
            if !triangle::changes_side([before, now], from, to) {
                return;
            }
        }
        let ends = [before.triangle(triangle), now.triangle(triangle)];
        let Some(crossing) = triangle::crossing([&ends[0], &ends[1]], from, to) else {
            return;
        };
        let is_first = first
            .as_ref()
            .is_none_or(|first| (crossing.time, triangle) < (first.crossing.time, first.triangle));
        if (crossing.front || !closed) && is_first {
            first = Some(TriangleHit { triangle, crossing });
        }
    });
    first
}
