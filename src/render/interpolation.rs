//! Render interpolation: the time between two steps, the view of a cloth in the space of a mesh, and access to
//! the mesh assets that are written.

use crate::{
    cloth::{
        particles::ClothParticles, schedule::ClothStepSchedule, shape::ClothShape,
        transforms::is_usable,
    },
    mesh::RenderFrame,
    render::pose::RenderPose,
    time::{ClothClock, ClothTime, pause_detection::PauseDetection},
};
use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    math::Affine3A,
    prelude::*,
};

/// Time of the rendered frame between the last two steps.
#[derive(SystemParam)]
pub(crate) struct InterpolationTime<'w> {
    time: Res<'w, ClothTime>,
    clock: Res<'w, ClothClock>,
    schedule: Res<'w, ClothStepSchedule>,
    pause_detection: Res<'w, PauseDetection>,
    fixed: Option<Res<'w, Time<Fixed>>>,
}

impl InterpolationTime<'_> {
    /// Returns the interpolation factor: 0 is the previous step, 1 the last one.
    pub(crate) fn alpha(&self) -> f32 {
        if self.schedule.is_fixed() && !self.pause_detection.is_paused() {
            let overstep = self.fixed.as_ref().map_or(0.0, |t| t.overstep_fraction());
            self.clock.interpolation(&self.time, overstep)
        } else {
            1.0
        }
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.time.paused || self.pause_detection.is_paused()
    }
}

/// Components of a cloth that determine its rendering.
#[derive(QueryData)]
pub(crate) struct RenderQuery {
    pub(crate) particles: Ref<'static, ClothParticles>,
    pub(crate) shape: &'static ClothShape,
    render_pose: &'static RenderPose,
}

impl<'w> RenderQueryItem<'w, '_> {
    /// Returns the view of the cloth in the space of a mesh at this transform, and its key; `None` if the mesh was already
    /// written for it, with the key `last_written`.
    pub(crate) fn view(
        &self,
        transform: &GlobalTransform,
        last_written: Option<&RenderViewKey>,
    ) -> Option<(RenderViewKey, RenderView<'w>)> {
        let affine = transform.affine();
        let is_same =
            |last: &RenderViewKey| last.affine == affine && last.render_pose == *self.render_pose;
        if !self.particles.is_changed() && last_written.is_some_and(is_same) {
            return None;
        }
        // At scale 0 nothing is visible, and NaN cannot be rendered: the mesh stays as it is.
        if !is_usable(transform) {
            return None;
        }
        let to_mesh = affine.inverse();
        let origin = self.particles.origin;
        let render_pose = self.render_pose;
        let frame = render_pose.frame(origin, transform.translation(), to_mesh.matrix3.into());
        let key = RenderViewKey {
            affine,
            render_pose: render_pose.clone(),
        };
        let to_world = affine.matrix3.into();
        Some((key, RenderView { to_world, frame }))
    }
}

/// Everything besides particles on which the vertices of a mesh depend.
#[derive(Clone, Debug)]
pub(crate) struct RenderViewKey {
    /// Transform from mesh space to the world.
    affine: Affine3A,
    render_pose: RenderPose,
}

/// View of a cloth in the space of a mesh.
pub(crate) struct RenderView<'a> {
    /// Rotation and scale from mesh space to world axes.
    pub(crate) to_world: Mat3,
    pub(crate) frame: RenderFrame<'a>,
}

/// Takes a mesh out of the assets, so that several threads can write several meshes, and marks it as changed.
pub(crate) fn take_mesh(meshes: &mut Assets<Mesh>, handle: &Handle<Mesh>) -> Option<Mesh> {
    let mut own = meshes.get_mut(handle)?;
    let empty = Mesh::new(own.primitive_topology(), own.asset_usage);
    Some(std::mem::replace(&mut *own, empty))
}

/// Puts a mesh back into the assets.
pub(crate) fn return_mesh(meshes: &mut Assets<Mesh>, handle: &Handle<Mesh>, own: Mesh) {
    if let Some(slot) = meshes.get_mut_untracked(handle) {
        *slot = own;
    }
}
