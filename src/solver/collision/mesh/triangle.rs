//! Crossing of a path and a triangle that moves.

use crate::solver::collision::ccd::CROSSING_MARGIN;
use bevy::math::Vec3;

/// Crossing of a path and a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Crossing {
    /// Fraction of the path before it.
    pub(super) time: f32,
    /// Whether the path comes from the side to which the normal points.
    pub(super) front: bool,
    /// Barycentric weights of the point of the triangle.
    pub(super) weights: [f32; 3],
}

/// Triangle at one end of its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct TriangleAt {
    pub(super) corners: [Vec3; 3],
    /// Unit normal.
    pub(super) normal: Vec3,
}

/// Returns where the path between two points crosses a triangle that moves from `before` to `after` meanwhile; `None` if
/// it does not. A path that begins or ends in the plane of the triangle does not cross it.
///
/// The distance from the plane is taken as linear in time. That is exact if the triangle does not turn, and in a substep
/// triangles turn little.
pub(super) fn crossing(
    [before, after]: [&TriangleAt; 2],
    from: Vec3,
    to: Vec3,
) -> Option<Crossing> {
    let gap = |triangle: &TriangleAt, at: Vec3| triangle.normal.dot(at - triangle.corners[0]);
    let (gap_before, gap_after) = (gap(before, from), gap(after, to));
    // NaN fails all comparisons.
    let through = (gap_before > 0.0 && gap_after < 0.0) || (gap_before < 0.0 && gap_after > 0.0);
    if !through {
        return None;
    }
    let time = gap_before / (gap_before - gap_after);
    let at = from + (to - from) * time;
    let corner = |k: usize| before.corners[k] + (after.corners[k] - before.corners[k]) * time;
    let (a, normal) = (corner(0), after.normal);
    let (ab, ac, ap) = (corner(1) - a, corner(2) - a, at - a);
    let area = ab.cross(ac).dot(normal);
    let of_b = ap.cross(ac).dot(normal);
    let of_c = ab.cross(ap).dot(normal);
    let least = -CROSSING_MARGIN * area;
    let inside = of_b >= least && of_c >= least && area - of_b - of_c >= least;
    inside.then(|| Crossing {
        time,
        front: gap_before > 0.0,
        weights: [(area - of_b - of_c) / area, of_b / area, of_c / area],
    })
}

/// Returns whether a path leads from one side of a triangle's plane to the other while the triangle moves; necessary for
/// a [`crossing`], up to rounding errors.
#[inline]
pub(super) fn changes_side([before, after]: [[Vec3; 3]; 2], from: Vec3, to: Vec3) -> bool {
    let side = |[a, b, c]: [Vec3; 3], at: Vec3| (b - a).cross(c - a).dot(at - a);
    let (side_before, side_after) = (side(before, from), side(after, to));
    (side_before > 0.0 && side_after < 0.0) || (side_before < 0.0 && side_after > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::math::Quat;

    const FLAT: TriangleAt = TriangleAt {
        corners: [Vec3::ZERO, Vec3::Z, Vec3::X],
        normal: Vec3::Y,
    };

    #[test]
    fn paths_cross_from_both_sides_or_miss() {
        let crosses = |from, to| {
            crossing([&FLAT; 2], from, to).map(|crossing| (crossing.time, crossing.front))
        };
        let above = Vec3::new(0.25, 1.0, 0.25);
        let below = above - Vec3::Y * 4.0;
        assert_eq!(crosses(above, below), Some((0.25, true)));
        assert_eq!(crosses(below, above), Some((0.75, false)));
        assert_eq!(crosses(above, above + Vec3::X), None);
        let beside = Vec3::X * 0.6;
        assert_eq!(crosses(above + beside, below + beside), None);
        assert_eq!(crosses(Vec3::NAN, below), None);
    }

    #[test]
    fn a_triangle_that_moves_and_turns_meets_a_point_at_rest() {
        let (turn, rise) = (Quat::from_rotation_x(0.3), Vec3::Y * 1.2);
        let after = TriangleAt {
            corners: FLAT.corners.map(|corner| turn * corner + rise),
            normal: turn * FLAT.normal,
        };
        let at = Vec3::new(0.25, 0.3, 0.25);
        let found = crossing([&FLAT, &after], at, at).unwrap();
        assert!(found.front && (0.2..0.4).contains(&found.time), "{found:?}");
        let weights = Vec3::from(found.weights);
        assert!((weights.element_sum() - 1.0).abs() < 1e-5);
        assert!(
            (weights - Vec3::new(0.5, 0.25, 0.25)).length() < 0.05,
            "{weights}"
        );
        let beside = at + Vec3::X * 0.8;
        assert_eq!(crossing([&FLAT, &after], beside, beside), None);
    }
}
