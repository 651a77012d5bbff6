//! Converts between screen and world positions.

use bevy::{
    camera::RenderTarget,
    ecs::system::SystemParam,
    picking::pointer::{Location, PointerId, PointerLocation},
    prelude::*,
    window::PrimaryWindow,
};

/// Access to all cameras and pointers.
#[derive(SystemParam)]
pub(super) struct PointerViews<'w, 's> {
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

impl PointerViews<'_, '_> {
    /// Returns the entity of a pointer.
    pub(super) fn entity_of(&self, pointer: PointerId) -> Option<Entity> {
        let mut pointers = self.pointers.iter();
        pointers
            .find(|(_, id, _)| **id == pointer)
            .map(|found| found.0)
    }

    /// Returns the location of a pointer; `None` while it has none.
    pub(super) fn location(&self, pointer: PointerId) -> Option<&Location> {
        let mut pointers = self.pointers.iter();
        let (.., location) = pointers.find(|(_, id, _)| **id == pointer)?;
        location.location()
    }

    /// Returns the active camera whose viewport contains a location: the topmost if there are several.
    pub(super) fn camera_at(&self, location: &Location) -> Option<Entity> {
        self.cameras
            .iter()
            .filter(|(_, camera, target, _)| {
                camera.is_active && location.is_in_viewport(camera, target, &self.primary_window)
            })
            .max_by_key(|(entity, camera, ..)| (camera.order, *entity))
            .map(|(entity, ..)| entity)
    }

    /// Returns the ray through a position on a camera's target, in logical pixels; it may lie outside the
    /// viewport.
    pub(super) fn ray(&self, camera: Entity, position: Vec2) -> Option<Ray3d> {
        let (_, camera, _, transform) = self.cameras.get(camera).ok()?;
        camera.viewport_to_world(transform, position).ok()
    }

    /// Projects a world point to the target of a camera, in logical pixels.
    pub(super) fn on_screen(&self, camera: Entity, point: Vec3) -> Option<Vec2> {
        let (_, camera, _, transform) = self.cameras.get(camera).ok()?;
        camera.world_to_viewport(transform, point).ok()
    }

    /// Returns the depth of a point in front of a camera, m.
    pub(super) fn depth(&self, camera: Entity, point: Vec3) -> Option<f32> {
        let (.., transform) = self.cameras.get(camera).ok()?;
        Some((point - transform.translation()).dot(*transform.forward()))
    }

    /// Returns the point at this depth under a screen position.
    pub(super) fn point_at(&self, camera: Entity, position: Vec2, depth: f32) -> Option<Vec3> {
        let ray = self.ray(camera, position)?;
        let (.., transform) = self.cameras.get(camera).ok()?;
        let forward = *transform.forward();
        let start = (ray.origin - transform.translation()).dot(forward);
        let slope = ray.direction.dot(forward);
        (slope > 1e-6).then(|| ray.origin + *ray.direction * ((depth - start) / slope))
    }
}
