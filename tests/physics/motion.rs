//! Single particles: free fall, oscillator, pendulum.

use crate::{Sample, assert_near, period};
use bevy::math::Vec3;
use bevy_drape::solver::{Integration, integrate};

#[test]
fn free_fall_is_exact_for_every_step() {
    // ½·10·10² = 500 m; semi-implicit Euler would give 550, 505 and 500.5.
    for dt in [1.0, 0.1, 0.01] {
        let mut sample = Sample::particles([Vec3::ZERO]);
        sample.settings.dt = dt;
        sample.settings.gravity = Vec3::NEG_Y * 10.0;
        sample.run(10.0);
        assert_near("fall", -f64::from(sample.at(0).y), 500.0, 2e-5);
    }
}

#[test]
fn substeps_do_not_change_free_fall() {
    for substeps in [1, 7, 20] {
        let mut sample = Sample::particles([Vec3::ZERO]);
        sample.settings.substeps = substeps;
        sample.settings.dt = 0.1;
        sample.run(10.0);
        assert_near("fall", -f64::from(sample.at(0).y), 490.5, 2e-5);
    }
}

/// Swings with ω = 2π/s from x = 1 for `steps` steps of `dt`.
fn oscillator(dt: f64, steps: usize) -> f64 {
    let omega = std::f64::consts::TAU;
    let mut particles = Sample::particles([Vec3::X]).particles;
    let by = Integration {
        gravity: Vec3::ZERO,
        damping: 0.0,
        dt: dt as f32,
    };
    for _ in 0..steps {
        let x = particles.position.get(0);
        particles.acceleration.set(0, x * (-omega * omega) as f32);
        integrate(&mut particles, &by);
    }
    f64::from(particles.position.get(0).x)
}

#[test]
fn oscillator_is_of_second_order() {
    // At t = 1.25 s the exact position is 0 and the speed is largest, so that the error shows.
    let error = |steps: usize| oscillator(1.25 / steps as f64, steps).abs();
    let slope = (error(40) / error(160)).log2() / 2.0;
    assert!((slope - 2.0).abs() < 0.05, "order {slope}");
}

#[test]
fn oscillator_has_the_frequency_of_verlet() {
    // ω_num = (2/Δt)·asin(ωΔt/2)
    let (dt, steps) = (0.05, 33);
    let omega = 2.0 / dt * (std::f64::consts::TAU * dt / 2.0).asin();
    let expected = (omega * dt * steps as f64).cos();
    let got = oscillator(dt, steps);
    assert!((got - expected).abs() < 1e-4, "{got} instead of {expected}");
}

#[test]
fn oscillator_keeps_its_energy() {
    let dt = 0.05;
    // Over the last five of a hundred periods.
    let largest = (1900..2000)
        .map(|steps| oscillator(dt, steps).abs())
        .fold(0.0, f64::max);
    assert_near("amplitude after 100 s", largest, 1.0, 0.02);
}

/// The complete elliptic integral of the first kind, by the arithmetic–geometric mean (Gauss).
fn elliptic_k(k: f64) -> f64 {
    let (mut a, mut g) = (1.0, (1.0 - k * k).sqrt());
    for _ in 0..10 {
        (a, g) = ((a + g) / 2.0, (a * g).sqrt());
    }
    std::f64::consts::FRAC_PI_2 / a
}

#[test]
fn pendulum_has_the_period_of_the_elliptic_integral() {
    // T = 4·√(L/g)·K(sin θ₀/2). Wider swings lose energy to relaxation, in proportion to the step.
    const DT: f64 = 1.0 / 1000.0;
    for degrees in [10.0_f64, 30.0, 45.0] {
        let half = (degrees / 2.0).to_radians();
        let expected = 4.0 * (1.0 / 9.81_f64).sqrt() * elliptic_k(half.sin());
        let angle = degrees.to_radians() as f32;
        let bob = Vec3::new(angle.sin(), -angle.cos(), 0.0);
        let mut sample = Sample::chain(&[Vec3::ZERO, bob]);
        sample.pin(0);
        sample.settings.dt = DT as f32;
        // A period and a half: relaxation takes a little energy, and later swings are narrower.
        let signal: Vec<f64> = (0..(expected * 1.5 / DT) as u32)
            .map(|_| {
                sample.step();
                f64::from(sample.at(1).x)
            })
            .collect();
        assert_near(
            &format!("period from {degrees}°"),
            period(&signal, DT),
            expected,
            1e-3,
        );
    }
}
