//! Panel controls of time, and choice of scene and cloth.

use super::{ClothPanel, targets};
use crate::{
    cloth::{ResetCloth, particles::ClothParticles},
    time::ClothTime,
};
use bevy::prelude::*;
use bevy_egui::egui;

/// Shows the choice of the scene to show and of the cloth to tune.
pub(super) fn selection(ui: &mut egui::Ui, world: &mut World) {
    scenes(ui, world);
    cloths(ui, world);
}

/// Shows pause, step, reset and speed.
pub(super) fn time(ui: &mut egui::Ui, world: &mut World) {
    ui.horizontal(|ui| {
        let mut time = world.resource_mut::<ClothTime>();
        let (label, tooltip) = if time.paused {
            ("Run", "Resume time (space)")
        } else {
            ("Pause", "Pause time (space)")
        };
        if ui.button(label).on_hover_text(tooltip).clicked() {
            time.paused = !time.paused;
        }
        let step = ui
            .button("Step")
            .on_hover_text("Pause and take one fixed step (.)");
        if step.clicked() {
            time.paused = true;
            time.request_step();
        }
        let reset = ui
            .button("Reset")
            .on_hover_text("Return the cloth to its rest shape, without velocity (R)");
        if reset.clicked() {
            for entity in targets(world) {
                world.trigger(ResetCloth { entity });
            }
        }
    });
    let mut time = world.resource_mut::<ClothTime>();
    let mut speed = time.speed;
    let slider = egui::Slider::new(&mut speed, 0.01..=1.0)
        .logarithmic(true)
        .suffix(" ×")
        .text("speed");
    let response = ui.add(slider).on_hover_text(
        "Simulation speed, × real time. Slow motion shows the same motion, only slower.",
    );
    if response.changed() {
        time.speed = speed;
    }
}

fn scenes(ui: &mut egui::Ui, world: &mut World) {
    let mut panel = world.resource_mut::<ClothPanel>();
    if panel.scenes.len() < 2 {
        return;
    }
    let mut chosen = panel.scene.min(panel.scenes.len() - 1);
    egui::ComboBox::from_label("scene")
        .selected_text(&panel.scenes[chosen])
        .show_ui(ui, |ui| {
            for (i, name) in panel.scenes.iter().enumerate() {
                ui.selectable_value(&mut chosen, i, name);
            }
        })
        .response
        .on_hover_text("Scene to show");
    if panel.scene != chosen {
        panel.scene = chosen;
    }
}

/// Shows the choice of the cloth to tune, if there are several.
fn cloths(ui: &mut egui::Ui, world: &mut World) {
    let mut named = world.query_filtered::<(Entity, Option<&Name>), With<ClothParticles>>();
    let mut names: Vec<(Entity, String)> = named
        .iter(world)
        .map(|(entity, name)| {
            let name = name.map_or_else(|| format!("cloth {entity}"), ToString::to_string);
            (entity, name)
        })
        .collect();
    if names.len() < 2 {
        return;
    }
    names.sort_unstable();
    let mut panel = world.resource_mut::<ClothPanel>();
    let mut target = panel.target;
    let name_of = |target: Option<Entity>| {
        names
            .iter()
            .find(|(entity, _)| Some(*entity) == target)
            .map_or("all", |(_, name)| name)
    };
    egui::ComboBox::from_label("cloth")
        .selected_text(name_of(target))
        .show_ui(ui, |ui| {
            ui.selectable_value(&mut target, None, "all");
            for (entity, name) in &names {
                ui.selectable_value(&mut target, Some(*entity), name);
            }
        })
        .response
        .on_hover_text("Cloth to tune and reset");
    if panel.target != target {
        panel.target = target;
    }
}
