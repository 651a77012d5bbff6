//! Folds for a flat sheet, 1 m long in x and centred on the origin.

use bevy::math::Vec3;
use std::f32::consts::PI;

/// Returns the folded position of a point: one fold in the middle, a half circle that keeps lengths. The fold is
/// slightly skew, so that no particle lies exactly above another.
pub(crate) fn in_half(at: Vec3) -> Vec3 {
    let (radius, z) = (0.1, at.z + 0.07 * at.x);
    let along = at.x + 0.5 * PI * radius;
    if along < 0.0 {
        Vec3::new(along, 0.3, z)
    } else if along < PI * radius {
        let angle = along / radius;
        Vec3::new(radius * angle.sin(), 0.4 - radius * angle.cos(), z)
    } else {
        Vec3::new(PI * radius - along, 0.5, z)
    }
}

/// Returns the position in the same fold, with a corner of the upper half pushed through the lower half.
pub(crate) fn tangled_in_half(at: Vec3) -> Vec3 {
    let at = in_half(at);
    let beyond = (at.z - at.x - 0.5).max(0.0);
    let above = f32::from(at.y > 0.4 && at.x < 0.0);
    at - Vec3::Y * above * 0.9 * beyond
}
