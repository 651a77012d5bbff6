//! Where colliders are touched, and where cloth touches itself.

use super::{ClothGizmoGroup, ClothGizmos};
use crate::{
    cloth::{Cloth, SelfCollision},
    components::{ClothBody, Particles, SelfContacts},
    layers::ClothLayers,
    systems::ActiveColliders,
};
use bevy::{
    color::palettes::css::{AQUA, LIME},
    prelude::*,
};

/// A particle that is no farther from where contact begins than this touches, m.
const TOUCH: f32 = 5e-4;

/// How large a cross is, m.
const SIZE: f32 = 0.012;

pub(super) fn draw_contacts(
    cloths: Query<(
        &Particles,
        &Cloth,
        &ClothBody,
        &SelfContacts,
        Option<&ClothLayers>,
    )>,
    colliders: Res<ActiveColliders>,
    show: Res<ClothGizmos>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    if !show.contacts {
        return;
    }
    for (particles, cloth, body, own, layers) in &cloths {
        let near = cloth.fabric.thickness + TOUCH;
        for collider in colliders.meeting(layers) {
            let pose = collider.end;
            let side = if collider.hollow { -1.0 } else { 1.0 };
            let to_local = pose.rotation.inverse();
            for i in 0..particles.len() {
                let place = to_local * (particles.world_position(i) - pose.translation);
                let (distance, normal) = collider.shape.distance(place);
                if distance * side <= near {
                    let touched = pose.rotation * (place - normal * distance) + pose.translation;
                    gizmos.cross(Isometry3d::from_translation(touched), SIZE, LIME);
                }
            }
        }
        if cloth.self_collision == SelfCollision::Off {
            continue;
        }
        for pair in own.touching(particles, TOUCH) {
            let [a, b] = pair.map(|i| body.picture.place(particles, i as usize));
            gizmos.cross(Isometry3d::from_translation(a.midpoint(b)), SIZE, AQUA);
        }
    }
}
