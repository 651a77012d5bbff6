//! Closest points on triangles and segments (Ericson, "Real-Time Collision Detection", 2005, 5.1.5 and 5.1.9).

use bevy::math::Vec3;

/// Feature of a triangle that contains the closest point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    /// Interior.
    Face,
    /// Edge from this corner to the next.
    Edge(usize),
    /// Corner.
    Corner(usize),
    /// Interior of a triangle without area, up to rounding: the weights mean nothing and may be NaN.
    Degenerate,
}

/// Point of a triangle closest to another point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClosestOnTriangle {
    /// Barycentric weights of the three corners.
    pub(crate) weights: [f32; 3],
    /// Feature on which the point lies.
    pub(crate) feature: Feature,
}

impl ClosestOnTriangle {
    /// Finds the point of a triangle closest to `point`.
    #[inline]
    pub(crate) fn new([a, b, c]: [Vec3; 3], point: Vec3) -> Self {
        let found = |weights, feature| Self { weights, feature };
        let (ab, ac, ap) = (b - a, c - a, point - a);
        let (d1, d2) = (ab.dot(ap), ac.dot(ap));
        if d1 <= 0.0 && d2 <= 0.0 {
            return found([1.0, 0.0, 0.0], Feature::Corner(0));
        }
        let bp = point - b;
        let (d3, d4) = (ab.dot(bp), ac.dot(bp));
        if d3 >= 0.0 && d4 <= d3 {
            return found([0.0, 1.0, 0.0], Feature::Corner(1));
        }
        let vc = d1 * d4 - d3 * d2;
        if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
            let v = d1 / (d1 - d3);
            return found([1.0 - v, v, 0.0], Feature::Edge(0));
        }
        let cp = point - c;
        let (d5, d6) = (ab.dot(cp), ac.dot(cp));
        if d6 >= 0.0 && d5 <= d6 {
            return found([0.0, 0.0, 1.0], Feature::Corner(2));
        }
        let vb = d5 * d2 - d1 * d6;
        if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
            let w = d2 / (d2 - d6);
            return found([1.0 - w, 0.0, w], Feature::Edge(2));
        }
        let va = d3 * d6 - d5 * d4;
        if va <= 0.0 && d4 >= d3 && d5 >= d6 {
            let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
            return found([0.0, 1.0 - w, w], Feature::Edge(1));
        }
        let sum = va + vb + vc;
        let weights = [va / sum, vb / sum, vc / sum];
        let feature = if sum > 0.0 {
            Feature::Face
        } else {
            Feature::Degenerate
        };
        found(weights, feature)
    }

    /// Returns the position of the point on the triangle for which it was found.
    #[inline]
    pub(crate) fn position(&self, [a, b, c]: [Vec3; 3]) -> Vec3 {
        let [_, v, w] = self.weights;
        match self.feature {
            Feature::Corner(k) => [a, b, c][k],
            Feature::Edge(0) => a + (b - a) * v,
            Feature::Edge(1) => b + (c - b) * w,
            Feature::Edge(_) => a + (c - a) * w,
            Feature::Face | Feature::Degenerate => a + (b - a) * v + (c - a) * w,
        }
    }
}

/// Returns the parameters of the closest points of two segments, each given by its start and direction (Ericson,
/// "Real-Time Collision Detection", 2005, 5.1.9).
#[allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "comparisons with NaN must be false"
)]
pub(in crate::solver) fn closest_points_of_segments(
    [p, d]: [Vec3; 2],
    [q, e]: [Vec3; 2],
) -> (f32, f32) {
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
mod tests {
    use super::*;
    use crate::solver::math::noise::noise_point as point;

    #[test]
    fn no_point_of_a_triangle_is_nearer_than_the_closest_point() {
        let mut counts = [0; 3];
        for i in 0..400 {
            let [a, b, c] = [1, 4, 7].map(|stream| point(i, stream));
            // Some near the triangle, some far away.
            let p = point(i, 10) * (0.1 + 1.9 * (i % 2) as f32);
            let closest = ClosestOnTriangle::new([a, b, c], p);
            let (found, feature) = (closest.position([a, b, c]), closest.feature);
            counts[match feature {
                Feature::Face | Feature::Degenerate => 0,
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
                Feature::Face | Feature::Degenerate => {}
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
    fn the_nearest_point_is_nearest() {
        let corners = [
            Vec3::ZERO,
            Vec3::new(2.0, 0.0, 0.0),
            Vec3::new(0.0, 0.0, 2.0),
        ];
        let at = |[u, v, w]: [f32; 3]| corners[0] * u + corners[1] * v + corners[2] * w;
        for x in -3..=4 {
            for z in -3..=4 {
                let point = Vec3::new(x as f32, 1.0, z as f32);
                let weights = ClosestOnTriangle::new(corners, point).weights;
                let sum: f32 = weights.iter().sum();
                assert!((sum - 1.0).abs() < 1e-6 && weights.iter().all(|w| *w >= 0.0));
                let best = (at(weights) - point).length();
                for u in 0..=20 {
                    for v in 0..=20 - u {
                        let (u, v) = (u as f32 / 20.0, v as f32 / 20.0);
                        let other = (at([1.0 - u - v, u, v]) - point).length();
                        assert!(best <= other + 1e-5, "{point}: {best} > {other}");
                    }
                }
            }
        }
    }
}
