//! State of the strokes that cut a cloth.

use crate::solver::topology::Blade;
use bevy::prelude::*;

/// End of the last cut of a stroke.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct CutEnd {
    /// Entity that cuts.
    pub(crate) by: Entity,
    /// Pose of the blade.
    pub(crate) blade: Blade,
    /// Particle at which the cut ends.
    pub(crate) particle: u32,
}
