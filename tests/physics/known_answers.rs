//! All rows of the table that the example `validate` prints.

use crate::answers::{EXPERIMENTS, Row};

/// Runs an experiment, prints its rows, and fails if one of them does.
fn assert_passes(name: &str) {
    let experiment = EXPERIMENTS.iter().find(|e| e.name == name);
    let experiment = experiment.expect("an experiment of the table");
    let rows = (experiment.run)();
    assert!(!rows.is_empty());
    let mut failed = Vec::new();
    for row in &rows {
        let Row {
            label,
            expected,
            measured,
            ..
        } = row;
        let tolerance = row.tolerance();
        let line = format!("{name}: {label}: {measured}, expected {expected} ({tolerance})");
        eprintln!("{line}");
        if !row.passes() {
            failed.push(line);
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

macro_rules! experiments {
    ($($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                assert_passes($name);
            }
        )*

        #[test]
        fn no_row_is_left_out() {
            let tested = [$($name),*];
            let all: Vec<&str> = EXPERIMENTS.iter().map(|e| e.name).collect();
            assert_eq!(all, tested);
            assert!(EXPERIMENTS.iter().all(|e| !e.source.is_empty()));
        }
    };
}

experiments! {
    free_fall: "free fall",
    oscillator: "oscillator",
    pendulum: "pendulum",
    hanging_chain: "hanging chain",
    catenary: "catenary",
    law_of_relaxation: "law of relaxation",
    static_stretch: "static stretch",
    stretch_of_a_fabric: "stretch of a fabric",
    stretch_of_triangles: "stretch of triangles",
    shear_of_a_fabric: "shear of a fabric",
    cantilever: "cantilever",
    step_and_mesh_independence: "step and mesh independence",
    buckling: "buckling",
    cusick_drape: "Cusick drape",
    friction_cone: "friction cone",
    capstan: "capstan",
    terminal_velocity: "terminal velocity",
    momentum: "momentum",
    rest_pose: "rest pose",
    sphere_drape: "sphere drape",
    twist: "twist",
}

#[test]
fn rows_fail_when_they_should() {
    let near = |got| Row::near("", 2.0, got, 0.1).passes();
    assert!(near(2.19) && near(1.81) && !near(2.21) && !near(1.79) && !near(f64::NAN));
    let within = |got| Row::within("", 0.0, got, 0.1).passes();
    assert!(within(-0.09) && !within(0.11) && !within(f64::NAN));
    let at_most = |got| Row::at_most("", 1.0, got).passes();
    assert!(at_most(1.0) && at_most(-5.0) && !at_most(1.01) && !at_most(f64::NAN));
    assert_eq!(Row::near("", 1.0, 1.0, 2e-5).tolerance(), "2e-5");
}
