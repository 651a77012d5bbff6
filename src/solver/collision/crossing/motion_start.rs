//! Begin of a motion, as the filter needs it.

use crate::solver::particles::ParticleArrays;
use bevy::math::Vec3A;

/// Longest way of particles, as a multiple of the distance that they keep, after which the filter is applied before the step
/// ends. Particles that went farther on curved ways seem to have crossed much that they did not touch.
const MAX_WAY: f32 = 2.4;

/// Begin of a motion, for the filter that keeps cloth from passing through itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct MotionStart {
    /// Positions of the particles relative to their origin, m; empty if there is no filter.
    pub(crate) positions: Vec<Vec3A>,
    /// Distance that particles keep, m.
    pub(crate) distance: f32,
    /// Number of substeps since then.
    pub(crate) substeps: u32,
    /// Number of substeps after which particles may have gone the longest way.
    pub(super) interval: f32,
    /// Whether the motion begins where the filter let the last one end, so that the features near each other are known.
    pub(crate) is_filtered: bool,
}

impl MotionStart {
    /// Returns whether the cloth is filtered in this step.
    pub(crate) fn is_used(&self) -> bool {
        !self.positions.is_empty()
    }

    /// Returns whether the filter has to be applied before the next substep.
    pub(crate) fn is_due(&self) -> bool {
        self.is_used() && self.substeps as f32 >= self.interval
    }

    /// Switches the filter off for the rest of the step.
    pub(crate) fn clear(&mut self) {
        self.positions.clear();
    }

    /// Records the positions before a substep of `substep` seconds, if the cloth keeps a distance from itself, m.
    pub(crate) fn record(&mut self, p: &ParticleArrays, distance: Option<f32>, substep: f32) {
        self.clear();
        self.is_filtered &= distance.is_some();
        if let Some(distance) = distance.filter(|&distance| distance > 0.0) {
            self.positions.extend(p.position.iter().map(Vec3A::from));
            self.distance = distance;
            self.substeps = 0;
            self.interval = MAX_WAY * distance / p.free_way(substep);
        }
    }

    /// Records the positions again, after the filter was applied.
    pub(crate) fn restart(&mut self, p: &ParticleArrays) {
        if self.is_used() {
            self.record(p, Some(self.distance), p.last_dt);
            self.is_filtered = true;
        }
    }
}
