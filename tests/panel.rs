//! The panel, driven by clicks, drags and keys, and their effect on the cloth.
#![cfg(feature = "panel")]

#[cfg(feature = "presets")]
#[path = "common/files.rs"]
mod files;
#[path = "common/headless.rs"]
mod headless;
#[cfg(feature = "presets")]
#[path = "panel/presets.rs"]
mod presets;

use bevy::prelude::*;
#[cfg(feature = "debug")]
use bevy_drape::debug::ClothGizmos;
#[cfg(feature = "panel")]
use bevy_drape::panel::ClothPanel;
use bevy_drape::{
    character::ClothInertia,
    cloth::{ClothConstraints, StretchSolver},
    diagnostics::ClothDiagnosticsPlugin,
    params,
    prelude::*,
    pressure::ClothPressure,
    solver,
    wind::{WindOcclusion, WindTurbulence},
};
use bevy_egui::egui::{self, Event, Modifiers, PointerButton, Pos2, accesskit::Role};
use egui_kittest::{Harness, kittest::Queryable};

use headless::headless_app;

type Panel = Harness<'static, App>;

/// Creates the panel over an app with one sheet that hangs by its upper corners. Every frame is one step.
fn panel() -> Panel {
    panel_over(headless_app(plugins()))
}

fn plugins() -> (ClothPlugin, ClothDiagnosticsPlugin) {
    default()
}

fn panel_over(mut app: App) -> Panel {
    app.init_resource::<ClothPanel>();
    #[cfg(feature = "debug")]
    app.init_resource::<ClothGizmos>();
    let mesh = Mesh::from(ClothGrid::vertical(1.0, 1.0, 10, 10));
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    app.world_mut()
        .spawn((Cloth::default(), Pins::top_corners(), Mesh3d(mesh)));
    app.update();
    let mut panel = Harness::builder()
        .with_size(egui::Vec2::new(360.0, 1700.0))
        .build_ui_state(
            |ui, app: &mut App| {
                app.update();
                bevy_drape::panel::ui(ui, app.world_mut());
            },
            app,
        );
    panel.run_steps(3);
    panel
}

fn cloth(panel: &mut Panel) -> Cloth {
    let world = panel.state_mut().world_mut();
    world.query::<&Cloth>().single(world).unwrap().clone()
}

fn lowest(panel: &mut Panel) -> Vec3 {
    let world = panel.state_mut().world_mut();
    let particles = world.query::<&ClothParticles>().single(world).unwrap();
    particles.world_position(95)
}

/// Presses the left button at one position, moves the pointer to another and releases the button.
fn drag(panel: &mut Panel, from: Pos2, to: Pos2) {
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    panel.event(Event::PointerMoved(from));
    panel.step();
    panel.event(button(from, true));
    panel.step();
    panel.event(Event::PointerMoved(from + (to - from) * 0.5));
    panel.step();
    panel.event(Event::PointerMoved(to));
    panel.step();
    panel.event(button(to, false));
    panel.step();
}

/// Drags the knob of a slider from one fraction of its length to another.
fn slide(panel: &mut Panel, name: &str, from: f32, to: f32) {
    let rect = panel.get_by_role_and_label(Role::Slider, name).rect();
    // The knob's centre keeps its radius from both ends.
    let at = |fraction: f32| rect.left_center() + egui::Vec2::new(rect.width() * fraction, 0.0);
    drag(panel, at(from), at(to));
}

/// Ticks the check box of a number that is absent, so that its slider appears.
fn tick<T>(panel: &mut Panel, param: &params::Param<T>) {
    let none = param.none_label().expect("a number that may be absent");
    let label = panel.get_by_role_and_label(Role::Label, param.name).rect();
    // Several numbers have the same word for their absence: the check box in the row of the label counts.
    let height = |rect: egui::Rect| (rect.center().y - label.center().y).abs();
    let in_row = panel
        .get_all_by_role_and_label(Role::CheckBox, none)
        .find(|check_box| height(check_box.rect()) < 1.0)
        .expect("a check box in the row of the label");
    in_row.click();
    panel.run_steps(2);
}

fn check_slider<T>(param: &params::Param<T>, read: impl Fn(&mut Panel) -> T) {
    let mut panel = panel();
    if param.get(&read(&mut panel)).is_none() {
        tick(&mut panel, param);
    }
    let number = |panel: &mut Panel| param.get(&read(panel)).expect("a number");
    let before = number(&mut panel);
    slide(&mut panel, param.name, 0.5, 0.98);
    let high = number(&mut panel);
    slide(&mut panel, param.name, 0.98, 0.03);
    let low = number(&mut panel);
    let (least, most) = (*param.range.start(), *param.range.end());
    // A value at the end of its range cannot get higher.
    assert!(
        high > before || before == most,
        "{}: {before}, dragged to {high}",
        param.field
    );
    assert!(
        low < high && low >= least && high <= most,
        "{}",
        param.field
    );
    panel.run_steps(20);
    assert!(lowest(&mut panel).is_finite());
}

#[test]
fn every_slider_changes_its_own_number() {
    for param in params::CLOTH {
        check_slider(param, cloth);
    }
    for param in params::FABRIC {
        check_slider(param, |panel| cloth(panel).fabric);
    }
    for param in params::SUBSTEPS {
        check_slider(param, |panel| {
            *panel.state().world().resource::<ClothSubsteps>()
        });
    }
    for param in &params::WIND[3..] {
        check_slider(param, |panel| *panel.state().world().resource::<Wind>());
    }
    for param in params::TURBULENCE {
        check_slider(param, |panel| {
            *panel.state().world().resource::<WindTurbulence>()
        });
    }
    for param in params::WIND_OCCLUSION {
        check_slider(param, |panel| {
            *panel.state().world().resource::<WindOcclusion>()
        });
    }
}

#[test]
fn self_collision_can_be_switched() {
    let mut panel = panel();
    for (label, mode) in [("on", SelfCollision::On), ("off", SelfCollision::Off)] {
        panel.get_by_role_and_label(Role::Button, label).click();
        panel.run_steps(2);
        assert_eq!(cloth(&mut panel).self_collision, mode);
    }
}

#[test]
fn a_click_restores_a_default() {
    let mut panel = panel();
    slide(&mut panel, "damping", 0.5, 0.98);
    assert!(cloth(&mut panel).damping > 10.0);
    panel.get_by_label("⟲").click();
    panel.run_steps(2);
    assert_eq!(cloth(&mut panel).damping, Cloth::default().damping);
}

#[test]
fn the_stretch_solver_can_be_chosen() {
    let mut panel = panel();
    // With one pass per step and no tethers, the stretch depends on the solver alone.
    let world = panel.state_mut().world_mut();
    world.insert_resource(ClothSubsteps::PerStep(1));
    for mut cloth in world.query::<&mut Cloth>().iter_mut(world) {
        cloth.tether_scale = None;
    }
    let mut choose = |label, solver| {
        // A second click changes nothing.
        for _ in 0..2 {
            panel.get_by_label(label).click();
            panel.run_steps(2);
            assert_eq!(cloth(&mut panel).stretch_solver, solver);
        }
        panel.run_steps(60);
        let world = panel.state_mut().world_mut();
        let mut cloths = world.query::<(&ClothParticles, &ClothConstraints)>();
        let (particles, constraints) = cloths.single(world).unwrap();
        solver::measure_stretch(particles, constraints).mean
    };
    let soft = choose("Gauss–Seidel", StretchSolver::GaussSeidel);
    let stiff = choose("direct", StretchSolver::Direct);
    assert!(stiff * 2.0 < soft, "{soft} by Gauss–Seidel, {stiff} direct");
}

#[test]
fn numbers_can_be_typed() {
    let mut panel = panel();
    let rect = panel.get_by_role_and_label(Role::Slider, "drag").rect();
    // The number stands to the right of the slider.
    let number = rect.right_center() + egui::Vec2::new(20.0, 0.0);
    drag(&mut panel, number, number);
    panel.step();
    panel.event(Event::Key {
        key: egui::Key::A,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::COMMAND,
    });
    panel.event(Event::Text("3.5".into()));
    panel.step();
    panel.key_press(egui::Key::Enter);
    panel.run_steps(2);
    assert_eq!(cloth(&mut panel).fabric.drag, 3.5);
}

#[test]
fn wind_speed_and_direction_can_be_set_and_move_the_cloth() {
    let mut panel = panel();
    let wind = |panel: &Panel| panel.state().world().resource::<Wind>().velocity;
    let before = lowest(&mut panel);
    // The direction can be set while the wind is 0.
    slide(&mut panel, "direction", 0.0, 0.25);
    assert_eq!(wind(&panel), Vec3::ZERO);
    slide(&mut panel, "wind", 0.0, 0.75);
    let blowing = wind(&panel);
    assert!(
        blowing.z > 3.0 && blowing.x.abs() < blowing.z * 0.2,
        "{blowing}"
    );
    panel.run_steps(40);
    let after = lowest(&mut panel);
    assert!(after.z > before.z + 0.1, "{before} went to {after}");
    slide(&mut panel, "elevation", 0.5, 0.9);
    let rising = wind(&panel);
    assert!(rising.y > 1.0);
    assert!((rising.length() / blowing.length() - 1.0).abs() < 0.01);
}

#[test]
fn gravity_can_be_dragged() {
    let mut panel = panel();
    let before = panel.state().world().resource::<ClothGravity>().0;
    let rect = panel
        .get_all_by_role(Role::SpinButton)
        .find(|node| node.rect().width() > 0.0 && node.value().is_some_and(|v| v.contains("-9.8")))
        .expect("gravity along y")
        .rect();
    let before_drag = lowest(&mut panel);
    drag(
        &mut panel,
        rect.center(),
        rect.center() + egui::Vec2::new(400.0, 0.0),
    );
    let after = panel.state().world().resource::<ClothGravity>().0;
    assert!(after.y > before.y + 5.0, "{before} became {after}");
    panel.run_steps(30);
    assert!(lowest(&mut panel).y > before_drag.y - 0.05);
}

#[test]
fn the_buttons_pause_step_run_and_reset() {
    let mut panel = panel();
    let start = Vec3::new(0.055_555_56, -0.5, 0.0);
    // Along z, normal to the sheet.
    slide(&mut panel, "direction", 0.0, 0.25);
    slide(&mut panel, "wind", 0.0, 0.75);
    panel.run_steps(30);
    panel.get_by_label("Pause").click();
    panel.run_steps(2);
    let paused = lowest(&mut panel);
    assert!(paused.distance(start) > 0.1);
    panel.run_steps(5);
    assert_eq!(lowest(&mut panel), paused);
    panel.get_by_label("Step").click();
    panel.run_steps(5);
    let stepped = lowest(&mut panel);
    assert!(stepped != paused && stepped.distance(paused) < 0.2);
    panel.get_by_label("Reset").click();
    panel.run_steps(3);
    assert!(lowest(&mut panel).distance(start) < 1e-5);
    panel.get_by_label("Run").click();
    panel.run_steps(30);
    assert!(lowest(&mut panel).distance(start) > 0.1);
}

#[test]
fn the_speed_slider_sets_slow_motion() {
    let mut panel = panel();
    slide(&mut panel, "speed", 1.0, 0.5);
    let speed = panel.state().world().resource::<ClothTime>().speed;
    assert!(speed > 0.02 && speed < 0.5, "{speed}");
}

#[test]
fn scenes_can_be_chosen_with_the_mouse() {
    let mut panel = panel();
    panel
        .state_mut()
        .world_mut()
        .resource_mut::<ClothPanel>()
        .scenes = vec!["drape".into(), "flag".into()];
    panel.run_steps(2);
    panel.get_by_role_and_label(Role::ComboBox, "scene").click();
    panel.run_steps(3);
    panel.get_by_label("flag").click();
    panel.run_steps(3);
    assert_eq!(panel.state().world().resource::<ClothPanel>().scene, 1);
}

#[test]
fn diagnostics_are_shown() {
    let mut panel = panel();
    panel.run_steps(10);
    // 10² particles and 6·10² − 10·10 + 2 constraints.
    panel.get_by_label("100");
    panel.get_by_label("502");
    panel.get_by_label_contains(" ms");
    panel.get_by_label("0.00 mm");
}

#[test]
#[cfg(feature = "debug")]
fn the_wireframe_can_be_switched_on() {
    let mut panel = panel();
    panel.get_by_label("wireframe").click();
    panel.run_steps(2);
    assert!(panel.state().world().resource::<ClothGizmos>().structural);
}

#[test]
fn pressure_can_be_tuned() {
    let mut panel = panel();
    assert!(panel.query_by_label("overpressure").is_none());
    let world = panel.state_mut().world_mut();
    let ball = Sphere::new(0.3).mesh().ico(4).unwrap();
    let ball = world.resource_mut::<Assets<Mesh>>().add(ball);
    let ball = world
        .spawn((Cloth::default(), ClothPressure::new(800.0), Mesh3d(ball)))
        .id();
    panel.run_steps(3);
    panel.get_by_role_and_label(Role::Slider, "overpressure");
    panel.get_by_label("⟲").click();
    panel.run_steps(3);
    let pressure = *panel.state().world().get::<ClothPressure>(ball).unwrap();
    assert_eq!(pressure, ClothPressure::default());
}

#[test]
fn inertia_can_be_tuned() {
    let mut panel = panel();
    assert!(panel.query_by_label("angular inertia").is_none());
    let world = panel.state_mut().world_mut();
    let cloth = world
        .query_filtered::<Entity, With<Cloth>>()
        .single(world)
        .unwrap();
    let inertia = ClothInertia {
        angular: 0.4,
        max_speed: Some(6.0),
        ..default()
    };
    world.entity_mut(cloth).insert(inertia.clone());
    panel.run_steps(3);
    panel.get_by_role_and_label(Role::Slider, "linear inertia");
    panel.get_by_role_and_label(Role::Slider, "angular inertia");
    panel.get_by_label("⟲").click();
    panel.run_steps(3);
    let now = panel.state().world().get::<ClothInertia>(cloth).unwrap();
    // Fields without a slider stay.
    let expected = ClothInertia {
        angular: 1.0,
        ..inertia
    };
    assert_eq!(*now, expected);
}

#[test]
fn a_preset_can_be_chosen_and_is_shown() {
    let mut panel = panel();
    panel
        .get_by_role_and_label(Role::ComboBox, "preset")
        .scroll_to_me();
    panel.run_steps(3);
    panel
        .get_by_role_and_label(Role::ComboBox, "preset")
        .click();
    panel.run_steps(3);
    panel.get_by_label("denim").click();
    panel.run_steps(3);
    let world = panel.state_mut().world_mut();
    let mut cloths = world.query::<&Cloth>();
    assert_eq!(cloths.single(world).unwrap().fabric, Fabric::denim());
    let shown = panel.get_by_role_and_label(Role::ComboBox, "preset");
    assert_eq!(shown.value().as_deref(), Some("denim"));
}

#[test]
fn only_the_chosen_cloth_is_tuned() {
    let mut panel = panel();
    let world = panel.state_mut().world_mut();
    let mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 4, 4));
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let cape = world
        .spawn((Cloth::default(), Mesh3d(mesh), Name::new("cape")))
        .id();
    panel.run_steps(3);
    panel.get_by_role_and_label(Role::ComboBox, "cloth").click();
    panel.run_steps(3);
    panel.get_by_label("cape").click();
    panel.run_steps(3);
    slide(&mut panel, "damping", 0.5, 0.98);
    let world = panel.state_mut().world_mut();
    let mut cloths = world.query::<(Entity, &Cloth)>();
    for (entity, cloth) in cloths.iter(world) {
        assert_eq!(cloth.damping > 10.0, entity == cape);
    }
}
