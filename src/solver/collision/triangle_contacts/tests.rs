use super::*;
use crate::solver::{Friction, Pose, Shape, math::noise::noise_point as point};

#[test]
fn no_pair_of_points_is_closer_than_the_closest_points() {
    for i in 0..300 {
        let triangle = [point(i, 1), point(i, 4), point(i, 7)];
        let from = point(i, 10);
        // Every third segment is a point.
        let to = if i % 3 == 0 { from } else { point(i, 13) };
        let (t, weights) = closest_points(&triangle, [from, to]);
        let sum: f32 = weights.iter().sum();
        assert!((sum - 1.0).abs() < 1e-4 && weights.iter().all(|&w| w > -1e-4));
        let found = interpolate(&triangle, weights).distance(from.lerp(to, t));
        for k in 0..=20 {
            let on_axis = from.lerp(to, k as f32 / 20.0);
            for b in 0..=20 {
                for c in 0..=20 - b {
                    let (b, c) = (b as f32 / 20.0, c as f32 / 20.0);
                    let other = interpolate(&triangle, [1.0 - b - c, b, c]).distance(on_axis);
                    assert!(found <= other + 1e-4, "{i}: {found}, but {other}");
                }
            }
        }
    }
}

#[test]
fn crossings_are_found_from_both_sides() {
    let flat = [Vec3::ZERO, Vec3::X, Vec3::Z];
    let triangle = |before, now| MovingTriangle {
        corners: [0, 1, 2],
        before,
        now,
    };
    let still = triangle(flat, flat);
    let above = Vec3::new(0.25, 0.5, 0.25);
    let (weights, ahead, beyond) = still.crossing([above, above - Vec3::Y * 2.0]).unwrap();
    assert!((Vec3::from(weights) - Vec3::new(0.5, 0.25, 0.25)).length() < 1e-3);
    assert!((ahead - Vec3::NEG_Y).length() < 1e-6 && (beyond - 1.5).abs() < 1e-6);
    // From below, beside the triangle, and not through.
    let below = above - Vec3::Y;
    let (_, ahead, _) = still.crossing([below, above]).unwrap();
    assert!((ahead - Vec3::Y).length() < 1e-6);
    assert!(still.crossing([below + Vec3::X, above + Vec3::X]).is_none());
    assert!(still.crossing([above, above * 0.5]).is_none());
    // The triangle may move instead of the point.
    let rising = triangle(flat, flat.map(|corner| corner + Vec3::Y));
    assert!(rising.crossing([above, above]).is_some());
}

#[test]
fn only_small_round_colliders_need_triangle_contacts() {
    let positions: SoaVec3 = [Vec3::ZERO, Vec3::X, Vec3::Z].into_iter().collect();
    let triangles = Triangles::new(vec![[0, 1, 2]], &positions);
    let collider = |shape| Collider::fixed(shape, Pose::ORIGIN, Friction::default());
    let ball = |radius| collider(Shape::Sphere { radius });
    let half_size = Vec3::splat(0.1);
    let hollow = Collider {
        hollow: true,
        ..ball(0.1)
    };
    let particles = ParticleArrays::new(Vec3::ZERO, positions, vec![1.0; 3]);
    let mut triangle_contacts = TriangleContacts::default();
    for (collider, thickness, expected) in [
        (ball(0.1), 0.01, true),
        // The longest edge is √2.
        (ball(1.4), 0.01, true),
        (ball(1.4), 0.02, false),
        (collider(Shape::Cuboid { half_size }), 0.0, false),
        (hollow, 0.0, false),
    ] {
        triangle_contacts.prepare(&particles, &triangles, &[collider], thickness);
        assert_eq!(triangle_contacts.are_ready(), expected, "{collider:?}");
    }
}

#[test]
fn only_near_cones_have_tips() {
    let positions: SoaVec3 = [Vec3::ZERO, Vec3::X, Vec3::Z].into_iter().collect();
    let triangles = Triangles::new(vec![[0, 1, 2]], &positions);
    let origin = Vec3::new(100.0, 0.0, 0.0);
    let particles = ParticleArrays::new(origin, positions, vec![1.0; 3]);
    let cone = Shape::Cone {
        radius: 0.3,
        half_height: 0.4,
    };
    let cuboid = Shape::Cuboid {
        half_size: Vec3::splat(0.4),
    };
    // The box around the cone extends by 0.583 m in each direction.
    let cases = [
        (cone, Vec3::ZERO, true),
        (cone, Vec3::NEG_Y * 0.59, true),
        (cone, Vec3::NEG_Y * 0.6, false),
        (cone, -origin, false),
        (cuboid, Vec3::ZERO, false),
    ];
    for (shape, at, expected) in cases {
        let pose = Pose {
            translation: origin + at,
            ..Pose::ORIGIN
        };
        let collider = Collider::fixed(shape, pose, Friction::default());
        let mut contacts = TriangleContacts::default();
        contacts.prepare(&particles, &triangles, &[collider], 0.01);
        assert_eq!(contacts.is_near_tip(), expected, "{shape:?} at {at}");
    }
}
