//! How far particles may go from where an animation carries them.

use super::{ClothGizmoGroup, ClothGizmos, thinned};
use crate::{cloth::Cloth, components::ClothBody, max_distance::PINNED};
use bevy::{
    color::palettes::css::{HOT_PINK, MEDIUM_PURPLE},
    prelude::*,
};

/// Most particles of a cloth whose limits are drawn.
const MOST: usize = 80;

/// Radius of the rings that show a backstop, m.
const RING: f32 = 0.02;

pub(super) fn draw_limits(
    cloths: Query<&ClothBody, With<Cloth>>,
    show: Res<ClothGizmos>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    if !show.limits {
        return;
    }
    for body in &cloths {
        let (limits, seen) = (&body.guide.limits, &body.guide.seen);
        let count = limits.reach.len();
        // None before the first step.
        if seen.places.len() != count {
            continue;
        }
        for i in thinned(count, MOST) {
            let place = body.picture.led(seen.origin + seen.places.get(i));
            let reach = limits.reach[i];
            if reach > PINNED && reach.is_finite() {
                gizmos.sphere(place, reach, MEDIUM_PURPLE).resolution(16);
            }
            let Some(back) = &limits.backstop else {
                continue;
            };
            let distance = back.distance[i];
            if let Ok(normal) = Dir3::new(back.normal.get(i))
                && distance.is_finite()
            {
                let surface = place - normal * distance;
                gizmos.line(place, surface, HOT_PINK);
                let facing = Quat::from_rotation_arc(Vec3::Z, *normal);
                gizmos
                    .circle(Isometry3d::new(surface, facing), RING, HOT_PINK)
                    .resolution(12);
            }
        }
    }
}
