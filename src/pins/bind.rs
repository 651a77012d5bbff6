//! Resolves pins and painted multipliers to particles, when a cloth is built and when these components change.

use crate::character::reference_frame;
use crate::{
    character::paint::{ClothPaint, MULTIPLIER_RANGE, PerVertex},
    cloth::components::{ClothBody, ClothParticles, StaleDistances},
    mesh::Topology,
    pins::{BoundPin, PinAnchor, Pins},
};
use bevy::prelude::*;

/// Pins of a cloth whose `Pins` were removed.
pub(crate) static NO_PINS: Pins = Pins { pins: Vec::new() };

/// Paint of a cloth without `ClothPaint`.
pub(crate) static NO_PAINT: ClothPaint = ClothPaint {
    mass: PerVertex::Everywhere(1.0),
    bending_stiffness: PerVertex::Everywhere(1.0),
};

/// Adds implicitly pinned particles, unless they are pinned already.
fn add_implicit_pins(
    wanted: &mut Vec<(u32, PinAnchor)>,
    implicit: impl Iterator<Item = u32>,
    particles: usize,
) {
    let mut implicit = implicit.peekable();
    if implicit.peek().is_none() {
        return;
    }
    let mut is_pinned = vec![false; particles];
    for (particle, _) in &*wanted {
        is_pinned[*particle as usize] = true;
    }
    for particle in implicit {
        // Copies made by tears are pinned together with their source particles.
        if let Some(is_pinned) = is_pinned.get_mut(particle as usize)
            && !std::mem::replace(is_pinned, true)
        {
            wanted.push((particle, PinAnchor::Cloth));
        }
    }
}

/// Resolves the painted mass multipliers.
pub(crate) fn bind_masses(entity: Entity, paint: Option<&ClothPaint>, body: &mut ClothBody) {
    let wanted = &paint.unwrap_or(&NO_PAINT).mass;
    body.multipliers.mass = read_multipliers(entity, wanted, "mass", body);
    body.multipliers.bound_paint.mass = wanted.clone();
}

/// Resolves the painted stiffness multipliers; bend constraints take them when the cloth is built or reset.
pub(crate) fn bind_stiffness(entity: Entity, paint: Option<&ClothPaint>, body: &mut ClothBody) {
    let wanted = &paint.unwrap_or(&NO_PAINT).bending_stiffness;
    body.multipliers.stiffness = read_multipliers(entity, wanted, "bending stiffness", body);
    body.multipliers.bound_paint.bending_stiffness = wanted.clone();
}

/// Returns a multiplier for each particle of the whole cloth; empty if all are 1.
fn read_multipliers(entity: Entity, wanted: &PerVertex, what: &str, body: &ClothBody) -> Vec<f32> {
    if *wanted == PerVertex::default() {
        return Vec::new();
    }
    let [min, max] = MULTIPLIER_RANGE;
    match (body.paint).resolve(wanted, body.skin.as_ref(), body.topology.positions.len()) {
        Ok(mut values) => {
            for value in &mut values {
                *value = if value.is_nan() {
                    1.0
                } else {
                    value.clamp(min, max)
                };
            }
            values
        }
        Err(channel) => {
            reference_frame::warn_of_missing_channels(
                entity,
                body,
                &[channel],
                &format!("multiply the {what}"),
            );
            Vec::new()
        }
    }
}

/// Resolves the pinned particles. Those already pinned to the same anchor keep their position relative to it, new
/// ones are pinned where they are now.
pub(crate) fn bind_pins(
    entity: Entity,
    pins: &Pins,
    particles: &ClothParticles,
    body: &mut ClothBody,
) {
    body.bound_pins = pins.clone();
    body.tether_source.stale = StaleDistances::All;
    body.tracked_frame = None;
    let Topology {
        positions,
        vertex_to_particle,
        ..
    } = &body.topology;
    let paint = |channel: &_| body.paint.values(channel, body.skin.as_ref());
    let (mut wanted, unknown) = pins.resolve(positions, vertex_to_particle, paint);
    add_implicit_pins(&mut wanted, body.implicitly_pinned(), positions.len());
    reference_frame::warn_of_missing_channels(entity, body, &unknown.channels, "pin particles");
    let unknown = unknown.vertices;
    if let Some(torn) = &body.torn {
        // A pin holds all copies of its particle.
        let mut anchors: Vec<Option<PinAnchor>> = vec![None; positions.len()];
        for &(particle, anchor) in &wanted {
            anchors[particle as usize] = Some(anchor);
        }
        let copies = (positions.len() as u32..).zip(&torn.source_particle);
        wanted.extend(copies.filter_map(|(copy, &source)| {
            let anchor = anchors.get(source as usize).copied().flatten();
            anchor.map(|anchor| (copy, anchor))
        }));
    }
    if !unknown.is_empty() {
        let count = vertex_to_particle.len();
        if body.rope.is_some() {
            warn!("rope {entity}: no particle {unknown:?} to pin; it has {count} particles");
        } else {
            warn!("cloth {entity}: no vertex {unknown:?} to pin; its mesh has {count} vertices");
        }
    }
    let mut is_implicit = vec![false; particles.len()];
    for particle in body.implicitly_pinned() {
        is_implicit[particle as usize] = true;
    }
    let mut before: Vec<Option<BoundPin>> = vec![None; particles.len()];
    for pin in body.pins.drain(..) {
        before[pin.particle as usize] = Some(pin);
    }
    body.pins = wanted
        .into_iter()
        .map(|(particle, anchor)| match before[particle as usize] {
            Some(pin) if pin.anchor == anchor => pin,
            _ => {
                let position = particles.position.get(particle as usize);
                let pin = BoundPin::new(particle, anchor, position, particles.origin);
                // A particle pinned by the animation follows its rest position.
                match is_implicit[particle as usize] && anchor == PinAnchor::Cloth {
                    true => pin.with_offset(body.rest()[particle as usize]),
                    false => pin,
                }
            }
        })
        .collect();
    let follows_cloth =
        |pin: &BoundPin| (pin.anchor == PinAnchor::Cloth).then_some(pin.particle as usize);
    let particles_on_cloth = body.pins.iter().filter_map(follows_cloth);
    body.reference_frame.dominant_joint = body
        .skin
        .as_ref()
        .and_then(|skin| skin.dominant_joint(particles_on_cloth));
}
