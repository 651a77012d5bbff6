//! Keeps cloths and settings to their files.
//!
//! What was taken from a file is remembered. So a file that is read again without a change, or another of its
//! values, does not undo what a user has edited since.

use super::{ClothFrom, ClothPreset, ClothPresetError, ClothSettings, ClothSettingsFrom};
use crate::{
    cloth::Cloth,
    settings::{ClothGravity, Substeps, Turbulence, Wind, WindOcclusion},
};
use bevy::{
    asset::{AssetLoadError, AssetLoadFailedEvent, LoadState},
    platform::collections::HashMap,
    prelude::*,
};

/// On cloths that are not to be built yet: their files are still being loaded.
#[derive(Component, Clone)]
pub(crate) struct AwaitsPreset;

/// What a cloth has taken from a file.
#[derive(Component, Clone, PartialEq)]
pub(crate) struct Taken(AssetId<ClothPreset>, Cloth);

/// Files that could not be loaded.
#[derive(Resource, Default)]
pub(crate) struct Failures {
    /// In this frame, and why.
    new: HashMap<AssetId<ClothPreset>, String>,
    /// And before, until they can be loaded again.
    known: HashMap<AssetId<ClothPreset>, String>,
}

/// A file that cannot be read again is tried twice: that is one failure.
pub(crate) fn hear(
    mut failed: MessageReader<AssetLoadFailedEvent<ClothPreset>>,
    mut loaded: MessageReader<AssetEvent<ClothPreset>>,
    mut failures: ResMut<Failures>,
) {
    let Failures { new, known } = &mut *failures;
    new.clear();
    for event in loaded.read() {
        if let AssetEvent::Added { id } | AssetEvent::Modified { id } = event {
            known.remove(id);
        }
    }
    for failure in failed.read() {
        let reason = reason(&failure.path.to_string(), &failure.error);
        if known.insert(failure.id, reason.clone()) != Some(reason.clone()) {
            new.insert(failure.id, reason);
        }
    }
}

pub(crate) fn follow(
    mut commands: Commands,
    failures: Res<Failures>,
    presets: Res<Assets<ClothPreset>>,
    server: Res<AssetServer>,
    mut cloths: Query<(
        Entity,
        Ref<ClothFrom>,
        &mut Cloth,
        Option<&Taken>,
        Has<AwaitsPreset>,
    )>,
) {
    for (entity, from, mut cloth, taken, awaits) in &mut cloths {
        let id = from.id();
        if let Some(preset) = presets.get(id) {
            let offered = Taken(id, preset.cloth.clone());
            if taken != Some(&offered) {
                cloth.set_if_neq(preset.cloth.clone());
                commands.entity(entity).try_insert(offered);
            }
            if let Some(reason) = failures.new.get(&id) {
                error!("cloth {entity} stays as it is: {reason}");
            }
        }
        let state = server.get_load_state(id);
        let wait = !presets.contains(id) && matches!(state, Some(LoadState::Loading));
        if wait && !awaits {
            commands.entity(entity).try_insert(AwaitsPreset);
        } else if awaits && !wait {
            commands.entity(entity).try_remove::<AwaitsPreset>();
        }
        // Told when it fails, and to those who come later.
        let late = awaits || from.is_changed() || failures.new.contains_key(&id);
        if let Some(LoadState::Failed(error)) = state
            && !presets.contains(id)
            && late
        {
            let reason = reason(&named(&from), &error);
            error!("cloth {entity} has no preset: {reason}");
        }
    }
}

/// Whoever gets another file, or the same one anew, takes all of it.
pub(crate) fn forget(event: On<Discard, ClothFrom>, mut commands: Commands) {
    // The entity may be on its way out altogether; then there is nothing to do.
    if let Ok(mut entity) = commands.get_entity(event.entity) {
        entity.try_remove::<(Taken, AwaitsPreset)>();
    }
}

pub(crate) fn follow_settings(
    from: Res<ClothSettingsFrom>,
    failures: Res<Failures>,
    presets: Res<Assets<ClothPreset>>,
    server: Res<AssetServer>,
    mut taken: Local<Option<(AssetId<ClothPreset>, Option<ClothSettings>)>>,
    (mut gravity, mut wind, mut turbulence, mut occlusion, mut substeps): (
        ResMut<ClothGravity>,
        ResMut<Wind>,
        ResMut<Turbulence>,
        ResMut<WindOcclusion>,
        ResMut<Substeps>,
    ),
) {
    let id = from.id();
    if from.is_changed() {
        *taken = None;
    }
    if let Some(preset) = presets.get(id) {
        let offered = Some((id, preset.settings));
        if *taken != offered {
            *taken = offered;
            if let Some(settings) = preset.settings {
                gravity.set_if_neq(settings.gravity);
                wind.set_if_neq(settings.wind);
                turbulence.set_if_neq(settings.turbulence);
                occlusion.set_if_neq(settings.wind_occlusion);
                substeps.set_if_neq(settings.substeps);
            } else {
                warn!("{} has no settings; they stay as they are", named(&from));
            }
        }
    }
    let failed = failures.new.get(&id).cloned();
    let failed = failed.or_else(|| match server.get_load_state(id) {
        Some(LoadState::Failed(error)) if from.is_changed() => Some(reason(&named(&from), &error)),
        _ => None,
    });
    if let Some(reason) = failed {
        error!("settings stay as they are: {reason}");
    }
}

/// Why a file was not loaded, with its path. What is wrong with its text is told as it is: around that, Bevy
/// may put the way through the program on which it was found.
pub(crate) fn reason(path: &str, error: &AssetLoadError) -> String {
    if let AssetLoadError::AssetLoaderError(error) = error
        && let Some(error) = error.error().downcast_ref::<ClothPresetError>()
    {
        return error.to_string();
    }
    format!("{path}: {error}")
}

/// A file, for a message.
fn named(preset: &Handle<ClothPreset>) -> String {
    let path = preset.path();
    path.map_or_else(|| format!("{:?}", preset.id()), ToString::to_string)
}
