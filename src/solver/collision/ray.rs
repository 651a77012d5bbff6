//! Ray casts against the triangles of a cloth or the segments of a rope.

use bevy::math::Vec3;

/// Hit of a ray on a cloth or rope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// Distance along the ray, in multiples of the length of its direction.
    pub distance: f32,
    /// Index of the triangle, or of the segment of a rope.
    pub index: u32,
    /// Normal of the triangle, towards the origin of the ray; not of unit length. On a rope, the vector from its
    /// centre line to the ray.
    pub normal: Vec3,
}

/// Tolerance beyond the edges of a triangle, as a fraction of its size: rays through a shared edge or vertex must
/// not slip between triangles by rounding.
const EDGE_TOLERANCE: f32 = 1e-5;

/// Returns where a ray hits the plane of a triangle: the distance in multiples of the length of its direction, and
/// the barycentric weights of the second and third corners (Möller and Trumbore, "Fast, Minimum Storage
/// Ray/Triangle Intersection", 1997).
pub(in crate::solver) fn intersect_triangle(
    origin: Vec3,
    direction: Vec3,
    [a, b, c]: [Vec3; 3],
) -> [f32; 3] {
    let (ab, ac, from_a) = (b - a, c - a, origin - a);
    let across = direction.cross(ac);
    let turned = from_a.cross(ab);
    let determinant = ab.dot(across);
    [ac.dot(turned), from_a.dot(across), direction.dot(turned)].map(|n| n / determinant)
}

/// Returns the nearest triangle hit by a ray, from either side. `position` returns the position of each particle.
pub fn cast_on_triangles(
    origin: Vec3,
    direction: Vec3,
    triangles: impl IntoIterator<Item = [u32; 3]>,
    position: impl Fn(u32) -> Vec3,
) -> Option<RayHit> {
    let mut best: Option<RayHit> = None;
    for (index, corners) in (0..).zip(triangles) {
        let [a, b, c] = corners.map(&position);
        // Infinite or NaN for a ray parallel to the triangle.
        let [distance, u, v] = intersect_triangle(origin, direction, [a, b, c]);
        let nearest = best.map_or(f32::INFINITY, |hit| hit.distance);
        let inside = u >= -EDGE_TOLERANCE && v >= -EDGE_TOLERANCE && u + v <= 1.0 + EDGE_TOLERANCE;
        if inside && distance >= 0.0 && distance < nearest {
            let normal = (b - a).cross(c - a);
            best = Some(RayHit {
                distance,
                index,
                normal: if normal.dot(direction) > 0.0 {
                    -normal
                } else {
                    normal
                },
            });
        }
    }
    best
}

/// Returns the nearest segment within `radius` of a ray, m, with the distance along the ray of the closest point
/// (Ericson, "Real-Time Collision Detection", 2005, section 5.1.9).
pub fn cast_on_segments(
    origin: Vec3,
    direction: Vec3,
    segments: &[[u32; 2]],
    radius: f32,
    position: impl Fn(u32) -> Vec3,
) -> Option<RayHit> {
    let mut best: Option<RayHit> = None;
    let squared = direction.length_squared();
    for (index, ends) in (0..).zip(segments) {
        let [a, b] = ends.map(&position);
        let (segment, from_a) = (b - a, origin - a);
        let (length, mixed) = (segment.length_squared(), direction.dot(segment));
        let denominator = squared * length - mixed * mixed;
        // A parallel segment is equally near everywhere: take one end.
        let along_ray = if denominator > 0.0 {
            (mixed * segment.dot(from_a) - length * direction.dot(from_a)) / denominator
        } else {
            0.0
        };
        let along_segment = if length > 0.0 {
            ((along_ray * mixed + segment.dot(from_a)) / length).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let point = a + segment * along_segment;
        let distance = (point - origin).dot(direction) / squared;
        let offset = origin + direction * distance - point;
        let nearest = best.map_or(f32::INFINITY, |hit| hit.distance);
        if distance >= 0.0 && distance < nearest && offset.length_squared() <= radius * radius {
            best = Some(RayHit {
                distance,
                index,
                normal: offset,
            });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_ray_slips_between_triangles() {
        // A fan of six triangles around a vertex, hit near the vertex from many sides.
        let positions: Vec<Vec3> = std::iter::once(Vec3::new(0.013, 0.0, 0.007))
            .chain((0..6).map(|i| {
                let (sin, cos) = (i as f32 * std::f32::consts::FRAC_PI_3).sin_cos();
                Vec3::new(cos, 0.0, sin) * 0.1 + Vec3::Y * 0.001 * (i % 2) as f32
            }))
            .collect();
        let triangles: Vec<[u32; 3]> = (0..6).map(|i| [0, i + 1, (i + 1) % 6 + 1]).collect();
        for k in 0..2000 {
            let from = Vec3::new(
                (k % 40) as f32 * 0.05 - 1.0,
                3.0,
                (k / 40) as f32 * 0.04 - 1.0,
            );
            // At the vertex itself, and at points of the edges between two triangles.
            let at = positions[0].lerp(positions[1 + k % 6], (k % 7) as f32 * 0.1);
            let direction = (at - from).normalize();
            let hit = cast_on_triangles(from, direction, triangles.iter().copied(), |i| {
                positions[i as usize]
            });
            assert!(hit.is_some(), "ray {k} towards {at}");
        }
    }

    #[test]
    fn the_nearest_triangle_is_hit_from_both_sides() {
        let positions = [
            Vec3::ZERO,
            Vec3::X,
            Vec3::Z,
            Vec3::Y,
            Vec3::X + Vec3::Y,
            Vec3::Z + Vec3::Y,
        ];
        let triangles = [[0, 1, 2], [3, 4, 5]];
        let cast = |from: Vec3, direction: Vec3| {
            cast_on_triangles(from, direction, triangles, |i| positions[i as usize])
        };
        let inside = Vec3::new(0.2, 0.0, 0.3);
        let hit = cast(inside + Vec3::Y * 4.0, Vec3::NEG_Y).unwrap();
        assert_eq!((hit.index, hit.distance), (1, 3.0));
        assert!(hit.normal.y > 0.0);
        let hit = cast(inside - Vec3::Y * 2.0, Vec3::Y * 2.0).unwrap();
        assert_eq!((hit.index, hit.distance), (0, 1.0));
        assert!(hit.normal.y < 0.0);
        assert_eq!(cast(Vec3::new(0.9, 4.0, 0.9), Vec3::NEG_Y), None);
        assert_eq!(cast(inside + Vec3::Y * 4.0, Vec3::Y), None);
        assert_eq!(cast(inside, Vec3::X), None);
    }

    #[test]
    fn a_segment_is_hit_within_the_radius() {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y];
        let cast = |from: Vec3| {
            cast_on_segments(from, Vec3::NEG_Z, &[[0, 1], [1, 2]], 0.1, |i| {
                positions[i as usize]
            })
        };
        assert_eq!(cast(Vec3::new(0.5, 0.05, 3.0)).unwrap().index, 0);
        assert_eq!(cast(Vec3::new(1.05, 0.5, 3.0)).unwrap().index, 1);
        assert_eq!(cast(Vec3::new(0.5, 0.2, 3.0)), None);
        assert_eq!(cast(Vec3::new(0.5, 0.0, -3.0)), None);
    }
}
