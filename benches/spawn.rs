//! Updates in which cloths are spawned in a running app, compared with those after it.
//!
//! ```sh
//! cargo bench --bench spawn
//! ```
//!
//! Prints the longest of the updates from the spawn to the second step of the last cloth, less the median of the updates
//! after those. The median of five runs, because the machine is noisy.

#[expect(dead_code, reason = "measure needs more")]
#[path = "../examples/measure/crowd.rs"]
mod crowd;

use bevy::prelude::*;
use bevy_drape::{
    cloth::{ClothBuildMode, ClothMaxThreads},
    prelude::*,
};
use std::time::{Duration, Instant};

/// Cloths that are spawned at once: their number, particles along a side, and whether they collide with themselves.
const CASES: [(u32, u32, SelfCollision); 6] = [
    (1, 64, SelfCollision::Off),
    (1, 128, SelfCollision::Off),
    (1, 256, SelfCollision::Off),
    (1, 128, SelfCollision::On),
    (100, 24, SelfCollision::Off),
    (1000, 24, SelfCollision::Off),
];

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (cases, runs) = if is_bench {
        (&CASES[..], 5)
    } else {
        (&CASES[..1], 1)
    };
    println!(
        "| cloths | side | self-collision | built | updates | longest, ms | median after, ms | more, ms |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for &(cloths, side, self_collision) in cases {
        for mode in [ClothBuildMode::Immediate, ClothBuildMode::Background] {
            let mut runs: Vec<Spawn> = (0..runs)
                .map(|_| Spawn::measure(cloths, side, self_collision, mode))
                .collect();
            runs.sort_by(|a, b| a.more().total_cmp(&b.more()));
            let run = &runs[runs.len() / 2];
            println!(
                "| {cloths} | {side} | {self_collision:?} | {mode:?} | {} | {:.2} | {:.2} | {:.2} |",
                run.updates,
                run.longest,
                run.after,
                run.more()
            );
        }
    }
}

/// Times of updates around a spawn.
struct Spawn {
    /// Updates from the spawn to the second step of the last cloth.
    updates: usize,
    /// Longest of them, ms.
    longest: f64,
    /// Median of those after them, ms.
    after: f64,
}

impl Spawn {
    fn measure(
        cloths: u32,
        side: u32,
        self_collision: SelfCollision,
        mode: ClothBuildMode,
    ) -> Self {
        let mut app = crowd::headless(1);
        // A machine of two cores has one for the steps and one for the building.
        app.insert_resource(mode)
            .insert_resource(ClothMaxThreads(1));
        app.finish();
        app.cleanup();
        let mesh = Mesh::from(ClothGrid::vertical(1.0, 1.0, side, side));
        let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
        let spawn = |app: &mut App, number: u32| {
            let cloth = Cloth {
                self_collision,
                sleep_speed: 0.0,
                ..default()
            };
            let place = Vec3::new((number % 32) as f32, 0.0, (number / 32) as f32);
            app.world_mut().spawn((
                cloth,
                Mesh3d(mesh.clone()),
                Pins::top_corners(),
                Transform::from_translation(2.0 * place),
            ));
        };
        // The schedules have run before.
        let small = Mesh::from(ClothGrid::vertical(1.0, 1.0, 8, 8));
        let small = app.world_mut().resource_mut::<Assets<Mesh>>().add(small);
        let small = (Cloth::default(), Mesh3d(small), Pins::top_corners());
        let small = app.world_mut().spawn(small).id();
        while built(&mut app) == 0 {
            app.update();
        }
        (0..20).for_each(|_| app.update());
        app.world_mut().despawn(small);
        app.update();
        (0..cloths).for_each(|number| spawn(&mut app, number));
        let mut times = Vec::new();
        while built(&mut app) < cloths as usize {
            times.push(timed(&mut app));
        }
        times.extend([timed(&mut app), timed(&mut app)]);
        let mut after: Vec<f64> = (0..60).map(|_| timed(&mut app)).collect();
        after.sort_by(f64::total_cmp);
        Self {
            updates: times.len(),
            longest: times.into_iter().fold(0.0, f64::max),
            after: after[after.len() / 2],
        }
    }

    /// Returns by how much the longest update exceeds those after it, ms.
    fn more(&self) -> f64 {
        self.longest - self.after
    }
}

/// Returns the time of an update, ms, after a pause as between the frames of a game: without it, the updates and the
/// building take turns on a machine of two cores.
fn timed(app: &mut App) -> f64 {
    std::thread::sleep(Duration::from_millis(2));
    let start = Instant::now();
    app.update();
    start.elapsed().as_secs_f64() * 1e3
}

/// Returns the number of built cloths.
fn built(app: &mut App) -> usize {
    let world = app.world_mut();
    world.query::<&ClothParticles>().iter(world).count()
}
