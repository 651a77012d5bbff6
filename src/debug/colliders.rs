//! Draws the outlines of colliders.

use super::ClothGizmoGroup;
use crate::{collision::collider::ClothCollider, solver::Shape};
use bevy::{
    color::palettes::css::{DARK_ORANGE, DEEP_SKY_BLUE},
    prelude::*,
};

pub(super) fn draw_colliders(
    colliders: Query<(&ClothCollider, &GlobalTransform)>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    for (collider, transform) in &colliders {
        let (scale, rotation, translation) = transform.to_scale_rotation_translation();
        let isometry = Isometry3d::new(translation, rotation);
        draw_shape(collider.scaled_shape(scale), isometry, &mut gizmos);
    }
}

fn draw_shape(shape: Shape, isometry: Isometry3d, gizmos: &mut Gizmos<ClothGizmoGroup>) {
    let colour = DEEP_SKY_BLUE;
    match shape {
        Shape::Sphere { radius } => {
            gizmos.sphere(isometry, radius, colour);
        }
        Shape::HalfSpace => {
            let flat = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
            let isometry = isometry * Isometry3d::from_rotation(flat);
            gizmos.grid(isometry, UVec2::splat(10), Vec2::ONE, DARK_ORANGE);
        }
        Shape::Capsule {
            radius,
            half_length,
        } => {
            let capsule = Capsule3d {
                radius,
                half_length,
            };
            gizmos.primitive_3d(&capsule, isometry, colour);
        }
        Shape::Cuboid { half_size } => {
            gizmos.primitive_3d(&Cuboid { half_size }, isometry, colour);
        }
        Shape::TaperedCapsule {
            radius_bottom,
            radius_top,
            half_length,
        } => {
            let ends = [(-half_length, radius_bottom), (half_length, radius_top)];
            draw_tapered_capsule(ends, isometry, gizmos);
        }
        Shape::Cylinder {
            radius,
            half_height,
        } => {
            let cylinder = Cylinder {
                radius,
                half_height,
            };
            gizmos.primitive_3d(&cylinder, isometry, colour);
        }
        Shape::Cone {
            radius,
            half_height,
        } => {
            let height = half_height * 2.0;
            gizmos.primitive_3d(&Cone { radius, height }, isometry, colour);
        }
    }
}

/// Draws the end spheres of a tapered capsule, each at a height on the y axis and with a radius, m, and lines along
/// its side.
fn draw_tapered_capsule(
    ends: [(f32, f32); 2],
    isometry: Isometry3d,
    gizmos: &mut Gizmos<ClothGizmoGroup>,
) {
    for (y, radius) in ends {
        let centre = isometry * (Vec3::Y * y);
        let end = Isometry3d::new(centre, isometry.rotation);
        gizmos.sphere(end, radius, DEEP_SKY_BLUE);
    }
    // The side touches the end spheres where its normal passes through their centres.
    let [(bottom, radius_bottom), (top, radius_top)] = ends;
    let slope = (radius_bottom - radius_top) / (top - bottom);
    if slope.abs() < 1.0 {
        let radial = (1.0 - slope * slope).sqrt();
        for out in [Vec3::X, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Z] {
            let normal = out * radial + Vec3::Y * slope;
            let [a, b] = ends.map(|(y, radius)| isometry * (Vec3::Y * y + normal * radius));
            gizmos.line(a, b, DEEP_SKY_BLUE);
        }
    }
}

/// Draws the edges of hull, mesh and heightfield colliders at their pose in the last step.
pub(super) fn draw_mesh_colliders(
    colliders: Res<crate::collision::active_colliders::ActiveColliders>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    for (collider, _) in colliders.meshes.with_layers() {
        let isometry = Isometry3d::new(collider.end.translation, collider.end.rotation);
        for [from, to] in collider.surface.edges() {
            gizmos.line(isometry * from, isometry * to, DEEP_SKY_BLUE);
        }
    }
}
