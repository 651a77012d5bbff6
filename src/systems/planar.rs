//! Plane constraint of planar cloth.

use super::phases::due;
use crate::{
    components::{ClothBody, ClothParticles},
    lod::InMotion,
    planar::PlanarCloth,
    plugin::ClothSubstepTime,
    solver,
};
use bevy::prelude::*;

/// Moves the particles of planar cloths into their planes.
pub(crate) fn constrain_to_planes(
    mut cloths: Query<(Entity, &PlanarCloth, &ClothBody, &mut ClothParticles), InMotion>,
    transforms: TransformHelper,
    time: Res<ClothSubstepTime>,
) {
    for (entity, planar, body, mut particles) in &mut cloths {
        if due(body, &time).is_some()
            && let Some((point, normal)) = plane_of(entity, planar, &transforms)
        {
            solver::constrain_to_plane(&mut particles, point, normal);
        }
    }
}

/// Returns a point of the plane of a cloth, m, and its normal; `None` if they are invalid.
pub(super) fn plane_of(
    entity: Entity,
    planar: &PlanarCloth,
    transforms: &TransformHelper,
) -> Option<(Vec3, Vec3)> {
    let transform = transforms.compute_global_transform(entity).ok()?;
    let (_, rotation, point) = transform.to_scale_rotation_translation();
    let normal = rotation * planar.normal.try_normalize()?;
    let normal = normal.normalize_or_zero();
    (normal != Vec3::ZERO && point.is_finite()).then_some((point, normal))
}

/// Logs invalid normals, once each time they are written.
pub(crate) fn check_planes(planes: Query<(Entity, &PlanarCloth), Changed<PlanarCloth>>) {
    for (entity, planar) in &planes {
        if planar.normal.try_normalize().is_none() {
            error!(
                "cloth {entity}: PlanarCloth::normal is {}, which is not a direction, so the cloth \
                 is not kept in a plane; set finite components that are not all 0",
                planar.normal
            );
        }
    }
}
