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

#[path = "../tests/common/crossings.rs"]
mod crossings;
#[path = "../examples/validate/drape.rs"]
mod drape;
#[path = "../examples/measure/mesh_layout.rs"]
mod mesh_layout;
#[path = "../examples/validate/own_sheet.rs"]
#[expect(dead_code, reason = "validate needs more")]
mod own_sheet;
#[path = "../examples/validate/sample.rs"]
#[expect(dead_code, reason = "validate needs more")]
mod sample;
#[path = "../examples/validate/supports.rs"]
mod supports;
#[expect(dead_code, reason = "other benches need more")]
#[path = "common/turns.rs"]
mod turns;

use bevy_drape::cloth::{Fabric, SelfCollision};
use clap::Parser;
use drape::{Drape, DrapeFigures};
use mesh_layout::MeshLayout;
use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};
use supports::Support;

#[derive(Parser)]
struct Arguments {
    /// Colliders.
    #[arg(long, value_delimiter = ',', default_values_t = Support::ALL)]
    shape: Vec<Support>,
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

fn main() {
    let mut arguments = Arguments::parse();
    if !turns::is_bench() {
        (arguments.side, arguments.seconds) = (vec![12], 0.2);
    }
    let cases: Vec<Drape> = cases(&arguments).collect();
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    println!(
        "| on          |    N | substeps | friction | mesh     | fastest, mm/s | 99.9 %, mm/s | mean stretch | worst | peak | step, ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let figures = case.run(arguments.seconds);
                    print(case, &figures);
                    all.lock().expect("no thread panics").push(figures);
                }
            });
        }
    });
    summarize(&all.into_inner().expect("no thread panics"));
}

/// Iterates over all combinations, large sheets first.
fn cases(arguments: &Arguments) -> impl Iterator<Item = Drape> {
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
    let self_collision = match self_collision {
        true => SelfCollision::On,
        false => SelfCollision::Off,
    };
    sides.into_iter().flat_map(move |side| {
        shape.iter().flat_map(move |&on| {
            substeps.iter().flat_map(move |&substeps| {
                friction.iter().flat_map(move |&friction| {
                    mesh.iter().map(move |&layout| Drape {
                        on,
                        side,
                        layout,
                        friction,
                        substeps,
                        fabric: Fabric::default(),
                        self_collision,
                    })
                })
            })
        })
    })
}

fn print(drape: &Drape, figures: &DrapeFigures) {
    let Drape {
        on,
        side,
        layout,
        friction,
        substeps,
        ..
    } = drape;
    let DrapeFigures {
        fastest,
        quantile,
        mean,
        worst,
        peak,
        step,
        ..
    } = figures;
    println!(
        "| {on:11} | {side:3}² | {substeps:8} | {friction:8} | {layout:8} | {fastest:13.2} | {quantile:12.2} | {mean:9.2} % \
         | {worst:.1} % | {peak:.1} % | {step:.2} |"
    );
}

/// Prints medians and largest values.
fn summarize(all: &[DrapeFigures]) {
    let row = |name: &str, pick: fn(&DrapeFigures) -> f32| {
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
