//! Draws each cloth between its last two steps: writes its mesh and its bounding box.

use super::{
    draw::{Shown, View, put_back, take_out},
    parallel::ClothCrew,
    skins::set_bounds,
};
use crate::{
    cloth::Cloth,
    components::{ClothMesh, ClothSource},
    lod::ClothCulled,
    settings::ClothThreads,
};
use bevy::{
    camera::primitives::Aabb,
    ecs::{query::QueryData, system::NonSendMarker},
    prelude::*,
};

/// A cloth that is drawn.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Drawn {
    shown: Shown,
    transform: &'static GlobalTransform,
    source: &'static ClothSource,
    mesh: &'static mut ClothMesh,
    aabb: &'static mut Aabb,
}

impl DrawnItem<'_, '_> {
    /// How it is to be drawn, if it does not look so already. Takes its mesh out.
    fn begin(&mut self, meshes: &mut Assets<Mesh>) -> Option<View> {
        let view = (self.shown).view(self.transform, self.mesh.written)?;
        self.mesh.own = Some(take_out(meshes, &self.source.own)?);
        self.mesh.written = Some(view.key);
        Some(view)
    }

    fn draw(&mut self, View { key, frame }: &View) {
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
        let (radius, to_world) = (self.shown.body.radius(), key.to_world());
        let drawn = binding.write(frame, &self.shown.particles, local, radius, to_world, own);
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
    mut meshes: ResMut<Assets<Mesh>>,
    mut crew: ResMut<ClothCrew>,
    threads: Res<ClothThreads>,
    // See `prepare_cloths`.
    _on_the_main_thread: NonSendMarker,
) {
    let due = cloths.iter_mut().filter_map(|mut cloth| {
        let view = cloth.begin(&mut meshes)?;
        Some((cloth, view))
    });
    let size = |(cloth, _): &(DrawnItem, View)| cloth.shown.particles.len();
    crew.for_whole(*threads, due, size, |(mut cloth, view)| cloth.draw(&view));
    for mut cloth in &mut cloths {
        if let Some(own) = cloth.mesh.bypass_change_detection().own.take() {
            put_back(&mut meshes, &cloth.source.own, own);
        }
    }
}
