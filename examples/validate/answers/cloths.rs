//! Whole cloths: rest pose and momentum.

use super::Row;
use crate::sample::{Sample, vacuum};
use bevy::math::{DVec3, Vec3};
use bevy_drape::solver::StepSettings;

/// Returns momentum and angular momentum about the origin, and for comparison the sums of their magnitudes over
/// all particles.
fn momenta(sample: &Sample) -> ([DVec3; 2], [f64; 2]) {
    let (mut sums, mut scales) = ([DVec3::ZERO; 2], [0.0; 2]);
    for (i, m) in sample.masses().into_iter().enumerate() {
        let momentum = m * sample.particles.velocity(i).as_dvec3();
        let angular_momentum = sample.at(i).as_dvec3().cross(momentum);
        for (k, part) in [momentum, angular_momentum].into_iter().enumerate() {
            sums[k] += part;
            scales[k] += part.length();
        }
    }
    (sums, scales)
}

/// Returns the change of momentum and angular momentum of a free sheet with these velocities, as fractions of the
/// sums of magnitudes.
fn drift(
    label: &str,
    substeps: u32,
    internal_friction: f32,
    velocity: impl Fn(usize, Vec3) -> Vec3,
) -> [Row; 2] {
    let mut sample = Sample::sheet(16);
    sample.settings.gravity = Vec3::ZERO;
    sample.settings.substeps = substeps;
    sample.settings.internal_friction = internal_friction;
    for i in 0..256 {
        let velocity = velocity(i, sample.at(i));
        sample.particles.set_velocity(i, velocity);
    }
    let (before, scales) = momenta(&sample);
    (0..1000).for_each(|_| sample.step());
    let (after, _) = momenta(&sample);
    [("P", 0), ("L", 1)].map(|(symbol, k)| {
        let drift = (after[k] - before[k]).length() / scales[k];
        Row::at_most(
            format!("drift of {symbol} in 1000 steps, {label}"),
            1e-5,
            drift,
        )
    })
}

pub(crate) fn momentum() -> Vec<Row> {
    let shaken = |i: usize, _| Vec3::new((i % 7) as f32, (i % 5) as f32, (i % 3) as f32) - 2.0;
    let shaken = [0.0, 0.08, 3.0].map(|friction| {
        let label = format!("shaken, friction {friction} m/s²");
        drift(&label, 1, friction, shaken)
    });
    // Without correction, relaxation removes more than half of the angular momentum of the fast ones.
    let spinning = [(1, 0.5), (1, 8.0), (8, 8.0)].map(|(substeps, speed)| {
        let label = format!("{speed} rad/s, {substeps} substeps");
        drift(&label, substeps, 0.08, move |_, at| {
            Vec3::new(0.0, 0.8, 0.6).cross(at) * speed
        })
    });
    [shaken, spinning].concat().into_flattened()
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
