//! Writes the mesh and bounding box of each cloth. The positions are interpolated between its last two steps by
//! `RenderFrame` (`mesh/shading.rs`), with the factor that `pose.rs` has found.

use crate::{
    character::skeleton::set_bounds,
    cloth::{
        Cloth, activity::ClothCulled, settings::ClothMaxThreads, source::ClothSource,
        workers::ClothWorkers,
    },
    label::EntityLabel,
    pins::BoundPins,
    render::{
        interpolation::{RenderQuery, RenderView, return_mesh, take_mesh},
        own_mesh::ClothMesh,
    },
};
use bevy::{
    camera::primitives::Aabb,
    ecs::{query::QueryData, system::NonSendMarker},
    prelude::*,
};

/// Components of a cloth used to write its mesh.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct WriteMeshQuery {
    label: EntityLabel,
    render: RenderQuery,
    transform: &'static GlobalTransform,
    source: &'static ClothSource,
    mesh: &'static mut ClothMesh,
    pins: &'static mut BoundPins,
    aabb: &'static mut Aabb,
}

impl<'w> WriteMeshQueryItem<'w, '_> {
    /// Takes the mesh out of the assets, and returns the view to write, if it has changed.
    fn begin(&mut self, meshes: &mut Assets<Mesh>) -> Option<RenderView<'w>> {
        self.check_transform();
        let last_written = self.mesh.last_written.as_ref();
        let (key, view) = (self.render).view(self.transform, last_written)?;
        self.mesh.own = Some(take_mesh(meshes, &self.source.own)?);
        self.mesh.last_written = Some(key);
        Some(view)
    }

    /// Logs a transform that is not finite, unless that was logged for the pins on it.
    fn check_transform(&mut self) {
        let (label, affine) = (self.label, self.transform.affine());
        if affine.is_finite() || self.pins.lost_anchors.contains(&label.entity) {
            return;
        }
        let pins = self.pins.bypass_change_detection();
        pins.lost_anchors.push(label.entity);
        error!(
            "cloth {label}: its transform is not finite ({affine:?}), so its mesh stays as it is; set a finite \
             Transform on it and its parents"
        );
    }

    fn write(&mut self, RenderView { to_world, frame }: &RenderView) {
        let ClothMesh {
            binding,
            local,
            own: Some(own),
            static_bounds,
            joint,
            ..
        } = &mut *self.mesh
        else {
            return;
        };
        let radius = self.render.shape.radius();
        let bounds = binding.write(frame, &self.render.particles, local, radius, *to_world, own);
        let Some(bounds) = bounds else { return };
        match (*joint, *static_bounds) {
            (Some(joint), _) => set_bounds(own, joint, &bounds),
            (None, Some([low, high])) => {
                let [from, to] = [bounds.min(), bounds.max()].map(Vec3::from);
                *self.aabb = Aabb::from_min_max(from.min(low), to.max(high));
            }
            (None, None) => *self.aabb = bounds,
        }
    }
}

pub(crate) fn write_mesh(
    mut cloths: Query<WriteMeshQuery, (With<Cloth>, Without<ClothCulled>)>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut workers: ResMut<ClothWorkers>,
    threads: Res<ClothMaxThreads>,
    // See `prepare_cloths`.
    _on_the_main_thread: NonSendMarker,
) {
    let mut any_changed = false;
    let changed = cloths.iter_mut().filter_map(|mut cloth| {
        let view = cloth.begin(&mut meshes)?;
        any_changed = true;
        Some((cloth, view))
    });
    let size = |(cloth, _): &(WriteMeshQueryItem, RenderView)| cloth.render.particles.len();
    workers.for_each_whole_cloth(*threads, changed, size, |(mut cloth, view)| {
        cloth.write(&view)
    });
    if !any_changed {
        return;
    }
    for mut cloth in &mut cloths {
        if let Some(own) = cloth.mesh.bypass_change_detection().own.take() {
            return_mesh(&mut meshes, &cloth.source.own, own);
        }
    }
}
