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
    /// Solves each chain of edges as a whole, in grids with a multigrid hierarchy above: rigid cloth does not
    /// stretch, except for single links beside folds (3 % at 64 × 64 particles, up to 17 % at 256 × 256). In
    /// other meshes chains are edges that continue straight on, if there are enough of them side by side; the
    /// remaining edges are solved by Gauss–Seidel.
    #[default]
    Direct,
    /// Projects constraint by constraint, as in Jakobsen's "Advanced Character Physics" (2001): the stretch of
    /// the cloth depends on substeps and iterations.
    GaussSeidel,
}
