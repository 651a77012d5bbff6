//! Draws the normals of cloths.

use super::ClothGizmoGroup;
use crate::{
    cloth::{Cloth, particles::ClothParticles, shape::ClothShape},
    mesh::smooth_normals,
    render::pose::RenderPose,
};
use bevy::{color::palettes::css::AQUA, math::Vec3A, prelude::*};

/// Length of a drawn normal, m.
const LENGTH: f32 = 0.03;

pub(super) fn draw_normals(
    cloths: Query<(&ClothParticles, &ClothShape, &RenderPose), With<Cloth>>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
    mut scratch: Local<[Vec<Vec3A>; 2]>,
) {
    let [positions, normals] = &mut *scratch;
    for (particles, shape, render_pose) in &cloths {
        positions.clear();
        // Relative to the cloth's origin: far from the world's origin, `f32` is too coarse for a normal.
        let position = |i| Vec3A::from(render_pose.interpolate(particles, i));
        positions.extend((0..particles.len()).map(position));
        smooth_normals(positions, shape.triangles.indices.iter(), normals);
        for (position, normal) in positions.iter().zip(&*normals) {
            let direction = Vec3::from(normal.normalize_or_zero());
            // Ropes have no normals.
            if direction != Vec3::ZERO {
                let start = render_pose.point(particles.origin + Vec3::from(*position));
                gizmos.ray(start, render_pose.direction(direction) * LENGTH, AQUA);
            }
        }
    }
}
