//! Cloth settles.

use crate::{Sample, drape::Drape, supports::Support};
use bevy_drape::solver::measure_stretch;

/// A chain must be tight only where it is taut, however many folds the rest of it has.
#[test]
fn no_edge_of_a_drape_stays_stretched() {
    let mut sheet = Drape::on(Support::Ball).sheet();
    (0..300).for_each(|_| sheet.step());
    // The ball presses.
    for _ in 0..30 {
        sheet.step();
        let stretch = measure_stretch(&sheet.sample.particles, &sheet.sample.constraints);
        assert!(stretch.max < 0.06, "{stretch:?}");
        assert!(stretch.mean < 0.004, "{stretch:?}");
    }
}

#[test]
fn internal_friction_does_not_slow_a_rigid_fall() {
    let mut sample = Sample::sheet(12);
    sample.settings.substeps = 4;
    sample.settings.internal_friction = 5.0;
    sample.run(2.0);
    for i in 0..144 {
        let fallen = -f64::from(sample.at(i).y);
        // ½·9.81·2²
        crate::assert_near("fall", fallen, 19.62, 2e-5);
    }
}
