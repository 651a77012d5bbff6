//! Begin of a step, as the filter needs it.

use crate::solver::particles::ParticleArrays;
use bevy::math::Vec3A;

/// Begin of the running step, for the filter that keeps cloth from passing through itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct MotionStart {
    /// Positions of the particles relative to their origin, m; empty if there is no filter.
    pub(crate) positions: Vec<Vec3A>,
    /// Distance that particles keep, m.
    pub(crate) distance: f32,
    /// Number of substeps of the step.
    pub(crate) substeps: u32,
}

impl MotionStart {
    /// Returns whether the cloth is filtered in this step.
    pub(crate) fn is_used(&self) -> bool {
        !self.positions.is_empty()
    }

    /// Switches the filter off for the rest of the step.
    pub(crate) fn clear(&mut self) {
        self.positions.clear();
    }

    /// Records the positions, if the cloth keeps a distance from itself, m.
    pub(in crate::solver) fn record(
        &mut self,
        p: &ParticleArrays,
        distance: Option<f32>,
        substeps: u32,
    ) {
        self.clear();
        if let Some(distance) = distance.filter(|&distance| distance > 0.0) {
            self.positions.extend(p.position.iter().map(Vec3A::from));
            self.distance = distance;
            self.substeps = substeps;
        }
    }
}
