//! Measured figures and their history, from Bevy's diagnostics.

use crate::diagnostics::ClothDiagnosticsPlugin as Paths;
use bevy::{
    diagnostic::{Diagnostic, DiagnosticsStore},
    prelude::*,
};
use bevy_egui::egui::{self, Color32, Pos2, Sense, Shape, Stroke, Vec2 as Size};

const TIME_COLOUR: Color32 = Color32::from_rgb(110, 190, 255);
const STRETCH_COLOUR: Color32 = Color32::from_rgb(255, 170, 90);

/// Shows the figures as a table, and plots of step time and stretch.
pub(super) fn ui(ui: &mut egui::Ui, world: &mut World) {
    let Some(diagnostics) = world.get_resource::<DiagnosticsStore>() else {
        return;
    };
    egui::Grid::new("cloth figures")
        .num_columns(2)
        .spacing([12.0, 2.0])
        .show(ui, |ui| {
            for (name, tooltip, value) in figures(diagnostics) {
                ui.label(name).on_hover_text(tooltip);
                ui.monospace(value.unwrap_or_else(|| "–".into()))
                    .on_hover_text(tooltip);
                ui.end_row();
            }
        });
    for (path, name, unit, colour) in [
        (&Paths::STEP_TIME, "step time", "ms", TIME_COLOUR),
        (&Paths::WORST_STRETCH, "stretch", "%", STRETCH_COLOUR),
    ] {
        if let Some(diagnostic) = diagnostics.get(path) {
            let values: Vec<f64> = diagnostic.values().copied().collect();
            plot(ui, &values, name, unit, colour);
        }
    }
}

/// Returns name, tooltip and value of each figure.
fn figures(diagnostics: &DiagnosticsStore) -> [(&str, &str, Option<String>); 6] {
    let latest = |path| diagnostics.get(path).and_then(Diagnostic::value);
    let count = |path| latest(path).map(|v| format!("{v:.0}"));
    let step_time = diagnostics.get(&Paths::STEP_TIME);
    let step_time = step_time.and_then(Diagnostic::average);
    [
        (
            "particles",
            "Number of particles in all cloths",
            count(&Paths::PARTICLES),
        ),
        (
            "constraints",
            "Number of constraints in all cloths",
            count(&Paths::CONSTRAINTS),
        ),
        (
            "asleep",
            "Number of sleeping cloths, which have come to rest and cost nothing until they are woken",
            count(&Paths::SLEEPING),
        ),
        (
            "step time",
            "Time of one fixed step of all cloths, mean over the last two seconds",
            step_time.map(|v| format!("{v:.2} ms")),
        ),
        (
            "worst stretch",
            "Largest strain of an edge: length over rest length, minus 1",
            latest(&Paths::WORST_STRETCH).map(|v| format!("{v:.2} %")),
        ),
        (
            "deepest penetration",
            "Largest depth of a particle inside a collider",
            latest(&Paths::DEEPEST_PENETRATION).map(|v| format!("{v:.2} mm")),
        ),
    ]
}

/// Plots the last values as a line, scaled from 0 to their maximum.
fn plot(ui: &mut egui::Ui, values: &[f64], name: &str, unit: &str, colour: Color32) {
    let size = Size::new(ui.available_width().min(280.0), 36.0);
    let (response, painter) = ui.allocate_painter(size, Sense::hover());
    let area = response.rect;
    painter.rect_filled(area, 3.0, ui.visuals().extreme_bg_color);
    let largest = values.iter().copied().fold(0.0, f64::max);
    if values.len() > 1 && largest > 0.0 {
        let points = values
            .iter()
            .enumerate()
            .map(|(i, value)| {
                let x = i as f32 / (values.len() - 1) as f32;
                let y = (*value / largest).clamp(0.0, 1.0) as f32;
                Pos2::new(
                    area.left() + x * area.width(),
                    area.bottom() - 1.0 - y * (area.height() - 3.0),
                )
            })
            .collect();
        painter.add(Shape::line(points, Stroke::new(1.5, colour)));
    }
    painter.text(
        area.left_top() + Size::new(4.0, 2.0),
        egui::Align2::LEFT_TOP,
        format!("{name}, up to {largest:.2} {unit}"),
        egui::FontId::proportional(10.0),
        ui.visuals().weak_text_color(),
    );
    response.on_hover_text(format!("{name} over the last steps"));
}
