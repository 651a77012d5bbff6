//! Cloth comes to rest.

use crate::{Sample, as_the_plugin};
use bevy::math::{Quat, Vec3};
use bevy_drape::{
    Cloth,
    solver::{Collider, Friction, Pose, Shape, SoaVec3, has_stayed_within, measure_stretch},
};

/// The sheet of the scene `drape`, 2 m wide, with the plugin's defaults: it falls on a ball over a
/// floor.
fn drape(side: u32) -> Sample {
    let cloth = Cloth::default();
    let mut sample = Sample::sheet(side);
    // `sheet` is 1 m wide.
    let places = sample.particles.position.iter();
    let places: SoaVec3 = places.map(|place| place * 2.0).collect();
    sample.particles.reset(Vec3::Y * 1.5, &places);
    sample.constraints.set_rest_lengths(&places);
    sample.triangles.set_rest(&places);
    for w in &mut sample.particles.inverse_mass {
        *w /= 4.0;
    }
    let at = |translation| Pose {
        rotation: Quat::IDENTITY,
        translation,
    };
    let friction = Friction {
        fixed: 0.5,
        kinetic: 0.4,
    };
    sample.colliders = vec![
        Collider::fixed(Shape::Sphere { radius: 0.5 }, at(Vec3::Y * 0.5), friction),
        Collider::fixed(Shape::HalfSpace, at(Vec3::ZERO), friction),
    ];
    sample.settings = as_the_plugin(&cloth);
    sample
}

#[test]
fn a_drape_is_still_enough_to_sleep_after_five_seconds() {
    let cloth = Cloth::default();
    let mut sample = drape(64);
    sample.run(5.0);
    // It is at 0.6 mm/s, and now and then at 3; the plugin then puts it to sleep, which is 0.
    let way = cloth.sleep_speed * sample.settings.dt;
    for step in 0..30 {
        sample.step();
        assert!(has_stayed_within(&sample.particles, way), "step {step}");
    }
}

/// A thread pulls where it is taut, however many folds it has beside that place.
#[test]
fn no_thread_of_a_drape_stays_stretched() {
    let mut sample = drape(64);
    sample.run(5.0);
    // 1 in 50 is what threads may be too long before they are solved again, and the ball presses.
    for _ in 0..30 {
        sample.step();
        let stretch = measure_stretch(&sample.particles, &sample.constraints);
        assert!(stretch.max < 0.06, "{stretch:?}");
        assert!(stretch.mean < 0.004, "{stretch:?}");
    }
}

#[test]
fn friction_within_cloth_slows_nothing_that_falls_or_turns_as_a_whole() {
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
