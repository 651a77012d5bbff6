//! Keeps flat cloth flat.

use super::phases::due;
use crate::{
    components::{ClothBody, Particles},
    lod::InMotion,
    planar::PlanarCloth,
    plugin::SubstepTime,
    solver,
};
use bevy::prelude::*;

pub(crate) fn hold_in_planes(
    mut cloths: Query<(Entity, &PlanarCloth, &ClothBody, &mut Particles), InMotion>,
    transforms: TransformHelper,
    time: Res<SubstepTime>,
) {
    for (entity, planar, body, mut particles) in &mut cloths {
        if due(body, &time).is_some()
            && let Some((point, normal)) = plane_of(entity, planar, &transforms)
        {
            solver::hold_in_plane(&mut particles, point, normal);
        }
    }
}

/// A point of the plane in which a cloth is held, m, and its normal; `None` if they say nothing.
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
