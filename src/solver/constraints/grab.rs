//! Grab constraints: pull points of a cloth to a moving target.
//!
//! Each is an attachment C = Σ bᵢxᵢ − target with a compliance (XPBD, Macklin et al. 2016, for a vector
//! constraint), solved once per substep after all other constraints. The maximum force keeps the constraint from
//! jerking the cloth: |Δλ| is at most force·Δt².
//!
//! A particle of a fine cloth has a mass m of a fifth of a gram. The force f by which the whole cloth hangs from
//! it moves it by f·Δt²/m within one substep: by 20 cm if it is grabbed alone, which pulls a spike out of the
//! cloth. So while constraints and grabs are solved, grabbed particles have an added mass that keeps the maximum
//! force from moving them by more than 2 mm ([`GrabbedMass`]). With the added mass a grabbed point can lag behind
//! its target; it then approaches no faster than the maximum force can stop it at the target.

use crate::solver::particles::ParticleArrays;
use bevy::math::Vec3;

/// Displacement of the added mass by the maximum force within one substep, m.
const DISPLACEMENT_PER_SUBSTEP: f32 = 0.002;

/// Largest added mass of one grab, kg: the mass of a hand.
const MAX_ADDED_MASS: f32 = 0.5;

/// Grabbed point of a cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct GrabPoint {
    /// Particles that the point interpolates. A particle may occur several times.
    pub particles: [u32; 3],
    /// Barycentric weights of the particles; their sum is 1.
    pub weights: [f32; 3],
    /// Position of the target of this point relative to the target of the grab, m.
    pub offset: Vec3,
}

impl GrabPoint {
    /// Returns the position of the point relative to the origin of the particles, m.
    pub fn position(&self, particles: &ParticleArrays) -> Vec3 {
        self.weighted_particles()
            .map(|(i, weight)| particles.position.get(i) * weight)
            .sum()
    }

    /// Returns the position of the point at the start of the substep, m.
    fn start(&self, p: &ParticleArrays) -> Vec3 {
        self.weighted_particles()
            .map(|(i, weight)| (p.predicted.get(i) - p.displacement.get(i)) * weight)
            .sum()
    }

    /// Returns the index and weight of each particle.
    fn weighted_particles(&self) -> impl Iterator<Item = (usize, f32)> {
        let particles = self.particles.map(|i| i as usize);
        particles.into_iter().zip(self.weights)
    }
}

/// Settings of a grab constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct GrabSettings {
    /// Compliance of each grabbed point, m/N; 0 is rigid.
    pub compliance: f32,
    /// Maximum force, N, divided equally among all points; infinity sets no limit.
    #[cfg_attr(feature = "serialize", serde(with = "crate::solver::math::bits"))]
    pub force: f32,
}

/// Grab constraint of one step: points of a cloth, and the path of the grab.
#[derive(Clone, Copy, Debug)]
pub struct GrabConstraint<'a> {
    /// Grabbed points.
    pub points: &'a [GrabPoint],
    /// Compliance and maximum force.
    pub settings: &'a GrabSettings,
    /// World position of the grab at the start of the step, m.
    pub start: Vec3,
    /// World position of the grab at the end of the step, m.
    pub end: Vec3,
}

impl GrabConstraint<'_> {
    /// Returns the positions of the grab at the start and the end of a substep, in the world, m.
    pub(in crate::solver) fn targets(&self, [index, count]: [u32; 2]) -> [Vec3; 2] {
        [index, index + 1].map(|index| self.start.lerp(self.end, index as f32 / count as f32))
    }
}

/// Original inverse masses, 1/kg, of grabbed particles, by index, while those have an added mass.
#[derive(Clone, Debug, Default)]
pub struct GrabbedMass(Vec<(u32, f32)>);

impl GrabbedMass {
    /// Adds mass to grabbed particles until `Self::restore_mass`. To be called before constraints are solved.
    /// `dt` is the length of the substep, s.
    pub(crate) fn raise_mass(
        &mut self,
        p: &mut ParticleArrays,
        points: &[GrabPoint],
        settings: &GrabSettings,
        dt: f32,
    ) {
        let added_mass = (settings.force * dt * dt / DISPLACEMENT_PER_SUBSTEP).min(MAX_ADDED_MASS)
            / points.len().max(1) as f32;
        for (i, weight) in points.iter().flat_map(GrabPoint::weighted_particles) {
            let original = p.inverse_mass[i];
            if original > 0.0 && weight > 0.0 {
                self.0.push((i as u32, original));
                p.inverse_mass[i] = original / (1.0 + original * added_mass * weight);
            }
        }
    }

    /// Restores the original masses of all grabbed particles.
    pub(crate) fn restore_mass(&mut self, p: &mut ParticleArrays) {
        // If a particle was raised several times, its first entry is the original mass: restored last.
        for (i, original) in self.0.drain(..).rev() {
            p.inverse_mass[i as usize] = original;
        }
    }
}

/// Solves the grab constraint of some points, once. The target moves from `before` to `now` in this substep of
/// length `dt`, s; both are relative to the origin of the particles, m.
pub(crate) fn solve_grab(
    particles: &mut ParticleArrays,
    points: &[GrabPoint],
    settings: &GrabSettings,
    [before, now]: [Vec3; 2],
    dt: f32,
) {
    let alpha = settings.compliance / (dt * dt);
    let max_lambda = settings.force * dt * dt / points.len().max(1) as f32;
    for point in points {
        let inverse_mass: f32 = point
            .weighted_particles()
            .map(|(i, weight)| particles.inverse_mass[i] * weight * weight)
            .sum();
        // All particles of the point are pinned.
        if inverse_mass <= 0.0 {
            continue;
        }
        // Reduces the lag behind the target only as far as the maximum force can still stop the point at the
        // target: √(lag · max_displacement) per substep.
        let lag = point.start(particles) - (before + point.offset);
        let (distance, max_displacement) = (lag.length(), max_lambda * inverse_mass);
        let remaining_lag = if distance > max_displacement {
            lag * (1.0 - (max_displacement / distance).sqrt())
        } else {
            Vec3::ZERO
        };
        let target = now + point.offset + remaining_lag;
        let error = point.position(particles) - target;
        let lambda = (error / (inverse_mass + alpha)).clamp_length_max(max_lambda);
        for (i, weight) in point.weighted_particles() {
            let correction = lambda * (particles.inverse_mass[i] * weight);
            particles.position.add(i, -correction);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{IntegrateSettings, SoaVec3, Workers, integrate, update_displacements};

    fn three(w: [f32; 3]) -> ParticleArrays {
        let positions: SoaVec3 = [Vec3::ZERO, Vec3::X, Vec3::Y].into_iter().collect();
        ParticleArrays::new(Vec3::ZERO, positions, w.to_vec())
    }

    const MIDDLE: GrabPoint = GrabPoint {
        particles: [0, 1, 2],
        weights: [0.5, 0.25, 0.25],
        offset: Vec3::ZERO,
    };

    #[test]
    fn a_strong_grab_reaches_its_target_and_a_weak_one_pulls_with_its_force() {
        let target = Vec3::new(0.0, 0.0, 3.0);
        let strong = GrabSettings {
            compliance: 0.0,
            force: f32::INFINITY,
        };
        let mut p = three([1.0, 2.0, 0.0]);
        solve_grab(&mut p, &[MIDDLE], &strong, [target; 2], 0.01);
        assert!((MIDDLE.position(&p) - target).length() < 1e-6);
        assert_eq!(p.position.get(2), Vec3::Y, "a pinned particle stays");

        // 1 kg each, 2 N: the sum of mass times displacement is 2 N · Δt².
        let weak = GrabSettings {
            compliance: 0.0,
            force: 2.0,
        };
        let mut p = three([1.0; 3]);
        let above = MIDDLE.position(&p) + Vec3::Z * 3.0;
        solve_grab(&mut p, &[MIDDLE], &weak, [above; 2], 0.01);
        let moved: f32 = (0..3).map(|i| p.position.get(i).z).sum();
        assert!((moved - 2.0 * 0.01 * 0.01).abs() < 1e-9);
    }

    #[test]
    fn pinned_particles_do_not_move() {
        let mut p = three([0.0; 3]);
        let before = p.clone();
        let settings = GrabSettings {
            compliance: 0.0,
            force: f32::INFINITY,
        };
        solve_grab(&mut p, &[MIDDLE], &settings, [Vec3::splat(9.0); 2], 0.01);
        solve_grab(&mut p, &[], &settings, [Vec3::ZERO; 2], 0.01);
        assert_eq!(p, before);
    }

    #[test]
    fn a_target_that_jumps_is_followed_without_overshoot() {
        let dt = 1.0 / 480.0;
        let settings = GrabSettings {
            compliance: 1e-4,
            force: 20.0,
        };
        // Particles of a gram without other constraints.
        let mut p = three([1000.0; 3]);
        let mut grabbed_mass = GrabbedMass::default();
        let (begin, jump) = (MIDDLE.position(&p), Vec3::X * 0.5);
        let integrate_settings = IntegrateSettings {
            gravity: Vec3::ZERO,
            damping: 0.0,
            dt,
        };
        let mut before = begin;
        for substep in 0..240 {
            integrate(&mut Workers::serial(), &mut p, &integrate_settings);
            grabbed_mass.raise_mass(&mut p, &[MIDDLE], &settings, dt);
            assert!(p.inverse_mass.iter().all(|&w| w < 200.0));
            solve_grab(&mut p, &[MIDDLE], &settings, [before, begin + jump], dt);
            grabbed_mass.restore_mass(&mut p);
            update_displacements(&mut p);
            assert_eq!(p.inverse_mass[..3], [1000.0; 3]);
            before = begin + jump;
            let moved = (MIDDLE.position(&p) - begin).x;
            assert!(moved < 0.51, "{moved} m in substep {substep}");
            assert!(
                moved > 0.499 || substep < 120,
                "{moved} m in substep {substep}"
            );
        }
    }

    #[test]
    fn particles_of_several_grabs_have_their_original_mass_again() {
        let mut p = three([3.0, 5.0, 0.0]);
        let before = p.clone();
        let mut grabbed_mass = GrabbedMass::default();
        for force in [20.0, f32::INFINITY, 0.0] {
            let settings = GrabSettings {
                compliance: 0.0,
                force,
            };
            grabbed_mass.raise_mass(&mut p, &[MIDDLE, MIDDLE], &settings, 0.01);
        }
        assert!(p.inverse_mass[0] < 2.0 && p.inverse_mass[1] < 4.0);
        assert_eq!(p.inverse_mass[2], 0.0, "a pinned particle stays pinned");
        grabbed_mass.restore_mass(&mut p);
        assert_eq!(p, before);
    }
}
