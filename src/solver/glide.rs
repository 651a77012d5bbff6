//! Edits of a running cloth that would jerk it are taken in small strides.
//!
//! A cloth that hangs is stretched by its weight as far as its stiffness allows. If the stiffness
//! rose at once, it would snap back like rubber; if the thickness did, it would leap off whatever it
//! lies on. Softening needs no such care: then gravity sets the pace.

use super::{constraints::Compliance, relax::ThreadSolver};

/// Stiffness rises by at most this factor from one step to the next.
const STRIDE: f32 = 1.125;

/// Compliances below this are no softer than the solver is anyway, m/N.
const RIGID: f32 = 1e-9;

/// Bending stiffness below this is not felt: even silk has a hundred times as much, N·m.
const LIMP: f32 = 1e-8;

/// Speed at which thickness grows, m/s.
const GROWTH: f32 = 0.2;

/// Share of their length that tethers lose in a second, at most, 1/s.
const TIGHTENING: f32 = 0.25;

/// How much threads solved as a whole may give at first, relative to the mass of a link: not stiffer
/// than relaxation, which carries from one link to the next.
const LOOSE: f32 = 1.0;

/// How much they give in the end. A thread that is taut between two pins has no solution or many,
/// and rounding would decide; so little softer than rigid, all is well defined.
pub(super) const TAUT: f32 = 1e-4;

/// How much of its corrections relaxation applies after the length Δts of a substep, the number K of
/// iterations or the way in which threads are solved has changed.
///
/// A cloth without compliance is as stiff as K/Δts² ("Small Steps in Physics Simulation", Macklin et
/// al. 2019). When that rises, the strength falls by the same factor and then rises in strides.
/// When threads begin to be solved as a whole, they tighten in strides.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Strength {
    threads: ThreadSolver,
    /// K/Δts² of the last step.
    stiffness: f32,
    strength: f32,
    give: f32,
}

impl Default for Strength {
    /// Full strength.
    fn default() -> Self {
        Self::full(1.0, 1, ThreadSolver::Direct)
    }
}

impl Strength {
    /// A share of full strength, and threads as tight as they get.
    #[cfg(test)]
    pub(super) fn part(strength: f32) -> Self {
        Self {
            strength,
            ..Self::default()
        }
    }

    /// Full strength with substeps of this length, s, and this number of iterations.
    pub fn full(dts: f32, iterations: u32, threads: ThreadSolver) -> Self {
        Self {
            threads,
            stiffness: iterations as f32 / (dts * dts),
            strength: 1.0,
            give: TAUT,
        }
    }

    /// The strength of the next step.
    pub fn next(self, dts: f32, iterations: u32, threads: ThreadSolver) -> Self {
        let full = Self::full(dts, iterations, threads);
        let unchanged = self.strength * self.stiffness / full.stiffness;
        let give = if threads == self.threads {
            self.give / STRIDE
        } else {
            LOOSE
        };
        Self {
            strength: (unchanged * STRIDE).min(1.0),
            give: give.max(TAUT),
            ..full
        }
    }

    /// The share of each correction that is applied.
    pub fn get(self) -> f32 {
        self.strength
    }

    /// How much softer than rigid threads are that are solved as a whole.
    pub fn give(self) -> f32 {
        self.give
    }

    /// Whether long distances may be held: threads must be tight first.
    pub fn is_taut(self) -> bool {
        self.give < 10.0 * TAUT && self.strength == 1.0
    }
}

/// The next values of compliances and the bending stiffness on their way to `target`.
pub fn glide_compliance(now: Compliance, target: Compliance) -> Compliance {
    let glide = |now: f32, target: f32| {
        let next = now / STRIDE;
        if next <= target || next < RIGID {
            target
        } else {
            next
        }
    };
    Compliance {
        warp: glide(now.warp, target.warp),
        weft: glide(now.weft, target.weft),
        shear: glide(now.shear, target.shear),
        bending: target.bending.min(now.bending.max(LIMP) * STRIDE),
    }
}

/// The next value of an areal density on its way to `target`, kg/m²: lighter cloth is stretched
/// less by its weight.
pub fn glide_density(now: f32, target: f32) -> f32 {
    target.max(now / STRIDE)
}

/// The next value of a thickness on its way to `target`, m, after a step of `dt` seconds.
pub fn glide_thickness(now: f32, target: f32, dt: f32) -> f32 {
    target.min(now + GROWTH * dt)
}

/// The next scale of tethers on its way to `target`, after a step of `dt` seconds. `tightness` is how
/// long the tightest of them is now
/// ([`Tethers::tightness`](super::tethers::Tethers::tightness)): down to that nothing moves, so it is
/// gone at once. Infinite scales hold nothing.
pub fn glide_tethers(now: f32, target: f32, tightness: f32, dt: f32) -> f32 {
    if target >= now {
        return target;
    }
    let next = now.min(tightness) / (1.0 + TIGHTENING * dt);
    target.max(next)
}

/// The next strain limit on its way to `target`, after a step of `dt` seconds. `strain` is that of the
/// most stretched thread now; lengths shrink as tethers do. An infinite limit is none.
pub fn glide_strain_limit(now: f32, target: f32, strain: f32, dt: f32) -> f32 {
    if target >= now {
        return target;
    }
    let next = (1.0 + now.min(strain)) / (1.0 + TIGHTENING * dt) - 1.0;
    target.max(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strain_limit_arrives_to_the_bit() {
        // On its way, all threads are measured in each step.
        for target in [0.03, 0.1, 0.7] {
            assert_eq!(
                glide_strain_limit(f32::INFINITY, target, 0.01, 0.016),
                target
            );
            let mut now = 1.0;
            let mut steps = 0;
            while now > target {
                (now, steps) = (glide_strain_limit(now, target, now, 0.016), steps + 1);
                assert!(steps < 1000, "{now}");
            }
            assert_eq!(now, target);
        }
    }

    #[test]
    fn stiffening_takes_strides_and_arrives() {
        let by = ThreadSolver::Relaxation;
        let mut strength = Strength::full(0.5, 1, by).next(0.125, 3, by);
        let mut steps = 1;
        assert_eq!(strength.get(), STRIDE / 48.0);
        while strength.get() < 1.0 {
            strength = strength.next(0.125, 3, by);
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
            soft = glide_compliance(soft, rigid);
        }
        assert_eq!(soft, rigid);
        assert_eq!(glide_density(0.5625, 0.1), 0.5);
        assert_eq!(glide_thickness(0.01, 0.011, 0.1), 0.011);
        assert!(glide_thickness(0.01, 1.0, 0.1) < 0.031);
    }

    #[test]
    fn threads_tighten_in_strides() {
        let direct = ThreadSolver::Direct;
        let mut strength = Strength::full(0.1, 1, ThreadSolver::Relaxation).next(0.1, 1, direct);
        assert_eq!(strength.give(), LOOSE);
        assert!(!strength.is_taut());
        for _ in 0..100 {
            strength = strength.next(0.1, 1, direct);
        }
        assert_eq!(strength.give(), TAUT);
        assert!(strength.is_taut());
    }

    #[test]
    fn tethers_shrink_from_where_they_are_taut() {
        assert_eq!(glide_tethers(f32::INFINITY, 1.0, 1.5, 1.0), 1.2);
        assert_eq!(glide_tethers(1.5, 1.0, 3.0, 1.0), 1.2);
        assert_eq!(glide_tethers(1.2, 1.0, 1.5, 1.0), 1.0);
        assert_eq!(glide_tethers(100.0, 1.01, 0.7, 0.1), 1.01);
        assert_eq!(glide_tethers(1.01, 1.01, 3.0, 0.1), 1.01);
        assert_eq!(glide_tethers(1.01, f32::INFINITY, 3.0, 0.1), f32::INFINITY);
    }

    #[test]
    fn softening_is_immediate() {
        let by = ThreadSolver::Direct;
        assert_eq!(Strength::full(0.125, 4, by).next(0.5, 1, by).get(), 1.0);
        assert_eq!(glide_thickness(0.5, 0.1, 0.1), 0.1);
        assert_eq!(glide_density(0.1, 0.4), 0.4);
        let soft = Compliance {
            shear: 1.0,
            ..Compliance::of_threads(1.0)
        };
        let stiff = Compliance {
            bending: 1.0,
            ..Compliance::default()
        };
        assert_eq!(glide_compliance(stiff, soft), soft);
        // What is stiffer comes in strides.
        assert_eq!(glide_compliance(soft, stiff).bending, LIMP * STRIDE);
    }
}
