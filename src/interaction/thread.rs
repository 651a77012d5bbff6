//! The thread under a pointer, for the tool that breaks it.

use super::{
    ClothTool, ClothTools,
    backend::{ClothHit, Cloths},
    view::Views,
};
use crate::{
    components::{ClothBody, Constraints, Particles},
    solver::ConstraintKind,
};
use bevy::{
    picking::{hover::HoverMap, pointer::PointerId},
    platform::collections::HashMap,
    prelude::*,
};

/// The thread that a pointer would break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoveredThread {
    /// The cloth.
    pub cloth: Entity,
    /// The particles at its ends.
    pub particles: [u32; 2],
}

/// The threads under the pointers, while a button has [`ClothTool::Thread`]. Found in `PreUpdate`: a
/// cloth that was put back or built anew since may not have them any more.
#[derive(Resource, Debug, Default)]
pub struct HoveredThreads(HashMap<PointerId, HoveredThread>);

impl HoveredThreads {
    /// The thread under a pointer.
    pub fn get(&self, pointer: PointerId) -> Option<HoveredThread> {
        self.0.get(&pointer).copied()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &HoveredThread> {
        self.0.values()
    }
}

pub(super) fn hover(
    mut threads: ResMut<HoveredThreads>,
    tools: Res<ClothTools>,
    hovered: Res<HoverMap>,
    cloths: Query<(&Particles, &Constraints, &ClothBody)>,
    rays: Cloths,
    views: Views,
) {
    if !tools.has(ClothTool::Thread) {
        if !threads.0.is_empty() {
            threads.0.clear();
        }
        return;
    }
    threads.0.clear();
    for (&pointer, hits) in hovered.iter() {
        let Some(location) = views.location(pointer) else {
            continue;
        };
        let mut hits: Vec<_> = hits.iter().collect();
        hits.sort_unstable_by(|a, b| a.1.depth.total_cmp(&b.1.depth));
        let found = hits.into_iter().find_map(|(&cloth, hit)| {
            let (particles, constraints, body) = cloths.get(cloth).ok()?;
            let corners = match hit.extra_as::<ClothHit>() {
                Some(hit) => hit.particles,
                // Another backend has found it first.
                None => {
                    let ray = views.ray(hit.camera, location.position)?;
                    let met = rays.met(hit.camera, ray).into_iter();
                    met.filter(|met| met.cloth == cloth)
                        .map(|m| m.particles)
                        .next()?
                }
            };
            // The threads at the corners of the triangle: one of them is the nearest.
            let near = constraints
                .of_kind(ConstraintKind::Structural)
                .map(|(pair, _)| pair)
                .filter(|[a, b]| corners.contains(a) && corners.contains(b));
            let place = |i: u32| body.picture.place(particles, i as usize);
            nearest(near, place, hit.camera, location.position, &views)
                .filter(|(distance, _)| *distance <= tools.tolerance)
                .map(|(_, particles)| HoveredThread { cloth, particles })
        });
        if let Some(found) = found {
            threads.0.insert(pointer, found);
        }
    }
}

/// The thread that is nearest to a place on the screen, and how far it is, in logical pixels.
fn nearest(
    threads: impl Iterator<Item = [u32; 2]>,
    at: impl Fn(u32) -> Vec3,
    camera: Entity,
    place: Vec2,
    views: &Views,
) -> Option<(f32, [u32; 2])> {
    threads
        .filter_map(|thread| {
            let [a, b] = thread.map(&at);
            let (a, b) = (views.on_screen(camera, a)?, views.on_screen(camera, b)?);
            let way = b - a;
            let length = way.length_squared();
            let share = if length > 0.0 {
                ((place - a).dot(way) / length).clamp(0.0, 1.0)
            } else {
                0.0
            };
            Some(((a + way * share).distance(place), thread))
        })
        .min_by(|x, y| x.0.total_cmp(&y.0))
}
