//! Motion of a mass at rest under a constant force, computed with explicit Euler, semi-implicit Euler, and the
//! position Verlet integration of this crate. Numbers only, without an app.
//!
//! From rest under an acceleration a, the exact distance is ½at². Euler integration has an error of ½aT·Δt after a
//! time T: too short if the position is updated before the velocity, too long in the opposite order. Verlet starts
//! with half a step's acceleration and is exact for any Δt.

use bevy::math::Vec3;
use bevy_drape::solver::{IntegrateSettings, ParticleArrays, SoaVec3, Workers, integrate};
use std::fmt::Write;

/// Force, N.
pub(crate) const FORCE: f64 = 10.0;
/// Mass, kg.
pub(crate) const MASS: f64 = 1.0;
/// Duration, s.
pub(crate) const DURATION: f64 = 10.0;
/// Step lengths, s.
pub(crate) const STEPS: [f64; 3] = [1.0, 0.1, 0.01];

/// Integration method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// Position first, with the old velocity: x += vΔt, v += aΔt.
    Explicit,
    /// Velocity first: v += aΔt, x += vΔt. Also called symplectic Euler.
    SemiImplicit,
    /// The integration of this crate, in `f32`.
    Verlet,
}

impl Method {
    pub(crate) const ALL: [Self; 3] = [Self::Explicit, Self::SemiImplicit, Self::Verlet];

    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Explicit => "explicit Euler",
            Self::SemiImplicit => "semi-implicit Euler",
            Self::Verlet => "Verlet",
        }
    }

    /// Returns the positions at 0, Δt, 2Δt … up to the end, m.
    pub(crate) fn positions(self, dt: f64) -> Vec<f64> {
        match self {
            Self::Explicit => euler(dt, |x, v, a| {
                *x += *v * dt;
                *v += a * dt;
            }),
            Self::SemiImplicit => euler(dt, |x, v, a| {
                *v += a * dt;
                *x += *v * dt;
            }),
            Self::Verlet => verlet(dt),
        }
    }
}

/// Returns the exact position after `t` seconds, m.
pub(crate) fn exact(t: f64) -> f64 {
    0.5 * FORCE / MASS * t * t
}

/// Returns the number of steps of `dt`.
fn step_count(dt: f64) -> usize {
    (DURATION / dt).round() as usize
}

fn euler(dt: f64, advance: impl Fn(&mut f64, &mut f64, f64)) -> Vec<f64> {
    let (mut x, mut v) = (0.0, 0.0);
    let mut positions = vec![x];
    for _ in 0..step_count(dt) {
        advance(&mut x, &mut v, FORCE / MASS);
        positions.push(x);
    }
    positions
}

fn verlet(dt: f64) -> Vec<f64> {
    let mass = 1.0 / MASS as f32;
    let mut particle = ParticleArrays::new(Vec3::ZERO, SoaVec3::zeros(1), vec![mass]);
    let settings = IntegrateSettings {
        gravity: Vec3::X * (FORCE / MASS) as f32,
        damping: 0.0,
        dt: dt as f32,
    };
    let mut positions = vec![0.0];
    for _ in 0..step_count(dt) {
        integrate(&mut Workers::serial(), &mut particle, &settings);
        positions.push(f64::from(particle.position.x[0]));
    }
    positions
}

/// Returns each time, s, with the positions of all methods, m.
fn rows(dt: f64) -> impl Iterator<Item = (f64, [f64; 3])> {
    let [a, b, c] = Method::ALL.map(|method| method.positions(dt));
    let all = a.into_iter().zip(b).zip(c).enumerate();
    all.map(move |(step, ((a, b), c))| (step as f64 * dt, [a, b, c]))
}

/// Returns the figures as text: each second of the longest step, then the end for each step.
pub(crate) fn table() -> String {
    let mut text = format!(
        "{FORCE} N on {MASS} kg, from rest; positions in m\n\n{:>6} {:>10} {:>20} {:>20} {:>12}\n",
        "t, s",
        "exact",
        Method::Explicit.name(),
        Method::SemiImplicit.name(),
        Method::Verlet.name(),
    );
    for (t, [explicit, semi, verlet]) in rows(STEPS[0]) {
        let _ = writeln!(
            text,
            "{t:>6} {:>10} {explicit:>20} {semi:>20} {verlet:>12.3}",
            exact(t)
        );
    }
    let _ = writeln!(text, "\nafter {DURATION} s, exact {}", exact(DURATION));
    for dt in STEPS {
        let [explicit, semi, verlet] = Method::ALL.map(|method| last(method, dt));
        let _ = writeln!(
            text,
            "{:>17} {explicit:>20.3} {semi:>20.3} {verlet:>12.3}",
            format!("Δt = {dt} s")
        );
    }
    text
}

/// Returns the position at the end, m.
pub(crate) fn last(method: Method, dt: f64) -> f64 {
    method.positions(dt).pop().unwrap_or_default()
}

/// Returns all positions of all methods with all steps, as CSV with a header row.
pub(crate) fn csv() -> String {
    let mut text = "dt_s,t_s,exact_m,explicit_m,semi_implicit_m,verlet_m,\
                    explicit_error_m,semi_implicit_error_m,verlet_error_m\n"
        .to_string();
    for dt in STEPS {
        for (t, [a, b, c]) in rows(dt) {
            let right = exact(t);
            let _ = writeln!(
                text,
                "{dt},{t:.2},{right:.4},{a:.4},{b:.4},{c:.4},{:.4},{:.4},{:.4}",
                a - right,
                b - right,
                c - right
            );
        }
    }
    text
}
