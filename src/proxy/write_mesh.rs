//! Writes the proxy meshes that follow coarse cloths.

use crate::{
    character::skeleton::set_bounds,
    cloth::{
        activity::ClothCulled, settings::ClothMaxThreads, source::ClothSource,
        workers::ClothWorkers,
    },
    mesh::smooth_normals,
    proxy::bind::ProxyMesh,
    render::interpolation::{RenderQuery, RenderQueryItem, RenderView, return_mesh, take_mesh},
};
use bevy::{
    camera::primitives::Aabb,
    ecs::{query::QueryData, system::NonSendMarker},
    prelude::*,
};

/// Number of proxy vertices that take about as long to write as one particle of a cloth without proxy.
const VERTICES_PER_PARTICLE: usize = 2;

/// Components of a proxy used to write its mesh.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct WriteProxyQuery {
    mesh: &'static mut ProxyMesh,
    transform: &'static GlobalTransform,
    source: &'static ClothSource,
    aabb: &'static mut Aabb,
}

impl WriteProxyQueryItem<'_, '_> {
    /// Takes the mesh out of the assets, and returns the view to write, if it has changed.
    fn begin<'w>(
        &mut self,
        cloth: &RenderQueryItem<'w, '_>,
        meshes: &mut Assets<Mesh>,
    ) -> Option<RenderView<'w>> {
        let (key, view) = cloth.view(self.transform, self.mesh.last_written.as_ref())?;
        self.mesh.own = Some(take_mesh(meshes, &self.source.own)?);
        self.mesh.last_written = Some(key);
        Some(view)
    }

    fn write(&mut self, cloth: &RenderQueryItem, view: &RenderView) {
        let ProxyMesh {
            binding,
            positions,
            normals,
            joint,
            own: Some(own),
            ..
        } = &mut *self.mesh
        else {
            return;
        };
        view.frame.transform(&cloth.particles, positions);
        smooth_normals(positions, cloth.shape.triangles.indices.iter(), normals);
        if let Some((low, high)) = binding.write_mesh(positions, normals, own) {
            let bounds = Aabb::from_min_max(low, high);
            match *joint {
                Some(joint) => set_bounds(own, joint, &bounds),
                None => *self.aabb = bounds,
            }
        }
    }
}

/// Run condition: a proxy is new or has moved.
pub(crate) fn any_proxy_moved(
    moved: Query<
        (),
        (
            With<ProxyMesh>,
            Or<(Added<ProxyMesh>, Changed<GlobalTransform>)>,
        ),
    >,
) -> bool {
    !moved.is_empty()
}

pub(crate) fn write_proxies(
    mut proxies: Query<WriteProxyQuery>,
    cloths: Query<RenderQuery, Without<ClothCulled>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut workers: ResMut<ClothWorkers>,
    threads: Res<ClothMaxThreads>,
    // See `prepare_cloths`.
    _on_the_main_thread: NonSendMarker,
) {
    let changed = proxies.iter_mut().filter_map(|mut proxy| {
        let cloth = cloths.get(proxy.mesh.cloth).ok()?;
        let view = proxy.begin(&cloth, &mut meshes)?;
        Some((proxy, cloth, view))
    });
    let size = |(proxy, ..): &(WriteProxyQueryItem, RenderQueryItem, RenderView)| {
        proxy.mesh.binding.len() / VERTICES_PER_PARTICLE
    };
    workers.for_each_whole_cloth(*threads, changed, size, |(mut proxy, cloth, view)| {
        proxy.write(&cloth, &view);
    });
    for mut proxy in &mut proxies {
        if let Some(own) = proxy.mesh.bypass_change_detection().own.take() {
            return_mesh(&mut meshes, &proxy.source.own, own);
        }
    }
}
