//! Draws the tethers of particles to their pins.

use super::{ClothGizmoGroup, sample_evenly};
use crate::{
    cloth::{Cloth, body::ClothBody, particles::ClothParticles},
    render::pose::RenderPose,
};
use bevy::{
    color::palettes::css::{DIM_GRAY, ORANGE},
    prelude::*,
};

/// Largest number of particles per cloth drawn with their tethers.
const MAX_DRAWN: usize = 400;

/// A tether counts as taut above this fraction of its maximum length.
const TAUT_FRACTION: f32 = 0.995;

pub(super) fn draw_tethers(
    cloths: Query<(&ClothParticles, &ClothBody, &RenderPose), With<Cloth>>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    for (particles, body, render_pose) in &cloths {
        let scale = body
            .ramped
            .map_or(f32::INFINITY, |ramped| ramped.tether_scale);
        // Tethers have no effect at this scale.
        if scale == f32::INFINITY {
            continue;
        }
        for i in sample_evenly(particles.len(), MAX_DRAWN) {
            let from = render_pose.particle_position(particles, i);
            for (anchor, length) in body.tethers.for_particle(i as u32) {
                let anchor = anchor as usize;
                if anchor >= particles.len() {
                    continue;
                }
                let to = render_pose.particle_position(particles, anchor);
                let is_taut = from.distance(to) > TAUT_FRACTION * scale * length;
                gizmos.line(from, to, if is_taut { ORANGE } else { DIM_GRAY });
            }
        }
    }
}
