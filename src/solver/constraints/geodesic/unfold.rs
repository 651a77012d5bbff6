//! The shortest path over one triangle.

use bevy::math::DVec3;

/// A line that misses the edge by no more than this fraction of its length passes through its end.
const TOLERANCE: f64 = 1e-9;

/// Returns the distance of point c from a centre in the plane of the three points, at the given distances from a
/// and b, on the other side of the edge between them. `None` if there is no such centre, or the straight line does
/// not cross the edge.
pub(super) fn unfold([a, b]: [DVec3; 2], [from_a, from_b]: [f64; 2], c: DVec3) -> Option<f64> {
    let (ab, ac) = (b - a, c - a);
    let length_squared = ab.length_squared();
    let length = length_squared.sqrt();
    if length <= 0.0 {
        return None;
    }
    // Coordinates along the edge from a, and perpendicular to it: c on one side, the centre on the other.
    let along_c = ac.dot(ab) / length;
    let off_c = ab.cross(ac).length() / length;
    let along = (from_a * from_a - from_b * from_b + length_squared) / (2.0 * length);
    let off_square = from_a * from_a - along * along;
    if off_square < -TOLERANCE * (from_a * from_a + length_squared) {
        return None;
    }
    let off = off_square.max(0.0).sqrt();
    let apart = off + off_c;
    if apart <= 0.0 {
        return None;
    }
    let crossing = along + (along_c - along) * (off / apart);
    let crosses = crossing >= -TOLERANCE * length && crossing <= (1.0 + TOLERANCE) * length;
    let aside = along_c - along;
    crosses.then(|| (aside * aside + apart * apart).sqrt())
}
