//! Arguments that all projections of constraints share: the particle arrays, and the regularization.

use crate::solver::{constraints::ramp::RIGID_REGULARIZATION, simd::soa::SoaVec3};

/// Component arrays of the particles, all cut to the same length, which saves bounds checks.
pub(in crate::solver) struct Points<'a> {
    pub(in crate::solver) x: &'a mut [f32],
    pub(in crate::solver) y: &'a mut [f32],
    pub(in crate::solver) z: &'a mut [f32],
    pub(in crate::solver) w: &'a [f32],
}

impl<'a> Points<'a> {
    /// Creates a view of positions or other vectors and the inverse masses of the same particles.
    pub(in crate::solver) fn of(vectors: &'a mut SoaVec3, inverse_mass: &'a [f32]) -> Self {
        let n = inverse_mass.len();
        Self {
            x: &mut vectors.x[..n],
            y: &mut vectors.y[..n],
            z: &mut vectors.z[..n],
            w: inverse_mass,
        }
    }
}

/// Regularization of a constraint system: the terms on its diagonal.
#[derive(Clone, Copy)]
pub(in crate::solver) struct Regularization {
    /// α̃ = α/Δt²
    pub(in crate::solver) alpha: f32,
    /// Factor on the sum of inverse masses: 1/ω with the relaxation factor ω.
    pub(in crate::solver) diagonal_scale: f32,
}

impl Regularization {
    /// Regularization of rigid, directly solved chains, with [`RIGID_REGULARIZATION`].
    pub(in crate::solver) const RIGID: Self = Self {
        alpha: 0.0,
        diagonal_scale: 1.0 + RIGID_REGULARIZATION,
    };
}
