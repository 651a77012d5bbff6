//! Runs the solver without an app and prints its speed and the stretch of the cloth; with `--cloths`, many cloths
//! in an app with the plugin.
//!
//! ```sh
//! cargo run --release --example measure -- --scene hang --side 64 --json
//! cargo run --release --example measure -- --scene hang --side 24 --cloths 200 --threads 2
//! ```

#[path = "measure/crowd.rs"]
mod crowd;
#[path = "measure/scene.rs"]
mod scene;

use bevy::math::Vec3;
use bevy_drape::{
    cloth::{ClothSubsteps, SelfCollision},
    solver::{self, ParticleArrays, SimdLevel, StretchSolver},
};
use clap::{Parser, ValueEnum};
use crowd::Crowd;
use scene::{MeshLayout, Scene, SheetPins, Stage, Stepper};
use serde::Serialize;
use std::{fs, io::Write, path::PathBuf, process::ExitCode, time::Instant};

/// Measures the cloth solver. Defaults are those of the plugin.
#[derive(Parser)]
struct Arguments {
    /// hang: a sheet pinned at its two upper corners. drape: a sheet falls on a sphere on a floor.
    /// hanging: the cloth of the tutorials, 20 × 20 particles 0.15 m apart, upper row pinned, 5
    /// iterations, 1 substep of 0.016 s, gravity 9.8. crumple: an upright sheet falls edge first on a
    /// floor
    #[arg(long, value_enum)]
    scene: Scene,
    /// Particles along each side of the square sheet [default: 64]
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=4096))]
    side: Option<u32>,
    /// Substeps per step
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    substeps: Option<u32>,
    /// Solver iterations per substep
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Number of steps
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// Number of threads
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,
    /// Number of cloths in an app with the plugin; of the other options, only --scene, --side,
    /// --substeps, --steps, --threads and --self-collision apply
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    cloths: Option<u32>,
    /// With --cloths: add a system to the substeps, so that all cloths go through each phase together
    /// instead of each cloth through all its substeps
    #[arg(long, requires = "cloths")]
    by_phases: bool,
    /// With --cloths: put them to sleep
    #[arg(long, requires = "cloths")]
    asleep: bool,
    /// Gravity downwards, m/s²
    #[arg(long, allow_hyphen_values = true, value_parser = finite)]
    gravity: Option<f32>,
    /// Length of a step, s [default: 1/60]
    #[arg(long, allow_hyphen_values = true, value_parser = positive)]
    dt: Option<f32>,
    /// Distance of neighbouring particles, m [default: the sheet is 2 m wide]
    #[arg(long, allow_hyphen_values = true, value_parser = positive)]
    spacing: Option<f32>,
    /// Maximum length of tethers, as a multiple of their rest length; inf switches them off
    /// [default: 1, and inf for hanging]
    #[arg(long, value_parser = scale)]
    tether_scale: Option<f32>,
    /// Compliance along warp and weft, m/N: 1 / stiffness [default: 0]
    #[arg(long, value_parser = positive)]
    compliance: Option<f32>,
    /// Largest strain with compliance, as a fraction of the rest length; inf sets no limit
    /// [default: 0.1]
    #[arg(long, value_parser = non_negative)]
    strain_limit: Option<f32>,
    /// Record the loads of constraints, as of cloth that may tear
    #[arg(long)]
    loads: bool,
    /// Internal friction, m/s² [default: that of the plugin, and 0 for hanging]
    #[arg(long, value_parser = non_negative)]
    internal_friction: Option<f32>,
    /// Bending stiffness, N·m [default: that of the plugin]
    #[arg(long, value_parser = non_negative)]
    bending: Option<f32>,
    /// Damping of bending, s [default: that of the plugin, and 0 for hanging]
    #[arg(long, value_parser = non_negative)]
    bending_damping: Option<f32>,
    /// Pinned part of the sheet [default: corners for hang, top for hanging, none for drape]
    #[arg(long, value_enum)]
    pins: Option<SheetPins>,
    /// Order of vertices and triangles in the mesh
    #[arg(long, value_enum, default_value = "grid")]
    mesh: MeshLayout,
    /// Solve stretch constraints one after the other (Gauss–Seidel) instead of whole chains directly
    #[arg(long)]
    gauss_seidel: bool,
    /// Self-collision of particles
    #[arg(long)]
    self_collision: bool,
    /// SIMD level [default: the widest that the processor supports]
    #[arg(long, value_enum)]
    simd: Option<Simd>,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
    /// Write the final positions as CSV, one particle per row: x,y,z
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Simd {
    Baseline,
    Avx2,
    Avx512,
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
    /// Speed of the fastest particle in the last step, m/s.
    speed_max: f32,
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

fn non_negative(text: &str) -> Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| "not a number".to_string())?;
    (value >= 0.0)
        .then_some(value)
        .ok_or("must be 0 or more".into())
}

impl Arguments {
    /// Returns the mode of self-collision.
    fn collision(&self) -> SelfCollision {
        match self.self_collision {
            true => SelfCollision::On,
            false => SelfCollision::Off,
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(simd) = arguments.simd {
        let level = match simd {
            Simd::Baseline => SimdLevel::Baseline,
            Simd::Avx2 => SimdLevel::Avx2,
            Simd::Avx512 => SimdLevel::Avx512,
        };
        if !level.force() {
            eprintln!("this processor does not support {level:?}");
            return ExitCode::FAILURE;
        }
    }
    if let Some(cloths) = arguments.cloths {
        let crowd = Crowd {
            cloths,
            side: arguments.side.unwrap_or(24),
            falls: arguments.scene == Scene::Drape,
            threads: arguments.threads,
            by_phases: arguments.by_phases,
            asleep: arguments.asleep,
            self_collision: arguments.collision(),
            substeps: arguments
                .substeps
                .unwrap_or_else(|| ClothSubsteps::default().count(1.0 / 60.0)),
        };
        print(&crowd.measure(arguments.steps), arguments.json);
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
    let mut plan = arguments.scene.plan();
    plan.side = arguments.side.unwrap_or(plan.side);
    plan.substeps = arguments.substeps.unwrap_or(plan.substeps);
    plan.iterations = arguments.iterations.unwrap_or(plan.iterations);
    plan.dt = arguments.dt.unwrap_or(plan.dt);
    plan.tether_scale = arguments.tether_scale.unwrap_or(plan.tether_scale);
    plan.compliance = arguments.compliance.unwrap_or(plan.compliance);
    plan.loads = arguments.loads;
    plan.strain_limit = arguments.strain_limit.unwrap_or(plan.strain_limit);
    plan.bending = arguments.bending.unwrap_or(plan.bending);
    plan.bending_damping = arguments.bending_damping.unwrap_or(plan.bending_damping);
    plan.internal_friction = arguments
        .internal_friction
        .unwrap_or(plan.internal_friction);
    plan.pins = arguments.pins.unwrap_or(plan.pins);
    plan.spacing = arguments.spacing.or(plan.spacing);
    plan.mesh = arguments.mesh;
    plan.gravity = arguments.gravity.map_or(plan.gravity, |g| Vec3::NEG_Y * g);
    if arguments.gauss_seidel {
        plan.stretch_solver = StretchSolver::GaussSeidel;
    }
    plan.self_collision = arguments.collision();
    let mut stage = plan.build();
    let mut stepper = Stepper::with_threads(arguments.threads);

    let mut times = Vec::with_capacity(arguments.steps as usize);
    let mut penetration_max = 0.0_f32;
    for step in 0..arguments.steps {
        let began = Instant::now();
        let finite = stepper.step(&mut stage);
        times.push(began.elapsed().as_secs_f64() * 1e3);
        if !finite {
            eprintln!(
                "step {step}: a number was not finite; the cloth was put back to the start of the step"
            );
        }
        let deepest = solver::deepest_penetration(&stage.particles, &stage.colliders);
        penetration_max = penetration_max.max(deepest);
    }

    let Stage {
        particles,
        constraints,
        ..
    } = stage;
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    let stretch = solver::measure_stretch(&particles, &constraints);
    let projections =
        constraints.len() as f64 * f64::from(plan.iterations) * f64::from(plan.substeps);
    let report = Report {
        scene: plan.name,
        side: plan.side,
        particles: particles.len(),
        constraints: constraints.len(),
        substeps: plan.substeps,
        iterations: plan.iterations,
        steps: arguments.steps,
        threads: arguments.threads,
        ms_per_step_median: median,
        ms_per_step_min: times[0],
        ns_per_projection: median * 1e6 / projections,
        stretch_mean: stretch.mean,
        stretch_rms: stretch.rms,
        stretch_max: stretch.max,
        penetration_max,
        speed_max: max_speed(&particles, plan.dt),
        state_hash: format!("{:016x}", particles.state_hash()),
    };
    (report, particles)
}

/// Returns the speed of the fastest particle over the last step, m/s.
fn max_speed(particles: &ParticleArrays, dt: f32) -> f32 {
    let positions = particles.position.iter().zip(particles.previous.iter());
    let distances = positions.map(|(now, before)| now.distance(before));
    distances.fold(0.0, f32::max) / dt
}

fn dump(path: &PathBuf, particles: &ParticleArrays) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(fs::File::create(path)?);
    for i in 0..particles.len() {
        let Vec3 { x, y, z } = particles.world_position(i);
        writeln!(file, "{x},{y},{z}")?;
    }
    file.flush()
}
