//! Cost of self-collision: the same cloth without it and with it, step by step in turns, from the first step on.
//!
//! ```sh
//! cargo bench --bench self_collision
//! ```
//!
//! `hang` never touches itself, `drape` falls on a sphere and hangs down in folds, `crumple` falls edge first on a
//! floor and ends as a heap. Without self-collision, cloth moves differently once it has passed through itself, so
//! the steps compared are not of exactly the same shape.

#[path = "../examples/measure/scene.rs"]
mod scene;
#[path = "common/turns.rs"]
#[expect(dead_code, reason = "other benches need more")]
mod turns;

use bevy_drape::cloth::SelfCollision;
use scene::{Plan, Scene, Stepper};
use turns::{is_bench, timed};

/// Number of steps of each cloth: 5 s.
const STEPS: usize = 300;
/// Number of steps of which the median is taken: other load on the machine affects single steps.
const TOGETHER: usize = 10;

fn main() {
    let (sides, steps) = if is_bench() {
        (&[64, 128, 256][..], STEPS)
    } else {
        (&[16][..], 20)
    };
    println!(
        "| scene | N | without, ms | with, ms | all steps, × | middle step, × | last second, × |"
    );
    println!("|---|---|---|---|---|---|---|");
    for scene in [Scene::Hang, Scene::Drape, Scene::Crumple] {
        for &side in sides {
            compare(scene, side, steps);
        }
    }
}

fn compare(scene: Scene, side: u32, steps: usize) {
    let modes = [SelfCollision::Off, SelfCollision::On];
    let mut stages = modes.map(|self_collision| {
        Plan {
            side,
            self_collision,
            ..scene.plan()
        }
        .build()
    });
    let mut stepper = Stepper::with_threads(1);
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..steps {
        for (stage, times) in stages.iter_mut().zip(&mut times) {
            times.push(timed(|| {
                assert!(stepper.step(stage), "a number was not finite");
            }));
        }
    }
    let [without, with] = &times;
    print!("| {} | {side}² | {:.3}", scene.plan().name, mean(without));
    let ratio = |of: fn(&[f64]) -> f64| of(with) / of(without);
    print!(
        " | {:.3} | {:.2} | {:.2} | {:.2}",
        mean(with),
        ratio(mean),
        ratio(median),
        ratio(|times| median(&times[times.len() * 4 / 5..])),
    );
    println!(" |");
}

/// Returns the mean of the medians of groups of steps.
fn mean(times: &[f64]) -> f64 {
    let few = times.chunks(TOGETHER);
    let count = few.len() as f64;
    few.map(median).sum::<f64>() / count
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
