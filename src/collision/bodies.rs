//! Rigid bodies of a physics engine, from the cloth's side: contacts in a step, and pins attached to them. The
//! integrations in `engines` supply them.

use crate::solver::{Bodies, BodyAttachment, BodyMotion};
use crate::{
    cloth::{fingerprint::Fingerprint, transforms::Anchors},
    pins::BoundPins,
};
use bevy::prelude::*;

/// Rigid bodies of a physics engine near a cloth. Written by the integrations before each step, with attachments
/// found at the beginning of the step and impulses collected in its substeps; read by the integrations and by sleep.
#[derive(Component, Clone, Debug, Default, Deref, DerefMut)]
#[component(clone_behavior = Ignore)]
pub(crate) struct ClothBodies(pub(crate) Bodies);

impl ClothBodies {
    /// Returns whether a particle is attached to a dynamic body. Such a particle pulls the body and does not carry the cloth.
    pub(crate) fn is_attached(&self, particle: u32) -> bool {
        let mut attachments = self.attachments.iter();
        attachments.any(|attachment| attachment.particle == particle)
    }
}

/// Finds the particles pinned to dynamic bodies. Returns whether they have changed.
pub(crate) fn attach_pins(
    entity: Entity,
    bodies: &mut ClothBodies,
    pins: &mut BoundPins,
    origin: Vec3,
    anchors: &Anchors,
) -> bool {
    if bodies.is_empty() && bodies.attachments.is_empty() {
        return false;
    }
    let before = std::mem::take(&mut bodies.attachments);
    let mut attachments = Vec::with_capacity(before.len());
    for pin in &mut pins.pins {
        let Some(anchor) = pin.anchor.entity_of(entity) else {
            continue;
        };
        let list = &bodies.list;
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
    bodies.attachments = attachments;
    changed
}

/// Adds the bodies near a sleeping cloth to its fingerprint.
pub(crate) fn add_to_fingerprint(fingerprint: &mut Fingerprint, bodies: &ClothBodies) {
    for body in &bodies.list {
        let BodyMotion {
            pose,
            velocity,
            angular_velocity,
            asleep,
            ..
        } = body.motion;
        fingerprint.word(body.id);
        fingerprint.word(u64::from(body.motion.is_dynamic()) << 1 | u64::from(asleep));
        fingerprint.pose(&pose);
        fingerprint.vector(velocity);
        fingerprint.vector(angular_velocity);
        fingerprint.word(body.parts.len() as u64);
    }
}
