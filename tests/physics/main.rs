//! The solver against known answers. No app, no ECS.
//!
//! Every number that is compared with comes from a formula or a table in the literature, never from
//! an earlier run of this code. Those with a row in the table of the example `validate` are measured
//! there, and held by `known_answers`.

mod air;
#[path = "../../examples/validate/answers/mod.rs"]
mod answers;
mod bending;
mod cloths;
mod collisions;
mod contacts;
#[path = "../common/crossings.rs"]
mod crossings;
#[path = "../common/folds.rs"]
mod folds;
mod integrators;
mod known_answers;
#[path = "../../examples/validate/own_sheet.rs"]
mod own_sheet;
mod rest;
#[path = "../../examples/validate/sample.rs"]
mod sample;
mod self_collision;
mod strain;
#[path = "../../examples/validate/strip.rs"]
mod strip;
mod tethers;

use sample::{Sample, as_the_plugin, vacuum};

/// Fails if `value` is farther from `expected` than a share `tolerance` of it.
#[track_caller]
fn assert_near(what: &str, value: f64, expected: f64, tolerance: f64) {
    let error = (value - expected).abs() / expected.abs();
    assert!(
        error <= tolerance,
        "{what}: {value}, expected {expected}; off by {:.4} %, allowed {:.4} %",
        error * 100.0,
        tolerance * 100.0
    );
}
