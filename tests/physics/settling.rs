//! Cloth settles.

use crate::{Sample, as_the_plugin};
use bevy::math::{Quat, Vec3};
use bevy_drape::{
    cloth::Cloth,
    solver::{Collider, Friction, Pose, Shape, SoaVec3, has_stayed_within, measure_stretch},
};

/// Returns the sheet of the scene `drape`, 2 m wide, with the plugin's defaults: it falls on a ball over a floor.
fn drape(side: u32) -> Sample {
    let cloth = Cloth::default();
    let mut sample = Sample::sheet(side);
    // `sheet` is 1 m wide.
    let positions = sample.particles.position.iter();
    let positions: SoaVec3 = positions.map(|position| position * 2.0).collect();
    sample.particles.reset(Vec3::Y * 1.5, &positions);
    sample.constraints.set_rest_lengths(&positions);
    sample.triangles.set_rest(&positions);
    for w in &mut sample.particles.inverse_mass {
        *w /= 4.0;
    }
    let at = |translation| Pose {
        rotation: Quat::IDENTITY,
        translation,
    };
    let friction = Friction {
        static_coefficient: 0.5,
        kinetic_coefficient: 0.4,
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
    // Speeds are at 0.6 mm/s, occasionally at 3; the plugin then puts the cloth to sleep.
    let distance = cloth.sleep_speed * sample.settings.dt;
    for step in 0..30 {
        sample.step();
        assert!(
            has_stayed_within(
                &sample.particles.position,
                &sample.particles.previous,
                distance
            ),
            "step {step}"
        );
    }
}

/// A chain must be tight only where it is taut, however many folds the rest of it has.
#[test]
fn no_edge_of_a_drape_stays_stretched() {
    let mut sample = drape(64);
    sample.run(5.0);
    // The solver tolerates chains that are 2 % too long before it solves them again, and the ball presses.
    for _ in 0..30 {
        sample.step();
        let stretch = measure_stretch(&sample.particles, &sample.constraints);
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
