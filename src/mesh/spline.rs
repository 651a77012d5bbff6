//! A smooth curve through points, and a frame that goes along it without twisting.

use bevy::math::Vec3;

/// Points nearer to each other than this have no direction between them that is worth a bend:
/// spacing below its square root counts as that, m^½.
const LEAST_SPACING: f32 = 1e-6;

/// The piece of a centripetal Catmull–Rom curve (Barry and Goldman 1988; Yuksel, Schaefer and
/// Keyser 2011: the one without loops and cusps) between the two inner ones of four points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    start: Vec3,
    end: Vec3,
    /// Derivatives at both ends, for a parameter from 0 to 1.
    start_slope: Vec3,
    end_slope: Vec3,
}

impl Piece {
    pub(super) fn new([before, start, end, after]: [Vec3; 4]) -> Self {
        let spacing = |a: Vec3, b: Vec3| a.distance(b).sqrt().max(LEAST_SPACING);
        let (d0, d1, d2) = (
            spacing(before, start),
            spacing(start, end),
            spacing(end, after),
        );
        // The curve as a cubic Hermite: these are its derivatives by the knots, times the knots'
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

    /// The point at `t` from 0 (start) to 1 (end).
    pub(super) fn place(&self, t: f32) -> Vec3 {
        let (t2, t3) = (t * t, t * t * t);
        let bend = 3.0 * t2 - 2.0 * t3;
        self.start.lerp(self.end, bend)
            + self.start_slope * (t3 - 2.0 * t2 + t)
            + self.end_slope * (t3 - t2)
    }

    /// The unit direction at `t`; `None` where the curve stands still.
    pub(super) fn direction(&self, t: f32) -> Option<Vec3> {
        let t2 = t * t;
        let slope = (self.end - self.start) * (6.0 * (t - t2))
            + self.start_slope * (3.0 * t2 - 4.0 * t + 1.0)
            + self.end_slope * (3.0 * t2 - 2.0 * t);
        slope.try_normalize()
    }
}

/// Where a curve that ends at `end` would go on, as seen from its neighbour and from the one after
/// that, if there is one: as round as it came.
pub(super) fn beyond(end: Vec3, neighbour: Vec3, next: Option<Vec3>) -> Vec3 {
    let straight = end * 2.0 - neighbour;
    let Some(next) = next else {
        return straight;
    };
    // The mirror that swaps the end and its neighbour takes the next one there.
    match (end - neighbour).try_normalize() {
        Some(across) => {
            let middle = (end + neighbour) * 0.5;
            next - across * (2.0 * across.dot(next - middle))
        }
        None => straight,
    }
}

/// A place on a curve, its unit direction there and a unit normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) place: Vec3,
    pub(super) along: Vec3,
    pub(super) normal: Vec3,
}

impl Frame {
    /// A frame whose normal is as near to a wish as its direction lets it be.
    pub(super) fn new(place: Vec3, along: Vec3, wish: Vec3) -> Self {
        let across = wish - along * along.dot(wish);
        // Not merely above 0: what is left of a wish along the curve is rounding.
        let normal = if across.length_squared() > 1e-8 {
            across.normalize()
        } else {
            along.any_orthonormal_vector()
        };
        Self {
            place,
            along,
            normal,
        }
    }

    /// The frame farther along, turned as little as can be: double reflection (Wang, Jüttler, Zheng
    /// and Liu, Computation of rotation minimizing frames, 2008).
    pub(super) fn next(&self, place: Vec3, along: Vec3) -> Self {
        let (normal, mirrored) = reflect(place - self.place, self.normal, self.along);
        let (normal, _) = reflect(along - mirrored, normal, mirrored);
        Self::new(place, along, normal)
    }
}

/// Mirrors two vectors at the plane across `v`. Without a `v` there is nothing to mirror.
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
    fn it_goes_through_its_points_and_is_straight_between_points_in_a_line() {
        let points = [0.0, 1.0, 3.0, 3.5].map(|x| Vec3::new(x, 2.0 * x, 0.0));
        let piece = Piece::new(points);
        assert_eq!(piece.place(0.0), points[1]);
        assert!((piece.place(1.0) - points[2]).length() < 1e-5);
        let along = (points[3] - points[0]).normalize();
        for t in [0.0, 0.3, 0.7, 1.0] {
            assert!(piece.direction(t).unwrap().distance(along) < 1e-4);
            let off = piece.place(t).reject_from(along);
            assert!(off.length() < 1e-4, "{off}");
        }
    }

    #[test]
    fn circles_come_out_round_and_pieces_meet_in_one_direction() {
        let at = |i: i32| {
            let angle = TAU * i as f32 / 12.0;
            Vec3::new(angle.cos(), angle.sin(), 0.0)
        };
        let piece = |i| Piece::new([at(i - 1), at(i), at(i + 1), at(i + 2)]);
        for t in [0.2, 0.5, 0.8] {
            let radius = piece(0).place(t).length();
            assert!((radius - 1.0).abs() < 2e-3, "{radius}");
        }
        let (before, after) = (piece(0).direction(1.0), piece(1).direction(0.0));
        assert!(before.unwrap().distance(after.unwrap()) < 1e-4);
    }

    #[test]
    fn curves_go_on_beyond_their_ends_as_round_as_they_came() {
        let [a, b, c] = [0.0, 0.5, 1.0].map(|angle: f32| Vec3::new(angle.cos(), angle.sin(), 0.0));
        assert!(
            beyond(a, b, Some(c)).distance(Vec3::new(0.5_f32.cos(), -0.5_f32.sin(), 0.0)) < 1e-5
        );
        assert_eq!(beyond(Vec3::X, Vec3::ZERO, None), Vec3::X * 2.0);
        assert_eq!(beyond(Vec3::X, Vec3::X, Some(Vec3::Y)), Vec3::X);
    }

    #[test]
    fn points_in_one_place_give_numbers() {
        let (a, b) = (Vec3::ZERO, Vec3::X);
        for points in [
            [a, a, a, a],
            [a, a, b, b],
            [a, b, b, a],
            [b, a, b, a],
            [a, b, a, b],
        ] {
            let piece = Piece::new(points);
            for t in [0.0, 0.25, 0.5, 1.0] {
                assert!(piece.place(t).is_finite());
                assert!(piece.direction(t).is_none_or(|d| d.is_normalized()));
            }
        }
    }

    #[test]
    fn frames_do_not_twist() {
        // Around a flat circle the normal out of its plane stays as it is.
        let at = |i: usize| {
            let angle = TAU * i as f32 / 40.0;
            (
                Vec3::new(angle.cos(), angle.sin(), 0.0),
                Vec3::new(-angle.sin(), angle.cos(), 0.0),
            )
        };
        let (place, along) = at(0);
        let mut frame = Frame::new(place, along, Vec3::Z);
        for i in 1..=40 {
            let (place, along) = at(i);
            frame = frame.next(place, along);
            assert!(frame.normal.distance(Vec3::Z) < 1e-4);
        }
    }

    #[test]
    fn frames_survive_a_turn_on_the_spot() {
        let start = Frame::new(Vec3::ZERO, Vec3::X, Vec3::Y);
        for (place, along) in [
            (Vec3::ZERO, Vec3::X),
            (Vec3::ZERO, Vec3::NEG_X),
            (Vec3::X, Vec3::NEG_X),
            (Vec3::NEG_X, Vec3::X),
            (Vec3::ZERO, Vec3::Y),
        ] {
            let frame = start.next(place, along);
            assert!(frame.normal.is_normalized(), "{frame:?}");
            assert!(frame.normal.dot(along).abs() < 1e-5, "{frame:?}");
        }
    }
}
