//! Air drag: terminal velocity.

use super::Row;
use crate::sample::{Sample, vacuum};
use bevy::math::Vec3;
use bevy_drape::solver::{Air, StepSettings};

/// Returns a flat sheet of 0.2 kg/m² with the drag of a plate.
pub(crate) fn in_air(wind: Vec3) -> Sample {
    let mut sample = Sample::sheet(5);
    sample.settings = StepSettings {
        air: Air {
            wind,
            density: 1.2,
            drag: 1.28,
            lift: 0.0,
            areal_density: 0.2,
        },
        ..vacuum()
    };
    sample
}

pub(crate) fn terminal_velocity() -> Vec<Row> {
    // y = v_t²/g · ln cosh(g·t/v_t)
    let terminal = (2.0_f64 * 0.2 * 9.81 / (1.2 * 1.28)).sqrt();
    let mut sample = in_air(Vec3::ZERO);
    sample.settings.dt = 1.0 / 240.0;
    sample.run(2.0);
    let fallen = terminal * terminal / 9.81 * (9.81 * 2.0 / terminal).cosh().ln();
    let speed = f64::from(-sample.particles.velocity(0).y);
    vec![
        Row::near(
            "distance in 2 s, m",
            fallen,
            f64::from(-sample.at(0).y),
            0.01,
        ),
        Row::near("speed after 2 s, m/s", terminal, speed, 0.01),
    ]
}
