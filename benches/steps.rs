//! Whole fixed steps at the plugin's defaults compared with ten iterations of the tutorials' loop on the same
//! sheet, in turns.
//!
//! ```sh
//! cargo bench --bench steps
//! ```
//!
//! Each cloth takes 300 steps (5 s) before it is timed: `hang` then hangs at rest, `drape` lies on sphere and
//! floor. The stretch is that after these steps.

#[expect(dead_code, reason = "measure needs more")]
#[path = "../examples/measure/scene.rs"]
mod scene;
#[path = "common/turns.rs"]
mod turns;
#[path = "common/tutorial.rs"]
mod tutorial;

use bevy_drape::solver;
use scene::{MeshLayout, Plan, Scene, Stage, Stepper};
use turns::{Times, is_bench, take_turns, timed};
use tutorial::Tutorial;

/// Iterations of the tutorials' loop.
const ITERATIONS: u32 = 10;
/// Steps before the measurement.
const STEPS: u32 = 300;
/// Duration of the measurement of each cloth, s.
const SECONDS: f64 = 3.0;

fn main() {
    let (sides, steps) = if is_bench() {
        (&[32, 64, 128, 256][..], STEPS)
    } else {
        (&[16][..], 3)
    };
    println!(
        "|     N | cloth           | threads | fastest, ms | median, ms | × tutorial | mean stretch | max stretch |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for &side in sides {
        let mut tutorial = tutorial(side);
        for (name, scene, mesh) in [
            ("hang", Scene::Hang, MeshLayout::Grid),
            ("hang, shuffled", Scene::Hang, MeshLayout::Shuffled),
            ("hang, no grid", Scene::Hang, MeshLayout::General),
            ("drape", Scene::Drape, MeshLayout::Grid),
            ("drape, no grid", Scene::Drape, MeshLayout::General),
        ] {
            let plan = Plan {
                side,
                mesh,
                ..scene.plan()
            };
            compare(name, &plan, steps, &mut tutorial);
        }
    }
}

/// Returns the tutorials' cloth with as many particles.
fn tutorial(side: u32) -> Tutorial {
    let plan = Plan {
        side,
        ..Scene::Hang.plan()
    };
    let Stage {
        particles,
        constraints,
        ..
    } = plan.build();
    Tutorial::of(&particles, &constraints)
}

/// Times one cloth, on one thread and on two.
fn compare(name: &str, plan: &Plan, steps: u32, tutorial: &mut Tutorial) {
    let mut stage = plan.build();
    let [mut one, mut two] = [1, 2].map(Stepper::with_threads);
    for _ in 0..steps {
        step(&mut two, &mut stage);
    }
    let stretch = solver::measure_stretch(&stage.particles, &stage.constraints);
    let [mut by_one, mut by_two] = [stage.clone(), stage];
    let [loops, by_one, by_two] = take_turns(
        SECONDS,
        [
            &mut || timed(|| tutorial.relax(ITERATIONS)),
            &mut || timed(|| step(&mut one, &mut by_one)),
            &mut || timed(|| step(&mut two, &mut by_two)),
        ],
    );
    let side = plan.side;
    let row = |name: &str, threads, Times { fastest, median }| {
        let ratio = fastest / loops.fastest;
        print!("| {side:4}² | {name:15} | {threads} | {fastest:.3} | {median:.3} | {ratio:.3} |");
    };
    if name == "hang" {
        row("tutorial", 1, loops);
        println!(" | |");
    }
    for (threads, times) in [(1, by_one), (2, by_two)] {
        row(name, threads, times);
        let [mean, max] = [stretch.mean, stretch.max].map(|strain| strain * 100.0);
        println!(" {mean:.2} % | {max:.2} % |");
    }
}

fn step(stepper: &mut Stepper, stage: &mut Stage) {
    assert!(stepper.step(stage), "a number was not finite");
}
