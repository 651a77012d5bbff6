//! Runs the solver alone and prints how fast and how stiff it is. No window, no app; with `--cloths`
//! many cloths, through the plugin.
//!
//! ```sh
//! cargo run --release --example measure -- --scene hang --side 64 --json
//! cargo run --release --example measure -- --scene hang --side 24 --cloths 200 --threads 2
//! ```

#[path = "measure/crowd.rs"]
mod crowd;

use bevy::{
    math::{Mat3, Quat, Vec3},
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use bevy_drape::{
    Cloth, ClothCorner, ClothEdge, ClothGravity, Pins, Substeps, Wind,
    mesh::{Assembly, ClothGrid, Topology, TriangleMesh},
    solver::{
        self, Body, Collider, Friction, Leader, ParticleArrays, PinTarget, Pose, RestShape,
        SelfCollision, SelfContacts, Shape, SimdLevel, StepSettings, Tethers, ThreadSolver,
    },
};
use clap::{Parser, ValueEnum};
use crowd::Crowd;
use serde::Serialize;
use std::{fs, io::Write, path::PathBuf, process::ExitCode, time::Instant};

/// Measures the cloth solver. What is not given takes the plugin's default.
#[derive(Parser)]
struct Arguments {
    /// hang: a sheet held by its two upper corners. drape: it falls on a sphere over a floor.
    /// hanging: the cloth of the tutorials, 20 × 20 particles 0.15 m apart, upper row held, 5
    /// iterations, 1 substep of 0.016 s, gravity 9.8
    #[arg(long, value_enum)]
    scene: Scene,
    /// Particles along each side of the square sheet [default: 64]
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=4096))]
    side: Option<u32>,
    /// Substeps of each step
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    substeps: Option<u32>,
    /// Relaxation passes of each substep
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Steps to run
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// Threads that share the work
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,
    /// So many cloths, through the plugin; --scene, --side, --substeps, --steps, --threads and
    /// --self-collision count,
    /// nothing else does
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    cloths: Option<u32>,
    /// With --cloths: have a system among the substeps, so that all cloths go through one phase after
    /// the other instead of each through all substeps
    #[arg(long, requires = "cloths")]
    by_phases: bool,
    /// Gravity downwards, m/s²
    #[arg(long, allow_hyphen_values = true, value_parser = finite)]
    gravity: Option<f32>,
    /// Length of a step, s [default: 1/60]
    #[arg(long, allow_hyphen_values = true, value_parser = positive)]
    dt: Option<f32>,
    /// Distance of neighbouring particles, m [default: the sheet is 2 m wide]
    #[arg(long, allow_hyphen_values = true, value_parser = positive)]
    spacing: Option<f32>,
    /// How far tethers let particles go, as a multiple of their lengths; inf switches them off
    /// [default: 1, and inf for hanging, which the tutorials have no tethers for]
    #[arg(long, value_parser = scale)]
    tether_scale: Option<f32>,
    /// What holds the sheet [default: corners for hang, top for hanging, none for drape]
    #[arg(long, value_enum)]
    pins: Option<Held>,
    /// How the sheet's mesh is made
    #[arg(long, value_enum, default_value = "grid")]
    mesh: Form,
    /// Solve threads constraint by constraint instead of as a whole
    #[arg(long)]
    relaxation: bool,
    /// Keep the particles apart from each other
    #[arg(long)]
    self_collision: bool,
    /// Instructions to use [default: the best that the processor has]
    #[arg(long, value_enum)]
    simd: Option<Simd>,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
    /// Write the final positions as CSV, one particle a row: x,y,z
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Form {
    /// Vertices row by row
    Grid,
    /// Vertices and triangles in random order
    Shuffled,
    /// Shuffled, and solved as any mesh that is no grid
    General,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Simd {
    Scalar,
    Baseline,
    Avx2,
    Avx512,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Scene {
    Hang,
    Drape,
    Hanging,
}

/// What a scene takes that is not given.
struct Defaults {
    name: &'static str,
    side: u32,
    spacing: Option<f32>,
    held: Held,
    substeps: u32,
    iterations: u32,
    dt: f32,
    gravity: Vec3,
    tether_scale: f32,
    threads: ThreadSolver,
}

impl Scene {
    fn defaults(self) -> Defaults {
        let plugin = Defaults {
            name: "hang",
            side: 64,
            spacing: None,
            held: Held::Corners,
            substeps: Substeps::default().0,
            iterations: Cloth::default().iterations,
            dt: 1.0 / 60.0,
            gravity: ClothGravity::default().0,
            tether_scale: Cloth::default().tether_scale,
            threads: Cloth::default().threads,
        };
        match self {
            Self::Hang => plugin,
            Self::Drape => Defaults {
                name: "drape",
                held: Held::None,
                ..plugin
            },
            Self::Hanging => Defaults {
                name: "hanging",
                side: 20,
                spacing: Some(0.15),
                held: Held::Top,
                substeps: 1,
                iterations: 5,
                dt: 0.016,
                gravity: Vec3::NEG_Y * 9.8,
                tether_scale: f32::INFINITY,
                threads: ThreadSolver::Relaxation,
            },
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Held {
    /// The whole upper side
    Top,
    /// The two upper corners
    Corners,
    None,
}

#[derive(Serialize)]
struct Report {
    scene: &'static str,
    side: u32,
    particles: usize,
    constraints: usize,
    substeps: u32,
    iterations: u32,
    steps: u32,
    threads: u32,
    ms_per_step_median: f64,
    ms_per_step_min: f64,
    ns_per_projection: f64,
    stretch_mean: f32,
    stretch_rms: f32,
    stretch_max: f32,
    penetration_max: f32,
    state_hash: String,
}

fn finite(text: &str) -> Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| "not a number".to_string())?;
    value
        .is_finite()
        .then_some(value)
        .ok_or("must be finite".into())
}

fn positive(text: &str) -> Result<f32, String> {
    let value = finite(text)?;
    (value > 0.0)
        .then_some(value)
        .ok_or("must be above 0".into())
}

fn scale(text: &str) -> Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| "not a number".to_string())?;
    (value >= 1.0)
        .then_some(value)
        .ok_or("must be 1 or more".into())
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(simd) = arguments.simd {
        let level = match simd {
            Simd::Scalar => SimdLevel::Scalar,
            Simd::Baseline => SimdLevel::Baseline,
            Simd::Avx2 => SimdLevel::Avx2,
            Simd::Avx512 => SimdLevel::Avx512,
        };
        if !level.force() {
            eprintln!("this processor has no {level:?}");
            return ExitCode::FAILURE;
        }
    }
    if let Some(cloths) = arguments.cloths {
        let crowd = Crowd {
            cloths,
            side: arguments.side.unwrap_or(24),
            falls: arguments.scene == Scene::Drape,
            steps: arguments.steps,
            threads: arguments.threads,
            by_phases: arguments.by_phases,
            self_collision: arguments.self_collision,
            substeps: arguments.substeps.unwrap_or(Substeps::default().0),
        };
        print(&crowd.measure(), arguments.json);
        return ExitCode::SUCCESS;
    }
    let (report, particles) = measure(&arguments);
    if let Some(path) = &arguments.dump
        && let Err(error) = dump(path, &particles)
    {
        eprintln!("cannot write {}: {error}", path.display());
        return ExitCode::FAILURE;
    }
    print(&report, arguments.json);
    ExitCode::SUCCESS
}

/// Prints a flat struct of numbers and strings.
fn print(report: &impl Serialize, json: bool) {
    let value = serde_json::to_value(report).expect("numbers and strings");
    if json {
        println!(
            "{}",
            serde_json::to_string(report).expect("it was just serialised")
        );
    } else if let Some(fields) = value.as_object() {
        for (name, value) in fields {
            println!("{name:20} {value}");
        }
    }
}

fn measure(arguments: &Arguments) -> (Report, ParticleArrays) {
    let cloth = Cloth::default();
    let wind = Wind::default();
    let defaults = arguments.scene.defaults();
    let side = arguments.side.unwrap_or(defaults.side);
    let width = arguments
        .spacing
        .or(defaults.spacing)
        .map_or(2.0, |spacing| spacing * (side - 1) as f32);
    let falls = arguments.scene == Scene::Drape;
    let grid = ClothGrid {
        vertical: !falls,
        ..ClothGrid::new(width, width, side, side)
    };
    let mut mesh = TriangleMesh::read(&grid.into()).expect("a grid has triangles");
    if arguments.mesh != Form::Grid {
        shuffle(&mut mesh);
    }
    let mut topology = Topology::new(&mesh).expect("a grid has triangles");
    if arguments.mesh == Form::General {
        topology.sheets.clear();
    }
    let Assembly {
        mut particles,
        mut constraints,
        triangles,
        ..
    } = topology.assemble(Vec3::Y * 1.5, Mat3::IDENTITY, cloth.fabric.areal_density);

    let pins = match arguments.pins.unwrap_or(defaults.held) {
        Held::Top => Pins::edge(ClothEdge::Top),
        Held::Corners => {
            Pins::corner(ClothCorner::TopLeft).and(Pins::corner(ClothCorner::TopRight))
        }
        Held::None => Pins::none(),
    };
    let mut targets = Vec::new();
    for particle in pins.select(&topology) {
        particles.inverse_mass[particle as usize] = 0.0;
        let position = particles.position.get(particle as usize);
        targets.push(PinTarget { particle, position });
    }

    let shape = RestShape {
        positions: &particles.position,
        triangles: &triangles.indices.to_vec(),
        constraints: &constraints,
    };
    let tethers = Tethers::new(&shape, &pins.select(&topology));
    let tether_scale = arguments.tether_scale.unwrap_or(defaults.tether_scale);

    let colliders = if falls { sphere_on_floor() } else { vec![] };
    let settings = StepSettings {
        dt: arguments.dt.unwrap_or(defaults.dt),
        substeps: arguments.substeps.unwrap_or(defaults.substeps),
        iterations: arguments.iterations.unwrap_or(defaults.iterations),
        threads: if arguments.relaxation {
            ThreadSolver::Relaxation
        } else {
            defaults.threads
        },
        gravity: arguments
            .gravity
            .map_or(defaults.gravity, |g| Vec3::NEG_Y * g),
        damping: cloth.damping,
        compliance: cloth.fabric.compliance(),
        tether_scale,
        air: cloth.fabric.air(wind.velocity, wind.air_density),
        surface: cloth.fabric.surface(),
    };

    let helpers = arguments.threads as usize - 1;
    let mut leader = if helpers == 0 {
        Leader::alone()
    } else {
        Leader::new()
    };
    let pool = ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(helpers).build());

    let spacing = solver::rest_spacing(&topology.positions, &triangles.indices, Mat3::IDENTITY);
    let apart = SelfCollision {
        distance: solver::self_distance(settings.surface.thickness, spacing),
        friction: settings.surface.friction,
        rest: &topology.positions,
        to_world: Mat3::IDENTITY,
    };
    let mut contacts = SelfContacts::default();
    let mut times = Vec::with_capacity(arguments.steps as usize);
    let mut penetration_max = 0.0_f32;
    for step in 0..arguments.steps {
        let body = Body {
            particles: &mut particles,
            constraints: &mut constraints,
            triangles: &triangles,
            tethers: &tethers,
            pins: &targets,
            self_contacts: arguments.self_collision.then_some((&mut contacts, apart)),
        };
        let began = Instant::now();
        leader.gather(helpers, |helper| {
            pool.spawn(async move { helper.help() }).detach();
        });
        let finite = solver::step_shared(&mut leader, body, &colliders, &settings);
        leader.dismiss();
        times.push(began.elapsed().as_secs_f64() * 1e3);
        if !finite {
            eprintln!("step {step}: a number was not finite; the cloth went back");
        }
        penetration_max = penetration_max.max(solver::deepest_penetration(&particles, &colliders));
    }

    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    let stretch = solver::measure_stretch(&particles, &constraints);
    let projections =
        constraints.len() as f64 * f64::from(settings.iterations) * f64::from(settings.substeps);
    let report = Report {
        scene: defaults.name,
        side,
        particles: particles.len(),
        constraints: constraints.len(),
        substeps: settings.substeps,
        iterations: settings.iterations,
        steps: arguments.steps,
        threads: arguments.threads,
        ms_per_step_median: median,
        ms_per_step_min: times[0],
        ns_per_projection: median * 1e6 / projections,
        stretch_mean: stretch.mean,
        stretch_rms: stretch.rms,
        stretch_max: stretch.max,
        penetration_max,
        state_hash: format!("{:016x}", particles.state_hash()),
    };
    (report, particles)
}

/// Puts vertices and triangles into a random order, always the same.
fn shuffle(mesh: &mut TriangleMesh) {
    let mut state = 0x853c_49e6_748f_ea9b_u64;
    let mut order = |count: usize| {
        let mut order: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            // A linear congruential generator (Knuth, MMIX).
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            order.swap(i, (state >> 33) as usize % (i + 1));
        }
        order
    };
    let places = order(mesh.positions.len());
    let mut name = vec![0; places.len()];
    for (new, &old) in (0..).zip(&places) {
        name[old] = new;
    }
    mesh.positions = places.iter().map(|&old| mesh.positions[old]).collect();
    let triangles = order(mesh.triangles.len());
    mesh.triangles = triangles
        .into_iter()
        .map(|old| mesh.triangles[old].map(|corner| name[corner as usize]))
        .collect();
}

/// A ball of radius 0.5 m on a floor 1.5 m below the sheet.
fn sphere_on_floor() -> Vec<Collider> {
    let at = |translation| Pose {
        rotation: Quat::IDENTITY,
        translation,
    };
    let friction = Friction {
        fixed: 0.5,
        kinetic: 0.4,
    };
    vec![
        Collider::fixed(Shape::Sphere { radius: 0.5 }, at(Vec3::Y * 0.5), friction),
        Collider::fixed(Shape::HalfSpace, at(Vec3::ZERO), friction),
    ]
}

fn dump(path: &PathBuf, particles: &ParticleArrays) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(fs::File::create(path)?);
    for i in 0..particles.len() {
        let Vec3 { x, y, z } = particles.world_position(i);
        writeln!(file, "{x},{y},{z}")?;
    }
    file.flush()
}
