//! Shape of a cloth that was torn or cut.

use crate::solver::ConstraintGraph;
use bevy::math::Vec3;
use std::sync::Arc;

/// Additional state of a cloth that was torn or cut.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct TornShape {
    /// Rest position of each particle, in mesh space. `topology` stays that of the whole cloth.
    pub(crate) rest: Vec<Vec3>,
    /// For each added particle: the particle of the whole cloth of which it is a copy, or [`NO_PARTICLE`].
    pub(crate) source_particle: Vec<u32>,
    /// Constraints of the whole cloth, in their order. Shared with snapshots.
    #[cfg_attr(feature = "serialize", serde(with = "crate::cloth::arc_serde"))]
    pub(crate) intact_constraints: Arc<ConstraintGraph>,
}
