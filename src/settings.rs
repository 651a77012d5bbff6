//! The world around all cloths.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Gravity for all cloths, m/s². Default −9.81 along y; each component −200 to 200.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq, Deref, DerefMut)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct ClothGravity(pub Vec3);

impl Default for ClothGravity {
    fn default() -> Self {
        Self(Vec3::NEG_Y * 9.81)
    }
}

/// Wind for all cloths: the same everywhere.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Wind {
    /// Velocity of the air, m/s. Default 0; each component −200 to 200.
    pub velocity: Vec3,
    /// Density of the air, kg/m³; 0 switches all air resistance off. 0 to 2000, default 1.2.
    pub air_density: f32,
}

impl Default for Wind {
    fn default() -> Self {
        Self {
            velocity: Vec3::ZERO,
            air_density: 1.2,
        }
    }
}

/// Substeps of each fixed step, 1 to 100, default 8. Stiffness grows with their square, cost in
/// proportion. May change at any time; greater stiffness is then approached in small strides, so
/// that cloth does not snap back.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq, Eq, Deref, DerefMut)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Substeps(pub u32);

impl Default for Substeps {
    fn default() -> Self {
        Self(8)
    }
}
