//! The plugin in an app.

use crate::{
    counting::{calls, live, peak, requests},
    headless::headless_app,
};
use bevy::prelude::*;
use bevy_drape::{ClothSystems, prelude::*};

/// An app with so many cloths, with the mesh of which they are made, and with what they fall on.
fn app(side: u32, cloths: usize) -> App {
    let mut app = headless_app(ClothPlugin::default());
    let mesh = Mesh::from(ClothGrid::vertical(2.0, 2.0, side, side));
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    // It is there with or without cloths: it is the user's.
    app.world_mut().spawn(Mesh3d(mesh.clone()));
    for _ in 0..cloths {
        let parts = (Cloth::default(), Pins::top_corners(), Mesh3d(mesh.clone()));
        app.world_mut().spawn(parts);
    }
    app
}

fn run(app: &mut App, updates: u32) {
    (0..updates).for_each(|_| app.update());
}

/// How often memory was asked for in the parts of the frames that belong to the plugin.
#[derive(Resource, Default)]
struct Asked {
    began: usize,
    in_steps: usize,
    in_drawing: usize,
}

/// What a fixed step and a frame ask for once they are under way. Counted from the beginning of the
/// plugin's first phase to the end of its last one, which is all that it does, whatever runs beside
/// it, and what Bevy needs to run it.
pub(crate) fn asks_for_nothing() {
    for cloths in [1, 10] {
        let mut app = app(20, cloths);
        app.world_mut().spawn((
            ClothCollider::sphere(0.3),
            Transform::from_xyz(0.0, 0.0, 0.2),
        ));
        app.insert_resource(Wind {
            velocity: Vec3::new(3.0, 0.0, 2.0),
            ..default()
        });
        app.init_resource::<Asked>();
        let begin = |mut asked: ResMut<Asked>| asked.began = requests();
        app.add_systems(FixedUpdate, begin.before(ClothSystems::Prepare));
        app.add_systems(PostUpdate, begin.before(ClothSystems::WriteMesh));
        app.add_systems(
            FixedUpdate,
            (|mut asked: ResMut<Asked>| asked.in_steps += requests() - asked.began)
                .after(ClothSystems::Finish),
        );
        app.add_systems(
            PostUpdate,
            (|mut asked: ResMut<Asked>| asked.in_drawing += requests() - asked.began)
                .after(ClothSystems::WriteMesh),
        );
        run(&mut app, 60);
        app.insert_resource(Asked::default());
        let frames = 60;
        let all = calls(|| run(&mut app, frames));
        let Asked {
            in_steps,
            in_drawing,
            ..
        } = app.world().resource::<Asked>();
        println!("{cloths} cloths: {in_steps} in steps, {in_drawing} in drawing, {all} in all");
    }
}

pub(crate) fn keeps_few_bytes_for_each_particle() {
    for side in [64, 128, 256] {
        let bytes = |cloths: usize| {
            let before = live();
            peak();
            let mut app = app(side, cloths);
            run(&mut app, 10);
            (live() - before, peak() - before)
        };
        let (without, with) = (bytes(0), bytes(1));
        let particles = (side * side) as f64;
        let [kept, most] = [with.0 - without.0, with.1 - without.1];
        println!(
            "{side} × {side}: {:.1} bytes a particle, {:.1} while it is built",
            kept as f64 / particles,
            most as f64 / particles
        );
    }
}

/// Prints how long the largest cloth takes.
pub(crate) fn a_million() {
    let mut app = app(1000, 1);
    let began = std::time::Instant::now();
    app.update();
    println!("build {:?}", began.elapsed());
    let began = std::time::Instant::now();
    app.update();
    println!("first {:?}", began.elapsed());
    let began = std::time::Instant::now();
    app.update();
    println!("second {:?}", began.elapsed());
}
