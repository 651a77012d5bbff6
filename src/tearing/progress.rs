//! State of a cloth that is cut or torn, from one cut or step to the next.

use crate::solver::topology::Blade;
use bevy::prelude::*;

/// Strokes that cut a cloth, and its resistance to tears. Written by cuts and tears, resets and snapshots; read by
/// the next cut of a stroke, and after each step where edges are tested for overload.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct TearProgress {
    /// End of the last cut of each stroke.
    pub(crate) cut_ends: Vec<CutEnd>,
    /// Tear resistance of each particle, as a fraction of the tear limit; empty if 1 everywhere.
    pub(crate) resistance: Vec<f32>,
}

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
