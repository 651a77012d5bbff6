//! A collider during one substep, as the kernels of contacts see it.

use crate::solver::{
    collide::{Collider, Friction, Surface},
    shape::Shape,
    simd::select,
    soa::Bounds,
};
use bevy::math::{Mat3, Vec3};

/// A box that is farther from a collider than the thickness and this has no particle in contact, m. It
/// is for lengths whose square is too small for an `f32`.
const MARGIN: f32 = 1e-6;

/// A collider during one substep, relative to the origin of the particles.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct Obstacle {
    pub(super) shape: Shape,
    friction: Friction,
    pub(super) thickness: f32,
    moving: bool,
    /// 1, or −1 if cloth is kept inside: then outside and inside change places.
    side: f32,
    pub(super) centre: Vec3,
    centre_before: Vec3,
    to_world: Mat3,
    to_world_before: Mat3,
    to_local: Mat3,
    /// The corners of a box around the shape, in its own frame.
    bounds: [Vec3; 2],
    /// A box in the axes of the world around all places where it touches anything, and one around those
    /// during the whole substep.
    pub(in crate::solver) around: Bounds,
    around_way: Bounds,
    /// Who moves by more than this may be on the other side at the end of the substep, m.
    crossed_by: f32,
    /// No point of it moves by more than this, m.
    way: f32,
    /// Square of the distance from the centre beyond which nothing touches a sphere, m².
    pub(super) ball: f32,
}

/// The axis of a ball, a capsule or a tapered one, around which it is round.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct Axis {
    /// Its ends when the substep began.
    before: [Vec3; 2],
    /// Its ends.
    pub(in crate::solver) now: [Vec3; 2],
    /// How thick the shape is at its ends, m.
    radii: [f32; 2],
}

impl Axis {
    /// Whether it has no length.
    pub(in crate::solver) fn is_point(&self) -> bool {
        self.now[0] == self.now[1]
    }

    /// Where a point of it was when the substep began, and where it is. `share` goes from 0 to 1.
    pub(in crate::solver) fn point(&self, share: f32) -> [Vec3; 2] {
        [self.before, self.now].map(|[from, to]| from + (to - from) * share)
    }

    /// How thick the shape is there, m.
    pub(in crate::solver) fn radius(&self, share: f32) -> f32 {
        self.radii[0] + (self.radii[1] - self.radii[0]) * share
    }
}

const EVERYWHERE: Bounds = [[f32::NEG_INFINITY; 3], [f32::INFINITY; 3]];

/// A box in the axes of the world around all that is nearer than `thickness` to a box in its own frame.
fn around([low, high]: [Vec3; 2], to_world: &Mat3, centre: Vec3, thickness: f32) -> Bounds {
    let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
    // That of a half-space has no middle.
    if !half.is_finite() {
        return EVERYWHERE;
    }
    let half = half + thickness.max(0.0);
    let turned = to_world.x_axis.abs() * half.x
        + to_world.y_axis.abs() * half.y
        + to_world.z_axis.abs() * half.z;
    // More than is lost by rounding, here and where contacts are computed.
    let size = centre.abs().max_element() + half.max_element();
    let reach = turned + (MARGIN + 32.0 * f32::EPSILON * size);
    let middle = centre + *to_world * middle;
    [(middle - reach).into(), (middle + reach).into()]
}

/// Whether two boxes have anything in common. Of NaN nothing is known, so it counts.
#[inline(always)]
fn overlap([low, high]: &Bounds, [from, to]: &Bounds) -> bool {
    let mut apart = false;
    for axis in 0..3 {
        apart |= (low[axis] > to[axis]) | (from[axis] > high[axis]);
    }
    !apart
}

impl Obstacle {
    pub(in crate::solver) fn new(
        collider: &Collider,
        surface: &Surface,
        origin: Vec3,
        substep: u32,
        substeps: u32,
    ) -> Self {
        let (before, after) = collider.during(substep, substeps);
        let to_world = Mat3::from_quat(after.rotation);
        let moving = before != after;
        let to_world_before = if moving {
            Mat3::from_quat(before.rotation)
        } else {
            to_world
        };
        let centre = after.translation - origin;
        let centre_before = before.translation - origin;
        let bounds = collider.shape.bounds();
        let boxed = |to_world, centre| match collider.hollow {
            true => EVERYWHERE,
            false => around(bounds, to_world, centre, surface.thickness),
        };
        let now = boxed(&to_world, centre);
        let earlier = if moving {
            boxed(&to_world_before, centre_before)
        } else {
            now
        };
        let around_way = [
            Vec3::from(now[0]).min(earlier[0].into()).into(),
            Vec3::from(now[1]).max(earlier[1].into()).into(),
        ];
        let way = if moving {
            // The columns of what has turned, for the farthest corner.
            let turned = (0..3).map(|k| (to_world.col(k) - to_world_before.col(k)).length());
            let corners = bounds[0].abs().max(bounds[1].abs()) + surface.thickness;
            let turned: f32 = turned.zip(corners.to_array()).map(|(d, c)| d * c).sum();
            (centre - centre_before).length() + turned
        } else {
            0.0
        };
        let ball = match collider.shape {
            // What is a rotation but for rounding changes no length by more than 0.04 %.
            Shape::Sphere { radius } if after.rotation.is_normalized() && !collider.hollow => {
                let reach = (radius + surface.thickness).max(0.0) * 1.001 + MARGIN;
                reach * reach
            }
            _ => f32::INFINITY,
        };
        Self {
            shape: collider.shape,
            friction: Friction::between(collider.friction, surface.friction),
            thickness: surface.thickness,
            moving,
            side: if collider.hollow { -1.0 } else { 1.0 },
            centre,
            centre_before,
            to_world,
            to_world_before,
            to_local: to_world.transpose(),
            bounds,
            around: now,
            around_way,
            crossed_by: match collider.hollow {
                // Outside of it is everything else: whoever leaves it is not in it again.
                true => f32::INFINITY,
                false => 0.5 * collider.shape.inner_radius(),
            },
            way,
            ball,
        }
    }

    /// Whether a particle in the box may be in contact. It is computed with the same sums in the same
    /// order as the places of the particles, and rounding never turns an order around, so that no
    /// contact is missed.
    #[inline(always)]
    pub(in crate::solver) fn may_touch(&self, [low, high]: &Bounds) -> bool {
        if !overlap(&self.around, &[*low, *high]) {
            return false;
        }
        let (low, high) = (
            Vec3::from(*low) - self.centre,
            Vec3::from(*high) - self.centre,
        );
        if self.side < 0.0 {
            return self.may_leave(low, high);
        }
        let reach = self.thickness + MARGIN;
        for axis in 0..3 {
            let along = self.to_world.col(axis);
            let (mut from, mut to) = (0.0, 0.0);
            for k in 0..3 {
                let (a, b) = (along[k] * low[k], along[k] * high[k]);
                from += if a < b { a } else { b };
                to += if a < b { b } else { a };
            }
            let [least, most] = self.bounds.map(|corner| corner[axis]);
            if from - most > reach || least - to > reach {
                return false;
            }
        }
        true
    }

    /// Whether a particle in the box, which is relative to the centre, may be in contact from inside. All
    /// shapes are convex, so that no point of the box is farther out than the farthest of its corners.
    #[inline(never)]
    fn may_leave(&self, low: Vec3, high: Vec3) -> bool {
        // More than is lost by rounding.
        let size = low.abs().max(high.abs()).max_element();
        let reach = self.thickness + MARGIN + 32.0 * f32::EPSILON * size;
        (0..8).any(|corner| {
            let pick = |axis: usize| {
                let end = if corner >> axis & 1 == 0 { low } else { high };
                end[axis]
            };
            let at = Vec3::new(pick(0), pick(1), pick(2));
            let (distance, _) = self.shape.distance(self.to_local * at);
            // Of NaN nothing is known.
            !(distance + reach < 0.0)
        })
    }

    /// The distance of a point, and the direction in which it grows fastest, from the side on which cloth
    /// is to be.
    #[inline(always)]
    pub(super) fn seen(&self, (distance, normal): (f32, Vec3)) -> (f32, Vec3) {
        (distance * self.side, normal * self.side)
    }

    /// Whether a particle that is fast enough may go through it.
    pub(in crate::solver) fn may_be_crossed(&self) -> bool {
        self.crossed_by < f32::INFINITY
    }

    /// Whether a particle that moves by `way` may go through it.
    pub(in crate::solver) fn is_slower_than(&self, way: f32) -> bool {
        way + self.way > self.crossed_by
    }

    /// Whether a particle that moves by `way`, as seen from it, may go through it.
    pub(in crate::solver) fn is_crossed_by(&self, way: Vec3) -> bool {
        way.length_squared() > self.crossed_by * self.crossed_by
    }

    /// Whether a particle that has been nowhere but in a box in this substep may have met it.
    pub(in crate::solver) fn may_cross(&self, swept: &Bounds) -> bool {
        overlap(&self.around_way, swept)
    }

    /// The distance that cloth keeps from it, m.
    pub(in crate::solver) fn reach(&self) -> f32 {
        self.thickness
    }

    /// Its greatest radius if it is round all along its axis and cloth is kept outside, else infinite, m.
    pub(in crate::solver) fn round_radius(&self) -> f32 {
        match self.side < 0.0 {
            true => f32::INFINITY,
            false => self.shape.round_radius(),
        }
    }

    /// The axis of what is round.
    pub(in crate::solver) fn axis(&self) -> Axis {
        let (ends, radii) = match self.shape {
            Shape::Capsule {
                radius,
                half_length,
            } => ([-half_length, half_length], [radius; 2]),
            Shape::TaperedCapsule {
                radius_bottom,
                radius_top,
                half_length,
            } => ([-half_length, half_length], [radius_bottom, radius_top]),
            _ => ([0.0; 2], [self.shape.round_radius(); 2]),
        };
        Axis {
            before: ends.map(|y| self.centre_before + self.to_world_before.y_axis * y),
            now: ends.map(|y| self.centre + self.to_world.y_axis * y),
            radii,
        }
    }

    /// How far a point, in the frame of the shape, is from contact, and the direction away from it.
    pub(in crate::solver) fn gap(&self, local: Vec3) -> (f32, Vec3) {
        let (distance, normal) = self.seen(self.shape.distance(local));
        (distance - self.thickness, normal)
    }

    /// Whether this is so far inside that the nearest way out may not be the way in.
    pub(in crate::solver) fn is_deep(&self, gap: f32) -> bool {
        -gap > self.crossed_by + self.thickness
    }

    /// Whether this is as good as in contact.
    pub(in crate::solver) fn is_near(&self, gap: f32) -> bool {
        gap <= 1e-3 * self.crossed_by
    }

    /// Where a point was in the frame of the shape when the substep began.
    pub(in crate::solver) fn local_before(&self, point: Vec3) -> Vec3 {
        self.to_world_before.transpose() * (point - self.centre_before)
    }

    /// Where a point is in the frame of the shape.
    #[inline(always)]
    pub(in crate::solver) fn local(&self, point: Vec3) -> Vec3 {
        self.to_local * (point - self.centre)
    }

    /// Where a point in the frame of the shape is.
    #[cfg(feature = "parry")]
    pub(in crate::solver) fn world(&self, local: Vec3) -> Vec3 {
        self.centre + self.to_world * local
    }

    /// How deep a point is in contact.
    #[inline(always)]
    pub(super) fn depth(&self, point: Vec3, distance: impl Fn(Vec3) -> (f32, Vec3)) -> f32 {
        self.thickness - self.seen(distance(self.local(point))).0
    }

    /// What a contact of this depth does: the push-out, what of the displacement goes into the collider,
    /// and what friction takes of it.
    #[inline(always)]
    pub(in crate::solver) fn respond(
        &self,
        displacement: Vec3,
        local: Vec3,
        local_normal: Vec3,
        depth: f32,
    ) -> [Vec3; 3] {
        self.respond_along(displacement, local, self.to_world * local_normal, depth)
    }

    /// [`respond`](Self::respond) with the normal in the axes of the world.
    #[inline(always)]
    pub(in crate::solver) fn respond_along(
        &self,
        displacement: Vec3,
        local: Vec3,
        normal: Vec3,
        depth: f32,
    ) -> [Vec3; 3] {
        let carried = if self.moving {
            // Where the touched point came from. Both ends are computed in the same way, so that a
            // still collider carries nothing.
            (self.centre + self.to_world * local)
                - (self.centre_before + self.to_world_before * local)
        } else {
            Vec3::ZERO
        };
        let relative = displacement - carried;
        let approach = relative.dot(normal);
        let tangential = relative - normal * approach;
        let slide = tangential.length();
        let share = self.friction.kinetic * depth / slide;
        let holds = slide <= self.friction.fixed * depth;
        let lost = tangential * select(!holds & (share < 1.0), share, 1.0);
        let into = select(approach < 0.0, approach, 0.0);
        [normal * depth, normal * into, lost]
    }
}
