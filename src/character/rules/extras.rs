//! Custom properties of a glTF file, which Blender exports if "Custom Properties" is enabled.
//!
//! The names are flat, so that they can be typed into the properties of an object; the manual lists them.

use crate::{
    character::{
        Backstop, ClothInertia, ClothMaxDistance, ClothPaint, ClothPart, PerVertex, VertexChannel,
        skeleton_colliders::SkeletonColliders,
    },
    cloth::{Cloth, Fabric, SelfCollision},
    label::EntityLabelItem,
    pins::{ClothEdge, Pins},
};
use bevy::prelude::*;
use serde_json::{Map, Value};

/// Prefix of all properties for cloth.
const PREFIX: &str = "cloth";

/// All supported properties.
const KNOWN: &[&str] = &[
    "cloth",
    "cloth_backstop",
    "cloth_backstop_radius",
    "cloth_collider",
    "cloth_damping",
    "cloth_gravity_scale",
    "cloth_mass",
    "cloth_mass_paint",
    "cloth_max_distance",
    "cloth_max_distance_paint",
    "cloth_part",
    "cloth_pins",
    "cloth_self_collision",
    "cloth_stiffness",
    "cloth_stiffness_paint",
    "cloth_inertia",
];

/// Components described by the properties of a mesh; `None` for properties that are absent.
#[derive(Clone, Debug, Default, PartialEq)]
struct ExtrasComponents {
    cloth: Option<Cloth>,
    pins: Option<Pins>,
    max_distance: Option<ClothMaxDistance>,
    part: Option<ClothPart>,
    paint: Option<ClothPaint>,
    inertia: Option<ClothInertia>,
    colliders: Option<SkeletonColliders>,
}

/// Inserts the components described by custom properties. `texts` are those of the entity, its node, its mesh and
/// its material; for duplicate properties, the first one applies.
pub(super) fn insert_components<'a>(
    entity: &mut EntityCommands,
    label: EntityLabelItem,
    texts: impl Iterator<Item = &'a str>,
) {
    let mut all = Map::new();
    for text in texts {
        // Skip extras that are not a JSON object.
        if let Ok(Value::Object(found)) = serde_json::from_str(text) {
            for (key, value) in found {
                if key.starts_with(PREFIX) {
                    all.entry(key).or_insert(value);
                }
            }
        }
    }
    if all.is_empty() {
        return;
    }
    let (found, errors) = read(&all);
    for error in errors {
        error!("cloth {label}: custom property {error}");
    }
    insert(entity, found.colliders);
    if found.cloth.is_some() {
        insert(entity, found.pins);
        insert(entity, found.max_distance);
        insert(entity, found.part);
        insert(entity, found.paint);
        insert(entity, found.inertia);
        // Last: it is built from all other components.
        insert(entity, found.cloth);
    }
}

fn insert(entity: &mut EntityCommands, component: Option<impl Component>) {
    if let Some(component) = component {
        entity.try_insert(component);
    }
}

/// Reads properties. Returns a message for each invalid one and skips it.
fn read(all: &Map<String, Value>) -> (ExtrasComponents, Vec<String>) {
    let mut errors = Vec::new();
    for key in all.keys().filter(|key| !KNOWN.contains(&key.as_str())) {
        errors.push(format!(
            "{key}: is not a property of bevy_drape; supported are {}",
            KNOWN.join(", ")
        ));
    }
    let mut reader = ExtrasReader {
        all,
        errors: &mut errors,
    };
    let mut components = ExtrasComponents {
        colliders: reader.collider(),
        ..default()
    };
    if let Some(fabric) = reader.fabric() {
        let mut cloth = Cloth {
            fabric,
            ..default()
        };
        if let Some(damping) = reader.number("cloth_damping") {
            cloth.damping = damping;
        }
        if let Some(scale) = reader.number("cloth_gravity_scale") {
            cloth.gravity_scale = scale;
        }
        if let Some(collides) = reader.self_collision() {
            cloth.self_collision = collides;
        }
        components.cloth = Some(cloth);
        components.pins = reader.pins();
        components.max_distance = reader.max_distance();
        components.part = reader.channel("cloth_part").map(ClothPart::painted);
        let mass = reader.multiple("cloth_mass", "cloth_mass_paint");
        let stiffness = reader.multiple("cloth_stiffness", "cloth_stiffness_paint");
        components.paint = (mass.is_some() || stiffness.is_some()).then(|| ClothPaint {
            mass: mass.unwrap_or_default(),
            bending_stiffness: stiffness.unwrap_or_default(),
        });
        components.inertia = reader.number("cloth_inertia").map(ClothInertia::uniform);
    } else if components.colliders.is_none() && errors.is_empty() && !all.contains_key("cloth") {
        errors.push(format!(
            "cloth: is missing; the other properties ({}) have no effect without it",
            all.keys().cloned().collect::<Vec<_>>().join(", ")
        ));
    }
    (components, errors)
}

struct ExtrasReader<'a> {
    all: &'a Map<String, Value>,
    errors: &'a mut Vec<String>,
}

impl ExtrasReader<'_> {
    fn wrong(&mut self, key: &str, wanted: &str) {
        let value = &self.all[key];
        self.errors
            .push(format!("{key}: is {value}, but must be {wanted}"));
    }

    fn number(&mut self, key: &str) -> Option<f32> {
        let value = self.all.get(key)?;
        let number = value.as_f64().map(|number| number as f32);
        if number.is_none_or(|number| !number.is_finite()) {
            self.wrong(key, "a number");
            return None;
        }
        number
    }

    /// Reads a boolean, or a number: older versions of Blender have no boolean properties.
    fn switch(&mut self, key: &str) -> Option<bool> {
        match self.all.get(key)? {
            Value::Bool(on) => Some(*on),
            Value::Number(number) => Some(number.as_f64() != Some(0.0)),
            _ => {
                self.wrong(key, "true or false");
                None
            }
        }
    }

    /// Reads a word, `true`, or the thickness of capsules.
    fn collider(&mut self) -> Option<SkeletonColliders> {
        let key = "cloth_collider";
        match self.all.get(key)? {
            Value::String(word) if word == "capsules" => Some(SkeletonColliders::capsules()),
            Value::String(word) if word == "mesh" => Some(SkeletonColliders::mesh()),
            Value::Number(_) => {
                let thickness = self.number(key).filter(|thickness| *thickness > 0.0)?;
                Some(SkeletonColliders {
                    thickness,
                    ..default()
                })
            }
            Value::Bool(on) => on.then(SkeletonColliders::capsules),
            _ => {
                self.wrong(key, "capsules, mesh, true, false or a thickness");
                None
            }
        }
    }

    /// Reads `true` or the name of a fabric.
    fn fabric(&mut self) -> Option<Fabric> {
        let Value::String(name) = self.all.get("cloth")? else {
            return self.switch("cloth")?.then(Fabric::default);
        };
        let preset = Fabric::named(name);
        if preset.is_none() {
            let names = Fabric::names();
            self.wrong("cloth", &format!("true, false or a fabric: {names}"));
        }
        Some(preset.unwrap_or_default())
    }

    fn self_collision(&mut self) -> Option<SelfCollision> {
        let key = "cloth_self_collision";
        match self.all.get(key)? {
            Value::String(word) if word == "off" => Some(SelfCollision::Off),
            Value::String(word) if word == "on" => Some(SelfCollision::On),
            Value::String(_) => {
                self.wrong(key, "on or off");
                None
            }
            _ => self.switch(key).map(|on| match on {
                true => SelfCollision::On,
                false => SelfCollision::Off,
            }),
        }
    }

    fn channel(&mut self, key: &str) -> Option<VertexChannel> {
        let channel = self.all.get(key)?.as_str().and_then(channel);
        if channel.is_none() {
            self.wrong(key, CHANNELS);
        }
        channel
    }

    /// Reads a uniform value, or, with a painted channel, a range from `zero` to that value.
    fn painted(&mut self, key: &str, paint: &str, zero: f32) -> Option<PerVertex> {
        let channel = self.channel(paint);
        let one = self.number(key);
        if channel.is_some() && one.is_none() && !self.all.contains_key(key) {
            self.errors.push(format!(
                "{paint}: needs {key}, the value where the channel is 1"
            ));
        }
        Some(match channel {
            Some(channel) => PerVertex::Painted {
                channel,
                zero,
                one: one?,
            },
            None => PerVertex::Everywhere(one?),
        })
    }

    /// Reports a property that has no effect without another one.
    fn needs(&mut self, key: &str, other: &str) {
        if self.all.contains_key(key) && !self.all.contains_key(other) {
            self.errors
                .push(format!("{key}: does nothing without {other}"));
        }
    }

    fn multiple(&mut self, key: &str, paint: &str) -> Option<PerVertex> {
        self.painted(key, paint, 1.0)
    }

    fn max_distance(&mut self) -> Option<ClothMaxDistance> {
        let distance = self.painted("cloth_max_distance", "cloth_max_distance_paint", 0.0);
        let behind = self.number("cloth_backstop");
        let radius = self.number("cloth_backstop_radius");
        self.needs("cloth_backstop", "cloth_max_distance");
        self.needs("cloth_backstop_radius", "cloth_backstop");
        let distance = distance?;
        let backstop = behind.map(|behind| Backstop {
            distance: behind.into(),
            radius: radius.unwrap_or(Backstop::default().radius),
        });
        Some(ClothMaxDistance { distance, backstop })
    }

    /// Reads a list separated by commas.
    fn pins(&mut self) -> Option<Pins> {
        let key = "cloth_pins";
        let words = self.all.get(key)?.as_str();
        let pins = words.and_then(|words| {
            words
                .split(',')
                .map(str::trim)
                .try_fold(Pins::none(), |pins, word| {
                    Some(pins.and(match word.to_lowercase().as_str() {
                        "none" => Pins::none(),
                        "top" => Pins::edge(ClothEdge::Top),
                        "bottom" => Pins::edge(ClothEdge::Bottom),
                        "left" => Pins::edge(ClothEdge::Left),
                        "right" => Pins::edge(ClothEdge::Right),
                        "corners" => Pins::corners(),
                        "top corners" | "top_corners" => Pins::top_corners(),
                        _ => Pins::painted(channel(word)?),
                    }))
                })
        });
        if pins.is_none() {
            let wanted = "top, bottom, left, right, corners, top_corners, or ";
            self.wrong(key, &format!("{wanted}{CHANNELS}, or several with commas"));
        }
        pins
    }
}

/// Supported channels, for error messages.
const CHANNELS: &str = "red, green, blue, alpha, attribute:NAME or joint:NAME";

fn channel(word: &str) -> Option<VertexChannel> {
    match word.trim().to_lowercase().as_str() {
        "red" => return Some(VertexChannel::Red),
        "green" => return Some(VertexChannel::Green),
        "blue" => return Some(VertexChannel::Blue),
        "alpha" => return Some(VertexChannel::Alpha),
        _ => {}
    }
    let (kind, name) = word.split_once(':')?;
    match kind.trim() {
        "attribute" => Some(VertexChannel::attribute(name.trim())),
        "joint" => Some(VertexChannel::joint(name.trim())),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
