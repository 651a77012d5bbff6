//! The surface of a field of heights: solid below, with walls around it and a bottom.

use super::surface::{SurfaceError, TriangleSurface};
use bevy::math::{Vec2, Vec3};

impl TriangleSurface {
    /// Heights along y over a rectangle around the origin, given row after row: each row goes along +x, the
    /// rows along +z. It is solid from there down to as far below its lowest place as it is wide.
    /// `size` is that of the rectangle along x and z, `scale` is applied to everything.
    pub fn heightfield(
        heights: &[f32],
        columns: u32,
        size: Vec2,
        scale: Vec3,
    ) -> Result<Self, SurfaceError> {
        let wide = columns as usize;
        let bad = SurfaceError::BadGrid {
            heights: heights.len(),
            columns,
        };
        let sound = |length: f32| length.is_finite() && length > 0.0;
        let whole = wide >= 2 && heights.len() >= 2 * wide && heights.len().is_multiple_of(wide);
        if !(whole && sound(size.x) && sound(size.y)) {
            return Err(bad);
        }
        if let Some(index) = heights.iter().position(|height| !height.is_finite()) {
            return Err(SurfaceError::NonFinite { index });
        }
        let rows = heights.len() / wide;
        let place = |i: usize, height: f32| {
            let x = (i % wide) as f32 / (wide - 1) as f32 - 0.5;
            let z = (i / wide) as f32 / (rows - 1) as f32 - 0.5;
            Vec3::new(x * size.x, height, z * size.y) * scale
        };
        let lowest = heights.iter().copied().fold(f32::INFINITY, f32::min);
        let bottom = lowest - size.max_element();
        // Around the rectangle, so that the inside is on the left as seen from above.
        let (right, last) = (wide - 1, rows - 1);
        let rim = (0..last).map(|row| row * wide);
        let rim = rim.chain((0..right).map(|column| last * wide + column));
        let rim = rim.chain((1..rows).rev().map(|row| row * wide + right));
        let rim: Vec<usize> = rim.chain((1..wide).rev()).collect();

        let mut points: Vec<Vec3> = heights
            .iter()
            .enumerate()
            .map(|(i, &h)| place(i, h))
            .collect();
        let below = points.len() as u32;
        points.extend(rim.iter().map(|&i| place(i, bottom)));
        let middle = points.len() as u32;
        points.push(Vec3::Y * bottom * scale);

        let mut triangles = Vec::with_capacity(2 * right * last + 3 * rim.len());
        for i in (0..last * wide).filter(|i| i % wide != right) {
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
