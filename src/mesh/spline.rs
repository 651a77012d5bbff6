//! Smooth curve through points, and a rotation-minimizing frame along it.

use super::direction::direction;
use bevy::math::Vec3;

/// Smallest square root of the distance between two points; closer points define no usable direction. m^½.
const MIN_SQRT_SPACING: f32 = 1e-6;

/// Segment of a centripetal Catmull–Rom curve between the two inner ones of four points (Barry and Goldman 1988;
/// Yuksel, Schaefer and Keyser 2011: the parameterization without loops and cusps).
#[derive(Clone, Copy, Debug)]
pub(super) struct CurveSegment {
    start: Vec3,
    end: Vec3,
    /// Derivatives at both ends, for a parameter from 0 to 1.
    start_slope: Vec3,
    end_slope: Vec3,
}

impl CurveSegment {
    pub(super) fn new([before, start, end, after]: [Vec3; 4]) -> Self {
        let spacing = |a: Vec3, b: Vec3| a.distance(b).sqrt().max(MIN_SQRT_SPACING);
        let (d0, d1, d2) = (
            spacing(before, start),
            spacing(start, end),
            spacing(end, after),
        );
        // The curve as a cubic Hermite: its derivatives with respect to the knot parameter, times the knot
        // distance d1.
        let middle = (end - start) / d1;
        let start_slope = (start - before) / d0 - (end - before) / (d0 + d1) + middle;
        let end_slope = middle - (after - start) / (d1 + d2) + (after - end) / d2;
        Self {
            start,
            end,
            start_slope: start_slope * d1,
            end_slope: end_slope * d1,
        }
    }

    /// Returns the point at `t` from 0 (start) to 1 (end).
    pub(super) fn position(&self, t: f32) -> Vec3 {
        let (t2, t3) = (t * t, t * t * t);
        let bend = 3.0 * t2 - 2.0 * t3;
        self.start.lerp(self.end, bend)
            + self.start_slope * (t3 - 2.0 * t2 + t)
            + self.end_slope * (t3 - t2)
    }

    /// Returns the unit direction at `t`; `None` where the derivative is zero.
    pub(super) fn direction(&self, t: f32) -> Option<Vec3> {
        let t2 = t * t;
        let slope = (self.end - self.start) * (6.0 * (t - t2))
            + self.start_slope * (3.0 * t2 - 4.0 * t + 1.0)
            + self.end_slope * (3.0 * t2 - 2.0 * t);
        direction(slope.into()).map(Vec3::from)
    }
}

/// Extrapolates a curve beyond its end with the same curvature, from the end's neighbour and the next point, if
/// there is one.
pub(super) fn beyond(end: Vec3, neighbour: Vec3, next: Option<Vec3>) -> Vec3 {
    let straight = end * 2.0 - neighbour;
    let Some(next) = next else {
        return straight;
    };
    // The reflection that swaps the end and its neighbour maps the next point to the result.
    match direction((end - neighbour).into()).map(Vec3::from) {
        Some(across) => {
            let middle = (end + neighbour) * 0.5;
            next - across * (2.0 * across.dot(next - middle))
        }
        None => straight,
    }
}

/// Position on a curve, with the unit direction and a unit normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CurveFrame {
    pub(super) position: Vec3,
    pub(super) along: Vec3,
    pub(super) normal: Vec3,
}

impl CurveFrame {
    /// Creates a frame with its normal as close to `preferred` as the direction allows.
    pub(super) fn new(position: Vec3, along: Vec3, preferred: Vec3) -> Self {
        let across = preferred - along * along.dot(preferred);
        // A threshold above 0: for a preferred along the curve only rounding errors remain.
        let normal = if across.length_squared() > 1e-8 {
            across.normalize()
        } else {
            along.any_orthonormal_vector()
        };
        Self {
            position,
            along,
            normal,
        }
    }

    /// Returns the next frame along the curve with minimal rotation: double reflection (Wang, Jüttler, Zheng and
    /// Liu, "Computation of Rotation Minimizing Frames", 2008).
    pub(super) fn next(&self, position: Vec3, along: Vec3) -> Self {
        let (normal, mirrored) = reflect(position - self.position, self.normal, self.along);
        let (normal, _) = reflect(along - mirrored, normal, mirrored);
        Self::new(position, along, normal)
    }
}

/// Reflects two vectors in the plane normal to `v`. A zero `v` leaves them unchanged.
fn reflect(v: Vec3, a: Vec3, b: Vec3) -> (Vec3, Vec3) {
    let square = v.length_squared();
    if square < 1e-20 {
        return (a, b);
    }
    let mirror = |x: Vec3| x - v * (2.0 * v.dot(x) / square);
    (mirror(a), mirror(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::TAU;

    #[test]
    fn a_curve_interpolates_its_points_and_is_straight_between_collinear_ones() {
        let points = [0.0, 1.0, 3.0, 3.5].map(|x| Vec3::new(x, 2.0 * x, 0.0));
        let segment = CurveSegment::new(points);
        assert_eq!(segment.position(0.0), points[1]);
        assert!((segment.position(1.0) - points[2]).length() < 1e-5);
        let along = (points[3] - points[0]).normalize();
        for t in [0.0, 0.3, 0.7, 1.0] {
            assert!(segment.direction(t).unwrap().distance(along) < 1e-4);
            let off = segment.position(t).reject_from(along);
            assert!(off.length() < 1e-4, "{off}");
        }
    }

    #[test]
    fn circles_are_round_and_segments_join_smoothly() {
        let at = |i: i32| {
            let angle = TAU * i as f32 / 12.0;
            Vec3::new(angle.cos(), angle.sin(), 0.0)
        };
        let segment = |i| CurveSegment::new([at(i - 1), at(i), at(i + 1), at(i + 2)]);
        for t in [0.2, 0.5, 0.8] {
            let radius = segment(0).position(t).length();
            assert!((radius - 1.0).abs() < 2e-3, "{radius}");
        }
        let (before, after) = (segment(0).direction(1.0), segment(1).direction(0.0));
        assert!(before.unwrap().distance(after.unwrap()) < 1e-4);
    }

    #[test]
    fn extrapolated_points_keep_the_curvature() {
        let [a, b, c] = [0.0, 0.5, 1.0].map(|angle: f32| Vec3::new(angle.cos(), angle.sin(), 0.0));
        assert!(
            beyond(a, b, Some(c)).distance(Vec3::new(0.5_f32.cos(), -0.5_f32.sin(), 0.0)) < 1e-5
        );
        assert_eq!(beyond(Vec3::X, Vec3::ZERO, None), Vec3::X * 2.0);
        assert_eq!(beyond(Vec3::X, Vec3::X, Some(Vec3::Y)), Vec3::X);
    }

    #[test]
    fn coincident_points_give_finite_curves() {
        let (a, b) = (Vec3::ZERO, Vec3::X);
        for points in [
            [a, a, a, a],
            [a, a, b, b],
            [a, b, b, a],
            [b, a, b, a],
            [a, b, a, b],
        ] {
            let segment = CurveSegment::new(points);
            for t in [0.0, 0.25, 0.5, 1.0] {
                assert!(segment.position(t).is_finite());
                assert!(segment.direction(t).is_none_or(|d| d.is_normalized()));
            }
        }
    }

    #[test]
    fn frames_do_not_twist() {
        // Along a flat circle the normal out of its plane stays constant.
        let at = |i: usize| {
            let angle = TAU * i as f32 / 40.0;
            (
                Vec3::new(angle.cos(), angle.sin(), 0.0),
                Vec3::new(-angle.sin(), angle.cos(), 0.0),
            )
        };
        let (position, along) = at(0);
        let mut frame = CurveFrame::new(position, along, Vec3::Z);
        for i in 1..=40 {
            let (position, along) = at(i);
            frame = frame.next(position, along);
            assert!(frame.normal.distance(Vec3::Z) < 1e-4);
        }
    }

    #[test]
    fn frames_survive_a_turn_without_a_change_of_position() {
        let start = CurveFrame::new(Vec3::ZERO, Vec3::X, Vec3::Y);
        for (position, along) in [
            (Vec3::ZERO, Vec3::X),
            (Vec3::ZERO, Vec3::NEG_X),
            (Vec3::X, Vec3::NEG_X),
            (Vec3::NEG_X, Vec3::X),
            (Vec3::ZERO, Vec3::Y),
        ] {
            let frame = start.next(position, along);
            assert!(frame.normal.is_normalized(), "{frame:?}");
            assert!(frame.normal.dot(along).abs() < 1e-5, "{frame:?}");
        }
    }
}
