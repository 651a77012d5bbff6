//! Binds proxy meshes, fine meshes that follow a coarse cloth.

use crate::{
    character::{
        skeleton::{AssetState, ClothSkin, Skeletons},
        skin_weights::SkinWeights,
    },
    cloth::{
        shape::ClothShape,
        source::{ChangedMeshes, ClothBuildFailed, ClothSource, has_source_changed},
        transforms::{check_usable, is_usable},
    },
    label::EntityLabel,
    mesh::{
        FineMesh, ProxyBinding, Topology, TriangleMesh, direction_or_up, sanitize_mesh,
        smooth_normals,
    },
    proxy::ClothProxy,
    render::interpolation::RenderViewKey,
};
use bevy::{
    asset::RenderAssetUsages,
    camera::{primitives::Aabb, visibility::NoAutoAabb},
    ecs::query::QueryData,
    math::{Affine3A, Vec3A},
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

/// Components of a proxy from which it is bound.
#[derive(QueryData)]
pub(crate) struct UnboundProxy {
    label: EntityLabel,
    proxy: &'static ClothProxy,
    mesh: &'static Mesh3d,
    transform: &'static GlobalTransform,
    source: Option<&'static ClothSource>,
    skinned: Option<&'static SkinnedMesh>,
    skin: Option<&'static ClothSkin>,
}

/// Components of a proxy that could not be bound, of which a change may help.
#[derive(QueryData)]
pub(crate) struct FailedProxy {
    entity: Entity,
    proxy: Ref<'static, ClothProxy>,
    mesh: Ref<'static, Mesh3d>,
    transform: Ref<'static, GlobalTransform>,
    source: Option<&'static ClothSource>,
}

type Unbound = (
    Without<ProxyMesh>,
    Without<ClothBuildFailed>,
    Without<ClothShape>,
);

/// Binds proxies if both meshes are loaded.
pub(crate) fn bind_proxies(
    mut commands: Commands,
    proxies: Query<UnboundProxy, Unbound>,
    cloths: Query<(&ClothShape, &GlobalTransform, Has<SkinWeights>)>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut skeletons: Skeletons,
) {
    for unbound in &proxies {
        let (label, cloth) = (unbound.label, unbound.proxy.cloth);
        let entity = label.entity;
        let Ok((shape, of_cloth, is_skinned)) = cloths.get(cloth) else {
            continue;
        };
        let source = ClothSource::original(unbound.source, unbound.mesh).clone();
        let Some(original) = meshes.get(&source) else {
            continue;
        };
        let skinned = ClothSkin::original_of(unbound.skinned, unbound.skin);
        let AssetState::Loaded(skeleton) = skeletons.read(skinned) else {
            continue;
        };
        let to_cloth = match skeleton.is_some() && is_skinned {
            // Meshes of one skeleton share a bind space, whatever the transforms of their entities.
            true => Ok(Affine3A::IDENTITY),
            // The cloth tells of its transform.
            false if !is_usable(of_cloth) => continue,
            false => check_usable(unbound.transform)
                .map(|()| of_cloth.affine().inverse() * unbound.transform.affine()),
        };
        let mut own = original.clone();
        own.asset_usage = RenderAssetUsages::default();
        let bound = to_cloth.and_then(|to_cloth| bind_mesh(&mut own, &shape.topology, to_cloth));
        let binding = match bound {
            Ok(binding) => binding,
            Err(reason) => {
                error!("cloth proxy {label} does not follow its cloth: {reason}");
                commands
                    .entity(entity)
                    .try_insert(ClothBuildFailed { reason });
                continue;
            }
        };
        let all = std::iter::repeat_n(0, binding.len());
        let joint = skeleton.and_then(|skeleton| {
            let joint = skeleton.bind_to_own_joint(&mut own, all)?;
            skeletons.insert_own(commands.entity(entity), &skeleton);
            Some(joint)
        });
        let own = meshes.add(own);
        let proxy = ProxyMesh {
            binding,
            cloth,
            cloth_fingerprint: shape.build_fingerprint.mesh,
            joint,
            last_written: None,
            own: None,
            positions: Vec::new(),
            normals: Vec::new(),
        };
        let source = ClothSource {
            source,
            own: own.clone(),
        };
        let bounds = (Aabb::default(), NoAutoAabb);
        commands
            .entity(entity)
            .try_insert((proxy, source, Mesh3d(own), bounds));
    }
}

/// Binds a mesh, and adds normals if it has none.
fn bind_mesh(
    mesh: &mut Mesh,
    cloth: &Topology,
    to_cloth: Affine3A,
) -> Result<ProxyBinding, String> {
    let read = TriangleMesh::read(mesh).map_err(|error| error.to_string())?;
    sanitize_mesh(mesh);
    let normals = mesh.attribute(Mesh::ATTRIBUTE_NORMAL);
    let normals: Vec<Vec3A> = match normals.and_then(VertexAttributeValues::as_float3) {
        Some(normals) => normals.iter().map(|&n| n.into()).collect(),
        None => {
            let mesh_positions: Vec<Vec3A> = read.positions.iter().map(|&at| at.into()).collect();
            let triangles = read.triangles.iter().copied();
            let mut normals = Vec::new();
            smooth_normals(&mesh_positions, triangles, &mut normals);
            let up_if_none = |&normal: &Vec3A| direction_or_up(normal.into()).to_array();
            let values: Vec<[f32; 3]> = normals.iter().map(up_if_none).collect();
            mesh.insert_attribute(Mesh::ATTRIBUTE_NORMAL, values);
            normals
        }
    };
    let tangents = match mesh.attribute(Mesh::ATTRIBUTE_TANGENT) {
        Some(VertexAttributeValues::Float32x4(tangents)) => &tangents[..],
        _ => &[],
    };
    // Normals transform by the inverse transpose.
    let normal_matrix = to_cloth.matrix3.inverse().transpose();
    let normals: Vec<Vec3> = normals
        .iter()
        .map(|&n| direction_or_up(Vec3::from(normal_matrix * n)))
        .collect();
    let tangents: Vec<Vec3> = tangents
        .iter()
        .map(|&[x, y, z, _]| to_cloth.transform_vector3(Vec3::new(x, y, z)))
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
    proxies: Query<(
        EntityLabel,
        &ClothProxy,
        &ProxyMesh,
        &Mesh3d,
        Ref<ClothSource>,
    )>,
    failed: Query<FailedProxy, (With<ClothBuildFailed>, Without<ClothShape>)>,
    cloths: Query<&ClothShape>,
    sources: Query<&ClothSource>,
    mut changes: ChangedMeshes,
    meshes: Res<Assets<Mesh>>,
) {
    changes.read();
    let changed = changes.changed();
    for (label, proxy, bound, mesh, source) in &proxies {
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
                        "cloth proxy {label}: its mesh has changed and cannot be bound, so the previous one is \
                         kept: {reason}"
                    );
                }
                read.is_ok()
            });
        if !same_cloth || !same_mesh || reloaded {
            let mut entity = commands.entity(label.entity);
            entity.try_remove::<ProxyMesh>();
            if !same_mesh {
                entity.try_remove::<ClothSource>();
            }
        }
    }
    for failed in &failed {
        let source = ClothSource::original(failed.source, &failed.mesh).id();
        let may_be_fixed = failed.mesh.is_changed()
            || failed.proxy.is_changed()
            || failed.transform.is_changed()
            || changed.contains(&source);
        if may_be_fixed {
            let entity = failed.entity;
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
