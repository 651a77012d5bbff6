//! Initial positions of the particles of a rope, or the reason why it cannot be built.

use super::Rope;
use bevy::math::Vec3;

/// Layout of a rope in the frame of its entity.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RopeLayout {
    /// Initial positions of the particles, m: evenly spread.
    pub(crate) positions: Vec<Vec3>,
    /// Rest length over the length of the polyline.
    pub(crate) slack: f32,
}

impl RopeLayout {
    /// Lays out a rope with valid numbers. `down` is the direction in which it sags if it is longer than its
    /// polyline.
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
                "Rope::points has a point that is not finite ({bad}); give finite points"
            ));
        }
        let given = polyline_length(points);
        if !(given > 0.0 && given.is_finite()) {
            return Err(format!(
                "the polyline through Rope::points is {given} m long; give it points at \
                 different positions and finite distances"
            ));
        }
        let count = rope.particles as usize;
        let length = rope.length.map_or(given, f64::from);
        let slack = length / given;
        // A tenth of a millimetre per metre is not visible.
        let positions = if slack > 1.0001 {
            resample_evenly(&sag_to_length(points, down, length, 4 * count), count)
        } else {
            resample_evenly(points, count)
        };
        Ok(Self {
            positions,
            slack: slack as f32,
        })
    }
}

fn distance(a: Vec3, b: Vec3) -> f64 {
    a.as_dvec3().distance(b.as_dvec3())
}

/// Returns the length of the polyline through points, m.
pub(super) fn polyline_length(points: &[Vec3]) -> f64 {
    points.windows(2).map(|p| distance(p[0], p[1])).sum()
}

/// Returns `count` (at least two) points at equal distances along a polyline.
fn resample_evenly(points: &[Vec3], count: usize) -> Vec<Vec3> {
    let total = polyline_length(points);
    let mut positions = Vec::with_capacity(count);
    // Current segment, and the length of all before it.
    let (mut segment, mut before) = (0, 0.0);
    for i in 0..count {
        let wanted = total * i as f64 / (count - 1) as f64;
        let mut length = distance(points[segment], points[segment + 1]);
        while before + length < wanted && segment + 2 < points.len() {
            before += length;
            segment += 1;
            length = distance(points[segment], points[segment + 1]);
        }
        let fraction = if length > 0.0 {
            ((wanted - before) / length).clamp(0.0, 1.0)
        } else {
            0.0
        };
        positions.push(points[segment].lerp(points[segment + 1], fraction as f32));
    }
    // Keep the ends exact despite rounding.
    positions[0] = points[0];
    positions[count - 1] = points[points.len() - 1];
    positions
}

/// Lowers the polyline through points by a parabola so that it becomes `length` long: close enough to a catenary
/// to start without a jerk.
fn sag_to_length(points: &[Vec3], down: Vec3, length: f64, segments: usize) -> Vec<Vec3> {
    let segments = segments.max(64);
    let straight = resample_evenly(points, segments + 1);
    let lowered = |sag: f64| -> Vec<Vec3> {
        let points = straight.iter().enumerate();
        points
            .map(|(i, &point)| {
                let t = i as f64 / segments as f64;
                point + down * (4.0 * sag * t * (1.0 - t)) as f32
            })
            .collect()
    };
    // Lowered by its whole length it is too long, whatever its shape. Bisection, as there is no closed form for
    // the length; 40 halvings are more than `f32` can resolve.
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

    fn layout(rope: &Rope) -> RopeLayout {
        RopeLayout::new(rope, Vec3::NEG_Y).unwrap()
    }

    #[test]
    fn particles_are_spread_evenly_over_uneven_points() {
        let points = [0.0, 0.1, 0.1, 0.7, 3.0].map(|x| Vec3::X * x);
        let layout = layout(&Rope::new(points, 7));
        assert_eq!(layout.positions.len(), 7);
        assert_eq!(layout.slack, 1.0);
        for (i, position) in layout.positions.iter().enumerate() {
            assert!((position.x - 0.5 * i as f32).abs() < 1e-6, "{position}");
        }
    }

    #[test]
    fn a_longer_rope_sags_to_its_length() {
        for length in [4.001, 4.4, 12.0] {
            let rope = Rope {
                length: Some(length),
                ..Rope::between(Vec3::ZERO, Vec3::X * 4.0, 200)
            };
            let layout = layout(&rope);
            assert!((layout.slack - length / 4.0).abs() < 1e-6);
            let total = polyline_length(&layout.positions);
            assert!((total / f64::from(length) - 1.0).abs() < 1e-3, "{total}");
            assert!(layout.positions.iter().all(|p| p.y <= 0.0));
            assert_eq!(layout.positions[199], Vec3::X * 4.0);
        }
    }

    #[test]
    fn a_longer_rope_that_hangs_straight_down_makes_a_loop_below() {
        let rope = Rope {
            length: Some(3.0),
            ..Rope::between(Vec3::ZERO, Vec3::NEG_Y, 61)
        };
        let total = polyline_length(&layout(&rope).positions);
        assert!((total - 3.0).abs() < 0.06, "{total}");
    }

    #[test]
    fn a_shorter_rope_starts_taut() {
        let rope = Rope {
            length: Some(0.5),
            ..default()
        };
        let layout = layout(&rope);
        assert_eq!(layout.slack, 0.5);
        assert_eq!(layout.positions[31], Vec3::X);
    }

    #[test]
    fn invalid_points_are_refused() {
        for (points, reason) in [
            (vec![], "has 0"),
            (vec![Vec3::X], "has 1"),
            (vec![Vec3::X; 5], "0 m long"),
            (vec![Vec3::X, Vec3::NAN], "not finite"),
            (vec![Vec3::X, Vec3::INFINITY], "not finite"),
        ] {
            let error = RopeLayout::new(&Rope::new(points, 5), Vec3::NEG_Y).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
