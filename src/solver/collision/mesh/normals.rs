//! Normals of triangles, and pseudo-normals of the edges and corners of a closed surface.
//!
//! The side of a closed surface on which a point lies follows from the nearest point of the surface and the
//! pseudo-normal there: the triangle normal inside a triangle, the sum of both normals at an edge, the sum of all
//! normals weighted by angle at a vertex (Bærentzen and Aanæs, "Signed distance computation using the angle
//! weighted pseudonormal", 2005).

use bevy::{math::Vec3, platform::collections::HashMap};

/// Normals of a rigid surface.
#[derive(Clone, Debug, Default)]
pub(super) struct StoredNormals {
    /// Unit normals of the triangles, outwards; 0 for triangles without area.
    pub(super) triangles: Vec<Vec3>,
    /// Pseudo-normals of the three edges of each triangle, edge k leading from corner k to the next; empty for an
    /// open surface.
    pub(super) edges: Vec<[Vec3; 3]>,
    /// Pseudo-normals of the points; empty for an open surface.
    pub(super) points: Vec<Vec3>,
}

impl StoredNormals {
    /// Computes the normals of triangles between points.
    pub(super) fn new(points: &[Vec3], triangles: &[[u32; 3]], closed: bool) -> Self {
        let corners_of = |corners: &[u32; 3]| corners.map(|i| points[i as usize]);
        let mut normals = Self {
            triangles: triangles
                .iter()
                .map(|t| unit_normal(corners_of(t)))
                .collect(),
            ..Self::default()
        };
        if closed {
            normals.find_pseudo_normals(points, triangles);
        }
        normals
    }

    fn find_pseudo_normals(&mut self, points: &[Vec3], triangles: &[[u32; 3]]) {
        self.points = vec![Vec3::ZERO; points.len()];
        // Sum in the order of triangles, for deterministic results.
        for (indices, normal) in triangles.iter().zip(&self.triangles) {
            let corners = indices.map(|i| points[i as usize]);
            for (k, &index) in indices.iter().enumerate() {
                self.points[index as usize] += *normal * corner_angle(corners, k);
            }
        }
        // Both triangles of an edge share one sum, so its bits are the same on both sides.
        let mut sums: HashMap<[u32; 2], Vec3> = HashMap::default();
        let edges = |corners: [u32; 3]| {
            [0, 1, 2].map(|k| {
                let (from, to) = (corners[k], corners[(k + 1) % 3]);
                [from.min(to), from.max(to)]
            })
        };
        for (corners, normal) in triangles.iter().zip(&self.triangles) {
            for edge in edges(*corners) {
                *sums.entry(edge).or_default() += *normal;
            }
        }
        let sum_of = |edge: [u32; 2]| sums.get(&edge).copied().unwrap_or_default();
        let of_triangle = |&corners: &[u32; 3]| edges(corners).map(sum_of);
        self.edges = triangles.iter().map(of_triangle).collect();
    }

    /// Reverses all normals, after the second and third corner of each triangle have been swapped.
    pub(super) fn reverse(&mut self) {
        for [first, _, last] in &mut self.edges {
            std::mem::swap(first, last);
        }
        let edges = self.edges.as_flattened_mut().iter_mut();
        let all = self.triangles.iter_mut().chain(edges);
        for normal in all.chain(&mut self.points) {
            *normal = -*normal;
        }
    }
}

/// Returns the angle of a triangle at corner `k`; 0 if a side has no length.
pub(super) fn corner_angle(corners: [Vec3; 3], k: usize) -> f32 {
    let along = corners[(k + 1) % 3] - corners[k];
    let back = corners[(k + 2) % 3] - corners[k];
    let lengths = (along.length_squared() * back.length_squared()).sqrt();
    if lengths > 0.0 {
        arc_cosine(along.dot(back) / lengths)
    } else {
        0.0
    }
}

/// Returns the unit normal of a triangle; 0 without area.
pub(super) fn unit_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    let across = (b - a).cross(c - a);
    let length = across.length();
    if length > 0.0 && length.is_finite() {
        across / length
    } else {
        Vec3::ZERO
    }
}

/// Computes the arc cosine to within 7·10⁻⁵ (Abramowitz and Stegun, 4.4.45), using only + − × ÷ √, so that
/// pseudo-normals have the same bits on all platforms.
pub(super) fn arc_cosine(cosine: f32) -> f32 {
    let x = cosine.abs().min(1.0);
    let series = 1.570_728_8 + x * (-0.212_114_4 + x * (0.074_261 - x * 0.018_729_3));
    let angle = (1.0 - x).sqrt() * series;
    if cosine < 0.0 {
        std::f32::consts::PI - angle
    } else {
        angle
    }
}
