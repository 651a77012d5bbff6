//! Draws contacts of cloths with colliders, themselves and each other.

use super::ClothGizmoGroup;
use crate::{
    cloth::{Cloth, SelfCollision, particles::ClothParticles, shape::ClothShape},
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
        Entity,
        &ClothParticles,
        &Cloth,
        &ClothShape,
        &RenderPose,
        &ClothContacts,
        Option<&ClothLayers>,
    )>,
    colliders: Res<ActiveColliders>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    for (entity, particles, cloth, shape, _, own, layers) in &cloths {
        let contact_distance = shape.thickness(&cloth.fabric) + TOLERANCE;
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
        let forces = &own.contacts.warm_start;
        let within = forces.own.iter().map(|force| (Some(entity), force));
        let others = forces.with_others.iter();
        let others = others.map(|(id, force)| (Entity::try_from_bits(*id), force));
        for (other, force) in within.chain(others) {
            let [a, b] = force.pair.map(|i| i as usize);
            let ends = [(Some(entity), a), (other, b)].map(|(cloth, particle)| {
                let (_, particles, _, _, render_pose, ..) = cloths.get(cloth?).ok()?;
                let is_known = particle < particles.len();
                is_known.then(|| render_pose.particle_position(particles, particle))
            });
            if let [Some(a), Some(b)] = ends {
                gizmos.cross(
                    Isometry3d::from_translation(a.midpoint(b)),
                    CROSS_SIZE,
                    AQUA,
                );
            }
        }
    }
}
