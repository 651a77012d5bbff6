//! What a ray meets: a triangle of a cloth, or a line of a rope.

use bevy::math::Vec3;

/// Where a ray meets a cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// How far along the ray, in units of its direction.
    pub distance: f32,
    /// Number of the triangle, or of the segment of a rope.
    pub part: u32,
    /// Normal of the triangle, towards the origin of the ray; not of unit length. For a rope from its
    /// middle to the ray.
    pub normal: Vec3,
}

/// So far beyond its sides a triangle is met too, as a share of its size: rays through a common side or
/// corner of several must not slip between them by rounding.
const RIM: f32 = 1e-5;

/// The nearest triangle that a ray meets from either side (Möller and Trumbore, "Fast, Minimum Storage
/// Ray/Triangle Intersection", 1997). `place` says where each particle is.
pub fn cast_on_triangles(
    origin: Vec3,
    direction: Vec3,
    triangles: impl IntoIterator<Item = [u32; 3]>,
    place: impl Fn(u32) -> Vec3,
) -> Option<RayHit> {
    let mut best: Option<RayHit> = None;
    for (part, corners) in (0..).zip(triangles) {
        let [a, b, c] = corners.map(&place);
        let (ab, ac) = (b - a, c - a);
        let across = direction.cross(ac);
        let determinant = ab.dot(across);
        if determinant == 0.0 {
            continue;
        }
        let from_a = origin - a;
        let u = from_a.dot(across) / determinant;
        let turned = from_a.cross(ab);
        let v = direction.dot(turned) / determinant;
        let distance = ac.dot(turned) / determinant;
        let nearest = best.map_or(f32::INFINITY, |hit| hit.distance);
        let inside = u >= -RIM && v >= -RIM && u + v <= 1.0 + RIM;
        if inside && distance >= 0.0 && distance < nearest {
            let normal = ab.cross(ac);
            best = Some(RayHit {
                distance,
                part,
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

/// The nearest line that a ray comes within `radius` of, with the distance along the ray at which it is
/// nearest (Ericson, "Real-Time Collision Detection", 2005, section 5.1.9).
pub fn cast_on_lines(
    origin: Vec3,
    direction: Vec3,
    lines: &[[u32; 2]],
    radius: f32,
    place: impl Fn(u32) -> Vec3,
) -> Option<RayHit> {
    let mut best: Option<RayHit> = None;
    let squared = direction.length_squared();
    for (part, ends) in (0..).zip(lines) {
        let [a, b] = ends.map(&place);
        let (line, from_a) = (b - a, origin - a);
        let (length, mixed) = (line.length_squared(), direction.dot(line));
        let denominator = squared * length - mixed * mixed;
        // Parallel ones are as near at one end as anywhere.
        let along_ray = if denominator > 0.0 {
            (mixed * line.dot(from_a) - length * direction.dot(from_a)) / denominator
        } else {
            0.0
        };
        let share = if length > 0.0 {
            ((along_ray * mixed + line.dot(from_a)) / length).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let point = a + line * share;
        let distance = (point - origin).dot(direction) / squared;
        let way = origin + direction * distance - point;
        let nearest = best.map_or(f32::INFINITY, |hit| hit.distance);
        if distance >= 0.0 && distance < nearest && way.length_squared() <= radius * radius {
            best = Some(RayHit {
                distance,
                part,
                normal: way,
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
        // A fan of six around a point, hit near that point from many sides.
        let places: Vec<Vec3> = std::iter::once(Vec3::new(0.013, 0.0, 0.007))
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
            // Straight at the point, and at points of the sides between two triangles.
            let at = places[0].lerp(places[1 + k % 6], (k % 7) as f32 * 0.1);
            let way = (at - from).normalize();
            let hit =
                cast_on_triangles(from, way, triangles.iter().copied(), |i| places[i as usize]);
            assert!(hit.is_some(), "ray {k} towards {at}");
        }
    }

    #[test]
    fn the_nearest_triangle_is_met_from_both_sides() {
        let places = [
            Vec3::ZERO,
            Vec3::X,
            Vec3::Z,
            Vec3::Y,
            Vec3::X + Vec3::Y,
            Vec3::Z + Vec3::Y,
        ];
        let triangles = [[0, 1, 2], [3, 4, 5]];
        let cast =
            |from: Vec3, way: Vec3| cast_on_triangles(from, way, triangles, |i| places[i as usize]);
        let inside = Vec3::new(0.2, 0.0, 0.3);
        let hit = cast(inside + Vec3::Y * 4.0, Vec3::NEG_Y).unwrap();
        assert_eq!((hit.part, hit.distance), (1, 3.0));
        assert!(hit.normal.y > 0.0);
        let hit = cast(inside - Vec3::Y * 2.0, Vec3::Y * 2.0).unwrap();
        assert_eq!((hit.part, hit.distance), (0, 1.0));
        assert!(hit.normal.y < 0.0);
        assert_eq!(cast(Vec3::new(0.9, 4.0, 0.9), Vec3::NEG_Y), None);
        assert_eq!(cast(inside + Vec3::Y * 4.0, Vec3::Y), None);
        assert_eq!(cast(inside, Vec3::X), None);
    }

    #[test]
    fn a_line_is_met_within_its_radius() {
        let places = [Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y];
        let cast = |from: Vec3| {
            cast_on_lines(from, Vec3::NEG_Z, &[[0, 1], [1, 2]], 0.1, |i| {
                places[i as usize]
            })
        };
        assert_eq!(cast(Vec3::new(0.5, 0.05, 3.0)).unwrap().part, 0);
        assert_eq!(cast(Vec3::new(1.05, 0.5, 3.0)).unwrap().part, 1);
        assert_eq!(cast(Vec3::new(0.5, 0.2, 3.0)), None);
        assert_eq!(cast(Vec3::new(0.5, 0.0, -3.0)), None);
    }
}
