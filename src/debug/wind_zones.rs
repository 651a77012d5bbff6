//! Draws the outlines of wind zones, and arrows along the wind in them.

use super::ClothGizmoGroup;
use crate::{
    solver::{Zone, ZoneShape},
    wind::zone::LocalWind,
};
use bevy::{
    color::palettes::css::{DEEP_SKY_BLUE, LIGHT_CYAN},
    prelude::*,
};

/// Length of an arrow as the distance that the air travels in this time, s.
const ARROW_TIME: f32 = 0.05;

/// Arrows along each side of a zone.
const ARROWS: i32 = 5;

pub(super) fn draw_wind_zones(wind: LocalWind, mut gizmos: Gizmos<ClothGizmoGroup>) {
    for zone in wind.zones() {
        let Zone { shape, pose, .. } = zone;
        let isometry = Isometry3d::new(pose.translation, pose.rotation);
        let half_size = match *shape {
            // A box at its entity, to be visible at all.
            ZoneShape::Everywhere => Vec3::splat(0.5),
            ZoneShape::Sphere { radius } => {
                gizmos.sphere(isometry, radius, DEEP_SKY_BLUE);
                Vec3::splat(radius)
            }
            ZoneShape::Cuboid { half_size } => {
                gizmos.primitive_3d(&Cuboid { half_size }, isometry, DEEP_SKY_BLUE);
                half_size
            }
        };
        for i in 0..ARROWS.pow(3) {
            let [x, y, z] = [i % ARROWS, i / ARROWS % ARROWS, i / ARROWS / ARROWS];
            // At the centres of equal parts of the bounding box.
            let fraction = (IVec3::new(x, y, z) * 2 + 1 - ARROWS).as_vec3() / ARROWS as f32;
            let from = isometry * (half_size * fraction);
            // Corners of the box around a sphere lie outside it.
            if zone.wind(from) != Vec3::ZERO {
                let to = from + wind.at(from) * ARROW_TIME;
                gizmos.arrow(from, to, LIGHT_CYAN).with_tip_length(0.03);
            }
        }
    }
}
