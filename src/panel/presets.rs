//! Files: saves what the panel shows, loads it, goes back to it; and copies it as Rust.

use super::targets;
use crate::{
    ClothFrom, ClothPreset, ClothSettings, ClothSettingsFrom,
    cloth::Cloth,
    presets::{EXTENSION, reason},
};
use bevy::{
    asset::{AssetLoadFailedEvent, AssetPath},
    ecs::message::MessageCursor,
    prelude::*,
};
use bevy_egui::egui;

/// What was typed, and what became of it.
#[derive(Resource)]
struct Files {
    path: String,
    /// Settings of the world are saved and loaded, too.
    with_world: bool,
    /// What has happened last; an error is red.
    told: Result<String, String>,
    /// Code on its way to the clipboard.
    code: Option<String>,
    loaded: MessageCursor<AssetEvent<ClothPreset>>,
    failed: MessageCursor<AssetLoadFailedEvent<ClothPreset>>,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            path: format!("presets/my.{EXTENSION}"),
            with_world: false,
            told: Ok(String::new()),
            code: None,
            loaded: default(),
            failed: default(),
        }
    }
}

/// What a button does.
type Action = fn(&mut Files, &mut World) -> Result<String, String>;

const BUTTONS: [(&str, &str, Action); 4] = [
    (
        "Save",
        "Write the cloth that is shown to this file; it then follows the file",
        save,
    ),
    ("Load", "Read the file, and let the cloth follow it", load),
    (
        "Revert",
        "Back to the file that the cloth comes from, or to the defaults",
        revert,
    ),
    (
        "Copy as Rust",
        "Copy code that makes this cloth, and write it to the log",
        copy,
    ),
];

pub(super) fn ui(ui: &mut egui::Ui, world: &mut World) {
    // Without assets there are no files.
    if !world.contains_resource::<Assets<ClothPreset>>() {
        return;
    }
    let mut files = world.remove_resource::<Files>().unwrap_or_default();
    listen(&mut files, world);
    egui::CollapsingHeader::new("File")
        .default_open(true)
        .show(ui, |ui| {
            ui.label(in_use(world))
                .on_hover_text("The file that the cloth follows");
            let field = egui::TextEdit::singleline(&mut files.path).desired_width(f32::INFINITY);
            ui.add(field).on_hover_text(format!(
                "Which file to save and load, among the assets: its name ends with .{EXTENSION}"
            ));
            ui.checkbox(&mut files.with_world, "with the world")
                .on_hover_text("Gravity, wind and substeps are saved, loaded and reverted, too");
            ui.horizontal_wrapped(|ui| {
                for (label, tooltip, action) in BUTTONS {
                    if ui.button(label).on_hover_text(tooltip).clicked() {
                        let told = action(&mut files, world);
                        tell(&mut files, told);
                    }
                }
            });
            match &files.told {
                Ok(text) if text.is_empty() => {}
                Ok(text) => {
                    ui.label(text);
                }
                Err(text) => {
                    ui.colored_label(ui.visuals().error_fg_color, text);
                }
            }
        });
    if let Some(code) = files.code.take() {
        ui.ctx().copy_text(code);
    }
    world.insert_resource(files);
}

fn tell(files: &mut Files, told: Result<String, String>) {
    match &told {
        Ok(text) => info!("{text}"),
        Err(text) => error!("{text}"),
    }
    files.told = told;
}

/// Hears what became of files that were loaded, by a click or because they have changed.
fn listen(files: &mut Files, world: &World) {
    let server = world.resource::<AssetServer>();
    let name = |id| {
        let path = server.get_path(id);
        path.map_or_else(|| "a preset".into(), |path| path.to_string())
    };
    let events = world.resource::<Messages<AssetEvent<ClothPreset>>>();
    for event in files.loaded.read(events) {
        if let AssetEvent::Added { id } | AssetEvent::Modified { id } = event {
            let name = name(*id);
            // What was saved is told already.
            if files.told != Ok(saved(&name)) {
                files.told = Ok(format!("{name} is loaded"));
            }
        }
    }
    // The log has them from those who asked for the file.
    for failure in files.failed.read(world.resource()) {
        files.told = Err(reason(&failure.path.to_string(), &failure.error));
    }
}

fn saved(path: &str) -> String {
    format!("{path} is saved")
}

/// The file that the shown cloth follows.
fn in_use(world: &mut World) -> String {
    let first = targets(world).first().copied();
    let from = first.and_then(|cloth| world.get::<ClothFrom>(cloth));
    match from.map(|from| from.0.path()) {
        None => "from no file".into(),
        Some(None) => "from a preset without a file".into(),
        Some(Some(path)) => format!("from {path}"),
    }
}

/// The cloth that is shown, as what a file holds.
fn shown(files: &Files, world: &mut World) -> Result<(Entity, ClothPreset), String> {
    let first = targets(world).first().copied();
    let cloth = first.and_then(|cloth| Some((cloth, world.get::<Cloth>(cloth)?.clone())));
    let (entity, cloth) = cloth.ok_or("there is no cloth yet")?;
    let settings = files.with_world.then(|| ClothSettings::of(world));
    Ok((entity, ClothPreset { cloth, settings }))
}

fn path(files: &Files) -> Result<AssetPath<'static>, String> {
    let text = files.path.trim();
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
            "{text}: must be inside of the assets and end with .{EXTENSION}"
        ))
    }
}

fn save(files: &mut Files, world: &mut World) -> Result<String, String> {
    let path = path(files)?;
    let (entity, preset) = shown(files, world)?;
    let server = world.resource::<AssetServer>().clone();
    let written = preset.save_asset(&server, path.clone());
    written.map_err(|error| error.to_string())?;
    let handle: Handle<ClothPreset> = server.load(&path);
    // It is known at once, also to others who follow the file: nothing is to change when it is loaded.
    let mut presets = world.resource_mut::<Assets<ClothPreset>>();
    let known = presets.insert(&handle, preset);
    known.map_err(|error| error.to_string())?;
    follow(files, world, &[entity], &handle);
    Ok(saved(&path.to_string()))
}

fn load(files: &mut Files, world: &mut World) -> Result<String, String> {
    let path = path(files)?;
    let server = world.resource::<AssetServer>().clone();
    let handle: Handle<ClothPreset> = server.load(&path);
    // The file may have changed since it was read.
    if world.resource::<Assets<ClothPreset>>().contains(&handle) {
        server.reload(&path);
    }
    let cloths = targets(world);
    follow(files, world, &cloths, &handle);
    Ok(format!("{path} is being loaded"))
}

fn follow(files: &Files, world: &mut World, cloths: &[Entity], handle: &Handle<ClothPreset>) {
    for &cloth in cloths {
        world.entity_mut(cloth).insert(ClothFrom(handle.clone()));
    }
    if files.with_world {
        world.insert_resource(ClothSettingsFrom(handle.clone()));
    }
}

fn revert(files: &mut Files, world: &mut World) -> Result<String, String> {
    let of = |world: &World, from: Option<&Handle<ClothPreset>>| {
        let presets = world.resource::<Assets<ClothPreset>>();
        from.and_then(|from| presets.get(from)).cloned()
    };
    let mut to = "the defaults";
    for entity in targets(world) {
        let preset = of(world, world.get::<ClothFrom>(entity).map(|from| &from.0));
        if preset.is_some() {
            to = "what the file says";
        }
        if let Some(mut cloth) = world.get_mut::<Cloth>(entity) {
            cloth.set_if_neq(preset.unwrap_or_default().cloth);
        }
    }
    if files.with_world {
        let from = world.get_resource::<ClothSettingsFrom>();
        let preset = of(world, from.map(|from| &from.0));
        let settings = preset.and_then(|preset| preset.settings);
        settings.unwrap_or_default().apply(world);
    }
    Ok(format!("reverted to {to}"))
}

fn copy(files: &mut Files, world: &mut World) -> Result<String, String> {
    let (_, preset) = shown(files, world)?;
    let code = preset.to_rust();
    info!("the cloth as Rust:\n{code}");
    files.code = Some(code);
    Ok("copied".into())
}
