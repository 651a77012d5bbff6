//! The solver alone against known answers, without app and ECS.
//!
//! Every expected number comes from a formula or a table in the literature, never from an earlier run of this
//! code. `known_answers` checks the numbers that the example `validate` measures and prints.

mod air;
#[path = "../../examples/validate/answers/mod.rs"]
mod answers;
mod bending;
mod cloths;
mod collisions;
#[path = "../../examples/validate/contact_scenes/mod.rs"]
mod contact_scenes;
mod contacts;
#[path = "../common/crossings.rs"]
mod crossings;
#[path = "../../examples/validate/drape.rs"]
mod drape;
#[path = "../common/folds.rs"]
mod folds;
mod integrators;
mod known_answers;
#[path = "../../examples/measure/mesh_layout.rs"]
mod mesh_layout;
#[path = "../../examples/validate/own_sheet.rs"]
mod own_sheet;
#[path = "../common/passages.rs"]
mod passages;
#[path = "../../examples/validate/sample.rs"]
mod sample;
mod self_collision;
mod settling;
mod strain;
#[path = "../../examples/validate/strip.rs"]
mod strip;
#[path = "../../examples/validate/supports.rs"]
mod supports;
mod tethers;

use sample::{Sample, vacuum};

/// Fails if the relative error of `value` exceeds `tolerance`.
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
