//! Whole fixed steps at the plugin's defaults beside ten passes of the tutorials' loop over the same
//! sheet, in turns.
//!
//! ```sh
//! cargo bench --bench steps
//! ```
//!
//! Each cloth has taken 300 steps (5 s) before it is timed: the hanging one hangs, the falling one
//! lies on ball and floor. The stretch is that of this moment.

#[expect(dead_code, reason = "measure needs more")]
#[path = "../examples/measure/scene.rs"]
mod scene;
#[path = "common/turns.rs"]
mod turns;
#[path = "common/tutorial.rs"]
mod tutorial;

use bevy_drape::solver;
use scene::{Crew, Form, Plan, Scene, Stage};
use turns::{Times, is_bench, take_turns, timed};
use tutorial::Tutorial;

/// Passes of the tutorials' loop.
const ITERATIONS: u32 = 10;
/// Steps that come before.
const STEPS: u32 = 300;
/// For each cloth.
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
            ("hang", Scene::Hang, Form::Grid),
            ("hang, shuffled", Scene::Hang, Form::Shuffled),
            ("hang, no grid", Scene::Hang, Form::General),
            ("drape", Scene::Drape, Form::Grid),
            ("drape, no grid", Scene::Drape, Form::General),
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

/// The tutorials' cloth with as many particles.
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

/// Times one cloth, stepped by one thread and by two.
fn compare(name: &str, plan: &Plan, steps: u32, tutorial: &mut Tutorial) {
    let mut stage = plan.build();
    let [mut one, mut two] = [1, 2].map(Crew::of);
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
        let [mean, max] = [stretch.mean, stretch.max].map(|share| share * 100.0);
        println!(" {mean:.2} % | {max:.2} % |");
    }
}

fn step(crew: &mut Crew, stage: &mut Stage) {
    assert!(crew.step(stage), "a number was not finite");
}
