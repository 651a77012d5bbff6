//! Signed distance functions of the shapes, with their unit gradients: without branches, so that loops over many
//! points become SIMD instructions.

use crate::solver::simd::{select, select_vec3};
use bevy::math::Vec3;

/// Returns distance and gradient of a sphere; at its exact centre the gradient is `otherwise`.
#[inline(always)]
pub(in crate::solver) fn sphere(from_centre: Vec3, radius: f32, otherwise: Vec3) -> (f32, Vec3) {
    let length = from_centre.length();
    let away = length > 0.0;
    let unit = from_centre / select(away, length, 1.0);
    let distance = select(away, length - radius, -radius);
    (distance, select_vec3(away, unit, otherwise))
}

#[inline(always)]
pub(in crate::solver) fn capsule(point: Vec3, radius: f32, half_length: f32) -> (f32, Vec3) {
    let on_axis = select(point.y < -half_length, -half_length, point.y);
    let on_axis = select(on_axis > half_length, half_length, on_axis);
    sphere(point - Vec3::Y * on_axis, radius, Vec3::X)
}

#[inline(always)]
pub(in crate::solver) fn cuboid(point: Vec3, half_size: Vec3) -> (f32, Vec3) {
    // Per axis: distance outside the slab between two opposite faces (negative: inside).
    let out = point.abs() - half_size;
    let side = Vec3::ONE.copysign(point);
    let corner = greater(out, Vec3::ZERO);
    let outside = (corner.x != 0.0) | (corner.y != 0.0) | (corner.z != 0.0);
    let length = corner.length();
    let from_corner = corner * side / select(outside, length, 1.0);
    // Inside: distance to the nearest face.
    let y = (out.y >= out.x) & (out.y >= out.z);
    let x = out.x >= out.z;
    let nearest = select(y, out.y, select(x, out.x, out.z));
    let axis = select_vec3(y, Vec3::Y, select_vec3(x, Vec3::X, Vec3::Z));
    (
        select(outside, length, nearest),
        select_vec3(outside, from_corner, axis * side),
    )
}

/// Returns the distance of a point from the y axis, and the unit direction away from the axis.
#[inline(always)]
fn from_y_axis(point: Vec3) -> (f32, Vec3) {
    let distance = (point.x * point.x + point.z * point.z).sqrt();
    let beside = distance > 0.0;
    let divisor = select(beside, distance, 1.0);
    let away = Vec3::new(point.x / divisor, 0.0, point.z / divisor);
    (distance, select_vec3(beside, away, Vec3::X))
}

/// Profile of a tapered capsule. Its side is tangent to both spheres; at either end of the side, the normal
/// passes through the centre of the sphere.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct TaperedCapsuleProfile {
    /// Heights of the centres of the two spheres, the lower one first, m.
    centres: [f32; 2],
    /// Radii of the two spheres, m.
    radii: [f32; 2],
    /// Radial and axial component of the normal of the side.
    normal: [f32; 2],
    /// Length of the side, m.
    span: f32,
}

impl TaperedCapsuleProfile {
    pub(in crate::solver) fn new(radius_bottom: f32, radius_top: f32, half_length: f32) -> Self {
        let length = 2.0 * half_length;
        let difference = radius_bottom - radius_top;
        if difference.abs() >= length {
            // One sphere contains the other.
            let (centre, radius) = if difference > 0.0 {
                (-half_length, radius_bottom)
            } else {
                (half_length, radius_top)
            };
            return Self {
                centres: [centre; 2],
                radii: [radius; 2],
                normal: [1.0, 0.0],
                span: 0.0,
            };
        }
        let along = difference / length;
        let away = (1.0 - along * along).sqrt();
        Self {
            centres: [-half_length, half_length],
            radii: [radius_bottom, radius_top],
            normal: [away, along],
            span: away * length,
        }
    }
}

#[inline(always)]
pub(in crate::solver) fn tapered_capsule(
    point: Vec3,
    profile: &TaperedCapsuleProfile,
) -> (f32, Vec3) {
    let (out, away) = from_y_axis(point);
    let up = point.y - profile.centres[0];
    // Coordinate along the side, from its lower end.
    let at = up * profile.normal[0] - out * profile.normal[1];
    let below = at <= 0.0;
    let centre = select(below, profile.centres[0], profile.centres[1]);
    let radius = select(below, profile.radii[0], profile.radii[1]);
    let side = out * profile.normal[0] + up * profile.normal[1] - profile.radii[0];
    let normal = away * profile.normal[0] + Vec3::Y * profile.normal[1];
    let (from_ball, from_centre) = sphere(point - Vec3::Y * centre, radius, normal);
    let at_end = below | (at >= profile.span);
    (
        select(at_end, from_ball, side),
        select_vec3(at_end, from_centre, normal),
    )
}

#[inline(always)]
pub(in crate::solver) fn cylinder(point: Vec3, radius: f32, half_height: f32) -> (f32, Vec3) {
    let (out, away) = from_y_axis(point);
    let up = Vec3::Y * 1.0_f32.copysign(point.y);
    let (side, end) = (out - radius, point.y.abs() - half_height);
    let rim = (side * side + end * end).sqrt();
    let at_rim = (side > 0.0) & (end > 0.0) & (rim > 0.0);
    let from_rim = (away * side + up * end) / select(at_rim, rim, 1.0);
    let beside = side > end;
    let flat = select(beside, side, end);
    (
        select(at_rim, rim, flat),
        select_vec3(at_rim, from_rim, select_vec3(beside, away, up)),
    )
}

/// Profile of a cone.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct ConeProfile {
    radius: f32,
    half_height: f32,
    /// Radial and axial component (r, a) of the normal of the side. The direction down the side is (a, −r).
    normal: [f32; 2],
    /// Length of the side, m.
    pub(super) span: f32,
}

impl ConeProfile {
    pub(in crate::solver) fn new(radius: f32, half_height: f32) -> Self {
        let height = 2.0 * half_height;
        let span = (radius * radius + height * height).sqrt();
        Self {
            radius,
            half_height,
            normal: [height / span, radius / span],
            span,
        }
    }
}

#[inline(always)]
pub(in crate::solver) fn cone(point: Vec3, profile: &ConeProfile) -> (f32, Vec3) {
    let (out, away) = from_y_axis(point);
    let side_normal = away * profile.normal[0] + Vec3::Y * profile.normal[1];
    let (from_tip, above_base) = (point.y - profile.half_height, point.y + profile.half_height);
    let side = out * profile.normal[0] + from_tip * profile.normal[1];
    // Coordinate along the side, down from the tip.
    let at = out * profile.normal[1] - from_tip * profile.normal[0];
    let inside = (side <= 0.0) & (above_base >= 0.0);
    // Inside: distance to the nearer of side and base.
    let nearer_base = inside & (-above_base > side);
    let below = !inside & (above_base < 0.0) & (out <= profile.radius);
    let base = nearer_base | below;
    let flank = inside | ((at > 0.0) & (at < profile.span));
    // Nearest to the tip or to the rim of the base.
    let at_rim = at > 0.0;
    let beside = select(at_rim, out - profile.radius, out);
    let over = select(at_rim, above_base, from_tip);
    let length = (beside * beside + over * over).sqrt();
    let apart = length > 0.0;
    let from_edge = (away * beside + Vec3::Y * over) / select(apart, length, 1.0);
    let edge = select(apart, length, 0.0);
    let edge_normal = select_vec3(apart, from_edge, side_normal);
    (
        select(base, -above_base, select(flank, side, edge)),
        select_vec3(
            base,
            Vec3::NEG_Y,
            select_vec3(flank, side_normal, edge_normal),
        ),
    )
}

/// Returns the component-wise maximum.
#[inline(always)]
fn greater(a: Vec3, b: Vec3) -> Vec3 {
    Vec3::new(
        select(a.x > b.x, a.x, b.x),
        select(a.y > b.y, a.y, b.y),
        select(a.z > b.z, a.z, b.z),
    )
}
