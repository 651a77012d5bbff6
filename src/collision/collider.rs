//! [`ClothCollider`]: primitive shapes with which cloth collides.

use crate::{
    cloth::transforms::TransformHistory,
    solver::{Friction, Pose, Shape},
};
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Pose of a collider in the last fixed update, from which the next one computes its motion. Required by
/// [`ClothCollider`] and `ClothMeshCollider`.
///
/// Only a rollback needs to write it: saved and restored together with the `Transform`, it makes the next step
/// move the collider as it did the first time. `None` in a collider that has just appeared: its first step has no
/// motion and drags no cloth along. Not cloned with its entity.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq, Deref, DerefMut)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[component(clone_behavior = Ignore)]
pub struct LastPose(pub Option<Isometry3d>);

impl LastPose {
    /// Records the pose of a collider; none if it is left out of the step.
    pub(crate) fn of(pose: Option<Pose>) -> Self {
        Self(pose.map(|pose| Isometry3d::new(pose.translation, pose.rotation)))
    }

    /// Returns the pose from which a collider moves to `end` in this step: `end` without a valid last one.
    pub(super) fn start(&self, end: Pose) -> Pose {
        let last = self.map(|last| Pose {
            rotation: last.rotation,
            translation: last.translation.into(),
        });
        last.filter(Pose::is_valid).unwrap_or(end)
    }
}

/// Forgets the last pose with the collider, so that a collider added again later has no motion in its first step.
pub(crate) fn forget_last_pose(
    event: On<Remove, ClothCollider>,
    #[cfg(feature = "parry")] meshes: Query<(), With<crate::collision::ClothMeshCollider>>,
    mut commands: Commands,
) {
    // A mesh collider on the same entity still needs it.
    #[cfg(feature = "parry")]
    if meshes.contains(event.entity) {
        return;
    }
    // The entity itself may be despawning.
    if let Ok(mut entity) = commands.get_entity(event.entity) {
        entity.try_remove::<LastPose>();
    }
}

/// Solid primitive with which all cloths collide, at the [`Transform`] of its entity. A moving collider drags
/// cloth along by friction.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn spawn(mut commands: Commands) {
/// commands.spawn((ClothCollider::sphere(0.5), Transform::from_xyz(0.0, 1.0, 0.0)));
/// commands.spawn(ClothCollider::half_space()); // floor
/// commands.spawn(ClothCollider::from(Capsule3d::new(0.3, 1.0)).with_friction(0.8, 0.6));
/// commands.spawn(ClothCollider::cuboid(1.0, 1.0, 1.0).hollow()); // container
/// # }
/// ```
///
/// The scale of the transform scales the shape: boxes along each axis, spheres by the largest of the three
/// factors, capsules, cylinders and cones by y along their axis and by the larger of x and z across it. A collider
/// with a length that is not finite or not above 0 is left out, with an error in the log.
///
/// A [`hollow`](Self::hollow) collider is inverted: a container that keeps cloth inside. [`ClothLayers`] on the
/// same entity select the cloths that collide with it.
///
/// [`ClothLayers`]: crate::collision::ClothLayers
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[require(Transform, LastPose, TransformHistory)]
pub struct ClothCollider {
    /// Shape in the local space of the entity. Default a sphere of 0.5 m.
    pub shape: Shape,
    /// Static friction coefficient, combined with the fabric's as the geometric mean. Negative values and NaN
    /// count as 0. Default 0.5.
    pub static_friction: f32,
    /// Kinetic friction coefficient, combined in the same way. Default 0.4.
    pub kinetic_friction: f32,
    /// Inverts the collider into a container: cloth is kept inside the shape (of a half-space, below it) instead
    /// of outside, and cloth that starts outside is pulled in. Default `false`.
    pub hollow: bool,
}

impl Default for ClothCollider {
    fn default() -> Self {
        Self::sphere(0.5)
    }
}

impl From<Shape> for ClothCollider {
    fn from(shape: Shape) -> Self {
        Self {
            shape,
            static_friction: 0.5,
            kinetic_friction: 0.4,
            hollow: false,
        }
    }
}

impl From<Sphere> for ClothCollider {
    fn from(sphere: Sphere) -> Self {
        Self::sphere(sphere.radius)
    }
}

impl From<Capsule3d> for ClothCollider {
    fn from(capsule: Capsule3d) -> Self {
        Self::capsule(capsule.radius, capsule.half_length * 2.0)
    }
}

impl From<Cuboid> for ClothCollider {
    fn from(cuboid: Cuboid) -> Self {
        Shape::Cuboid {
            half_size: cuboid.half_size,
        }
        .into()
    }
}

impl From<Cylinder> for ClothCollider {
    fn from(cylinder: Cylinder) -> Self {
        Self::cylinder(cylinder.radius, cylinder.half_height * 2.0)
    }
}

impl From<Cone> for ClothCollider {
    fn from(cone: Cone) -> Self {
        Self::cone(cone.radius, cone.height)
    }
}

impl ClothCollider {
    /// Creates a ball. `radius` in m.
    pub fn sphere(radius: f32) -> Self {
        Shape::Sphere { radius }.into()
    }

    /// Creates the half-space below the local xz plane: a floor or, rotated, a wall.
    pub fn half_space() -> Self {
        Shape::HalfSpace.into()
    }

    /// Creates a capsule along the local y axis. `length` of its cylindrical part; both in m.
    pub fn capsule(radius: f32, length: f32) -> Self {
        Shape::Capsule {
            radius,
            half_length: length / 2.0,
        }
        .into()
    }

    /// Creates a box. Full lengths along the local axes, m.
    pub fn cuboid(x: f32, y: f32, z: f32) -> Self {
        Cuboid::new(x, y, z).into()
    }

    /// Creates the convex hull of two balls along the local y axis, such as a limb. `length` between the centres
    /// of the balls; all in m.
    pub fn tapered_capsule(radius_bottom: f32, radius_top: f32, length: f32) -> Self {
        Shape::TaperedCapsule {
            radius_bottom,
            radius_top,
            half_length: length / 2.0,
        }
        .into()
    }

    /// Creates a cylinder around the local y axis, centred on the origin. Both in m.
    pub fn cylinder(radius: f32, height: f32) -> Self {
        Shape::Cylinder {
            radius,
            half_height: height / 2.0,
        }
        .into()
    }

    /// Creates a cone around the local y axis, with its apex half of its height above the origin. Both in m.
    pub fn cone(radius: f32, height: f32) -> Self {
        Shape::Cone {
            radius,
            half_height: height / 2.0,
        }
        .into()
    }

    /// Returns the collider inverted: a container that keeps cloth inside.
    pub fn hollow(self) -> Self {
        Self {
            hollow: true,
            ..self
        }
    }

    /// Returns the collider with these friction coefficients.
    pub fn with_friction(self, static_friction: f32, kinetic_friction: f32) -> Self {
        Self {
            static_friction,
            kinetic_friction,
            ..self
        }
    }

    /// Returns the friction for the solver; negative values and NaN become 0.
    pub(crate) fn friction(&self) -> Friction {
        // `f32::max` returns the other operand if one is NaN.
        let sanitize = |coefficient: f32| coefficient.max(0.0).clamp(0.0, f32::MAX);
        Friction {
            static_coefficient: sanitize(self.static_friction),
            kinetic_coefficient: sanitize(self.kinetic_friction),
        }
    }

    /// Returns the shape under the scale of a transform.
    pub(crate) fn scaled_shape(&self, scale: Vec3) -> Shape {
        let scale = scale.abs();
        let across = scale.x.max(scale.z);
        match self.shape {
            Shape::Sphere { radius } => Shape::Sphere {
                radius: radius * scale.max_element(),
            },
            Shape::HalfSpace => Shape::HalfSpace,
            Shape::Capsule {
                radius,
                half_length,
            } => Shape::Capsule {
                radius: radius * across,
                half_length: half_length * scale.y,
            },
            Shape::Cuboid { half_size } => Shape::Cuboid {
                half_size: half_size * scale,
            },
            Shape::TaperedCapsule {
                radius_bottom,
                radius_top,
                half_length,
            } => Shape::TaperedCapsule {
                radius_bottom: radius_bottom * across,
                radius_top: radius_top * across,
                half_length: half_length * scale.y,
            },
            Shape::Cylinder {
                radius,
                half_height,
            } => Shape::Cylinder {
                radius: radius * across,
                half_height: half_height * scale.y,
            },
            Shape::Cone {
                radius,
                half_height,
            } => Shape::Cone {
                radius: radius * across,
                half_height: half_height * scale.y,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_last_pose_is_no_motion() {
        let end = Pose {
            rotation: Quat::IDENTITY,
            translation: Vec3::X,
        };
        let start = |rotation, translation| {
            LastPose(Some(Isometry3d::new(translation, rotation))).start(end)
        };
        assert_eq!(start(Quat::IDENTITY, Vec3::Y).translation, Vec3::Y);
        for rotation in [
            Quat::from_xyzw(0.0, f32::INFINITY, 0.0, 1.0),
            Quat::IDENTITY * 2.0,
        ] {
            assert_eq!(start(rotation, Vec3::Y), end);
        }
        assert_eq!(start(Quat::IDENTITY, Vec3::NAN), end);
        assert_eq!(LastPose(None).start(end), end);
    }

    #[test]
    fn shapes_scale_along_and_across_their_axis() {
        let scale = Vec3::new(-2.0, 3.0, 1.0);
        let scaled = |collider: ClothCollider| ClothCollider::from(collider.scaled_shape(scale));
        for (collider, expected) in [
            (ClothCollider::sphere(1.0), ClothCollider::sphere(3.0)),
            (
                ClothCollider::capsule(1.0, 4.0),
                ClothCollider::capsule(2.0, 12.0),
            ),
            (
                ClothCollider::tapered_capsule(1.0, 2.0, 4.0),
                ClothCollider::tapered_capsule(2.0, 4.0, 12.0),
            ),
            (
                ClothCollider::from(Cylinder::new(1.0, 4.0)),
                ClothCollider::cylinder(2.0, 12.0),
            ),
            (
                ClothCollider::from(Cone::new(1.0, 4.0)),
                ClothCollider::cone(2.0, 12.0),
            ),
            (
                ClothCollider::cuboid(1.0, 1.0, 1.0),
                ClothCollider::cuboid(2.0, 3.0, 1.0),
            ),
        ] {
            assert_eq!(scaled(collider), expected);
        }
    }
}
