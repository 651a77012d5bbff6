//! What all that is drawn of cloth has in common: the moment, the frame, and the mesh that is written to.

use super::standstill::Standstill;
use crate::{
    components::{Affine, ClothBody, Particles},
    lod::ClothPaused,
    mesh::Frame,
    sleep::ClothSleeping,
    time::{ClothClock, ClothTime},
};
use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
};

/// Steps are taken in a fixed schedule, so that frames lie between them.
#[derive(Resource)]
pub(crate) struct DrawBetweenSteps(pub(crate) bool);

/// Where the frame that is drawn lies between the last two steps.
#[derive(SystemParam)]
pub(crate) struct DrawTime<'w> {
    time: Res<'w, ClothTime>,
    clock: Res<'w, ClothClock>,
    between: Res<'w, DrawBetweenSteps>,
    standstill: Res<'w, Standstill>,
    fixed: Option<Res<'w, Time<Fixed>>>,
}

impl DrawTime<'_> {
    /// From 0 (the step before) to 1 (the last one).
    pub(crate) fn alpha(&self) -> f32 {
        if self.between.0 && !self.standstill.lasts() {
            let overstep = self.fixed.as_ref().map_or(0.0, |t| t.overstep_fraction());
            self.clock.interpolation(&self.time, overstep)
        } else {
            1.0
        }
    }
}

/// What of a cloth tells how it looks.
#[derive(QueryData)]
pub(crate) struct Shown {
    pub(super) particles: Ref<'static, Particles>,
    pub(super) body: &'static ClothBody,
    sleeps: Has<ClothSleeping>,
    paused: Has<ClothPaused>,
}

impl ShownItem<'_, '_> {
    /// How it is drawn in the space of a mesh that is here, if that does not look so already. `between` is where
    /// the frame lies between the last two steps, `written` how the mesh was drawn last.
    pub(super) fn view(
        &self,
        between: f32,
        transform: &GlobalTransform,
        written: Option<(Affine, f32)>,
    ) -> Option<View> {
        // What stands still looks the same all the time.
        let alpha = match self.sleeps || self.paused {
            true => 1.0,
            false => self.body.pace.between(between),
        };
        let affine = transform.affine();
        if !self.particles.is_changed() && written == Some((affine, alpha)) {
            return None;
        }
        let to_mesh = affine.inverse();
        // At scale 0 there is nothing to see, and NaN cannot be drawn: the last picture stays.
        if !(to_mesh.is_finite() && affine.is_finite()) {
            return None;
        }
        Some(View {
            affine,
            frame: Frame {
                alpha,
                offset: self.particles.origin - transform.translation(),
                to_frame: to_mesh.matrix3.into(),
            },
        })
    }
}

/// How cloth is drawn in a mesh.
pub(super) struct View {
    /// From the space of the mesh to the world.
    pub(super) affine: Affine,
    pub(super) frame: Frame,
}

impl View {
    /// To recognise it by.
    pub(super) fn key(&self) -> (Affine, f32) {
        (self.affine, self.frame.alpha)
    }
}

/// Takes a mesh out of its place, so that several threads can write to several, and says that it changes.
pub(super) fn take_out(meshes: &mut Assets<Mesh>, of: &Handle<Mesh>) -> Option<Mesh> {
    let mut own = meshes.get_mut(of)?;
    let nothing = Mesh::new(own.primitive_topology(), own.asset_usage);
    Some(std::mem::replace(&mut *own, nothing))
}

/// And puts it back.
pub(super) fn put_back(meshes: &mut Assets<Mesh>, of: &Handle<Mesh>, own: Mesh) {
    if let Some(place) = meshes.get_mut_untracked(of) {
        *place = own;
    }
}
