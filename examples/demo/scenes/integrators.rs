//! A race of integrators: four balls under the same force, each moved by another arithmetic.

use super::{PLAIN, Scene, Set};
use crate::euler::{self, DURATION, Method, STEPS};
use bevy::prelude::*;
use bevy_drape::{ClothSystems, cloth_step_due};
use std::{fs, path::PathBuf};

pub(super) const SCENE: Scene = Scene {
    name: "integrators",
    about: "10 N on 1 kg for 10 s by Euler and by Verlet against the exact way; prints a table, \
            without a window also writes integrators.csv beside the picture",
    spawn,
    // Low and to the right, beside the panel and below the figures.
    view: [Vec3::new(-0.25, 1.5, 2.75), Vec3::new(-0.25, 0.3, 0.0)],
    ..PLAIN
};

pub(super) fn plugin(app: &mut App) {
    // When cloths would have moved, so that it pauses with them.
    let after = advance.after(ClothSystems::Finish).run_if(cloth_step_due);
    app.init_resource::<Race>()
        .add_systems(FixedUpdate, after)
        .add_systems(Update, (announce, (place, uncover)));
}

/// Where to write the figures, if anywhere.
#[derive(Resource)]
pub(crate) struct CsvFile(pub(crate) PathBuf);

/// How the race goes.
#[derive(Resource)]
pub(crate) struct Race {
    /// The step of the three methods, s.
    dt: f64,
    /// Their positions after each step, m.
    positions: [Vec<f64>; 3],
    /// How long they have been running, s.
    elapsed: f64,
}

impl Default for Race {
    fn default() -> Self {
        Self::with_step(STEPS[0])
    }
}

impl Race {
    /// A race that begins, with a step of `dt` seconds.
    pub(crate) fn with_step(dt: f64) -> Self {
        Self {
            dt,
            positions: Method::ALL.map(|method| method.positions(dt)),
            elapsed: 0.0,
        }
    }

    pub(crate) fn step(&self) -> f64 {
        self.dt
    }

    /// The time in the race, s.
    pub(crate) fn time(&self) -> f64 {
        self.elapsed.min(DURATION)
    }

    /// Where a runner is at a time, m; between its steps on a straight way.
    pub(crate) fn position(&self, runner: Runner, t: f64) -> f64 {
        let Runner::By(method) = runner else {
            return euler::exact(t);
        };
        let positions = &self.positions[method as usize];
        // A hair more, so that a time that is meant to be on a step is not just before it.
        let at = t / self.dt + 1e-9;
        let step = (at as usize).min(positions.len() - 2);
        positions[step] + (positions[step + 1] - positions[step]) * (at - step as f64)
    }
}

/// Who runs.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
pub(crate) enum Runner {
    Exact,
    By(Method),
}

impl Runner {
    pub(crate) const ALL: [Self; 4] = [
        Self::Exact,
        Self::By(Method::Verlet),
        Self::By(Method::Explicit),
        Self::By(Method::SemiImplicit),
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::By(method) => method.name(),
        }
    }

    /// Red, green and blue, 0 to 255; told apart on dark ground.
    pub(crate) fn colour(self) -> [u8; 3] {
        match self {
            Self::Exact => [235, 235, 235],
            Self::By(Method::Verlet) => [105, 215, 125],
            Self::By(Method::Explicit) => [90, 170, 255],
            Self::By(Method::SemiImplicit) => [255, 150, 70],
        }
    }
}

/// Stays where a runner was after so many seconds.
#[derive(Component)]
struct Mark {
    runner: Runner,
    seconds: f64,
}

/// Where all run.
#[derive(Component)]
pub(crate) struct Track;

/// Where the race begins, and how much of a metre of it is shown, m.
const START: f32 = -1.2;
const SCALE: f32 = 2.4 / 500.0;
const BALL: f32 = 0.07;
const LANE_HEIGHT: f32 = 0.03;
/// Seconds of rest at the end.
const REST: f64 = 2.0;

fn spawn(set: &mut Set) {
    set.commands.insert_resource(Race::default());
    let along = |metres: f64| START + metres as f32 * SCALE;
    let line = set.paint(Color::srgb(0.85, 0.16, 0.12));
    let lane = set.meshes.add(Cuboid::new(2.95, LANE_HEIGHT, 0.24));
    let across = set.meshes.add(Cuboid::new(0.02, 0.012, 1.2));
    for metres in [0.0, euler::exact(DURATION)] {
        let place = Transform::from_xyz(along(metres), LANE_HEIGHT, 0.0);
        let stripe = (Mesh3d(across.clone()), MeshMaterial3d(line.clone()), place);
        set.spawn((Track, stripe));
    }
    let ball = set.meshes.add(Sphere::new(BALL).mesh().uv(48, 24));
    let mark = set
        .meshes
        .add(Cylinder::new(0.028, 0.012).mesh().resolution(24));
    // Dark, so that all colours show.
    let slate = set.paint(Color::srgb(0.13, 0.14, 0.16));
    for (number, runner) in Runner::ALL.into_iter().enumerate() {
        let z = (number as f32 - 1.5) * 0.3;
        let [red, green, blue] = runner.colour();
        let paint = set.paint(Color::srgb_u8(red, green, blue));
        set.spawn((
            Mesh3d(lane.clone()),
            MeshMaterial3d(slate.clone()),
            Transform::from_xyz(0.13, LANE_HEIGHT / 2.0, z),
        ));
        set.spawn((
            Name::new(runner.name()),
            runner,
            Mesh3d(ball.clone()),
            MeshMaterial3d(paint.clone()),
            Transform::from_xyz(START, LANE_HEIGHT + BALL, z),
        ));
        for second in 1..=DURATION as u32 {
            set.spawn((
                Mark {
                    runner,
                    seconds: f64::from(second),
                },
                Mesh3d(mark.clone()),
                MeshMaterial3d(paint.clone()),
                Transform::from_xyz(START, LANE_HEIGHT, z),
                Visibility::Hidden,
            ));
        }
    }
}

fn advance(mut race: ResMut<Race>, time: Res<Time>) {
    race.elapsed += time.delta_secs_f64();
    if race.elapsed > DURATION + REST {
        race.elapsed = 0.0;
    }
}

fn place(race: Res<Race>, mut runners: Query<(&Runner, &mut Transform)>) {
    for (&runner, mut transform) in &mut runners {
        transform.translation.x = START + race.position(runner, race.time()) as f32 * SCALE;
    }
}

/// Lets marks appear where the runners have been.
fn uncover(race: Res<Race>, mut marks: Query<(&Mark, &mut Transform, &mut Visibility)>) {
    for (mark, mut transform, mut visibility) in &mut marks {
        transform.translation.x = START + race.position(mark.runner, mark.seconds) as f32 * SCALE;
        let passed = race.time() > mark.seconds;
        visibility.set_if_neq(if passed {
            Visibility::Inherited
        } else {
            Visibility::Hidden
        });
    }
}

/// Prints the figures when the track is put up, and writes them where that is asked for.
fn announce(tracks: Query<(), Added<Track>>, file: Option<Res<CsvFile>>) {
    if tracks.is_empty() {
        return;
    }
    println!("{}", euler::table());
    if let Some(file) = file {
        match fs::write(&file.0, euler::csv()) {
            Ok(()) => println!("wrote {}", file.0.display()),
            Err(error) => eprintln!("error: cannot write {}: {error}", file.0.display()),
        }
    }
}
