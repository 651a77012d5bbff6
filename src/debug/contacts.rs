//! Where colliders are touched.

use super::{ClothGizmoGroup, ClothGizmos};
use crate::{cloth::Cloth, components::Particles, layers::ClothLayers, systems::ActiveColliders};
use bevy::{color::palettes::css::LIME, prelude::*};

/// A particle that is no farther from where contact begins than this touches, m.
const TOUCH: f32 = 5e-4;

pub(super) fn draw_contacts(
    cloths: Query<(&Particles, &Cloth, Option<&ClothLayers>)>,
    colliders: Res<ActiveColliders>,
    show: Res<ClothGizmos>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    if !show.contacts {
        return;
    }
    for (particles, cloth, layers) in &cloths {
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
                    gizmos.cross(Isometry3d::from_translation(touched), 0.012, LIME);
                }
            }
        }
    }
}
