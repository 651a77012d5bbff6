//! Presets saved, loaded and reverted with the mouse.

use crate::{
    Panel, cloth,
    files::{app_with_files, until, write},
    headless::headless,
    panel_over, plugins,
};
use bevy::asset::io::memory::Dir;
use bevy_drape::prelude::*;
#[cfg(feature = "presets")]
use bevy_drape::preset::{ClothEnvironment, ClothPreset};
use bevy_egui::egui::{self, Modifiers, OutputCommand, accesskit::Role};
use egui_kittest::kittest::Queryable;
use std::path::Path;

const MY: &str = "presets/my.cloth.ron";

fn panel() -> (Panel, Dir) {
    let (app, folder) = app_with_files();
    (panel_over(headless(app, plugins())), folder)
}

fn click(panel: &mut Panel, button: &str) {
    panel.get_by_role_and_label(Role::Button, button).click();
    panel.run_steps(2);
}

fn change(panel: &mut Panel, change: impl Fn(&mut Cloth)) {
    let world = panel.state_mut().world_mut();
    let mut cloths = world.query::<&mut Cloth>();
    change(&mut cloths.single_mut(world).unwrap());
    panel.run_steps(2);
}

/// Waits until a text is shown.
fn wait_for(panel: &mut Panel, text: &str) {
    until(|| {
        panel.step();
        panel.query_by_label_contains(text).map(|_| ())
    });
}

fn type_path(panel: &mut Panel, path: &str) {
    panel.get_by_role(Role::TextInput).click();
    panel.step();
    panel.event(egui::Event::Key {
        key: egui::Key::A,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::COMMAND,
    });
    panel.event(egui::Event::Text(path.into()));
    panel.run_steps(2);
}

fn saved(folder: &Dir, path: &str) -> ClothPreset {
    let file = folder.get_asset(Path::new(path)).expect("it is saved");
    ClothPreset::from_ron(str::from_utf8(file.value()).unwrap(), path).unwrap()
}

#[test]
fn a_cloth_is_saved_reverted_and_loaded() {
    let (mut panel, folder) = panel();
    panel.get_by_label("no preset");
    change(&mut panel, |cloth| cloth.damping = 3.0);
    click(&mut panel, "Save");
    wait_for(&mut panel, "presets/my.cloth.ron is saved");
    panel.get_by_label("preset: presets/my.cloth.ron");
    let preset = saved(&folder, MY);
    assert_eq!((preset.cloth.damping, preset.environment), (3.0, None));
    panel.run_steps(5);
    panel.get_by_label_contains("is saved");

    change(&mut panel, |cloth| cloth.damping = 50.0);
    click(&mut panel, "Revert");
    assert_eq!(cloth(&mut panel).damping, 3.0);
    panel.get_by_label_contains("reverted");

    // Reverts to the preset that was saved last.
    change(&mut panel, |cloth| cloth.damping = 4.0);
    click(&mut panel, "Save");
    change(&mut panel, |cloth| cloth.damping = 50.0);
    click(&mut panel, "Revert");
    assert_eq!(cloth(&mut panel).damping, 4.0);

    // Another program has written to the file.
    write(&folder, MY, "(cloth: (damping: 6))");
    click(&mut panel, "Load");
    wait_for(&mut panel, "presets/my.cloth.ron is loaded");
    panel.run_steps(2);
    assert_eq!(cloth(&mut panel).damping, 6.0);
    // The file is the same, but loading it again undoes the edit.
    change(&mut panel, |cloth| cloth.damping = 50.0);
    click(&mut panel, "Load");
    assert_eq!(cloth(&mut panel).damping, 6.0);
}

#[test]
fn another_path_can_be_typed() {
    let (mut panel, folder) = panel();
    write(&folder, "a/b.cloth.ron", "(cloth: (iterations: 7))");
    type_path(&mut panel, "a/b.cloth.ron");
    click(&mut panel, "Load");
    wait_for(&mut panel, "a/b.cloth.ron is loaded");
    panel.run_steps(2);
    assert_eq!(cloth(&mut panel).iterations, 7);
    panel.get_by_label("preset: a/b.cloth.ron");
}

#[test]
fn errors_are_shown() {
    let (mut panel, folder) = panel();
    click(&mut panel, "Load");
    wait_for(&mut panel, "Path not found");
    assert_eq!(cloth(&mut panel), Cloth::default());
    write(&folder, MY, "(cloth: (dampnig: 6))");
    click(&mut panel, "Load");
    wait_for(
        &mut panel,
        "presets/my.cloth.ron:1:10: Unexpected field named `dampnig`",
    );
    assert_eq!(cloth(&mut panel), Cloth::default());
    for bad in ["../my.cloth.ron", "my.ron", " ", "://.cloth.ron"] {
        type_path(&mut panel, bad);
        for button in ["Save", "Load"] {
            click(&mut panel, "Revert");
            panel.get_by_label_contains("reverted");
            click(&mut panel, button);
            assert!(panel.query_by_label_contains("reverted").is_none(), "{bad}");
        }
    }
    assert_eq!(cloth(&mut panel), Cloth::default());
}

#[test]
fn the_environment_is_saved_and_loaded_if_wanted() {
    let (mut panel, folder) = panel();
    let world = |panel: &Panel| ClothEnvironment::of(panel.state().world());
    panel.get_by_label("with environment").click();
    panel.run_steps(2);
    panel
        .state_mut()
        .world_mut()
        .insert_resource(ClothSubsteps::PerStep(13));
    click(&mut panel, "Save");
    assert_eq!(saved(&folder, MY).environment, Some(world(&panel)));
    panel
        .state_mut()
        .world_mut()
        .insert_resource(ClothSubsteps::PerStep(2));
    panel.run_steps(5);
    assert_eq!(world(&panel).substeps, ClothSubsteps::PerStep(2));
    click(&mut panel, "Revert");
    assert_eq!(world(&panel).substeps, ClothSubsteps::PerStep(13));
    write(&folder, MY, "(environment: (wind: (gusts: 0.5)))");
    click(&mut panel, "Load");
    wait_for(&mut panel, "is loaded");
    panel.run_steps(2);
    assert_eq!(world(&panel).wind.gusts, 0.5);
    assert_eq!(world(&panel).substeps, ClothSubsteps::default());
}

#[test]
fn a_cloth_without_a_preset_reverts_to_the_defaults() {
    let (mut panel, _) = panel();
    change(&mut panel, |cloth| cloth.fabric = Fabric::denim());
    click(&mut panel, "Revert");
    assert_eq!(cloth(&mut panel), Cloth::default());
}

#[test]
fn rust_code_is_copied() {
    let (mut panel, _) = panel();
    change(&mut panel, |cloth| cloth.fabric.drag = 0.8);
    panel
        .get_by_role_and_label(Role::Button, "Copy as Rust")
        .click();
    let copied = until(|| {
        panel.step();
        let commands = &panel.output().platform_output.commands;
        commands.iter().find_map(|command| match command {
            OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        })
    });
    assert!(
        copied.starts_with("let cloth = Cloth {\n    fabric: Fabric {\n        drag: 0.8,"),
        "{copied}"
    );
    panel.run_steps(2);
    panel.get_by_label("copied");
}
