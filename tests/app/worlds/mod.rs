//! Random worlds: edits of everything that is public, one number in five hostile, and properties that hold whatever
//! happens.
//!
//! `BEVY_DRAPE_WORLDS=5000 BEVY_DRAPE_WORLD_SEED=1` sets the number of worlds and the seed of the first one. A world
//! that fails is reduced to few edits, which are printed; it stays as a test in `found`.
//!
//! | file | contents |
//! |---|---|
//! | `edit` | edits, and how they are drawn |
//! | `meshes` | meshes of cloths |
//! | `reflection` | components, resources and fields by index |
//! | `scene` | world that edits are applied to |
//! | `oracles` | properties that are checked after each update |

mod edit;
mod meshes;
pub(crate) mod oracles;
mod reflection;
mod scene;

use edit::{Edit, edits};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use scene::Scene;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

/// Number of edits of a world.
const EDITS: usize = 180;

/// Runs a world; `is_told` prints the values that edits write. Returns the first violation.
fn run(edits: &[Edit], is_told: bool) -> Result<(), String> {
    let attempt = || {
        let mut scene = Scene::new(is_told);
        for edit in edits {
            let begin = Instant::now();
            scene.apply(edit, oracles::check)?;
            let limit = variable("BEVY_DRAPE_SLOW_MS", u64::MAX);
            if begin.elapsed().as_millis() > limit.into() {
                return Err(format!(
                    "{edit:?} takes {:.1} s",
                    begin.elapsed().as_secs_f32()
                ));
            }
        }
        Ok(())
    };
    catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied());
        Err(format!("panic: {}", text.unwrap_or("without a message")))
    })
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
fn reduce(mut edits: Vec<Edit>, fails: impl Fn(&[Edit]) -> bool) -> Vec<Edit> {
    let mut length = edits.len().div_ceil(2);
    while length > 0 {
        let mut start = 0;
        while start < edits.len() {
            let mut fewer = edits.clone();
            fewer.drain(start..(start + length).min(edits.len()));
            match fails(&fewer) {
                true => edits = fewer,
                false => start += length,
            }
        }
        length /= 2;
    }
    edits
}

#[test]
fn nothing_breaks_random_worlds() {
    let first = variable("BEVY_DRAPE_WORLD_SEED", 0);
    let count = variable("BEVY_DRAPE_WORLDS", 20);
    for seed in first..first + count {
        let edits = edits(EDITS).new_tree(&mut runner(seed));
        let edits = edits.expect("the strategy rejects nothing").current();
        if let Err(first) = run(&edits, false) {
            let edits = reduce(edits, |edits| run(edits, false).is_err());
            let last = run(&edits, true).unwrap_err();
            panic!("world {seed}: {first}\nreduced: {last}\n{edits:?}");
        }
    }
}
