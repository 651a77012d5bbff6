//! Counts the particles and edges that pass through triangles and edges while cloth moves.
//!
//! Particles are taken to move along straight lines from the begin of a step to its end, or to where the solver's own filter
//! was applied before that; everything else is independent of it, and in double precision.

use crate::crossings::{bounds, visit_near_pairs};
use bevy::math::{DVec3, Vec3};
use std::collections::HashSet;

/// Triangles, with each particle and each edge assigned to one of those that have it.
pub(crate) struct Features {
    triangles: Vec<[u32; 3]>,
    /// For each triangle, the corners, and the edges from each corner to the next.
    owned: Vec<[[bool; 3]; 2]>,
}

impl Features {
    pub(crate) fn new(triangles: Vec<[u32; 3]>) -> Self {
        let (mut corners, mut edges) = (HashSet::new(), HashSet::new());
        let owned = triangles.iter().map(|triangle| {
            let corners = triangle.map(|i| corners.insert(i));
            let edge = |k: usize| {
                let [a, b] = [triangle[k], triangle[(k + 1) % 3]];
                edges.insert([a.min(b), a.max(b)])
            };
            [corners, [0, 1, 2].map(edge)]
        });
        Self {
            owned: owned.collect(),
            triangles,
        }
    }

    pub(crate) fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Returns how many particles pass through triangles, and edges through edges, without a common corner.
    pub(crate) fn passages(&self, [from, to]: [&[Vec3]; 2]) -> usize {
        let moving = |i: u32| [from, to].map(|at| at[i as usize].as_dvec3());
        let boxes: Vec<_> = self
            .triangles
            .iter()
            .map(|corners| {
                let ends = corners
                    .iter()
                    .flat_map(|&i| [from, to].map(|at| at[i as usize]));
                bounds(ends)
            })
            .collect();
        let mut count = 0;
        visit_near_pairs(&boxes, |k, l| {
            for [k, l] in [[k, l], [l, k]] {
                let triangle = self.triangles[l];
                let apart = |i: &u32| !triangle.contains(i);
                let passes = |i: u32| passes_through_triangle(moving(i), triangle.map(moving));
                count += self.corners(k).filter(apart).filter(|&i| passes(i)).count();
            }
            for one in self.edges(k) {
                let apart = |other: &[u32; 2]| !other.iter().any(|i| one.contains(i));
                let passes = |other| passes_through_edge([one, other].map(|edge| edge.map(moving)));
                count += self
                    .edges(l)
                    .filter(apart)
                    .filter(|&edge| passes(edge))
                    .count();
            }
        });
        count
    }

    /// Returns the particles assigned to a triangle.
    fn corners(&self, triangle: usize) -> impl Iterator<Item = u32> {
        let (corners, [owned, _]) = (self.triangles[triangle], self.owned[triangle]);
        (0..3).filter(move |&k| owned[k]).map(move |k| corners[k])
    }

    /// Returns the edges assigned to a triangle.
    fn edges(&self, triangle: usize) -> impl Iterator<Item = [u32; 2]> {
        let (corners, [_, owned]) = (self.triangles[triangle], self.owned[triangle]);
        let edge = move |k: usize| [corners[k], corners[(k + 1) % 3]];
        (0..3).filter(move |&k| owned[k]).map(edge)
    }
}

/// Position at the begin and at the end of a step.
type Moving = [DVec3; 2];

/// Returns the position at a time from 0 to 1.
fn at_time(point: Moving, time: f64) -> DVec3 {
    point[0].lerp(point[1], time)
}

/// Returns whether the boxes around the paths of two sets of points overlap.
fn overlap<const N: usize, const M: usize>(one: [Moving; N], other: [Moving; M]) -> bool {
    let bounds = |points: &[Moving]| {
        let points = points.as_flattened().iter();
        points.fold(
            [DVec3::INFINITY, DVec3::NEG_INFINITY],
            |[low, high], &at| [low.min(at), high.max(at)],
        )
    };
    let ([low, high], [other_low, other_high]) = (bounds(&one), bounds(&other));
    low.cmple(other_high).all() && other_low.cmple(high).all()
}

/// Returns whether a particle passes through a triangle.
fn passes_through_triangle(point: Moving, triangle: [Moving; 3]) -> bool {
    let [a, b, c] = triangle;
    overlap([point], triangle)
        && sign_changes([point, a, b, c])
            .into_iter()
            .flatten()
            .any(|time| {
                let [p, a, b, c] = [point, a, b, c].map(|point| at_time(point, time));
                let normal = (b - a).cross(c - a);
                let inside = |a: DVec3, b: DVec3| (b - a).cross(p - a).dot(normal) > 0.0;
                inside(a, b) && inside(b, c) && inside(c, a)
            })
}

/// Returns whether an edge passes through another one.
fn passes_through_edge([one, other]: [[Moving; 2]; 2]) -> bool {
    let ([a, b], [c, d]) = (one, other);
    overlap(one, other)
        && sign_changes([a, b, c, d])
            .into_iter()
            .flatten()
            .any(|time| {
                let [a, b, c, d] = [a, b, c, d].map(|point| at_time(point, time));
                // All of these are normals of the one plane, the first one of length 0 if the edges are parallel.
                let normals = [d - c, c - a, d - a].map(|side| (b - a).cross(side));
                let longest =
                    |a: &DVec3, b: &DVec3| a.length_squared().total_cmp(&b.length_squared());
                let normal = normals.into_iter().max_by(longest).unwrap_or_default();
                let side =
                    |of: DVec3, from: DVec3, to: DVec3| (to - from).cross(of - from).dot(normal);
                side(c, a, b) * side(d, a, b) < 0.0 && side(a, c, d) * side(b, c, d) < 0.0
            })
}

/// Returns the times from 0 to 1 at which the volume of a tetrahedron changes its sign: a cubic polynomial of time.
fn sign_changes(corners: [Moving; 4]) -> [Option<f64>; 3] {
    let volume = |time: f64| {
        let [a, b, c, d] = corners.map(|point| at_time(point, time));
        (b - a).cross(c - a).dot(d - a)
    };
    // Its coefficients, from four of its values.
    let [v0, v1, v2, v3] = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0].map(volume);
    let cubic = 4.5 * (v3 - 3.0 * v2 + 3.0 * v1 - v0);
    let square = 4.5 * (v2 - 2.0 * v1 + v0) - cubic;
    let linear = v3 - v0 - cubic - square;
    // Between its extrema it is monotonic.
    let mut ends = [0.0, 0.0, 0.0, 1.0];
    let discriminant = square * square - 3.0 * cubic * linear;
    if discriminant > 0.0 {
        let q = -square - square.signum() * discriminant.sqrt();
        let mut extrema = [q / (3.0 * cubic), linear / q];
        extrema.sort_by(f64::total_cmp);
        for (end, extremum) in ends[1..3].iter_mut().zip(extrema) {
            *end = if extremum > 0.0 && extremum < 1.0 {
                extremum
            } else {
                0.0
            };
        }
        ends.sort_by(f64::total_cmp);
    }
    [0, 1, 2].map(|k| {
        let (mut low, mut high) = (ends[k], ends[k + 1]);
        let sign = volume(low);
        if !(low < high && sign * volume(high) < 0.0) {
            return None;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if volume(middle) * sign > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(0.5 * (low + high))
    })
}

#[test]
fn passages_are_counted() {
    let square = [Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(1.0, 0.0, 1.0)];
    let features = Features::new(vec![[0, 2, 1], [1, 2, 3], [4, 6, 5], [5, 6, 7]]);
    // The second square moves from one place above or below the first one to another.
    let count = |from: Vec3, to: Vec3| {
        let [from, to] = [from, to].map(|by| [square, square.map(|at| 0.3 * at + by)].concat());
        features.passages([&from, &to])
    };
    let above = Vec3::new(0.2, 0.1, 0.1);
    let below = above - 0.2 * Vec3::Y;
    assert_eq!(count(above, above - 0.09 * Vec3::Y), 0);
    assert_eq!(count(above, above + Vec3::X), 0);
    // All its corners pass through triangles.
    assert_eq!(count(above, below), 4);
    assert_eq!(count(below, above), 4);
    // Two of its edges also pass through the diagonal.
    let aside = Vec3::new(0.1, 0.0, 0.2);
    assert_eq!(count(above + aside, below + aside), 6);
    // Beside the first square.
    assert_eq!(count(above + Vec3::X, below + Vec3::X), 0);
}

#[test]
fn parallel_edges_of_a_sheet_that_flattens_do_not_pass() {
    // Opposite sides of a square of which two corners are higher at first, and lower at last, by rounding.
    let corners = [
        [-0.30952382, -0.15079364],
        [-0.3253968, -0.16666666],
        [-0.3253968, -0.13492063],
        [-0.34126985, -0.15079364],
    ];
    let outer = [[-0.29, -0.17], [-0.36, -0.13]];
    let at = |heights: [f32; 4]| -> Vec<Vec3> {
        let heights = heights.into_iter().chain([heights[0]; 2]);
        let places = corners.into_iter().chain(outer).zip(heights);
        places.map(|([x, z], y)| Vec3::new(x, y, z)).collect()
    };
    let from = at([0.049999945, 0.049999926, 0.049999926, 0.049999945]);
    let to = at([0.04863868, 0.048638716, 0.048638716, 0.04863868]);
    let features = Features::new(vec![[0, 1, 4], [2, 3, 5]]);
    assert_eq!(features.passages([&from, &to]), 0);
}
