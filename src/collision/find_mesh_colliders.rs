//! Builds the surfaces of mesh colliders, and finds their motion in the coming step. Feature `parry`.

use crate::{
    cloth::{
        Cloth,
        transforms::{Anchors, scale_and_pose},
    },
    collision::{
        active_colliders::{ActiveColliders, sort_entities},
        collider::{ClothCollider, LastPose},
        layers::ClothLayers,
        mesh_collider::{ClothMeshCollider, ClothMeshShape},
    },
    label::EntityLabel,
    mesh::{TriangleMesh, weld_triangles},
    solver::{MeshCollider, Pose, SurfaceError, TriangleSurface},
};
use bevy::{
    ecs::{entity::EntityHashMap, query::QueryData},
    prelude::*,
};
use std::sync::Arc;

/// Surfaces of all mesh colliders.
#[derive(Resource, Default)]
pub(crate) struct MeshSurfaces {
    built: EntityHashMap<BuiltSurface>,
    /// Scratch buffer: all entities, sorted.
    order: Vec<Entity>,
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
    mut surfaces: ResMut<MeshSurfaces>,
    mut events: MessageReader<AssetEvent<Mesh>>,
) {
    for event in events.read() {
        if let AssetEvent::Added { id } | AssetEvent::Modified { id } = event {
            for built in (surfaces.built.values_mut()).filter(|built| built.mesh == Some(*id)) {
                built.stale = true;
            }
        }
    }
}

/// Components of a mesh collider.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct MeshColliderQuery {
    label: EntityLabel,
    collider: Ref<'static, ClothMeshCollider>,
    mesh: Option<&'static Mesh3d>,
    layers: Option<&'static ClothLayers>,
    last: &'static mut LastPose,
    is_primitive: Has<ClothCollider>,
    is_cloth: Has<Cloth>,
}

/// Finds the mesh colliders of a step. Those without a surface or with an invalid transform are left out.
pub(crate) fn find_mesh_colliders(
    mut active: ResMut<ActiveColliders>,
    mut surfaces: ResMut<MeshSurfaces>,
    mut colliders: Query<MeshColliderQuery>,
    anchors: Anchors,
    meshes: Option<Res<Assets<Mesh>>>,
    time: Res<Time>,
) {
    let MeshSurfaces {
        built: surfaces,
        order,
    } = &mut *surfaces;
    let list = &mut active.meshes.rigid;
    list.clear();
    sort_entities(
        order,
        colliders.iter().map(|collider| collider.label.entity),
    );
    for &entity in &*order {
        let Ok(mut collider) = colliders.get_mut(entity) else {
            continue;
        };
        let swept = anchors.at(entity).and_then(|transform| {
            let (scale, end) = scale_and_pose(&transform);
            update_surface(surfaces, &collider, meshes.as_deref(), scale);
            let built = surfaces.get_mut(&entity)?;
            built.sweep(&collider, end)
        });
        // For an entity with a primitive collider too, `find_colliders` writes it afterwards.
        if !collider.is_primitive {
            let end = swept.as_ref().map(|swept| swept.end);
            collider.last.set_if_neq(LastPose::of(end));
        }
        if let Some(swept) = swept {
            let layers = collider.layers.copied().unwrap_or_default();
            list.push((swept.without_teleport(time.delta_secs()), layers));
        }
    }
    surfaces.retain(|&entity, _| colliders.contains(entity));
}

/// Rebuilds the surface of a collider if that, its scale or its mesh has changed.
fn update_surface(
    surfaces: &mut EntityHashMap<BuiltSurface>,
    collider: &MeshColliderQueryItem,
    meshes: Option<&Assets<Mesh>>,
    scale: Vec3,
) {
    let (label, entity) = (collider.label, collider.label.entity);
    let mesh = match collider.collider.shape {
        ClothMeshShape::Mesh | ClothMeshShape::MeshHull => collider.mesh.map(|mesh| mesh.id()),
        _ => None,
    };
    let known = surfaces.get(&entity);
    let is_current = known.is_some_and(|known| {
        !known.stale && is_same_scale(known.scale, scale) && known.mesh == mesh
    });
    if is_current && !collider.collider.is_changed() {
        return;
    }
    let loaded = mesh.and_then(|id| meshes?.get(id));
    let Some(surface) = build_surface(&collider.collider, loaded, scale, collider.is_cloth) else {
        // Still loading: it is tried again in the next step.
        surfaces.remove(&entity);
        return;
    };
    if let Err(reason) = &surface
        && known.and_then(|known| known.surface.as_ref().err()) != Some(reason)
    {
        error!("cloth mesh collider {label} is ignored: {reason}");
    }
    let built = BuiltSurface {
        scale,
        mesh,
        stale: false,
        surface: surface.map(Arc::new),
        has_invalid_transform: false,
    };
    surfaces.insert(entity, built);
}

impl BuiltSurface {
    /// Returns a collider with this surface that moves from its last pose to this one; `None` if the surface could
    /// not be built or, after logging that once, if the pose is invalid.
    fn sweep(&mut self, collider: &MeshColliderQueryItem, end: Pose) -> Option<MeshCollider> {
        let surface = self.surface.as_ref().ok()?.clone();
        let was_invalid = std::mem::replace(&mut self.has_invalid_transform, !end.is_valid());
        if self.has_invalid_transform {
            if !was_invalid {
                error!(
                    "cloth mesh collider {} at {} is ignored; its transform must be finite",
                    collider.label, end.translation
                );
            }
            return None;
        }
        Some(MeshCollider {
            surface,
            start: collider.last.start(end),
            end,
            friction: collider.collider.friction(),
        })
    }
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
    SurfaceError::check(vertices, indices)?;
    Ok(weld_triangles(vertices, indices))
}
