//! Bending: fabric bends like a beam of the same stiffness, on any mesh.

use super::Row;
use crate::strip::{DENSITY, GRAVITY, Strip};
use bevy::math::Vec3;

/// Drop over horizontal reach of the tip of a cantilever, by Γ = σgL³/B: the elastica, solved by a
/// Runge–Kutta shooting method.
pub(crate) const CANTILEVER: [(f64, f64); 8] = [
    (0.1, 0.01250),
    (1.0, 0.12456),
    (2.0, 0.24667),
    (5.0, 0.58572),
    (10.0, 1.0668),
    (20.0, 1.8639),
    (50.0, 3.7056),
    (100.0, 5.888),
];

/// Γ of the strip in the plot, and of the comparison of meshes and substeps.
pub(crate) const GAMMA: f64 = 5.0;

/// Returns numbers of links and substeps for meshes whose bend constraints are solved one after the other: stiff
/// strips need long links, sharp bends short ones.
fn general_resolution(gamma: f64) -> (usize, u32) {
    match gamma {
        ..1.0 => (8, 200),
        ..10.0 => (8, 50),
        _ => (16, 50),
    }
}

pub(crate) fn cantilever() -> Vec<Row> {
    let mut rows = Vec::new();
    for (gamma, expected) in CANTILEVER {
        let (links, substeps) = general_resolution(gamma);
        let strips = [
            ("grid", Strip::grid(32, 1.0)),
            ("triangles", Strip::triangles(links, 1.0).substeps(substeps)),
            ("chain", Strip::chain(links, 1.0).substeps(substeps)),
        ];
        for (name, strip) in strips {
            let label = format!("drop over reach, {name}, Γ = {gamma}");
            rows.push(Row::near(label, expected, strip.droop(gamma), 0.05));
        }
    }
    rows
}

pub(crate) fn independence() -> Vec<Row> {
    let reference = Strip::grid(32, 1.0).droop(GAMMA);
    let mut rows = Vec::new();
    for links in [16, 64] {
        let droop = Strip::grid(links, 1.0).droop(GAMMA);
        let label = format!("drop over reach, {links} links as 32");
        rows.push(Row::near(label, reference, droop, 0.03));
    }
    for substeps in [5, 20, 40] {
        let droop = Strip::grid(32, 1.0).substeps(substeps).droop(GAMMA);
        let label = format!("drop over reach, {substeps} substeps as 10");
        rows.push(Row::near(label, reference, droop, 0.03));
    }
    rows
}

pub(crate) fn buckling() -> Vec<Row> {
    let critical = 7.8373;
    let [below, above] = [0.9, 1.1].map(|share| {
        let mut strip = Strip::grid(32, 1.0);
        let stiffness = DENSITY * GRAVITY * strip.length().powi(3) / (critical * share);
        let p = &mut strip.sample.particles;
        for i in 0..p.len() {
            let Vec3 { x, z, .. } = p.world_position(i);
            // Slightly off the axis, to break the symmetry.
            p.set_world_position(i, Vec3::new(0.002 * x * x, x, z));
        }
        let mut strip = strip.clamp().stiffness(stiffness);
        strip.sample.settings.damping = 2.0;
        strip.sample.run(40.0);
        let last = &strip.rows[strip.rows.len() - 1];
        strip.sample.at(last[0])
    });
    vec![
        Row::at_most(
            "tip aside at 0.9 of the load, m",
            0.1,
            f64::from(below.x.abs()),
        ),
        Row::at_most("tip up at 1.1 of the load, m", 0.98, f64::from(above.y)),
    ]
}
