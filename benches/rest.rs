//! Whether cloth that lies on something comes to rest, and how far it is stretched there.
//!
//! ```sh
//! cargo bench --bench rest
//! cargo bench --bench rest -- --shape box,cone --side 64,128 --substeps 4,8,16 --friction 0.2,0.8 --self-collision
//! ```
//!
//! Sheets of 2 m fall on a collider on a floor. After `--seconds` s, during the last half second: the fastest particle
//! and the 99.9 % quantile of all speeds; at the end: mean and largest stretch; and the largest stretch of all steps.
//! Sheets are simulated side by side, one per processor, so the times of a step are only a hint.

#[expect(dead_code, reason = "measure needs more")]
#[path = "../examples/measure/scene.rs"]
mod scene;
#[expect(dead_code, reason = "other benches need more")]
#[path = "common/turns.rs"]
mod turns;

use bevy::math::{Quat, Vec3};
use bevy_drape::{
    cloth::SelfCollision,
    solver::{Collider, Friction, Pose, Shape, measure_stretch},
};
use clap::{Parser, ValueEnum};
use scene::{MeshLayout, Plan, Scene, Stage, Stepper};
use std::{
    f32::consts::FRAC_PI_2,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

/// Steps per second.
const RATE: f32 = 60.0;

#[derive(Parser)]
struct Arguments {
    /// Colliders.
    #[arg(long, value_delimiter = ',', default_values_t = [On::Ball, On::Box, On::Capsule, On::Balls, On::Cone])]
    shape: Vec<On>,
    /// Particles along each side of the sheets.
    #[arg(long, value_delimiter = ',', default_values_t = [32, 48, 64, 80, 100, 128])]
    side: Vec<u32>,
    #[arg(long, value_delimiter = ',', default_values_t = [8])]
    substeps: Vec<u32>,
    /// Static friction; kinetic friction is four fifths of it.
    #[arg(long, value_delimiter = ',', default_values_t = [0.5])]
    friction: Vec<f32>,
    #[arg(long, value_delimiter = ',', default_values_t = [MeshLayout::Grid])]
    mesh: Vec<MeshLayout>,
    #[arg(long)]
    self_collision: bool,
    #[arg(long, default_value_t = 7.0)]
    seconds: f32,
    /// Passed by cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum On {
    Ball,
    Box,
    Capsule,
    Balls,
    Cone,
}

impl std::fmt::Display for On {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write_value(self, f)
    }
}

impl std::fmt::Display for MeshLayout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write_value(self, f)
    }
}

/// Writes the name of a value on the command line.
fn write_value(value: &impl ValueEnum, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    let value = value.to_possible_value();
    f.pad(value.as_ref().map_or("", |value| value.get_name()))
}

/// A sheet and what it falls on.
#[derive(Clone, Copy)]
struct Case {
    on: On,
    side: u32,
    substeps: u32,
    friction: f32,
    mesh: MeshLayout,
    self_collision: bool,
}

/// Result of a simulation: speeds in mm/s, strains in per cent, time in ms.
#[derive(Clone, Copy, Default)]
struct Figures {
    fastest: f32,
    quantile: f32,
    mean: f32,
    worst: f32,
    peak: f32,
    step: f32,
}

fn main() {
    let mut arguments = Arguments::parse();
    if !turns::is_bench() {
        (arguments.side, arguments.seconds) = (vec![12], 0.2);
    }
    let cases: Vec<Case> = cases(&arguments).collect();
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    println!(
        "| on      |    N | substeps | friction | mesh     | fastest, mm/s | 99.9 %, mm/s | mean stretch | worst | peak | step, ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let figures = case.run(arguments.seconds);
                    case.print(&figures);
                    all.lock().expect("no thread panics").push(figures);
                }
            });
        }
    });
    summarize(&all.into_inner().expect("no thread panics"));
}

/// Iterates over all combinations, large sheets first.
fn cases(arguments: &Arguments) -> impl Iterator<Item = Case> {
    let mut sides = arguments.side.clone();
    sides.sort_unstable_by(|a, b| b.cmp(a));
    let Arguments {
        shape,
        substeps,
        friction,
        mesh,
        self_collision,
        ..
    } = arguments;
    sides.into_iter().flat_map(move |side| {
        shape.iter().flat_map(move |&on| {
            substeps.iter().flat_map(move |&substeps| {
                friction.iter().flat_map(move |&friction| {
                    mesh.iter().map(move |&mesh| Case {
                        on,
                        side,
                        substeps,
                        friction,
                        mesh,
                        self_collision: *self_collision,
                    })
                })
            })
        })
    })
}

impl Case {
    fn stage(&self) -> Stage {
        let plan = Plan {
            side: self.side,
            substeps: self.substeps,
            mesh: self.mesh,
            self_collision: match self.self_collision {
                true => SelfCollision::On,
                false => SelfCollision::Off,
            },
            ..Scene::Drape.plan()
        };
        Stage {
            colliders: self.on.colliders(self.friction),
            ..plan.build()
        }
    }

    fn run(&self, seconds: f32) -> Figures {
        let mut stage = self.stage();
        let mut stepper = Stepper::with_threads(1);
        let steps = (seconds * RATE) as u32;
        let mut figures = Figures::default();
        let mut simulated = 0.0;
        for step in 0..steps {
            let before = stage.particles.position.clone();
            let origin = stage.particles.origin;
            let begin = Instant::now();
            assert!(stepper.step(&mut stage), "a number was not finite");
            simulated += begin.elapsed().as_secs_f32();
            let stretch = measure_stretch(&stage.particles, &stage.constraints);
            [figures.mean, figures.worst] = [stretch.mean, stretch.max].map(|s| s * 100.0);
            figures.peak = figures.peak.max(figures.worst);
            if (step + 1) as f32 > steps as f32 - 0.5 * RATE && stage.particles.origin == origin {
                let now = stage.particles.position.iter();
                let mut speeds: Vec<f32> = (before.iter().zip(now))
                    .map(|(from, to)| from.distance(to) * RATE * 1e3)
                    .collect();
                speeds.sort_unstable_by(f32::total_cmp);
                let quantile = speeds[(speeds.len() * 999) / 1000];
                figures.quantile = figures.quantile.max(quantile);
                figures.fastest = figures.fastest.max(speeds[speeds.len() - 1]);
            }
        }
        figures.step = simulated * 1e3 / steps as f32;
        figures
    }

    fn print(&self, figures: &Figures) {
        let Self {
            on,
            side,
            substeps,
            friction,
            mesh,
            ..
        } = self;
        let Figures {
            fastest,
            quantile,
            mean,
            worst,
            peak,
            step,
        } = figures;
        println!(
            "| {on:7} | {side:3}² | {substeps:8} | {friction:8} | {mesh:8} | {fastest:13.2} | {quantile:12.2} | {mean:9.2} % \
             | {worst:.1} % | {peak:.1} % | {step:.2} |"
        );
    }
}

/// Prints medians and largest values.
fn summarize(all: &[Figures]) {
    let row = |name: &str, pick: fn(&Figures) -> f32| {
        let mut values: Vec<f32> = all.iter().map(pick).collect();
        values.sort_unstable_by(f32::total_cmp);
        let (median, largest) = (values[values.len() / 2], values[values.len() - 1]);
        println!("{name}: median {median:.2}, largest {largest:.2}");
    };
    println!();
    row("fastest particle, mm/s", |figures| figures.fastest);
    row("99.9 % of particles, mm/s", |figures| figures.quantile);
    row("mean stretch, %", |figures| figures.mean);
    row("worst link, %", |figures| figures.worst);
    row("worst link of all steps, %", |figures| figures.peak);
}

impl On {
    /// Returns the colliders on a floor at height 0, below a sheet at a height of 1.5 m.
    fn colliders(self, static_coefficient: f32) -> Vec<Collider> {
        let friction = Friction {
            static_coefficient,
            kinetic_coefficient: 0.8 * static_coefficient,
        };
        let posed = |shape, rotation, translation| {
            let pose = Pose {
                rotation,
                translation,
            };
            Collider::fixed(shape, pose, friction)
        };
        let at = |shape, translation| posed(shape, Quat::IDENTITY, translation);
        let ball = |radius, x, y, z| at(Shape::Sphere { radius }, Vec3::new(x, y, z));
        let half_size = Vec3::splat(0.4);
        let capsule = Shape::Capsule {
            radius: 0.25,
            half_length: 0.6,
        };
        let cone = Shape::Cone {
            radius: 0.5,
            half_height: 0.45,
        };
        let mut colliders = match self {
            Self::Ball => vec![ball(0.5, 0.0, 0.5, 0.0)],
            Self::Box => vec![posed(
                Shape::Cuboid { half_size },
                Quat::from_rotation_y(0.3),
                Vec3::Y * half_size.y,
            )],
            Self::Capsule => vec![posed(
                capsule,
                Quat::from_rotation_z(FRAC_PI_2),
                Vec3::Y * 0.6,
            )],
            Self::Balls => vec![
                ball(0.3, -0.5, 0.5, -0.2),
                ball(0.35, 0.5, 0.6, -0.3),
                ball(0.25, 0.1, 0.7, 0.5),
            ],
            Self::Cone => vec![at(cone, Vec3::Y * 0.45)],
        };
        colliders.push(at(Shape::HalfSpace, Vec3::ZERO));
        colliders
    }
}
