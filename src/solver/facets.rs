//! Triangles of a cloth against balls and capsules that would slip through between its particles.
//!
//! Only round colliders that are smaller than the longest edge of the cloth are met in this way; the others
//! touch particles before they are through. Of each triangle near such a collider the point that is
//! nearest to its axis (of a ball: its centre) is treated as a particle, and what the contact does to it
//! is shared among the corners by their weights at that point and their inverse masses. Who has gone
//! through a triangle within the substep is found by the side that it was on before, and brought back to
//! that side.
//!
//! It goes obstacle by obstacle and triangle by triangle, on one thread: few are near.

#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "what is NaN is not less")]

use super::{
    collide::Collider,
    contact::Obstacle,
    particles::ParticleArrays,
    soa::{Bounds, SoaVec3, bounds},
    sweep::swept,
    triangles::Triangles,
};
use bevy::math::Vec3;

/// Particles that have a box together.
const GROUP: usize = 16;

/// Triangles that have a box together.
const BLOCK: usize = 64;

/// Share of a triangle by which a way may miss it and still count, so that nothing slips through along
/// an edge because of rounding.
const MARGIN: f32 = 1e-3;

/// The time at which a triangle is crossed is looked for in so many halves of halves of a substep.
const HALVINGS: u32 = 12;

/// What contacts of triangles need: which particles belong to which triangles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facets {
    /// Of each block of triangles the groups that its corners are in, one block after the other.
    groups: Vec<u32>,
    /// Where they begin for each block, and where they end.
    starts: Vec<u32>,
    /// The longest edge at rest, m; 0 if triangles meet no collider in this fixed step.
    longest_edge: f32,
    /// What they were made of: the number of triangles, if those were as they are packed.
    made_of: Option<usize>,
    room: Room,
}

/// Room for a substep.
#[derive(Clone, Debug, Default)]
struct Room {
    /// Where the particles were when it began.
    start: SoaVec3,
    groups: Vec<Bounds>,
    blocks: Vec<Bounds>,
}

impl Facets {
    /// Gets ready for a fixed step, if triangles meet any of the colliders in it.
    pub(crate) fn prepare<'a>(
        &mut self,
        triangles: &Triangles,
        colliders: impl IntoIterator<Item = &'a Collider>,
        thickness: f32,
    ) {
        self.longest_edge = 0.0;
        let longest_edge = triangles.longest_edge;
        let small = |c: &Collider| c.round_radius() + thickness < longest_edge;
        if !colliders.into_iter().any(small) {
            return;
        }
        self.longest_edge = longest_edge;
        let count = triangles.indices.len();
        // Those that are packed have not changed since they were made.
        let made_of = triangles.indices.is_packed().then_some(count);
        if made_of.is_some() && self.made_of == made_of {
            return;
        }
        self.made_of = made_of;
        self.groups.clear();
        self.starts.clear();
        self.starts.push(0);
        for first in (0..count).step_by(BLOCK) {
            let begin = self.groups.len();
            for triangle in first..(first + BLOCK).min(count) {
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

    /// Whether triangles meet any collider in this fixed step.
    pub(super) fn are_ready(&self) -> bool {
        self.longest_edge > 0.0
    }

    /// Remembers where the particles were when the substep began. Before displacements are brought up
    /// to date.
    pub(super) fn begin(&mut self, p: &ParticleArrays) {
        let start = &mut self.room.start;
        let ways = [&p.displacement.x, &p.displacement.y, &p.displacement.z];
        let predicted = [&p.predicted.x, &p.predicted.y, &p.predicted.z];
        for ((start, way), predicted) in [&mut start.x, &mut start.y, &mut start.z]
            .into_iter()
            .zip(ways)
            .zip(predicted)
        {
            start.clear();
            start.extend(predicted.iter().zip(way).map(|(x, d)| x - d));
        }
    }

    /// Contacts of all triangles with the small ones of the obstacles. Returns whether any was near.
    pub(super) fn collide(
        &mut self,
        p: &mut ParticleArrays,
        triangles: &Triangles,
        obstacles: &[Obstacle],
    ) -> bool {
        let room = &mut self.room;
        room.find_boxes(p, &self.groups, &self.starts);
        let whole = room.blocks.iter().fold(NOWHERE, |a, b| union(&a, b));
        let small = |o: &&Obstacle| o.round_radius() + o.reach() < self.longest_edge;
        let met = obstacles.iter().filter(small);
        let mut any = false;
        for obstacle in met.filter(|o| o.may_cross(&whole)) {
            any = true;
            for (number, block) in room.blocks.iter().enumerate() {
                if !obstacle.may_cross(block) {
                    continue;
                }
                let first = number * BLOCK;
                for triangle in first..(first + BLOCK).min(triangles.indices.len()) {
                    let corners = triangles.indices.at(triangle).map(|i| i as usize);
                    let facet = Facet {
                        corners,
                        before: corners.map(|i| room.start.get(i)),
                        now: corners.map(|i| p.position.get(i)),
                    };
                    if obstacle.may_cross(&facet.bounds()) {
                        facet.collide(p, obstacle);
                    }
                }
            }
        }
        any
    }
}

impl Room {
    /// The boxes around the ways of all groups and blocks, those of particles that are neighbours in
    /// memory and of triangles that are.
    fn find_boxes(&mut self, p: &ParticleArrays, groups: &[u32], starts: &[u32]) {
        self.groups.clear();
        let parts = p.position.chunks(GROUP).zip(p.displacement.chunks(GROUP));
        self.groups
            .extend(parts.map(|(x, d)| swept(&bounds(x), &bounds(d))));
        self.blocks.clear();
        let ranges = starts
            .windows(2)
            .map(|ends| &groups[ends[0] as usize..ends[1] as usize]);
        let boxes = ranges.map(|range| {
            let boxes = range
                .iter()
                .filter_map(|&group| self.groups.get(group as usize));
            boxes.fold(NOWHERE, |a, b| union(&a, b))
        });
        self.blocks.extend(boxes);
    }
}

/// A box around nothing.
const NOWHERE: Bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];

fn union([low, high]: &Bounds, [from, to]: &Bounds) -> Bounds {
    let mut both = [*low, *high];
    for axis in 0..3 {
        both[0][axis] = low[axis].min(from[axis]);
        both[1][axis] = high[axis].max(to[axis]);
    }
    both
}

/// A triangle in a substep.
struct Facet {
    corners: [usize; 3],
    /// Where its corners were when the substep began.
    before: [Vec3; 3],
    /// Where they are.
    now: [Vec3; 3],
}

impl Facet {
    fn bounds(&self) -> Bounds {
        let all = self.before.iter().chain(&self.now);
        let (low, high) = all.fold((self.now[0], self.now[0]), |(low, high), &at| {
            (low.min(at), high.max(at))
        });
        [low.into(), high.into()]
    }

    fn collide(&self, p: &mut ParticleArrays, obstacle: &Obstacle) {
        let axis = obstacle.axis();
        let (at, weights) = nearest(&self.now, axis.now);
        // Its ends come through first, or the point of it that is nearest.
        let shares = [at, 0.0, 1.0];
        let crossings = shares
            .into_iter()
            .take(if axis.is_point() { 1 } else { 3 })
            .filter_map(|share| {
                let (weights, normal, beyond) = self.crossing(axis.point(share))?;
                Some((weights, normal, beyond + axis.radius(share)))
            });
        let farthest = crossings.reduce(|a, b| if b.2 > a.2 { b } else { a });
        if let Some((weights, normal, through)) = farthest {
            let local = obstacle.local(mix(&self.now, weights));
            let depth = through + obstacle.reach();
            self.push(p, weights, |way| {
                obstacle.respond_along(way, local, normal, depth)
            });
            return;
        }
        let touched = mix(&self.now, weights);
        let local = obstacle.local(touched);
        let (gap, normal) = obstacle.gap(local);
        // On the axis itself no way is out.
        if gap < 0.0 && touched != axis.now[0].lerp(axis.now[1], at) {
            self.push(p, weights, |way| obstacle.respond(way, local, normal, -gap));
        }
    }

    /// Where a point that moved goes through, if it does: the weights of the corners, the direction in
    /// which they are to be pushed, and how far the point is ahead of them in that direction.
    fn crossing(&self, [from, to]: [Vec3; 2]) -> Option<([f32; 3], Vec3, f32)> {
        let corners_at = |time: f32| -> [Vec3; 3] {
            std::array::from_fn(|k| self.before[k] + (self.now[k] - self.before[k]) * time)
        };
        let point_at = |time: f32| from + (to - from) * time;
        // Six times the volume between the triangle and the point, and twice its area.
        let volume = |time: f32| {
            let [a, b, c] = corners_at(time);
            let normal = (b - a).cross(c - a);
            (normal.dot(point_at(time) - a), normal)
        };
        let (before, now) = (volume(0.0).0, volume(1.0).0);
        // NaN is neither.
        if !(before * now < 0.0 || (now == 0.0 && before != 0.0)) {
            return None;
        }
        // It is cubic in time, for the triangle turns as well.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = (low + high) * 0.5;
            if volume(middle).0 * before > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let weights = weights(&corners_at(high), point_at(high))?;
        if weights.iter().any(|&weight| weight < -MARGIN) {
            return None;
        }
        let weights = weights.map(|weight| weight.max(0.0));
        let sum: f32 = weights.iter().sum();
        let weights = weights.map(|weight| weight / sum);
        let (_, normal) = volume(high);
        // The cloth goes to where the other was going, ahead of it.
        let ahead = normal
            / if before > 0.0 {
                -normal.length()
            } else {
                normal.length()
            };
        Some((weights, ahead, (to - mix(&self.now, weights)).dot(ahead)))
    }

    /// Does to the corners what a contact of the point with these weights does to it.
    fn push(
        &self,
        p: &mut ParticleArrays,
        weights: [f32; 3],
        respond: impl FnOnce(Vec3) -> [Vec3; 3],
    ) {
        let ways = self.corners.map(|i| p.displacement.get(i));
        let mobilities: [f32; 3] =
            std::array::from_fn(|k| weights[k] * p.inverse_mass[self.corners[k]]);
        let mut sum = 0.0;
        for k in 0..3 {
            sum += mobilities[k] * weights[k];
        }
        if !(sum > 0.0) {
            return;
        }
        let [out, into, lost] = respond(mix(&ways, weights));
        for (k, i) in self.corners.into_iter().enumerate() {
            let share = mobilities[k] / sum;
            p.position.add(i, (out - lost) * share);
            p.displacement.add(i, (into + lost) * -share);
        }
    }
}

fn mix([a, b, c]: &[Vec3; 3], weights: [f32; 3]) -> Vec3 {
    *a * weights[0] + *b * weights[1] + *c * weights[2]
}

/// The weights of the corners of a triangle at the foot of a point on its plane; none without an area.
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

/// Where a triangle and a segment are nearest to each other: how far along the segment, from 0 to 1, and
/// the weights of the corners.
fn nearest(triangle: &[Vec3; 3], [from, to]: [Vec3; 2]) -> (f32, [f32; 3]) {
    let along = to - from;
    let mut best = (f32::INFINITY, 0.0, [1.0, 0.0, 0.0]);
    let mut try_this = |share: f32, weights: [f32; 3]| {
        let apart = mix(triangle, weights) - (from + along * share);
        let square = apart.length_squared();
        if square < best.0 {
            best = (square, share, weights);
        }
    };
    let is_point = along == Vec3::ZERO;
    // A foot of an end inside the triangle, or else a point of its edges.
    for share in [0.0, 1.0].into_iter().take(if is_point { 1 } else { 2 }) {
        if let Some(foot) = weights(triangle, from + along * share)
            && foot.iter().all(|&weight| weight >= 0.0)
        {
            try_this(share, foot);
        }
    }
    for k in 0..3 {
        let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
        let (share, on_edge) = nearest_of_segments([from, along], [a, b - a]);
        let mut weights = [0.0; 3];
        weights[k] = 1.0 - on_edge;
        weights[(k + 1) % 3] = on_edge;
        try_this(share, weights);
    }
    // Or it goes through.
    let [a, b, c] = *triangle;
    let normal = (b - a).cross(c - a);
    let share = (a - from).dot(normal) / along.dot(normal);
    if (0.0..=1.0).contains(&share)
        && let Some(weights) = weights(triangle, from + along * share)
        && weights.iter().all(|&weight| weight >= 0.0)
    {
        try_this(share, weights);
    }
    (best.1, best.2)
}

/// How far along each of two segments, given by where they begin and their ways, they are nearest to each
/// other (Ericson, "Real-Time Collision Detection", 2005, 5.1.9).
fn nearest_of_segments([p, d]: [Vec3; 2], [q, e]: [Vec3; 2]) -> (f32, f32) {
    let r = p - q;
    let (dd, ee, er) = (d.length_squared(), e.length_squared(), e.dot(r));
    if !(dd > 0.0) {
        let t = if ee > 0.0 { er / ee } else { 0.0 };
        return (0.0, t.clamp(0.0, 1.0));
    }
    let dr = d.dot(r);
    if !(ee > 0.0) {
        return ((-dr / dd).clamp(0.0, 1.0), 0.0);
    }
    let de = d.dot(e);
    let denominator = dd * ee - de * de;
    let s = if denominator > 0.0 {
        ((de * er - dr * ee) / denominator).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let t = (de * s + er) / ee;
    if t < 0.0 {
        ((-dr / dd).clamp(0.0, 1.0), 0.0)
    } else if t > 1.0 {
        (((de - dr) / dd).clamp(0.0, 1.0), 1.0)
    } else {
        (s, t)
    }
}

#[cfg(test)]
mod tests;
