//! Many cloths at once, through the plugin: what a game has.

use bevy::{
    app::TaskPoolThreadAssignmentPolicy, asset::AssetPlugin, ecs::schedule::SingleThreadedExecutor,
    mesh::MeshPlugin, prelude::*, time::TimeUpdateStrategy, transform::TransformPlugin,
};
use bevy_drape::{ClothSubstep, ClothSystems, ClothThreads, Particles, prelude::*};
use serde::Serialize;
use std::time::Instant;

/// What to measure.
pub(super) struct Crowd {
    pub(super) cloths: u32,
    pub(super) side: u32,
    pub(super) falls: bool,
    pub(super) steps: u32,
    pub(super) threads: u32,
    pub(super) by_phases: bool,
    pub(super) self_collision: bool,
    pub(super) substeps: u32,
}

#[derive(Serialize)]
pub(super) struct Report {
    scene: &'static str,
    cloths: u32,
    side: u32,
    particles: usize,
    substeps: u32,
    steps: u32,
    threads: u32,
    /// Somebody has a system among the substeps, so that all cloths go through one phase after the
    /// other.
    by_phases: bool,
    /// From the beginning of `Prepare` to the end of `Finish`.
    ms_per_step_median: f64,
    ms_per_step_min: f64,
    us_per_cloth: f64,
    state_hash: String,
}

#[derive(Resource)]
struct Watch {
    began: Instant,
    times: Vec<f64>,
}

impl Crowd {
    pub(super) fn measure(&self) -> Report {
        let mut app = App::new();
        // The main thread works too.
        let compute = TaskPoolThreadAssignmentPolicy {
            min_threads: (self.threads as usize - 1).max(1),
            max_threads: (self.threads as usize - 1).max(1),
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
        .insert_resource(ClothThreads(self.threads as usize))
        .insert_resource(Substeps(self.substeps))
        .insert_resource(Time::<Fixed>::from_hz(60.0))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .insert_resource(Watch {
            began: Instant::now(),
            times: Vec::new(),
        })
        .add_systems(
            FixedUpdate,
            (
                (|mut watch: ResMut<Watch>| watch.began = Instant::now())
                    .before(ClothSystems::Prepare),
                (|mut watch: ResMut<Watch>| {
                    let took = watch.began.elapsed().as_secs_f64() * 1e3;
                    watch.times.push(took);
                })
                .after(ClothSystems::Finish),
            ),
        );
        // Bevy's own way of handing systems to threads is not what is measured here.
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
            let place = Vec3::new(3.0 * column as f32, 1.5, 3.0 * row as f32);
            let grid = ClothGrid {
                vertical: !self.falls,
                ..ClothGrid::new(2.0, 2.0, self.side, self.side)
            };
            let pins = if self.falls {
                app.world_mut().spawn((
                    ClothCollider::sphere(0.5),
                    Transform::from_translation(place - Vec3::Y),
                ));
                Pins::none()
            } else {
                Pins::top_corners()
            };
            let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(grid);
            app.world_mut().spawn((
                Cloth {
                    self_collision: if self.self_collision {
                        SelfCollision::Particles
                    } else {
                        SelfCollision::Off
                    },
                    ..default()
                },
                Mesh3d(mesh),
                Transform::from_translation(place),
                pins,
            ));
        }
        // They are built in the first, and find their tethers in the second.
        (0..3).for_each(|_| app.update());
        app.world_mut().resource_mut::<Watch>().times.clear();
        (0..self.steps).for_each(|_| app.update());

        let mut times = app.world_mut().resource_mut::<Watch>().times.clone();
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        let mut cloths = app.world_mut().query::<&Particles>();
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
            steps: self.steps,
            threads: self.threads,
            by_phases: self.by_phases,
            ms_per_step_median: median,
            ms_per_step_min: times[0],
            us_per_cloth: median * 1e3 / f64::from(self.cloths),
            state_hash: format!("{hash:016x}"),
        }
    }
}
