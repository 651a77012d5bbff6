//! Reads painted values from a mesh.

use crate::character::paint::{ClothPart, PerVertex, VertexChannel};
use crate::{
    character::skin_weights::SkinWeights,
    mesh::{CompactIndices, topology::NO_PARTICLE},
};
use bevy::{
    mesh::{Mesh, VertexAttributeValues},
    platform::collections::HashSet,
};
use std::borrow::Cow;

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
        skin: Option<&SkinWeights>,
    ) -> Option<Cow<'a, [f32]>> {
        if let VertexChannel::Joint(name) = channel {
            return Some(skin?.weights_of(name)?.into());
        }
        let (_, values) = self.channels.iter().find(|(known, _)| known == channel)?;
        Some(values.into())
    }

    /// Returns the value of each of `particles` particles, or the channel if it does not exist.
    pub(crate) fn resolve(
        &self,
        setting: &PerVertex,
        skin: Option<&SkinWeights>,
        particles: usize,
    ) -> Result<Vec<f32>, VertexChannel> {
        match setting {
            PerVertex::Everywhere(value) => Ok(vec![*value; particles]),
            PerVertex::Painted { channel, zero, one } => {
                let values = self.values(channel, skin).ok_or_else(|| channel.clone())?;
                Ok(values.iter().map(|v| zero + (one - zero) * v).collect())
            }
        }
    }

    /// Describes the available channels, for the error about a missing one.
    pub(crate) fn inventory(&self, skin: Option<&SkinWeights>) -> String {
        let mut names = Vec::new();
        for (channel, _) in &self.channels {
            match channel {
                VertexChannel::Red => names.push("vertex colours".to_owned()),
                VertexChannel::Attribute(name) => names.push(format!("the attribute \"{name}\"")),
                _ => {}
            }
        }
        if let Some(skin) = skin {
            let joints: Vec<_> = skin
                .joint_names()
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

/// Returns whether any of these channels is a colour: vertex colours are then paint and are not rendered.
pub(crate) fn removes_colours<'a>(
    mut used: impl Iterator<Item = &'a VertexChannel>,
    part: Option<&ClothPart>,
) -> bool {
    let part_uses_colour = match part {
        Some(ClothPart::Painted { channel, .. }) => channel.is_colour(),
        _ => false,
    };
    part_uses_colour || used.any(VertexChannel::is_colour)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::ClothGrid;
    use bevy::mesh::{MeshVertexAttribute, VertexFormat};

    const HEAVY: MeshVertexAttribute =
        MeshVertexAttribute::new("Heavy", 0x00d7_a9e5, VertexFormat::Float32);

    fn painted() -> Mesh {
        let mut mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 2, 2));
        let colours = (0..4).map(|i| [i as f32 / 3.0, 0.25, f32::NAN, 1.0]);
        let colours: Vec<[f32; 4]> = colours.collect();
        mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, colours);
        mesh.insert_attribute(HEAVY, vec![1.0_f32, 2.0, 3.0, 4.0]);
        mesh
    }

    #[test]
    fn colours_and_custom_attributes_are_paint() {
        let mesh = painted();
        // Two vertices share the second particle; the last vertex belongs to none.
        let paint = Paint::read(&mesh, &vec![0, 1, 1, NO_PARTICLE].into(), 2);
        let values = |channel| paint.values(&channel, None).map(|v| v.into_owned());
        assert_eq!(values(VertexChannel::Red), Some(vec![0.0, 0.5]));
        assert_eq!(values(VertexChannel::Blue), Some(vec![0.0, 0.0]));
        assert_eq!(
            values(VertexChannel::attribute("Heavy")),
            Some(vec![1.0, 2.5])
        );
        assert_eq!(values(VertexChannel::attribute("Light")), None);
        assert_eq!(values(VertexChannel::joint("Hip")), None);
        assert_eq!(
            paint.inventory(None),
            "vertex colours and the attribute \"Heavy\""
        );
        let unpainted = Paint::read(
            &ClothGrid::new(1.0, 1.0, 2, 2).into(),
            &CompactIndices::identity(4),
            4,
        );
        assert_eq!(unpainted.inventory(None), "nothing painted");
    }

    #[test]
    fn values_are_interpolated_between_those_at_0_and_at_1() {
        let paint = Paint::read(&painted(), &CompactIndices::identity(4), 4);
        let setting = PerVertex::Painted {
            channel: VertexChannel::Green,
            zero: 1.0,
            one: 5.0,
        };
        assert_eq!(paint.resolve(&setting, None, 4), Ok(vec![2.0; 4]));
        assert_eq!(paint.resolve(&3.0.into(), None, 2), Ok(vec![3.0; 2]));
        let missing = VertexChannel::attribute("Light");
        let setting = PerVertex::painted(missing.clone(), 1.0);
        assert_eq!(paint.resolve(&setting, None, 4), Err(missing));
    }
}
