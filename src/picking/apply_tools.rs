//! Moves grabs, cuts and shreds along the path of each pointer.

use super::{
    ClothTools,
    backend::ClothRaycast,
    pointers::{ClothPointers, PointerTask},
    view::PointerViews,
};
use crate::{
    grab::{ClothGrabs, DragCloth},
    solver::topology::Blade,
    tearing::{CutCloth, ShredCloth},
};
use bevy::{ecs::entity::EntityHashMap, picking::pointer::PointerId, prelude::*};

/// Spacing of the samples along a stroke, in logical pixels.
const PIXELS_PER_SAMPLE: f32 = 12.0;

/// Largest number of samples of a stroke per frame.
const MAX_SAMPLES: usize = 16;

/// Moves the grabs, cuts and shreds of all pointers.
pub(super) fn apply_tools(
    mut pointers: ResMut<ClothPointers>,
    tools: Res<ClothTools>,
    views: PointerViews,
    cloths: ClothRaycast,
    grabs: Query<&ClothGrabs>,
    #[cfg(feature = "panel")] mut egui: super::egui::EguiHitTest,
    mut commands: Commands,
) {
    forget_ended_grabs(&mut pointers, &grabs);
    // In the order of the pointer entities: deterministic when two pointers cut one cloth.
    let mut ordered: Vec<PointerId> = pointers.active.keys().copied().collect();
    ordered.sort_unstable_by_key(|pointer| views.entity_of(*pointer));
    for pointer in ordered {
        let active = pointers.active.get_mut(&pointer);
        // A pointer without a location (in no window, or its window is minimised) leaves its grabs where they are.
        let Some((active, location)) = active.zip(views.location(pointer)) else {
            continue;
        };
        let (camera, by, position) = (active.camera, active.by, location.position);
        #[cfg(feature = "panel")]
        let is_covered = egui.covers(pointer);
        #[cfg(not(feature = "panel"))]
        let is_covered = false;
        match &mut active.task {
            PointerTask::Grab { cloths } => {
                for &(entity, depth) in cloths.iter() {
                    if let Some(to) = views.point_at(camera, position, depth) {
                        commands.trigger(DragCloth { entity, by, to });
                    }
                }
            }
            // Nothing is cut under a panel; the stroke continues beyond it.
            PointerTask::Cut { last } if is_covered => *last = position,
            PointerTask::Shred if is_covered => {}
            PointerTask::Cut { last } => {
                let stroke = BladeStroke {
                    camera,
                    from: *last,
                    to: position,
                };
                if stroke.from.distance(stroke.to) >= 1.0 {
                    *last = position;
                    stroke.cut(by, &views, &cloths, tools.blade_reach, &mut commands);
                }
            }
            PointerTask::Shred => {
                let radius = tools.radius;
                let targets = brush_targets(camera, position, radius, &views, &cloths);
                let shreds = targets.into_iter().map(|(entity, centre, _)| ShredCloth {
                    entity,
                    centre,
                    radius,
                });
                shreds.for_each(|shred| commands.trigger(shred));
            }
        }
    }
}

/// Forgets grabbed cloths that were despawned, reset or released by other means.
fn forget_ended_grabs(pointers: &mut ClothPointers, grabs: &Query<&ClothGrabs>) {
    pointers.active.retain(|_, active| match &mut active.task {
        PointerTask::Grab { cloths } => {
            let by = active.by;
            let is_grabbed = |cloth: Entity| {
                let grabs = grabs.get(cloth);
                grabs.is_ok_and(|grabs| grabs.iter().any(|grab| grab.by == by))
            };
            cloths.retain(|(cloth, _)| is_grabbed(*cloth));
            !cloths.is_empty()
        }
        _ => true,
    });
}

/// Returns the cloths that a brush at a screen position reaches, each with the centre of the brush in the world
/// and its depth. The centre lies on the cloth, or beside it at the depth of the centre of its bounding box.
pub(super) fn brush_targets(
    camera: Entity,
    position: Vec2,
    radius: f32,
    views: &PointerViews,
    cloths: &ClothRaycast,
) -> Vec<(Entity, Vec3, f32)> {
    let Some(ray) = views.ray(camera, position) else {
        return Vec::new();
    };
    let hits: EntityHashMap<Vec3> = cloths
        .cast_ray(camera, ray)
        .into_iter()
        .map(|hit| (hit.cloth, hit.point))
        .collect();
    let mut found: Vec<(Entity, Vec3, f32)> = cloths
        .centres(camera)
        .filter_map(|(cloth, centre)| {
            let hit_point = hits.get(&cloth).copied();
            let depth = views.depth(camera, hit_point.unwrap_or(centre))?;
            // Behind the camera.
            if depth <= 0.0 {
                return None;
            }
            let at = hit_point.or_else(|| views.point_at(camera, position, depth))?;
            cloths
                .has_particle_within(cloth, at, radius)
                .then_some((cloth, at, depth))
        })
        .collect();
    found.sort_unstable_by_key(|(cloth, ..)| *cloth);
    found
}

/// Path of a blade on the screen in one frame.
struct BladeStroke {
    camera: Entity,
    from: Vec2,
    to: Vec2,
}

impl BladeStroke {
    /// Cuts all cloths under the stroke.
    fn cut(
        &self,
        by: Entity,
        views: &PointerViews,
        cloths: &ClothRaycast,
        reach: f32,
        commands: &mut Commands,
    ) {
        let by = Some(by);
        for (entity, blade) in self.blades(views, cloths, reach) {
            commands.trigger(CutCloth { entity, blade, by });
        }
    }

    /// Returns a blade for each cloth under the stroke: it spans the depth range of the cloth there, plus `reach`
    /// in both directions.
    fn blades(
        &self,
        views: &PointerViews,
        cloths: &ClothRaycast,
        reach: f32,
    ) -> Vec<(Entity, Blade)> {
        let samples = (self.from.distance(self.to) / PIXELS_PER_SAMPLE) as usize;
        let samples = samples.clamp(1, MAX_SAMPLES);
        let mut depths: EntityHashMap<(f32, f32)> = EntityHashMap::default();
        for sample in 0..=samples {
            let position = self.from.lerp(self.to, sample as f32 / samples as f32);
            let Some(ray) = views.ray(self.camera, position) else {
                continue;
            };
            for hit in cloths.cast_ray(self.camera, ray) {
                let Some(depth) = views.depth(self.camera, hit.point) else {
                    continue;
                };
                let range = depths.entry(hit.cloth).or_insert((depth, depth));
                *range = (range.0.min(depth), range.1.max(depth));
            }
        }
        let mut found: Vec<_> = depths
            .into_iter()
            .filter_map(|(cloth, (near, far))| {
                let near = (near - reach).max(near * 0.01);
                let edge = |position: Vec2| {
                    let point = |depth: f32| views.point_at(self.camera, position, depth);
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
