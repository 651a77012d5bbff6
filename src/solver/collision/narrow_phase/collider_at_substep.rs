//! Collider at one substep, prepared for the contact kernels.

use crate::solver::{
    collision::{
        collider::{Collider, Friction, Surface},
        shape::Shape,
    },
    math::pose::Pose,
    simd::{
        select,
        soa::{Bounds, union},
    },
};
use bevy::math::{Mat3, Vec3};

/// Margin added to the thickness in tests of boxes against colliders, m. It covers lengths with a square too
/// small for an `f32`.
const MARGIN: f32 = 1e-6;

/// Distance within which the normals of contacts are recorded, as a multiple of the thickness. Particles that chains press
/// against a collider, and no longer do once it supports them, would otherwise alternate between both.
const NORMAL_REACH: f32 = 2.0;

/// Returns the length of the normal that is recorded for a particle at this distance: 1 in contact, and down to 0 within
/// reach.
#[inline(always)]
pub(in crate::solver) fn normal_length(distance: f32, thickness: f32) -> f32 {
    let reach = NORMAL_REACH * thickness;
    let length = (reach - distance) / (reach - thickness);
    select(distance < thickness, 1.0, length)
}

/// Collider at one substep, relative to the origin of the particles.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct ColliderAtSubstep {
    pub(super) shape: Shape,
    friction: Friction,
    /// Distance that cloth keeps from the collider, m.
    pub(in crate::solver) thickness: f32,
    /// Distance within which normals are recorded, m.
    pub(super) reach: f32,
    /// Whether the normals of its contacts are recorded.
    pub(super) records_normals: bool,
    moving: bool,
    /// 1, or −1 for an inverted collider (container), with outside and inside swapped.
    sign: f32,
    /// Position at the end of the substep, m.
    pub(super) centre: Vec3,
    /// Position at the beginning of the substep, m.
    centre_before: Vec3,
    to_world: Mat3,
    to_world_before: Mat3,
    to_local: Mat3,
    /// Corners of the bounding box of the shape, in its own frame.
    bounds: [Vec3; 2],
    /// World-axis-aligned bounding box of all positions in contact at the end of the substep.
    pub(in crate::solver) aabb: Bounds,
    /// Bounding box of `aabb` over the whole substep.
    swept_aabb: Bounds,
    /// Movement within a substep above which a particle may end on the other side, m.
    tunneling_distance: f32,
    /// Upper bound on the movement of any point of the collider in this substep, m.
    max_movement: f32,
    /// Square of the distance from the centre beyond which nothing is within reach of a sphere, m²; infinite for
    /// other shapes.
    pub(super) max_centre_distance_squared: f32,
}

/// Axis of a sphere, capsule or tapered capsule, with the radii at its ends.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct CapsuleAxis {
    /// Ends at the beginning of the substep.
    before: [Vec3; 2],
    /// Ends at the end of the substep.
    pub(in crate::solver) now: [Vec3; 2],
    /// Radii at the ends, m.
    radii: [f32; 2],
}

impl CapsuleAxis {
    /// Returns whether the axis has length zero.
    pub(in crate::solver) fn is_point(&self) -> bool {
        self.now[0] == self.now[1]
    }

    /// Returns the positions of a point of the axis at the beginning and at the end of the substep. `t` goes
    /// from 0 to 1 along the axis.
    pub(in crate::solver) fn point(&self, t: f32) -> [Vec3; 2] {
        [self.before, self.now].map(|[from, to]| from + (to - from) * t)
    }

    /// Returns the radius at parameter `t` of the axis, m.
    pub(in crate::solver) fn radius(&self, t: f32) -> f32 {
        self.radii[0] + (self.radii[1] - self.radii[0]) * t
    }
}

const EVERYWHERE: Bounds = [[f32::NEG_INFINITY; 3], [f32::INFINITY; 3]];

/// Returns the world-axis-aligned bounding box of all points nearer than `thickness` to a box given in a local
/// frame.
fn world_aabb([low, high]: [Vec3; 2], to_world: &Mat3, centre: Vec3, thickness: f32) -> Bounds {
    let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
    // The box of a half-space is infinite.
    if !half.is_finite() {
        return EVERYWHERE;
    }
    let half = half + thickness.max(0.0);
    let turned = to_world.x_axis.abs() * half.x
        + to_world.y_axis.abs() * half.y
        + to_world.z_axis.abs() * half.z;
    // More than the rounding errors here and in the contact kernel.
    let size = centre.abs().max_element() + half.max_element();
    let reach = turned + (MARGIN + 32.0 * f32::EPSILON * size);
    let middle = centre + *to_world * middle;
    [(middle - reach).into(), (middle + reach).into()]
}

/// Returns an upper bound on the movement of any point nearer than `thickness` to a box, between two frames.
fn max_movement(
    (to_world_before, centre_before): (Mat3, Vec3),
    (to_world, centre): (Mat3, Vec3),
    [low, high]: [Vec3; 2],
    thickness: f32,
) -> f32 {
    // Change of the rotation matrix, column by column, applied to the farthest corner.
    let turned = (0..3).map(|k| (to_world.col(k) - to_world_before.col(k)).length());
    let corners = low.abs().max(high.abs()) + thickness;
    let turned: f32 = turned.zip(corners.to_array()).map(|(d, c)| d * c).sum();
    (centre - centre_before).length() + turned
}

/// Returns whether two boxes overlap; boxes with NaN do.
#[inline(always)]
fn overlap([low, high]: &Bounds, [from, to]: &Bounds) -> bool {
    let mut apart = false;
    for axis in 0..3 {
        apart |= (low[axis] > to[axis]) | (from[axis] > high[axis]);
    }
    !apart
}

impl ColliderAtSubstep {
    pub(in crate::solver) fn new(
        collider: &Collider,
        surface: &Surface,
        origin: Vec3,
        during: [u32; 2],
    ) -> Self {
        let poses = collider.poses_at(during);
        let moving = poses[0] != poses[1];
        let reach = surface.thickness * NORMAL_REACH;
        let frame = |pose: Pose| (Mat3::from_quat(pose.rotation), pose.translation - origin);
        let bounds = collider.shape.bounds();
        let contact_aabb = |(to_world, centre): &(Mat3, Vec3)| match collider.hollow {
            true => EVERYWHERE,
            false => world_aabb(bounds, to_world, *centre, reach),
        };
        let now = frame(poses[1]);
        let aabb = contact_aabb(&now);
        let (before, aabb_before) = if moving {
            let before = frame(poses[0]);
            (before, contact_aabb(&before))
        } else {
            (now, aabb)
        };
        let ((to_world, centre), (to_world_before, centre_before)) = (now, before);
        let max_centre_distance_squared = match collider.shape {
            // A rotation that is normalized up to rounding changes no length by more than 0.04 %.
            Shape::Sphere { radius } if poses[1].rotation.is_normalized() && !collider.hollow => {
                let reach = (radius + reach).max(0.0) * 1.001 + MARGIN;
                reach * reach
            }
            _ => f32::INFINITY,
        };
        Self {
            shape: collider.shape,
            friction: Friction::between(collider.friction, surface.friction),
            thickness: surface.thickness,
            reach,
            records_normals: true,
            moving,
            sign: if collider.hollow { -1.0 } else { 1.0 },
            centre,
            centre_before,
            to_world,
            to_world_before,
            to_local: to_world.transpose(),
            bounds,
            aabb,
            swept_aabb: union(&aabb, &aabb_before),
            tunneling_distance: match collider.hollow {
                // A particle that leaves a container does not enter it again on another side.
                true => f32::INFINITY,
                false => 0.5 * collider.shape.inner_radius(),
            },
            max_movement: match moving {
                true => max_movement(before, now, bounds, surface.thickness),
                false => 0.0,
            },
            max_centre_distance_squared,
        }
    }

    /// Returns whether the normals of its contacts are recorded.
    pub(in crate::solver) fn records_normals(&self) -> bool {
        self.records_normals
    }

    /// Leaves no normals: for a collider that the cloth moves, and that must receive all momentum the cloth loses.
    pub(in crate::solver) fn without_normals(self) -> Self {
        Self {
            records_normals: false,
            ..self
        }
    }

    /// Returns whether a particle in the box may be in contact. The box is transformed with the same operations in
    /// the same order as particle positions, and rounding is monotonic, so no contact is missed.
    #[inline(always)]
    pub(in crate::solver) fn may_touch(&self, [low, high]: &Bounds) -> bool {
        if !overlap(&self.aabb, &[*low, *high]) {
            return false;
        }
        let (low, high) = (
            Vec3::from(*low) - self.centre,
            Vec3::from(*high) - self.centre,
        );
        if self.sign < 0.0 {
            return self.may_touch_inverted(low, high);
        }
        let reach = self.reach + MARGIN;
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

    /// Returns whether a particle in the box, relative to the centre, may be in contact with an inverted collider.
    /// All shapes are convex, so no point of the box is farther out than the farthest of its corners.
    #[inline(never)]
    fn may_touch_inverted(&self, low: Vec3, high: Vec3) -> bool {
        // More than the rounding errors.
        let size = low.abs().max(high.abs()).max_element();
        let reach = self.reach + MARGIN + 32.0 * f32::EPSILON * size;
        (0..8).any(|corner| {
            let pick = |axis: usize| {
                let end = if corner >> axis & 1 == 0 { low } else { high };
                end[axis]
            };
            let at = Vec3::new(pick(0), pick(1), pick(2));
            let (distance, _) = self.shape.distance(self.to_local * at);
            // NaN counts as contact.
            !(distance + reach < 0.0)
        })
    }

    /// Negates the signed distance and its gradient for inverted colliders, so that both are positive towards the
    /// side on which cloth is kept.
    #[inline(always)]
    pub(super) fn oriented(&self, (distance, normal): (f32, Vec3)) -> (f32, Vec3) {
        (distance * self.sign, normal * self.sign)
    }

    /// Returns whether a fast particle may tunnel through the collider within a substep.
    pub(in crate::solver) fn can_tunnel(&self) -> bool {
        self.tunneling_distance < f32::INFINITY
    }

    /// Returns whether a particle that moves by `distance`, m, may tunnel through the collider.
    pub(in crate::solver) fn may_tunnel(&self, distance: f32) -> bool {
        distance + self.max_movement > self.tunneling_distance
    }

    /// Returns whether a particle with this displacement, relative to the collider, may tunnel through.
    pub(in crate::solver) fn is_tunneled_by(&self, displacement: Vec3) -> bool {
        displacement.length_squared() > self.tunneling_distance * self.tunneling_distance
    }

    /// Returns whether a particle that stayed within a box during this substep may have been in contact.
    pub(in crate::solver) fn may_touch_swept(&self, swept: &Bounds) -> bool {
        overlap(&self.swept_aabb, swept)
    }

    /// Returns the largest radius of a sphere, capsule or tapered capsule, m; infinite for other shapes and for
    /// inverted colliders.
    pub(in crate::solver) fn round_radius(&self) -> f32 {
        match self.sign < 0.0 {
            true => f32::INFINITY,
            false => self.shape.round_radius(),
        }
    }

    /// Returns whether the collider is a solid with edges that cloth can lie around.
    pub(in crate::solver) fn has_edges(&self) -> bool {
        self.sign > 0.0 && self.shape.has_edges()
    }

    /// Returns the radius of the largest ball in the shape, m.
    pub(in crate::solver) fn inner_radius(&self) -> f32 {
        self.shape.inner_radius()
    }

    /// Returns the axis of a sphere, capsule or tapered capsule.
    pub(in crate::solver) fn axis(&self) -> CapsuleAxis {
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
        CapsuleAxis {
            before: ends.map(|y| self.centre_before + self.to_world_before.y_axis * y),
            now: ends.map(|y| self.centre + self.to_world.y_axis * y),
            radii,
        }
    }

    /// Returns the distance of a point, in the frame of the shape, from contact, and the direction away from the
    /// collider.
    pub(in crate::solver) fn gap(&self, local: Vec3) -> (f32, Vec3) {
        let (distance, normal) = self.oriented(self.shape.distance(local));
        (distance - self.thickness, normal)
    }

    /// Returns whether a gap means a penetration so deep that the nearest point of the surface may not be on the
    /// side of entry.
    pub(in crate::solver) fn is_deep(&self, gap: f32) -> bool {
        -gap > self.tunneling_distance + self.thickness
    }

    /// Returns whether a gap is small enough to count as contact.
    pub(in crate::solver) fn is_near(&self, gap: f32) -> bool {
        gap <= 1e-3 * self.tunneling_distance
    }

    /// Transforms a point into the frame of the shape at the beginning of the substep.
    pub(in crate::solver) fn local_before(&self, point: Vec3) -> Vec3 {
        self.to_world_before.transpose() * (point - self.centre_before)
    }

    /// Transforms a point into the frame of the shape at the end of the substep.
    #[inline(always)]
    pub(in crate::solver) fn local_point(&self, point: Vec3) -> Vec3 {
        self.to_local * (point - self.centre)
    }

    /// Returns the length of the normal that is recorded for a particle at this distance.
    #[inline(always)]
    pub(super) fn normal_length(&self, distance: f32) -> f32 {
        normal_length(distance, self.thickness)
    }

    /// Rotates a vector from the frame of the shape at the end of the substep.
    #[inline(always)]
    pub(super) fn world_vector(&self, local: Vec3) -> Vec3 {
        self.to_world * local
    }

    /// Transforms a point from the frame of the shape at the end of the substep.
    pub(in crate::solver) fn world_point(&self, local: Vec3) -> Vec3 {
        self.centre + self.to_world * local
    }

    /// Returns the penetration depth of a point, m; negative outside.
    #[inline(always)]
    pub(super) fn nearness(&self, point: Vec3, distance: impl Fn(Vec3) -> (f32, Vec3)) -> f32 {
        self.reach - self.oriented(distance(self.local_point(point))).0
    }

    /// Computes the response to a contact of this depth: the push-out, the part of the displacement that goes into
    /// the collider, and the part that friction removes.
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

    /// [`respond`](Self::respond) with the normal in world axes.
    #[inline(always)]
    pub(in crate::solver) fn respond_along(
        &self,
        displacement: Vec3,
        local: Vec3,
        normal: Vec3,
        depth: f32,
    ) -> [Vec3; 3] {
        let surface_displacement = if self.moving {
            // Both positions of the contact point are computed with the same operations, so that they
            // cancel exactly at rest.
            (self.centre + self.to_world * local)
                - (self.centre_before + self.to_world_before * local)
        } else {
            Vec3::ZERO
        };
        let relative = displacement - surface_displacement;
        let approach = relative.dot(normal);
        let tangential = relative - normal * approach;
        let friction = self.friction.removed(tangential, depth);
        let approach = select(approach < 0.0, approach, 0.0);
        [normal * depth, normal * approach, friction]
    }
}
