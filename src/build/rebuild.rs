//! Rebuilds cloths whose mesh was replaced or changed, and restores the source mesh when `Cloth` is removed.

use crate::{
    build::{components::RemovedComponents, from_mesh::BuildTask, select_part::select_cloth},
    character::{paint::ClothPart, skeleton::ClothSkin, skin_weights::SkinWeights},
    cloth::{
        Cloth,
        particles::ClothParticles,
        source::{ChangedMeshes, ClothBuildFailed, ClothSource, follows_cloth, has_source_changed},
        transforms::check_usable,
    },
    rope::Rope,
};
use bevy::{
    ecs::query::QueryData, mesh::skinning::SkinnedMesh, platform::collections::HashSet, prelude::*,
};

/// Cloth whose mesh asset has changed: it goes on until it is built again.
#[derive(Component)]
#[component(clone_behavior = Ignore)]
pub(crate) struct NeedsRebuild;

/// Query filter: cloths and ropes that are not built, or not from their mesh as it is now.
pub(super) type NeedsBuild = (
    With<Cloth>,
    Or<(Without<ClothParticles>, With<NeedsRebuild>)>,
);

/// Run condition: a cloth or rope may have to be built or rebuilt.
pub(crate) fn any_build_pending(
    unbuilt: Query<(), NeedsBuild>,
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
    built: Query<(Entity, Ref<ClothSource>), (With<Cloth>, With<ClothParticles>, Without<Rope>)>,
    mut in_progress: Query<&mut BuildTask>,
    failed: Query<FailedCloth, (With<Cloth>, Without<Rope>)>,
    sources: Query<&ClothSource>,
    mut changes: ChangedMeshes,
    meshes: Res<Assets<Mesh>>,
) {
    changes.read();
    let changed = changes.changed();
    for (entity, source) in &built {
        if has_source_changed(&source, changed, &sources) {
            commands.entity(entity).try_insert(NeedsRebuild);
        }
    }
    for mut task in &mut in_progress {
        // One that has just begun contains the change.
        let is_modified = !task.is_added() && changes.modified().contains(&task.source);
        if is_modified && !follows_cloth(task.source, &sources) {
            task.is_outdated = true;
        }
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
pub(super) fn unbuild(
    entity: &mut EntityCommands,
    skin: Option<&ClothSkin>,
    now: Option<&SkinnedMesh>,
) {
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
                let usable = check_usable(&self.transform);
                let read = usable.and_then(|()| select_cloth(original, self.part.as_deref()));
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
