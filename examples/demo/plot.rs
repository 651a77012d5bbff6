//! Figures of the race of integrators: a table, the error over time, and the choice of the step.

use crate::{
    euler::{DURATION, STEPS},
    scenes::integrators::{Race, Runner, Track},
};
use bevy::prelude::*;
#[cfg(feature = "panel")]
use bevy_drape::panel::ClothPanel;
use bevy_egui::{EguiContext, EguiPrimaryContextPass, PrimaryEguiContext, egui};
use egui::{Align2, Color32, FontId, Pos2, Rect, Sense, Shape, Stroke};

pub(crate) fn plugin(app: &mut App) {
    app.add_systems(EguiPrimaryContextPass, show);
}

/// Shows the window during the race. It is hidden together with the panel.
fn show(
    mut contexts: Query<&mut EguiContext, With<PrimaryEguiContext>>,
    tracks: Query<(), With<Track>>,
    panel: Res<ClothPanel>,
    mut race: ResMut<Race>,
) {
    let Ok(mut context) = contexts.single_mut() else {
        return;
    };
    if tracks.is_empty() || !panel.visible {
        return;
    }
    let context = context.get_mut();
    let right = context.content_rect().right();
    egui::Window::new("Integrators")
        .default_pos([right - 905.0, 12.0])
        .resizable(false)
        .show(context, |in_window| ui(in_window, &mut race));
}

/// Draws the contents of the window.
pub(crate) fn ui(ui: &mut egui::Ui, race: &mut Race) {
    let mut chosen = None;
    ui.horizontal(|ui| {
        ui.label("step");
        for dt in STEPS {
            let button = ui.selectable_label(race.step() == dt, format!("{dt} s"));
            if button.clicked() && race.step() != dt {
                chosen = Some(dt);
            }
        }
    });
    if let Some(dt) = chosen {
        *race = Race::with_step(dt);
    }
    ui.separator();
    ui.horizontal_top(|ui| {
        ui.vertical(|ui| table(ui, race));
        plot(ui, race);
    });
}

fn colour(runner: Runner) -> Color32 {
    let [red, green, blue] = runner.colour();
    Color32::from_rgb(red, green, blue)
}

fn table(ui: &mut egui::Ui, race: &Race) {
    egui::Grid::new("positions")
        .num_columns(5)
        .spacing([14.0, 1.0])
        .striped(true)
        .show(ui, |ui| {
            ui.label("t, s");
            for runner in Runner::ALL {
                ui.colored_label(colour(runner), format!("{}, m", runner.name()));
            }
            ui.end_row();
            for second in 0..=DURATION as u32 {
                let t = f64::from(second);
                ui.monospace(format!("{second:2}"));
                for runner in Runner::ALL {
                    // Future positions are dimmed.
                    let text = egui::RichText::new(format!("{:8.3}", race.position(runner, t)));
                    ui.monospace(if t <= race.time() {
                        text.strong()
                    } else {
                        text.weak()
                    });
                }
                ui.end_row();
            }
        });
}

/// Plots the error over time, one line per method.
fn plot(ui: &mut egui::Ui, race: &Race) {
    let methods = &Runner::ALL[1..];
    let error = |runner, t| race.position(runner, t) - race.position(Runner::Exact, t);
    let largest = methods
        .iter()
        .map(|&runner| error(runner, DURATION).abs())
        .fold(0.0, f64::max);

    let size = egui::Vec2::new(400.0, 230.0);
    let (response, painter) = ui.allocate_painter(size, Sense::hover());
    // Margins for the labels to the left and below.
    let area = Rect::from_min_max(
        response.rect.left_top() + egui::Vec2::new(44.0, 8.0),
        response.rect.right_bottom() - egui::Vec2::new(10.0, 32.0),
    );
    painter.rect_filled(area, 3.0, ui.visuals().extreme_bg_color);
    let at = |t: f64, error: f64| {
        let up = (error / largest / 1.1) as f32;
        Pos2::new(
            area.left() + area.width() * (t / DURATION) as f32,
            area.center().y - up * area.height() / 2.0,
        )
    };
    let ink = ui.visuals().text_color();
    let grid = Stroke::new(1.0, ui.visuals().weak_text_color().gamma_multiply(0.4));
    let write = |position: Pos2, align: Align2, text: String| {
        painter.text(position, align, text, FontId::proportional(11.0), ink);
    };
    for value in [-largest, 0.0, largest] {
        painter.line_segment([at(0.0, value), at(DURATION, value)], grid);
        let position = at(0.0, value) - egui::Vec2::new(5.0, 0.0);
        // ±50, ±5, ±0.5: the significant digits.
        let digits = if largest < 1.0 { 1 } else { 0 };
        let text = if value == 0.0 {
            "0".into()
        } else {
            format!("{value:+.digits$}")
        };
        write(position, Align2::RIGHT_CENTER, text);
    }
    for t in [0.0, 2.0, 4.0, 6.0, 8.0, DURATION] {
        let position = Pos2::new(at(t, 0.0).x, area.bottom() + 2.0);
        write(position, Align2::CENTER_TOP, format!("{t}"));
    }
    let below = Pos2::new(area.center().x, response.rect.bottom());
    write(below, Align2::CENTER_BOTTOM, "time, s".into());
    let corner = area.left_top() + egui::Vec2::new(6.0, 4.0);
    write(corner, Align2::LEFT_TOP, "error, m".into());

    for (number, &runner) in methods.iter().enumerate() {
        // Points at the steps only: lines between them are straight.
        let steps = (DURATION / race.step()).round() as usize;
        let points = (0..=steps).map(|step| {
            let t = step as f64 * race.step();
            at(t, error(runner, t))
        });
        painter.add(Shape::line(
            points.collect(),
            Stroke::new(2.0, colour(runner)),
        ));
        // Legend in the corner that no line comes near.
        let position = corner + egui::Vec2::new(0.0, 16.0 + 14.0 * number as f32);
        let dash = [
            position + egui::Vec2::new(0.0, 7.0),
            position + egui::Vec2::new(14.0, 7.0),
        ];
        painter.line_segment(dash, Stroke::new(2.5, colour(runner)));
        write(
            position + egui::Vec2::new(18.0, 0.0),
            Align2::LEFT_TOP,
            runner.name().into(),
        );
    }
    let now = at(race.time(), 0.0).x;
    painter.vline(now, area.y_range(), Stroke::new(1.0, ink));
    response.on_hover_text("Deviation of each method from the exact position");
}
