//! Time of contact of a moving particle and triangle, and of two moving edges, in double precision (Provot, "Collision
//! and self-collision handling in cloth model dedicated to design garments", 1997).
//!
//! While all four particles move along straight lines, they lie in one plane when a cubic polynomial is 0. In the
//! Bernstein basis a polynomial has no root where all its coefficients have one sign, so most candidates need no more
//! than that.

use bevy::math::DVec3;

/// Positions of four particles when the motion begins and ends, m.
pub(super) type MovingPoints = [[DVec3; 4]; 2];

/// Distance up to which particles in one plane touch, as a fraction of the extent of the four particles.
const TOLERANCE: f64 = 1e-6;

/// Volume below which four particles count as lying in one plane, as a fraction of the cube of their extent.
const FLAT: f64 = 1e-13;

/// Bisections of the motion: the time is exact to a millionth.
const MAX_DEPTH: u32 = 20;

/// Steps of the search for a contact in a plane; features that are still apart after them nearly touch.
const MAX_ADVANCES: u32 = 64;

/// Features of a mesh that may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Features {
    /// First particle and the triangle of the others.
    ParticleTriangle,
    /// Edge of the first two particles and edge of the other two.
    EdgeEdge,
}

impl Features {
    /// Returns a time, as a fraction of the motion, until which the features do not touch, if they touch at all.
    pub(super) fn time_of_contact(self, points: &MovingPoints) -> Option<f64> {
        let volumes = bernstein_volumes(points);
        if has_one_sign(&volumes) {
            return None;
        }
        let [start, end] = points;
        let relative = |k: usize| start[k] - start[0];
        let extent = (1..4).map(|k| {
            relative(k)
                .abs()
                .max_element()
                .max((end[k] - end[0]).abs().max_element())
        });
        let extent = extent.fold(0.0, f64::max);
        let search = Search {
            features: self,
            points,
            tolerance: TOLERANCE * extent,
            flat: FLAT * extent.powi(3),
        };
        if volumes.iter().all(|volume| volume.abs() <= search.flat) {
            return search.advance();
        }
        search.first_contact(&volumes, 0.0, 1.0, MAX_DEPTH)
    }

    /// Returns whether the features end nearer than `gap` m, and at less than half of the distance at which they began, or at less
    /// than a tenth of the gap and nine tenths of that distance: halves of halves are too small for `f32`.
    pub(super) fn closes(self, &[start, end]: &MovingPoints, gap: f64) -> bool {
        // The volume is the distance of the lines or the plane times an area of at most four times the largest square.
        let sides = [1, 2, 3].map(|k| end[k] - end[0]);
        let square = sides.iter().map(|side| side.length_squared());
        let volume = sides[0].cross(sides[1]).dot(sides[2]).abs();
        if volume > gap * 4.0 * square.fold(0.0, f64::max) {
            return false;
        }
        let distance = self.distance(end);
        let fraction = if distance < 0.1 * gap { 0.9 } else { 0.5 };
        distance < gap && distance < fraction * self.distance(start)
    }

    /// Returns how many of the four particles belong to the first feature.
    pub(super) fn first_particles(self) -> usize {
        match self {
            Self::ParticleTriangle => 1,
            Self::EdgeEdge => 2,
        }
    }

    /// Returns the closest points of the features: the weights of the four particles in the vector from the second feature to
    /// the first, which are positive in the first.
    pub(super) fn closest_points(self, [p, a, b, c]: [DVec3; 4]) -> [f64; 4] {
        match self {
            Self::ParticleTriangle => {
                let [u, v, w] = closest_on_triangle(p, [a, b, c]);
                [1.0, -u, -v, -w]
            }
            Self::EdgeEdge => {
                let [s, t] = closest_on_segments([p, a], [b, c]);
                [1.0 - s, s, t - 1.0, -t]
            }
        }
    }

    /// Returns the distance between the features, m.
    pub(super) fn distance(self, points: [DVec3; 4]) -> f64 {
        combine(self.closest_points(points), points).length()
    }
}

/// Returns the weighted sum of four vectors.
pub(super) fn combine(weights: [f64; 4], of: [DVec3; 4]) -> DVec3 {
    let products = weights.into_iter().zip(of).map(|(weight, at)| at * weight);
    products.sum()
}

/// Search for the first time at which two features in one plane touch.
struct Search<'a> {
    features: Features,
    points: &'a MovingPoints,
    tolerance: f64,
    flat: f64,
}

impl Search<'_> {
    /// Searches between two times, given the Bernstein coefficients of the volume between them.
    fn first_contact(&self, volumes: &[f64; 4], from: f64, to: f64, depth: u32) -> Option<f64> {
        if has_one_sign(volumes) {
            return None;
        }
        let is_flat = volumes.iter().all(|volume| volume.abs() <= self.flat);
        if depth == 0 || is_flat {
            // Nothing else can happen in so short a time.
            let touches =
                |time| self.features.distance(self.at(time)) <= self.tolerance_within(from, to);
            return [from, to].into_iter().any(touches).then_some(from);
        }
        let middle = 0.5 * (from + to);
        let [first, second] = split(volumes);
        self.first_contact(&first, from, middle, depth - 1)
            .or_else(|| self.first_contact(&second, middle, to, depth - 1))
    }

    /// Searches features that lie in one plane all the time: until the next time, no particle moves farther than the
    /// features are apart (Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems", 1996).
    fn advance(&self) -> Option<f64> {
        let fastest = self.longest_path();
        let mut time = 0.0;
        for _ in 0..MAX_ADVANCES {
            let distance = self.features.distance(self.at(time));
            if distance <= self.tolerance {
                break;
            }
            if distance >= (1.0 - time) * 2.0 * fastest {
                return None;
            }
            time += distance / (2.0 * fastest);
        }
        Some(time)
    }

    /// Returns the tolerance, plus the greatest distance by which any particle moves relative to the first between two
    /// times.
    fn tolerance_within(&self, from: f64, to: f64) -> f64 {
        self.tolerance + (to - from) * self.longest_path()
    }

    /// Returns the greatest distance by which any particle moves relative to the first, m.
    fn longest_path(&self) -> f64 {
        let [start, end] = self.points;
        let path = |k: usize| (end[k] - start[k]) - (end[0] - start[0]);
        (1..4).map(|k| path(k).length()).fold(0.0, f64::max)
    }

    fn at(&self, time: f64) -> [DVec3; 4] {
        let [start, end] = self.points;
        std::array::from_fn(|k| start[k].lerp(end[k], time))
    }
}

/// Returns whether no polynomial with these coefficients is 0 anywhere between the ends.
fn has_one_sign(volumes: &[f64; 4]) -> bool {
    volumes.iter().all(|&volume| volume > 0.0) || volumes.iter().all(|&volume| volume < 0.0)
}

/// Returns six times the volume of the tetrahedron of the four particles, as Bernstein coefficients in time.
fn bernstein_volumes([start, end]: &MovingPoints) -> [f64; 4] {
    let sides = |points: &[DVec3; 4]| {
        [
            points[1] - points[0],
            points[2] - points[0],
            points[3] - points[0],
        ]
    };
    let ([u, v, w], [u1, v1, w1]) = (sides(start), sides(end));
    let volume = |u: DVec3, v: DVec3, w: DVec3| u.cross(v).dot(w);
    [
        volume(u, v, w),
        (volume(u1, v, w) + volume(u, v1, w) + volume(u, v, w1)) / 3.0,
        (volume(u, v1, w1) + volume(u1, v, w1) + volume(u1, v1, w)) / 3.0,
        volume(u1, v1, w1),
    ]
}

/// Splits a polynomial in the middle (de Casteljau).
fn split(&[a, b, c, d]: &[f64; 4]) -> [[f64; 4]; 2] {
    let middle = |a: f64, b: f64| 0.5 * (a + b);
    let (ab, bc, cd) = (middle(a, b), middle(b, c), middle(c, d));
    let (abc, bcd) = (middle(ab, bc), middle(bc, cd));
    let abcd = middle(abc, bcd);
    [[a, ab, abc, abcd], [abcd, bcd, cd, d]]
}

/// Returns the barycentric weights of the point of a triangle closest to another point.
fn closest_on_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let normal = ab.cross(ac);
    let square = normal.length_squared();
    if square > 0.0 {
        let v = ap.cross(ac).dot(normal) / square;
        let w = ab.cross(ap).dot(normal) / square;
        if v >= 0.0 && w >= 0.0 && v + w <= 1.0 {
            return [1.0 - v - w, v, w];
        }
    }
    let mut nearest = (f64::INFINITY, [1.0, 0.0, 0.0]);
    let corners = [a, b, c];
    for k in 0..3 {
        let (from, to) = (corners[k], corners[(k + 1) % 3]);
        let [_, t] = closest_on_segments([p, p], [from, to]);
        let square = p.distance_squared(from + (to - from) * t);
        if square < nearest.0 {
            let mut weights = [0.0; 3];
            weights[k] = 1.0 - t;
            weights[(k + 1) % 3] = t;
            nearest = (square, weights);
        }
    }
    nearest.1
}

/// Returns the parameters of the closest points of two segments (Ericson, "Real-Time Collision Detection", 2005, 5.1.9).
fn closest_on_segments([p, p1]: [DVec3; 2], [q, q1]: [DVec3; 2]) -> [f64; 2] {
    let (d, e, r) = (p1 - p, q1 - q, p - q);
    let (dd, ee, er, dr, de) = (d.dot(d), e.dot(e), e.dot(r), d.dot(r), d.dot(e));
    let along = |numerator: f64, square: f64| {
        if square > 0.0 {
            (numerator / square).clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    let s = along(de * er - dr * ee, dd * ee - de * de);
    let t = along(de * s + er, ee);
    [along(de * t - dr, dd), t]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::math::noise::noise_point;

    const TRIANGLE: [DVec3; 3] = [DVec3::ZERO, DVec3::X, DVec3::Z];

    fn particle(from: DVec3, to: DVec3) -> MovingPoints {
        let [a, b, c] = TRIANGLE;
        [[from, a, b, c], [to, a, b, c]]
    }

    #[test]
    fn a_particle_touches_a_triangle_that_it_passes_through() {
        let at = DVec3::new(0.2, 0.0, 0.3);
        for up in [1.0, -1.0] {
            let path = particle(at + DVec3::Y * up, at - DVec3::Y * 3.0 * up);
            let time = Features::ParticleTriangle.time_of_contact(&path).unwrap();
            assert!((time - 0.25).abs() < 2e-6, "{time}");
        }
        let beside = DVec3::new(0.6, 0.0, 0.6);
        let path = particle(beside + DVec3::Y, beside - DVec3::Y);
        assert_eq!(Features::ParticleTriangle.time_of_contact(&path), None);
        let path = particle(at + DVec3::Y, at + DVec3::Y * 0.1);
        assert_eq!(Features::ParticleTriangle.time_of_contact(&path), None);
    }

    #[test]
    fn edges_that_meet_touch() {
        let [a, b] = [DVec3::NEG_X, DVec3::X];
        let other = [DVec3::new(0.3, 1.0, -1.0), DVec3::new(0.3, 1.0, 1.0)];
        let path = |down: f64| {
            let [c, d] = other.map(|at| at - DVec3::Y * down);
            [[a, b, other[0], other[1]], [a, b, c, d]]
        };
        let time = Features::EdgeEdge.time_of_contact(&path(2.0)).unwrap();
        assert!((time - 0.5).abs() < 2e-6, "{time}");
        assert_eq!(Features::EdgeEdge.time_of_contact(&path(0.9)), None);
    }

    #[test]
    fn features_close_that_end_within_the_gap() {
        let at = DVec3::new(0.2, 0.0, 0.3);
        let closes = |from: f64, to: f64| {
            let path = particle(at + DVec3::Y * from, at + DVec3::Y * to);
            Features::ParticleTriangle.closes(&path, 0.01)
        };
        assert!(closes(1.0, 0.009) && !closes(1.0, 0.011));
        // Features that begin there may stay.
        assert!(closes(0.009, 0.004) && !closes(0.009, 0.008));
        assert!(closes(0.0009, 0.0008) && !closes(0.0009, 0.00089));
    }

    #[test]
    fn points_in_one_plane_touch_where_they_overlap() {
        let from = DVec3::new(-1.0, 0.0, 0.2);
        let path = particle(from, DVec3::new(0.5, 0.0, 0.2));
        let time = Features::ParticleTriangle.time_of_contact(&path).unwrap();
        assert!(time <= 2.0 / 3.0 && time > 0.66, "{time}");
        let beside = particle(from, DVec3::new(-0.5, 0.0, 1.7));
        assert_eq!(Features::ParticleTriangle.time_of_contact(&beside), None);
        let [a, b] = [DVec3::ZERO, DVec3::X];
        let edge = |x: f64| [DVec3::new(x, 0.0, -1.0), DVec3::new(x, 0.0, 1.0)];
        let path = |[c, d]: [DVec3; 2], [e, f]: [DVec3; 2]| [[a, b, c, d], [a, b, e, f]];
        let time = Features::EdgeEdge.time_of_contact(&path(edge(2.0), edge(0.5)));
        assert!(time.is_some_and(|time| time <= 2.0 / 3.0 && time > 0.66));
        let time = Features::EdgeEdge.time_of_contact(&path(edge(2.0), edge(1.1)));
        assert_eq!(time, None);
    }

    /// Until the returned time, at a thousand times, no sampled distance is 0; without one, none is.
    #[test]
    fn no_contact_is_missed() {
        let (mut touched, mut free) = (0, 0);
        for i in 0..4000 {
            let point = |stream| noise_point(i, stream).as_dvec3();
            let points = [[1, 4, 7, 10].map(point), [13, 16, 19, 22].map(point)];
            let features = [Features::ParticleTriangle, Features::EdgeEdge][i % 2];
            let volume = |time: f64| {
                let at: [DVec3; 4] = std::array::from_fn(|k| points[0][k].lerp(points[1][k], time));
                let sign = (at[1] - at[0]).cross(at[2] - at[0]).dot(at[3] - at[0]);
                (sign, features.distance(at))
            };
            let until = features.time_of_contact(&points);
            let last = until.unwrap_or(1.0);
            let (mut before, _) = volume(0.0);
            for step in 1..=1000 {
                let (now, distance) = volume(last * f64::from(step) / 1000.0 - 1e-9);
                assert!(
                    now * before > 0.0 || distance > 1e-4,
                    "{i}: at {step}, {until:?}"
                );
                before = now;
            }
            if until.is_some() {
                touched += 1;
            } else {
                free += 1;
            }
        }
        assert!(touched > 200 && free > 200, "{touched}, {free}");
    }
}
