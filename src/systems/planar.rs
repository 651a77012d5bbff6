//! Keeps flat cloth flat.

use crate::{components::Particles, planar::PlanarCloth, solver};
use bevy::prelude::*;

pub(crate) fn hold_in_planes(
    mut cloths: Query<(Entity, &PlanarCloth, &mut Particles)>,
    transforms: TransformHelper,
) {
    for (entity, planar, mut particles) in &mut cloths {
        let Ok(transform) = transforms.compute_global_transform(entity) else {
            continue;
        };
        let (_, rotation, point) = transform.to_scale_rotation_translation();
        let Some(normal) = planar.normal.try_normalize() else {
            continue;
        };
        let normal = (rotation * normal).normalize_or_zero();
        if normal != Vec3::ZERO && point.is_finite() {
            solver::hold_in_plane(&mut particles, point, normal);
        }
    }
}

/// Reports a normal that says nothing, once for each time it is written.
pub(crate) fn check_planes(planes: Query<(Entity, &PlanarCloth), Changed<PlanarCloth>>) {
    for (entity, planar) in &planes {
        if planar.normal.try_normalize().is_none() {
            error!(
                "cloth {entity}: PlanarCloth::normal is {}, which is no direction, so the cloth is \
                 not kept in a plane; give it finite numbers that are not all 0",
                planar.normal
            );
        }
    }
}
