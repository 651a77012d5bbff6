//! Choice of the solver for stretch constraints.

use bevy::reflect::{Reflect, prelude::ReflectDefault};
#[cfg(feature = "serialize")]
use {
    bevy::reflect::{ReflectDeserialize, ReflectSerialize},
    serde::{Deserialize, Serialize},
};

/// Solver for stretch constraints.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default, Clone, Debug, PartialEq, Hash)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum StretchSolver {
    /// Solves each chain of edges as a whole, twice per iteration: rigid cloth hardly stretches; only single links at
    /// contacts stretch by a few per cent. In meshes without grids chains are edges that continue straight on, if there
    /// are enough of them side by side; the remaining edges are solved by Gauss–Seidel.
    #[default]
    Direct,
    /// Projects constraint by constraint, as in Jakobsen's "Advanced Character Physics" (2001): the stretch of
    /// the cloth depends on substeps and iterations.
    GaussSeidel,
}

/// Regularization of directly solved chains, relative to the inverse mass of a link. The system of a chain that is taut
/// between two pins has no solution or many, and warp and weft that share particles may contradict each other. Residual
/// motion of drapes from 48² to 160², at worst: 66 mm/s with 1e-4, 37 mm/s with 0.005, 6 mm/s with 0.02. Larger values
/// slow the decay of long waves in fine cloth: the mean stretch of a 256² drape is 1.0 % instead of 0.6 %. In one solve
/// a correction falls by a factor of e every 1/√(2·0.02) = 5 links.
pub const RIGID_REGULARIZATION: f32 = 0.02;

/// Fraction of their regularization that directly solved chains with compliance keep. With all of it, 128² particles of
/// cotton stretch three times as much as their stiffness says, with 0.25 of it by 8 % more, with this by less than 0.1 %;
/// their residual motion in drapes of 64² and 128² is the same.
pub(in crate::solver) const ELASTIC_REGULARIZATION_FRACTION: f32 = 0.05;
