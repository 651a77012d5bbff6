//! The way over one triangle.

use bevy::math::DVec3;

/// A line that misses the edge by this share of its length goes through its end.
const NEAR: f64 = 1e-9;

/// How far a point is from a centre that lies on the other side of the edge between two points, in
/// the plane of the three, at the given distances from those two. `None` if there is no such centre
/// or the straight line does not cross the edge.
pub(super) fn unfold([a, b]: [DVec3; 2], [from_a, from_b]: [f64; 2], c: DVec3) -> Option<f64> {
    let (ab, ac) = (b - a, c - a);
    let square = ab.length_squared();
    let length = square.sqrt();
    if length <= 0.0 {
        return None;
    }
    // Along the edge from a, and away from it: c on one side, the centre on the other.
    let along_c = ac.dot(ab) / length;
    let off_c = ab.cross(ac).length() / length;
    let along = (from_a * from_a - from_b * from_b + square) / (2.0 * length);
    let off_square = from_a * from_a - along * along;
    if off_square < -NEAR * (from_a * from_a + square) {
        return None;
    }
    let off = off_square.max(0.0).sqrt();
    let apart = off + off_c;
    if apart <= 0.0 {
        return None;
    }
    let crossing = along + (along_c - along) * (off / apart);
    let crosses = crossing >= -NEAR * length && crossing <= (1.0 + NEAR) * length;
    let aside = along_c - along;
    crosses.then(|| (aside * aside + apart * apart).sqrt())
}
