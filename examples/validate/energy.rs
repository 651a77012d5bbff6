//! Energy of a cloth over time. Plotted, but not in the table, because velocities jump when a sheet becomes taut.

use crate::sample::Sample;
use bevy_drape::cloth::Fabric;

/// Duration, s.
pub(crate) const SWING: f64 = 8.0;

/// Energy of a cloth, J.
pub(crate) struct Energy {
    pub(crate) time: f64,
    /// ½mv².
    pub(crate) kinetic: f64,
    /// mgh, relative to the lowest position that it can reach.
    pub(crate) potential: f64,
}

impl Energy {
    pub(crate) fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}

/// Returns the energy of a sheet of 1 m that swings down from horizontal, pinned at two corners, undamped, with
/// the default number of substeps.
pub(crate) fn swing() -> Vec<Energy> {
    const SIDE: u32 = 24;
    let mut sample = Sample::sheet(SIDE);
    sample.pin(0);
    sample.pin(SIDE - 1);
    let free = sample.masses().into_iter().filter(|mass| mass.is_finite());
    let lowest = free.sum::<f64>() * 9.81 * std::f64::consts::SQRT_2;
    sample.settings.substeps = 8;
    sample.settings.compliance = Fabric::default().compliance();
    let steps = (SWING * 60.0) as u32;
    let mut series = Vec::new();
    for step in 0..=steps {
        let [kinetic, potential] = sample.energy();
        series.push(Energy {
            time: f64::from(step) / 60.0,
            kinetic,
            potential: potential + lowest,
        });
        sample.step();
    }
    series
}
