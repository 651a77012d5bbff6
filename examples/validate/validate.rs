//! Compares the solver with known answers of physics, prints a table, and draws some plots. Exits with code 1 if a
//! row fails.
//!
//! ```sh
//! cargo run --release --example validate
//! cargo run --release --example validate -- --full --only "all drapes"
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `answers/` | experiments with expected results and their sources |
//! | `sample` | cloths, chains and particles without an app |
//! | `strip` | bending strips of fabric |
//! | `own_sheet` | sheets with self-collision |
//! | `contact_scenes` | scenes in which cloth touches itself |
//! | `drape`, `supports` | sheets that fall on colliders, and the colliders |
//! | `energy` | energy of a swinging sheet |
//! | `plots` | plots |

mod answers;
mod contact_scenes;
#[path = "../../tests/common/crossings.rs"]
mod crossings;
mod drape;
mod energy;
#[path = "../../tests/common/folds.rs"]
#[expect(dead_code, reason = "tests need more")]
mod folds;
#[path = "../measure/mesh_layout.rs"]
mod mesh_layout;
mod own_sheet;
#[path = "../../tests/common/passages.rs"]
mod passages;
mod plots;
mod sample;
mod strip;
mod supports;

use answers::{EXPERIMENTS, FULL, Row};
use clap::Parser;
use std::{path::PathBuf, process::ExitCode};

/// Compares the cloth solver with known answers of physics.
#[derive(Parser)]
struct Arguments {
    /// Folder for the plots, as SVG
    #[arg(long, value_name = "FOLDER", default_value = "target/validate")]
    plots: PathBuf,
    /// Only experiments whose names contain this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Also the experiments that take hours
    #[arg(long)]
    full: bool,
}

fn main() -> ExitCode {
    let Arguments { plots, only, full } = Arguments::parse();
    let all = EXPERIMENTS
        .iter()
        .chain(FULL.into_iter().flatten().filter(|_| full));
    let mut chosen = all.clone().filter(|e| e.name.contains(&only)).peekable();
    if chosen.peek().is_none() {
        let names: Vec<_> = all.map(|e| e.name).collect();
        eprintln!(
            "there is no experiment {only:?}; there are {}",
            names.join(", ")
        );
        return ExitCode::FAILURE;
    }
    let (mut rows, mut failed, mut missed) = (0, 0, 0);
    for experiment in chosen {
        println!("{} — {}", experiment.name, experiment.source);
        for row in (experiment.run)() {
            rows += 1;
            failed += usize::from(!row.passes());
            missed += usize::from(row.misses_goal());
            print(&row);
        }
    }
    println!(
        "{} of {rows} rows pass; {missed} miss their goals",
        rows - failed
    );
    if only.is_empty() {
        match plots::draw(&plots) {
            Ok(files) => files
                .iter()
                .for_each(|file| println!("wrote {}", file.display())),
            Err(problem) => {
                eprintln!("error: plots in {}: {problem}", plots.display());
                return ExitCode::FAILURE;
            }
        }
    }
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn print(row: &Row) {
    let verdict = if row.passes() { "pass" } else { "FAIL" };
    let [expected, measured] = [row.expected, row.measured].map(short);
    println!(
        "  {verdict}  {:48} expected {expected:>10}  got {measured:>10}  {}",
        row.label,
        row.tolerance()
    );
}

/// Formats a number with six significant digits.
fn short(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let digits = 5 - number.abs().log10().floor() as i32;
    match digits {
        0..=8 => format!("{number:.*}", digits as usize),
        _ => format!("{number:.2e}"),
    }
}
