//! Draws the reach of a brush, what it would take, and the thread that would break.

use super::{
    ClothTool, ClothTools, backend::Cloths, thread::HoveredThreads, view::Views, work::reached,
};
use crate::{
    components::{ClothBody, Constraints, Particles},
    debug::ClothGizmoGroup,
    solver::ConstraintKind,
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
    cloths: Query<(&Particles, &Constraints, &ClothBody)>,
    views: Views,
    rays: Cloths,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    for thread in threads.iter() {
        // It may have been put back since, and have fewer particles.
        let exists = |particles: &Particles| {
            let mut ends = thread.particles.iter();
            ends.all(|&i| (i as usize) < particles.len())
        };
        if let Ok((particles, _, body)) = cloths.get(thread.cloth)
            && exists(particles)
        {
            let [a, b] = thread
                .particles
                .map(|i| body.picture.place(particles, i as usize));
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
            let Ok((particles, constraints, body)) = cloths.get(cloth) else {
                continue;
            };
            for ([a, b], _) in constraints.of_kind(ConstraintKind::Structural) {
                let [a, b] = [a, b].map(|i| body.picture.place(particles, i as usize));
                if ((a + b) * 0.5).distance(centre) <= tools.radius {
                    gizmos.line(a, b, RED);
                }
            }
        }
    }
}
