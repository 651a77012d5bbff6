//! Whole cloths: rest, momentum and energy.

use super::Row;
use crate::sample::{Sample, vacuum};
use bevy::math::{DVec3, Vec3};
use bevy_drape::{Fabric, solver::StepSettings};

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

/// For how long a sheet swings, s.
pub(crate) const SWING: f64 = 8.0;

/// The energy of a cloth, J.
pub(crate) struct Energy {
    #[allow(dead_code, reason = "the plot shows it, the tests do not")]
    pub(crate) time: f64,
    /// ½mv².
    pub(crate) kinetic: f64,
    /// mgh, from as deep as it can hang.
    pub(crate) potential: f64,
}

impl Energy {
    pub(crate) fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}

/// The energy of a sheet of 1 m that swings down from level, held by two corners, undamped, by default
/// substeps.
pub(crate) fn swing() -> Vec<Energy> {
    const SIDE: u32 = 24;
    let mut sample = Sample::sheet(SIDE);
    let masses = sample.masses();
    sample.pin(0);
    sample.pin(SIDE - 1);
    sample.settings.substeps = 8;
    sample.settings.compliance = Fabric::default().compliance();
    let steps = (SWING * 60.0) as u32;
    let mut series = Vec::new();
    for step in 0..=steps {
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for (i, m) in masses.iter().enumerate() {
            let velocity = sample.particles.velocity(i).as_dvec3();
            kinetic += 0.5 * m * velocity.length_squared();
            potential += m * 9.81 * (f64::from(sample.at(i).y) + std::f64::consts::SQRT_2);
        }
        series.push(Energy {
            time: f64::from(step) / 60.0,
            kinetic,
            potential,
        });
        sample.step();
    }
    series
}

pub(crate) fn energy() -> Vec<Row> {
    let series = swing();
    let first = series[0].total();
    for e in series.iter().step_by(5) {
        eprintln!("E {} {} {}", e.time, e.kinetic / first, e.total() / first);
    }
    let most = series.iter().map(|energy| energy.total() / first - 1.0);
    vec![Row::at_most(
        "largest gain, as a share of all",
        1e-3,
        most.fold(0.0, f64::max),
    )]
}
