use super::*;

pub(in crate::solver) const SHAPES: [Shape; 9] = [
    Shape::Sphere { radius: 0.7 },
    Shape::HalfSpace,
    Shape::Capsule {
        radius: 0.3,
        half_length: 0.5,
    },
    Shape::Cuboid {
        half_size: Vec3::new(0.4, 0.6, 0.8),
    },
    Shape::TaperedCapsule {
        radius_bottom: 0.4,
        radius_top: 0.15,
        half_length: 0.5,
    },
    Shape::Cylinder {
        radius: 0.4,
        half_height: 0.6,
    },
    Shape::Cone {
        radius: 0.6,
        half_height: 0.5,
    },
    // The upper sphere contains the lower one.
    Shape::TaperedCapsule {
        radius_bottom: 0.2,
        radius_top: 0.5,
        half_length: 0.1,
    },
    // Disc.
    Shape::Cylinder {
        radius: 0.7,
        half_height: 0.1,
    },
];

/// Returns points around and inside all shapes, some of them on the axes.
fn points() -> impl Iterator<Item = Vec3> {
    (0..1000)
        .map(|i| {
            Vec3::new(
                (i % 10) as f32 * 0.31 - 1.37,
                (i / 10 % 10) as f32 * 0.29 - 1.29,
                (i / 100) as f32 * 0.33 - 1.51,
            )
        })
        .chain((0..40).flat_map(|i| Vec3::AXES.map(|axis| axis * (0.07 * i as f32 - 1.4))))
}

/// Moves a point by its distance against the gradient, onto the surface.
fn on_surface(shape: &Shape, point: Vec3) -> Vec3 {
    let (distance, normal) = shape.distance(point);
    point - normal * distance
}

#[test]
fn moving_against_the_gradient_by_the_distance_ends_on_the_surface() {
    for shape in SHAPES {
        for point in points() {
            let (_, normal) = shape.distance(point);
            assert!((normal.length() - 1.0).abs() < 1e-5);
            let (left, _) = shape.distance(on_surface(&shape, point));
            assert!(
                left.abs() < 1e-5,
                "{shape:?}, {point}: {left} m off the surface"
            );
        }
    }
}

/// With the test above this proves that the distance is that of the nearest surface point.
#[test]
fn no_point_of_the_surface_is_nearer_than_the_distance() {
    for shape in SHAPES {
        let surface: Vec<Vec3> = points().map(|point| on_surface(&shape, point)).collect();
        for point in points() {
            let (distance, _) = shape.distance(point);
            let least = surface.iter().map(|s| s.distance(point));
            let least = least.fold(f32::INFINITY, f32::min);
            assert!(
                distance.abs() < least + 1e-5,
                "{shape:?}, {point}: {distance} m, but {least} m to a point of the surface"
            );
        }
    }
}

#[test]
fn inside_and_outside_are_told_apart() {
    let inside = |shape: Shape, x, y| shape.distance(Vec3::new(x, y, 0.0)).0 < 0.0;
    let limb = SHAPES[4];
    assert!(inside(limb, 0.38, -0.5) && !inside(limb, 0.38, 0.5) && inside(limb, 0.0, 0.64));
    // The side of a tapered capsule is straight: halfway its radius is slightly above the mean of both radii.
    assert!(inside(limb, 0.28, 0.0) && !inside(limb, 0.29, 0.0));
    let can = SHAPES[5];
    assert!(inside(can, 0.39, 0.59) && !inside(can, 0.41, 0.0) && !inside(can, 0.0, 0.61));
    let cone = SHAPES[6];
    assert!(inside(cone, 0.29, 0.0) && !inside(cone, 0.31, 0.0));
    assert!(inside(cone, 0.0, 0.49) && !inside(cone, 0.0, -0.51) && inside(cone, 0.55, -0.49));
}

#[test]
fn no_point_is_nearer_to_the_surface_than_to_the_bounds() {
    for shape in SHAPES {
        let [low, high] = shape.bounds();
        for point in points() {
            let out = (low - point).max(point - high).max(Vec3::ZERO);
            let (distance, _) = shape.distance(point);
            assert!(
                out.length() <= distance.max(0.0) + 1e-6,
                "{shape:?}, {point}"
            );
        }
    }
}

#[test]
fn the_gradient_at_the_centre_is_a_unit_vector() {
    for shape in SHAPES {
        let (distance, normal) = shape.distance(Vec3::ZERO);
        assert!(distance <= 0.0 && normal.is_normalized(), "{shape:?}");
    }
}

#[test]
fn invalid_lengths_are_refused() {
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(!Shape::Sphere { radius: bad }.is_valid());
        let half_size = Vec3::new(1.0, 1.0, bad);
        assert!(!Shape::Cuboid { half_size }.is_valid());
        for [a, b] in [[1.0, bad], [bad, 1.0]] {
            let (radius, half_height) = (a, b);
            assert!(
                !Shape::Cylinder {
                    radius,
                    half_height
                }
                .is_valid()
            );
            assert!(
                !Shape::Cone {
                    radius,
                    half_height
                }
                .is_valid()
            );
            let limb = Shape::TaperedCapsule {
                radius_bottom: a,
                radius_top: b,
                half_length: 1.0,
            };
            assert!(!limb.is_valid());
        }
    }
    assert!(SHAPES.iter().all(Shape::is_valid));
}
