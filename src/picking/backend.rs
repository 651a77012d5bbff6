//! Picking backend: reports the cloth under each pointer.

use crate::cloth::{particles::ClothParticles, shape::ClothShape};
use crate::render::pose::RenderPose;
use crate::solver::collision::ray::{RayHit, cast_on_segments, cast_on_triangles};
use bevy::{
    camera::{primitives::Aabb, visibility::RenderLayers},
    ecs::system::SystemParam,
    picking::{
        Pickable,
        backend::{HitData, PointerHits, ray::RayMap},
    },
    prelude::*,
};

/// Extra data in the [`HitData`] of a cloth; see [`HitData::extra_as`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClothHit {
    /// Particles at the corners of the triangle under the pointer; for a rope, those at the ends of the segment,
    /// with the second one repeated.
    pub particles: [u32; 3],
}

type ClothParts<'a> = (
    Entity,
    &'a ClothParticles,
    &'a ClothShape,
    &'a RenderPose,
    &'a Aabb,
    &'a GlobalTransform,
    Option<&'a Pickable>,
    Option<&'a RenderLayers>,
    Option<&'a InheritedVisibility>,
);

/// Casts rays on cloths as rendered.
#[derive(SystemParam)]
pub(super) struct ClothRaycast<'w, 's> {
    all: Query<'w, 's, ClothParts<'static>>,
    cameras: Query<'w, 's, Option<&'static RenderLayers>, With<Camera>>,
}

/// Intersection of a ray with a cloth, in the world.
pub(super) struct ClothRayHit {
    pub(super) cloth: Entity,
    pub(super) distance: f32,
    pub(super) point: Vec3,
    normal: Vec3,
    pub(super) particles: [u32; 3],
}

/// Picking tolerance of ropes beside their radius, as a fraction of the distance from the camera: lets a pointer
/// hit thin ropes far away.
const ROPE_TOLERANCE: f32 = 0.006;

impl ClothRaycast<'_, '_> {
    /// Returns the first intersection of a ray with each cloth that a camera shows.
    pub(super) fn cast_ray(&self, camera: Entity, ray: Ray3d) -> Vec<ClothRayHit> {
        self.visible_to(camera)
            .filter_map(|parts| cast_on_cloth(parts, ray))
            .collect()
    }

    /// Returns the cloths that a camera shows and that can be picked.
    fn visible_to(&self, camera: Entity) -> impl Iterator<Item = ClothParts<'_>> {
        let layers = self.cameras.get(camera).ok().flatten();
        let layers = layers.cloned().unwrap_or_default();
        self.all.iter().filter(move |(.., pickable, own, visible)| {
            let ignored = pickable.is_some_and(|pickable| !pickable.is_hoverable);
            let hidden = visible.is_some_and(|visible| !visible.get());
            !ignored && !hidden && layers.intersects(own.unwrap_or_default())
        })
    }

    /// Returns the centre of the bounding box of each cloth that a camera shows, in the world: for brushes beside
    /// a cloth.
    pub(super) fn centres(&self, camera: Entity) -> impl Iterator<Item = (Entity, Vec3)> {
        self.visible_to(camera)
            .map(|(cloth, .., aabb, transform, _, _, _)| {
                (cloth, transform.transform_point(aabb.center.into()))
            })
    }

    /// Returns whether any particle of a cloth lies within a sphere in the world.
    pub(super) fn has_particle_within(&self, cloth: Entity, centre: Vec3, radius: f32) -> bool {
        self.all.get(cloth).is_ok_and(|(_, particles, ..)| {
            let centre = centre - particles.origin;
            let mut positions = particles.position.iter();
            positions.any(|position| position.distance_squared(centre) <= radius * radius)
        })
    }
}

/// Returns the first intersection of a ray with a cloth.
fn cast_on_cloth(
    (cloth, particles, shape, render_pose, aabb, transform, ..): ClothParts,
    ray: Ray3d,
) -> Option<ClothRayHit> {
    let centre = transform.transform_point(aabb.center.into());
    let distance = centre.distance(ray.origin);
    let tolerance = shape.radius() + ROPE_TOLERANCE * distance;
    let margin = if shape.segments.is_some() {
        tolerance
    } else {
        0.0
    };
    if !ray_hits_box(aabb, transform, ray, margin) {
        return None;
    }
    let position = |i: u32| render_pose.interpolate(particles, i as usize);
    // A cloth rendered relative to a moved reference frame is tested where it would be without that motion,
    // with the inverse transform applied to the ray.
    let frame_motion = render_pose.frame_motion();
    let (from, direction) = match frame_motion.map(|motion| motion.inverse()) {
        Some(inverse) => (
            inverse.transform_point(ray.origin),
            inverse.transform_direction(*ray.direction),
        ),
        None => (ray.origin, *ray.direction),
    };
    let origin = from - particles.origin;
    let (hit, particles_of): (RayHit, [u32; 3]) = match &shape.segments {
        Some(segments) => {
            let segments = &segments.ends;
            let hit = cast_on_segments(origin, direction, segments, tolerance, position)?;
            let [a, b] = segments[hit.index as usize];
            (hit, [a, b, b])
        }
        None => {
            let triangles = &shape.triangles.indices;
            let hit = cast_on_triangles(origin, direction, triangles.iter(), position)?;
            (hit, triangles.at(hit.index as usize))
        }
    };
    let normal = hit.normal.normalize_or(-direction);
    Some(ClothRayHit {
        cloth,
        distance: hit.distance,
        point: ray.origin + *ray.direction * hit.distance,
        normal: frame_motion.map_or(normal, |motion| motion.transform_direction(normal)),
        particles: particles_of,
    })
}

/// Returns whether a ray intersects the bounding box of a cloth, expanded by a margin.
fn ray_hits_box(aabb: &Aabb, transform: &GlobalTransform, ray: Ray3d, margin: f32) -> bool {
    let to_box = transform.affine().inverse();
    let origin = to_box.transform_point3(ray.origin) - Vec3::from(aabb.center);
    let direction = to_box.transform_vector3(*ray.direction);
    // A flat cloth has a flat box: the small margin covers rounding.
    let scale = direction.length().max(1e-6);
    let half = Vec3::from(aabb.half_extents) * 1.001 + Vec3::splat(margin * scale + 1e-4);
    let (mut entry, mut exit) = (0.0_f32, f32::INFINITY);
    for axis in 0..3 {
        let (o, d, h) = (origin[axis], direction[axis], half[axis]);
        if d.abs() < 1e-12 {
            if o.abs() > h {
                return false;
            }
            continue;
        }
        let (low, high) = ((-h - o) / d, (h - o) / d);
        entry = entry.max(low.min(high));
        exit = exit.min(low.max(high));
    }
    entry <= exit
}

pub(super) fn report_hits(
    rays: Res<RayMap>,
    cloths: ClothRaycast,
    cameras: Query<&Camera>,
    #[cfg(feature = "panel")] mut egui: super::egui::EguiHitTest,
    mut hits: MessageWriter<PointerHits>,
) {
    for (id, ray) in rays.iter() {
        let Ok(camera) = cameras.get(id.camera) else {
            continue;
        };
        #[cfg(feature = "panel")]
        if egui.covers(id.pointer) {
            continue;
        }
        let picks: Vec<_> = cloths
            .cast_ray(id.camera, *ray)
            .into_iter()
            .map(|hit| {
                let particles = hit.particles;
                let data = HitData::new_with_extra(
                    id.camera,
                    hit.distance,
                    Some(hit.point),
                    Some(hit.normal),
                    ClothHit { particles },
                );
                (hit.cloth, data)
            })
            .collect();
        if !picks.is_empty() {
            hits.write(PointerHits::new(id.pointer, picks, camera.order as f32));
        }
    }
}
