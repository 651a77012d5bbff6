//! How far cloth may go from where an animation would carry it.

use crate::paint::PerVertex;
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Keeps each particle of a cloth within a distance of where the skeleton of its mesh would carry it, or its
/// transform if it has none. With little of it, cloth follows an animation and only its folds are
/// simulated; painted, from nothing at the collar of a cape to a metre at its hem, it needs no pins.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn spawn(mut commands: Commands) {
/// commands.spawn((
///     Cloth::default(),
///     // Black is held, white may go 0.8 m away.
///     MaxDistance::painted(VertexChannel::Red, 0.8),
/// ));
/// # }
/// ```
///
/// May be changed at any time. Pinned particles are where their pins are.
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct MaxDistance {
    /// How far each particle may go, m. Up to a millimetre it is pinned there. Default 1 m everywhere.
    pub distance: PerVertex,
    /// What keeps cloth from sinking into what is behind it. Default nothing.
    pub backstop: Option<Backstop>,
}

/// Keeps cloth in front of where its skeleton carries it: a ball behind each particle, which is cheaper than
/// colliders for a body and never misses. Front is where the normals of the mesh point.
#[derive(Reflect, Clone, Debug)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Backstop {
    /// How far behind that place a particle may go, m; infinite for anywhere. Default 0.
    pub distance: PerVertex,
    /// Radius of the balls, m: about that of the body behind. 0 or more, default 1.
    pub radius: f32,
}

/// Bit by bit: NaN is what it is, and no change.
impl PartialEq for Backstop {
    fn eq(&self, other: &Self) -> bool {
        self.distance == other.distance && self.radius.to_bits() == other.radius.to_bits()
    }
}

/// What is held so near is pinned, m.
pub(crate) const PINNED: f32 = 0.001;

impl MaxDistance {
    /// The same distance everywhere, m.
    pub fn everywhere(distance: f32) -> Self {
        Self {
            distance: distance.into(),
            backstop: None,
        }
    }

    /// From nothing where the channel is 0 to this distance where it is 1, m.
    pub fn painted(channel: crate::VertexChannel, distance: f32) -> Self {
        Self {
            distance: PerVertex::painted(channel, distance),
            backstop: None,
        }
    }

    /// With a backstop so far behind the animation, m, everywhere, in front of balls of this radius, m.
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
