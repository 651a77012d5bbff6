//! Moves what is held, cuts and shreds along the way of a pointer.

use super::{
    ClothTools,
    backend::Cloths,
    hands::{ClothHands, Work},
    view::Views,
};
use crate::{
    grab::{ClothGrabs, DragCloth},
    solver::tear::Blade,
    tearing::{CutCloth, ShredCloth},
};
use bevy::{ecs::entity::EntityHashMap, picking::pointer::PointerId, prelude::*};

/// A stroke is looked at once in so many logical pixels,
const PIXELS_PER_LOOK: f32 = 12.0;

/// but not more often than this in one frame.
const MOST_LOOKS: usize = 16;

pub(super) fn work(
    mut hands: ResMut<ClothHands>,
    tools: Res<ClothTools>,
    views: Views,
    cloths: Cloths,
    grabs: Query<&ClothGrabs>,
    #[cfg(feature = "panel")] mut egui: super::egui::OverEgui,
    mut commands: Commands,
) {
    // A cloth that is gone, or was put back, is not held any more.
    hands.hands.retain(|_, hand| match &mut hand.work {
        Work::Holding { cloths } => {
            let by = hand.by;
            let is_held = |cloth: Entity| {
                let grabs = grabs.get(cloth);
                grabs.is_ok_and(|grabs| grabs.iter().any(|grab| grab.by == by))
            };
            cloths.retain(|(cloth, _)| is_held(*cloth));
            !cloths.is_empty()
        }
        _ => true,
    });
    // In the order of the pointers, so that two that cut one cloth do it in the same order always.
    let mut pointers: Vec<PointerId> = hands.hands.keys().copied().collect();
    pointers.sort_unstable_by_key(|pointer| views.entity_of(*pointer));
    for pointer in pointers {
        let Some(hand) = hands.hands.get_mut(&pointer) else {
            continue;
        };
        // While a pointer is nowhere (a window that is left or minimised), its hand stays where it is.
        let Some(location) = views.location(pointer) else {
            continue;
        };
        let (camera, by, place) = (hand.camera, hand.by, location.position);
        #[cfg(feature = "panel")]
        let is_covered = egui.covers(pointer);
        #[cfg(not(feature = "panel"))]
        let is_covered = false;
        match &mut hand.work {
            Work::Holding { cloths } => {
                for &(entity, depth) in cloths.iter() {
                    if let Some(to) = views.point_at(camera, place, depth) {
                        commands.trigger(DragCloth { entity, by, to });
                    }
                }
            }
            // Nothing is cut under a panel; the stroke goes on beyond it.
            Work::Cutting { last } if is_covered => *last = place,
            Work::Shredding if is_covered => {}
            Work::Cutting { last } => {
                let stroke = Stroke {
                    camera,
                    from: *last,
                    to: place,
                };
                if stroke.from.distance(stroke.to) < 1.0 {
                    continue;
                }
                *last = place;
                for (entity, blade) in stroke.blades(&views, &cloths, tools.blade_reach) {
                    let by = Some(by);
                    commands.trigger(CutCloth { entity, blade, by });
                }
            }
            Work::Shredding => {
                let radius = tools.radius;
                for (entity, centre, _) in reached(camera, place, radius, &views, &cloths) {
                    commands.trigger(ShredCloth {
                        entity,
                        centre,
                        radius,
                    });
                }
            }
        }
    }
}

/// Where a brush at a place on the screen reaches a cloth: on it, or beside it in the plane of its
/// middle; with the depth of that place in front of the camera.
pub(super) fn reached(
    camera: Entity,
    place: Vec2,
    radius: f32,
    views: &Views,
    cloths: &Cloths,
) -> Vec<(Entity, Vec3, f32)> {
    let Some(ray) = views.ray(camera, place) else {
        return Vec::new();
    };
    let met: EntityHashMap<Vec3> = cloths
        .met(camera, ray)
        .into_iter()
        .map(|met| (met.cloth, met.point))
        .collect();
    let mut found: Vec<(Entity, Vec3, f32)> = cloths
        .middles(camera)
        .filter_map(|(cloth, middle)| {
            let on_it = met.get(&cloth).copied();
            let depth = views.depth(camera, on_it.unwrap_or(middle))?;
            // Nothing behind the camera.
            if depth <= 0.0 {
                return None;
            }
            let at = on_it.or_else(|| views.point_at(camera, place, depth))?;
            cloths
                .reaches(cloth, at, radius)
                .then_some((cloth, at, depth))
        })
        .collect();
    found.sort_unstable_by_key(|(cloth, ..)| *cloth);
    found
}

/// The way of a blade on the screen, in one frame.
struct Stroke {
    camera: Entity,
    from: Vec2,
    to: Vec2,
}

impl Stroke {
    /// A blade for each cloth that lies under the stroke: as deep as the cloth is there, and a reach
    /// more to both sides.
    fn blades(&self, views: &Views, cloths: &Cloths, reach: f32) -> Vec<(Entity, Blade)> {
        let looks = (self.from.distance(self.to) / PIXELS_PER_LOOK) as usize;
        let looks = looks.clamp(1, MOST_LOOKS);
        let mut depths: EntityHashMap<(f32, f32)> = EntityHashMap::default();
        for look in 0..=looks {
            let place = self.from.lerp(self.to, look as f32 / looks as f32);
            let Some(ray) = views.ray(self.camera, place) else {
                continue;
            };
            for met in cloths.met(self.camera, ray) {
                let Some(depth) = views.depth(self.camera, met.point) else {
                    continue;
                };
                let range = depths.entry(met.cloth).or_insert((depth, depth));
                *range = (range.0.min(depth), range.1.max(depth));
            }
        }
        let mut found: Vec<_> = depths
            .into_iter()
            .filter_map(|(cloth, (near, far))| {
                let near = (near - reach).max(near * 0.01);
                let edge = |place: Vec2| {
                    let point = |depth: f32| views.point_at(self.camera, place, depth);
                    Some([point(near)?, point(far + reach)?])
                };
                let (from, to) = (edge(self.from)?, edge(self.to)?);
                Some((cloth, Blade { from, to }))
            })
            .collect();
        found.sort_unstable_by_key(|(cloth, _)| *cloth);
        found
    }
}
