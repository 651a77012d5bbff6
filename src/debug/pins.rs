//! What holds cloth: pins and tethers.

use super::{ClothGizmoGroup, ClothGizmos};
use crate::{
    cloth::Cloth,
    components::{ClothBody, Particles},
};
use bevy::{color::palettes::css::GOLD, prelude::*};

pub(super) fn draw_pins(
    cloths: Query<(&Particles, &ClothBody), With<Cloth>>,
    show: Res<ClothGizmos>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    if !show.pins {
        return;
    }
    for (particles, body) in &cloths {
        for i in (0..particles.len()).filter(|&i| particles.is_pinned(i)) {
            let place = Isometry3d::from_translation(body.picture.place(particles, i));
            gizmos.cross(place, 0.05, GOLD);
        }
    }
}
