//! Simulates a day of small scenes, and reports whether anything drifts: memory, rest lengths, origins, clocks, speeds, the time
//! that a step takes.
//!
//! ```sh
//! cargo run --release --example soak --features avian,rapier
//! cargo run --release --example soak --features avian,rapier -- --hours 1
//! ```
//!
//! The hours are those of the scenes, all together. Each scene is an app of its own; they take turns.

#[path = "../memory/counting.rs"]
mod counting;
#[path = "../common/headless.rs"]
mod headless;
mod report;
mod scenes;
mod vitals;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use report::Report;
use scenes::Scene;
use std::process::ExitCode;

/// Steps per second of all scenes.
pub(crate) const RATE: f64 = 60.0;

/// Number of parts of the time that are compared with each other.
const PARTS: usize = 24;

/// Simulates small scenes for a long time and reports what drifts.
#[derive(Parser)]
struct Arguments {
    /// Simulated time of all scenes together, h
    #[arg(long, default_value_t = 24.0, value_parser = hours)]
    hours: f64,
}

fn hours(text: &str) -> Result<f64, String> {
    let hours: f64 = text.parse().map_err(|_| "not a number")?;
    let is_valid = (0.1..=100_000.0).contains(&hours);
    is_valid.then_some(hours).ok_or("0.1 to 100000".into())
}

fn main() -> ExitCode {
    let Arguments { hours } = Arguments::parse();
    let mut scenes = Scene::all();
    let steps = hours * 3600.0 * RATE / (PARTS * scenes.len()) as f64;
    let steps = steps.ceil() as u64;
    let bar = ProgressBar::new(steps * (PARTS * scenes.len()) as u64);
    let template = "{bar:40} {percent} % of {len} steps, {msg}, {eta} left";
    bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
    let mut report = Report::default();
    for _ in 0..PARTS {
        for scene in &mut scenes {
            bar.set_message(scene.name);
            let vitals = scene.run(steps, |done| bar.inc(done));
            report.add(scene.name, vitals);
        }
        report.add_memory(counting::live());
    }
    bar.finish_and_clear();
    println!("{hours} h, {steps} steps of each scene in each of {PARTS} parts");
    match report.print() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
