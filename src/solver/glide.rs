//! Edits of a running cloth that would jerk it are taken in small strides.
//!
//! A cloth that hangs is stretched by its weight as far as its stiffness allows. If the stiffness
//! rose at once, it would snap back like rubber; if the thickness did, it would leap off whatever it
//! lies on. Softening needs no such care: then gravity sets the pace.

use super::constraints::Compliance;

/// Stiffness rises by at most this factor from one step to the next.
const STRIDE: f32 = 1.125;

/// Compliances below this are no softer than the solver is anyway, m/N.
const RIGID: f32 = 1e-9;

/// Speed at which thickness grows, m/s.
const GROWTH: f32 = 0.2;

/// How much of its corrections relaxation applies after the length Δts of a substep or the number K of
/// iterations has changed.
///
/// A cloth without compliance is as stiff as K/Δts² ("Small Steps in Physics Simulation", Macklin et
/// al. 2019). When that rises, the strength falls by the same factor and then rises in strides.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Strength {
    /// K/Δts² of the last step.
    stiffness: f32,
    strength: f32,
}

impl Strength {
    /// Full strength with substeps of this length, s, and this number of iterations.
    pub fn full(dts: f32, iterations: u32) -> Self {
        Self {
            stiffness: iterations as f32 / (dts * dts),
            strength: 1.0,
        }
    }

    /// The strength of the next step.
    pub fn next(self, dts: f32, iterations: u32) -> Self {
        let full = Self::full(dts, iterations);
        let unchanged = self.strength * self.stiffness / full.stiffness;
        Self {
            strength: (unchanged * STRIDE).min(1.0),
            ..full
        }
    }

    /// The share of each correction that is applied.
    pub fn get(self) -> f32 {
        self.strength
    }
}

/// The next value of a compliance on its way to `target`, m/N.
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
        stretch: glide(now.stretch, target.stretch),
        shear: glide(now.shear, target.shear),
        bend: glide(now.bend, target.bend),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stiffening_takes_strides_and_arrives() {
        let mut strength = Strength::full(0.5, 1).next(0.125, 3);
        let mut steps = 1;
        assert_eq!(strength.get(), STRIDE / 48.0);
        while strength.get() < 1.0 {
            strength = strength.next(0.125, 3);
            steps += 1;
        }
        assert!((30..40).contains(&steps), "{steps} steps");
        let rigid = Compliance::default();
        let mut soft = Compliance {
            stretch: 1.0,
            shear: 1e-3,
            bend: 0.0,
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
    fn softening_is_immediate() {
        assert_eq!(Strength::full(0.125, 4).next(0.5, 1).get(), 1.0);
        assert_eq!(glide_thickness(0.5, 0.1, 0.1), 0.1);
        assert_eq!(glide_density(0.1, 0.4), 0.4);
        let soft = Compliance {
            stretch: 1.0,
            shear: 1.0,
            bend: 1.0,
        };
        assert_eq!(glide_compliance(Compliance::default(), soft), soft);
    }
}
