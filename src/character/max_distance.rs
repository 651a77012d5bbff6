//! Max-distance constraints and backstops, relative to the animated mesh.

use crate::mesh::paint::PerVertex;
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Largest distance of each particle from its animated position: the skinned position, or that of the rigid
/// transform without a skeleton. With a small distance, cloth follows an animation and only its folds are
/// simulated; painted, from 0 at the collar of a cape to a metre at its hem, it needs no pins.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{character::{ClothMaxDistance, VertexChannel}, prelude::*};
/// # fn spawn(mut commands: Commands) {
/// commands.spawn((
///     Cloth::default(),
///     // Black is pinned, white may move up to 0.8 m.
///     ClothMaxDistance::painted(VertexChannel::Red, 0.8),
/// ));
/// # }
/// ```
///
/// Can be changed at any time. Pinned particles ignore it.
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothMaxDistance {
    /// Maximum distance of each particle, m. Up to a millimetre the particle is pinned. Default 1 m everywhere.
    pub distance: PerVertex,
    /// Backstop that keeps cloth from sinking into the body behind it. Default `None`.
    pub backstop: Option<Backstop>,
}

/// Sphere behind each particle that keeps cloth in front of the animated mesh: cheaper than colliders for a body,
/// and without missed contacts. The normals of the mesh point to the front.
#[derive(Reflect, Clone, Debug)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct Backstop {
    /// Distance of the sphere's surface behind the animated position, m; infinite disables it. Default 0.
    pub distance: PerVertex,
    /// Radius of the spheres, m: about that of the body behind the cloth. 0 or more, default 1.
    pub radius: f32,
}

/// Compares bits, so that an unchanged NaN is no change.
impl PartialEq for Backstop {
    fn eq(&self, other: &Self) -> bool {
        self.distance == other.distance && self.radius.to_bits() == other.radius.to_bits()
    }
}

/// Particles with at most this maximum distance are pinned, m.
pub(crate) const PINNED_DISTANCE: f32 = 0.001;

impl ClothMaxDistance {
    /// Sets the same maximum distance for all particles, m.
    pub fn everywhere(distance: f32) -> Self {
        Self {
            distance: distance.into(),
            backstop: None,
        }
    }

    /// Maps a painted channel from 0 where it is 0 to this distance where it is 1, m.
    pub fn painted(channel: crate::character::VertexChannel, distance: f32) -> Self {
        Self {
            distance: PerVertex::painted(channel, distance),
            backstop: None,
        }
    }

    /// Adds a backstop at a uniform distance behind the animated positions, m, with spheres of this radius, m.
    pub fn with_backstop(self, distance: f32, radius: f32) -> Self {
        Self {
            backstop: Some(Backstop {
                distance: distance.into(),
                radius,
            }),
            ..self
        }
    }
}

impl Default for Backstop {
    fn default() -> Self {
        Self {
            distance: PerVertex::Everywhere(0.0),
            radius: 1.0,
        }
    }
}
