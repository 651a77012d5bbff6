//! Draws each cloth between its last two steps: writes its mesh and its bounding box.

use super::{parallel::ClothCrew, skins::set_bounds, standstill::Standstill};
use crate::{
    cloth::Cloth,
    components::{ClothBody, ClothMesh, ClothSource, Particles},
    lod::{ClothCulled, ClothPaused},
    mesh::Frame,
    settings::ClothThreads,
    sleep::ClothSleeping,
    time::{ClothClock, ClothTime},
};
use bevy::{
    camera::primitives::Aabb,
    ecs::{
        query::QueryData,
        system::{NonSendMarker, SystemParam},
    },
    math::Affine3A,
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

/// A cloth that is drawn.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Drawn {
    particles: Ref<'static, Particles>,
    transform: &'static GlobalTransform,
    body: &'static ClothBody,
    source: &'static ClothSource,
    mesh: &'static mut ClothMesh,
    aabb: &'static mut Aabb,
    sleeps: Has<ClothSleeping>,
    paused: Has<ClothPaused>,
}

impl DrawnItem<'_, '_> {
    /// How it is to be drawn between its last two steps, if it does not look so already. Takes its mesh
    /// out, so that several threads can write.
    fn begin(&mut self, between: f32, meshes: &mut Assets<Mesh>) -> Option<(Affine3A, Frame)> {
        // What stands still looks the same all the time.
        let alpha = match self.sleeps || self.paused {
            true => 1.0,
            false => self.body.pace.between(between),
        };
        let affine = self.transform.affine();
        if !self.particles.is_changed() && self.mesh.written == Some((affine, alpha)) {
            return None;
        }
        let to_mesh = affine.inverse();
        // At scale 0 there is nothing to see, and NaN cannot be drawn: the last picture stays.
        if !(to_mesh.is_finite() && affine.is_finite()) {
            return None;
        }
        let mut own = meshes.get_mut(&self.source.own)?;
        let nothing = Mesh::new(own.primitive_topology(), own.asset_usage);
        self.mesh.own = Some(std::mem::replace(&mut *own, nothing));
        self.mesh.written = Some((affine, alpha));
        let frame = Frame {
            alpha,
            offset: self.particles.origin - self.transform.translation(),
            to_frame: to_mesh.matrix3.into(),
        };
        Some((affine, frame))
    }

    fn draw(&mut self, affine: &Affine3A, frame: &Frame) {
        let ClothMesh {
            binding,
            local,
            own: Some(own),
            rest,
            joint,
            ..
        } = &mut *self.mesh
        else {
            return;
        };
        let (radius, to_world) = (self.body.radius(), affine.matrix3.into());
        let drawn = binding.write(frame, &self.particles, local, radius, to_world, own);
        let Some(drawn) = drawn else { return };
        match (*joint, *rest) {
            (Some(joint), _) => set_bounds(own, joint, &drawn),
            (None, Some([low, high])) => {
                let [from, to] = [drawn.min(), drawn.max()].map(Vec3::from);
                *self.aabb = Aabb::from_min_max(from.min(low), to.max(high));
            }
            (None, None) => *self.aabb = drawn,
        }
    }
}

pub(crate) fn write_mesh(
    mut cloths: Query<Drawn, (With<Cloth>, Without<ClothCulled>)>,
    time: DrawTime,
    mut meshes: ResMut<Assets<Mesh>>,
    mut crew: ResMut<ClothCrew>,
    threads: Res<ClothThreads>,
    // See `prepare_cloths`.
    _on_the_main_thread: NonSendMarker,
) {
    let between = time.alpha();
    let due = cloths.iter_mut().filter_map(|mut cloth| {
        let (affine, frame) = cloth.begin(between, &mut meshes)?;
        Some((cloth, affine, frame))
    });
    let size = |(cloth, ..): &(DrawnItem, Affine3A, Frame)| cloth.particles.len();
    crew.for_whole(*threads, due, size, |(mut cloth, affine, frame)| {
        cloth.draw(&affine, &frame);
    });
    for mut cloth in &mut cloths {
        // That it has changed was said when it was taken out.
        if let Some(own) = cloth.mesh.bypass_change_detection().own.take()
            && let Some(place) = meshes.get_mut_untracked(&cloth.source.own)
        {
            *place = own;
        }
    }
}
