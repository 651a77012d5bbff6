//! Wind.

use crate::answers::air::in_air;
use bevy::math::Vec3;

#[test]
fn wind_accelerates_a_sheet_to_its_own_speed_and_no_further() {
    let mut sample = in_air(Vec3::Y * 20.0);
    sample.settings.gravity = Vec3::ZERO;
    let mut fastest = 0.0_f32;
    for _ in 0..600 {
        sample.step();
        fastest = fastest.max(sample.particles.velocity(0).y);
    }
    assert!(fastest > 18.0 && fastest <= 20.001, "{fastest} m/s");
}
