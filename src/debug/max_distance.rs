//! Draws the max-distance spheres and backstops of particles.

use super::{ClothGizmoGroup, sample_evenly};
use crate::{
    character::{frame_history::ReferenceFrame, max_distance::PINNED_DISTANCE},
    cloth::Cloth,
    render::pose::RenderPose,
};
use bevy::{
    color::palettes::css::{HOT_PINK, MEDIUM_PURPLE},
    prelude::*,
};

/// Largest number of particles per cloth drawn with their spheres.
const MAX_DRAWN: usize = 80;

/// Radius of the rings at a backstop, m.
const RING_RADIUS: f32 = 0.02;

pub(super) fn draw_max_distance(
    cloths: Query<(&ReferenceFrame, &RenderPose), With<Cloth>>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    for (frame, render_pose) in &cloths {
        let (constraints, history) = (&frame.motion_constraints, &frame.history);
        let count = constraints.max_distances.len();
        // There are none before the first step.
        if history.animation_targets.len() != count {
            continue;
        }
        for i in sample_evenly(count, MAX_DRAWN) {
            let target = render_pose.point(history.origin + history.animation_targets.get(i));
            let max_distance = constraints.max_distances[i];
            if max_distance > PINNED_DISTANCE && max_distance.is_finite() {
                gizmos
                    .sphere(target, max_distance, MEDIUM_PURPLE)
                    .resolution(16);
            }
            let Some(backstop) = &constraints.backstop else {
                continue;
            };
            let distance = backstop.distance[i];
            if let Ok(normal) = Dir3::new(backstop.normal.get(i))
                && distance.is_finite()
            {
                let surface = target - normal * distance;
                gizmos.line(target, surface, HOT_PINK);
                let facing = Quat::from_rotation_arc(Vec3::Z, *normal);
                gizmos
                    .circle(Isometry3d::new(surface, facing), RING_RADIUS, HOT_PINK)
                    .resolution(12);
            }
        }
    }
}
