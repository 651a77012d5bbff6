//! Plane constraint of planar cloth.

use crate::{cloth::planar::PlanarCloth, label::EntityLabel, solver::Plane};
use bevy::prelude::*;

/// Returns the plane of a cloth; `None` if its normal or its transform is invalid.
pub(crate) fn plane_of(
    entity: Entity,
    planar: &PlanarCloth,
    transforms: &TransformHelper,
) -> Option<Plane> {
    let transform = transforms.compute_global_transform(entity).ok()?;
    let (_, rotation, point) = transform.to_scale_rotation_translation();
    let normal = rotation * planar.normal.try_normalize()?;
    let normal = normal.normalize_or_zero();
    (normal != Vec3::ZERO && point.is_finite()).then_some(Plane { point, normal })
}

/// Logs invalid normals, once each time they are written.
pub(crate) fn check_planes(planes: Query<(EntityLabel, &PlanarCloth), Changed<PlanarCloth>>) {
    for (label, planar) in &planes {
        if planar.normal.try_normalize().is_none() {
            error!(
                "cloth {label}: PlanarCloth::normal is {}, which is not a direction, so the cloth \
                 is not kept in a plane; set finite components that are not all 0",
                planar.normal
            );
        }
    }
}
