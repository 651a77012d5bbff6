//! Tests that the demo's scenes show what they claim, without rendering.

use crate::{
    headless::headless_app,
    scenes::{self, Scene, sticks::Bracing},
    stage,
};
use bevy::prelude::*;
#[cfg(feature = "picking")]
use bevy_drape::picking::ClothTools;
use bevy_drape::{cloth::ClothConstraints, prelude::*, solver};

/// Creates an app with a scene, without window and renderer. Each update is a step of 1/60 s.
fn load(name: &str) -> App {
    let scene: &'static Scene = scenes::SCENES
        .iter()
        .find(|scene| scene.name == name)
        .expect("there is such a scene");
    let mut app = headless_app((ClothPlugin::default(), scenes::plugin));
    let world = (scene.world)();
    app.init_asset::<Image>()
        .init_asset::<StandardMaterial>()
        .insert_resource(world.wind)
        .insert_resource(world.turbulence)
        .insert_resource(world.gravity)
        .insert_resource(world.substeps)
        .add_systems(Startup, stage::set_up)
        .add_systems(
            PostStartup,
            |mut commands: Commands,
             mut meshes: ResMut<Assets<Mesh>>,
             mut materials: ResMut<Assets<StandardMaterial>>,
             props: Res<stage::Props>,
             chosen: Res<Chosen>| {
                (chosen.0.spawn)(&mut scenes::Set {
                    commands: &mut commands,
                    meshes: &mut meshes,
                    materials: &mut materials,
                    props: &props,
                });
            },
        )
        .insert_resource(Chosen(scene));
    app
}

#[derive(Resource)]
struct Chosen(&'static Scene);

fn run(app: &mut App, updates: u32) {
    (0..updates).for_each(|_| app.update());
}

/// Returns the mean stretch of the scene's only cloth over two seconds, after one second to settle.
fn mean_stretch(name: &str, iterations: u32) -> f32 {
    let mut app = load(name);
    app.update();
    let world = app.world_mut();
    for mut cloth in world.query::<&mut Cloth>().iter_mut(world) {
        cloth.iterations = iterations;
    }
    run(&mut app, 60);
    let mut sum = 0.0;
    for _ in 0..120 {
        app.update();
        let world = app.world_mut();
        let mut cloths = world.query::<(&ClothParticles, &ClothConstraints)>();
        let (particles, constraints) = cloths.single(world).unwrap();
        sum += solver::measure_stretch(particles, constraints).mean;
    }
    sum / 120.0
}

#[test]
fn iterations_stiffen_the_flag() {
    let [soft, stiff] = [1, 20].map(|iterations| mean_stretch("flag", iterations));
    eprintln!("the flag is stretched by {soft} on average, after 20 iterations by {stiff}");
    assert!(
        stiff * 3.0 < soft,
        "{soft} with 1 iteration, {stiff} with 20"
    );
}

#[test]
fn the_ball_swings_into_the_hanging_cloth() {
    let mut app = load("hanging");
    let mut farthest = 0.0_f32;
    for _ in 0..360 {
        app.update();
        let world = app.world_mut();
        let particles = world.query::<&ClothParticles>().single(world).unwrap();
        assert_eq!(particles.len(), 400);
        let z = particles.position.z.iter();
        farthest = z.fold(farthest, |far, z| far.max(-z));
    }
    assert!(farthest > 0.3, "pushed by {farthest} m");
    let world = app.world_mut();
    let constraints = world.query::<&ClothConstraints>().single(world).unwrap();
    // 6N² − 10N + 2
    assert_eq!(constraints.len(), 2202);
}

#[test]
fn the_curtain_sags_as_a_single_pass_predicts_and_stays_in_its_box() {
    let mut app = load("curtain");
    run(&mut app, 900);
    let world = app.world_mut();
    let mut cloths = world.query::<(&ClothParticles, &ClothConstraints)>();
    let (particles, constraints) = cloths.single(world).unwrap();
    assert_eq!(particles.len(), 121 * 33);
    // Sticks along rows and columns, nothing else.
    assert_eq!(constraints.len(), 120 * 33 + 121 * 32);
    let pinned: Vec<usize> = (0..particles.len())
        .filter(|&i| particles.is_pinned(i))
        .collect();
    assert_eq!(pinned, (0..121).step_by(2).collect::<Vec<_>>());
    for i in 0..particles.len() {
        let position = particles.world_position(i);
        assert!(
            position.x.abs() < 6.4 + 1e-4 && position.y > -1e-4,
            "{position}"
        );
        assert_eq!(position.z, 0.0);
    }
    // With a single pass per step a chain of N links sags by g·Δt²·N²/2: here 1.40 m. And slightly more,
    // since its uppermost links also carry the unpinned chain beside it.
    let links = 32.0_f32;
    let expected = 9.81 / 3600.0 * links * links / 2.0;
    let middle = 60;
    let [top, bottom] = [0, 32].map(|row| particles.world_position(row * 121 + middle).y);
    let elongation = (top - bottom) - 3.2;
    assert!(
        (1.0..1.25).contains(&(elongation / expected)),
        "{elongation} m longer, expected {expected} m and slightly more"
    );
}

#[test]
fn the_ropes_hang_swing_and_lie() {
    let mut app = load("rope");
    run(&mut app, 600);
    let world = app.world_mut();
    let mut ropes = world.query::<(&Name, &ClothParticles)>();
    for (name, particles) in ropes.iter(world) {
        let low = particles.position.iter().map(|p| p.y + particles.origin.y);
        let low = low.fold(f32::INFINITY, f32::min);
        match name.as_str() {
            // 2 m of rope hang between posts 1.2 m apart: sag/L of a catenary at D/L = 0.6 is 0.36278.
            "catenary" => {
                let sag = (1.5 - low) / 2.0;
                assert!((sag / 0.36278 - 1.0).abs() < 0.02, "sag/L is {sag}");
            }
            "swinging rope" => assert!((low - 0.75).abs() < 0.15, "lowest point at {low}"),
            _ => assert!(low > 0.0 && low < 0.3, "{name} ends at {low}"),
        }
    }
}

/// Returns the corners of a quad of the scene `sticks`.
fn corners(app: &mut App, wanted: Bracing) -> [Vec3; 4] {
    let world = app.world_mut();
    let mut quads = world.query::<(&Bracing, &ClothParticles)>();
    let (_, particles) = quads
        .iter(world)
        .find(|(held, _)| **held == wanted)
        .expect("it is there");
    [0, 1, 2, 3].map(|i| particles.world_position(i))
}

const SIDES: [[usize; 2]; 4] = [[0, 1], [1, 3], [3, 2], [2, 0]];
const DIAGONALS: [[usize; 2]; 2] = [[0, 3], [1, 2]];

/// Returns the largest relative error of these lengths.
fn largest_error(corners: [Vec3; 4], pairs: &[[usize; 2]], length: f32) -> f32 {
    let error = |&[a, b]: &[usize; 2]| (corners[a].distance(corners[b]) / length - 1.0).abs();
    pairs.iter().map(error).fold(0.0, f32::max)
}

#[test]
fn only_the_braced_box_keeps_its_shape() {
    let mut app = load("sticks");
    run(&mut app, 2);
    let [a, b, ..] = corners(&mut app, Bracing::Braced);
    let side = a.distance(b);
    let diagonal = side * std::f32::consts::SQRT_2;
    run(&mut app, 400);

    let braced = corners(&mut app, Bracing::Braced);
    assert!(largest_error(braced, &SIDES, side) < 0.01, "{braced:?}");
    assert!(
        largest_error(braced, &DIAGONALS, diagonal) < 0.01,
        "{braced:?}"
    );

    let unbraced = corners(&mut app, Bracing::Box);
    assert!(largest_error(unbraced, &SIDES, side) < 0.01, "{unbraced:?}");
    assert!(
        largest_error(unbraced, &DIAGONALS, diagonal) > 0.1,
        "{unbraced:?}"
    );

    let loose = corners(&mut app, Bracing::Loose);
    assert!(largest_error(loose, &SIDES, side) > 0.1, "{loose:?}");

    for (held, compartment) in [
        (Bracing::Loose, -1.0),
        (Bracing::Box, 0.0),
        (Bracing::Braced, 1.0),
    ] {
        for corner in corners(&mut app, held) {
            let offset = corner.x - compartment * 1.16;
            assert!(
                offset.abs() < 0.56,
                "{held:?} has left its compartment: {corner}"
            );
            assert!(corner.y > 0.035 && corner.y < 1.5, "{held:?}: {corner}");
            assert!(corner.z.abs() < 1e-6, "{held:?} is not flat: {corner}");
        }
    }
}

#[test]
fn the_race_ends_at_the_positions_of_the_table() {
    use crate::{
        euler::Method,
        scenes::integrators::{Race, Runner},
    };
    let mut app = load("integrators");
    // Nothing moves in the first frame; the finish is at 10 s, with a short rest after it.
    run(&mut app, 640);
    let world = app.world_mut();
    let mut runners = world.query::<(&Runner, &Transform)>();
    for (&runner, transform) in runners.iter(world) {
        let metres = match runner {
            Runner::Exact | Runner::By(Method::Verlet) => 500.0,
            Runner::By(Method::Explicit) => 450.0,
            Runner::By(Method::SemiImplicit) => 550.0,
        };
        let x = -1.2 + metres * 2.4 / 500.0;
        let error = (transform.translation.x - x).abs();
        assert!(error < 1e-4, "{runner:?}: {}", transform.translation);
    }
    // The race stops during a pause and continues after it.
    let time = |app: &App| app.world().resource::<Race>().time();
    run(&mut app, 200);
    app.world_mut().resource_mut::<ClothTime>().paused = true;
    let before = time(&app);
    run(&mut app, 20);
    assert_eq!(time(&app), before);
    app.world_mut().resource_mut::<ClothTime>().paused = false;
    run(&mut app, 20);
    assert!(time(&app) > before);
}

#[test]
#[cfg(feature = "panel")]
fn the_step_of_the_race_can_be_chosen() {
    use crate::{plot, scenes::integrators::Race};
    use bevy_egui::egui;
    use egui_kittest::{Harness, kittest::Queryable};
    let mut window = Harness::builder()
        .with_size(egui::Vec2::new(520.0, 600.0))
        .build_ui_state(plot::ui, Race::default());
    window.run_steps(2);
    // The end of semi-implicit Euler with a step of 1 s.
    window.get_by_label(" 550.000");
    window.get_by_label("0.01 s").click();
    window.run_steps(2);
    assert_eq!(window.state().step(), 0.01);
    window.get_by_label(" 499.500");
    window.get_by_label(" 500.500");
}

#[test]
#[cfg(feature = "picking")]
fn the_wheel_sets_the_radius_of_the_brushes_on_the_curtain() {
    use bevy::input::mouse::AccumulatedMouseScroll;
    let mut app = load("curtain");
    let index = scenes::SCENES.iter().position(|s| s.name == "curtain");
    app.insert_resource(scenes::Shown(index))
        .insert_resource((scenes::SCENES[index.unwrap()].tools)())
        .init_resource::<AccumulatedMouseScroll>();
    app.update();
    let mut turn = |y: f32| {
        app.world_mut()
            .resource_mut::<AccumulatedMouseScroll>()
            .delta
            .y = y;
        app.update();
        app.world().resource::<ClothTools>().radius
    };
    assert!((turn(1.0) - 0.4).abs() < 1e-6);
    assert!((turn(-1.0) - 0.3).abs() < 1e-6);
    // The tutorial allows 20 to 100 units, which are centimetres here.
    let most = (0..20).map(|_| turn(1.0)).fold(0.0, f32::max);
    assert!((most - 1.0).abs() < 1e-6);
    let least = (0..20).map(|_| turn(-1.0)).fold(1.0, f32::min);
    assert!((least - 0.2).abs() < 1e-6);
}
