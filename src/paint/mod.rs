//! What an artist paints: numbers for each vertex of a mesh.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | what a user writes |
//! | `read` | takes the numbers out of a mesh |

mod read;

pub(crate) use read::{Paint, per_vertex, removes_colours};

use crate::pins::PinPredicate;
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Where a number for each vertex comes from.
///
/// Colours are those of the attribute `COLOR_0` of a glTF file, which Blender calls the active colour
/// attribute. Once a cloth uses one of them they are paint: its own mesh has no colours any more, so that
/// they do not tint its material.
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
    /// The first number of the vertex attribute of this name
    /// ([`MeshVertexAttribute::name`](bevy::mesh::MeshVertexAttribute)). Bevy loads those of a glTF file
    /// that were told to `GltfPlugin::add_custom_vertex_attribute`.
    Attribute(String),
    /// How much the joint of this name moves the vertex, 0 to 1: what Blender calls a vertex group.
    Joint(String),
}

impl VertexChannel {
    /// The attribute of this name.
    pub fn attribute(name: impl Into<String>) -> Self {
        Self::Attribute(name.into())
    }

    /// The weights of the joint of this name.
    pub fn joint(name: impl Into<String>) -> Self {
        Self::Joint(name.into())
    }

    /// Whether it is part of the vertex colour.
    pub(crate) fn is_colour(&self) -> bool {
        !matches!(self, Self::Attribute(_) | Self::Joint(_))
    }
}

/// A number for each vertex: the same for all, or painted.
#[derive(Reflect, Clone, Debug)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum PerVertex {
    /// The same for all.
    Everywhere(f32),
    /// Between two numbers, as painted.
    Painted {
        /// What is painted.
        channel: VertexChannel,
        /// The number where it is 0.
        zero: f32,
        /// The number where it is 1.
        one: f32,
    },
}

impl Default for PerVertex {
    fn default() -> Self {
        Self::Everywhere(1.0)
    }
}

/// Bit by bit: NaN is what it is, and no change.
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
    /// Painted: from 0 where the channel is 0 to `one` where it is 1.
    pub fn painted(channel: VertexChannel, one: f32) -> Self {
        Self::Painted {
            channel,
            zero: 0.0,
            one,
        }
    }

    /// The channel that it is painted in.
    pub(crate) fn channel(&self) -> Option<&VertexChannel> {
        match self {
            Self::Everywhere(_) => None,
            Self::Painted { channel, .. } => Some(channel),
        }
    }
}

/// How particles of a cloth differ from each other: heavy hems, stiff collars.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn spawn(mut commands: Commands) {
/// commands.spawn((
///     Cloth::default(),
///     ClothPaint {
///         // A hem that is five times as heavy where it is painted blue.
///         mass: PerVertex::Painted { channel: VertexChannel::Blue, zero: 1.0, one: 5.0 },
///         ..default()
///     },
/// ));
/// # }
/// ```
///
/// May be changed at any time but for the stiffness, which is read when the cloth is built or reset.
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct ClothPaint {
    /// The mass of each particle, as a multiple of what its area and the density of the fabric give. 0.001
    /// to 1000, default 1.
    pub mass: PerVertex,
    /// The bending stiffness around each particle, as a multiple of that of the fabric. 0.001 to 1000,
    /// default 1.
    pub bending_stiffness: PerVertex,
}

/// The range of what is painted as a multiple.
pub(crate) const MULTIPLES: [f32; 2] = [0.001, 1000.0];

/// Makes cloth of a part of a mesh only: of the triangles that have a corner which is meant. The other
/// corners of these triangles are where the cloth is sewn on, and pinned; the rest of the mesh stays as it
/// is, follows its skeleton if it has one, and costs nothing.
///
/// ```
/// # use bevy_drape::{ClothPart, prelude::*};
/// // A jacket whose tails are painted white in its colour attribute.
/// let tails = ClothPart::painted(VertexChannel::Red);
/// // A tablecloth that is one mesh with its table.
/// let cloth = ClothPart::predicate(|at| at.y > 0.7);
/// ```
///
/// It is read when the cloth is built. Parts by material need none: in a glTF file each material of a mesh
/// is a mesh, and an entity, of its own.
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum ClothPart {
    /// Vertices where something was painted.
    Painted {
        /// What was painted.
        channel: VertexChannel,
        /// It is cloth where there is more than this of it.
        above: f32,
    },
    /// Vertices by their place in the mesh (mesh space, m). Being code, it is not saved with a scene: what
    /// is loaded from one accepts nothing, so that the cloth is not built before it is put right.
    Predicate(PinPredicate),
}

impl Default for ClothPart {
    fn default() -> Self {
        Self::painted(VertexChannel::default())
    }
}

impl ClothPart {
    /// Vertices where there is more than a half of this channel.
    pub fn painted(channel: VertexChannel) -> Self {
        Self::Painted {
            channel,
            above: 0.5,
        }
    }

    /// What `bsn!` begins with where it finds `ClothPart::Painted`.
    pub fn default_painted() -> Self {
        Self::default()
    }

    /// Likewise for `ClothPart::Predicate`.
    pub fn default_predicate() -> Self {
        Self::Predicate(PinPredicate::default())
    }

    /// Vertices whose place in the mesh (mesh space, m) the function accepts.
    pub fn predicate(is_cloth: impl Fn(Vec3) -> bool + Send + Sync + 'static) -> Self {
        Self::Predicate(PinPredicate::new(is_cloth))
    }
}
