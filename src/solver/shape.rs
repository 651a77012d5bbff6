//! Signed distances to the shapes that cloth can bump into, each in its own frame.

use bevy::{math::Vec3, reflect::Reflect};
#[cfg(feature = "serialize")]
use {
    bevy::reflect::{ReflectDeserialize, ReflectSerialize},
    serde::{Deserialize, Serialize},
};

/// A solid, in its own frame. Lengths in metres.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum Shape {
    /// A ball around the origin.
    Sphere {
        /// Its radius.
        radius: f32,
    },
    /// Everything at or below y = 0: a floor or, turned, a wall.
    HalfSpace,
    /// All points nearer than `radius` to the segment from −`half_length` to +`half_length` on the
    /// y axis.
    Capsule {
        /// Its radius.
        radius: f32,
        /// Half the distance between the centres of its two round ends.
        half_length: f32,
    },
    /// A box around the origin.
    Cuboid {
        /// Half of its width, height and depth.
        half_size: Vec3,
    },
    /// Two balls on the y axis and all that is between them: a limb. If one ball holds the other, it is
    /// all there is.
    TaperedCapsule {
        /// Radius of the ball at −`half_length`.
        radius_bottom: f32,
        /// Radius of the ball at +`half_length`.
        radius_top: f32,
        /// Half the distance between the centres of the balls.
        half_length: f32,
    },
    /// A cylinder around the y axis, its middle at the origin.
    Cylinder {
        /// Its radius.
        radius: f32,
        /// Half of its height.
        half_height: f32,
    },
    /// A cone around the y axis: its base at −`half_height`, its tip at +`half_height`.
    Cone {
        /// Radius of its base.
        radius: f32,
        /// Half of its height.
        half_height: f32,
    },
}

impl Shape {
    /// Distance from the surface to `point` (negative inside) and the unit direction in which it
    /// grows fastest. Where several directions are as good, as at the centre of a ball, it is one of
    /// them. Exact outside and inside, for all shapes.
    #[inline]
    pub fn distance(&self, point: Vec3) -> (f32, Vec3) {
        match *self {
            Self::Sphere { radius } => round(point, radius, Vec3::Y),
            Self::HalfSpace => (point.y, Vec3::Y),
            Self::Capsule {
                radius,
                half_length,
            } => {
                let on_axis = point.y.clamp(-half_length, half_length);
                round(point - Vec3::Y * on_axis, radius, Vec3::X)
            }
            Self::Cuboid { half_size } => cuboid(point, half_size),
            Self::TaperedCapsule {
                radius_bottom,
                radius_top,
                half_length,
            } => tapered(point, &Taper::new(radius_bottom, radius_top, half_length)),
            Self::Cylinder {
                radius,
                half_height,
            } => cylinder(point, radius, half_height),
            Self::Cone {
                radius,
                half_height,
            } => cone(point, &Slope::new(radius, half_height)),
        }
    }

    /// The lowest and the highest corner of a box around it. No point is nearer to its surface than
    /// to that box, nor farther inside.
    pub(super) fn bounds(&self) -> [Vec3; 2] {
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
                let half = (half_length + radius) * MORE;
                Vec3::new(radius, half, radius)
            }
            Self::Cuboid { half_size } => half_size,
            Self::TaperedCapsule {
                radius_bottom,
                radius_top,
                half_length,
            } => {
                let radius = radius_bottom.max(radius_top);
                Vec3::new(radius, half_length + radius, radius) * MORE
            }
            Self::Cylinder {
                radius,
                half_height,
            }
            | Self::Cone {
                radius,
                half_height,
            } => Vec3::new(radius, half_height, radius) * MORE,
        };
        [-high, high]
    }

    /// Numbers by which it is told from all others: its kind, and its lengths, m.
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

    /// Its greatest radius, m, if it is round all along its axis; else infinite.
    pub(super) fn round_radius(&self) -> f32 {
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

    /// Radius of the largest ball inside, m; infinite for a half-space.
    pub(super) fn inner_radius(&self) -> f32 {
        match *self {
            Self::Sphere { radius } | Self::Capsule { radius, .. } => radius,
            Self::HalfSpace => f32::INFINITY,
            Self::Cuboid { half_size } => half_size.min_element(),
            // That of its thinner end: it may be met there.
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
                let span = Slope::new(radius, half_height).span;
                2.0 * half_height * radius / (radius + span)
            }
        }
    }

    /// Whether every length is finite and above zero.
    pub fn is_valid(&self) -> bool {
        let good = |length: f32| length.is_finite() && length > 0.0;
        match *self {
            Self::Sphere { radius } => good(radius),
            Self::HalfSpace => true,
            // A capsule of no length is a sphere.
            Self::Capsule {
                radius,
                half_length,
            } => good(radius) && (good(half_length) || half_length == 0.0),
            Self::Cuboid { half_size } => half_size.to_array().into_iter().all(good),
            Self::TaperedCapsule {
                radius_bottom,
                radius_top,
                half_length,
            } => {
                good(radius_bottom) && good(radius_top) && (good(half_length) || half_length == 0.0)
            }
            Self::Cylinder {
                radius,
                half_height,
            }
            | Self::Cone {
                radius,
                half_height,
            } => good(radius) && good(half_height),
        }
    }
}

/// Bounds that sums and roots have been rounded for are a bit wider.
const MORE: f32 = 1.0 + 8.0 * f32::EPSILON;

/// Distance to a ball of this radius; its direction from the very centre is `otherwise`.
fn round(from_centre: Vec3, radius: f32, otherwise: Vec3) -> (f32, Vec3) {
    let length = from_centre.length();
    if length > 0.0 {
        (length - radius, from_centre / length)
    } else {
        (-radius, otherwise)
    }
}

fn cuboid(point: Vec3, half_size: Vec3) -> (f32, Vec3) {
    // Per axis: how far outside the slab between two opposite faces (negative: inside).
    let out = point.abs() - half_size;
    let side = Vec3::ONE.copysign(point);
    let corner = out.max(Vec3::ZERO);
    if corner != Vec3::ZERO {
        let length = corner.length();
        return (length, corner * side / length);
    }
    // Inside: the nearest face.
    let (distance, axis) = if out.y >= out.x && out.y >= out.z {
        (out.y, Vec3::Y)
    } else if out.x >= out.z {
        (out.x, Vec3::X)
    } else {
        (out.z, Vec3::Z)
    };
    (distance, axis * side)
}

/// How far a point is from the y axis, and the direction away from it.
fn around_axis(point: Vec3) -> (f32, Vec3) {
    let distance = (point.x * point.x + point.z * point.z).sqrt();
    if distance > 0.0 {
        let away = Vec3::new(point.x / distance, 0.0, point.z / distance);
        (distance, away)
    } else {
        (0.0, Vec3::X)
    }
}

/// What a tapered capsule is made of. Its side touches both balls; where it begins and ends, its normal
/// goes through their centres.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taper {
    /// Heights of the centres of the two balls, the lower one first.
    pub(super) centres: [f32; 2],
    /// Their radii.
    pub(super) radii: [f32; 2],
    /// What the normal of the side has away from the axis and along it.
    pub(super) normal: [f32; 2],
    /// Length of the side.
    pub(super) span: f32,
}

impl Taper {
    pub(super) fn new(radius_bottom: f32, radius_top: f32, half_length: f32) -> Self {
        let length = 2.0 * half_length;
        let difference = radius_bottom - radius_top;
        if difference.abs() >= length {
            // One ball holds the other.
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

fn tapered(point: Vec3, by: &Taper) -> (f32, Vec3) {
    let (out, away) = around_axis(point);
    let up = point.y - by.centres[0];
    // Along the side, from where it begins.
    let at = up * by.normal[0] - out * by.normal[1];
    let normal = away * by.normal[0] + Vec3::Y * by.normal[1];
    if at <= 0.0 {
        round(point - Vec3::Y * by.centres[0], by.radii[0], normal)
    } else if at >= by.span {
        round(point - Vec3::Y * by.centres[1], by.radii[1], normal)
    } else {
        let distance = out * by.normal[0] + up * by.normal[1] - by.radii[0];
        (distance, normal)
    }
}

fn cylinder(point: Vec3, radius: f32, half_height: f32) -> (f32, Vec3) {
    let (out, away) = around_axis(point);
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

/// What a cone is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slope {
    pub(super) radius: f32,
    pub(super) half_height: f32,
    /// What the normal of the side has away from the axis and along it. The way down the side has the
    /// same, the other way round, the second one negative.
    pub(super) normal: [f32; 2],
    /// Length of the side.
    pub(super) span: f32,
}

impl Slope {
    pub(super) fn new(radius: f32, half_height: f32) -> Self {
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

fn cone(point: Vec3, by: &Slope) -> (f32, Vec3) {
    let (out, away) = around_axis(point);
    let side_normal = away * by.normal[0] + Vec3::Y * by.normal[1];
    let (from_tip, above_base) = (point.y - by.half_height, point.y + by.half_height);
    let side = out * by.normal[0] + from_tip * by.normal[1];
    // Down the side, from the tip.
    let at = out * by.normal[1] - from_tip * by.normal[0];
    if side <= 0.0 && above_base >= 0.0 {
        // Inside: the nearer of side and base.
        if -above_base > side {
            (-above_base, Vec3::NEG_Y)
        } else {
            (side, side_normal)
        }
    } else if above_base < 0.0 && out <= by.radius {
        (-above_base, Vec3::NEG_Y)
    } else if at > 0.0 && at < by.span {
        (side, side_normal)
    } else {
        let [beside, over] = if at > 0.0 {
            [out - by.radius, above_base]
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
pub(super) mod tests {
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
        // The upper ball holds the lower one.
        Shape::TaperedCapsule {
            radius_bottom: 0.2,
            radius_top: 0.5,
            half_length: 0.1,
        },
        // A wheel.
        Shape::Cylinder {
            radius: 0.7,
            half_height: 0.1,
        },
    ];

    /// Points around all shapes and inside them, some of them on the axes.
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

    /// Where a point gets that goes back by the distance.
    fn on_surface(shape: &Shape, point: Vec3) -> Vec3 {
        let (distance, normal) = shape.distance(point);
        point - normal * distance
    }

    #[test]
    fn going_back_by_the_distance_ends_on_the_surface() {
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

    /// With the test above: the distance is that of the nearest point of the surface.
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
    fn insides_and_outsides_are_where_they_should_be() {
        let inside = |shape: Shape, x, y| shape.distance(Vec3::new(x, y, 0.0)).0 < 0.0;
        let limb = SHAPES[4];
        assert!(inside(limb, 0.38, -0.5) && !inside(limb, 0.38, 0.5) && inside(limb, 0.0, 0.64));
        // The side of a tapered capsule is straight: halfway it is as wide as the mean of its circles
        // would be, a little more than the mean radius.
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
    fn centres_have_a_way_out() {
        for shape in SHAPES {
            let (distance, normal) = shape.distance(Vec3::ZERO);
            assert!(distance <= 0.0 && normal.is_normalized(), "{shape:?}");
        }
    }

    #[test]
    fn bad_lengths_are_refused() {
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
