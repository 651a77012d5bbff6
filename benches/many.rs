//! Two hundred capes of 24 × 24 particles on figures that march, each in a capsule of its own, as in the demo's
//! scene `many`: by one thread and by two, with all their detail and with less where they are far away, and
//! what those cost that nobody sees.
//!
//! ```sh
//! cargo bench --bench many
//! ```
//!
//! Timed are whole frames of an app without a renderer, each with one step: what moves the figures, Bevy's
//! own systems, cloth, and meshes with their normals.

#[expect(dead_code, reason = "measure needs more")]
#[path = "../examples/measure/crowd.rs"]
mod crowd;
#[path = "common/turns.rs"]
mod turns;

use bevy::{
    ecs::schedule::{ScheduleLabel, SingleThreadedExecutor},
    prelude::*,
};
use bevy_drape::{ClothCulled, ClothThreads, prelude::*};
use std::cell::RefCell;
use turns::{Times, is_bench, take_turns, timed};

const SIDE: u32 = 24;
/// How many march in each ring.
const RINGS: [u32; 5] = [24, 32, 40, 48, 56];
/// Radius of the innermost ring and how far the others are apart, m.
const INNERMOST: f32 = 4.0;
const APART: f32 = 1.5;
/// How fast they go, m/s.
const SPEED: f32 = 1.3;
/// Frames until all are built and fly.
const FRAMES: u32 = 120;

/// What figures wear.
#[derive(Clone, Copy, PartialEq)]
enum Capes {
    None,
    Moving,
    Culled,
}

fn main() {
    let frames = if is_bench() { FRAMES } else { 30 };
    let detail = ClothLod::standard();
    println!("| capes | 1 thread, ms (median) | 2 threads, ms (median) | times as fast (median) |");
    println!("|---|---|---|---|");
    for (name, lod) in [
        ("all detail", ClothLod::default()),
        ("standard levels", detail),
    ] {
        let app = RefCell::new(figures(Capes::Moving, lod, frames));
        let frame_by = |threads| {
            let mut app = app.borrow_mut();
            app.insert_resource(ClothThreads(threads));
            timed(|| app.update())
        };
        let [one, two] = take_turns(10.0, [&mut || frame_by(1), &mut || frame_by(2)]);
        let row = |Times { fastest, median }| format!("{fastest:.2} ({median:.2})");
        let [fastest, median] = [one.fastest / two.fastest, one.median / two.median];
        let (one, two) = (row(one), row(two));
        println!("| {name} | {one} | {two} | {fastest:.2} ({median:.2}) |");
    }
    let far = ClothLod {
        cull_beyond: 0.0,
        ..default()
    };
    let mut without = figures(Capes::None, far.clone(), frames);
    let mut culled = figures(Capes::Culled, far, frames);
    let [without, culled] = take_turns(
        3.0,
        [&mut || timed(|| without.update()), &mut || {
            timed(|| culled.update())
        }],
    );
    let each = |ms: f64| ms * 1e3 / f64::from(RINGS.iter().sum::<u32>());
    println!(
        "a culled cape: {:.2} µs (median {:.2})",
        each(culled.fastest - without.fastest),
        each(culled.median - without.median)
    );
}

/// Goes around in a ring.
#[derive(Component)]
struct Marcher {
    /// Radius of its ring, m, with a sign for the way around.
    radius: f32,
    /// Where it is, rad.
    angle: f32,
}

fn march(mut marchers: Query<(&mut Marcher, &mut Transform)>, time: Res<Time>) {
    for (mut marcher, mut transform) in &mut marchers {
        marcher.angle += SPEED * time.delta_secs() / marcher.radius;
        let (sin, cos) = marcher.angle.sin_cos();
        let radius = marcher.radius.abs();
        transform.translation = Vec3::new(radius * sin, 0.65, radius * cos);
        let ahead = marcher.angle + std::f32::consts::FRAC_PI_2 * marcher.radius.signum();
        transform.rotation = Quat::from_rotation_y(ahead);
    }
}

/// The figures after so many frames.
fn figures(capes: Capes, lod: ClothLod, frames: u32) -> App {
    let mut app = crowd::headless(2);
    app.insert_resource(lod)
        .insert_resource(Wind {
            velocity: Vec3::new(-2.0, 0.0, -1.0),
            gusts: 0.5,
            ..default()
        })
        .add_systems(Update, march);
    // What Bevy spends on handing systems to threads is not what is measured here.
    for label in [
        First.intern(),
        PreUpdate.intern(),
        Update.intern(),
        PostUpdate.intern(),
        Last.intern(),
    ] {
        app.edit_schedule(label, |schedule| {
            schedule.set_executor(SingleThreadedExecutor::new());
        });
    }
    app.edit_schedule(FixedUpdate, |schedule| {
        schedule.set_executor(SingleThreadedExecutor::new());
    });
    app.finish();
    app.cleanup();
    let world = app.world_mut();
    // Where the camera of the scene is.
    world.spawn((ClothViewer, Transform::from_xyz(0.0, 4.2, 13.5)));
    let cape = world
        .resource_mut::<Assets<Mesh>>()
        .add(ClothGrid::vertical(0.62, 0.95, SIDE, SIDE));
    for (ring, count) in RINGS.into_iter().enumerate() {
        let way = if ring % 2 == 0 { 1.0 } else { -1.0 };
        for k in 0..count {
            let marcher = Marcher {
                radius: way * (INNERMOST + APART * ring as f32),
                angle: k as f32 * std::f32::consts::TAU / count as f32,
            };
            let figure = world
                .spawn((
                    marcher,
                    Transform::default(),
                    ClothCollider::capsule(0.2, 0.9),
                ))
                .id();
            if capes == Capes::None {
                continue;
            }
            world.spawn((
                Cloth::default(),
                Pins::edge(ClothEdge::Top),
                WorldMotion::default(),
                Mesh3d(cape.clone()),
                Transform::from_xyz(0.0, 0.08, -0.23),
                ChildOf(figure),
            ));
        }
    }
    (0..frames).for_each(|_| app.update());
    let world = app.world_mut();
    let culled = world.query::<&ClothCulled>().iter(world).count();
    assert_eq!(culled > 0, capes == Capes::Culled, "{culled} are culled");
    app
}
