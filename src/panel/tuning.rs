//! Sliders for all tunable numbers, from the tables in [`params`].

use super::{
    numbers::{format_number, range_text, suffix},
    targets,
};
use crate::{
    cloth::{Cloth, SelfCollision, fabric::Fabric, settings::ClothGravity},
    params::{self, Param},
    solver::StretchSolver,
    wind::settings::Wind,
};
use bevy::{ecs::component::Mutable, prelude::*};
use bevy_egui::egui;

pub(super) fn ui(ui: &mut egui::Ui, world: &mut World) {
    section(ui, "World", |ui| {
        gravity(ui, world);
        wind(ui, world);
        resource(ui, world, params::SUBSTEPS);
    });
    let cloths = targets(world);
    // Shows the first cloth; edits apply to all.
    let Some(mut shown) = cloths.first().and_then(|&e| world.get::<Cloth>(e)).cloned() else {
        ui.label("There is no cloth yet.");
        return;
    };
    section(ui, "Cloth", |ui| {
        sliders(ui, world, &cloths, params::CLOTH, &mut shown, whole);
        if choice(ui, "stretch solver", STRETCH, &mut shown.stretch_solver) {
            edit(world, &cloths, |cloth: &mut Cloth| {
                cloth.stretch_solver = shown.stretch_solver
            });
        }
        if choice(ui, "self-collision", SELF, &mut shown.self_collision) {
            edit(world, &cloths, |cloth: &mut Cloth| {
                cloth.self_collision = shown.self_collision;
            });
        }
    });
    section(ui, "Fabric", |ui| {
        if preset(ui, &mut shown.fabric) {
            edit(world, &cloths, |cloth: &mut Cloth| {
                cloth.fabric = shown.fabric
            });
        }
        let fabric = &mut shown.fabric;
        sliders::<Cloth, _>(ui, world, &cloths, params::FABRIC, fabric, |cloth| {
            &mut cloth.fabric
        });
    });
    component_section(ui, world, &cloths, "Pressure", params::PRESSURE);
    component_section(ui, world, &cloths, "Inertia", params::INERTIA);
}

/// Shows the numbers of a component that only some cloths have, such as pressure or inertia.
fn component_section<T: Component<Mutability = Mutable> + Default + Clone>(
    ui: &mut egui::Ui,
    world: &mut World,
    cloths: &[Entity],
    title: &str,
    params: &[Param<T>],
) {
    let Some(mut shown) = cloths.iter().find_map(|&e| world.get::<T>(e)).cloned() else {
        return;
    };
    section(ui, title, |ui| {
        sliders(ui, world, cloths, params, &mut shown, whole);
    });
}

/// Shows the numbers of a part of a component. Edits apply to that `part` of all cloths.
fn sliders<C: Component<Mutability = Mutable>, T: Default>(
    ui: &mut egui::Ui,
    world: &mut World,
    cloths: &[Entity],
    params: &[Param<T>],
    shown: &mut T,
    part: fn(&mut C) -> &mut T,
) {
    for param in params {
        if slider(ui, param, shown) {
            edit(world, cloths, |own| param.set(part(own), param.get(shown)));
        }
    }
}

fn whole<T>(component: &mut T) -> &mut T {
    component
}

fn section(ui: &mut egui::Ui, title: &str, content: impl FnOnce(&mut egui::Ui)) {
    egui::CollapsingHeader::new(title)
        .default_open(true)
        .show(ui, content);
}

fn edit<C: Component<Mutability = Mutable>>(
    world: &mut World,
    cloths: &[Entity],
    change: impl Fn(&mut C),
) {
    for &entity in cloths {
        if let Some(mut own) = world.get_mut::<C>(entity) {
            change(&mut own);
        }
    }
}

/// Value of a choice, its label and its tooltip.
type Choice<T> = (T, &'static str, &'static str);

const STRETCH: [Choice<StretchSolver>; 2] = [
    (
        StretchSolver::Direct,
        "direct",
        "Solves whole chains of edges directly: the cloth hardly stretches. The default.",
    ),
    (
        StretchSolver::GaussSeidel,
        "Gauss–Seidel",
        "Solves one constraint after the other: the cloth stretches by an amount that depends on substeps and \
         iterations.",
    ),
];

const SELF: [Choice<SelfCollision>; 2] = [
    (
        SelfCollision::Off,
        "off",
        "The cloth passes through itself and other cloths. The default.",
    ),
    (
        SelfCollision::On,
        "on",
        "Keeps particles apart by the thickness, but at least once and at most 3 times their mean distance at \
         rest, and edges from passing through triangles. Cloths that both have this on collide.",
    ),
];

/// Shows a choice of a few. Returns whether the user changed it.
fn choice<T: Copy + PartialEq, const N: usize>(
    ui: &mut egui::Ui,
    name: &str,
    choices: [Choice<T>; N],
    value: &mut T,
) -> bool {
    let mut changed = false;
    ui.horizontal(|ui| {
        for (choice, label, tooltip) in choices {
            changed |= ui
                .selectable_value(value, choice, label)
                .on_hover_text(tooltip)
                .changed();
        }
        ui.label(name);
    });
    changed
}

/// Shows the list of presets. Returns whether the user chose one.
fn preset(ui: &mut egui::Ui, fabric: &mut Fabric) -> bool {
    let default = ("default", Fabric::default());
    let presets = || std::iter::once(&default).chain(Fabric::PRESETS);
    let own = presets().find(|(_, preset)| preset == fabric);
    let mut changed = false;
    egui::ComboBox::from_label("preset")
        .selected_text(own.map_or("custom", |(name, _)| name))
        .show_ui(ui, |ui| {
            for &(name, preset) in presets() {
                changed |= ui.selectable_value(fabric, preset, name).changed();
            }
        });
    changed
}

/// Shows one number, a check box before it if it may be absent, and behind it, unless it is the default, a button
/// that restores the default. Returns whether the user changed it.
fn slider<T: Default>(ui: &mut egui::Ui, param: &Param<T>, value: &mut T) -> bool {
    let before = param.get(value);
    let mut number = before;
    let tooltip = format!("{}\n{}", param.help, range_text(param));
    ui.horizontal(|ui| {
        if let Some(none) = param.none_label() {
            let mut present = number.is_some();
            let text = if present { "" } else { none };
            let tooltip = format!("{}: {none} if off", param.name);
            if ui
                .checkbox(&mut present, text)
                .on_hover_text(tooltip)
                .changed()
            {
                // The end of the range that comes nearest to an absent value in most cases.
                let begin = param.default_value().unwrap_or(*param.range.end());
                number = present.then_some(begin);
            }
        }
        match &mut number {
            Some(number) => {
                let mut slider = egui::Slider::new(number, param.range.clone())
                    .logarithmic(param.logarithmic)
                    // Bending stiffnesses are as small as 1e-6, and may be 0.
                    .smallest_positive(1e-6)
                    .suffix(suffix(param.unit));
                if param.integer {
                    slider = slider.integer();
                } else {
                    slider = slider.custom_formatter(|number, _| format_number(number));
                }
                ui.add(slider.text(param.name)).on_hover_text(&tooltip);
            }
            None => {
                ui.label(param.name).on_hover_text(&tooltip);
            }
        }
        let default = param.default_value();
        if number != default {
            let text = format!("{}: back to {}", param.name, param.describe(default));
            if ui.small_button("⟲").on_hover_text(text).clicked() {
                number = default;
            }
        }
    });
    let changed = number != before;
    if changed {
        param.set(value, param.clamp(number));
    }
    changed
}

/// Shows the numbers of a resource.
fn resource<T: Resource<Mutability = Mutable> + Default + Clone>(
    ui: &mut egui::Ui,
    world: &mut World,
    params: &[Param<T>],
) {
    for param in params {
        let mut value = world.resource::<T>().clone();
        if slider(ui, param, &mut value) {
            *world.resource_mut::<T>() = value;
        }
    }
}

fn gravity(ui: &mut egui::Ui, world: &mut World) {
    let mut gravity = *world.resource::<ClothGravity>();
    let mut changed = false;
    ui.horizontal(|ui| {
        for param in params::GRAVITY {
            let mut number = param.get(&gravity).unwrap_or_default();
            let field = egui::DragValue::new(&mut number)
                .speed(0.05)
                .range(param.range.clone())
                .fixed_decimals(2)
                .prefix(format!("{} ", param.name));
            let tooltip = format!(
                "{}\nDrag, or click and type. {}",
                param.help,
                range_text(param)
            );
            if ui.add(field).on_hover_text(tooltip).changed() {
                param.set(&mut gravity, param.clamp(Some(number)));
                changed = true;
            }
        }
        ui.label("gravity, m/s²");
    });
    if changed {
        *world.resource_mut::<ClothGravity>() = gravity;
    }
}

/// Last direction of the wind, degrees, kept while the wind speed is 0.
#[derive(Resource, Clone, Copy, Default)]
struct LastWindDirection {
    direction: f32,
    elevation: f32,
}

/// Shows the wind as speed and direction.
fn wind(ui: &mut egui::Ui, world: &mut World) {
    let velocity = world.resource::<Wind>().velocity;
    let LastWindDirection {
        mut direction,
        mut elevation,
    } = *world.get_resource_or_init::<LastWindDirection>();
    let mut speed = velocity.length();
    if speed > 0.0 {
        // A vertical wind has no direction; keep the last one.
        if velocity.xz().length() > speed * 1e-4 {
            direction = velocity.z.atan2(velocity.x).to_degrees().rem_euclid(360.0);
        }
        elevation = (velocity.y / speed).clamp(-1.0, 1.0).asin().to_degrees();
    }
    let max_speed = *params::WIND[0].range.end();
    let changed = [
        ui.add(
            egui::Slider::new(&mut speed, 0.0..=max_speed)
                .logarithmic(true)
                .smallest_positive(0.01)
                .custom_formatter(|number, _| format_number(number))
                .suffix(" m/s")
                .text("wind"),
        )
        .on_hover_text(format!(
            "{}\n0 to {max_speed} m/s, default 0",
            params::WIND[0].help
        )),
        ui.add(degrees(&mut direction, 0.0..=360.0, "direction"))
            .on_hover_text("Direction in which the wind blows: 0° is +x, 90° is +z."),
        ui.add(degrees(&mut elevation, -90.0..=90.0, "elevation"))
            .on_hover_text("Elevation of the wind: 90° straight up, 0° level, −90° down."),
    ]
    .iter()
    .any(egui::Response::changed);
    if changed {
        let (sin_d, cos_d) = direction.to_radians().sin_cos();
        let (sin_e, cos_e) = elevation.to_radians().sin_cos();
        let unit = Vec3::new(cos_e * cos_d, sin_e, cos_e * sin_d);
        world.resource_mut::<Wind>().velocity = unit * speed;
        world.insert_resource(LastWindDirection {
            direction,
            elevation,
        });
    }
    resource(ui, world, &params::WIND[3..]);
    resource(ui, world, params::TURBULENCE);
    resource(ui, world, params::WIND_OCCLUSION);
}

fn degrees<'a>(
    angle: &'a mut f32,
    range: std::ops::RangeInclusive<f32>,
    name: &str,
) -> egui::Slider<'a> {
    egui::Slider::new(angle, range)
        .fixed_decimals(0)
        .suffix("°")
        .text(name)
}
