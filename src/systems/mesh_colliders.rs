//! Builds the surfaces of mesh colliders, and finds out where they are during the coming step.

use super::{colliders::ActiveColliders, follow::Anchors};
use crate::{
    cloth::Cloth,
    collider::{ClothCollider, LastPose},
    layers::ClothLayers,
    mesh::{TriangleMesh, weld_triangles},
    mesh_collider::{ClothMeshCollider, ClothMeshShape},
    solver::{MeshCollider, Pose, SurfaceError, TriangleSurface},
};
use bevy::{ecs::entity::EntityHashMap, prelude::*};
use std::sync::Arc;

/// The mesh colliders of the running step, ordered by entity: the same order gives the same bits.
#[derive(Default)]
pub(crate) struct ActiveMeshColliders {
    list: Vec<(MeshCollider, ClothLayers)>,
    /// All of them, in their order.
    order: Vec<Entity>,
    built: EntityHashMap<Built>,
}

/// What a collider has been built from, and what came of it.
struct Built {
    scale: Vec3,
    mesh: Option<AssetId<Mesh>>,
    /// Its mesh has changed since.
    stale: bool,
    /// Or why it could not be built, which has been reported.
    surface: Result<Arc<TriangleSurface>, String>,
    /// Its transform is not finite, which has been reported.
    misplaced: bool,
}

impl ActiveMeshColliders {
    /// Those that meet a cloth on these layers.
    pub(crate) fn meeting(
        &self,
        layers: Option<&ClothLayers>,
    ) -> impl Iterator<Item = &MeshCollider> + Clone {
        let layers = layers.copied().unwrap_or_default();
        let met = self.list.iter().filter(move |(_, of)| layers.meets(*of));
        met.map(|(collider, _)| collider)
    }

    /// The same ones, as if they stood still.
    pub(super) fn still(&self) -> Self {
        let still = |(collider, layers): &(MeshCollider, _)| {
            let mut collider = collider.clone();
            collider.start = collider.end;
            (collider, *layers)
        };
        Self {
            list: self.list.iter().map(still).collect(),
            ..default()
        }
    }

    /// All of them.
    #[cfg(feature = "debug")]
    pub(crate) fn all(&self) -> impl Iterator<Item = &MeshCollider> {
        self.list.iter().map(|(collider, _)| collider)
    }
}

/// Whether a surface of one scale serves for another: a transform that is turned gives its scale back to the
/// last digits only. NaN is the same as NaN.
fn is_same_scale(a: Vec3, b: Vec3) -> bool {
    let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-5 * a.abs();
    a.to_array()
        .into_iter()
        .zip(b.to_array())
        .all(|(a, b)| same(a, b))
}

/// Builds surfaces anew whose mesh has changed.
pub(crate) fn note_changed_meshes(
    mut active: ResMut<ActiveColliders>,
    mut events: MessageReader<AssetEvent<Mesh>>,
) {
    for event in events.read() {
        if let AssetEvent::Added { id } | AssetEvent::Modified { id } = event {
            let built = active.meshes.built.values_mut();
            for built in built.filter(|built| built.mesh == Some(*id)) {
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
    let ActiveMeshColliders { list, order, built } = &mut active.meshes;
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
        // That of an entity which is a primitive as well is written with those, afterwards.
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
        let known = built.get(&entity);
        let same = |known: &&Built| {
            !known.stale && is_same_scale(known.scale, scale) && known.mesh == mesh
        };
        if known.filter(same).is_none() || collider.is_changed() {
            let loaded = mesh.and_then(|id| meshes.as_ref()?.get(id));
            // Still loading: it is tried again in the next step.
            let surface = build(&collider, loaded, scale, is_cloth);
            let surface = surface.map(|surface| surface.map(Arc::new));
            if let Some(Err(reason)) = &surface
                && known.and_then(|known| known.surface.as_ref().err()) != Some(reason)
            {
                error!("cloth mesh collider {entity} is left out: {reason}");
            }
            let now = surface.map(|surface| Built {
                scale,
                mesh,
                stale: false,
                surface,
                misplaced: false,
            });
            match now {
                Some(now) => drop(built.insert(entity, now)),
                None => drop(built.remove(&entity)),
            }
        }
        let end = Pose {
            // A parent that is scaled unevenly shears what is turned inside it; the nearest rotation
            // is the best that a rigid shape can do.
            rotation: rotation.normalize(),
            translation,
        };
        let built = built.get_mut(&entity);
        let Some((surface, misplaced)) = built.and_then(|built| {
            let surface = built.surface.as_ref().ok()?;
            Some((surface.clone(), &mut built.misplaced))
        }) else {
            remember(None);
            continue;
        };
        if !end.is_valid() {
            if !std::mem::replace(misplaced, true) {
                error!(
                    "cloth mesh collider {entity} at {translation} is left out; its transform must \
                     be finite"
                );
            }
            remember(None);
            continue;
        }
        *misplaced = false;
        remember(Some(Isometry3d::new(translation, end.rotation)));
        let start = before.map_or(end, |last| Pose {
            rotation: last.rotation,
            translation: last.translation.into(),
        });
        let moved = MeshCollider {
            surface,
            start,
            end,
            friction: collider.friction(),
        };
        let layers = layers.copied().unwrap_or_default();
        list.push((moved.without_teleport(time.delta_secs()), layers));
    }
    built.retain(|&entity, _| colliders.contains(entity));
}

/// Builds a surface, or says why it cannot; nothing as long as there is no mesh.
fn build(
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
        ClothMeshShape::Triangles { vertices, indices } => joined(vertices, indices)
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

/// Makes one point of all vertices at one place.
fn joined(
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
