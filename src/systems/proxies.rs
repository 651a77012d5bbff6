//! Binds fine meshes to coarse cloths.

use super::{
    draw::ViewKey,
    rebuild::{ChangedMeshes, has_changed},
    skins::Skeletons,
};
use crate::{
    components::{BuildFailed, ClothBody, ClothSkin, ClothSource},
    mesh::{FineMesh, ProxyBinding, TriangleMesh, smooth_normals},
    proxy::ClothProxy,
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

/// How a fine mesh follows its cloth.
#[derive(Component, Debug)]
#[component(clone_behavior = Ignore)]
pub(crate) struct ProxyMesh {
    pub(super) binding: ProxyBinding,
    pub(super) cloth: Entity,
    /// Recognises the mesh of the cloth.
    of: u64,
    /// The joint that it is of its own skeleton.
    pub(super) joint: Option<u16>,
    /// How it was drawn last.
    pub(super) written: Option<ViewKey>,
    /// The mesh, while it is written to.
    pub(super) own: Option<Mesh>,
    /// Room for where particles are, and for their normals.
    pub(super) places: Vec<Vec3A>,
    pub(super) normals: Vec<Vec3A>,
}

type Bound = (ProxyMesh, ClothSource, ClothSkin, Aabb, NoAutoAabb);

/// Binds those whose meshes are both there.
pub(crate) fn bind_proxies(
    mut commands: Commands,
    proxies: Query<
        (
            Entity,
            &ClothProxy,
            &Mesh3d,
            &GlobalTransform,
            Option<&ClothSource>,
            (Option<&SkinnedMesh>, Option<&ClothSkin>),
        ),
        (Without<ProxyMesh>, Without<BuildFailed>, Without<ClothBody>),
    >,
    cloths: Query<(&ClothBody, &GlobalTransform)>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut skeletons: Skeletons,
) {
    for (entity, proxy, mesh, transform, source, skeleton) in &proxies {
        let Ok((body, of_cloth)) = cloths.get(proxy.cloth) else {
            continue;
        };
        let source = ClothSource::original(source, mesh).clone();
        let Some(original) = meshes.get(&source) else {
            continue;
        };
        let skinned = match skeleton {
            (now, Some(known)) if known.is_in_use(now) => known.original(now),
            (now, _) => now.cloned(),
        };
        // Meshes of one skeleton were modelled in the same space, wherever their entities are.
        let to_cloth = match (&skinned, &body.skin) {
            (Some(_), Some(_)) => bevy::math::Affine3A::IDENTITY,
            _ => of_cloth.affine().inverse() * transform.affine(),
        };
        let mut own = original.clone();
        own.asset_usage = RenderAssetUsages::default();
        let binding = match bind(&mut own, body, to_cloth) {
            Ok(binding) => binding,
            Err(reason) => {
                error!("cloth proxy {entity} does not follow its cloth: {reason}");
                commands.entity(entity).try_insert(BuildFailed { reason });
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
                of: body.built.mesh,
                joint,
                written: None,
                own: None,
                places: Vec::new(),
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

/// Binds a mesh, and gives it what it lacks: normals.
fn bind(
    mesh: &mut Mesh,
    body: &ClothBody,
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
            let places: Vec<Vec3A> = read.positions.iter().map(|&at| at.into()).collect();
            let mut normals = Vec::new();
            smooth_normals(&places, read.triangles.iter().copied(), &mut normals);
            let found: Vec<[f32; 3]> = normals.iter().map(Vec3A::to_array).collect();
            mesh.insert_attribute(Mesh::ATTRIBUTE_NORMAL, found);
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
    // Normals turn like the surface, not like arrows in it.
    let upright = to_cloth.matrix3.inverse().transpose();
    let normals: Vec<Vec3> = normals
        .iter()
        .map(|&n| Vec3::from(upright * Vec3A::from(n)).normalize_or(Vec3::Y))
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
    let triangles = body.topology.triangles.to_vec();
    ProxyBinding::new(&body.topology.positions, &triangles, fine)
        .ok_or_else(|| "the cloth has no triangles; a rope draws itself".to_owned())
}

/// Those that are to follow another cloth, or one that was built anew, are bound again; so are those that
/// have got another mesh, or whose mesh asset was changed.
pub(crate) fn unbind_proxies(
    mut commands: Commands,
    proxies: Query<(Entity, &ClothProxy, &ProxyMesh, &Mesh3d, Ref<ClothSource>)>,
    failed: Query<
        (Entity, Ref<Mesh3d>, Ref<ClothProxy>, Option<&ClothSource>),
        (With<BuildFailed>, Without<ClothBody>),
    >,
    cloths: Query<&ClothBody>,
    sources: Query<&ClothSource>,
    mut changes: ChangedMeshes,
    meshes: Res<Assets<Mesh>>,
) {
    let changed = changes.read();
    for (entity, proxy, bound, mesh, source) in &proxies {
        let same_cloth = match cloths.get(proxy.cloth) {
            Ok(body) => bound.cloth == proxy.cloth && bound.of == body.built.mesh,
            // It is being built, or it is gone: the last picture stays.
            Err(_) => true,
        };
        let same_mesh = mesh.0 == source.own;
        let reloaded = same_mesh
            && has_changed(&source, changed, &sources)
            && meshes.get(&source.source).is_some_and(|mesh| {
                let read = TriangleMesh::read(mesh);
                if let Err(reason) = &read {
                    error!(
                        "cloth proxy {entity}: its mesh has been changed and cannot be drawn, so it stays \
                         what it was: {reason}"
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
        let of = ClothSource::original(source, &mesh).id();
        if mesh.is_changed() || proxy.is_changed() || changed.contains(&of) {
            commands.entity(entity).try_remove::<BuildFailed>();
        }
    }
}

/// Who follows no cloth any more gets his mesh back.
pub(crate) fn give_proxy_back(
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
    entity.try_remove::<Bound>();
}
