//! Draws the reach of a brush, what it would take, and the thread that would break.

use super::{
    ClothTool, ClothTools, backend::Cloths, thread::HoveredThreads, view::Views, work::reached,
};
use crate::{
    components::{Constraints, Particles},
    debug::{ClothGizmoGroup, drawn},
    solver::ConstraintKind,
    systems::DrawTime,
};
use bevy::{
    color::palettes::css::{RED, WHITE},
    picking::pointer::{PointerId, PointerLocation},
    prelude::*,
};

pub(super) fn draw(
    tools: Res<ClothTools>,
    threads: Res<HoveredThreads>,
    pointers: Query<(&PointerId, &PointerLocation)>,
    cameras: Query<&GlobalTransform, With<Camera>>,
    cloths: Query<(&Particles, &Constraints)>,
    views: Views,
    rays: Cloths,
    time: DrawTime,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    let alpha = time.alpha();
    for thread in threads.iter() {
        // It may have been put back since, and have fewer particles.
        let exists = |particles: &Particles| {
            let mut ends = thread.particles.iter();
            ends.all(|&i| (i as usize) < particles.len())
        };
        if let Ok((particles, _)) = cloths.get(thread.cloth)
            && exists(particles)
        {
            let [a, b] = thread
                .particles
                .map(|i| drawn(particles, i as usize, alpha));
            gizmos.line(a, b, RED);
        }
    }
    if !(tools.has(ClothTool::Brush) || tools.has(ClothTool::Shred)) {
        return;
    }
    for (_, location) in &pointers {
        let Some(location) = location.location() else {
            continue;
        };
        let Some(camera) = views.camera_at(location) else {
            continue;
        };
        let Ok(transform) = cameras.get(camera) else {
            continue;
        };
        let (place, radius) = (location.position, tools.radius);
        for (cloth, centre, _) in reached(camera, place, radius, &views, &rays) {
            let towards = Isometry3d::new(centre, transform.rotation());
            gizmos.circle(towards, tools.radius, WHITE).resolution(48);
            let Ok((particles, constraints)) = cloths.get(cloth) else {
                continue;
            };
            for ([a, b], _) in constraints.of_kind(ConstraintKind::Structural) {
                let [a, b] = [a, b].map(|i| drawn(particles, i as usize, alpha));
                if ((a + b) * 0.5).distance(centre) <= tools.radius {
                    gizmos.line(a, b, RED);
                }
            }
        }
    }
}
