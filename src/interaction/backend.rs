//! Tells Bevy's picking which cloth is under which pointer.

use crate::{
    components::{ClothBody, Particles},
    solver::ray::{RayHit, cast_on_lines, cast_on_triangles},
};
use bevy::{
    camera::{primitives::Aabb, visibility::RenderLayers},
    ecs::system::SystemParam,
    picking::{
        Pickable,
        backend::{HitData, PointerHits, ray::RayMap},
    },
    prelude::*,
};

/// Attached to the [`HitData`] of a cloth; see [`HitData::extra_as`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClothHit {
    /// The particles at the corners of the triangle under the pointer; of a rope, those at the ends of
    /// the segment, the second one twice.
    pub particles: [u32; 3],
}

type ClothParts<'a> = (
    Entity,
    &'a Particles,
    &'a ClothBody,
    &'a Aabb,
    &'a GlobalTransform,
    Option<&'a Pickable>,
    Option<&'a RenderLayers>,
    Option<&'a InheritedVisibility>,
);

/// Casts rays on cloths as they are drawn.
#[derive(SystemParam)]
pub(super) struct Cloths<'w, 's> {
    all: Query<'w, 's, ClothParts<'static>>,
    cameras: Query<'w, 's, Option<&'static RenderLayers>, With<Camera>>,
}

/// Where a ray meets a cloth, in the world.
pub(super) struct Met {
    pub(super) cloth: Entity,
    pub(super) distance: f32,
    pub(super) point: Vec3,
    normal: Vec3,
    pub(super) particles: [u32; 3],
}

/// Within this distance of a rope it is met, beside its radius, as a share of the distance from the
/// camera: a thin rope far away can still be taken.
const ROPE_REACH: f32 = 0.006;

impl Cloths<'_, '_> {
    /// The cloths that a camera can see and a ray meets, each where it meets it first.
    pub(super) fn met(&self, camera: Entity, ray: Ray3d) -> Vec<Met> {
        self.seen_by(camera)
            .filter_map(|(cloth, particles, body, aabb, transform, ..)| {
                self.meet(cloth, particles, body, aabb, transform, ray)
            })
            .collect()
    }

    /// The cloths that a camera shows and that are not to be ignored.
    fn seen_by(&self, camera: Entity) -> impl Iterator<Item = ClothParts<'_>> {
        let layers = self.cameras.get(camera).ok().flatten();
        let layers = layers.cloned().unwrap_or_default();
        self.all.iter().filter(move |(.., pickable, own, visible)| {
            let ignored = pickable.is_some_and(|pickable| !pickable.is_hoverable);
            let hidden = visible.is_some_and(|visible| !visible.get());
            !ignored && !hidden && layers.intersects(own.unwrap_or_default())
        })
    }

    fn meet(
        &self,
        cloth: Entity,
        particles: &Particles,
        body: &ClothBody,
        aabb: &Aabb,
        transform: &GlobalTransform,
        ray: Ray3d,
    ) -> Option<Met> {
        let middle = transform.transform_point(aabb.center.into());
        let far = middle.distance(ray.origin);
        let reach = body.radius() + ROPE_REACH * far;
        let margin = if body.rope.is_some() { reach } else { 0.0 };
        if !meets_box(aabb, transform, ray, margin) {
            return None;
        }
        let place = |i: u32| body.picture.between(particles, i as usize);
        // What is drawn elsewhere than it is in its steps is met there, by a ray that comes from elsewhere.
        let lead = body.picture.lead();
        let (from, direction) = match lead.map(|lead| lead.inverse()) {
            Some(back) => (back.point(ray.origin), back.direction(*ray.direction)),
            None => (ray.origin, *ray.direction),
        };
        let origin = from - particles.origin;
        let (hit, particles_of): (RayHit, [u32; 3]) = match &body.rope {
            Some(rope) => {
                let lines = &rope.lines.segments;
                let hit = cast_on_lines(origin, direction, lines, reach, place)?;
                let [a, b] = lines[hit.part as usize];
                (hit, [a, b, b])
            }
            None => {
                let triangles = &body.triangles.indices;
                let hit = cast_on_triangles(origin, direction, triangles.iter(), place)?;
                (hit, triangles.at(hit.part as usize))
            }
        };
        let normal = hit.normal.normalize_or(-direction);
        Some(Met {
            cloth,
            distance: hit.distance,
            point: ray.origin + *ray.direction * hit.distance,
            normal: lead.map_or(normal, |lead| lead.direction(normal)),
            particles: particles_of,
        })
    }

    /// The middle of each cloth's box that a camera shows, in the world: for tools that reach beside
    /// it.
    pub(super) fn middles(&self, camera: Entity) -> impl Iterator<Item = (Entity, Vec3)> {
        self.seen_by(camera)
            .map(|(cloth, _, _, aabb, transform, ..)| {
                (cloth, transform.transform_point(aabb.center.into()))
            })
    }

    /// Whether a ball in the world reaches any particle of a cloth.
    pub(super) fn reaches(&self, cloth: Entity, centre: Vec3, radius: f32) -> bool {
        self.all.get(cloth).is_ok_and(|(_, particles, ..)| {
            let centre = centre - particles.origin;
            let mut places = particles.position.iter();
            places.any(|place| place.distance_squared(centre) <= radius * radius)
        })
    }
}

/// Whether a ray meets the box around a cloth, made larger by a margin.
fn meets_box(aabb: &Aabb, transform: &GlobalTransform, ray: Ray3d, margin: f32) -> bool {
    let to_box = transform.affine().inverse();
    let origin = to_box.transform_point3(ray.origin) - Vec3::from(aabb.center);
    let direction = to_box.transform_vector3(*ray.direction);
    // A flat sheet has a flat box; the small margin is for rounding.
    let scale = direction.length().max(1e-6);
    let half = Vec3::from(aabb.half_extents) * 1.001 + Vec3::splat(margin * scale + 1e-4);
    let (mut enters, mut leaves) = (0.0_f32, f32::INFINITY);
    for axis in 0..3 {
        let (o, d, h) = (origin[axis], direction[axis], half[axis]);
        if d.abs() < 1e-12 {
            if o.abs() > h {
                return false;
            }
            continue;
        }
        let (one, other) = ((-h - o) / d, (h - o) / d);
        enters = enters.max(one.min(other));
        leaves = leaves.min(one.max(other));
    }
    enters <= leaves
}

pub(super) fn report_hits(
    rays: Res<RayMap>,
    cloths: Cloths,
    cameras: Query<&Camera>,
    #[cfg(feature = "panel")] mut egui: super::egui::OverEgui,
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
            .met(id.camera, *ray)
            .into_iter()
            .map(|met| {
                let particles = met.particles;
                let data = HitData::new_with_extra(
                    id.camera,
                    met.distance,
                    Some(met.point),
                    Some(met.normal),
                    ClothHit { particles },
                );
                (met.cloth, data)
            })
            .collect();
        if !picks.is_empty() {
            hits.write(PointerHits::new(id.pointer, picks, camera.order as f32));
        }
    }
}
