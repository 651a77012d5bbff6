//! Panel section that saves, loads and reverts presets, and copies them as Rust code.

use super::targets;
use crate::{
    cloth::Cloth,
    preset::{
        ClothEnvironment, ClothEnvironmentHandle, ClothPreset, ClothPresetHandle, EXTENSION,
        load_error_message,
    },
};
use bevy::{
    asset::{AssetLoadFailedEvent, AssetPath},
    ecs::message::MessageCursor,
    prelude::*,
};
use bevy_egui::egui;

/// State of the section.
#[derive(Resource)]
struct PresetSection {
    /// Path as typed.
    path: String,
    /// Whether the environment is saved and loaded too.
    with_environment: bool,
    /// Result of the last action or load; errors are shown in red.
    status: Result<String, String>,
    /// Code to copy to the clipboard at the end of the frame.
    code: Option<String>,
    loaded: MessageCursor<AssetEvent<ClothPreset>>,
    failed: MessageCursor<AssetLoadFailedEvent<ClothPreset>>,
}

impl Default for PresetSection {
    fn default() -> Self {
        Self {
            path: format!("presets/my.{EXTENSION}"),
            with_environment: false,
            status: Ok(String::new()),
            code: None,
            loaded: default(),
            failed: default(),
        }
    }
}

/// Action of a button. Returns the new status.
type Action = fn(&mut PresetSection, &mut World) -> Result<String, String>;

const BUTTONS: [(&str, &str, Action); 4] = [
    (
        "Save",
        "Save the shown cloth to this file, and use the file as its preset",
        save,
    ),
    (
        "Load",
        "Load this file, and use it as the preset of the cloth",
        load,
    ),
    (
        "Revert",
        "Revert the cloth to its preset, or to the defaults",
        revert,
    ),
    (
        "Copy as Rust",
        "Copy Rust code that creates this cloth, and log it",
        copy,
    ),
];

/// Shows the section, if the app has preset assets.
pub(super) fn ui(ui: &mut egui::Ui, world: &mut World) {
    if !world.contains_resource::<Assets<ClothPreset>>() {
        return;
    }
    let mut section = world.remove_resource::<PresetSection>().unwrap_or_default();
    update_status(&mut section, world);
    egui::CollapsingHeader::new("File")
        .default_open(true)
        .show(ui, |ui| {
            ui.label(source_label(world))
                .on_hover_text("Preset of the cloth");
            let field = egui::TextEdit::singleline(&mut section.path).desired_width(f32::INFINITY);
            ui.add(field).on_hover_text(format!(
                "Asset path of the file to save and load; it must end with .{EXTENSION}"
            ));
            ui.checkbox(&mut section.with_environment, "with environment")
                .on_hover_text("Save, load and revert gravity, wind and substeps too");
            ui.horizontal_wrapped(|ui| {
                for (label, tooltip, action) in BUTTONS {
                    if ui.button(label).on_hover_text(tooltip).clicked() {
                        let status = action(&mut section, world);
                        set_status(&mut section, status);
                    }
                }
            });
            match &section.status {
                Ok(text) if text.is_empty() => {}
                Ok(text) => {
                    ui.label(text);
                }
                Err(text) => {
                    ui.colored_label(ui.visuals().error_fg_color, text);
                }
            }
        });
    if let Some(code) = section.code.take() {
        ui.ctx().copy_text(code);
    }
    world.insert_resource(section);
}

/// Shows and logs the result of an action.
fn set_status(section: &mut PresetSection, status: Result<String, String>) {
    match &status {
        Ok(text) => info!("{text}"),
        Err(text) => error!("{text}"),
    }
    section.status = status;
}

/// Updates the status from load events, of files that were loaded by a click or because they have changed.
fn update_status(section: &mut PresetSection, world: &World) {
    let server = world.resource::<AssetServer>();
    let name = |id| {
        let path = server.get_path(id);
        path.map_or_else(|| "a preset".into(), |path| path.to_string())
    };
    let events = world.resource::<Messages<AssetEvent<ClothPreset>>>();
    for event in section.loaded.read(events) {
        if let AssetEvent::Added { id } | AssetEvent::Modified { id } = event {
            let name = name(*id);
            // Saving also adds the asset, and has set its own status.
            if section.status != Ok(saved_message(&name)) {
                section.status = Ok(format!("{name} is loaded"));
            }
        }
    }
    // Shown only: the systems that apply presets log failures.
    for failure in section.failed.read(world.resource()) {
        section.status = Err(load_error_message(
            &failure.path.to_string(),
            &failure.error,
        ));
    }
}

fn saved_message(path: &str) -> String {
    format!("{path} is saved")
}

/// Returns the preset of the shown cloth, for a label.
fn source_label(world: &mut World) -> String {
    let first = targets(world).first().copied();
    let handle = first.and_then(|cloth| world.get::<ClothPresetHandle>(cloth));
    match handle.map(|handle| handle.0.path()) {
        None => "no preset".into(),
        Some(None) => "preset without a file".into(),
        Some(Some(path)) => format!("preset: {path}"),
    }
}

/// Returns the shown cloth and its values as a preset.
fn shown_preset(
    section: &PresetSection,
    world: &mut World,
) -> Result<(Entity, ClothPreset), String> {
    let first = targets(world).first().copied();
    let cloth = first.and_then(|cloth| Some((cloth, world.get::<Cloth>(cloth)?.clone())));
    let (entity, cloth) = cloth.ok_or("there is no cloth yet")?;
    let environment = section
        .with_environment
        .then(|| ClothEnvironment::of(world));
    Ok((entity, ClothPreset { cloth, environment }))
}

/// Returns the typed path, or an error if it is not a valid asset path of a preset.
fn typed_path(section: &PresetSection) -> Result<AssetPath<'static>, String> {
    let text = section.path.trim();
    let path = AssetPath::try_parse(text).map_err(|error| format!("{text}: {error}"))?;
    if path
        .path()
        .to_string_lossy()
        .ends_with(&format!(".{EXTENSION}"))
        && !path.is_unapproved()
    {
        Ok(path.into_owned())
    } else {
        Err(format!(
            "{text}: must be a path inside the asset folder that ends with .{EXTENSION}"
        ))
    }
}

fn save(section: &mut PresetSection, world: &mut World) -> Result<String, String> {
    let path = typed_path(section)?;
    let (entity, preset) = shown_preset(section, world)?;
    let server = world.resource::<AssetServer>().clone();
    let written = preset.save_asset(&server, path.clone());
    written.map_err(|error| error.to_string())?;
    let handle: Handle<ClothPreset> = server.load(&path);
    // Inserted at once, also for other cloths with this preset, so that loading the file changes nothing.
    let mut presets = world.resource_mut::<Assets<ClothPreset>>();
    let inserted = presets.insert(&handle, preset);
    inserted.map_err(|error| error.to_string())?;
    set_preset(section, world, &[entity], &handle);
    Ok(saved_message(&path.to_string()))
}

fn load(section: &mut PresetSection, world: &mut World) -> Result<String, String> {
    let path = typed_path(section)?;
    let server = world.resource::<AssetServer>().clone();
    let handle: Handle<ClothPreset> = server.load(&path);
    // The file may have changed since it was loaded.
    if world.resource::<Assets<ClothPreset>>().contains(&handle) {
        server.reload(&path);
    }
    let cloths = targets(world);
    set_preset(section, world, &cloths, &handle);
    Ok(format!("{path} is being loaded"))
}

/// Makes an asset the preset of these cloths and, if wanted, of the environment.
fn set_preset(
    section: &PresetSection,
    world: &mut World,
    cloths: &[Entity],
    handle: &Handle<ClothPreset>,
) {
    for &cloth in cloths {
        world
            .entity_mut(cloth)
            .insert(ClothPresetHandle(handle.clone()));
    }
    if section.with_environment {
        world.insert_resource(ClothEnvironmentHandle(handle.clone()));
    }
}

fn revert(section: &mut PresetSection, world: &mut World) -> Result<String, String> {
    let preset_of = |world: &World, handle: Option<&Handle<ClothPreset>>| {
        let presets = world.resource::<Assets<ClothPreset>>();
        handle.and_then(|handle| presets.get(handle)).cloned()
    };
    let mut target = "the defaults";
    for entity in targets(world) {
        let handle = world.get::<ClothPresetHandle>(entity);
        let preset = preset_of(world, handle.map(|handle| &handle.0));
        if preset.is_some() {
            target = "the preset";
        }
        if let Some(mut cloth) = world.get_mut::<Cloth>(entity) {
            cloth.set_if_neq(preset.unwrap_or_default().cloth);
        }
    }
    if section.with_environment {
        let handle = world.get_resource::<ClothEnvironmentHandle>();
        let preset = preset_of(world, handle.map(|handle| &handle.0));
        let environment = preset.and_then(|preset| preset.environment);
        environment.unwrap_or_default().apply(world);
    }
    Ok(format!("reverted to {target}"))
}

fn copy(section: &mut PresetSection, world: &mut World) -> Result<String, String> {
    let (_, preset) = shown_preset(section, world)?;
    let code = preset.to_rust();
    info!("cloth as Rust code:\n{code}");
    section.code = Some(code);
    Ok("copied".into())
}
