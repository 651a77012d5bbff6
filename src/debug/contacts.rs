//! Draws contacts of cloths with colliders, themselves and each other.

use super::ClothGizmoGroup;
use crate::{
    cloth::{Cloth, SelfCollision, particles::ClothParticles, shape::ClothShape},
    collision::{
        active_colliders::ActiveColliders, broad_phase::ClothIslands, contacts::ClothContacts,
        layers::ClothLayers,
    },
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
        &ClothShape,
        &RenderPose,
        &ClothContacts,
        Option<&ClothLayers>,
    )>,
    colliders: Res<ActiveColliders>,
    islands: Res<ClothIslands>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    for (particles, cloth, shape, render_pose, own, layers) in &cloths {
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
        for pair in own.touching(particles, TOLERANCE) {
            let [a, b] = pair.map(|i| render_pose.particle_position(particles, i as usize));
            draw_cloth_contact(&mut gizmos, a.midpoint(b));
        }
    }
    for island in &islands.islands {
        let position = |(cloth, particle): (usize, usize)| {
            let (particles, _, _, render_pose, ..) = cloths.get(*island.cloths.get(cloth)?).ok()?;
            (particle < particles.len()).then(|| render_pose.particle_position(particles, particle))
        };
        for pair in island.contacts.touching(TOLERANCE) {
            if let [Some(a), Some(b)] = pair.map(position) {
                draw_cloth_contact(&mut gizmos, a.midpoint(b));
            }
        }
    }
}

fn draw_cloth_contact(gizmos: &mut Gizmos<ClothGizmoGroup>, at: Vec3) {
    gizmos.cross(Isometry3d::from_translation(at), CROSS_SIZE, AQUA);
}
