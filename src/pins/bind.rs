//! Resolves pins to particles, when a cloth is built and when its pins change.

use crate::{
    cloth::{particles::ClothParticles, shape::ClothShape},
    mesh::{
        Topology,
        paint::{JointWeights, Paint, warn_of_missing_channels},
    },
    pins::{BoundPin, BoundPins, PinAnchor, Pins, select::UnresolvedPins},
};
use bevy::prelude::*;
use std::fmt::Display;

/// Pins of a cloth whose `Pins` were removed.
pub(crate) static NO_PINS: Pins = Pins { pins: Vec::new() };

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

/// Pins all copies, made by tears, of pinned particles.
fn pin_copies(wanted: &mut Vec<(u32, PinAnchor)>, shape: &ClothShape) {
    let Some(torn) = &shape.torn else {
        return;
    };
    let count = shape.topology.positions.len();
    let mut anchors: Vec<Option<PinAnchor>> = vec![None; count];
    for &(particle, anchor) in &*wanted {
        anchors[particle as usize] = Some(anchor);
    }
    let copies = (count as u32..).zip(&torn.source_particle);
    wanted.extend(copies.filter_map(|(copy, &source)| {
        let anchor = anchors.get(source as usize).copied().flatten()?;
        Some((copy, anchor))
    }));
}

/// Data of a cloth from which its pins are resolved.
pub(crate) struct PinnedCloth<'a> {
    pub(crate) shape: &'a ClothShape,
    /// Painted vertex channels of its mesh.
    pub(crate) paint: &'a Paint,
    /// Joints of its skeleton, if it has one.
    pub(crate) joints: Option<&'a dyn JointWeights>,
    /// Particles pinned regardless of `Pins`, besides those on the seam.
    pub(crate) implicit: &'a [u32],
}

/// Warns of pins of vertices that do not exist, and of those that select no particle.
fn warn_of_unresolved(
    label: &dyn Display,
    pins: &Pins,
    cloth: &PinnedCloth,
    UnresolvedPins {
        vertices, empty, ..
    }: &UnresolvedPins,
) {
    let is_rope = cloth.shape.segments.is_some();
    let kind = if is_rope { "rope" } else { "cloth" };
    if !empty.is_empty() {
        let count = pins.pins.len();
        warn!(
            "{kind} {label}: of its {count} pins, counted from 0, {empty:?} select no particle; a predicate is given the \
             positions of the mesh, m, without the transform of the cloth"
        );
    }
    if !vertices.is_empty() {
        let count = cloth.shape.topology.vertex_to_particle.len();
        if is_rope {
            warn!("rope {label}: no particle {vertices:?} to pin; it has {count} particles");
        } else {
            warn!("cloth {label}: no vertex {vertices:?} to pin; its mesh has {count} vertices");
        }
    }
}

/// Resolves the pinned particles. Those already pinned to the same anchor keep their position relative to it, new
/// ones are pinned where they are now.
pub(crate) fn bind_pins(
    label: &dyn Display,
    pins: &Pins,
    particles: &ClothParticles,
    cloth: &PinnedCloth,
    bound: &mut BoundPins,
) {
    bound.bound_from = pins.clone();
    bound.lost_anchors.clear();
    let Topology {
        positions,
        vertex_to_particle,
        ..
    } = &cloth.shape.topology;
    let (paint, joints) = (cloth.paint, cloth.joints);
    let values = |channel: &_| paint.values(channel, joints);
    let (mut wanted, unknown) = pins.resolve(positions, vertex_to_particle, values);
    let implicit = bound.seam.iter().chain(cloth.implicit).copied();
    add_implicit_pins(&mut wanted, implicit.clone(), positions.len());
    warn_of_missing_channels(label, paint, joints, &unknown.channels, "pin particles");
    warn_of_unresolved(label, pins, cloth, &unknown);
    pin_copies(&mut wanted, cloth.shape);
    let mut is_implicit = vec![false; particles.len()];
    for particle in implicit {
        is_implicit[particle as usize] = true;
    }
    let mut before: Vec<Option<BoundPin>> = vec![None; particles.len()];
    for pin in bound.pins.drain(..) {
        before[pin.particle as usize] = Some(pin);
    }
    let rest = cloth.shape.rest();
    bound.pins = wanted
        .into_iter()
        .map(|(particle, anchor)| match before[particle as usize] {
            Some(pin) if pin.anchor == anchor => pin,
            _ => {
                let position = particles.position.get(particle as usize);
                let pin = BoundPin::new(particle, anchor, position, particles.origin);
                // A particle pinned by the animation follows its rest position.
                match is_implicit[particle as usize] && anchor == PinAnchor::Cloth {
                    true => pin.with_offset(rest[particle as usize]),
                    false => pin,
                }
            }
        })
        .collect();
}
