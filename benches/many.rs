//! Two hundred capes of 24 × 24 particles on marching figures, each with a capsule, as in the demo's scene `many`:
//! on one thread and on two, with full detail and with the standard levels of detail; and the cost of a culled
//! cape.
//!
//! ```sh
//! cargo bench --bench many
//! ```
//!
//! Measures whole frames of an app without a renderer, each with one step: motion of the figures, Bevy's own
//! systems, cloth, and meshes with their normals.

#[expect(dead_code, reason = "measure needs more")]
#[path = "../examples/measure/crowd.rs"]
mod crowd;
#[path = "common/turns.rs"]
mod turns;

use bevy::{
    ecs::schedule::{ScheduleLabel, SingleThreadedExecutor},
    prelude::*,
};
use bevy_drape::{
    character::ClothInertia,
    cloth::ClothMaxThreads,
    lod::{ClothCulled, ClothLod, ClothViewer},
    prelude::*,
};
use std::cell::RefCell;
use turns::{Times, is_bench, take_turns, timed};

const SIDE: u32 = 24;
/// Number of figures in each ring.
const RINGS: [u32; 5] = [24, 32, 40, 48, 56];
/// Radius of the innermost ring, and distance between rings, m.
const INNERMOST: f32 = 4.0;
const APART: f32 = 1.5;
/// Speed of the figures, m/s.
const SPEED: f32 = 1.3;
/// Frames until all capes are built and flying.
const FRAMES: u32 = 120;

/// State of the capes.
#[derive(Clone, Copy, PartialEq)]
enum Capes {
    None,
    Moving,
    Culled,
}

fn main() {
    let frames = if is_bench() { FRAMES } else { 30 };
    let detail = ClothLod::standard();
    println!("| capes | 1 thread, ms (median) | 2 threads, ms (median) | speed-up (median) |");
    println!("|---|---|---|---|");
    for (name, lod) in [
        ("all detail", ClothLod::default()),
        ("standard levels", detail),
    ] {
        let app = RefCell::new(figures(Capes::Moving, lod, frames));
        let frame_by = |threads| {
            let mut app = app.borrow_mut();
            app.insert_resource(ClothMaxThreads(threads));
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

/// Figure that walks in a ring.
#[derive(Component)]
struct Marcher {
    /// Radius of its ring, m; the sign is the direction.
    radius: f32,
    /// Angle of its position, rad.
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

/// Returns an app with the figures after this many frames.
fn figures(capes: Capes, lod: ClothLod, frames: u32) -> App {
    let mut app = crowd::headless(2);
    app.insert_resource(lod)
        .insert_resource(Wind {
            velocity: Vec3::new(-2.0, 0.0, -1.0),
            gusts: 0.5,
            ..default()
        })
        .add_systems(Update, march);
    // Excludes the overhead of Bevy's multithreaded executor.
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
    // Position of the scene's camera.
    world.spawn((ClothViewer, Transform::from_xyz(0.0, 4.2, 13.5)));
    let cape = world
        .resource_mut::<Assets<Mesh>>()
        .add(ClothGrid::vertical(0.62, 0.95, SIDE, SIDE));
    for (ring, count) in RINGS.into_iter().enumerate() {
        let direction = if ring % 2 == 0 { 1.0 } else { -1.0 };
        for k in 0..count {
            let marcher = Marcher {
                radius: direction * (INNERMOST + APART * ring as f32),
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
                ClothInertia::default(),
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
