//! Position Verlet with a stored displacement (Störmer–Verlet; Verlet 1967, as used for cloth by
//! Jakobsen, "Advanced Character Physics", 2001).

use crate::solver::{
    math::exp_neg,
    parallel::workers::{PARTICLES_PER_PART, Workers},
    particles::ParticleArrays,
    simd::{Kernel, dispatch, select},
};
use bevy::math::Vec3;

/// Settings of [`integrate`] that all particles share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntegrateSettings {
    /// Acceleration of all free particles by gravity, m/s².
    pub gravity: Vec3,
    /// Damping rate, 1/s: after t seconds, the fraction e^(−damping·t) of the velocity is left, whatever the
    /// step.
    pub damping: f32,
    /// Length of the substep, s.
    pub dt: f32,
}

/// Moves every particle by one substep: d₊ = d·(Δt/Δt₋)·e^(−cΔt) + a·Δt(Δt + Δt₋)/2, x₊ = x + d₊.
///
/// With an unchanged Δt this is Verlet's x₊ = 2x − x₋ + aΔt². The very first substep uses aΔt²/2,
/// which makes free fall exact. Pinned particles move by their displacement alone.
pub fn integrate(workers: &mut Workers, p: &mut ParticleArrays, settings: &IntegrateSettings) {
    let dt = settings.dt;
    let keep = exp_neg(f64::from(settings.damping) * f64::from(dt)) as f32 * (dt / p.last_dt);
    let gain = if p.in_phase {
        0.5 * dt * dt
    } else {
        0.5 * dt * (dt + p.last_dt)
    };
    let moving = p
        .position
        .chunks_mut(PARTICLES_PER_PART)
        .zip(p.displacement.chunks_mut(PARTICLES_PER_PART));
    let moving = moving.zip(p.predicted.chunks_mut(PARTICLES_PER_PART));
    let accelerations = p.acceleration.chunks(PARTICLES_PER_PART);
    let inputs = accelerations.zip(p.inverse_mass.chunks(PARTICLES_PER_PART));
    workers.for_each_part(moving.zip(inputs), |(((x, d), predicted), (a, w))| {
        dispatch(Integrate {
            x,
            d,
            predicted,
            a,
            w,
            gravity: settings.gravity,
            keep,
            gain,
        });
    });
    p.last_dt = dt;
    p.in_phase = false;
}

/// Adds the corrections since integration (by constraints) to each displacement, so that it is again the whole
/// displacement of this substep. Without a correction, the displacement keeps its bits.
pub fn update_displacements(p: &mut ParticleArrays) {
    let moving = p
        .displacement
        .chunks_mut(PARTICLES_PER_PART)
        .zip(p.predicted.chunks_mut(PARTICLES_PER_PART));
    let parts = moving.zip(p.position.chunks(PARTICLES_PER_PART));
    parts.for_each(|((d, predicted), x)| {
        update_part(d, predicted, x);
    });
}

/// [`update_displacements`] for one part. Returns the greatest absolute component of any displacement, or
/// infinity if one is not finite.
pub(super) fn update_part(d: [&mut [f32]; 3], predicted: [&mut [f32]; 3], x: [&[f32]; 3]) -> f32 {
    let mut greatest = 0;
    dispatch(UpdateDisplacements {
        d,
        predicted,
        x,
        greatest: &mut greatest,
    });
    f32::from_bits(greatest.min(f32::INFINITY.to_bits()))
}

/// Kernel of [`integrate`] for one part.
struct Integrate<'a> {
    x: [&'a mut [f32]; 3],
    d: [&'a mut [f32]; 3],
    predicted: [&'a mut [f32]; 3],
    a: [&'a [f32]; 3],
    w: &'a [f32],
    gravity: Vec3,
    /// Factor of the old displacement.
    keep: f32,
    /// Displacement per acceleration, s².
    gain: f32,
}

impl Kernel for Integrate<'_> {
    #[inline(always)]
    fn run(self) {
        let ([x, y, z], [dx, dy, dz], [px, py, pz]) = (self.x, self.d, self.predicted);
        let ([ax, ay, az], w, g) = (self.a, self.w, self.gravity);
        let factors = (self.keep, self.gain);
        integrate_axis(x, dx, px, ax, w, g.x, factors);
        integrate_axis(y, dy, py, ay, w, g.y, factors);
        integrate_axis(z, dz, pz, az, w, g.z, factors);
    }

    #[cfg(test)]
    fn run_reference(self) {
        for axis in 0..3 {
            let (x, d) = (&mut *self.x[axis], &mut *self.d[axis]);
            for i in 0..self.w.len() {
                if self.w[i] > 0.0 {
                    let acceleration = self.gravity[axis] + self.a[axis][i];
                    d[i] = d[i] * self.keep + acceleration * self.gain;
                }
                x[i] += d[i];
                self.predicted[axis][i] = x[i];
            }
        }
    }
}

#[inline(always)]
fn integrate_axis(
    x: &mut [f32],
    d: &mut [f32],
    predicted: &mut [f32],
    a: &[f32],
    w: &[f32],
    g: f32,
    (keep, gain): (f32, f32),
) {
    for ((((x, d), predicted), a), &w) in x.iter_mut().zip(d).zip(predicted).zip(a).zip(w) {
        let free = w > 0.0;
        *d = *d * select(free, keep, 1.0) + select(free, (g + a) * gain, -0.0);
        *x += *d;
        *predicted = *x;
    }
}

struct UpdateDisplacements<'a> {
    d: [&'a mut [f32]; 3],
    predicted: [&'a mut [f32]; 3],
    x: [&'a [f32]; 3],
    /// Bits of the greatest absolute component: as integers they have the order of the numbers, with NaN at the
    /// end.
    greatest: &'a mut u32,
}

impl Kernel for UpdateDisplacements<'_> {
    #[inline(always)]
    fn run(self) {
        let ([dx, dy, dz], [px, py, pz], [x, y, z]) = (self.d, self.predicted, self.x);
        let greatest = update_axis(dx, px, x).max(update_axis(dy, py, y));
        *self.greatest = greatest.max(update_axis(dz, pz, z));
    }

    #[cfg(test)]
    fn run_reference(self) {
        for axis in 0..3 {
            for (i, &x) in self.x[axis].iter().enumerate() {
                self.d[axis][i] += x - self.predicted[axis][i];
                self.predicted[axis][i] = x;
                *self.greatest = (*self.greatest).max(self.d[axis][i].abs().to_bits());
            }
        }
    }
}

#[inline(always)]
fn update_axis(d: &mut [f32], predicted: &mut [f32], x: &[f32]) -> u32 {
    let mut greatest = 0;
    for ((d, predicted), &x) in d.iter_mut().zip(predicted).zip(x) {
        *d += x - *predicted;
        *predicted = x;
        greatest = greatest.max(d.abs().to_bits());
    }
    greatest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::simd::{levels::same_bits, soa::SoaVec3};

    fn one(w: f32) -> ParticleArrays {
        ParticleArrays::new(Vec3::ZERO, SoaVec3::zeros(1), vec![w])
    }

    #[test]
    fn damping_does_not_depend_on_the_step() {
        // 3/s for one second leaves e^-3 of the velocity, with 10 steps or with 1000.
        for steps in [10, 1000] {
            let mut p = one(1.0);
            p.set_velocity(0, Vec3::X);
            let settings = IntegrateSettings {
                gravity: Vec3::ZERO,
                damping: 3.0,
                dt: 1.0 / steps as f32,
            };
            (0..steps).for_each(|_| integrate(&mut Workers::serial(), &mut p, &settings));
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
            let settings = IntegrateSettings {
                gravity: Vec3::ZERO,
                damping: 0.0,
                dt,
            };
            integrate(&mut Workers::serial(), &mut p, &settings);
            assert!((p.velocity(0).x - 1.0).abs() < 1e-6);
        }
        assert!((p.position.x[0] - 0.062).abs() < 1e-7);
    }

    #[test]
    fn pinned_particles_ignore_forces_and_follow_their_displacement() {
        let mut p = one(0.0);
        p.displacement.set(0, Vec3::Y);
        p.acceleration.set(0, Vec3::X);
        let settings = IntegrateSettings {
            gravity: Vec3::NEG_Y * 10.0,
            damping: 50.0,
            dt: 0.1,
        };
        integrate(&mut Workers::serial(), &mut p, &settings);
        integrate(&mut Workers::serial(), &mut p, &settings);
        assert_eq!(p.position.get(0), Vec3::Y * 2.0);
    }

    #[test]
    fn all_levels_give_the_same_bits() {
        // A length that leaves a remainder at each level.
        let vectors = |seed: u32| -> SoaVec3 {
            let component = |k: u32| (k * seed % 101) as f32 * 0.037 - 1.8;
            (0..203)
                .map(|i| Vec3::new(component(i), component(i + 7), component(i + 31)))
                .collect()
        };
        let bits = same_bits(|| {
            let w = (0..203).map(|i| (i % 4) as f32 * 3.0).collect();
            let mut p = ParticleArrays::new(Vec3::ZERO, vectors(17), w);
            p.displacement = vectors(29);
            p.acceleration = vectors(43);
            let settings = IntegrateSettings {
                gravity: Vec3::new(0.3, -9.81, 0.0),
                damping: 0.7,
                dt: 0.003,
            };
            for _ in 0..3 {
                integrate(&mut Workers::serial(), &mut p, &settings);
                p.position.add_all(Vec3::new(1e-3, 0.0, -3e-4));
                update_displacements(&mut p);
            }
            [p.position, p.displacement, p.predicted]
                .iter()
                .flat_map(SoaVec3::bits)
                .collect()
        });
        assert_eq!(bits.len(), 9 * 203);
    }
}
