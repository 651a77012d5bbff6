//! The air: terminal velocity and wind.

use crate::{Sample, assert_near, cloths::sheet, vacuum};
use bevy::math::Vec3;
use bevy_drape::solver::{Air, StepSettings};

fn in_air(wind: Vec3) -> Sample {
    let mut sample = sheet(5);
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

#[test]
fn a_flat_sheet_falls_as_in_air() {
    // v_t = √(2σg/(ρC_D)) and y = v_t²/g · ln cosh(g·t/v_t)
    let terminal = (2.0_f64 * 0.2 * 9.81 / (1.2 * 1.28)).sqrt();
    let mut sample = in_air(Vec3::ZERO);
    sample.settings.dt = 1.0 / 240.0;
    sample.run(2.0);
    let fallen = terminal * terminal / 9.81 * (9.81 * 2.0 / terminal).cosh().ln();
    assert_near("way", f64::from(-sample.at(0).y), fallen, 0.01);
    let speed = f64::from(-sample.particles.velocity(0).y);
    assert_near("terminal velocity", speed, terminal, 0.01);
}

#[test]
fn wind_takes_a_sheet_to_its_own_speed_and_no_further() {
    let mut sample = in_air(Vec3::Y * 20.0);
    sample.settings.gravity = Vec3::ZERO;
    let mut fastest = 0.0_f32;
    for _ in 0..600 {
        sample.step();
        fastest = fastest.max(sample.particles.velocity(0).y);
    }
    assert!(fastest > 18.0 && fastest <= 20.001, "{fastest} m/s");
}
