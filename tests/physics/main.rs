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
mod integrators;
mod known_answers;
mod rest;
#[path = "../../examples/validate/sample.rs"]
mod sample;
mod self_collision;
mod strain;
#[path = "../../examples/validate/strip.rs"]
mod strip;
mod tethers;

use bevy::math::Vec3;
use bevy_drape::{Cloth, solver::StepSettings};
use sample::{Sample, vacuum};

/// A step of a cloth as the plugin takes it by default, in still air and without tethers.
fn as_the_plugin(cloth: &Cloth) -> StepSettings {
    StepSettings {
        substeps: 8,
        iterations: cloth.iterations,
        threads: cloth.threads,
        damping: cloth.damping,
        compliance: cloth.fabric.compliance(),
        tether_scale: f32::INFINITY,
        air: cloth.fabric.air(Vec3::ZERO, 1.2),
        surface: cloth.fabric.surface(),
        internal_friction: cloth.fabric.internal_friction,
        bending_damping: cloth.fabric.bending_damping,
        ..vacuum()
    }
}

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
