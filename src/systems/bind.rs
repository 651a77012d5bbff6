//! Finds which particles pins, masses and stiffness are meant for, when a cloth is built and when its user has
//! changed his mind.

use super::guide;
use crate::{
    components::{ClothBody, Particles, Stale},
    mesh::Topology,
    paint::{ClothPaint, MULTIPLES, PerVertex},
    pins::{BoundPin, PinAnchor, Pins},
};
use bevy::prelude::*;

/// What a cloth has whose `Pins` were removed.
pub(super) static NO_PINS: Pins = Pins { pins: Vec::new() };

/// And what one has without paint.
pub(super) static NO_PAINT: ClothPaint = ClothPaint {
    mass: PerVertex::Everywhere(1.0),
    bending_stiffness: PerVertex::Everywhere(1.0),
};

/// Adds those that are pinned besides, if they are not yet.
fn hold_too(wanted: &mut Vec<(u32, PinAnchor)>, also: impl Iterator<Item = u32>, particles: usize) {
    let mut also = also.peekable();
    if also.peek().is_none() {
        return;
    }
    let mut held = vec![false; particles];
    for (particle, _) in &*wanted {
        held[*particle as usize] = true;
    }
    for particle in also {
        // Copies are held with what they are copies of.
        if let Some(held) = held.get_mut(particle as usize)
            && !std::mem::replace(held, true)
        {
            wanted.push((particle, PinAnchor::Cloth));
        }
    }
}

/// Finds anew how much heavier particles are than their area says.
pub(super) fn bind_masses(entity: Entity, paint: Option<&ClothPaint>, body: &mut ClothBody) {
    let wanted = &paint.unwrap_or(&NO_PAINT).mass;
    body.multiples.mass = multiples(entity, wanted, "mass", body);
    body.multiples.bound.mass = wanted.clone();
}

/// The same for bends; they follow when the cloth is built or reset.
pub(super) fn bind_stiffness(entity: Entity, paint: Option<&ClothPaint>, body: &mut ClothBody) {
    let wanted = &paint.unwrap_or(&NO_PAINT).bending_stiffness;
    body.multiples.stiffness = multiples(entity, wanted, "bending stiffness", body);
    body.multiples.bound.bending_stiffness = wanted.clone();
}

/// A multiple for each particle of the whole cloth; none if all are one.
fn multiples(entity: Entity, wanted: &PerVertex, what: &str, body: &ClothBody) -> Vec<f32> {
    if *wanted == PerVertex::default() {
        return Vec::new();
    }
    let [least, most] = MULTIPLES;
    match (body.paint).resolve(wanted, body.skin.as_ref(), body.topology.positions.len()) {
        Ok(mut values) => {
            for value in &mut values {
                *value = if value.is_nan() {
                    1.0
                } else {
                    value.clamp(least, most)
                };
            }
            values
        }
        Err(channel) => {
            guide::warn_of_missing(entity, body, &[channel], &format!("multiply the {what}"));
            Vec::new()
        }
    }
}

/// Finds the pinned particles anew. Those that were pinned to the same anchor before stay as they
/// are, new ones are held where they are now.
pub(super) fn rebind(entity: Entity, pins: &Pins, particles: &Particles, body: &mut ClothBody) {
    body.bound = pins.clone();
    body.reach.stale = Stale::All;
    body.follows = None;
    let Topology {
        positions,
        vertex_to_particle,
        ..
    } = &body.topology;
    let paint = |channel: &_| body.paint.values(channel, body.skin.as_ref());
    let (mut wanted, unknown) = pins.resolve(positions, vertex_to_particle, paint);
    hold_too(&mut wanted, body.also_pinned(), positions.len());
    guide::warn_of_missing(entity, body, &unknown.channels, "pin");
    let unknown = unknown.vertices;
    if let Some(torn) = &body.torn {
        // What holds a particle holds all that has become of it.
        let mut anchors: Vec<Option<PinAnchor>> = vec![None; positions.len()];
        for &(particle, anchor) in &wanted {
            anchors[particle as usize] = Some(anchor);
        }
        let copies = (positions.len() as u32..).zip(&torn.ancestor);
        wanted.extend(copies.filter_map(|(copy, &of)| {
            let anchor = anchors.get(of as usize).copied().flatten();
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
    let mut at_rest = vec![false; particles.len()];
    for particle in body.also_pinned() {
        at_rest[particle as usize] = true;
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
                let place = particles.position.get(particle as usize);
                let pin = BoundPin::new(particle, anchor, place, particles.origin);
                // What an animation holds is where that has it.
                match at_rest[particle as usize] && anchor == PinAnchor::Cloth {
                    true => pin.to_rest(body.rest()[particle as usize]),
                    false => pin,
                }
            }
        })
        .collect();
    let held = |pin: &BoundPin| (pin.anchor == PinAnchor::Cloth).then_some(pin.particle as usize);
    let held = body.pins.iter().filter_map(held);
    body.guide.joint = body.skin.as_ref().and_then(|skin| skin.main_joint(held));
}
