//! Crossing of a path and a triangle.

use crate::solver::collision::ccd::CROSSING_MARGIN;
use bevy::math::Vec3;

/// Returns where the path between two points crosses a triangle with this unit normal: the fraction of the path,
/// and whether it comes from the side to which the normal points. `None` if it does not; a path that begins or
/// ends in the plane does not cross it.
pub(super) fn crossing(
    [a, b, c]: [Vec3; 3],
    normal: Vec3,
    from: Vec3,
    to: Vec3,
) -> Option<(f32, bool)> {
    let (before, after) = (normal.dot(from - a), normal.dot(to - a));
    // NaN fails all comparisons.
    let through = (before > 0.0 && after < 0.0) || (before < 0.0 && after > 0.0);
    if !through {
        return None;
    }
    let time = before / (before - after);
    let at = from + (to - from) * time;
    let (ab, ac, ap) = (b - a, c - a, at - a);
    let area = ab.cross(ac).dot(normal);
    let of_b = ap.cross(ac).dot(normal);
    let of_c = ab.cross(ap).dot(normal);
    let least = -CROSSING_MARGIN * area;
    let inside = of_b >= least && of_c >= least && area - of_b - of_c >= least;
    inside.then_some((time, before > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_cross_from_both_sides_or_miss() {
        let flat = [Vec3::ZERO, Vec3::Z, Vec3::X];
        let up = Vec3::Y;
        let above = Vec3::new(0.25, 1.0, 0.25);
        let below = above - Vec3::Y * 4.0;
        assert_eq!(crossing(flat, up, above, below), Some((0.25, true)));
        assert_eq!(crossing(flat, up, below, above), Some((0.75, false)));
        assert_eq!(crossing(flat, up, above, above + Vec3::X), None);
        let beside = Vec3::X * 0.6;
        assert_eq!(crossing(flat, up, above + beside, below + beside), None);
        assert_eq!(crossing(flat, up, Vec3::NAN, below), None);
    }
}
