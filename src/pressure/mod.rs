//! [`ClothPressure`]: air enclosed in cloth.

pub(crate) mod enclosed_air;
pub(crate) mod plugin;

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Fills a [`Cloth`](crate::cloth::Cloth) of closed mesh with air: a balloon, a ball, a cushion. The air resists
/// compression and pushes the cloth outwards according to Boyle's law, p·V = constant.
///
/// The mesh must be a surface without boundary edges; vertices at the same position are merged. An open mesh holds
/// no air, which is logged once. Torn or cut cloth loses its air; [`ResetCloth`](crate::cloth::ResetCloth) restores cloth
/// and air. May be added, changed and removed at any time: the cloth is inflated or deflated over at most a
/// second.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{prelude::*, pressure::ClothPressure};
/// # fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
/// let ball = meshes.add(Sphere::new(0.3).mesh().ico(12).unwrap());
/// commands.spawn((Cloth::default(), ClothPressure::default(), Mesh3d(ball)));
/// # }
/// ```
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothPressure {
    /// Pressure above the ambient pressure while the cloth has the volume of its mesh, Pa. −50 000 to 50 000,
    /// default 500; a party balloon has 2000. Negative values suck the cloth in.
    pub overpressure: f32,
    /// Pressure of the air outside, Pa. 100 to 1 000 000, default 101 325, as at sea level. The lower, the more
    /// easily the enclosed air is compressed.
    pub ambient: f32,
}

impl Default for ClothPressure {
    fn default() -> Self {
        Self {
            overpressure: 500.0,
            ambient: 101_325.0,
        }
    }
}

impl ClothPressure {
    /// Creates air of this overpressure, Pa.
    pub fn new(overpressure: f32) -> Self {
        Self {
            overpressure,
            ..default()
        }
    }
}
