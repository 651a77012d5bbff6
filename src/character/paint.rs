//! Components painted on a mesh: multipliers of mass and stiffness, and the part of the mesh that becomes cloth.

use crate::mesh::paint::{PerVertex, PinPredicate, VertexChannel};
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Multipliers per particle: heavy hems, stiff collars.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{character::{ClothPaint, PerVertex, VertexChannel}, prelude::*};
/// # fn spawn(mut commands: Commands) {
/// commands.spawn((
///     Cloth::default(),
///     ClothPaint {
///         // Five times the mass where the hem is painted blue.
///         mass: PerVertex::Painted { channel: VertexChannel::Blue, zero: 1.0, one: 5.0 },
///         ..default()
///     },
/// ));
/// # }
/// ```
///
/// Can be changed at any time, except for the stiffness, which is read when the cloth is built or reset.
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothPaint {
    /// Mass of each particle, as a multiple of its mass from area and areal density of the fabric. 0.001 to 1000,
    /// default 1.
    pub mass: PerVertex,
    /// Bending stiffness around each particle, as a multiple of that of the fabric. 0.001 to 1000, default 1.
    pub bending_stiffness: PerVertex,
}

/// Range of painted multipliers.
pub(crate) const MULTIPLIER_RANGE: [f32; 2] = [0.001, 1000.0];

/// Part of a mesh that becomes cloth: the triangles with at least one selected corner. Their other corners are the
/// seam, and are pinned; the rest of the mesh stays as it is, follows its skeleton if it has one, and costs
/// nothing.
///
/// ```
/// # use bevy_drape::{character::{ClothPart, VertexChannel}, prelude::*};
/// // A jacket whose tails are painted white in its colour attribute.
/// let tails = ClothPart::painted(VertexChannel::Red);
/// // A tablecloth that is one mesh with its table.
/// let cloth = ClothPart::predicate(|at| at.y > 0.7);
/// ```
///
/// Read when the cloth is built. Parts by material do not need this component: in a glTF file each material of a
/// mesh is a mesh and an entity of its own.
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum ClothPart {
    /// Vertices above a threshold of a painted channel.
    Painted {
        /// Painted channel.
        channel: VertexChannel,
        /// Threshold: vertices with more than this are cloth.
        above: f32,
    },
    /// Vertices by their position in the mesh (mesh space, m). Closures are not saved with a scene: loaded from
    /// one, the predicate accepts nothing, and the cloth is not built until it is set again.
    Predicate(PinPredicate),
}

impl Default for ClothPart {
    fn default() -> Self {
        Self::painted(VertexChannel::default())
    }
}

impl ClothPart {
    /// Selects vertices with more than 0.5 of this channel.
    pub fn painted(channel: VertexChannel) -> Self {
        Self::Painted {
            channel,
            above: 0.5,
        }
    }

    /// Returns the value that `bsn!` starts from for `ClothPart::Painted`.
    pub fn default_painted() -> Self {
        Self::default()
    }

    /// Returns the value that `bsn!` starts from for `ClothPart::Predicate`.
    pub fn default_predicate() -> Self {
        Self::Predicate(PinPredicate::default())
    }

    /// Selects the vertices whose position in the mesh (mesh space, m) the function accepts.
    pub fn predicate(is_cloth: impl Fn(Vec3) -> bool + Send + Sync + 'static) -> Self {
        Self::Predicate(PinPredicate::new(is_cloth))
    }
}
