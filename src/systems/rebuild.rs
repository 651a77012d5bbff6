//! Builds cloth anew when its mesh is another one, and gives meshes back when it is no cloth any more.

use super::build::{check, check_mesh};
use crate::{
    cloth::Cloth,
    components::{
        BuildFailed, ClothBody, ClothMesh, ClothSkin, ClothSource, Constraints, Particles,
        SelfContacts,
    },
    grab::ClothGrabs,
    paint::ClothPart,
    rope::Rope,
    sleep::{ClothSleeping, Rest},
};
use bevy::{
    camera::{primitives::Aabb, visibility::NoAutoAabb},
    ecs::system::SystemParam,
    mesh::skinning::SkinnedMesh,
    platform::collections::HashSet,
    prelude::*,
};

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
    (ClothSource, ClothSkin),
    Aabb,
    NoAutoAabb,
);

/// Which mesh assets have been changed, as by a file that was saved again.
#[derive(SystemParam)]
pub(crate) struct ChangedMeshes<'w, 's> {
    events: MessageReader<'w, 's, AssetEvent<Mesh>>,
    // Cloths change their own in every frame: the room is kept.
    changed: Local<'s, HashSet<AssetId<Mesh>>>,
}

impl ChangedMeshes<'_, '_> {
    /// Those since it was asked for the last time.
    pub(super) fn read(&mut self) -> &HashSet<AssetId<Mesh>> {
        self.changed.clear();
        let events = self.events.read().filter_map(|event| match event {
            AssetEvent::Modified { id } | AssetEvent::Added { id } => Some(*id),
            _ => None,
        });
        self.changed.extend(events);
        &self.changed
    }
}

/// A cloth whose `Mesh3d` is no longer its own gets rebuilt from the new one.
pub(crate) fn forget_replaced_meshes(
    mut commands: Commands,
    built: Query<
        (
            Entity,
            &Mesh3d,
            &ClothSource,
            (Option<&SkinnedMesh>, Option<&ClothSkin>),
        ),
        (With<Cloth>, With<Particles>, Without<Rope>, Changed<Mesh3d>),
    >,
    skinned: Query<
        (
            Entity,
            &SkinnedMesh,
            &ClothSource,
            Option<&ClothSkin>,
            &ClothBody,
        ),
        (With<Cloth>, With<Particles>, Changed<SkinnedMesh>),
    >,
) {
    for (entity, mesh, known, (now, skin)) in &built {
        if mesh.0 != known.own {
            let mut entity = commands.entity(entity);
            if let Some(original) = skin.and_then(|skin| skin.original(now)) {
                entity.try_insert(original);
            }
            entity.try_remove::<Built>();
        }
    }
    for (entity, now, source, known, body) in &skinned {
        let original = known.and_then(|known| known.original(Some(now)));
        let joints = body.skin.as_ref().map(|skin| &skin.joints[..]);
        let same = original.is_some_and(|original| joints == Some(&original.joints[..]));
        if !same {
            // It is built anew, of the same mesh.
            let mut entity = commands.entity(entity);
            entity.try_remove::<Built>().try_insert(source.clone());
        }
    }
}

/// Whether somebody has changed the mesh that something was made of.
pub(super) fn has_changed(
    source: &Ref<ClothSource>,
    changed: &HashSet<AssetId<Mesh>>,
    sources: &Query<&ClothSource>,
) -> bool {
    let of = source.source.id();
    // What was told before it was built is in it. And who was made of the mesh of another cloth, as that
    // was then, does not follow that cloth.
    !source.is_changed()
        && changed.contains(&of)
        && !sources.iter().any(|other| other.own.id() == of)
}

/// A cloth whose mesh asset was changed is rebuilt from what it is now; one that could not be built is
/// tried again when the cause may be gone.
pub(crate) fn follow_changed_meshes(
    mut commands: Commands,
    built: Query<
        (
            Entity,
            Ref<ClothSource>,
            Option<&ClothPart>,
            (Option<&SkinnedMesh>, Option<&ClothSkin>),
        ),
        (With<Cloth>, With<Particles>, Without<Rope>),
    >,
    failed: Query<
        (
            Entity,
            Ref<Mesh3d>,
            Ref<GlobalTransform>,
            Option<&ClothSource>,
            Option<Ref<ClothPart>>,
            Option<Ref<SkinnedMesh>>,
            &BuildFailed,
        ),
        (With<Cloth>, Without<Rope>),
    >,
    sources: Query<&ClothSource>,
    mut changes: ChangedMeshes,
    meshes: Res<Assets<Mesh>>,
) {
    let changed = changes.read();
    for (entity, source, part, (now, skin)) in &built {
        if !has_changed(&source, changed, &sources) {
            continue;
        }
        let Some(original) = meshes.get(&source.source) else {
            continue;
        };
        if let Err(reason) = check_mesh(original, part) {
            error!(
                "cloth {entity}: its mesh has been changed and cannot become cloth, so it goes on as \
                 it was: {reason}"
            );
            continue;
        }
        let mut entity = commands.entity(entity);
        if let Some(original) = skin.and_then(|skin| skin.original(now)) {
            entity.try_insert(original);
        }
        entity
            .try_remove::<Built>()
            .try_insert(ClothSource::clone(&source));
    }
    for (entity, mesh, transform, source, part, skin, failure) in &failed {
        let source = ClothSource::original(source, &mesh);
        let other_part = part.as_ref().is_some_and(|part| part.is_changed());
        let other_skin = skin.as_ref().is_some_and(|skin| skin.is_changed());
        // Where it has a skeleton its own transform is mostly not what is wrong.
        let touched = mesh.is_changed()
            || (transform.is_changed() && skin.is_none())
            || other_part
            || other_skin
            || changed.contains(&source.id());
        // Only if it would now come out differently, so that a moving entity does not repeat the
        // same error in every frame.
        if touched
            && let Some(original) = meshes.get(source)
            && check(original, &transform, part.as_deref()).err().as_ref() != Some(&failure.reason)
        {
            commands.entity(entity).try_remove::<BuildFailed>();
        }
    }
}

/// When `Cloth` is removed, the entity gets back the mesh that it was made of.
pub(crate) fn give_mesh_back(
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
