//! Where the cloth faces.

use super::{ClothGizmoGroup, ClothGizmos};
use crate::{
    cloth::Cloth,
    components::{ClothBody, Particles},
    mesh::smooth_normals,
};
use bevy::{color::palettes::css::AQUA, math::Vec3A, prelude::*};

/// How long a normal is drawn, m.
const LENGTH: f32 = 0.03;

pub(super) fn draw_normals(
    cloths: Query<(&Particles, &ClothBody), With<Cloth>>,
    show: Res<ClothGizmos>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
    mut room: Local<[Vec<Vec3A>; 2]>,
) {
    if !show.normals {
        return;
    }
    let [places, normals] = &mut *room;
    for (particles, body) in &cloths {
        places.clear();
        // From the origin: far away from that of the world numbers are too coarse to tell a normal.
        let place = |i| Vec3A::from(body.picture.between(particles, i));
        places.extend((0..particles.len()).map(place));
        smooth_normals(places, body.triangles.indices.iter(), normals);
        for (place, normal) in places.iter().zip(&*normals) {
            let along = Vec3::from(normal.normalize_or_zero());
            // A rope has none.
            if along != Vec3::ZERO {
                let place = body.picture.led(particles.origin + Vec3::from(*place));
                gizmos.ray(place, body.picture.turned(along) * LENGTH, AQUA);
            }
        }
    }
}
