//! A slider for each number that can be tuned, from the one table of them.

use super::targets;
use crate::{
    cloth::{Cloth, SelfCollision},
    fabric::Fabric,
    params::{self, Param},
    settings::{ClothGravity, Wind},
    solver::ThreadSolver,
};
use bevy::{ecs::component::Mutable, prelude::*};
use bevy_egui::egui;

pub(super) fn ui(ui: &mut egui::Ui, world: &mut World) {
    section(ui, "World", |ui| {
        gravity(ui, world);
        wind(ui, world);
        for param in params::SUBSTEPS {
            resource(ui, world, param);
        }
    });
    let cloths = targets(world);
    // What is shown is the first cloth; what is changed is changed in all.
    let Some(mut shown) = cloths.first().and_then(|&e| world.get::<Cloth>(e)).cloned() else {
        ui.label("There is no cloth yet.");
        return;
    };
    section(ui, "Cloth", |ui| {
        for param in params::CLOTH {
            if slider(ui, param, &mut shown) {
                edit(world, &cloths, |cloth| {
                    (param.set)(cloth, (param.get)(&shown));
                });
            }
        }
        if choice(ui, "threads", THREADS, &mut shown.threads) {
            edit(world, &cloths, |cloth| cloth.threads = shown.threads);
        }
        if choice(ui, "self-collision", SELF, &mut shown.self_collision) {
            edit(world, &cloths, |cloth| {
                cloth.self_collision = shown.self_collision;
            });
        }
    });
    section(ui, "Fabric", |ui| {
        if preset(ui, &mut shown.fabric) {
            edit(world, &cloths, |cloth| cloth.fabric = shown.fabric);
        }
        for param in params::FABRIC {
            if slider(ui, param, &mut shown.fabric) {
                edit(world, &cloths, |cloth| {
                    (param.set)(&mut cloth.fabric, (param.get)(&shown.fabric));
                });
            }
        }
    });
    beside(ui, world, &cloths, "Pressure", params::PRESSURE);
    beside(ui, world, &cloths, "Motion", params::WORLD_MOTION);
}

/// The numbers of what only some cloths have: those that hold air, or are carried.
fn beside<T: Component<Mutability = Mutable> + Default + Clone>(
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
        for param in params {
            if slider(ui, param, &mut shown) {
                for &entity in cloths {
                    if let Some(mut own) = world.get_mut::<T>(entity) {
                        (param.set)(&mut own, (param.get)(&shown));
                    }
                }
            }
        }
    });
}

fn section(ui: &mut egui::Ui, title: &str, content: impl FnOnce(&mut egui::Ui)) {
    egui::CollapsingHeader::new(title)
        .default_open(true)
        .show(ui, content);
}

fn edit(world: &mut World, cloths: &[Entity], change: impl Fn(&mut Cloth)) {
    for &entity in cloths {
        if let Some(mut cloth) = world.get_mut::<Cloth>(entity) {
            change(&mut cloth);
        }
    }
}

/// A value that can be chosen, what it is called and what it does.
type Choice<T> = (T, &'static str, &'static str);

const THREADS: [Choice<ThreadSolver>; 2] = [
    (
        ThreadSolver::Direct,
        "direct",
        "Each thread of a grid as a whole: the cloth hardly stretches. The default.",
    ),
    (
        ThreadSolver::Relaxation,
        "relaxation",
        "Constraint by constraint: how far the cloth stretches depends on substeps and iterations.",
    ),
];

const SELF: [Choice<SelfCollision>; 3] = [
    (
        SelfCollision::Off,
        "off",
        "The cloth passes through itself and other cloths. The default.",
    ),
    (
        SelfCollision::Particles,
        "particles",
        "Its particles keep the thickness from each other, but at least once and at most 3 times their \
         mean distance at rest. Cloths that both do so collide.",
    ),
    (
        SelfCollision::ParticlesAndEdges,
        "edges too",
        "The same, and edges that have gone through triangles all the same are brought back: for cloth \
         that is wrung, or that starts as a tangle, alone or with other cloth.",
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
        .selected_text(own.map_or("of your own", |(name, _)| name))
        .show_ui(ui, |ui| {
            for &(name, preset) in presets() {
                changed |= ui.selectable_value(fabric, preset, name).changed();
            }
        });
    changed
}

/// Shows one number, and behind it, if it is not the default, a button that brings that back.
/// Returns whether the user changed it.
fn slider<T: Default>(ui: &mut egui::Ui, param: &Param<T>, value: &mut T) -> bool {
    let mut number = (param.get)(value);
    let tooltip = format!("{}\n{}", param.help, limits(param));
    let mut changed = false;
    ui.horizontal(|ui| {
        let mut slider = egui::Slider::new(&mut number, param.range.clone())
            .logarithmic(param.logarithmic)
            // Bending stiffnesses go down to a millionth and on to 0.
            .smallest_positive(1e-6)
            .suffix(suffix(param.unit));
        if param.integer {
            slider = slider.integer();
        } else {
            slider = slider.custom_formatter(|number, _| short(number));
        }
        changed = ui
            .add(slider.text(param.name))
            .on_hover_text(&tooltip)
            .changed();
        let default = param.default_value();
        if number != default {
            let back = ui
                .small_button("⟲")
                .on_hover_text(format!("{}: back to {default}", param.name));
            if back.clicked() {
                number = default;
                changed = true;
            }
        }
    });
    if changed {
        (param.set)(value, param.clamp(number));
    }
    changed
}

fn suffix(unit: &str) -> String {
    if unit.is_empty() {
        String::new()
    } else {
        format!(" {unit}")
    }
}

fn limits<T: Default>(param: &Param<T>) -> String {
    let (low, high) = (param.range.start(), param.range.end());
    let unit = suffix(param.unit);
    format!("{low} to {high}{unit}, default {}", param.default_value())
}

/// Three digits that count, without zeros that do not.
fn short(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let digits = 2 - number.abs().log10().floor() as i32;
    if digits > 8 {
        return format!("{number:.1e}");
    }
    let text = format!("{number:.*}", digits.max(0) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

fn resource<T: Resource<Mutability = Mutable> + Default + Clone>(
    ui: &mut egui::Ui,
    world: &mut World,
    param: &Param<T>,
) {
    let mut value = world.resource::<T>().clone();
    if slider(ui, param, &mut value) {
        *world.resource_mut::<T>() = value;
    }
}

fn gravity(ui: &mut egui::Ui, world: &mut World) {
    let mut gravity = *world.resource::<ClothGravity>();
    let mut changed = false;
    ui.horizontal(|ui| {
        for param in params::GRAVITY {
            let mut number = (param.get)(&gravity);
            let field = egui::DragValue::new(&mut number)
                .speed(0.05)
                .range(param.range.clone())
                .fixed_decimals(2)
                .prefix(format!("{} ", param.name));
            let tooltip = format!("{}\nDrag, or click and type. {}", param.help, limits(param));
            if ui.add(field).on_hover_text(tooltip).changed() {
                (param.set)(&mut gravity, param.clamp(number));
                changed = true;
            }
        }
        ui.label("gravity, m/s²");
    });
    if changed {
        *world.resource_mut::<ClothGravity>() = gravity;
    }
}

/// Where the wind blew to, in degrees: while there is none, its direction is not lost.
#[derive(Resource, Clone, Copy, Default)]
struct WindMemory {
    direction: f32,
    elevation: f32,
}

/// The wind as strength and direction, which is how people think of it.
fn wind(ui: &mut egui::Ui, world: &mut World) {
    let velocity = world.resource::<Wind>().velocity;
    let WindMemory {
        mut direction,
        mut elevation,
    } = *world.get_resource_or_init::<WindMemory>();
    let mut strength = velocity.length();
    if strength > 0.0 {
        // Straight up and down there is no direction; the last one stays.
        if velocity.xz().length() > strength * 1e-4 {
            direction = velocity.z.atan2(velocity.x).to_degrees().rem_euclid(360.0);
        }
        elevation = (velocity.y / strength).clamp(-1.0, 1.0).asin().to_degrees();
    }
    let most = *params::WIND[0].range.end();
    let changed = [
        ui.add(
            egui::Slider::new(&mut strength, 0.0..=most)
                .logarithmic(true)
                .smallest_positive(0.01)
                .custom_formatter(|number, _| short(number))
                .suffix(" m/s")
                .text("wind"),
        )
        .on_hover_text(format!(
            "{}\n0 to {most} m/s, default 0",
            params::WIND[0].help
        )),
        ui.add(
            egui::Slider::new(&mut direction, 0.0..=360.0)
                .fixed_decimals(0)
                .suffix("°")
                .text("direction"),
        )
        .on_hover_text("Where the wind blows to: 0° is +x, 90° is +z."),
        ui.add(
            egui::Slider::new(&mut elevation, -90.0..=90.0)
                .fixed_decimals(0)
                .suffix("°")
                .text("elevation"),
        )
        .on_hover_text("How steeply the wind blows: 90° straight up, 0° level, −90° down."),
    ]
    .iter()
    .any(egui::Response::changed);
    if changed {
        let (sin_d, cos_d) = direction.to_radians().sin_cos();
        let (sin_e, cos_e) = elevation.to_radians().sin_cos();
        let way = Vec3::new(cos_e * cos_d, sin_e, cos_e * sin_d);
        world.resource_mut::<Wind>().velocity = way * strength;
        world.insert_resource(WindMemory {
            direction,
            elevation,
        });
    }
    for param in &params::WIND[3..] {
        resource(ui, world, param);
    }
    for param in params::TURBULENCE {
        resource(ui, world, param);
    }
    for param in params::WIND_OCCLUSION {
        resource(ui, world, param);
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (0.2, "0.2"),
            (1.0, "1"),
            (0.000_012_3, "0.0000123"),
            (12.345, "12.3"),
            (1000.0, "1000"),
            (-9.81, "-9.81"),
        ];
        for (number, text) in cases {
            assert_eq!(short(number), text);
        }
    }
}
