//! Tethers: what keeps particles within reach of the pins that they hang from.

use super::{ClothGizmoGroup, ClothGizmos, thinned};
use crate::{
    cloth::Cloth,
    components::{ClothBody, Particles},
};
use bevy::{
    color::palettes::css::{DIM_GRAY, ORANGE},
    prelude::*,
};

/// Most particles of a cloth whose tethers are drawn.
const MOST: usize = 400;

/// A tether holds when it is longer than this share of what it may be.
const TAUT: f32 = 0.995;

pub(super) fn draw_tethers(
    cloths: Query<(&Particles, &ClothBody), With<Cloth>>,
    show: Res<ClothGizmos>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    if !show.tethers {
        return;
    }
    for (particles, body) in &cloths {
        let scale = body
            .applied
            .map_or(f32::INFINITY, |applied| applied.tether_scale);
        // They hold nothing then.
        if scale == f32::INFINITY {
            continue;
        }
        for i in thinned(particles.len(), MOST) {
            let from = body.picture.place(particles, i);
            for (anchor, length) in body.tethers.of(i as u32) {
                let anchor = anchor as usize;
                if anchor >= particles.len() {
                    continue;
                }
                let to = body.picture.place(particles, anchor);
                let holds = from.distance(to) > TAUT * scale * length;
                gizmos.line(from, to, if holds { ORANGE } else { DIM_GRAY });
            }
        }
    }
}
