//! Where the particles of a rope lie when it is built, or why it cannot be.

use super::Rope;
use bevy::math::Vec3;

/// The particles of a rope in the frame of its entity.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Course {
    /// Where they start, m: evenly spread.
    pub(crate) places: Vec<Vec3>,
    /// Length at rest over the length of the way through the points.
    pub(crate) slack: f32,
}

impl Course {
    /// Lays out a rope whose numbers are in their ranges. `down` is where it sags to if it is longer
    /// than the way through its points.
    pub(crate) fn new(rope: &Rope, down: Vec3) -> Result<Self, String> {
        let points = rope.points.as_slice();
        if points.len() < 2 {
            return Err(format!(
                "Rope::points needs at least two points and has {}",
                points.len()
            ));
        }
        if let Some(bad) = points.iter().find(|point| !point.is_finite()) {
            return Err(format!(
                "Rope::points has a point that is not finite ({bad}); put that right"
            ));
        }
        let given = polyline_length(points);
        if !(given > 0.0 && given.is_finite()) {
            return Err(format!(
                "the way through Rope::points is {given} m long; give it points in different \
                 places, at finite distances"
            ));
        }
        let count = rope.particles as usize;
        let length = rope.length.map_or(given, f64::from);
        let slack = length / given;
        // A tenth of a millimetre per metre is below what anybody sees.
        let places = if slack > 1.0001 {
            evenly(&sagging(points, down, length, 4 * count), count)
        } else {
            evenly(points, count)
        };
        Ok(Self {
            places,
            slack: slack as f32,
        })
    }
}

fn distance(a: Vec3, b: Vec3) -> f64 {
    a.as_dvec3().distance(b.as_dvec3())
}

/// Length of the way through points, m.
pub(super) fn polyline_length(points: &[Vec3]) -> f64 {
    points.windows(2).map(|p| distance(p[0], p[1])).sum()
}

/// `count` places (at least two) along the way through points, at equal distances along it.
fn evenly(points: &[Vec3], count: usize) -> Vec<Vec3> {
    let total = polyline_length(points);
    let mut places = Vec::with_capacity(count);
    // The piece that is walked, and the length of all before it.
    let (mut piece, mut before) = (0, 0.0);
    for i in 0..count {
        let wanted = total * i as f64 / (count - 1) as f64;
        let mut length = distance(points[piece], points[piece + 1]);
        while before + length < wanted && piece + 2 < points.len() {
            before += length;
            piece += 1;
            length = distance(points[piece], points[piece + 1]);
        }
        let share = if length > 0.0 {
            ((wanted - before) / length).clamp(0.0, 1.0)
        } else {
            0.0
        };
        places.push(points[piece].lerp(points[piece + 1], share as f32));
    }
    // Rounding must not leave the ends anywhere else.
    places[0] = points[0];
    places[count - 1] = points[points.len() - 1];
    places
}

/// The way through points, lowered by a parabola so that it becomes `length` long: near enough to a
/// catenary to start without a jerk.
fn sagging(points: &[Vec3], down: Vec3, length: f64, pieces: usize) -> Vec<Vec3> {
    let pieces = pieces.max(64);
    let straight = evenly(points, pieces + 1);
    let lowered = |sag: f64| -> Vec<Vec3> {
        let rows = straight.iter().enumerate();
        rows.map(|(i, &place)| {
            let t = i as f64 / pieces as f64;
            place + down * (4.0 * sag * t * (1.0 - t)) as f32
        })
        .collect()
    };
    // Lowered by its whole length it is too long, whatever its shape. Bisection, as lengthening is
    // no formula; 40 halvings are more than f32 can tell apart.
    let (mut low, mut high) = (0.0, length);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if polyline_length(&lowered(middle)) < length {
            low = middle;
        } else {
            high = middle;
        }
    }
    lowered(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::prelude::default;

    fn course(rope: &Rope) -> Course {
        Course::new(rope, Vec3::NEG_Y).unwrap()
    }

    #[test]
    fn particles_are_spread_evenly_over_uneven_points() {
        let points = [0.0, 0.1, 0.1, 0.7, 3.0].map(|x| Vec3::X * x);
        let course = course(&Rope::new(points, 7));
        assert_eq!(course.places.len(), 7);
        assert_eq!(course.slack, 1.0);
        for (i, place) in course.places.iter().enumerate() {
            assert!((place.x - 0.5 * i as f32).abs() < 1e-6, "{place}");
        }
    }

    #[test]
    fn a_longer_rope_sags_to_just_its_length() {
        for length in [4.001, 4.4, 12.0] {
            let rope = Rope {
                length: Some(length),
                ..Rope::between(Vec3::ZERO, Vec3::X * 4.0, 200)
            };
            let course = course(&rope);
            assert!((course.slack - length / 4.0).abs() < 1e-6);
            let laid = polyline_length(&course.places);
            assert!((laid / f64::from(length) - 1.0).abs() < 1e-3, "{laid}");
            assert!(course.places.iter().all(|p| p.y <= 0.0));
            assert_eq!(course.places[199], Vec3::X * 4.0);
        }
    }

    #[test]
    fn a_longer_rope_that_hangs_straight_down_makes_a_loop_below() {
        let rope = Rope {
            length: Some(3.0),
            ..Rope::between(Vec3::ZERO, Vec3::NEG_Y, 61)
        };
        let laid = polyline_length(&course(&rope).places);
        assert!((laid - 3.0).abs() < 0.06, "{laid}");
    }

    #[test]
    fn a_shorter_rope_starts_taut() {
        let rope = Rope {
            length: Some(0.5),
            ..default()
        };
        let course = course(&rope);
        assert_eq!(course.slack, 0.5);
        assert_eq!(course.places[31], Vec3::X);
    }

    #[test]
    fn what_is_no_line_is_refused() {
        for (points, reason) in [
            (vec![], "has 0"),
            (vec![Vec3::X], "has 1"),
            (vec![Vec3::X; 5], "0 m long"),
            (vec![Vec3::X, Vec3::NAN], "not finite"),
            (vec![Vec3::X, Vec3::INFINITY], "not finite"),
        ] {
            let error = Course::new(&Rope::new(points, 5), Vec3::NEG_Y).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
