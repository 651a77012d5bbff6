//! Builds the surfaces of mesh colliders, and finds their motion in the coming step.

use crate::{
    cloth::Cloth,
    collision::{
        collider::{ClothCollider, LastPose},
        layers::ClothLayers,
        mesh_collider::{ClothMeshCollider, ClothMeshShape},
    },
    mesh::{TriangleMesh, weld_triangles},
    solver::{MeshCollider, Pose, SurfaceError, TriangleSurface},
};
use crate::{cloth::transforms::Anchors, collision::active_colliders::ActiveColliders};
use bevy::{ecs::entity::EntityHashMap, prelude::*};
use std::sync::Arc;

/// Mesh colliders of the current step, ordered by entity: the same order gives the same bits.
#[derive(Default)]
pub(crate) struct ActiveMeshColliders {
    list: Vec<(MeshCollider, ClothLayers)>,
    /// Scratch buffer: all entities, sorted.
    order: Vec<Entity>,
    surfaces: EntityHashMap<BuiltSurface>,
}

/// Surface of a collider, and the inputs from which it was built.
struct BuiltSurface {
    scale: Vec3,
    mesh: Option<AssetId<Mesh>>,
    /// Whether its mesh asset has changed since.
    stale: bool,
    /// The surface, or the reason why it could not be built, which was logged.
    surface: Result<Arc<TriangleSurface>, String>,
    /// Whether its transform is not finite, which was logged.
    has_invalid_transform: bool,
}

impl ActiveMeshColliders {
    /// Returns the mesh colliders that interact with a cloth on these layers.
    pub(crate) fn on_layers(
        &self,
        layers: Option<&ClothLayers>,
    ) -> impl Iterator<Item = &MeshCollider> + Clone {
        let layers = layers.copied().unwrap_or_default();
        let matching = self
            .list
            .iter()
            .filter(move |(_, other)| layers.interacts_with(*other));
        matching.map(|(collider, _)| collider)
    }

    /// Returns all mesh colliders with their layers.
    pub(crate) fn with_layers(&self) -> impl Iterator<Item = &(MeshCollider, ClothLayers)> {
        self.list.iter()
    }

    /// Returns the same colliders without velocity.
    pub(crate) fn stationary(&self) -> Self {
        let stationary = |(collider, layers): &(MeshCollider, _)| {
            let mut collider = collider.clone();
            collider.start = collider.end;
            (collider, *layers)
        };
        Self {
            list: self.list.iter().map(stationary).collect(),
            ..default()
        }
    }

    /// Returns all mesh colliders.
    #[cfg(feature = "debug")]
    pub(crate) fn all(&self) -> impl Iterator<Item = &MeshCollider> {
        self.list.iter().map(|(collider, _)| collider)
    }
}

/// Returns whether a surface built for one scale serves for another: the scale of a rotated transform varies in
/// the last digits. NaN equals NaN.
fn is_same_scale(a: Vec3, b: Vec3) -> bool {
    let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-5 * a.abs();
    a.to_array()
        .into_iter()
        .zip(b.to_array())
        .all(|(a, b)| same(a, b))
}

/// Marks surfaces whose mesh asset has changed for rebuilding.
pub(crate) fn mark_changed_meshes(
    mut active: ResMut<ActiveColliders>,
    mut events: MessageReader<AssetEvent<Mesh>>,
) {
    for event in events.read() {
        if let AssetEvent::Added { id } | AssetEvent::Modified { id } = event {
            let surfaces = active.meshes.surfaces.values_mut();
            for built in surfaces.filter(|built| built.mesh == Some(*id)) {
                built.stale = true;
            }
        }
    }
}

pub(crate) fn find_mesh_colliders(
    mut active: ResMut<ActiveColliders>,
    mut colliders: Query<(
        Entity,
        Ref<ClothMeshCollider>,
        Option<&Mesh3d>,
        Option<&ClothLayers>,
        &mut LastPose,
        (Has<ClothCollider>, Has<Cloth>),
    )>,
    anchors: Anchors,
    meshes: Option<Res<Assets<Mesh>>>,
    time: Res<Time>,
) {
    let ActiveMeshColliders {
        list,
        order,
        surfaces,
    } = &mut active.meshes;
    list.clear();
    order.clear();
    order.extend(colliders.iter().map(|(entity, ..)| entity));
    order.sort_unstable();
    for &entity in &*order {
        let Ok((_, collider, mesh, layers, mut last, (is_primitive, is_cloth))) =
            colliders.get_mut(entity)
        else {
            continue;
        };
        let before = last.0;
        // For an entity with a primitive collider too, `find_colliders` writes it afterwards.
        let mut remember = |pose| {
            if !is_primitive {
                last.set_if_neq(LastPose(pose));
            }
        };
        let Some(transform) = anchors.at(entity) else {
            remember(None);
            continue;
        };
        let (scale, rotation, translation) = transform.to_scale_rotation_translation();
        let mesh = match collider.shape {
            ClothMeshShape::Mesh | ClothMeshShape::MeshHull => mesh.map(|mesh| mesh.id()),
            _ => None,
        };
        let known = surfaces.get(&entity);
        let same = |known: &&BuiltSurface| {
            !known.stale && is_same_scale(known.scale, scale) && known.mesh == mesh
        };
        if known.filter(same).is_none() || collider.is_changed() {
            let loaded = mesh.and_then(|id| meshes.as_ref()?.get(id));
            // Still loading: it is tried again in the next step.
            let surface = build_surface(&collider, loaded, scale, is_cloth);
            let surface = surface.map(|surface| surface.map(Arc::new));
            if let Some(Err(reason)) = &surface
                && known.and_then(|known| known.surface.as_ref().err()) != Some(reason)
            {
                error!("cloth mesh collider {entity} is ignored: {reason}");
            }
            let now = surface.map(|surface| BuiltSurface {
                scale,
                mesh,
                stale: false,
                surface,
                has_invalid_transform: false,
            });
            match now {
                Some(now) => drop(surfaces.insert(entity, now)),
                None => drop(surfaces.remove(&entity)),
            }
        }
        let end = Pose {
            // A non-uniformly scaled parent shears rotated children; the nearest rotation is the
            // best approximation for a rigid shape.
            rotation: rotation.normalize(),
            translation,
        };
        let built = surfaces.get_mut(&entity);
        let Some((surface, has_invalid_transform)) = built.and_then(|built| {
            let surface = built.surface.as_ref().ok()?;
            Some((surface.clone(), &mut built.has_invalid_transform))
        }) else {
            remember(None);
            continue;
        };
        if !end.is_valid() {
            if !std::mem::replace(has_invalid_transform, true) {
                error!(
                    "cloth mesh collider {entity} at {translation} is ignored; its transform must be \
                     finite"
                );
            }
            remember(None);
            continue;
        }
        *has_invalid_transform = false;
        remember(Some(Isometry3d::new(translation, end.rotation)));
        let start = before.map_or(end, |last| Pose {
            rotation: last.rotation,
            translation: last.translation.into(),
        });
        let swept = MeshCollider {
            surface,
            start,
            end,
            friction: collider.friction(),
        };
        let layers = layers.copied().unwrap_or_default();
        list.push((swept.without_teleport(time.delta_secs()), layers));
    }
    surfaces.retain(|&entity, _| colliders.contains(entity));
}

/// Builds a surface, or returns why it cannot be built; `None` while the mesh is not loaded.
fn build_surface(
    collider: &ClothMeshCollider,
    mesh: Option<&Mesh>,
    scale: Vec3,
    is_cloth: bool,
) -> Option<Result<TriangleSurface, String>> {
    let scaled =
        |points: &[Vec3]| -> Vec<Vec3> { points.iter().map(|&point| point * scale).collect() };
    let surface = match &collider.shape {
        ClothMeshShape::Mesh | ClothMeshShape::MeshHull if is_cloth => {
            let reason = "its mesh is the cloth on the same entity; give the collider an entity \
                          of its own";
            return Some(Err(reason.into()));
        }
        shape @ (ClothMeshShape::Mesh | ClothMeshShape::MeshHull) => {
            let TriangleMesh {
                positions,
                triangles,
                ..
            } = match TriangleMesh::read(mesh?) {
                Ok(read) => read,
                Err(reason) => return Some(Err(reason.to_string())),
            };
            let (points, triangles) = weld_triangles(&positions, &triangles);
            match shape {
                ClothMeshShape::MeshHull => TriangleSurface::convex_hull(&scaled(&points)),
                _ => TriangleSurface::new(scaled(&points), triangles),
            }
        }
        ClothMeshShape::Triangles { vertices, indices } => weld(vertices, indices)
            .and_then(|(points, triangles)| TriangleSurface::new(scaled(&points), triangles)),
        ClothMeshShape::Hull { points } => TriangleSurface::convex_hull(&scaled(points)),
        ClothMeshShape::Heightfield {
            heights,
            columns,
            size,
        } => TriangleSurface::heightfield(heights, *columns, *size, scale),
    };
    let surface = surface.map_err(|reason| reason.to_string());
    Some(surface.map(|surface| match collider.hollow {
        true => surface.hollow(),
        false => surface,
    }))
}

/// Welds vertices at the same position.
fn weld(
    vertices: &[Vec3],
    indices: &[[u32; 3]],
) -> Result<(Vec<Vec3>, Vec<[u32; 3]>), SurfaceError> {
    let corners = indices.as_flattened();
    if let Some(&index) = corners.iter().find(|&&i| i as usize >= vertices.len()) {
        return Err(SurfaceError::OutOfRange { index });
    }
    if let Some(&index) = corners.iter().find(|&&i| !vertices[i as usize].is_finite()) {
        let index = index as usize;
        return Err(SurfaceError::NonFinite { index });
    }
    Ok(weld_triangles(vertices, indices))
}
