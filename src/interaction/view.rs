//! From the screen into the world.

use bevy::{
    camera::RenderTarget,
    ecs::system::SystemParam,
    picking::pointer::{Location, PointerId, PointerLocation},
    prelude::*,
    window::PrimaryWindow,
};

/// All cameras and pointers.
#[derive(SystemParam)]
pub(super) struct Views<'w, 's> {
    cameras: Query<
        'w,
        's,
        (
            Entity,
            &'static Camera,
            &'static RenderTarget,
            &'static GlobalTransform,
        ),
    >,
    pointers: Query<'w, 's, (Entity, &'static PointerId, &'static PointerLocation)>,
    primary_window: Query<'w, 's, Entity, With<PrimaryWindow>>,
}

impl Views<'_, '_> {
    /// The entity of a pointer.
    pub(super) fn entity_of(&self, pointer: PointerId) -> Option<Entity> {
        let mut pointers = self.pointers.iter();
        pointers
            .find(|(_, id, _)| **id == pointer)
            .map(|found| found.0)
    }

    /// Where a pointer is; `None` while it is nowhere.
    pub(super) fn location(&self, pointer: PointerId) -> Option<&Location> {
        let mut pointers = self.pointers.iter();
        let (.., location) = pointers.find(|(_, id, _)| **id == pointer)?;
        location.location()
    }

    /// The camera through which a pointer looks: of all whose viewport it is in the one on top.
    pub(super) fn camera_at(&self, location: &Location) -> Option<Entity> {
        self.cameras
            .iter()
            .filter(|(_, camera, target, _)| {
                camera.is_active && location.is_in_viewport(camera, target, &self.primary_window)
            })
            .max_by_key(|(entity, camera, ..)| (camera.order, *entity))
            .map(|(entity, ..)| entity)
    }

    /// The ray through a place on the target of a camera, in logical pixels; it may be outside of the
    /// camera's viewport.
    pub(super) fn ray(&self, camera: Entity, position: Vec2) -> Option<Ray3d> {
        let (_, camera, _, transform) = self.cameras.get(camera).ok()?;
        camera.viewport_to_world(transform, position).ok()
    }

    /// Where a point of the world is on the target of a camera, in logical pixels.
    pub(super) fn on_screen(&self, camera: Entity, point: Vec3) -> Option<Vec2> {
        let (_, camera, _, transform) = self.cameras.get(camera).ok()?;
        camera.world_to_viewport(transform, point).ok()
    }

    /// How far in front of a camera a point is, m.
    pub(super) fn depth(&self, camera: Entity, point: Vec3) -> Option<f32> {
        let (.., transform) = self.cameras.get(camera).ok()?;
        Some((point - transform.translation()).dot(*transform.forward()))
    }

    /// The point under a place on the screen at this depth.
    pub(super) fn point_at(&self, camera: Entity, position: Vec2, depth: f32) -> Option<Vec3> {
        let ray = self.ray(camera, position)?;
        let (.., transform) = self.cameras.get(camera).ok()?;
        let forward = *transform.forward();
        let begins = (ray.origin - transform.translation()).dot(forward);
        let slope = ray.direction.dot(forward);
        (slope > 1e-6).then(|| ray.origin + *ray.direction * ((depth - begins) / slope))
    }
}
