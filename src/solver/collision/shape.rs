//! Primitive collider shapes, each in its own frame; their signed distance functions are in `distance`.

pub(in crate::solver) mod distance;

use self::distance::{
    ConeProfile, TaperedCapsuleProfile, capsule, cone, cuboid, cylinder, sphere, tapered_capsule,
};
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
            } => capsule(point, radius, half_length),
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

    /// Returns whether the shape has edges that cloth can lie around.
    pub(in crate::solver) fn has_edges(self) -> bool {
        matches!(self, Self::Cuboid { .. } | Self::Cylinder { .. })
    }

    /// Returns whether the shape has a tip.
    pub(in crate::solver) fn has_tip(self) -> bool {
        matches!(self, Self::Cone { .. })
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

#[cfg(test)]
pub(in crate::solver) mod tests;
