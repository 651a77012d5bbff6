//! Painted values: numbers per vertex of a mesh, read from vertex colours, attributes or joint weights, and
//! predicates on the positions of vertices.

use crate::mesh::{CompactIndices, topology::NO_PARTICLE};
use bevy::{mesh::VertexAttributeValues, platform::collections::HashSet, prelude::*};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt, sync::Arc};

/// Source of a number per vertex.
///
/// Colours are those of the attribute `COLOR_0` of a glTF file, which Blender calls the active color attribute.
/// Once a cloth uses one of the colour channels, its own mesh loses its vertex colours, so that they do not tint
/// the material.
#[derive(Reflect, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default, Clone, Debug, PartialEq, Hash)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
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
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
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

/// Predicate on the position of a particle in the mesh (mesh space, m). Closures are not saved with a scene. The
/// default accepts nothing.
#[derive(Reflect, Clone)]
#[reflect(opaque, Default, Clone, Debug, PartialEq)]
pub struct PinPredicate(Arc<dyn Fn(Vec3) -> bool + Send + Sync>);

impl PinPredicate {
    /// Wraps a function.
    pub fn new(pins: impl Fn(Vec3) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(pins))
    }

    /// Returns whether the predicate accepts a position.
    pub(crate) fn accepts(&self, position: Vec3) -> bool {
        (self.0)(position)
    }
}

impl Default for PinPredicate {
    fn default() -> Self {
        Self::new(|_| false)
    }
}

impl fmt::Debug for PinPredicate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("PinPredicate")
    }
}

impl PartialEq for PinPredicate {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Serializes as a unit: closures cannot be saved.
#[cfg(feature = "serialize")]
impl Serialize for PinPredicate {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_unit()
    }
}

/// Deserializes as the default, which accepts nothing.
#[cfg(feature = "serialize")]
impl<'de> Deserialize<'de> for PinPredicate {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <()>::deserialize(from)?;
        Ok(Self::default())
    }
}

/// Weights of named joints on the particles of a cloth.
pub(crate) trait JointWeights {
    /// Returns the weight of a joint on each particle, if there is a joint of this name.
    fn weights_of(&self, name: &str) -> Option<Vec<f32>>;

    /// Returns the names of all joints that have one.
    fn joint_names(&self) -> Vec<&str>;
}

/// Painted values of a mesh, per particle.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Paint {
    channels: Vec<(VertexChannel, Vec<f32>)>,
}

impl Paint {
    /// Reads all channels that can hold paint: colours, and attributes that are not Bevy's own. Vertices welded to
    /// one particle contribute their mean.
    pub(crate) fn read(mesh: &Mesh, vertex_to_particle: &CompactIndices, particles: usize) -> Self {
        let mut channels = Vec::new();
        let mut add = |channel, values: Vec<f32>| {
            let values = mean_per_particle(&values, vertex_to_particle.iter(), particles);
            channels.push((channel, values));
        };
        for channel in [
            VertexChannel::Red,
            VertexChannel::Green,
            VertexChannel::Blue,
            VertexChannel::Alpha,
        ] {
            if let Some(values) = per_vertex(mesh, &channel) {
                add(channel, values);
            }
        }
        for name in custom_attributes(mesh) {
            let channel = VertexChannel::attribute(name);
            if let Some(values) = per_vertex(mesh, &channel) {
                add(channel, values);
            }
        }
        Self { channels }
    }

    /// Returns the values of a channel per particle.
    pub(crate) fn values<'a>(
        &'a self,
        channel: &VertexChannel,
        joints: Option<&dyn JointWeights>,
    ) -> Option<Cow<'a, [f32]>> {
        if let VertexChannel::Joint(name) = channel {
            return Some(joints?.weights_of(name)?.into());
        }
        let (_, values) = self.channels.iter().find(|(known, _)| known == channel)?;
        Some(values.into())
    }

    /// Returns the value of each of `particles` particles, or the channel if it does not exist.
    pub(crate) fn resolve(
        &self,
        setting: &PerVertex,
        joints: Option<&dyn JointWeights>,
        particles: usize,
    ) -> Result<Vec<f32>, VertexChannel> {
        match setting {
            PerVertex::Everywhere(value) => Ok(vec![*value; particles]),
            PerVertex::Painted { channel, zero, one } => {
                let values = self
                    .values(channel, joints)
                    .ok_or_else(|| channel.clone())?;
                Ok(values.iter().map(|v| zero + (one - zero) * v).collect())
            }
        }
    }

    /// Describes the available channels, for the error about a missing one.
    pub(crate) fn inventory(&self, joints: Option<&dyn JointWeights>) -> String {
        let mut names = Vec::new();
        for (channel, _) in &self.channels {
            match channel {
                VertexChannel::Red => names.push("vertex colours".to_owned()),
                VertexChannel::Attribute(name) => names.push(format!("the attribute \"{name}\"")),
                _ => {}
            }
        }
        if let Some(joints) = joints {
            let joints: Vec<_> = joints
                .joint_names()
                .iter()
                .map(|name| format!("\"{name}\""))
                .collect();
            names.push(format!("the joints {}", joints.join(", ")));
        }
        if names.is_empty() {
            "nothing painted".to_owned()
        } else {
            names.join(" and ")
        }
    }
}

/// Logs a warning for painted channels that the mesh of a cloth lacks.
pub(crate) fn warn_of_missing_channels(
    label: &dyn fmt::Display,
    paint: &Paint,
    joints: Option<&dyn JointWeights>,
    channels: &[VertexChannel],
    what: &str,
) {
    if !channels.is_empty() {
        let inventory = paint.inventory(joints);
        warn!("cloth {label}: cannot {what}: its mesh has no {channels:?}, but {inventory}");
    }
}

/// Averages the values of the vertices of each particle.
fn mean_per_particle(
    values: &[f32],
    particle_of: impl Iterator<Item = u32>,
    particles: usize,
) -> Vec<f32> {
    let mut sums = vec![(0.0, 0.0); particles];
    for (&value, particle) in values.iter().zip(particle_of) {
        if particle != NO_PARTICLE
            && let Some((sum, count)) = sums.get_mut(particle as usize)
        {
            *sum += value;
            *count += 1.0;
        }
    }
    sums.into_iter()
        .map(|(sum, count)| if count > 0.0 { sum / count } else { 0.0 })
        .collect()
}

/// Returns the values of a channel per vertex; `None` for joints. Values that are not finite count as 0.
pub(crate) fn per_vertex(mesh: &Mesh, channel: &VertexChannel) -> Option<Vec<f32>> {
    let component = match channel {
        VertexChannel::Red => 0,
        VertexChannel::Green => 1,
        VertexChannel::Blue => 2,
        VertexChannel::Alpha => 3,
        VertexChannel::Attribute(name) => {
            let all = mesh.try_attributes().ok()?;
            let (_, values) = all.into_iter().find(|(known, _)| known.name == name)?;
            return components(values, 0);
        }
        VertexChannel::Joint(_) => return None,
    };
    components(mesh.try_attribute(Mesh::ATTRIBUTE_COLOR).ok()?, component)
}

/// Extracts one component of each vertex.
fn components(values: &VertexAttributeValues, component: usize) -> Option<Vec<f32>> {
    use VertexAttributeValues as V;
    fn extract<T: Copy, const N: usize>(
        values: &[[T; N]],
        component: usize,
        number: impl Fn(T) -> f32,
    ) -> Option<Vec<f32>> {
        let at = |value: &[T; N]| value.get(component).map(|&v| number(v));
        values.iter().map(at).collect()
    }
    let byte = |v: u8| f32::from(v) / 255.0;
    let short = |v: u16| f32::from(v) / 65535.0;
    let found = match values {
        V::Float32(values) if component == 0 => Some(values.clone()),
        V::Float32x2(values) => extract(values, component, |v| v),
        V::Float32x3(values) => extract(values, component, |v| v),
        V::Float32x4(values) => extract(values, component, |v| v),
        V::Unorm8x4(values) => extract(values, component, byte),
        V::Unorm8x2(values) => extract(values, component, byte),
        V::Unorm16x4(values) => extract(values, component, short),
        V::Unorm16x2(values) => extract(values, component, short),
        V::Uint8x4(values) => extract(values, component, f32::from),
        V::Uint16x4(values) => extract(values, component, f32::from),
        _ => None,
    };
    let finite = |v: f32| if v.is_finite() { v } else { 0.0 };
    Some(found?.into_iter().map(finite).collect())
}

/// Returns the names of the attributes of a mesh that are not Bevy's own.
fn custom_attributes(mesh: &Mesh) -> Vec<&'static str> {
    let own: HashSet<_> = [
        Mesh::ATTRIBUTE_POSITION,
        Mesh::ATTRIBUTE_NORMAL,
        Mesh::ATTRIBUTE_UV_0,
        Mesh::ATTRIBUTE_UV_1,
        Mesh::ATTRIBUTE_TANGENT,
        Mesh::ATTRIBUTE_COLOR,
        Mesh::ATTRIBUTE_JOINT_WEIGHT,
        Mesh::ATTRIBUTE_JOINT_INDEX,
    ]
    .map(|attribute| attribute.id)
    .into();
    let all = mesh.try_attributes().into_iter().flatten();
    all.filter(|(attribute, _)| !own.contains(&attribute.id))
        .map(|(attribute, _)| attribute.name)
        .collect()
}

#[cfg(test)]
mod tests;
