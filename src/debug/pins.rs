//! Draws pinned particles.

use super::ClothGizmoGroup;
use crate::{
    cloth::{Cloth, particles::ClothParticles},
    render::pose::RenderPose,
};
use bevy::{color::palettes::css::GOLD, prelude::*};

pub(super) fn draw_pins(
    cloths: Query<(&ClothParticles, &RenderPose), With<Cloth>>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    for (particles, render_pose) in &cloths {
        for i in (0..particles.len()).filter(|&i| particles.is_pinned(i)) {
            let position =
                Isometry3d::from_translation(render_pose.particle_position(particles, i));
            gizmos.cross(position, 0.05, GOLD);
        }
    }
}
