//! Binds proxy meshes, fine meshes that follow a coarse cloth.

use crate::{
    character::{
        skeleton::{ClothSkin, Skeletons},
        skin_weights::SkinWeights,
    },
    cloth::{
        shape::ClothShape,
        source::{ChangedMeshes, ClothBuildFailed, ClothSource, has_source_changed},
    },
    mesh::{FineMesh, ProxyBinding, Topology, TriangleMesh, smooth_normals},
    proxy::ClothProxy,
    render::interpolation::RenderViewKey,
};
use bevy::{
    asset::RenderAssetUsages,
    camera::{
        primitives::Aabb,
        visibility::{DynamicSkinnedMeshBounds, NoAutoAabb},
    },
    math::Vec3A,
    mesh::{VertexAttributeValues, skinning::SkinnedMesh},
    prelude::*,
};

/// Binding of a proxy mesh to its cloth.
#[derive(Component, Debug)]
#[component(clone_behavior = Ignore)]
pub(crate) struct ProxyMesh {
    pub(crate) binding: ProxyBinding,
    pub(crate) cloth: Entity,
    /// Fingerprint of the mesh of the cloth.
    cloth_fingerprint: u64,
    /// Index of the joint that represents the proxy in its own skeleton.
    pub(crate) joint: Option<u16>,
    /// Key of the last write.
    pub(crate) last_written: Option<RenderViewKey>,
    /// Mesh taken out of the assets while it is written.
    pub(crate) own: Option<Mesh>,
    /// Scratch buffers for the positions and normals of particles.
    pub(crate) positions: Vec<Vec3A>,
    pub(crate) normals: Vec<Vec3A>,
}

type BuiltProxyComponents = (ProxyMesh, ClothSource, ClothSkin, Aabb, NoAutoAabb);

/// Binds proxies if both meshes are loaded.
pub(crate) fn bind_proxies(
    mut commands: Commands,
    proxies: Query<
        (
            Entity,
            &ClothProxy,
            &Mesh3d,
            &GlobalTransform,
            Option<&ClothSource>,
            Option<&SkinnedMesh>,
            Option<&ClothSkin>,
        ),
        (
            Without<ProxyMesh>,
            Without<ClothBuildFailed>,
            Without<ClothShape>,
        ),
    >,
    cloths: Query<(&ClothShape, &GlobalTransform, Has<SkinWeights>)>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut skeletons: Skeletons,
) {
    for (entity, proxy, mesh, transform, source, skinned, skin) in &proxies {
        let Ok((shape, of_cloth, is_skinned)) = cloths.get(proxy.cloth) else {
            continue;
        };
        let source = ClothSource::original(source, mesh).clone();
        let Some(original) = meshes.get(&source) else {
            continue;
        };
        let skinned = ClothSkin::original_of(skinned, skin);
        // Meshes of one skeleton share a bind space, whatever the transforms of their entities.
        let to_cloth = if skinned.is_some() && is_skinned {
            bevy::math::Affine3A::IDENTITY
        } else {
            of_cloth.affine().inverse() * transform.affine()
        };
        let mut own = original.clone();
        own.asset_usage = RenderAssetUsages::default();
        let binding = match bind_mesh(&mut own, &shape.topology, to_cloth) {
            Ok(binding) => binding,
            Err(reason) => {
                error!("cloth proxy {entity} does not follow its cloth: {reason}");
                commands
                    .entity(entity)
                    .try_insert(ClothBuildFailed { reason });
                continue;
            }
        };
        let mut entity_commands = commands.entity(entity);
        let all = std::iter::repeat_n(0, binding.len());
        let joint = skinned.and_then(|skinned| {
            let (skin, with_joint, joint) = skeletons.add_joint(entity, &skinned, &mut own, all)?;
            entity_commands.try_insert((with_joint, skin, DynamicSkinnedMeshBounds));
            Some(joint)
        });
        let own = meshes.add(own);
        entity_commands.try_insert((
            ProxyMesh {
                binding,
                cloth: proxy.cloth,
                cloth_fingerprint: shape.build_fingerprint.mesh,
                joint,
                last_written: None,
                own: None,
                positions: Vec::new(),
                normals: Vec::new(),
            },
            ClothSource {
                source,
                own: own.clone(),
            },
            Mesh3d(own),
            Aabb::default(),
            NoAutoAabb,
        ));
    }
}

/// Binds a mesh, and adds normals if it has none.
fn bind_mesh(
    mesh: &mut Mesh,
    cloth: &Topology,
    to_cloth: bevy::math::Affine3A,
) -> Result<ProxyBinding, String> {
    let read = TriangleMesh::read(mesh).map_err(|error| error.to_string())?;
    let float3 = |mesh: &Mesh, attribute| {
        let values = mesh.attribute(attribute)?.as_float3()?;
        Some(values.iter().map(|&v| Vec3::from(v)).collect::<Vec<_>>())
    };
    let normals = match float3(mesh, Mesh::ATTRIBUTE_NORMAL) {
        Some(normals) => normals,
        None => {
            let mesh_positions: Vec<Vec3A> = read.positions.iter().map(|&at| at.into()).collect();
            let mut normals = Vec::new();
            smooth_normals(
                &mesh_positions,
                read.triangles.iter().copied(),
                &mut normals,
            );
            let values: Vec<[f32; 3]> = normals.iter().map(Vec3A::to_array).collect();
            mesh.insert_attribute(Mesh::ATTRIBUTE_NORMAL, values);
            normals.into_iter().map(Vec3::from).collect()
        }
    };
    let tangents: Vec<Vec3> = match mesh.attribute(Mesh::ATTRIBUTE_TANGENT) {
        Some(VertexAttributeValues::Float32x4(tangents)) => tangents
            .iter()
            .map(|t| Vec3::new(t[0], t[1], t[2]))
            .collect(),
        _ => Vec::new(),
    };
    // Normals transform by the inverse transpose.
    let normal_matrix = to_cloth.matrix3.inverse().transpose();
    let normals: Vec<Vec3> = normals
        .iter()
        .map(|&n| Vec3::from(normal_matrix * Vec3A::from(n)).normalize_or(Vec3::Y))
        .collect();
    let tangents: Vec<Vec3> = tangents
        .iter()
        .map(|&t| to_cloth.transform_vector3(t))
        .collect();
    let positions: Vec<Vec3> = (read.positions.iter())
        .map(|&at| to_cloth.transform_point3(at))
        .collect();
    let fine = FineMesh {
        positions: &positions,
        normals: &normals,
        tangents: &tangents,
    };
    let triangles = cloth.triangles.to_vec();
    ProxyBinding::new(&cloth.positions, &triangles, fine)
        .ok_or_else(|| "the cloth has no triangles; a rope has a mesh of its own".to_owned())
}

/// Unbinds proxies whose cloth is another one or was rebuilt, or whose mesh was replaced or changed, so that they
/// are bound again.
pub(crate) fn unbind_proxies(
    mut commands: Commands,
    proxies: Query<(Entity, &ClothProxy, &ProxyMesh, &Mesh3d, Ref<ClothSource>)>,
    failed: Query<
        (Entity, Ref<Mesh3d>, Ref<ClothProxy>, Option<&ClothSource>),
        (With<ClothBuildFailed>, Without<ClothShape>),
    >,
    cloths: Query<&ClothShape>,
    sources: Query<&ClothSource>,
    mut changes: ChangedMeshes,
    meshes: Res<Assets<Mesh>>,
) {
    let changed = changes.read();
    for (entity, proxy, bound, mesh, source) in &proxies {
        let same_cloth = match cloths.get(proxy.cloth) {
            Ok(shape) => {
                bound.cloth == proxy.cloth
                    && bound.cloth_fingerprint == shape.build_fingerprint.mesh
            }
            // The cloth is being built, or is gone: the proxy stays as it is.
            Err(_) => true,
        };
        let same_mesh = mesh.0 == source.own;
        let reloaded = same_mesh
            && has_source_changed(&source, changed, &sources)
            && meshes.get(&source.source).is_some_and(|mesh| {
                let read = TriangleMesh::read(mesh);
                if let Err(reason) = &read {
                    error!(
                        "cloth proxy {entity}: its mesh has changed and cannot be bound, so the previous one is \
                         kept: {reason}"
                    );
                }
                read.is_ok()
            });
        if !same_cloth || !same_mesh || reloaded {
            let mut entity = commands.entity(entity);
            entity.try_remove::<ProxyMesh>();
            if !same_mesh {
                entity.try_remove::<ClothSource>();
            }
        }
    }
    for (entity, mesh, proxy, source) in &failed {
        let source_id = ClothSource::original(source, &mesh).id();
        if mesh.is_changed() || proxy.is_changed() || changed.contains(&source_id) {
            commands.entity(entity).try_remove::<ClothBuildFailed>();
        }
    }
}

/// When `ClothProxy` is removed, the entity gets its source mesh back.
pub(crate) fn restore_proxy_mesh(
    event: On<Remove, ClothProxy>,
    proxies: Query<(&ProxyMesh, &ClothSource, &Mesh3d)>,
    skins: Query<(&ClothSkin, &SkinnedMesh)>,
    mut commands: Commands,
) {
    let Ok((_, source, mesh)) = proxies.get(event.entity) else {
        return;
    };
    let Ok(mut entity) = commands.get_entity(event.entity) else {
        return;
    };
    if mesh.0 == source.own {
        entity.try_insert(Mesh3d(source.source.clone()));
    }
    if let Ok((known, now)) = skins.get(event.entity)
        && let Some(original) = known.original(Some(now))
    {
        entity.try_insert(original);
    }
    entity.try_remove::<BuiltProxyComponents>();
}
