//! Finds the triangle nearest to a point.

use crate::solver::math::closest_point::{ClosestOnTriangle, Feature};
use bevy::{math::Vec3, platform::collections::HashMap};

/// Triangles that overlap more cells than this are tested for every point.
const MAX_CELLS: usize = 512;

/// Nearest-triangle queries, by a uniform grid of cells.
pub(super) struct NearestTriangle<'a> {
    positions: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    size: f32,
    low: Vec3,
    high: Vec3,
    /// Number of cells along the longest side, plus a margin; the largest search radius in cells.
    rings: i32,
    cells: HashMap<[i32; 3], Vec<u32>>,
    /// Triangles that overlap too many cells.
    large: Vec<u32>,
}

impl<'a> NearestTriangle<'a> {
    pub(super) fn new(positions: &'a [Vec3], triangles: &'a [[u32; 3]]) -> Option<Self> {
        let corners = |t: &[u32; 3]| t.map(|i| positions[i as usize]);
        let sides = triangles.iter().map(|t| {
            let [a, b, c] = corners(t);
            a.distance(b) + b.distance(c) + c.distance(a)
        });
        let mean = sides.sum::<f32>() / (3 * triangles.len()) as f32;
        let all = triangles.iter().flat_map(corners);
        let (low, high) = all.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), at| {
            (low.min(at), high.max(at))
        });
        if triangles.is_empty() || !(mean > 0.0 && mean.is_finite()) {
            return None;
        }
        let mut nearest = Self {
            positions,
            triangles,
            size: mean,
            low,
            high,
            rings: ((high - low).max_element() / mean) as i32 + 2,
            cells: HashMap::default(),
            large: Vec::new(),
        };
        for (number, triangle) in (0..).zip(triangles) {
            let [a, b, c] = corners(triangle);
            let from = nearest.cell(a.min(b).min(c));
            let to = nearest.cell(a.max(b).max(c));
            let counts = [0, 1, 2].map(|k| (to[k] - from[k] + 1) as usize);
            if counts.iter().product::<usize>() > MAX_CELLS {
                nearest.large.push(number);
                continue;
            }
            for x in from[0]..=to[0] {
                for y in from[1]..=to[1] {
                    for z in from[2]..=to[2] {
                        nearest.cells.entry([x, y, z]).or_default().push(number);
                    }
                }
            }
        }
        Some(nearest)
    }

    fn cell(&self, at: Vec3) -> [i32; 3] {
        ((at - self.low) / self.size).floor().as_ivec3().to_array()
    }

    /// Returns the nearest triangle, and the barycentric weights of its second and third corner at the nearest
    /// point.
    pub(super) fn find(&self, point: Vec3) -> (u32, [f32; 2]) {
        let mut best = (f32::INFINITY, 0, [0.0; 2]);
        let mut test = |number: u32| {
            let [a, b, c] = self.triangles[number as usize].map(|i| self.positions[i as usize]);
            let weights = nearest_point(point, a, b, c);
            let at = a + (b - a) * weights[0] + (c - a) * weights[1];
            let distance = at.distance_squared(point);
            // Ties go to the lower number, so the result is deterministic.
            if distance < best.0 || (distance == best.0 && number < best.1) {
                best = (distance, number, weights);
            }
            best.0
        };
        let mut least = f32::INFINITY;
        for &number in &self.large {
            least = test(number);
        }
        // For a point outside, search around its nearest point in the bounding box: a triangle farther than
        // `reach` from there is farther than √(outside + reach²) from the point.
        let start = point.clamp(self.low, self.high);
        let outside = point.distance_squared(start);
        let [x, y, z] = self.cell(start);
        for ring in 0..=self.rings {
            for dx in -ring..=ring {
                for dy in -ring..=ring {
                    // Inside the ring only the two outer layers are new.
                    let inside = dx.abs() < ring && dy.abs() < ring;
                    let step = if inside { (2 * ring).max(1) } else { 1 };
                    for dz in (-ring..=ring).step_by(step as usize) {
                        let cell = [x + dx, y + dy, z + dz];
                        for &number in self.cells.get(&cell).into_iter().flatten() {
                            least = test(number);
                        }
                    }
                }
            }
            let reach = ring as f32 * self.size;
            if least <= outside + reach * reach {
                break;
            }
        }
        (best.1, best.2)
    }
}

/// Returns the barycentric weights of b and c at the nearest point of a triangle; 0 if the triangle has no area.
fn nearest_point(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> [f32; 2] {
    let ClosestOnTriangle { weights, feature } = ClosestOnTriangle::new([a, b, c], p);
    match feature {
        Feature::Degenerate => [0.0; 2],
        _ => [weights[1], weights[2]],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{ClothGrid, TriangleMesh};

    fn grid(side: u32) -> TriangleMesh {
        TriangleMesh::read(&ClothGrid::new(1.0, 1.0, side, side).into()).unwrap()
    }

    #[test]
    fn the_nearest_triangle_is_that_of_a_brute_force_search() {
        let coarse = grid(9);
        let nearest = NearestTriangle::new(&coarse.positions, &coarse.triangles).unwrap();
        for k in 0..300 {
            let wave = |by: f32| (k as f32 * by).sin();
            let point = Vec3::new(wave(1.3), 0.7 * wave(2.1), wave(0.7)) * 1.5;
            let distance = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|i| coarse.positions[i as usize]);
                let [s, t] = nearest_point(point, a, b, c);
                (a + (b - a) * s + (c - a) * t).distance(point)
            };
            let (found, _) = nearest.find(point);
            let least = coarse
                .triangles
                .iter()
                .map(distance)
                .fold(f32::INFINITY, f32::min);
            let of_found = distance(&coarse.triangles[found as usize]);
            assert!(
                (of_found - least).abs() < 1e-6,
                "{point}: {of_found} for {least}"
            );
        }
    }
}
