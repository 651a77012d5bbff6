//! Rigid bodies of a physics engine, from the cloth's side: contacts in a step, and pins attached to them. The
//! [`integrations`](crate::engines) supply them.

use crate::solver::{BodyAttachment, BodyMotion};
use crate::{
    cloth::{
        components::ClothBody, fingerprint::Fingerprint, tethers::StaleDistances,
        transforms::Anchors,
    },
    pins::PinAnchor,
};
use bevy::prelude::*;

/// Finds the particles pinned to dynamic bodies. Returns whether masses must be recomputed.
pub(crate) fn attach_pins(
    entity: Entity,
    body: &mut ClothBody,
    origin: Vec3,
    anchors: &Anchors,
) -> bool {
    if body.bodies.is_empty() && body.bodies.attachments.is_empty() {
        return false;
    }
    let before = std::mem::take(&mut body.bodies.attachments);
    let mut attachments = Vec::with_capacity(before.len());
    for pin in &mut body.pins {
        let anchor = match pin.anchor {
            PinAnchor::World => continue,
            PinAnchor::Cloth => entity,
            PinAnchor::Entity(other) => other,
        };
        let list = &body.bodies.list;
        let Ok(index) = list.binary_search_by_key(&anchor.to_bits(), |body| body.id) else {
            continue;
        };
        let motion = &list[index].motion;
        if !motion.is_dynamic() {
            continue;
        }
        let at = pin
            .target(anchors.relative(anchor, origin), origin)
            .position;
        let lever_arm = at + origin - motion.pose.translation;
        attachments.push(BodyAttachment {
            particle: pin.particle,
            body: index,
            local_position: motion.pose.rotation.inverse() * lever_arm,
            inverse_mass: 0.0,
        });
    }
    let particles = |attachments: &[BodyAttachment]| {
        attachments
            .iter()
            .map(|attachment| attachment.particle)
            .collect::<Vec<_>>()
    };
    let changed = particles(&before) != particles(&attachments);
    if changed {
        body.tether_source.stale = StaleDistances::All;
    }
    body.bodies.attachments = attachments;
    changed
}

/// Adds the bodies near a sleeping cloth to its fingerprint.
pub(crate) fn add_to_fingerprint(fingerprint: &mut Fingerprint, body: &ClothBody) {
    for body in &body.bodies.list {
        let BodyMotion {
            pose,
            velocity,
            angular_velocity,
            asleep,
            ..
        } = body.motion;
        fingerprint.word(body.id);
        fingerprint.word(u64::from(body.motion.is_dynamic()) << 1 | u64::from(asleep));
        fingerprint.numbers(&pose.rotation.to_array());
        fingerprint.vector(pose.translation);
        fingerprint.vector(velocity);
        fingerprint.vector(angular_velocity);
        fingerprint.word(body.parts.len() as u64);
    }
}
