//! Applies presets to cloths and to the environment when their files are loaded or change.
//!
//! The values last applied are remembered: a file that is reloaded with the same values, or with changes
//! elsewhere, does not undo later edits by the user.

use super::{
    ClothEnvironment, ClothEnvironmentHandle, ClothPreset, ClothPresetError, ClothPresetHandle,
};
use crate::{
    build::AwaitsPreset,
    cloth::{
        Cloth,
        settings::{ClothGravity, ClothSubsteps},
    },
    label::EntityLabel,
    wind::settings::{Wind, WindOcclusion, WindTurbulence},
};
use bevy::{
    asset::{AssetLoadError, AssetLoadFailedEvent, LoadState},
    platform::collections::HashMap,
    prelude::*,
};

/// Preset last applied to a cloth, and its values.
#[derive(Component, Clone, PartialEq)]
pub(crate) struct AppliedPreset(AssetId<ClothPreset>, Cloth);

/// Presets that failed to load, with the reason.
#[derive(Resource, Default)]
pub(crate) struct PresetLoadFailures {
    /// Failures in this frame.
    new: HashMap<AssetId<ClothPreset>, String>,
    /// All failures, until the file is loaded.
    known: HashMap<AssetId<ClothPreset>, String>,
}

/// Collects load failures. Bevy tries an unreadable file twice when it is reloaded; that counts as one failure.
pub(crate) fn collect_load_failures(
    mut failed: MessageReader<AssetLoadFailedEvent<ClothPreset>>,
    mut loaded: MessageReader<AssetEvent<ClothPreset>>,
    mut failures: ResMut<PresetLoadFailures>,
) {
    let PresetLoadFailures { new, known } = &mut *failures;
    new.clear();
    for event in loaded.read() {
        if let AssetEvent::Added { id } | AssetEvent::Modified { id } = event {
            known.remove(id);
        }
    }
    for failure in failed.read() {
        let reason = load_error_message(&failure.path.to_string(), &failure.error);
        if known.insert(failure.id, reason.clone()) != Some(reason.clone()) {
            new.insert(failure.id, reason);
        }
    }
}

/// Applies the presets of cloths, and keeps cloths from being built while their presets are being loaded.
pub(crate) fn apply_cloth_presets(
    mut commands: Commands,
    failures: Res<PresetLoadFailures>,
    presets: Res<Assets<ClothPreset>>,
    server: Res<AssetServer>,
    mut cloths: Query<(
        EntityLabel,
        Ref<ClothPresetHandle>,
        &mut Cloth,
        Option<&AppliedPreset>,
        Has<AwaitsPreset>,
    )>,
) {
    for (label, handle, mut cloth, applied, awaits) in &mut cloths {
        let entity = label.entity;
        let id = handle.id();
        if let Some(preset) = presets.get(id) {
            let current = AppliedPreset(id, preset.cloth.clone());
            if applied != Some(&current) {
                cloth.set_if_neq(preset.cloth.clone());
                commands.entity(entity).try_insert(current);
            }
            if let Some(reason) = failures.new.get(&id) {
                error!("cloth {label} stays as it is: {reason}");
            }
        }
        let state = server.get_load_state(id);
        let wait = !presets.contains(id) && matches!(state, Some(LoadState::Loading));
        if wait && !awaits {
            commands.entity(entity).try_insert(AwaitsPreset);
        } else if awaits && !wait {
            commands.entity(entity).try_remove::<AwaitsPreset>();
        }
        // Logged for each cloth when loading fails, and for each cloth that is added later.
        let unreported = awaits || handle.is_changed() || failures.new.contains_key(&id);
        if let Some(LoadState::Failed(error)) = state
            && !presets.contains(id)
            && unreported
        {
            let reason = load_error_message(&path_or_id(&handle), &error);
            error!("cloth {label} is built without its preset: {reason}");
        }
    }
}

/// Forgets the applied values when the handle is replaced, so that a new handle, or the same one again, is applied
/// in full.
pub(crate) fn forget_applied_preset(event: On<Discard, ClothPresetHandle>, mut commands: Commands) {
    // The entity itself may be despawning.
    if let Ok(mut entity) = commands.get_entity(event.entity) {
        entity.try_remove::<(AppliedPreset, AwaitsPreset)>();
    }
}

/// Applies the environment of the preset in [`ClothEnvironmentHandle`].
pub(crate) fn apply_environment(
    handle: Res<ClothEnvironmentHandle>,
    failures: Res<PresetLoadFailures>,
    presets: Res<Assets<ClothPreset>>,
    server: Res<AssetServer>,
    mut applied: Local<Option<(AssetId<ClothPreset>, Option<ClothEnvironment>)>>,
    (mut gravity, mut wind, mut turbulence, mut occlusion, mut substeps): (
        ResMut<ClothGravity>,
        ResMut<Wind>,
        ResMut<WindTurbulence>,
        ResMut<WindOcclusion>,
        ResMut<ClothSubsteps>,
    ),
) {
    let id = handle.id();
    if handle.is_changed() {
        *applied = None;
    }
    if let Some(preset) = presets.get(id) {
        let current = Some((id, preset.environment));
        if *applied != current {
            *applied = current;
            if let Some(environment) = preset.environment {
                gravity.set_if_neq(environment.gravity);
                wind.set_if_neq(environment.wind);
                turbulence.set_if_neq(environment.turbulence);
                occlusion.set_if_neq(environment.wind_occlusion);
                substeps.set_if_neq(environment.substeps);
            } else {
                warn!(
                    "{} has no environment; gravity, wind and substeps stay as they are",
                    path_or_id(&handle)
                );
            }
        }
    }
    let failed = failures.new.get(&id).cloned();
    let failed = failed.or_else(|| match server.get_load_state(id) {
        Some(LoadState::Failed(error)) if handle.is_changed() => {
            Some(load_error_message(&path_or_id(&handle), &error))
        }
        _ => None,
    });
    if let Some(reason) = failed {
        error!("the cloth environment stays as it is: {reason}");
    }
}

/// Returns the reason why a file was not loaded, with its path. An error in its text is returned bare, since Bevy
/// may wrap it in a backtrace.
pub(crate) fn load_error_message(path: &str, error: &AssetLoadError) -> String {
    if let AssetLoadError::AssetLoaderError(error) = error
        && let Some(error) = error.error().downcast_ref::<ClothPresetError>()
    {
        return error.to_string();
    }
    format!("{path}: {error}")
}

/// Returns the path of a preset, or its asset id if it has none, for messages.
fn path_or_id(preset: &Handle<ClothPreset>) -> String {
    let path = preset.path();
    path.map_or_else(|| format!("{:?}", preset.id()), ToString::to_string)
}
