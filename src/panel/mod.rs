//! The egui panel that tunes running cloths and shows what they cost.
//!
//! It edits only what a user could have written: [`Cloth`](crate::Cloth), the resources, and the
//! event [`ResetCloth`](crate::ResetCloth). Put [`ui`] into a window of your own, or let
//! [`ClothPanelPlugin`] show one.
//!
//! | file | what it draws |
//! |---|---|
//! | `controls` | pause, step, reset, speed, scenes |
//! | `tuning` | a slider for each number of [`params`](crate::params) |
//! | `presets` | files to save and load, and code to copy |
//! | `view` | wireframe and other gizmos |
//! | `figures` | particles, times, errors, and their history |

mod controls;
mod figures;
#[cfg(feature = "presets")]
mod presets;
mod tuning;
#[cfg(feature = "debug")]
mod view;

use crate::{components::Particles, diagnostics::ClothDiagnosticsPlugin};
use bevy::prelude::*;
use bevy_egui::{EguiContext, EguiPrimaryContextPass, PrimaryEguiContext, egui};

/// Shows the panel in a window of the primary egui context. Add `EguiPlugin` first. Brings
/// [`ClothDiagnosticsPlugin`] along, if it is not there yet.
#[derive(Default)]
pub struct ClothPanelPlugin;

/// What the panel shows.
#[derive(Resource, Clone, Debug)]
pub struct ClothPanel {
    /// Whether there is a panel at all.
    pub visible: bool,
    /// The cloth that it tunes; all of them if `None` or if that one is gone.
    pub target: Option<Entity>,
    /// Scenes to choose from, if there are several. What is chosen is in
    /// [`scene`](Self::scene); loading it is the app's part.
    pub scenes: Vec<String>,
    /// Index of the chosen scene.
    pub scene: usize,
}

impl Default for ClothPanel {
    fn default() -> Self {
        Self {
            visible: true,
            target: None,
            scenes: Vec::new(),
            scene: 0,
        }
    }
}

impl Plugin for ClothPanelPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ClothPanel>()
            .add_systems(EguiPrimaryContextPass, show);
        if !app.is_plugin_added::<ClothDiagnosticsPlugin>() {
            app.add_plugins(ClothDiagnosticsPlugin::default());
        }
    }
}

fn show(world: &mut World, contexts: &mut QueryState<&mut EguiContext, With<PrimaryEguiContext>>) {
    if !world.resource::<ClothPanel>().visible {
        return;
    }
    let Ok(mut context) = contexts.single_mut(world) else {
        return;
    };
    let context = context.get_mut().clone();
    // As tall as the window of the app lets it be, with its own title bar and some air.
    let height = context.content_rect().height() - 70.0;
    egui::Window::new("Cloth")
        .default_pos([12.0, 12.0])
        .default_size([290.0, height])
        .max_height(height)
        .vscroll(true)
        .show(&context, |in_window| ui(in_window, world));
}

/// Draws the panel into any part of an egui interface. Needs the resources of
/// [`ClothPlugin`](crate::ClothPlugin) and [`ClothPanel`].
pub fn ui(ui: &mut egui::Ui, world: &mut World) {
    ui.style_mut().spacing.slider_width = 110.0;
    part(ui, "choice", |ui| controls::choose(ui, world));
    part(ui, "time", |ui| controls::time(ui, world));
    ui.separator();
    part(ui, "figures", |ui| figures::ui(ui, world));
    ui.separator();
    part(ui, "tuning", |ui| tuning::ui(ui, world));
    #[cfg(feature = "presets")]
    part(ui, "presets", |ui| presets::ui(ui, world));
    #[cfg(feature = "debug")]
    part(ui, "view", |ui| view::ui(ui, world));
}

/// A part whose widgets stay the same ones for egui while what is above them comes and goes.
fn part(ui: &mut egui::Ui, name: &str, content: impl FnOnce(&mut egui::Ui)) {
    let id = ui.id().with(name);
    ui.scope_builder(egui::UiBuilder::new().id(id), content);
}

/// All cloths that the panel works on, in a fixed order.
fn targets(world: &mut World) -> Vec<Entity> {
    let target = world.resource::<ClothPanel>().target;
    let mut cloths = world.query_filtered::<Entity, With<Particles>>();
    let mut all: Vec<_> = cloths.iter(world).collect();
    all.sort_unstable();
    match target {
        Some(one) if all.contains(&one) => vec![one],
        _ => all,
    }
}
