//! Makes cloth of meshes, as soon as they are loaded; and gives the meshes back.

use super::prepare::rebind;
use crate::{
    cloth::{Cloth, ClothReady},
    components::{
        Binding, BuildFailed, ClothBody, ClothMesh, ClothSource, Constraints, Particles, Reach,
        SelfContacts,
    },
    fabric::Fabric,
    grab::ClothGrabs,
    mesh::{MeshBinding, MeshError, Topology, TriangleMesh, as_triangle_list},
    params,
    pins::Pins,
    rope::Rope,
    sleep::{ClothSleeping, Rest},
    snapshot::BuiltFrom,
};
use bevy::{
    asset::RenderAssetUsages,
    camera::{primitives::Aabb, visibility::NoAutoAabb},
    platform::collections::HashSet,
    prelude::*,
};

/// Above this a step takes a good part of a frame even on a fast machine.
const MANY_PARTICLES: usize = 200_000;

type Unbuilt = (
    With<Cloth>,
    Without<Rope>,
    Without<Particles>,
    Without<BuildFailed>,
);

pub(crate) fn build(
    mut commands: Commands,
    unbuilt: Query<
        (
            Entity,
            &Cloth,
            &Pins,
            &Mesh3d,
            &GlobalTransform,
            Option<&ClothSource>,
        ),
        Unbuilt,
    >,
    without_mesh: Query<Entity, (Added<Cloth>, Without<Mesh3d>, Without<Rope>)>,
    mut meshes: ResMut<Assets<Mesh>>,
) {
    for entity in &without_mesh {
        info!("cloth {entity}: has no Mesh3d yet; it will become cloth when it gets one");
    }
    for (entity, cloth, pins, mesh, transform, source) in &unbuilt {
        // A cloned cloth carries the mesh that follows the original; it starts from the same source.
        let source = match source {
            Some(known) if known.own == mesh.0 => known.source.clone(),
            _ => mesh.0.clone(),
        };
        let mut fabric = cloth.fabric;
        params::sanitize(params::FABRIC, &mut fabric);
        // Still loading: it is tried again in the next frame.
        let Some(original) = meshes.get(&source) else {
            continue;
        };
        let parts = match make(original, transform, &fabric) {
            Ok(parts) => parts,
            Err(reason) => {
                error!("cloth {entity} is not built: {reason}");
                commands.entity(entity).try_insert(BuildFailed { reason });
                continue;
            }
        };
        if parts.out_of_range > 0 {
            warn!(
                "cloth {entity}: left out {} triangles that name vertices which do not exist; \
                 repair the mesh",
                parts.out_of_range
            );
        }
        let count = parts.particles.len();
        if count > MANY_PARTICLES {
            warn!(
                "cloth {entity}: {count} particles; each step will take long. A coarser mesh, \
                 subdivided for drawing, folds as well"
            );
        }

        let Parts {
            mut particles,
            constraints,
            mut body,
            mesh,
            binding,
            ..
        } = parts;
        rebind(entity, pins, &particles, &mut body);
        body.set_masses(&mut particles, fabric.areal_density);
        if particles.inverse_mass.iter().all(|&w| w == 0.0) {
            warn!("cloth {entity}: all {count} particles are pinned, so nothing can move");
        }

        let own = meshes.add(mesh);
        commands
            .entity(entity)
            .try_insert((
                particles,
                constraints,
                body,
                ClothMesh {
                    binding: Binding::Sheet(binding),
                    local: Vec::new(),
                    written: None,
                },
                ClothGrabs::default(),
                ClothSource {
                    source,
                    own: own.clone(),
                },
                Mesh3d(own),
                Aabb::default(),
                NoAutoAabb,
            ))
            .trigger(|entity| ClothReady { entity });
    }
}

struct Parts {
    particles: Particles,
    constraints: Constraints,
    body: ClothBody,
    mesh: Mesh,
    binding: MeshBinding,
    out_of_range: usize,
}

/// Reads a mesh and its place, or says why they cannot become cloth.
fn check(original: &Mesh, transform: &GlobalTransform) -> Result<(TriangleMesh, Topology), String> {
    if !is_usable(transform) {
        return Err(format!(
            "its transform has a scale of 0 or numbers that are not finite ({:?}); it will be \
             built once that is put right",
            transform.affine()
        ));
    }
    let source = TriangleMesh::read(original).map_err(|error| error.to_string())?;
    let topology = Topology::new(&source).ok_or_else(|| MeshError::NoTriangles.to_string())?;
    Ok((source, topology))
}

fn make(original: &Mesh, transform: &GlobalTransform, fabric: &Fabric) -> Result<Parts, String> {
    let (source, mut topology) = check(original, transform)?;

    let mut mesh = original.clone();
    // It is written to in every frame and uploaded again.
    mesh.asset_usage = RenderAssetUsages::default();
    if source.out_of_range > 0 {
        // What does not exist cannot be drawn either; a renderer would read past the vertices.
        mesh.insert_indices(bevy::mesh::Indices::U32(source.triangles.concat()));
        mesh = as_triangle_list(&mesh);
    }
    let binding = MeshBinding::new(&source, &topology, &mut mesh);

    let frame = transform.affine().matrix3.into();
    let assembly = topology.assemble(transform.translation(), frame, fabric.areal_density);
    // They follow from the triangles and are many.
    (topology.constraints, topology.bends) = Default::default();
    let mut body = ClothBody {
        topology,
        triangles: assembly.triangles,
        reach: Reach {
            to_world: frame,
            ..default()
        },
        ..default()
    };
    body.built = BuiltFrom::new(frame, &body, Some(&binding), &assembly.constraints);
    Ok(Parts {
        particles: Particles(assembly.particles),
        constraints: Constraints(assembly.constraints),
        body,
        mesh,
        binding,
        out_of_range: source.out_of_range,
    })
}

/// Whether a cloth can be built at a transform.
pub(super) fn is_usable(transform: &GlobalTransform) -> bool {
    let affine = transform.affine();
    affine.is_finite() && affine.inverse().is_finite()
}

/// Everything that building has added.
type Built = (
    Particles,
    Constraints,
    ClothBody,
    SelfContacts,
    Rest,
    ClothSleeping,
    ClothMesh,
    ClothGrabs,
    ClothSource,
    Aabb,
    NoAutoAabb,
);

/// A cloth whose `Mesh3d` is no longer its own gets rebuilt from the new one, and what failed is
/// tried again when its cause may be gone.
pub(crate) fn forget_replaced_meshes(
    mut commands: Commands,
    built: Query<
        (Entity, &Mesh3d, &ClothSource),
        (With<Cloth>, With<Particles>, Without<Rope>, Changed<Mesh3d>),
    >,
    failed: Query<(Entity, Ref<Mesh3d>, Ref<GlobalTransform>, &BuildFailed), Without<Rope>>,
    mut changes: MessageReader<AssetEvent<Mesh>>,
    meshes: Res<Assets<Mesh>>,
) {
    for (entity, mesh, known) in &built {
        if mesh.0 != known.own {
            commands.entity(entity).try_remove::<Built>();
        }
    }
    if failed.is_empty() {
        changes.clear();
        return;
    }
    let modified: HashSet<AssetId<Mesh>> = changes
        .read()
        .filter_map(|event| match event {
            AssetEvent::Modified { id } | AssetEvent::Added { id } => Some(*id),
            _ => None,
        })
        .collect();
    for (entity, mesh, transform, failure) in &failed {
        let touched = mesh.is_changed() || transform.is_changed() || modified.contains(&mesh.id());
        // Only if it would now come out differently, so that a moving entity does not repeat the
        // same error in every frame.
        if touched
            && let Some(original) = meshes.get(&mesh.0)
            && check(original, &transform).err().as_ref() != Some(&failure.reason)
        {
            commands.entity(entity).try_remove::<BuildFailed>();
        }
    }
}

/// When `Cloth` is removed, the entity gets back the mesh that it was made of.
pub(crate) fn give_mesh_back(
    event: On<Remove, Cloth>,
    sources: Query<(&ClothSource, &Mesh3d)>,
    mut commands: Commands,
) {
    take_apart(event.entity, &sources, &mut commands);
}

/// Removes everything that building has added to an entity.
pub(super) fn take_apart(
    entity: Entity,
    sources: &Query<(&ClothSource, &Mesh3d)>,
    commands: &mut Commands,
) {
    // The entity may be on its way out altogether; then there is nothing to do.
    let Ok(mut entity_commands) = commands.get_entity(entity) else {
        return;
    };
    if let Ok((known, mesh)) = sources.get(entity)
        && mesh.0 == known.own
    {
        if known.source == known.own {
            // A rope, which had no mesh before.
            entity_commands.try_remove::<Mesh3d>();
        } else {
            entity_commands.try_insert(Mesh3d(known.source.clone()));
        }
    }
    entity_commands.try_remove::<(Built, BuildFailed)>();
}
