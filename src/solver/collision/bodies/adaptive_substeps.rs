//! Adaptive substeps: heavy and fast bodies in contact with a cloth require more of them.
//!
//! A body is supported by the particles in contact with it: in each substep constraints pull these back to where
//! the cloth is unstretched, and the contact passes the impulse on to the body. This acts as a spring of
//! stiffness m/Δt², where m is the mass of those particles, so a body that is fast or much heavier
//! stretches the cloth far before it is stopped. The stiffness grows with the square of the number of substeps
//! ("Small Steps in Physics Simulation", Macklin et al. 2019). So a stretched cloth runs more substeps for a
//! while, and so does a cloth that a heavy, fast body approaches: a spring that became stiffer only when already
//! stretched would throw the body back.

use super::RigidBody;
use crate::solver::particles::ParticleArrays;
use bevy::math::Vec3;

/// Stretch by a body above which the number of substeps grows, m.
pub(super) const FREE_STRETCH: f32 = 0.002;

/// Largest acceptable predicted stretch by an approaching body, m.
const MAX_PREDICTED_STRETCH: f32 = 0.01;

/// Assumed fraction of the cloth's mass in contact with an approaching body.
const CONTACT_FRACTION: f32 = 0.1;

/// Largest factor on the number of substeps for the sake of bodies, air or pins.
pub(in crate::solver) const MAX_SUBSTEP_FACTOR: u32 = 4;

/// Steps with less demand before the factor decreases by one.
const CALM_STEPS: u32 = 30;

/// Steps for which a body is remembered after being near; one that returns within them does not count as
/// approaching.
const NEAR_STEPS: u32 = CALM_STEPS * (MAX_SUBSTEP_FACTOR - 1);

/// Substep factor of a cloth, from the stretch that bodies cause.
#[derive(Clone, Debug)]
pub(super) struct AdaptiveSubsteps {
    /// Stretch by bodies, summed over the substeps of a step, m.
    stretched: f32,
    /// Number of substeps in that step.
    substeps: u32,
    /// Factor on the number of substeps that bodies require, 1 to [`MAX_SUBSTEP_FACTOR`].
    required: u32,
    /// Factor with which the step is taken: another one where wind, pins, self-collision or other cloths require more, or
    /// where so many substeps would take too long.
    taken: u32,
    /// Consecutive steps in which bodies require less.
    calm_steps: u32,
    /// Ids of bodies recently near, with the number of steps left for which each is remembered.
    near: Vec<(u64, u32)>,
}

impl Default for AdaptiveSubsteps {
    fn default() -> Self {
        Self {
            stretched: 0.0,
            substeps: 0,
            required: 1,
            taken: 1,
            calm_steps: 0,
            near: Vec::new(),
        }
    }
}

impl AdaptiveSubsteps {
    /// Records by how much bodies stretched the cloth in one of `substeps` substeps, m.
    pub(super) fn record(&mut self, stretched: f32, substeps: u32) {
        self.stretched += stretched;
        self.substeps = substeps;
    }

    /// Sets the factor on the number of substeps of the coming step.
    pub(super) fn set_factor(&mut self, factor: u32) {
        self.taken = factor;
    }

    /// Returns the factor on the number of substeps of the running step.
    pub(super) fn factor(&self) -> u32 {
        self.taken
    }

    /// Computes the factor on the number of substeps that bodies require in the coming step, and sets it. `substep` is the
    /// usual length of a substep, s.
    pub(super) fn plan(&mut self, bodies: &[RigidBody], p: &ParticleArrays, substep: f32) -> u32 {
        let mean = self.stretched / self.substeps.max(1) as f32;
        (self.stretched, self.substeps) = (0.0, 0);
        let measured = self.taken as f32 * (mean / FREE_STRETCH).sqrt();
        // `max` ignores NaN.
        let wanted =
            measured.max(self.predicted_stretch(bodies, p, substep) / MAX_PREDICTED_STRETCH);
        let wanted = (wanted.ceil() as u32).clamp(1, MAX_SUBSTEP_FACTOR);
        if wanted >= self.required {
            (self.required, self.calm_steps) = (wanted, 0);
        } else {
            self.calm_steps += 1;
            if self.calm_steps >= CALM_STEPS {
                (self.required, self.calm_steps) = (self.required - 1, 0);
            }
        }
        self.taken = self.required;
        self.required
    }

    /// Returns the largest stretch that newly approaching bodies would cause if the cloth were taut, m:
    /// v √(M/m) Δt, with the relative speed v, the mass M of the body and the mass m of the touched particles.
    fn predicted_stretch(&mut self, bodies: &[RigidBody], p: &ParticleArrays, substep: f32) -> f32 {
        self.near.retain_mut(|(_, steps)| {
            *steps = steps.saturating_sub(1);
            *steps > 0
        });
        let mut cloth = None;
        let mut farthest = 0.0_f32;
        for body in bodies {
            match self.near.iter_mut().find(|(id, _)| *id == body.id) {
                Some((_, steps)) => *steps = NEAR_STEPS,
                None => {
                    self.near.push((body.id, NEAR_STEPS));
                    let inverse_mass = body.motion.inverse_mass.element_sum() / 3.0;
                    if body.motion.asleep || inverse_mass <= 0.0 {
                        continue;
                    }
                    let (mass, velocity) = *cloth.get_or_insert_with(|| mass_and_velocity(p));
                    let speed = (body.motion.velocity - velocity).length();
                    if mass > 0.0 {
                        let ratio = (mass * CONTACT_FRACTION * inverse_mass).recip();
                        farthest = farthest.max(speed * ratio.sqrt() * substep);
                    }
                }
            }
        }
        farthest
    }
}

/// Returns the mass of the free particles, kg, and their mean velocity, m/s.
fn mass_and_velocity(p: &ParticleArrays) -> (f32, Vec3) {
    let (mut mass, mut momentum) = (0.0, Vec3::ZERO);
    for (i, &w) in p.inverse_mass.iter().enumerate() {
        if w > 0.0 {
            mass += w.recip();
            momentum += p.velocity(i) / w;
        }
    }
    (mass, momentum / mass.max(f32::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(adaptive: &mut AdaptiveSubsteps) -> u32 {
        adaptive.plan(&[], &ParticleArrays::default(), 1.0 / 480.0)
    }

    /// Returns the factor reached in the end if `stretched`, m, is the stretch at the usual number of substeps.
    fn settled_factor(stretched: f32) -> u32 {
        let mut adaptive = AdaptiveSubsteps::default();
        for _ in 0..10 {
            let factor = plan(&mut adaptive);
            let substeps = 8 * factor;
            let now = stretched / (factor * factor) as f32;
            (0..substeps).for_each(|_| adaptive.record(now, substeps));
        }
        plan(&mut adaptive)
    }

    #[test]
    fn larger_stretch_requires_more_substeps() {
        let factors = [0.0, 0.001, 0.003, 0.01, 0.03, 1.0, f32::NAN].map(settled_factor);
        assert_eq!(factors, [1, 1, 2, 3, 4, 4, 1]);
    }

    #[test]
    fn the_factor_decreases_only_after_a_while() {
        let mut adaptive = AdaptiveSubsteps::default();
        adaptive.record(8.0, 8);
        assert_eq!(plan(&mut adaptive), MAX_SUBSTEP_FACTOR);
        let factors: Vec<u32> = (0..4 * CALM_STEPS).map(|_| plan(&mut adaptive)).collect();
        assert_eq!(factors[CALM_STEPS as usize - 2], MAX_SUBSTEP_FACTOR);
        assert_eq!(factors.last(), Some(&1));
    }

    #[test]
    fn what_others_require_is_not_a_requirement_of_bodies() {
        let mut adaptive = AdaptiveSubsteps::default();
        adaptive.set_factor(8);
        assert_eq!(adaptive.factor(), 8);
        assert_eq!(plan(&mut adaptive), 1);
        assert_eq!(adaptive.factor(), 1);
        // As much stretch in eight times as many substeps would be 64 times as much in the usual number.
        adaptive.set_factor(8);
        adaptive.record(8.0 * FREE_STRETCH / 64.0, 8);
        assert_eq!(plan(&mut adaptive), 1);
    }
}
