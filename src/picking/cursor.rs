//! Draws the radius of a brush, the edges in it, and the edge under the pointer.

use super::{
    ClothTool, ClothTools, apply_tools::brush_targets, backend::ClothRaycast,
    hovered_edge::HoveredEdges, view::PointerViews,
};
use crate::solver::ConstraintKind;
use crate::{
    cloth::particles::{ClothConstraints, ClothParticles},
    debug::ClothGizmoGroup,
    render::pose::RenderPose,
};
use bevy::{
    color::palettes::css::{RED, WHITE},
    picking::pointer::{PointerId, PointerLocation},
    prelude::*,
};

pub(super) fn draw_tool_preview(
    tools: Res<ClothTools>,
    hovered_edges: Res<HoveredEdges>,
    pointers: Query<(&PointerId, &PointerLocation)>,
    cameras: Query<&GlobalTransform, With<Camera>>,
    cloths: Query<(&ClothParticles, &ClothConstraints, &RenderPose)>,
    views: PointerViews,
    rays: ClothRaycast,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    for edge in hovered_edges.iter() {
        // The cloth may have been reset since, with fewer particles.
        let exists = |particles: &ClothParticles| {
            let mut ends = edge.particles.iter();
            ends.all(|&i| (i as usize) < particles.len())
        };
        if let Ok((particles, _, render_pose)) = cloths.get(edge.cloth)
            && exists(particles)
        {
            let [a, b] = edge
                .particles
                .map(|i| render_pose.particle_position(particles, i as usize));
            gizmos.line(a, b, RED);
        }
    }
    if !(tools.has(ClothTool::Brush) || tools.has(ClothTool::Shred)) {
        return;
    }
    for (_, location) in &pointers {
        let Some(location) = location.location() else {
            continue;
        };
        let Some(camera) = views.camera_at(location) else {
            continue;
        };
        let Ok(transform) = cameras.get(camera) else {
            continue;
        };
        let (position, radius) = (location.position, tools.radius);
        for (cloth, centre, _) in brush_targets(camera, position, radius, &views, &rays) {
            let towards = Isometry3d::new(centre, transform.rotation());
            gizmos.circle(towards, tools.radius, WHITE).resolution(48);
            let Ok((particles, constraints, render_pose)) = cloths.get(cloth) else {
                continue;
            };
            for ([a, b], _) in constraints.of_kind(ConstraintKind::Structural) {
                let [a, b] = [a, b].map(|i| render_pose.particle_position(particles, i as usize));
                if ((a + b) * 0.5).distance(centre) <= tools.radius {
                    gizmos.line(a, b, RED);
                }
            }
        }
    }
}
