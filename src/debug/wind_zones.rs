//! Where wind zones are, and how the air moves in them.

use super::{ClothGizmoGroup, ClothGizmos};
use crate::{
    solver::{Zone, ZoneShape},
    wind_zone::LocalWind,
};
use bevy::{
    color::palettes::css::{DEEP_SKY_BLUE, LIGHT_CYAN},
    prelude::*,
};

/// Way that drawn air goes, s.
const ARROW: f32 = 0.05;

/// Arrows along each side of a zone.
const ARROWS: i32 = 5;

pub(super) fn draw_wind_zones(
    wind: LocalWind,
    show: Res<ClothGizmos>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    if !show.wind_zones {
        return;
    }
    for zone in wind.zones() {
        let Zone { shape, pose, .. } = zone;
        let place = Isometry3d::new(pose.translation, pose.rotation);
        let half_size = match *shape {
            // Where its entity is, to be seen at all.
            ZoneShape::Everywhere => Vec3::splat(0.5),
            ZoneShape::Sphere { radius } => {
                gizmos.sphere(place, radius, DEEP_SKY_BLUE);
                Vec3::splat(radius)
            }
            ZoneShape::Cuboid { half_size } => {
                gizmos.primitive_3d(&Cuboid { half_size }, place, DEEP_SKY_BLUE);
                half_size
            }
        };
        for i in 0..ARROWS.pow(3) {
            let [x, y, z] = [i % ARROWS, i / ARROWS % ARROWS, i / ARROWS / ARROWS];
            // In the middle of each of so many parts of the box around it.
            let share = (IVec3::new(x, y, z) * 2 + 1 - ARROWS).as_vec3() / ARROWS as f32;
            let from = place * (half_size * share);
            // Corners of the box around a ball are no part of it.
            if zone.wind(from) != Vec3::ZERO {
                let to = from + wind.at(from) * ARROW;
                gizmos.arrow(from, to, LIGHT_CYAN).with_tip_length(0.03);
            }
        }
    }
}
