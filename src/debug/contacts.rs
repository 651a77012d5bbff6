//! Draws contacts with colliders and self-contacts.

use super::ClothGizmoGroup;
use crate::{
    cloth::{Cloth, SelfCollision, particles::ClothParticles},
    collision::{active_colliders::ActiveColliders, contacts::ClothContacts, layers::ClothLayers},
    render::pose::RenderPose,
};
use bevy::{
    color::palettes::css::{AQUA, LIME},
    prelude::*,
};

/// A particle within this distance of the contact surface is drawn as a contact, m.
const TOLERANCE: f32 = 5e-4;

/// Size of a cross, m.
const CROSS_SIZE: f32 = 0.012;

pub(super) fn draw_contacts(
    cloths: Query<(
        &ClothParticles,
        &Cloth,
        &RenderPose,
        &ClothContacts,
        Option<&ClothLayers>,
    )>,
    colliders: Res<ActiveColliders>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    for (particles, cloth, render_pose, own, layers) in &cloths {
        let contact_distance = cloth.fabric.thickness + TOLERANCE;
        for collider in colliders.on_layers(layers) {
            let pose = collider.end;
            let side = if collider.hollow { -1.0 } else { 1.0 };
            let to_local = pose.rotation.inverse();
            for i in 0..particles.len() {
                let position = to_local * (particles.world_position(i) - pose.translation);
                let (distance, normal) = collider.shape.distance(position);
                if distance * side <= contact_distance {
                    let contact = pose.rotation * (position - normal * distance) + pose.translation;
                    gizmos.cross(Isometry3d::from_translation(contact), CROSS_SIZE, LIME);
                }
            }
        }
        if cloth.self_collision == SelfCollision::Off {
            continue;
        }
        for pair in own.touching(particles, TOLERANCE) {
            let [a, b] = pair.map(|i| render_pose.particle_position(particles, i as usize));
            gizmos.cross(
                Isometry3d::from_translation(a.midpoint(b)),
                CROSS_SIZE,
                AQUA,
            );
        }
    }
}
