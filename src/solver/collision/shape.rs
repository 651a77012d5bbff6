//! Signed distance functions of the primitive collider shapes, each in its own frame.

use bevy::{math::Vec3, reflect::Reflect};
#[cfg(feature = "serialize")]
use {
    bevy::reflect::{ReflectDeserialize, ReflectSerialize},
    serde::{Deserialize, Serialize},
};

/// Primitive solid, in its own frame. Lengths are in metres.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum Shape {
    /// Sphere around the origin.
    Sphere {
        /// Radius.
        radius: f32,
    },
    /// Everything at or below y = 0: a floor or, rotated, a wall.
    HalfSpace,
    /// All points nearer than `radius` to the segment from −`half_length` to +`half_length` on the
    /// y axis.
    Capsule {
        /// Radius.
        radius: f32,
        /// Half the distance between the centres of the two round ends.
        half_length: f32,
    },
    /// Box around the origin.
    Cuboid {
        /// Half of the width, height and depth.
        half_size: Vec3,
    },
    /// Convex hull of two spheres on the y axis, such as a limb. If one sphere contains the other, the shape is
    /// that sphere.
    TaperedCapsule {
        /// Radius of the sphere at −`half_length`.
        radius_bottom: f32,
        /// Radius of the sphere at +`half_length`.
        radius_top: f32,
        /// Half the distance between the centres of the spheres.
        half_length: f32,
    },
    /// Cylinder around the y axis, centred at the origin.
    Cylinder {
        /// Radius.
        radius: f32,
        /// Half of the height.
        half_height: f32,
    },
    /// Cone around the y axis, with its base at −`half_height` and its tip at +`half_height`.
    Cone {
        /// Radius of the base.
        radius: f32,
        /// Half of the height.
        half_height: f32,
    },
}

impl Shape {
    /// Returns the signed distance of `point` from the surface, m (negative inside), and its unit gradient. Where
    /// the gradient is not unique, as at the centre of a sphere, it is one of the possible directions. Exact
    /// outside and inside, for all shapes.
    #[inline]
    pub fn distance(&self, point: Vec3) -> (f32, Vec3) {
        match *self {
            Self::Sphere { radius } => sphere(point, radius, Vec3::Y),
            Self::HalfSpace => (point.y, Vec3::Y),
            Self::Capsule {
                radius,
                half_length,
            } => {
                let on_axis = point.y.clamp(-half_length, half_length);
                sphere(point - Vec3::Y * on_axis, radius, Vec3::X)
            }
            Self::Cuboid { half_size } => cuboid(point, half_size),
            Self::TaperedCapsule {
                radius_bottom,
                radius_top,
                half_length,
            } => {
                let profile = TaperedCapsuleProfile::new(radius_bottom, radius_top, half_length);
                tapered_capsule(point, &profile)
            }
            Self::Cylinder {
                radius,
                half_height,
            } => cylinder(point, radius, half_height),
            Self::Cone {
                radius,
                half_height,
            } => cone(point, &ConeProfile::new(radius, half_height)),
        }
    }

    /// Returns the lowest and the highest corner of the bounding box. No point is nearer to the surface than to
    /// the box, nor deeper inside the shape than inside the box.
    pub(in crate::solver) fn bounds(&self) -> [Vec3; 2] {
        let high = match *self {
            Self::Sphere { radius } => Vec3::splat(radius),
            Self::HalfSpace => {
                let high = Vec3::new(f32::INFINITY, 0.0, f32::INFINITY);
                return [Vec3::NEG_INFINITY, high];
            }
            Self::Capsule {
                radius,
                half_length,
            } => {
                let half = (half_length + radius) * ROUNDING_FACTOR;
                Vec3::new(radius, half, radius)
            }
            Self::Cuboid { half_size } => half_size,
            Self::TaperedCapsule {
                radius_bottom,
                radius_top,
                half_length,
            } => {
                let radius = radius_bottom.max(radius_top);
                Vec3::new(radius, half_length + radius, radius) * ROUNDING_FACTOR
            }
            Self::Cylinder {
                radius,
                half_height,
            }
            | Self::Cone {
                radius,
                half_height,
            } => Vec3::new(radius, half_height, radius) * ROUNDING_FACTOR,
        };
        [-high, high]
    }

    /// Returns numbers that identify the shape: its kind, and its lengths, m.
    pub(crate) fn numbers(&self) -> (u32, [f32; 3]) {
        match *self {
            Self::Sphere { radius } => (0, [radius, 0.0, 0.0]),
            Self::HalfSpace => (1, [0.0; 3]),
            Self::Capsule {
                radius,
                half_length,
            } => (2, [radius, half_length, 0.0]),
            Self::Cuboid { half_size } => (3, half_size.to_array()),
            Self::TaperedCapsule {
                radius_bottom,
                radius_top,
                half_length,
            } => (4, [radius_bottom, radius_top, half_length]),
            Self::Cylinder {
                radius,
                half_height,
            } => (5, [radius, half_height, 0.0]),
            Self::Cone {
                radius,
                half_height,
            } => (6, [radius, half_height, 0.0]),
        }
    }

    /// Returns the largest radius of a sphere, capsule or tapered capsule, m; infinite for other shapes.
    pub(in crate::solver) fn round_radius(&self) -> f32 {
        match *self {
            Self::Sphere { radius } | Self::Capsule { radius, .. } => radius,
            Self::TaperedCapsule {
                radius_bottom,
                radius_top,
                ..
            } => radius_bottom.max(radius_top),
            _ => f32::INFINITY,
        }
    }

    /// Returns the radius of the largest inscribed sphere, m; infinite for a half-space. A tapered capsule returns
    /// the radius of its thinner end.
    pub(in crate::solver) fn inner_radius(&self) -> f32 {
        match *self {
            Self::Sphere { radius } | Self::Capsule { radius, .. } => radius,
            Self::HalfSpace => f32::INFINITY,
            Self::Cuboid { half_size } => half_size.min_element(),
            // The thinner end, since a particle may hit the capsule there.
            Self::TaperedCapsule {
                radius_bottom,
                radius_top,
                ..
            } => radius_bottom.min(radius_top),
            Self::Cylinder {
                radius,
                half_height,
            } => radius.min(half_height),
            Self::Cone {
                radius,
                half_height,
            } => {
                let span = ConeProfile::new(radius, half_height).span;
                2.0 * half_height * radius / (radius + span)
            }
        }
    }

    /// Returns whether every length is finite and above zero. A capsule may have length zero.
    pub fn is_valid(&self) -> bool {
        let positive = |length: f32| length.is_finite() && length > 0.0;
        match *self {
            Self::Sphere { radius } => positive(radius),
            Self::HalfSpace => true,
            // A capsule of length zero is a sphere.
            Self::Capsule {
                radius,
                half_length,
            } => positive(radius) && (positive(half_length) || half_length == 0.0),
            Self::Cuboid { half_size } => half_size.to_array().into_iter().all(positive),
            Self::TaperedCapsule {
                radius_bottom,
                radius_top,
                half_length,
            } => {
                positive(radius_bottom)
                    && positive(radius_top)
                    && (positive(half_length) || half_length == 0.0)
            }
            Self::Cylinder {
                radius,
                half_height,
            }
            | Self::Cone {
                radius,
                half_height,
            } => positive(radius) && positive(half_height),
        }
    }
}

/// Factor that widens bounds to cover the rounding of sums and roots.
const ROUNDING_FACTOR: f32 = 1.0 + 8.0 * f32::EPSILON;

/// Returns distance and gradient of a sphere; at its exact centre the gradient is `otherwise`.
fn sphere(from_centre: Vec3, radius: f32, otherwise: Vec3) -> (f32, Vec3) {
    let length = from_centre.length();
    if length > 0.0 {
        (length - radius, from_centre / length)
    } else {
        (-radius, otherwise)
    }
}

fn cuboid(point: Vec3, half_size: Vec3) -> (f32, Vec3) {
    // Per axis: distance outside the slab between two opposite faces (negative: inside).
    let out = point.abs() - half_size;
    let side = Vec3::ONE.copysign(point);
    let corner = out.max(Vec3::ZERO);
    if corner != Vec3::ZERO {
        let length = corner.length();
        return (length, corner * side / length);
    }
    // Inside: distance to the nearest face.
    let (distance, axis) = if out.y >= out.x && out.y >= out.z {
        (out.y, Vec3::Y)
    } else if out.x >= out.z {
        (out.x, Vec3::X)
    } else {
        (out.z, Vec3::Z)
    };
    (distance, axis * side)
}

/// Returns the distance of a point from the y axis, and the unit direction away from the axis.
fn from_y_axis(point: Vec3) -> (f32, Vec3) {
    let distance = (point.x * point.x + point.z * point.z).sqrt();
    if distance > 0.0 {
        let away = Vec3::new(point.x / distance, 0.0, point.z / distance);
        (distance, away)
    } else {
        (0.0, Vec3::X)
    }
}

/// Profile of a tapered capsule. Its side is tangent to both spheres; at either end of the side, the normal
/// passes through the centre of the sphere.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct TaperedCapsuleProfile {
    /// Heights of the centres of the two spheres, the lower one first, m.
    pub(in crate::solver) centres: [f32; 2],
    /// Radii of the two spheres, m.
    pub(in crate::solver) radii: [f32; 2],
    /// Radial and axial component of the normal of the side.
    pub(in crate::solver) normal: [f32; 2],
    /// Length of the side, m.
    pub(in crate::solver) span: f32,
}

impl TaperedCapsuleProfile {
    pub(in crate::solver) fn new(radius_bottom: f32, radius_top: f32, half_length: f32) -> Self {
        let length = 2.0 * half_length;
        let difference = radius_bottom - radius_top;
        if difference.abs() >= length {
            // One sphere contains the other.
            let (centre, radius) = if difference > 0.0 {
                (-half_length, radius_bottom)
            } else {
                (half_length, radius_top)
            };
            return Self {
                centres: [centre; 2],
                radii: [radius; 2],
                normal: [1.0, 0.0],
                span: 0.0,
            };
        }
        let along = difference / length;
        let away = (1.0 - along * along).sqrt();
        Self {
            centres: [-half_length, half_length],
            radii: [radius_bottom, radius_top],
            normal: [away, along],
            span: away * length,
        }
    }
}

fn tapered_capsule(point: Vec3, profile: &TaperedCapsuleProfile) -> (f32, Vec3) {
    let (out, away) = from_y_axis(point);
    let up = point.y - profile.centres[0];
    // Coordinate along the side, from its lower end.
    let at = up * profile.normal[0] - out * profile.normal[1];
    let normal = away * profile.normal[0] + Vec3::Y * profile.normal[1];
    if at <= 0.0 {
        sphere(
            point - Vec3::Y * profile.centres[0],
            profile.radii[0],
            normal,
        )
    } else if at >= profile.span {
        sphere(
            point - Vec3::Y * profile.centres[1],
            profile.radii[1],
            normal,
        )
    } else {
        let distance = out * profile.normal[0] + up * profile.normal[1] - profile.radii[0];
        (distance, normal)
    }
}

fn cylinder(point: Vec3, radius: f32, half_height: f32) -> (f32, Vec3) {
    let (out, away) = from_y_axis(point);
    let up = Vec3::Y * 1.0_f32.copysign(point.y);
    let (side, end) = (out - radius, point.y.abs() - half_height);
    let rim = (side * side + end * end).sqrt();
    if side > 0.0 && end > 0.0 && rim > 0.0 {
        (rim, (away * side + up * end) / rim)
    } else if side > end {
        (side, away)
    } else {
        (end, up)
    }
}

/// Profile of a cone.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct ConeProfile {
    pub(in crate::solver) radius: f32,
    pub(in crate::solver) half_height: f32,
    /// Radial and axial component (r, a) of the normal of the side. The direction down the side is (a, −r).
    pub(in crate::solver) normal: [f32; 2],
    /// Length of the side, m.
    pub(in crate::solver) span: f32,
}

impl ConeProfile {
    pub(in crate::solver) fn new(radius: f32, half_height: f32) -> Self {
        let height = 2.0 * half_height;
        let span = (radius * radius + height * height).sqrt();
        Self {
            radius,
            half_height,
            normal: [height / span, radius / span],
            span,
        }
    }
}

fn cone(point: Vec3, profile: &ConeProfile) -> (f32, Vec3) {
    let (out, away) = from_y_axis(point);
    let side_normal = away * profile.normal[0] + Vec3::Y * profile.normal[1];
    let (from_tip, above_base) = (point.y - profile.half_height, point.y + profile.half_height);
    let side = out * profile.normal[0] + from_tip * profile.normal[1];
    // Coordinate along the side, down from the tip.
    let at = out * profile.normal[1] - from_tip * profile.normal[0];
    if side <= 0.0 && above_base >= 0.0 {
        // Inside: distance to the nearer of side and base.
        if -above_base > side {
            (-above_base, Vec3::NEG_Y)
        } else {
            (side, side_normal)
        }
    } else if above_base < 0.0 && out <= profile.radius {
        (-above_base, Vec3::NEG_Y)
    } else if at > 0.0 && at < profile.span {
        (side, side_normal)
    } else {
        let [beside, over] = if at > 0.0 {
            [out - profile.radius, above_base]
        } else {
            [out, from_tip]
        };
        let length = (beside * beside + over * over).sqrt();
        if length > 0.0 {
            (length, (away * beside + Vec3::Y * over) / length)
        } else {
            (0.0, side_normal)
        }
    }
}

#[cfg(test)]
pub(in crate::solver) mod tests {
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
}
