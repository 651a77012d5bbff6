//! What all that is drawn of cloth has in common: the moment, the frame, and the mesh that is written to.

use super::{picture::Picture, standstill::Standstill};
use crate::{
    components::{Affine, ClothBody, Particles},
    mesh::Frame,
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
    pub(super) fn alpha(&self) -> f32 {
        if self.between.0 && !self.standstill.lasts() {
            let overstep = self.fixed.as_ref().map_or(0.0, |t| t.overstep_fraction());
            self.clock.interpolation(&self.time, overstep)
        } else {
            1.0
        }
    }

    pub(super) fn stands_still(&self) -> bool {
        self.time.paused || self.standstill.lasts()
    }
}

/// What of a cloth tells how it looks.
#[derive(QueryData)]
pub(crate) struct Shown {
    pub(super) particles: Ref<'static, Particles>,
    pub(super) body: &'static ClothBody,
}

impl ShownItem<'_, '_> {
    /// How it is drawn in the space of a mesh that is here, if that does not look so already: `written` is how the
    /// mesh was drawn last.
    pub(super) fn view(
        &self,
        transform: &GlobalTransform,
        written: Option<ViewKey>,
    ) -> Option<View> {
        let key = ViewKey {
            affine: transform.affine(),
            picture: self.body.picture,
        };
        if !self.particles.is_changed() && written == Some(key) {
            return None;
        }
        let to_mesh = key.affine.inverse();
        // At scale 0 there is nothing to see, and NaN cannot be drawn: the last picture stays.
        if !(to_mesh.is_finite() && key.affine.is_finite()) {
            return None;
        }
        let origin = self.particles.origin;
        let frame = (key.picture).frame(origin, transform.translation(), to_mesh.matrix3.into());
        Some(View { key, frame })
    }
}

/// What a mesh looks like depends on this, and on particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ViewKey {
    /// From the space of the mesh to the world.
    affine: Affine,
    picture: Picture,
}

impl ViewKey {
    /// What turns and scales mesh space into world axes.
    pub(super) fn to_world(self) -> Mat3 {
        self.affine.matrix3.into()
    }
}

/// How cloth is drawn in a mesh.
pub(super) struct View {
    /// To recognise it by.
    pub(super) key: ViewKey,
    pub(super) frame: Frame,
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
