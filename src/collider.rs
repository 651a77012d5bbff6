//! What cloth bumps into.

use crate::{
    solver::{Friction, Shape},
    systems::FramePath,
};
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Where a collider was in the last fixed update, so that the next one knows how it moves. Every
/// [`ClothCollider`] and `ClothMeshCollider` gets one.
///
/// Nothing but a rollback has to write it: save it and put it back together with the `Transform`, and
/// the next step moves the collider as it did the first time. `None` stands for a collider that has
/// just appeared: it then comes from nowhere and takes nothing along. It is not cloned with its entity.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq, Deref, DerefMut)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[component(clone_behavior = Ignore)]
pub struct LastPose(pub Option<Isometry3d>);

/// What is no collider any more moves nothing when it becomes one again.
pub(crate) fn forget_last_pose(
    event: On<Remove, ClothCollider>,
    #[cfg(feature = "parry")] meshes: Query<(), With<crate::ClothMeshCollider>>,
    mut commands: Commands,
) {
    // What is another kind of collider still needs it.
    #[cfg(feature = "parry")]
    if meshes.contains(event.entity) {
        return;
    }
    // The entity may be on its way out altogether; then there is nothing to do.
    if let Ok(mut entity) = commands.get_entity(event.entity) {
        entity.try_remove::<LastPose>();
    }
}

/// A solid that all cloths bump into, at the [`Transform`] of its entity. It may move; moving ones
/// take cloth along by their friction.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn spawn(mut commands: Commands) {
/// commands.spawn((ClothCollider::sphere(0.5), Transform::from_xyz(0.0, 1.0, 0.0)));
/// commands.spawn(ClothCollider::half_space()); // the floor
/// commands.spawn(ClothCollider::from(Capsule3d::new(0.3, 1.0)).with_friction(0.8, 0.6));
/// commands.spawn(ClothCollider::cuboid(1.0, 1.0, 1.0).hollow()); // a box to keep cloth in
/// # }
/// ```
///
/// A scale of the transform scales the shape: boxes along each axis, spheres by the largest of the
/// three factors, capsules, cylinders and cones by y along their axis and the larger of x and z across
/// it. Colliders with a length that is not finite and above 0 are left out, with an error in the log.
///
/// [`hollow`](Self::hollow) ones are containers: cloth stays inside of them. [`ClothLayers`] on the same
/// entity says which cloths meet it.
///
/// [`ClothLayers`]: crate::ClothLayers
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[require(Transform, LastPose, FramePath)]
pub struct ClothCollider {
    /// Its shape, in the frame of its entity.
    pub shape: Shape,
    /// Static friction coefficient; what counts is the geometric mean with that of the fabric.
    /// Below 0 and NaN count as 0. Default 0.5.
    pub static_friction: f32,
    /// Kinetic friction coefficient, likewise. Default 0.4.
    pub kinetic_friction: f32,
    /// Cloth is kept inside the shape instead of outside; cloth that begins outside is drawn in. Of a
    /// half-space it is kept below. Default `false`.
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
    /// A ball. `radius` in m.
    pub fn sphere(radius: f32) -> Self {
        Shape::Sphere { radius }.into()
    }

    /// Everything below the local xz plane: a floor or, turned, a wall.
    pub fn half_space() -> Self {
        Shape::HalfSpace.into()
    }

    /// A capsule along the local y axis. `length` is that of its straight part, both in m.
    pub fn capsule(radius: f32, length: f32) -> Self {
        Shape::Capsule {
            radius,
            half_length: length / 2.0,
        }
        .into()
    }

    /// A box with these full lengths along its axes, m.
    pub fn cuboid(x: f32, y: f32, z: f32) -> Self {
        Cuboid::new(x, y, z).into()
    }

    /// Two balls of these radii and all that is between them, along the local y axis: a limb. `length` is
    /// that between the centres of the balls, the lower of which comes first; all in m.
    pub fn tapered_capsule(radius_bottom: f32, radius_top: f32, length: f32) -> Self {
        Shape::TaperedCapsule {
            radius_bottom,
            radius_top,
            half_length: length / 2.0,
        }
        .into()
    }

    /// A cylinder around the local y axis, its middle at the origin. Both in m.
    pub fn cylinder(radius: f32, height: f32) -> Self {
        Shape::Cylinder {
            radius,
            half_height: height / 2.0,
        }
        .into()
    }

    /// A cone around the local y axis, half of its height above the origin. Both in m.
    pub fn cone(radius: f32, height: f32) -> Self {
        Shape::Cone {
            radius,
            half_height: height / 2.0,
        }
        .into()
    }

    /// The same collider as a container, which keeps cloth inside.
    pub fn hollow(self) -> Self {
        Self {
            hollow: true,
            ..self
        }
    }

    /// The same collider with other friction coefficients.
    pub fn with_friction(self, fixed: f32, kinetic: f32) -> Self {
        Self {
            static_friction: fixed,
            kinetic_friction: kinetic,
            ..self
        }
    }

    /// Its friction, without negative values and NaN.
    pub(crate) fn friction(&self) -> Friction {
        // `max` takes the number where the other one is NaN.
        let sound = |coefficient: f32| coefficient.max(0.0).clamp(0.0, f32::MAX);
        Friction {
            fixed: sound(self.static_friction),
            kinetic: sound(self.kinetic_friction),
        }
    }

    /// Its shape under the scale of a transform.
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
    fn scales_scale_along_and_across() {
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
