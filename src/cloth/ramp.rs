//! Ramps settings of a running cloth over several steps when a sudden change would jerk it.
//!
//! The weight of a hanging cloth stretches it as far as its stiffness allows. If the stiffness rose within one
//! step, the cloth would snap back like rubber; if the thickness rose, it would jump off the surface it lies on.
//! Softening needs no ramp: gravity limits the speed of the change.

use crate::solver::{Compliance, RIGID_REGULARIZATION, StretchSolver};

/// Largest factor by which stiffness rises from one step to the next.
const STIFFENING_PER_STEP: f32 = 1.125;

/// Compliance below which a constraint behaves as a rigid one in this solver, m/N.
const NEGLIGIBLE_COMPLIANCE: f32 = 1e-9;

/// Bending stiffness without visible effect, N·m: even silk has a hundred times as much.
const NEGLIGIBLE_BENDING: f32 = 1e-8;

/// Largest speed at which thickness grows, m/s.
const THICKENING_SPEED: f32 = 0.2;

/// Largest rate at which tethers and strain limits shrink, as a fraction of the length per second, 1/s.
const TIGHTENING_RATE: f32 = 0.25;

/// Regularization of directly solved chains in the first step after a switch to them, relative to the inverse mass of a
/// link: no stiffer than Gauss–Seidel, which propagates corrections from one link to the next.
const START_REGULARIZATION: f32 = 1.0;

/// Relaxation factor ω of the constraint solver, and regularization of directly solved chains.
///
/// The stiffness of a cloth without compliance is proportional to K/Δts², with K iterations in substeps of length Δts
/// ("Small Steps in Physics Simulation", Macklin et al. 2019). When K/Δts² rises, ω falls by the same factor and then
/// ramps back to 1. After a change of the stretch solver the regularization starts at 1 and ramps down.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RelaxationRamp {
    stretch_solver: StretchSolver,
    /// K/Δts² of the last step, 1/s².
    stiffness: f32,
    /// ω, in (0, 1].
    pub(crate) factor: f32,
    /// Regularization of directly solved chains, relative to the inverse mass of a link.
    pub(crate) regularization: f32,
}

impl RelaxationRamp {
    /// Returns ω = 1, with directly solved chains almost rigid, for substeps of length `dts`, s.
    pub(crate) fn full(dts: f32, iterations: u32, stretch_solver: StretchSolver) -> Self {
        Self {
            stretch_solver,
            stiffness: iterations as f32 / (dts * dts),
            factor: 1.0,
            regularization: RIGID_REGULARIZATION,
        }
    }

    /// Returns the factor of the next step.
    pub(crate) fn next(self, dts: f32, iterations: u32, stretch_solver: StretchSolver) -> Self {
        let full = Self::full(dts, iterations, stretch_solver);
        let unchanged = self.factor * self.stiffness / full.stiffness;
        let regularization = if stretch_solver == self.stretch_solver {
            self.regularization / STIFFENING_PER_STEP
        } else {
            START_REGULARIZATION
        };
        Self {
            factor: (unchanged * STIFFENING_PER_STEP).min(1.0),
            regularization: regularization.max(RIGID_REGULARIZATION),
            ..full
        }
    }
}

/// Returns the compliances and the bending stiffness of the next step on the ramp from `now` to `target`.
pub(crate) fn ramp_compliance(now: Compliance, target: Compliance) -> Compliance {
    let ramp = |now: f32, target: f32| {
        let next = now / STIFFENING_PER_STEP;
        if next <= target || next < NEGLIGIBLE_COMPLIANCE {
            target
        } else {
            next
        }
    };
    Compliance {
        warp: ramp(now.warp, target.warp),
        weft: ramp(now.weft, target.weft),
        shear: ramp(now.shear, target.shear),
        bending: target
            .bending
            .min(now.bending.max(NEGLIGIBLE_BENDING) * STIFFENING_PER_STEP),
    }
}

/// Returns the areal density of the next step on the ramp to `target`, kg/m². A fall is ramped, since lighter
/// cloth is stretched less by its weight.
pub(crate) fn ramp_density(now: f32, target: f32) -> f32 {
    target.max(now / STIFFENING_PER_STEP)
}

/// Returns the thickness on the ramp to `target` after a step of `dt` seconds, m.
pub(crate) fn ramp_thickness(now: f32, target: f32, dt: f32) -> f32 {
    target.min(now + THICKENING_SPEED * dt)
}

/// Returns the scale of tethers on the ramp to `target` after a step of `dt` seconds. `length_ratio` is the
/// largest ratio of the present to the rest length of any tether
/// ([`Tethers::max_length_ratio`](crate::solver::Tethers::max_length_ratio)): down to that scale nothing moves,
/// so that part of the ramp is skipped. An infinite scale switches tethers off.
pub(crate) fn ramp_tethers(now: f32, target: f32, length_ratio: f32, dt: f32) -> f32 {
    if target >= now {
        return target;
    }
    let next = now.min(length_ratio) / (1.0 + TIGHTENING_RATE * dt);
    target.max(next)
}

/// Returns the strain limit on the ramp to `target` after a step of `dt` seconds. `strain` is the largest strain
/// of any stretch constraint now; lengths shrink at the rate of tethers. Infinity sets no limit.
pub(crate) fn ramp_strain_limit(now: f32, target: f32, strain: f32, dt: f32) -> f32 {
    if target >= now {
        return target;
    }
    let next = (1.0 + now.min(strain)) / (1.0 + TIGHTENING_RATE * dt) - 1.0;
    target.max(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strain_limit_arrives_to_the_bit() {
        // On the ramp, the strain of all stretch constraints is measured in each step.
        for target in [0.03, 0.1, 0.7] {
            assert_eq!(
                ramp_strain_limit(f32::INFINITY, target, 0.01, 0.016),
                target
            );
            let mut now = 1.0;
            let mut steps = 0;
            while now > target {
                (now, steps) = (ramp_strain_limit(now, target, now, 0.016), steps + 1);
                assert!(steps < 1000, "{now}");
            }
            assert_eq!(now, target);
        }
    }

    #[test]
    fn stiffening_is_ramped_and_arrives() {
        let solver = StretchSolver::GaussSeidel;
        let mut ramp = RelaxationRamp::full(0.5, 1, solver).next(0.125, 3, solver);
        let mut steps = 1;
        assert_eq!(ramp.factor, STIFFENING_PER_STEP / 48.0);
        while ramp.factor < 1.0 {
            ramp = ramp.next(0.125, 3, solver);
            steps += 1;
        }
        assert!((30..40).contains(&steps), "{steps} steps");
        let rigid = Compliance::default();
        let mut soft = Compliance {
            warp: 1.0,
            weft: 0.1,
            shear: 1e-3,
            bending: 0.0,
        };
        for _ in 0..200 {
            soft = ramp_compliance(soft, rigid);
        }
        assert_eq!(soft, rigid);
        assert_eq!(ramp_density(0.5625, 0.1), 0.5);
        assert_eq!(ramp_thickness(0.01, 0.011, 0.1), 0.011);
        assert!(ramp_thickness(0.01, 1.0, 0.1) < 0.031);
    }

    #[test]
    fn the_regularization_of_chains_is_ramped_down() {
        let direct = StretchSolver::Direct;
        let mut ramp =
            RelaxationRamp::full(0.1, 1, StretchSolver::GaussSeidel).next(0.1, 1, direct);
        assert_eq!(ramp.regularization, START_REGULARIZATION);
        for _ in 0..100 {
            ramp = ramp.next(0.1, 1, direct);
        }
        assert_eq!(ramp.regularization, RIGID_REGULARIZATION);
    }

    #[test]
    fn tethers_shrink_from_the_scale_at_which_they_are_taut() {
        assert_eq!(ramp_tethers(f32::INFINITY, 1.0, 1.5, 1.0), 1.2);
        assert_eq!(ramp_tethers(1.5, 1.0, 3.0, 1.0), 1.2);
        assert_eq!(ramp_tethers(1.2, 1.0, 1.5, 1.0), 1.0);
        assert_eq!(ramp_tethers(100.0, 1.01, 0.7, 0.1), 1.01);
        assert_eq!(ramp_tethers(1.01, 1.01, 3.0, 0.1), 1.01);
        assert_eq!(ramp_tethers(1.01, f32::INFINITY, 3.0, 0.1), f32::INFINITY);
    }

    #[test]
    fn softening_is_immediate() {
        let solver = StretchSolver::Direct;
        let full = RelaxationRamp::full(0.125, 4, solver);
        assert_eq!(full.next(0.5, 1, solver).factor, 1.0);
        assert_eq!(ramp_thickness(0.5, 0.1, 0.1), 0.1);
        assert_eq!(ramp_density(0.1, 0.4), 0.4);
        let soft = Compliance {
            shear: 1.0,
            ..Compliance::of_stretch(1.0)
        };
        let stiff = Compliance {
            bending: 1.0,
            ..Compliance::default()
        };
        assert_eq!(ramp_compliance(stiff, soft), soft);
        // The other way round, bending stiffness is ramped.
        assert_eq!(
            ramp_compliance(soft, stiff).bending,
            NEGLIGIBLE_BENDING * STIFFENING_PER_STEP
        );
    }
}
