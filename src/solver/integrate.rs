//! Position Verlet with a stored displacement (Störmer–Verlet; Verlet 1967, as used for cloth by
//! Jakobsen, "Advanced Character Physics", 2001).

use super::{math::exp_neg, particles::ParticleArrays};
use bevy::math::Vec3;

/// What moves every particle in the same way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integration {
    /// Acceleration of all free particles, m/s².
    pub gravity: Vec3,
    /// Share of the velocity lost per second, 1/s: after t seconds e^(−damping·t) of it is left,
    /// whatever the step.
    pub damping: f32,
    /// Length of the substep, s.
    pub dt: f32,
}

/// Moves every particle by one substep: d₊ = d·(Δt/Δt₋)·e^(−cΔt) + a·Δt(Δt + Δt₋)/2, x₊ = x + d₊.
///
/// With an unchanged Δt that is Verlet's x₊ = 2x − x₋ + aΔt². The very first substep uses aΔt²/2,
/// which makes free fall exact. Pinned particles move by their displacement alone.
pub fn integrate(p: &mut ParticleArrays, by: &Integration) {
    let dt = by.dt;
    let keep = exp_neg(f64::from(by.damping) * f64::from(dt)) as f32 * (dt / p.last_dt);
    let gain = if p.in_phase {
        0.5 * dt * dt
    } else {
        0.5 * dt * (dt + p.last_dt)
    };
    let w = p.inverse_mass.as_slice();
    let axes = [
        (
            &mut p.position.x,
            &mut p.displacement.x,
            &mut p.predicted.x,
            &p.acceleration.x,
            by.gravity.x,
        ),
        (
            &mut p.position.y,
            &mut p.displacement.y,
            &mut p.predicted.y,
            &p.acceleration.y,
            by.gravity.y,
        ),
        (
            &mut p.position.z,
            &mut p.displacement.z,
            &mut p.predicted.z,
            &p.acceleration.z,
            by.gravity.z,
        ),
    ];
    for (x, d, predicted, a, g) in axes {
        let rows = x.iter_mut().zip(d).zip(predicted).zip(a).zip(w);
        for ((((x, d), predicted), a), &w) in rows {
            let free = *d * keep + (g + a) * gain;
            *d = if w > 0.0 { free } else { *d };
            *x += *d;
            *predicted = *x;
        }
    }
    p.last_dt = dt;
    p.in_phase = false;
}

/// Adds to each displacement what has moved the particle since integration (the constraints), so
/// that it is again the whole way of this substep. Where nothing moved it, no bit is lost.
pub fn update_displacements(p: &mut ParticleArrays) {
    let axes = [
        (&mut p.displacement.x, &mut p.predicted.x, &p.position.x),
        (&mut p.displacement.y, &mut p.predicted.y, &p.position.y),
        (&mut p.displacement.z, &mut p.predicted.z, &p.position.z),
    ];
    for (d, predicted, x) in axes {
        for ((d, predicted), &x) in d.iter_mut().zip(predicted).zip(x) {
            *d += x - *predicted;
            *predicted = x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::soa::SoaVec3;

    fn one(w: f32) -> ParticleArrays {
        ParticleArrays::new(Vec3::ZERO, SoaVec3::zeros(1), vec![w])
    }

    #[test]
    fn damping_does_not_depend_on_the_step() {
        // 3/s for one second leaves e^-3 of the velocity, with 10 steps or with 1000.
        for steps in [10, 1000] {
            let mut p = one(1.0);
            p.set_velocity(0, Vec3::X);
            let by = Integration {
                gravity: Vec3::ZERO,
                damping: 3.0,
                dt: 1.0 / steps as f32,
            };
            (0..steps).for_each(|_| integrate(&mut p, &by));
            let left = p.velocity(0).x;
            assert!(
                (left - f32::exp(-3.0)).abs() < 1e-5,
                "{steps} steps left {left}"
            );
        }
    }

    #[test]
    fn changing_the_step_keeps_the_velocity() {
        let mut p = one(1.0);
        p.set_velocity(0, Vec3::X);
        for dt in [0.01, 0.002, 0.05] {
            let by = Integration {
                gravity: Vec3::ZERO,
                damping: 0.0,
                dt,
            };
            integrate(&mut p, &by);
            assert!((p.velocity(0).x - 1.0).abs() < 1e-6);
        }
        assert!((p.position.x[0] - 0.062).abs() < 1e-7);
    }

    #[test]
    fn pinned_particles_ignore_forces_and_follow_their_displacement() {
        let mut p = one(0.0);
        p.displacement.set(0, Vec3::Y);
        p.acceleration.set(0, Vec3::X);
        let by = Integration {
            gravity: Vec3::NEG_Y * 10.0,
            damping: 50.0,
            dt: 0.1,
        };
        integrate(&mut p, &by);
        integrate(&mut p, &by);
        assert_eq!(p.position.get(0), Vec3::Y * 2.0);
    }
}
