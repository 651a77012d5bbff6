//! Contacts of cloth triangles with spheres and capsules small enough to slip through between particles, and of their sides
//! with edges ([`EdgeContacts`]).
//!
//! Only round colliders smaller than the longest edge of the cloth are handled here; larger ones touch particles
//! first. On each triangle near such a collider, the point nearest to the collider's axis (the centre of a
//! sphere) is treated as a particle, and the contact response is distributed over the three corners by
//! barycentric weight and inverse mass. A collider that crossed a triangle within the substep is detected by
//! its side at the beginning of the substep; the triangle is pushed ahead of it until the collider is on that
//! side again.
//!
//! Colliders and triangles are processed serially on one thread, since few of them are near each other.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "comparisons with NaN must be false"
)]

use crate::solver::{
    collision::{
        ccd::{CROSSING_MARGIN, swept_bounds},
        collider::Collider,
        edge_contacts::{EdgeContacts, push_point},
        narrow_phase::ColliderAtSubstep,
    },
    math::closest_point::closest_points_of_segments,
    parallel::split::chunk_ranges,
    particles::ParticleArrays,
    simd::soa::{Bounds, SoaVec3, bounds, union},
    triangles::Triangles,
};
use bevy::math::Vec3;

/// Consecutive particles that share a bounding box. These and the blocks are small, because those of a grid are parts of its
/// rows: with 16 particles and 64 triangles, all blocks of a flag of 48 × 32 particles touch the pole beside it, and a step
/// takes twice as long.
const GROUP: usize = 4;

/// Consecutive triangles that share a bounding box.
const BLOCK: usize = 8;

/// Bisection steps for the time within a substep at which a triangle is crossed.
const BISECTIONS: u32 = 12;

/// State of triangle contacts: which groups of particles each block of triangles uses, and scratch buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct TriangleContacts {
    /// Indices of the particle groups used by each block of triangles, one block after the other.
    groups: Vec<u32>,
    /// Offsets into `groups` at which each block begins, followed by the length of `groups`.
    starts: Vec<u32>,
    /// Longest edge at rest, m; 0 if triangles meet no collider in this fixed step.
    longest_edge: f32,
    /// Number of triangles for which the groups were computed, if the indices were packed.
    built_for: Option<usize>,
    scratch: TriangleScratch,
    edges: EdgeContacts,
    /// Whether the cloth is near a collider with a tip.
    near_tip: bool,
}

/// Scratch buffers for a substep.
#[derive(Clone, Debug, Default)]
struct TriangleScratch {
    /// Positions of the particles at the beginning of the substep.
    start: SoaVec3,
    /// Swept bounding boxes of the particle groups.
    groups: Vec<Bounds>,
    /// Swept bounding boxes of the triangle blocks.
    blocks: Vec<Bounds>,
}

impl TriangleContacts {
    /// Prepares for a fixed step with these colliders: those that are small enough to need triangle contacts or have edges, and
    /// tips.
    pub(crate) fn prepare<'a>(
        &mut self,
        p: &ParticleArrays,
        triangles: &Triangles,
        colliders: impl IntoIterator<Item = &'a Collider>,
        thickness: f32,
    ) {
        self.edges.clear();
        self.longest_edge = 0.0;
        let longest_edge = triangles.longest_edge;
        let (mut any_small, mut any_edges) = (false, false);
        self.near_tip = false;
        for collider in colliders {
            any_small |= collider.round_radius() + thickness < longest_edge;
            any_edges |= collider.has_edges();
            self.near_tip |= collider.has_tip() && is_near(p, collider, thickness);
        }
        if any_edges {
            self.edges.find(p, triangles, thickness);
        }
        if !any_small {
            return;
        }
        self.longest_edge = longest_edge;
        let count = triangles.indices.len();
        // Every change unpacks the indices, so packed ones of equal number are the same.
        let built_for = triangles.indices.is_packed().then_some(count);
        if built_for.is_some() && self.built_for == built_for {
            return;
        }
        self.built_for = built_for;
        self.groups.clear();
        self.starts.clear();
        self.starts.push(0);
        for block in chunk_ranges(0..count, BLOCK) {
            let begin = self.groups.len();
            for triangle in block {
                for corner in triangles.indices.at(triangle) {
                    let group = corner / GROUP as u32;
                    if !self.groups[begin..].contains(&group) {
                        self.groups.push(group);
                    }
                }
            }
            self.starts.push(self.groups.len() as u32);
        }
    }

    /// Returns whether triangle contacts are needed in this fixed step.
    pub(in crate::solver) fn are_ready(&self) -> bool {
        self.longest_edge > 0.0 || !self.edges.is_empty()
    }

    /// Returns whether the cloth is near a collider with a tip in this fixed step.
    pub(in crate::solver) fn is_near_tip(&self) -> bool {
        self.near_tip
    }

    /// Records the positions of the particles at the beginning of the substep. Call before displacements are
    /// updated.
    pub(in crate::solver) fn begin(&mut self, p: &ParticleArrays) {
        if self.longest_edge > 0.0 {
            p.copy_substep_start(&mut self.scratch.start);
        }
    }

    /// Resolves the contacts of links with edges, and of all triangles with small round colliders. Returns whether any was near.
    pub(in crate::solver) fn collide(
        &mut self,
        p: &mut ParticleArrays,
        triangles: &Triangles,
        colliders: &[ColliderAtSubstep],
    ) -> bool {
        let is_small = |c: &&ColliderAtSubstep| c.round_radius() + c.thickness < self.longest_edge;
        let small = colliders.iter().filter(is_small);
        let [at, moved] = [&p.position, &p.displacement].map(|all| bounds(all.planes()));
        let around = swept_bounds(&at, &moved);
        let near = colliders.iter().filter(|c| c.may_touch_swept(&around));
        let near_edges = self.edges.collide(p, near);
        if !small.clone().any(|c| c.may_touch_swept(&around)) {
            return near_edges;
        }
        let scratch = &mut self.scratch;
        scratch.update_bounds(p, &self.groups, &self.starts);
        let whole = scratch
            .blocks
            .iter()
            .fold(EMPTY_BOUNDS, |a, b| union(&a, b));
        let mut any_near = near_edges;
        for collider in small.filter(|c| c.may_touch_swept(&whole)) {
            any_near = true;
            let blocks = chunk_ranges(0..triangles.indices.len(), BLOCK);
            let blocks = blocks.zip(&scratch.blocks);
            for (block, _) in blocks.filter(|(_, bounds)| collider.may_touch_swept(bounds)) {
                for triangle in block {
                    let corners = triangles.indices.at(triangle).map(|i| i as usize);
                    let moving = MovingTriangle {
                        corners,
                        before: corners.map(|i| scratch.start.get(i)),
                        now: corners.map(|i| p.position.get(i)),
                    };
                    if collider.may_touch_swept(&moving.bounds()) {
                        moving.collide(p, collider);
                    }
                }
            }
        }
        any_near
    }
}

impl TriangleScratch {
    /// Computes the swept bounding boxes of all groups of particles and blocks of triangles.
    fn update_bounds(&mut self, p: &ParticleArrays, groups: &[u32], starts: &[u32]) {
        self.groups.clear();
        let parts = p.position.chunks(GROUP).zip(p.displacement.chunks(GROUP));
        self.groups
            .extend(parts.map(|(x, d)| swept_bounds(&bounds(x), &bounds(d))));
        self.blocks.clear();
        let ranges = starts
            .windows(2)
            .map(|ends| &groups[ends[0] as usize..ends[1] as usize]);
        let boxes = ranges.map(|range| {
            let boxes = range
                .iter()
                .filter_map(|&group| self.groups.get(group as usize));
            boxes.fold(EMPTY_BOUNDS, |a, b| union(&a, b))
        });
        self.blocks.extend(boxes);
    }
}

/// Returns whether cloth of this thickness overlaps the box around a collider in this fixed step.
fn is_near(p: &ParticleArrays, collider: &Collider, thickness: f32) -> bool {
    let [from, to] = collider.swept_bounds().map(|corner| corner - p.origin);
    p.position.bounds().is_some_and(|(low, high)| {
        (low - thickness).cmple(to).all() && (high + thickness).cmpge(from).all()
    })
}

/// Empty box.
const EMPTY_BOUNDS: Bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];

/// Triangle in motion during a substep.
struct MovingTriangle {
    /// Particle indices of the corners.
    corners: [usize; 3],
    /// Positions of the corners at the beginning of the substep.
    before: [Vec3; 3],
    /// Positions of the corners at the end of the substep.
    now: [Vec3; 3],
}

impl MovingTriangle {
    fn bounds(&self) -> Bounds {
        let all = self.before.iter().chain(&self.now);
        let (low, high) = all.fold((self.now[0], self.now[0]), |(low, high), &at| {
            (low.min(at), high.max(at))
        });
        [low.into(), high.into()]
    }

    fn collide(&self, p: &mut ParticleArrays, collider: &ColliderAtSubstep) {
        let axis = collider.axis();
        let (t_nearest, weights) = closest_points(&self.now, axis.now);
        // An end of the axis crosses the triangle first, or the point of the axis nearest to the triangle.
        let candidates = [t_nearest, 0.0, 1.0];
        let crossings = candidates
            .into_iter()
            .take(if axis.is_point() { 1 } else { 3 })
            .filter_map(|t| {
                let (weights, normal, beyond) = self.crossing(axis.point(t))?;
                Some((weights, normal, beyond + axis.radius(t)))
            });
        let deepest = crossings.reduce(|a, b| if b.2 > a.2 { b } else { a });
        if let Some((weights, normal, beyond)) = deepest {
            let local = collider.local_point(interpolate(&self.now, weights));
            let depth = beyond + collider.thickness;
            push_point(p, self.corners, weights, |displacement| {
                collider.respond_along(displacement, local, normal, depth)
            });
            return;
        }
        let contact_point = interpolate(&self.now, weights);
        let local = collider.local_point(contact_point);
        let (gap, normal) = collider.gap(local);
        // On the axis itself the normal is undefined.
        if gap < 0.0 && contact_point != axis.now[0].lerp(axis.now[1], t_nearest) {
            push_point(p, self.corners, weights, |displacement| {
                collider.respond(displacement, local, normal, -gap)
            });
        }
    }

    /// Returns where a moving point crosses the triangle: the barycentric weights, the direction in which to push
    /// the corners, and how far the point is ahead of the triangle in that direction, m. `None` if it does not.
    fn crossing(&self, [from, to]: [Vec3; 2]) -> Option<([f32; 3], Vec3, f32)> {
        let corners_at = |time: f32| -> [Vec3; 3] {
            std::array::from_fn(|k| self.before[k] + (self.now[k] - self.before[k]) * time)
        };
        let point_at = |time: f32| from + (to - from) * time;
        // Six times the signed volume between triangle and point, and the normal with twice the area as length.
        let volume = |time: f32| {
            let [a, b, c] = corners_at(time);
            let normal = (b - a).cross(c - a);
            (normal.dot(point_at(time) - a), normal)
        };
        let (before, now) = (volume(0.0).0, volume(1.0).0);
        // NaN fails both comparisons.
        if !(before * now < 0.0 || (now == 0.0 && before != 0.0)) {
            return None;
        }
        // The volume is cubic in time, since the triangle rotates as well: bisection.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..BISECTIONS {
            let middle = (low + high) * 0.5;
            if volume(middle).0 * before > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let weights = weights(&corners_at(high), point_at(high))?;
        if weights.iter().any(|&weight| weight < -CROSSING_MARGIN) {
            return None;
        }
        let weights = weights.map(|weight| weight.max(0.0));
        let sum: f32 = weights.iter().sum();
        let weights = weights.map(|weight| weight / sum);
        let (_, normal) = volume(high);
        // Push the triangle in the direction of motion of the point, ahead of it.
        let ahead = normal
            / if before > 0.0 {
                -normal.length()
            } else {
                normal.length()
            };
        let beyond = (to - interpolate(&self.now, weights)).dot(ahead);
        Some((weights, ahead, beyond))
    }
}

/// Interpolates the corners with barycentric weights.
fn interpolate([a, b, c]: &[Vec3; 3], weights: [f32; 3]) -> Vec3 {
    *a * weights[0] + *b * weights[1] + *c * weights[2]
}

/// Returns the barycentric weights of a point projected onto the plane of a triangle; `None` for a degenerate
/// triangle.
fn weights([a, b, c]: &[Vec3; 3], at: Vec3) -> Option<[f32; 3]> {
    let (ab, ac, ap) = (*b - *a, *c - *a, at - *a);
    let normal = ab.cross(ac);
    let square = normal.length_squared();
    if !(square > 0.0) {
        return None;
    }
    let of_b = ap.cross(ac).dot(normal) / square;
    let of_c = ab.cross(ap).dot(normal) / square;
    Some([1.0 - of_b - of_c, of_b, of_c])
}

/// Returns the closest points of a triangle and a segment: the parameter along the segment, from 0 to 1, and the
/// barycentric weights on the triangle.
fn closest_points(triangle: &[Vec3; 3], [from, to]: [Vec3; 2]) -> (f32, [f32; 3]) {
    let along = to - from;
    let mut best = (f32::INFINITY, 0.0, [1.0, 0.0, 0.0]);
    let mut consider = |t: f32, weights: [f32; 3]| {
        let apart = interpolate(triangle, weights) - (from + along * t);
        let square = apart.length_squared();
        if square < best.0 {
            best = (square, t, weights);
        }
    };
    let is_point = along == Vec3::ZERO;
    // An end of the segment that projects inside the triangle, or a point of the triangle's edges.
    for t in [0.0, 1.0].into_iter().take(if is_point { 1 } else { 2 }) {
        if let Some(foot) = weights(triangle, from + along * t)
            && foot.iter().all(|&weight| weight >= 0.0)
        {
            consider(t, foot);
        }
    }
    for k in 0..3 {
        let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
        let (t, on_edge) = closest_points_of_segments([from, along], [a, b - a]);
        let mut weights = [0.0; 3];
        weights[k] = 1.0 - on_edge;
        weights[(k + 1) % 3] = on_edge;
        consider(t, weights);
    }
    // Or the segment intersects the triangle.
    let [a, b, c] = *triangle;
    let normal = (b - a).cross(c - a);
    let t = (a - from).dot(normal) / along.dot(normal);
    if (0.0..=1.0).contains(&t)
        && let Some(weights) = weights(triangle, from + along * t)
        && weights.iter().all(|&weight| weight >= 0.0)
    {
        consider(t, weights);
    }
    (best.1, best.2)
}

#[cfg(test)]
mod tests;
