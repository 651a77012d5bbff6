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
}

impl Shape {
    /// Distance from the surface to `point` (negative inside) and the unit direction in which it
    /// grows fastest. At the very centre, where all directions are as good, it is +Y.
    #[inline]
    pub fn distance(&self, point: Vec3) -> (f32, Vec3) {
        match *self {
            Self::Sphere { radius } => round(point, radius),
            Self::HalfSpace => (point.y, Vec3::Y),
            Self::Capsule {
                radius,
                half_length,
            } => {
                let on_axis = point.y.clamp(-half_length, half_length);
                round(point - Vec3::Y * on_axis, radius)
            }
            Self::Cuboid { half_size } => cuboid(point, half_size),
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
                // The sum is rounded, so a bit more.
                let half = (half_length + radius) * (1.0 + 8.0 * f32::EPSILON);
                Vec3::new(radius, half, radius)
            }
            Self::Cuboid { half_size } => half_size,
        };
        [-high, high]
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
        }
    }
}

/// Distance to a ball of this radius.
fn round(from_centre: Vec3, radius: f32) -> (f32, Vec3) {
    let length = from_centre.length();
    if length > 0.0 {
        (length - radius, from_centre / length)
    } else {
        (-radius, Vec3::Y)
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

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [Shape; 4] = [
        Shape::Sphere { radius: 0.7 },
        Shape::HalfSpace,
        Shape::Capsule {
            radius: 0.3,
            half_length: 0.5,
        },
        Shape::Cuboid {
            half_size: Vec3::new(0.4, 0.6, 0.8),
        },
    ];

    #[test]
    fn going_back_by_the_distance_ends_on_the_surface() {
        for shape in SHAPES {
            for i in 0..1000 {
                let point = Vec3::new(
                    (i % 10) as f32 * 0.31 - 1.37,
                    (i / 10 % 10) as f32 * 0.29 - 1.29,
                    (i / 100) as f32 * 0.33 - 1.51,
                );
                let (distance, normal) = shape.distance(point);
                assert!((normal.length() - 1.0).abs() < 1e-5);
                let (left, _) = shape.distance(point - normal * distance);
                assert!(
                    left.abs() < 1e-5,
                    "{shape:?}, {point}: {left} m off the surface"
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
        }
        assert!(SHAPES.iter().all(Shape::is_valid));
    }
}
