//! Rebuilds cloths whose mesh was replaced or changed, and restores the source mesh when `Cloth` is removed.

use crate::{
    build::{
        components::RemovedComponents,
        select_part::{read_cloth_mesh, select_cloth},
    },
    character::{paint::ClothPart, skeleton::ClothSkin, skin_weights::SkinWeights},
    cloth::{
        Cloth,
        particles::ClothParticles,
        source::{ChangedMeshes, ClothBuildFailed, ClothSource, has_source_changed},
    },
    rope::Rope,
};
use bevy::{
    ecs::query::QueryData, mesh::skinning::SkinnedMesh, platform::collections::HashSet, prelude::*,
};

/// Run condition: a cloth or rope may have to be built or rebuilt.
pub(crate) fn any_build_pending(
    unbuilt: Query<(), (With<Cloth>, Without<ClothParticles>)>,
    built: Query<(), With<ClothParticles>>,
    changed: Query<
        (),
        (
            With<ClothParticles>,
            Or<(Changed<Mesh3d>, Changed<SkinnedMesh>, Changed<Rope>)>,
        ),
    >,
    mut mesh_events: MessageReader<AssetEvent<Mesh>>,
) -> bool {
    let any_mesh_event = mesh_events.read().count() > 0;
    !unbuilt.is_empty() || (any_mesh_event && !built.is_empty()) || !changed.is_empty()
}

/// Triggers the rebuild of cloths whose `Mesh3d` or skeleton was replaced.
pub(crate) fn rebuild_replaced_meshes(
    mut commands: Commands,
    built: Query<
        (
            Entity,
            &Mesh3d,
            &ClothSource,
            (Option<&SkinnedMesh>, Option<&ClothSkin>),
        ),
        (
            With<Cloth>,
            With<ClothParticles>,
            Without<Rope>,
            Changed<Mesh3d>,
        ),
    >,
    skinned: Query<
        (
            Entity,
            &SkinnedMesh,
            &ClothSource,
            Option<&ClothSkin>,
            Option<&SkinWeights>,
        ),
        (With<Cloth>, With<ClothParticles>, Changed<SkinnedMesh>),
    >,
) {
    for (entity, mesh, known, (now, skin)) in &built {
        if mesh.0 != known.own {
            unbuild(&mut commands.entity(entity), skin, now);
        }
    }
    for (entity, now, source, known, skin) in &skinned {
        let original = known.and_then(|known| known.original(Some(now)));
        let joints = skin.map(|skin| &skin.joints[..]);
        let same = original.is_some_and(|original| joints == Some(&original.joints[..]));
        if !same {
            // Rebuilt from the same mesh.
            let mut entity = commands.entity(entity);
            entity
                .try_remove::<RemovedComponents>()
                .try_insert(source.clone());
        }
    }
}

/// Triggers the rebuild of cloths whose mesh asset has changed, and of those that could not be built, when the
/// cause may be gone.
pub(crate) fn rebuild_changed_meshes(
    mut commands: Commands,
    built: Query<
        (
            Entity,
            Ref<ClothSource>,
            Option<&ClothPart>,
            (Option<&SkinnedMesh>, Option<&ClothSkin>),
        ),
        (With<Cloth>, With<ClothParticles>, Without<Rope>),
    >,
    failed: Query<FailedCloth, (With<Cloth>, Without<Rope>)>,
    sources: Query<&ClothSource>,
    mut changes: ChangedMeshes,
    meshes: Res<Assets<Mesh>>,
) {
    let changed = changes.read();
    for (entity, source, part, (now, skin)) in &built {
        if !has_source_changed(&source, changed, &sources) {
            continue;
        }
        let Some(original) = meshes.get(&source.source) else {
            continue;
        };
        if let Err(reason) = select_cloth(original, part) {
            error!(
                "cloth {entity}: its mesh has changed and cannot become cloth, so it goes on with the \
                 previous one: {reason}"
            );
            continue;
        }
        let mut entity = commands.entity(entity);
        unbuild(&mut entity, skin, now);
        entity.try_insert(ClothSource::clone(&source));
    }
    let fixed = failed
        .iter()
        .filter(|cloth| cloth.is_fixed(changed, &meshes));
    for cloth in fixed {
        commands
            .entity(cloth.entity)
            .try_remove::<ClothBuildFailed>();
    }
}

/// Restores the skeleton of a cloth, and removes all components that building has added.
fn unbuild(entity: &mut EntityCommands, skin: Option<&ClothSkin>, now: Option<&SkinnedMesh>) {
    if let Some(original) = skin.and_then(|skin| skin.original(now)) {
        entity.try_insert(original);
    }
    entity.try_remove::<RemovedComponents>();
}

/// Cloth that could not be built.
#[derive(QueryData)]
pub(crate) struct FailedCloth {
    entity: Entity,
    mesh: Ref<'static, Mesh3d>,
    transform: Ref<'static, GlobalTransform>,
    source: Option<&'static ClothSource>,
    part: Option<Ref<'static, ClothPart>>,
    skin: Option<Ref<'static, SkinnedMesh>>,
    failure: &'static ClothBuildFailed,
}

impl FailedClothItem<'_, '_> {
    /// Returns whether the cause of the failure is gone.
    fn is_fixed(&self, changed: &HashSet<AssetId<Mesh>>, meshes: &Assets<Mesh>) -> bool {
        let source = ClothSource::original(self.source, &self.mesh);
        let other_part = self.part.as_ref().is_some_and(|part| part.is_changed());
        let other_skin = self.skin.as_ref().is_some_and(|skin| skin.is_changed());
        // With a skeleton, the entity's own transform is rarely the cause.
        let may_be_fixed = self.mesh.is_changed()
            || (self.transform.is_changed() && self.skin.is_none())
            || other_part
            || other_skin
            || changed.contains(&source.id());
        // Only if the result would differ, so that a moving entity does not log the same error in
        // every frame.
        may_be_fixed
            && meshes.get(source).is_some_and(|original| {
                let read = read_cloth_mesh(original, &self.transform, self.part.as_deref());
                read.err().as_ref() != Some(&self.failure.reason)
            })
    }
}

/// When `Cloth` is removed, restores the source mesh of the entity.
pub(crate) fn restore_source_mesh(
    event: On<Remove, Cloth>,
    sources: Query<(&ClothSource, &Mesh3d)>,
    skins: Query<(&ClothSkin, &SkinnedMesh)>,
    mut commands: Commands,
) {
    if let Ok((known, now)) = skins.get(event.entity)
        && let Some(original) = known.original(Some(now))
        && let Ok(mut entity) = commands.get_entity(event.entity)
    {
        entity.try_insert(original);
    }
    remove_built_components(event.entity, &sources, &mut commands);
}

/// Removes all components that building has added to an entity.
pub(crate) fn remove_built_components(
    entity: Entity,
    sources: &Query<(&ClothSource, &Mesh3d)>,
    commands: &mut Commands,
) {
    // The entity may be despawned already; then there is nothing to do.
    let Ok(mut entity_commands) = commands.get_entity(entity) else {
        return;
    };
    if let Ok((known, mesh)) = sources.get(entity)
        && mesh.0 == known.own
    {
        if known.source == known.own {
            // A rope that had no mesh before.
            entity_commands.try_remove::<Mesh3d>();
        } else {
            entity_commands.try_insert(Mesh3d(known.source.clone()));
        }
    }
    entity_commands.try_remove::<(RemovedComponents, ClothBuildFailed)>();
}
