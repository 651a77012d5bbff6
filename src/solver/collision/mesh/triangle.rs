//! Closest point on a triangle, and crossing of a path and a triangle.

use bevy::math::Vec3;

/// Tolerance by which a path may miss a triangle and still count as crossing, as a fraction of the triangle's
/// area, so that nothing slips through along an edge because of rounding.
const MARGIN: f32 = 1e-3;

/// Feature of a triangle that contains the closest point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feature {
    Face,
    /// Edge from this corner to the next.
    Edge(usize),
    Corner(usize),
}

/// Returns the point of a triangle closest to `point`, and the feature on which it lies (Ericson, "Real-Time
/// Collision Detection", 2005, 5.1.5).
pub(super) fn closest_point([a, b, c]: [Vec3; 3], point: Vec3) -> (Vec3, Feature) {
    let (ab, ac, ap) = (b - a, c - a, point - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, Feature::Corner(0));
    }
    let bp = point - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, Feature::Corner(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + ab * (d1 / (d1 - d3)), Feature::Edge(0));
    }
    let cp = point - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, Feature::Corner(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + ac * (d2 / (d2 - d6)), Feature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return (b + (c - b) * t, Feature::Edge(1));
    }
    let sum = va + vb + vc;
    let inside = a + ab * (vb / sum) + ac * (vc / sum);
    (inside, Feature::Face)
}

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
    let least = -MARGIN * area;
    let inside = of_b >= least && of_c >= least && area - of_b - of_c >= least;
    inside.then_some((time, before > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a pseudo-random number from −1 to 1.
    fn noise(i: usize, stream: usize) -> f32 {
        let mixed = (i * 7919 + stream * 104_729) % 65_537;
        (mixed * mixed % 65_537) as f32 / 32_768.5 - 1.0
    }

    fn point(i: usize, stream: usize) -> Vec3 {
        Vec3::from([0, 1, 2].map(|axis| noise(i, stream + axis)))
    }

    #[test]
    fn no_point_of_a_triangle_is_nearer_than_the_closest_point() {
        let mut counts = [0; 3];
        for i in 0..400 {
            let [a, b, c] = [1, 4, 7].map(|stream| point(i, stream));
            // Some near the triangle, some far away.
            let p = point(i, 10) * (0.1 + 1.9 * (i % 2) as f32);
            let (found, feature) = closest_point([a, b, c], p);
            counts[match feature {
                Feature::Face => 0,
                Feature::Edge(_) => 1,
                Feature::Corner(_) => 2,
            }] += 1;
            for k in 0..=30 {
                for l in 0..=30 - k {
                    let (u, v) = (k as f32 / 30.0, l as f32 / 30.0);
                    let other = a + (b - a) * u + (c - a) * v;
                    assert!(found.distance(p) <= other.distance(p) + 1e-5);
                }
            }
            match feature {
                Feature::Face => {}
                Feature::Edge(k) => {
                    let (from, to) = ([a, b, c][k], [a, b, c][(k + 1) % 3]);
                    let off = (found - from).cross(to - from).length();
                    assert!(off < 1e-5, "{off} m² off its edge");
                }
                Feature::Corner(k) => assert_eq!(found, [a, b, c][k]),
            }
        }
        assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
    }

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
