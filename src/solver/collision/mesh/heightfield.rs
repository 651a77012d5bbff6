//! Triangle surface of a heightfield: solid below the heights, closed by side walls and a bottom.

use super::{SurfaceError, TriangleSurface};
use crate::solver::particles::is_within_reach;
use bevy::math::{Vec2, Vec3};

impl TriangleSurface {
    /// Creates a heightfield: heights along y over a rectangle around the origin, row by row, with rows along +x
    /// and successive rows along +z. It is solid down to a bottom that lies below the lowest height by the longer
    /// side of the rectangle. `size` is the size of the rectangle along x and z; `scale` applies to everything.
    pub fn heightfield(
        heights: &[f32],
        columns: u32,
        size: Vec2,
        scale: Vec3,
    ) -> Result<Self, SurfaceError> {
        let width = columns as usize;
        let bad = SurfaceError::BadGrid {
            heights: heights.len(),
            columns,
        };
        let is_valid = |length: f32| length.is_finite() && length > 0.0;
        let is_rectangle =
            width >= 2 && heights.len() >= 2 * width && heights.len().is_multiple_of(width);
        if !(is_rectangle && is_valid(size.x) && is_valid(size.y)) {
            return Err(bad);
        }
        if let Some(index) = heights
            .iter()
            .position(|&height| !is_within_reach(Vec3::splat(height)))
        {
            return Err(SurfaceError::NonFinite { index });
        }
        let rows = heights.len() / width;
        let point = |i: usize, height: f32| {
            let x = (i % width) as f32 / (width - 1) as f32 - 0.5;
            let z = (i / width) as f32 / (rows - 1) as f32 - 0.5;
            Vec3::new(x * size.x, height, z * size.y) * scale
        };
        let lowest = heights.iter().copied().fold(f32::INFINITY, f32::min);
        let bottom = lowest - size.max_element();
        // Once around the rectangle, with the inside on the left as seen from above.
        let (right, last) = (width - 1, rows - 1);
        let rim = (0..last).map(|row| row * width);
        let rim = rim.chain((0..right).map(|column| last * width + column));
        let rim = rim.chain((1..rows).rev().map(|row| row * width + right));
        let rim: Vec<usize> = rim.chain((1..width).rev()).collect();

        let mut points: Vec<Vec3> = heights
            .iter()
            .enumerate()
            .map(|(i, &h)| point(i, h))
            .collect();
        let below = points.len() as u32;
        points.extend(rim.iter().map(|&i| point(i, bottom)));
        let middle = points.len() as u32;
        points.push(Vec3::Y * bottom * scale);

        let mut triangles = Vec::with_capacity(2 * right * last + 3 * rim.len());
        for i in (0..last * width).filter(|i| i % width != right) {
            let (a, b) = (i as u32, i as u32 + 1);
            let (c, d) = (a + columns, b + columns);
            triangles.extend([[a, c, b], [b, c, d]]);
        }
        for (k, &top) in rim.iter().enumerate() {
            let next = (k + 1) % rim.len();
            let (a, b) = (top as u32, rim[next] as u32);
            let (c, d) = (below + k as u32, below + next as u32);
            triangles.extend([[a, c, b], [b, c, d], [c, middle, d]]);
        }
        Self::new(points, triangles)
    }
}
