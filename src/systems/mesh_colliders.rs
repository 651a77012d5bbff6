//! Builds the surfaces of mesh colliders, and finds out where they are during the coming step.

use super::colliders::ActiveColliders;
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
    /// Nothing if it could not be built, which has been reported.
    surface: Option<Arc<TriangleSurface>>,
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

    /// All of them.
    #[cfg(feature = "debug")]
    pub(crate) fn all(&self) -> impl Iterator<Item = &MeshCollider> {
        self.list.iter().map(|(collider, _)| collider)
    }
}

/// Builds surfaces anew whose mesh has changed.
pub(crate) fn note_changed_meshes(
    mut active: ResMut<ActiveColliders>,
    mut events: MessageReader<AssetEvent<Mesh>>,
) {
    for event in events.read() {
        if let AssetEvent::Added { id } | AssetEvent::Modified { id } = event {
            active.meshes.built.retain(|_, built| built.mesh != Some(*id));
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
    transforms: TransformHelper,
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
        let Ok(transform) = transforms.compute_global_transform(entity) else {
            remember(None);
            continue;
        };
        let (scale, rotation, translation) = transform.to_scale_rotation_translation();
        let mesh = match collider.shape {
            ClothMeshShape::Mesh | ClothMeshShape::MeshHull => mesh.map(|mesh| mesh.id()),
            _ => None,
        };
        let known = built.get(&entity);
        let known = known.filter(|known| known.scale == scale && known.mesh == mesh);
        if known.is_none() || collider.is_changed() {
            let loaded = mesh.and_then(|id| meshes.as_ref()?.get(id));
            if let Some(surface) = build(&collider, loaded, scale, is_cloth) {
                let surface = surface.inspect_err(|reason| {
                    error!("cloth mesh collider {entity} is left out: {reason}");
                });
                let surface = surface.ok().map(Arc::new);
                built.insert(entity, Built { scale, mesh, surface });
            } else {
                // Still loading: it is tried again in the next step.
                built.remove(&entity);
            }
        }
        let surface = built.get(&entity).and_then(|built| built.surface.clone());
        let end = Pose {
            // A parent that is scaled unevenly shears what is turned inside it; the nearest rotation
            // is the best that a rigid shape can do.
            rotation: rotation.normalize(),
            translation,
        };
        let Some(surface) = surface.filter(|_| end.is_valid()) else {
            remember(None);
            continue;
        };
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
    let scaled = |points: &[Vec3]| -> Vec<Vec3> { points.iter().map(|&point| point * scale).collect() };
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
        ClothMeshShape::Triangles { vertices, indices } => {
            joined(vertices, indices).and_then(|(points, triangles)| {
                TriangleSurface::new(scaled(&points), triangles)
            })
        }
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
