//! Random worlds: edits of everything that is public, one number in five hostile, and properties that hold whatever
//! happens.
//!
//! `BEVY_DRAPE_WORLDS=5000 BEVY_DRAPE_WORLD_SEED=1` sets the number of worlds and the seed of the first one. A world
//! that fails is reduced to few edits, which are printed: they make a test of their own.
//!
//! | file | contents |
//! |---|---|
//! | `edit` | edits, and how they are drawn |
//! | `meshes` | meshes of cloths |
//! | `engines` | physics engines and their bodies |
//! | `reflection` | components, resources and fields by index |
//! | `scene` | world that edits are applied to |
//! | `oracles` | properties that are checked after each update |
//! | `trace` | numbers that are compared with those of another run of the same world |
//! | `tears` | conservation of mass and area by random cuts and tears |

mod edit;
mod engines;
mod meshes;
pub(crate) mod oracles;
mod reflection;
mod scene;
mod tears;
mod trace;

use edit::{Edit, Plan, plans};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use scene::{Mode, Scene};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};
use trace::Trace;

/// Number of edits of a world.
const EDITS: usize = 180;

/// Every so many worlds are run on 1, 2 and 7 threads.
const THREADS_EVERY: u64 = 4;

/// Runs a world. Returns what is compared, or the first violation.
fn run(plan: &Plan, mode: Mode) -> Result<Trace, String> {
    let attempt = || {
        let mut scene = Scene::new(plan, mode);
        let mut trace = Trace::default();
        for edit in &plan.edits {
            let begin = Instant::now();
            scene.apply(edit, |scene| {
                trace.record(scene);
                oracles::check(scene)
            })?;
            let limit = variable("BEVY_DRAPE_SLOW_MS", u64::MAX);
            if begin.elapsed().as_millis() > limit.into() {
                return Err(format!(
                    "{edit:?} takes {:.1} s",
                    begin.elapsed().as_secs_f32()
                ));
            }
        }
        Ok(trace)
    };
    catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied());
        Err(format!("panic: {}", text.unwrap_or("without a message")))
    })
}

/// Runs a world several times. Returns the first violation.
fn check(plan: &Plan, with_threads: bool, is_told: bool) -> Result<(), String> {
    let mode = Mode {
        is_told,
        ..Mode::default()
    };
    let trace = run(plan, mode)?;
    let alone = Mode {
        is_witness_alone: true,
        ..Mode::default()
    };
    if !plan.has_lod {
        run(plan, alone)?.same_witness(&trace)?;
    }
    // Anything may take that much.
    if trace.most_work() > trace::ALLOWED_WORK {
        let tamed = Plan {
            edits: plan.edits.iter().filter_map(Edit::tamed).collect(),
            ..plan.clone()
        };
        trace.bounded_by(&run(&tamed, Mode::default())?)?;
    }
    if with_threads && !plan.has_lod {
        let on = |threads| Mode {
            threads: Some(threads),
            ..Mode::default()
        };
        let one = run(plan, on(1))?;
        for threads in [2, 7] {
            one.same_bits(&run(plan, on(threads))?, threads)?;
        }
    }
    Ok(())
}

pub(crate) fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Returns a runner of one case, which reduces it if it fails.
pub(crate) fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases: 1,
        max_shrink_iters: 300,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Removes edits without which it still fails, in ever smaller runs.
fn reduce(mut plan: Plan, fails: impl Fn(&Plan) -> bool) -> Plan {
    let mut length = plan.edits.len().div_ceil(2);
    while length > 0 {
        let mut start = 0;
        while start < plan.edits.len() {
            let mut fewer = plan.clone();
            let end = (start + length).min(plan.edits.len());
            fewer.edits.drain(start..end);
            match fails(&fewer) {
                true => plan = fewer,
                false => start += length,
            }
        }
        length /= 2;
    }
    plan
}

#[test]
fn nothing_breaks_random_worlds() {
    let first = variable("BEVY_DRAPE_WORLD_SEED", 0);
    let count = variable("BEVY_DRAPE_WORLDS", 20);
    for seed in first..first + count {
        let plan = plans(EDITS).new_tree(&mut runner(seed));
        let plan = plan.expect("the strategy rejects nothing").current();
        let with_threads = seed % THREADS_EVERY == 0;
        if let Err(first) = check(&plan, with_threads, false) {
            println!("world {seed}: {first}; it is being reduced");
            let plan = reduce(plan, |plan| check(plan, with_threads, false).is_err());
            let last = check(&plan, with_threads, true).unwrap_err();
            panic!("world {seed}: {first}\nreduced: {last}\n{plan:?}");
        }
    }
}
