//! All rows of the table that the example `validate` prints.

use crate::answers::{EXPERIMENTS, Experiment, FULL, Row};

/// Runs an experiment, prints its rows, and fails if one of them does.
fn assert_passes(Experiment { name, run, .. }: &Experiment) {
    let rows = run();
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
                let experiment = EXPERIMENTS.iter().find(|e| e.name == $name);
                assert_passes(experiment.expect("an experiment of the table"));
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
    stretch_of_presets: "stretch of presets",
    shear_of_a_fabric: "shear of a fabric",
    cantilever: "cantilever",
    step_and_mesh_independence: "step and mesh independence",
    buckling: "buckling",
    cusick_drape: "Cusick drape",
    friction_cone: "friction cone",
    layers_on_a_slope: "layers on a slope",
    capstan: "capstan",
    terminal_velocity: "terminal velocity",
    momentum: "momentum",
    rest_pose: "rest pose",
    sphere_drape: "sphere drape",
    twist: "twist",
    crossings: "crossings",
    drapes: "drapes",
    storm: "storm",
    flapping_frequency: "flapping frequency",
    fast_hands: "fast hands",
    rates_of_hanging_cloth: "rates: hanging cloth",
    rates_of_a_drape: "rates: drape",
    scale: "scale",
    symmetry: "symmetry",
    energy: "energy",
}

#[test]
#[ignore = "takes hours"]
fn the_longer_list() {
    FULL.into_iter().flatten().for_each(assert_passes);
}

#[test]
fn rows_fail_when_they_should() {
    let near = |got| Row::near("", 2.0, got, 0.1).passes();
    assert!(near(2.19) && near(1.81) && !near(2.21) && !near(1.79) && !near(f64::NAN));
    let within = |got| Row::within("", 0.0, got, 0.1).passes();
    assert!(within(-0.09) && !within(0.11) && !within(f64::NAN));
    let at_most = |got| Row::at_most("", 1.0, got).passes();
    assert!(at_most(1.0) && at_most(-5.0) && !at_most(1.01) && !at_most(f64::NAN));
    let at_least = |got| Row::at_least("", 1.0, got).passes();
    assert!(at_least(1.0) && at_least(5.0) && !at_least(0.99) && !at_least(f64::NAN));
    assert_eq!(Row::near("", 1.0, 1.0, 2e-5).tolerance(), "2e-5");
}

#[test]
fn rows_say_which_goal_they_miss() {
    let so_far = |got| Row::at_most("", 1.0, got).so_far(3.0);
    assert!(so_far(2.0).passes() && so_far(2.0).misses_goal() && !so_far(3.1).passes());
    assert!(!so_far(1.0).misses_goal() && so_far(f64::NAN).misses_goal());
    assert_eq!(so_far(2.0).tolerance(), "at most; misses the goal 1");
    // A stricter limit is none.
    assert_eq!(Row::at_most("", 1.0, 1.0).so_far(0.5).expected, 1.0);
    assert!(!Row::at_most("", 1.0, 2.0).so_far(0.5).passes());
    assert!(Row::at_least("", 3.0, 2.0).so_far(1.0).passes());
}
