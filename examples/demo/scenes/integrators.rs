//! A race of integrators: four balls under the same force, each with another integration method.

use super::{PLAIN, Scene, Set};
use crate::euler::{self, DURATION, Method, STEPS};
use bevy::prelude::*;
use bevy_drape::{cloth::ClothSystems, time::cloth_step_due};
use std::{fs, path::PathBuf};

pub(super) const SCENE: Scene = Scene {
    name: "integrators",
    about: "10 N on 1 kg for 10 s by Euler and by Verlet compared with the exact solution; prints a \
            table, without a window also writes integrators.csv beside the image",
    spawn,
    // Low and to the right, to leave space for panel and figures.
    view: [Vec3::new(-0.25, 1.5, 2.75), Vec3::new(-0.25, 0.3, 0.0)],
    ..PLAIN
};

pub(super) fn plugin(app: &mut App) {
    // Runs with the steps of cloths, so that it pauses with them.
    let after = advance.after(ClothSystems::Finish).run_if(cloth_step_due);
    app.init_resource::<Race>()
        .add_systems(FixedUpdate, after)
        .add_systems(Update, (announce, (move_runners, show_marks)));
}

/// File for the figures.
#[derive(Resource)]
pub(crate) struct CsvFile(pub(crate) PathBuf);

/// State of the race.
#[derive(Resource)]
pub(crate) struct Race {
    /// Step length of the three methods, s.
    dt: f64,
    /// Their positions after each step, m.
    positions: [Vec<f64>; 3],
    /// Time since the start, s.
    elapsed: f64,
}

impl Default for Race {
    fn default() -> Self {
        Self::with_step(STEPS[0])
    }
}

impl Race {
    /// Starts a race with a step of `dt` seconds.
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

    /// Returns the time in the race, s.
    pub(crate) fn time(&self) -> f64 {
        self.elapsed.min(DURATION)
    }

    /// Returns the position of a runner at a time, m, interpolated linearly between steps.
    pub(crate) fn position(&self, runner: Runner, t: f64) -> f64 {
        let Runner::By(method) = runner else {
            return euler::exact(t);
        };
        let positions = &self.positions[method as usize];
        // Slightly more, so that rounding does not put the time of a step before it.
        let at = t / self.dt + 1e-9;
        let step = (at as usize).min(positions.len() - 2);
        positions[step] + (positions[step + 1] - positions[step]) * (at - step as f64)
    }
}

/// Competitor in the race.
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

    /// Returns red, green and blue, 0 to 255; distinct on a dark background.
    pub(crate) fn colour(self) -> [u8; 3] {
        match self {
            Self::Exact => [235, 235, 235],
            Self::By(Method::Verlet) => [105, 215, 125],
            Self::By(Method::Explicit) => [90, 170, 255],
            Self::By(Method::SemiImplicit) => [255, 150, 70],
        }
    }
}

/// Mark at the position of a runner after a number of seconds.
#[derive(Component)]
struct Mark {
    runner: Runner,
    seconds: f64,
}

/// Marker of the track.
#[derive(Component)]
pub(crate) struct Track;

/// Position of the start, m, and scale of distances.
const START: f32 = -1.2;
const SCALE: f32 = 2.4 / 500.0;
const BALL: f32 = 0.07;
const LANE_HEIGHT: f32 = 0.03;
/// Pause at the end, s.
const PAUSE: f64 = 2.0;

fn spawn(set: &mut Set) {
    set.commands.insert_resource(Race::default());
    let along = |metres: f64| START + metres as f32 * SCALE;
    let line = set.paint(Color::srgb(0.85, 0.16, 0.12));
    let lane = set.meshes.add(Cuboid::new(2.95, LANE_HEIGHT, 0.24));
    let across = set.meshes.add(Cuboid::new(0.02, 0.012, 1.2));
    for metres in [0.0, euler::exact(DURATION)] {
        let transform = Transform::from_xyz(along(metres), LANE_HEIGHT, 0.0);
        let stripe = (
            Mesh3d(across.clone()),
            MeshMaterial3d(line.clone()),
            transform,
        );
        set.spawn((Track, stripe));
    }
    let ball = set.meshes.add(Sphere::new(BALL).mesh().uv(48, 24));
    let mark = set
        .meshes
        .add(Cylinder::new(0.028, 0.012).mesh().resolution(24));
    // Dark, so that all colours are visible.
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
    if race.elapsed > DURATION + PAUSE {
        race.elapsed = 0.0;
    }
}

fn move_runners(race: Res<Race>, mut runners: Query<(&Runner, &mut Transform)>) {
    for (&runner, mut transform) in &mut runners {
        transform.translation.x = START + race.position(runner, race.time()) as f32 * SCALE;
    }
}

/// Shows marks that runners have passed.
fn show_marks(race: Res<Race>, mut marks: Query<(&Mark, &mut Transform, &mut Visibility)>) {
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

/// Prints the figures when the track is spawned, and writes them to the file, if there is one.
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
