//! Single particles: free fall, oscillator, pendulum.

#[path = "../../demo/euler.rs"]
#[allow(dead_code, reason = "used by the demo")]
pub(crate) mod euler;

use super::Row;
use crate::sample::{Sample, period};
use bevy::math::Vec3;
use bevy_drape::solver::{IntegrateSettings, Workers, integrate};
use euler::{Method, STEPS, last};

pub(crate) fn free_fall() -> Vec<Row> {
    let mut rows = Vec::new();
    for (dt, [short, long]) in
        STEPS
            .into_iter()
            .zip([[450.0, 550.0], [495.0, 505.0], [499.5, 500.5]])
    {
        let euler = |method| last(method, dt);
        rows.extend([
            Row::near(
                format!("explicit Euler, Δt = {dt} s, m"),
                short,
                euler(Method::Explicit),
                1e-9,
            ),
            Row::near(
                format!("semi-implicit Euler, Δt = {dt} s, m"),
                long,
                euler(Method::SemiImplicit),
                1e-9,
            ),
        ]);
        let mut sample = Sample::particles([Vec3::ZERO]);
        sample.settings.dt = dt as f32;
        sample.settings.gravity = Vec3::NEG_Y * 10.0;
        sample.run(10.0);
        let fallen = -f64::from(sample.at(0).y);
        let label = format!("Verlet, Δt = {dt} s, m");
        rows.push(Row::near(label, 500.0, fallen, 2e-5));
    }
    for substeps in [1, 7, 20] {
        let mut sample = Sample::particles([Vec3::ZERO]);
        sample.settings.substeps = substeps;
        sample.settings.dt = 0.1;
        sample.run(10.0);
        let fallen = -f64::from(sample.at(0).y);
        let label = format!("Verlet, {substeps} substeps, m");
        rows.push(Row::near(label, 490.5, fallen, 2e-5));
    }
    rows
}

/// Oscillates with ω = 2π/s from x = 1 for `steps` steps of `dt`.
fn swing(dt: f64, steps: usize) -> f64 {
    let omega = std::f64::consts::TAU;
    let mut particles = Sample::particles([Vec3::X]).particles;
    let settings = IntegrateSettings {
        gravity: Vec3::ZERO,
        damping: 0.0,
        dt: dt as f32,
    };
    for _ in 0..steps {
        let x = particles.position.get(0);
        particles.acceleration.set(0, x * (-omega * omega) as f32);
        integrate(&mut Workers::serial(), &mut particles, &settings);
    }
    f64::from(particles.position.get(0).x)
}

pub(crate) fn oscillator() -> Vec<Row> {
    // At t = 1.25 s the exact position is 0 and the speed is largest, which makes the error visible.
    let error = |steps: usize| swing(1.25 / steps as f64, steps).abs();
    let order = (error(40) / error(160)).log2() / 2.0;
    let (dt, steps) = (0.05, 33);
    let omega = 2.0 / dt * (std::f64::consts::TAU * dt / 2.0).asin();
    let position = (omega * dt * steps as f64).cos();
    // Over the last five of a hundred periods.
    let largest = (1900..2000).map(|steps| swing(dt, steps).abs());
    let largest = largest.fold(0.0, f64::max);
    vec![
        Row::within("order of the error", 2.0, order, 0.05),
        Row::within(
            "position after 33 steps, m",
            position,
            swing(dt, steps),
            1e-4,
        ),
        Row::near("amplitude after 100 s, m", 1.0, largest, 0.02),
    ]
}

/// The complete elliptic integral of the first kind, by the arithmetic–geometric mean (Gauss 1799).
fn elliptic_k(k: f64) -> f64 {
    let (mut a, mut g) = (1.0, (1.0 - k * k).sqrt());
    for _ in 0..10 {
        (a, g) = ((a + g) / 2.0, (a * g).sqrt());
    }
    std::f64::consts::FRAC_PI_2 / a
}

pub(crate) fn pendulum() -> Vec<Row> {
    // Larger amplitudes lose energy by relaxation, in proportion to the step.
    const DT: f64 = 1.0 / 1000.0;
    let row = |degrees: f32| {
        let half = f64::from(degrees / 2.0).to_radians();
        let expected = 4.0 * (1.0 / 9.81_f64).sqrt() * elliptic_k(half.sin());
        let angle = degrees.to_radians();
        let bob = Vec3::new(angle.sin(), -angle.cos(), 0.0);
        let mut sample = Sample::chain(&[Vec3::ZERO, bob]);
        sample.pin(0);
        sample.settings.dt = DT as f32;
        // One and a half periods: relaxation dissipates some energy, so that later amplitudes are smaller.
        let signal: Vec<f64> = (0..(expected * 1.5 / DT) as u32)
            .map(|_| {
                sample.step();
                f64::from(sample.at(1).x)
            })
            .collect();
        let label = format!("period from {degrees}°, s");
        Row::near(label, expected, period(&signal, DT), 1e-3)
    };
    [10.0, 30.0, 45.0].map(row).into()
}
