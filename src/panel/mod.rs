//! Panel in egui that tunes running cloths and shows their cost and errors.
//!
//! Uses only public API: writes [`Cloth`](crate::cloth::Cloth), components beside it and resources, and triggers
//! [`ResetCloth`](crate::cloth::ResetCloth). Call [`ui`] in a window of your own, or let [`ClothPanelPlugin`] open one.
//!
//! | file | contents |
//! |---|---|
//! | `controls` | pause, step, reset, speed, scenes |
//! | `tuning` | a slider for each number of [`params`](crate::params) |
//! | `numbers` | texts of numbers, units and ranges |
//! | `presets` | files to save and load, and code to copy |
//! | `view` | wireframe and other gizmos |
//! | `figures` | numbers of particles and constraints, step time, errors, and their history |

use crate::{cloth::particles::ClothParticles, diagnostics::ClothDiagnosticsPlugin};
mod controls;
mod figures;
mod numbers;
#[cfg(feature = "presets")]
mod presets;
mod tuning;
#[cfg(feature = "debug")]
mod view;

use bevy::prelude::*;
use bevy_egui::{EguiContext, EguiPrimaryContextPass, PrimaryEguiContext, egui};

/// Plugin that shows the panel in a window of the primary egui context. Add `EguiPlugin` first. Adds
/// [`ClothDiagnosticsPlugin`] if it is missing.
#[derive(Default)]
pub struct ClothPanelPlugin;

/// State of the panel.
#[derive(Resource, Clone, Debug)]
pub struct ClothPanel {
    /// Whether the window is shown. Default `true`.
    pub visible: bool,
    /// Cloth to tune; all cloths if `None` (the default) or if the entity is no cloth any more.
    pub target: Option<Entity>,
    /// Names of the scenes to choose from; shown if there are at least two. Default none. The app reads the choice
    /// from [`scene`](Self::scene) and loads the scene.
    pub scenes: Vec<String>,
    /// Index of the chosen scene. Default 0.
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
    // The height of the app's window, less the title bar and margins.
    let height = context.content_rect().height() - 70.0;
    egui::Window::new("Cloth")
        .default_pos([12.0, 12.0])
        .default_size([290.0, height])
        .max_height(height)
        .vscroll(true)
        .show(&context, |in_window| ui(in_window, world));
}

/// Shows the panel in any egui `Ui`. Needs the resources of [`ClothPlugin`](crate::ClothPlugin) and
/// [`ClothPanel`].
pub fn ui(ui: &mut egui::Ui, world: &mut World) {
    ui.style_mut().spacing.slider_width = 110.0;
    part(ui, "choice", |ui| controls::selection(ui, world));
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

/// Shows a part with a fixed egui id, so that its widgets keep their identity while widgets above appear and
/// disappear.
fn part(ui: &mut egui::Ui, name: &str, content: impl FnOnce(&mut egui::Ui)) {
    let id = ui.id().with(name);
    ui.scope_builder(egui::UiBuilder::new().id(id), content);
}

/// Returns the cloths to tune, in a fixed order.
fn targets(world: &mut World) -> Vec<Entity> {
    let target = world.resource::<ClothPanel>().target;
    let mut cloths = world.query_filtered::<Entity, With<ClothParticles>>();
    let mut all: Vec<_> = cloths.iter(world).collect();
    all.sort_unstable();
    match target {
        Some(one) if all.contains(&one) => vec![one],
        _ => all,
    }
}
