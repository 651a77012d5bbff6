//! Whole cloths: rest and momentum.

use super::Row;
use crate::sample::{Sample, vacuum};
use bevy::math::{DVec3, Vec3};
use bevy_drape::solver::StepSettings;

/// Momentum and angular momentum about the origin, and what their parts are without direction, to
/// compare with.
pub(crate) fn momenta(sample: &Sample) -> ([DVec3; 2], [f64; 2]) {
    let (mut sums, mut scales) = ([DVec3::ZERO; 2], [0.0; 2]);
    for (i, m) in sample.masses().into_iter().enumerate() {
        let momentum = m * sample.particles.velocity(i).as_dvec3();
        let spin = sample.at(i).as_dvec3().cross(momentum);
        for (k, part) in [momentum, spin].into_iter().enumerate() {
            sums[k] += part;
            scales[k] += part.length();
        }
    }
    (sums, scales)
}

pub(crate) fn momentum() -> Vec<Row> {
    let row = |internal_friction| {
        let mut sample = Sample::sheet(16);
        sample.settings.gravity = Vec3::ZERO;
        sample.settings.internal_friction = internal_friction;
        for i in 0..256 {
            let shake = Vec3::new((i % 7) as f32, (i % 5) as f32, (i % 3) as f32) - 2.0;
            sample.particles.set_velocity(i, shake);
        }
        let (before, scale) = momenta(&sample);
        (0..1000).for_each(|_| sample.step());
        let (after, _) = momenta(&sample);
        let drift = (after[0] - before[0]).length() / scale[0];
        let what = format!("drift of P in 1000 steps, friction {internal_friction} m/s²");
        Row::at_most(what, 1e-5, drift)
    };
    [0.0, 0.08, 3.0].map(row).into()
}

pub(crate) fn rest() -> Vec<Row> {
    let mut sample = Sample::sheet(20);
    sample.settings = StepSettings {
        gravity: Vec3::ZERO,
        substeps: 8,
        iterations: 3,
        ..vacuum()
    };
    sample.run(5.0);
    let fastest = (0..400)
        .map(|i| sample.particles.velocity(i).length())
        .fold(0.0, f32::max);
    vec![Row::at_most("largest speed, m/s", 1e-6, f64::from(fastest))]
}
