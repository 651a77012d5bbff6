//! Air in a closed cloth.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Fills a [`Cloth`](crate::Cloth) whose mesh is closed with air: a balloon, a ball, a cushion. The air
/// resists being pressed together and presses the cloth apart, as much as the law of Boyle says.
///
/// It must be a surface without edges; vertices at one place count as one. A mesh that is open holds no
/// air, which is reported in the log once. A cloth that is torn or cut loses its air;
/// [`ResetCloth`](crate::ResetCloth) mends it and brings the air back. May be added, changed and removed
/// at any time: air is pumped in and let out, all of it within a second.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
/// let ball = meshes.add(Sphere::new(0.3).mesh().ico(12).unwrap());
/// commands.spawn((Cloth::default(), Pressure::default(), Mesh3d(ball)));
/// # }
/// ```
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Pressure {
    /// How much more than around it the pressure is when the cloth has the volume of its mesh, Pa.
    /// −50 000 to 50 000, default 500; a party balloon has 2000. Below 0 it is sucked in.
    pub overpressure: f32,
    /// The pressure around, Pa. 100 to 1 000 000, default 101 325, as at sea level. The lower, the
    /// more easily it is squeezed.
    pub ambient: f32,
}

impl Default for Pressure {
    fn default() -> Self {
        Self {
            overpressure: 500.0,
            ambient: 101_325.0,
        }
    }
}

impl Pressure {
    /// Air of this overpressure, Pa.
    pub fn new(overpressure: f32) -> Self {
        Self {
            overpressure,
            ..default()
        }
    }
}
