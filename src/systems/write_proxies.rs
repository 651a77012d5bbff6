//! Draws fine meshes where their coarse cloths are.

use super::{
    draw::{Shown, ShownItem, View, put_back, take_out},
    parallel::ClothCrew,
    proxies::ProxyMesh,
    skins::set_bounds,
};
use crate::{
    components::ClothSource, lod::ClothCulled, mesh::smooth_normals, settings::ClothThreads,
};
use bevy::{
    camera::primitives::Aabb,
    ecs::{query::QueryData, system::NonSendMarker},
    prelude::*,
};

/// How many vertices are about as much work as a particle of a cloth that draws itself.
const VERTICES: usize = 2;

/// A fine mesh that is drawn.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct DrawnProxy {
    mesh: &'static mut ProxyMesh,
    transform: &'static GlobalTransform,
    source: &'static ClothSource,
    aabb: &'static mut Aabb,
}

impl DrawnProxyItem<'_, '_> {
    /// How it is to be drawn, if it does not look so already. Takes its mesh out.
    fn begin(&mut self, cloth: &ShownItem, meshes: &mut Assets<Mesh>) -> Option<View> {
        let view = cloth.view(self.transform, self.mesh.written)?;
        self.mesh.own = Some(take_out(meshes, &self.source.own)?);
        self.mesh.written = Some(view.key);
        Some(view)
    }

    fn draw(&mut self, cloth: &ShownItem, view: &View) {
        let ProxyMesh {
            binding,
            places,
            normals,
            joint,
            own: Some(own),
            ..
        } = &mut *self.mesh
        else {
            return;
        };
        view.frame.place(&cloth.particles, places);
        smooth_normals(places, cloth.body.triangles.indices.iter(), normals);
        if let Some((low, high)) = binding.draw(places, normals, own) {
            let drawn = Aabb::from_min_max(low, high);
            match *joint {
                Some(joint) => set_bounds(own, joint, &drawn),
                None => *self.aabb = drawn,
            }
        }
    }
}

pub(crate) fn write_proxies(
    mut proxies: Query<DrawnProxy>,
    cloths: Query<Shown, Without<ClothCulled>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut crew: ResMut<ClothCrew>,
    threads: Res<ClothThreads>,
    // See `prepare_cloths`.
    _on_the_main_thread: NonSendMarker,
) {
    let due = proxies.iter_mut().filter_map(|mut proxy| {
        let cloth = cloths.get(proxy.mesh.cloth).ok()?;
        let view = proxy.begin(&cloth, &mut meshes)?;
        Some((proxy, cloth, view))
    });
    let size =
        |(proxy, ..): &(DrawnProxyItem, ShownItem, View)| proxy.mesh.binding.len() / VERTICES;
    crew.for_whole(*threads, due, size, |(mut proxy, cloth, view)| {
        proxy.draw(&cloth, &view);
    });
    for mut proxy in &mut proxies {
        if let Some(own) = proxy.mesh.bypass_change_detection().own.take() {
            put_back(&mut meshes, &proxy.source.own, own);
        }
    }
}
