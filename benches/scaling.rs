//! One to a thousand cloths of 24 × 24 particles in an app with the plugin, on one thread and on two.
//!
//! ```sh
//! cargo bench --bench scaling
//! ```
//!
//! Measures the time in `FixedUpdate` from the start of `Prepare` to the end of `Finish`.

#[expect(dead_code, reason = "measure needs more")]
#[path = "../examples/measure/crowd.rs"]
mod crowd;
#[expect(dead_code, reason = "others need more")]
#[path = "common/turns.rs"]
mod turns;

use bevy_drape::cloth::{ClothSubsteps, SelfCollision};
use crowd::Crowd;
use std::cell::RefCell;
use turns::{is_bench, take_turns};

const SIDE: u32 = 24;
fn main() {
    let counts = if is_bench() {
        &[1, 10, 100, 200, 1000][..]
    } else {
        &[2][..]
    };
    println!(
        "| cloths | order     | 1 thread, ms | µs per cloth | 2 threads, ms | µs per cloth | speed-up |"
    );
    println!("|---|---|---|---|---|---|---|");
    for &cloths in counts {
        for (name, by_phases) in [("fused", false), ("by phases", true)] {
            let [one, two] = fastest(cloths, by_phases);
            let each = |ms: f64| ms * 1e3 / f64::from(cloths);
            println!(
                "| {cloths:6} | {name:9} | {one:.3} | {:.1} | {two:.3} | {:.1} | {:.2} |",
                each(one),
                each(two),
                one / two
            );
        }
    }
}

/// Returns the fastest step of this many hanging cloths, on one thread and on two, ms.
fn fastest(cloths: u32, by_phases: bool) -> [f64; 2] {
    let crowd = Crowd {
        cloths,
        side: SIDE,
        falls: false,
        self_collision: SelfCollision::Off,
        threads: 2,
        by_phases,
        asleep: false,
        substeps: ClothSubsteps::default().count(1.0 / 60.0),
    };
    let running = RefCell::new(crowd.build());
    let step_by = |threads| {
        let mut running = running.borrow_mut();
        running.use_threads(threads);
        running.step()
    };
    take_turns(3.0, [&mut || step_by(1), &mut || step_by(2)]).map(|times| times.fastest)
}
