//! Mesh from which a cloth was built, changes of it, and the reason why a cloth could not be built.

use bevy::{ecs::system::SystemParam, platform::collections::HashSet, prelude::*};

/// Mesh from which a cloth was built, and the copy that follows its particles.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Clone, Debug)]
pub struct ClothSource {
    /// Mesh that the user gave the entity. Never written to. Equals `own` for a rope that had none.
    pub source: Handle<Mesh>,
    /// Mesh that is now in its `Mesh3d` and follows the cloth.
    pub own: Handle<Mesh>,
}

impl ClothSource {
    /// Returns the source mesh of an entity whose `Mesh3d` is `mesh`. In a cloth that was cloned or saved with a scene,
    /// `mesh` is the copy that followed the particles, and `known` names its source.
    pub(crate) fn original<'a>(
        known: Option<&'a Self>,
        mesh: &'a Handle<Mesh>,
    ) -> &'a Handle<Mesh> {
        match known {
            Some(known) if known.own == *mesh => &known.source,
            _ => mesh,
        }
    }
}

/// The cloth of this entity could not be built; the log says why and what to do. Building is tried again when
/// the entity gets another mesh or transform, or its mesh asset changes.
#[derive(Component, Clone, Debug, Reflect, PartialEq)]
#[reflect(Component, Clone, Debug, PartialEq)]
#[component(clone_behavior = Ignore)]
pub struct ClothBuildFailed {
    /// Reason, as in the log.
    pub reason: String,
}

/// Mesh assets that have changed, as by reloading a file.
#[derive(SystemParam)]
pub(crate) struct ChangedMeshes<'w, 's> {
    events: MessageReader<'w, 's, AssetEvent<Mesh>>,
    // Cloths change their own meshes in every frame: the allocations are kept.
    changed: Local<'s, HashSet<AssetId<Mesh>>>,
    modified: Local<'s, HashSet<AssetId<Mesh>>>,
}

impl ChangedMeshes<'_, '_> {
    /// Finds the meshes that changed since the last call.
    pub(crate) fn read(&mut self) {
        self.changed.clear();
        self.modified.clear();
        for event in self.events.read() {
            match event {
                AssetEvent::Added { id } => _ = self.changed.insert(*id),
                AssetEvent::Modified { id } => {
                    self.changed.insert(*id);
                    self.modified.insert(*id);
                }
                _ => {}
            }
        }
    }

    /// Returns the meshes that are new or were modified.
    pub(crate) fn changed(&self) -> &HashSet<AssetId<Mesh>> {
        &self.changed
    }

    /// Returns the meshes that were modified.
    pub(crate) fn modified(&self) -> &HashSet<AssetId<Mesh>> {
        &self.modified
    }
}

/// Returns whether the source mesh of a cloth or proxy has changed.
pub(crate) fn has_source_changed(
    source: &Ref<ClothSource>,
    changed: &HashSet<AssetId<Mesh>>,
    sources: &Query<&ClothSource>,
) -> bool {
    let source_id = source.source.id();
    // A cloth that was just built already contains the change.
    !source.is_changed() && changed.contains(&source_id) && !follows_cloth(source_id, sources)
}

/// Returns whether a mesh follows a cloth: it then changes in each frame, and its changes are not tracked.
pub(crate) fn follows_cloth(mesh: AssetId<Mesh>, sources: &Query<&ClothSource>) -> bool {
    sources.iter().any(|other| other.own.id() == mesh)
}
