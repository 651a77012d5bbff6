//! Many cloths at once, in an app with the plugin.

use bevy::{
    app::TaskPoolThreadAssignmentPolicy, asset::AssetPlugin, ecs::schedule::SingleThreadedExecutor,
    mesh::MeshPlugin, prelude::*, time::TimeUpdateStrategy, transform::TransformPlugin,
};
use bevy_drape::{
    cloth::{ClothBuildMode, ClothMaxThreads, ClothSubstep},
    prelude::*,
    sleep::ClothSleeping,
};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Description of the cloths to measure.
pub(crate) struct Crowd {
    pub(crate) cloths: u32,
    pub(crate) side: u32,
    pub(crate) falls: bool,
    pub(crate) threads: u32,
    pub(crate) by_phases: bool,
    pub(crate) asleep: bool,
    pub(crate) self_collision: SelfCollision,
    pub(crate) substeps: u32,
}

#[derive(Serialize)]
pub(crate) struct Report {
    scene: &'static str,
    cloths: u32,
    side: u32,
    particles: usize,
    substeps: u32,
    steps: u32,
    threads: u32,
    /// Whether a user's system in the substeps makes all cloths go through each phase together.
    by_phases: bool,
    /// Time from the start of `Prepare` to the end of `Finish`.
    ms_per_step_median: f64,
    ms_per_step_min: f64,
    us_per_cloth: f64,
    state_hash: String,
}

#[derive(Resource)]
struct StepTimer {
    start: Instant,
    duration: Duration,
}

/// App with built cloths.
pub(crate) struct RunningCrowd(App);

impl RunningCrowd {
    /// Sets the number of threads, at most that for which the crowd was built.
    pub(crate) fn use_threads(&mut self, threads: u32) {
        self.0.insert_resource(ClothMaxThreads(threads as usize));
    }

    /// Takes a step. Returns the time from the start of `Prepare` to the end of `Finish`, ms.
    pub(crate) fn step(&mut self) -> f64 {
        self.0.update();
        self.0
            .world()
            .resource::<StepTimer>()
            .duration
            .as_secs_f64()
            * 1e3
    }
}

/// Creates an app without rendering that takes one step per frame, with a task pool for this many threads.
pub(crate) fn headless(threads: u32) -> App {
    let mut app = App::new();
    // The main thread works too.
    let compute = TaskPoolThreadAssignmentPolicy {
        min_threads: (threads as usize - 1).max(1),
        max_threads: (threads as usize - 1).max(1),
        percent: 1.0,
        on_thread_spawn: None,
        on_thread_destroy: None,
    };
    let pools = TaskPoolPlugin {
        task_pool_options: TaskPoolOptions {
            compute,
            ..default()
        },
    };
    app.add_plugins((
        MinimalPlugins.set(pools),
        AssetPlugin::default(),
        MeshPlugin,
        TransformPlugin,
        ClothPlugin::default(),
    ))
    .insert_resource(Time::<Fixed>::from_hz(60.0))
    .insert_resource(ClothBuildMode::Immediate)
    .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app
}

impl Crowd {
    pub(crate) fn build(&self) -> RunningCrowd {
        let mut app = headless(self.threads);
        app.insert_resource(ClothSubsteps::PerStep(self.substeps))
            .insert_resource(StepTimer {
                start: Instant::now(),
                duration: Duration::ZERO,
            })
            .add_systems(
                FixedUpdate,
                (
                    (|mut timer: ResMut<StepTimer>| timer.start = Instant::now())
                        .before(ClothSystems::Prepare),
                    (|mut timer: ResMut<StepTimer>| timer.duration = timer.start.elapsed())
                        .after(ClothSystems::Finish),
                ),
            );
        // Excludes the overhead of Bevy's multithreaded executor.
        app.edit_schedule(FixedUpdate, |schedule| {
            schedule.set_executor(SingleThreadedExecutor::new());
        });
        if self.by_phases {
            app.add_systems(
                ClothSubstep,
                (|| {})
                    .after(ClothSystems::Relax)
                    .before(ClothSystems::Collide),
            );
        }
        app.finish();
        app.cleanup();
        let across = f64::from(self.cloths).sqrt().ceil() as u32;
        for number in 0..self.cloths {
            let (column, row) = (number % across, number / across);
            let position = Vec3::new(3.0 * column as f32, 1.5, 3.0 * row as f32);
            let grid = ClothGrid {
                vertical: !self.falls,
                ..ClothGrid::new(2.0, 2.0, self.side, self.side)
            };
            let pins = if self.falls {
                app.world_mut().spawn((
                    ClothCollider::sphere(0.5),
                    Transform::from_translation(position - Vec3::Y),
                ));
                Pins::none()
            } else {
                Pins::top_corners()
            };
            let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(grid);
            app.world_mut().spawn((
                Cloth {
                    self_collision: self.self_collision,
                    // Cloth at rest is measured, too.
                    sleep_speed: 0.0,
                    ..default()
                },
                Mesh3d(mesh),
                Transform::from_translation(position),
                pins,
            ));
        }
        // Cloths are built in the first update, tethers in the second.
        (0..3).for_each(|_| app.update());
        if self.asleep {
            let world = app.world_mut();
            let mut cloths = world.query_filtered::<Entity, With<Cloth>>();
            for cloth in cloths.iter(world).collect::<Vec<_>>() {
                world.entity_mut(cloth).insert(ClothSleeping);
            }
            app.update();
        }
        let mut running = RunningCrowd(app);
        running.use_threads(self.threads);
        running
    }

    pub(crate) fn measure(&self, steps: u32) -> Report {
        let mut running = self.build();
        let mut times: Vec<f64> = (0..steps).map(|_| running.step()).collect();
        times.sort_by(f64::total_cmp);
        let RunningCrowd(mut app) = running;
        let median = times[times.len() / 2];
        let mut cloths = app.world_mut().query::<&ClothParticles>();
        let (mut particles, mut hash) = (0, 0_u64);
        for cloth in cloths.iter(app.world()) {
            particles += cloth.len();
            hash = hash.rotate_left(1) ^ cloth.state_hash();
        }
        Report {
            scene: if self.falls { "drape" } else { "hang" },
            cloths: self.cloths,
            side: self.side,
            particles,
            substeps: self.substeps,
            steps,
            threads: self.threads,
            by_phases: self.by_phases,
            ms_per_step_median: median,
            ms_per_step_min: times[0],
            us_per_cloth: median * 1e3 / f64::from(self.cloths),
            state_hash: format!("{hash:016x}"),
        }
    }
}
