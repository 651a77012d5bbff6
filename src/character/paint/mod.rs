//! Painted values: numbers per vertex of a mesh, from vertex colours, attributes or joint weights.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | components and types for users |
//! | `read` | reads the values from a mesh |

pub(crate) use crate::mesh::paint::{Paint, per_vertex, removes_colours};

use crate::pins::PinPredicate;
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Source of a number per vertex.
///
/// Colours are those of the attribute `COLOR_0` of a glTF file, which Blender calls the active color attribute.
/// Once a cloth uses one of the colour channels, its own mesh loses its vertex colours, so that they do not tint
/// the material.
#[derive(Reflect, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default, Clone, Debug, PartialEq, Hash)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum VertexChannel {
    /// Red of the vertex colour, 0 to 1.
    #[default]
    Red,
    /// Green of the vertex colour.
    Green,
    /// Blue of the vertex colour.
    Blue,
    /// Opacity of the vertex colour.
    Alpha,
    /// First component of the vertex attribute of this name
    /// ([`MeshVertexAttribute::name`](bevy::mesh::MeshVertexAttribute)). Bevy loads custom attributes of a glTF
    /// file if they were registered with `GltfPlugin::add_custom_vertex_attribute`.
    Attribute(String),
    /// Weight of the joint of this name, 0 to 1: a vertex group in Blender.
    Joint(String),
}

impl VertexChannel {
    /// Selects the attribute of this name.
    pub fn attribute(name: impl Into<String>) -> Self {
        Self::Attribute(name.into())
    }

    /// Selects the weights of the joint of this name.
    pub fn joint(name: impl Into<String>) -> Self {
        Self::Joint(name.into())
    }

    /// Returns whether the channel is part of the vertex colour.
    pub(crate) fn is_colour(&self) -> bool {
        !matches!(self, Self::Attribute(_) | Self::Joint(_))
    }
}

/// Number per vertex: uniform or painted.
#[derive(Reflect, Clone, Debug)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum PerVertex {
    /// Same value for all vertices.
    Everywhere(f32),
    /// Linear interpolation between two values by the painted channel.
    Painted {
        /// Painted channel.
        channel: VertexChannel,
        /// Value where the channel is 0.
        zero: f32,
        /// Value where the channel is 1.
        one: f32,
    },
}

impl Default for PerVertex {
    fn default() -> Self {
        Self::Everywhere(1.0)
    }
}

/// Compares bits, so that an unchanged NaN is no change.
impl PartialEq for PerVertex {
    fn eq(&self, other: &Self) -> bool {
        let bits = |of: &Self| match of {
            Self::Everywhere(value) => [value.to_bits(), 0],
            Self::Painted { zero, one, .. } => [zero.to_bits(), one.to_bits()],
        };
        self.channel() == other.channel() && bits(self) == bits(other)
    }
}

impl From<f32> for PerVertex {
    fn from(value: f32) -> Self {
        Self::Everywhere(value)
    }
}

impl PerVertex {
    /// Maps a channel linearly from 0 where it is 0 to `one` where it is 1.
    pub fn painted(channel: VertexChannel, one: f32) -> Self {
        Self::Painted {
            channel,
            zero: 0.0,
            one,
        }
    }

    /// Returns the channel of painted values.
    pub(crate) fn channel(&self) -> Option<&VertexChannel> {
        match self {
            Self::Everywhere(_) => None,
            Self::Painted { channel, .. } => Some(channel),
        }
    }
}

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
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
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
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
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
