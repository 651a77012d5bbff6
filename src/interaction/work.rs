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
use bevy::{ecs::entity::EntityHashMap, prelude::*};

/// A stroke is looked at once in so many logical pixels,
const PIXELS_PER_LOOK: f32 = 12.0;

/// but not more often than this in one frame.
const MOST_LOOKS: usize = 16;

pub(super) fn work(
    mut hands: ResMut<ClothHands>,
    tools: Res<ClothTools>,
    views: Views,
    cloths: Cloths,
    grabs: Query<(), With<ClothGrabs>>,
    mut commands: Commands,
) {
    // A cloth that is gone is not held any more.
    hands.hands.retain(|_, hand| match &mut hand.work {
        Work::Holding { cloths, .. } => {
            cloths.retain(|cloth| grabs.contains(*cloth));
            !cloths.is_empty()
        }
        _ => true,
    });
    for (&pointer, hand) in &mut hands.hands {
        // While a pointer is nowhere (a window that is left or minimised), its hand stays where it is.
        let Some(location) = views.location(pointer) else {
            continue;
        };
        let (camera, by, place) = (hand.camera, hand.by, location.position);
        match &mut hand.work {
            Work::Holding { cloths, depth } => {
                if let Some(to) = views.point_at(camera, place, *depth) {
                    for &entity in cloths.iter() {
                        commands.trigger(DragCloth { entity, by, to });
                    }
                }
            }
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
                for (entity, centre) in reached(camera, place, &views, &cloths) {
                    let radius = tools.radius;
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

/// Where a brush at a place on the screen meets each cloth: on it, or beside it in the plane of its
/// middle.
pub(super) fn reached(
    camera: Entity,
    place: Vec2,
    views: &Views,
    cloths: &Cloths,
) -> Vec<(Entity, Vec3)> {
    let Some(ray) = views.ray(camera, place) else {
        return Vec::new();
    };
    let met: EntityHashMap<Vec3> = cloths
        .met(camera, ray)
        .into_iter()
        .map(|met| (met.cloth, met.point))
        .collect();
    cloths
        .middles()
        .filter_map(|(cloth, middle)| {
            let beside = || {
                let depth = views.depth(camera, middle)?;
                views.point_at(camera, place, depth)
            };
            let at = met.get(&cloth).copied().or_else(beside)?;
            Some((cloth, at))
        })
        .collect()
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
