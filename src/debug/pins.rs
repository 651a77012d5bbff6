//! What holds cloth: pins and tethers.

use super::{ClothGizmoGroup, ClothGizmos, drawn};
use crate::{cloth::Cloth, components::Particles, systems::DrawTime};
use bevy::{color::palettes::css::GOLD, prelude::*};

pub(super) fn draw_pins(
    cloths: Query<&Particles, With<Cloth>>,
    show: Res<ClothGizmos>,
    time: DrawTime,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    if !show.pins {
        return;
    }
    for particles in &cloths {
        for i in (0..particles.len()).filter(|&i| particles.is_pinned(i)) {
            let place = Isometry3d::from_translation(drawn(particles, i, time.alpha()));
            gizmos.cross(place, 0.05, GOLD);
        }
    }
}
