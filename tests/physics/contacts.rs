//! Contacts: the friction cone, and cloth that stays outside.

use crate::{Sample, assert_near, cloths::sheet, vacuum};
use bevy::math::{Quat, Vec3};
use bevy_drape::solver::{
    Collider, Friction, Pose, Shape, StepSettings, Surface, deepest_penetration,
};

const MU: f32 = 0.5;

/// A sheet that lies on a plane which falls off towards +x at this angle.
fn on_slope(degrees: f32) -> Sample {
    let mut sample = sheet(6);
    let slope = Quat::from_rotation_z(-degrees.to_radians());
    for i in 0..sample.particles.len() {
        let place = slope * sample.at(i);
        sample.particles.set_world_position(i, place);
    }
    let friction = Friction {
        fixed: MU,
        kinetic: MU,
    };
    let pose = Pose {
        rotation: slope,
        translation: Vec3::ZERO,
    };
    sample.colliders = vec![Collider::fixed(Shape::HalfSpace, pose, friction)];
    sample.settings = StepSettings {
        substeps: 4,
        surface: Surface {
            thickness: 0.0,
            friction,
        },
        ..vacuum()
    };
    sample
}

fn way(sample: &Sample) -> f32 {
    let n = sample.particles.len();
    (0..n).map(|i| sample.at(i)).sum::<Vec3>().length() / n as f32
}

#[test]
fn cloth_slips_only_outside_the_friction_cone() {
    let limit = MU.atan().to_degrees();
    let mut holds = on_slope(limit - 0.5);
    holds.run(2.0);
    assert!(way(&holds) < 1e-3, "slid {} m below the limit", way(&holds));
    let mut slips = on_slope(limit + 0.5);
    slips.run(2.0);
    assert!(way(&slips) > 0.05, "slid {} m only", way(&slips));
}

#[test]
fn cloth_slides_with_the_acceleration_of_coulomb() {
    // a = g(sin θ − μ cos θ)
    for degrees in [35.0_f32, 45.0, 70.0] {
        let mut sample = on_slope(degrees);
        sample.run(2.0);
        let angle = f64::from(degrees).to_radians();
        let acceleration = 9.81 * (angle.sin() - f64::from(MU) * angle.cos());
        let expected = 0.5 * acceleration * 4.0;
        let slid = f64::from(way(&sample));
        assert_near(&format!("way down {degrees}°"), slid, expected, 0.02);
    }
}

#[test]
fn cloth_drapes_without_penetration() {
    let at = |translation| Pose {
        rotation: Quat::from_rotation_y(0.3),
        translation,
    };
    let friction = Friction {
        fixed: 0.5,
        kinetic: 0.4,
    };
    let colliders = [
        Collider::fixed(Shape::HalfSpace, at(Vec3::NEG_Y), friction),
        Collider::fixed(
            Shape::Sphere { radius: 0.3 },
            at(Vec3::NEG_Y * 0.7),
            friction,
        ),
        Collider::fixed(
            Shape::Capsule {
                radius: 0.1,
                half_length: 0.3,
            },
            at(Vec3::new(0.3, -0.8, 0.3)),
            friction,
        ),
    ];
    let cuboid = Collider::fixed(
        Shape::Cuboid {
            half_size: Vec3::splat(0.2),
        },
        at(Vec3::NEG_Y * 0.8),
        friction,
    );
    for colliders in [colliders.to_vec(), vec![colliders[0], cuboid]] {
        let mut sample = sheet(32);
        sample.settings = StepSettings {
            substeps: 8,
            surface: Surface {
                thickness: 0.01,
                friction,
            },
            ..vacuum()
        };
        sample.colliders = colliders;
        for step in 0..300 {
            sample.step();
            let depth = deepest_penetration(&sample.particles, &sample.colliders);
            assert_eq!(depth, 0.0, "step {step}");
        }
        let lowest = (0..1024).map(|i| sample.at(i).y).fold(0.0, f32::min);
        assert!(lowest < -0.9, "it hangs at {lowest} m");
    }
}

#[test]
fn a_moving_floor_carries_the_cloth_along() {
    let friction = Friction {
        fixed: 1.0,
        kinetic: 1.0,
    };
    let mut sample = sheet(8);
    sample.settings.substeps = 4;
    sample.settings.surface = Surface {
        thickness: 0.0,
        friction,
    };
    // 0.5 m/s for two seconds.
    for step in 0..120 {
        let pose = |step: u32| Pose {
            rotation: Quat::IDENTITY,
            translation: Vec3::X * 0.5 * step as f32 / 60.0,
        };
        sample.colliders = vec![Collider {
            end: pose(step + 1),
            ..Collider::fixed(Shape::HalfSpace, pose(step), friction)
        }];
        sample.step();
    }
    assert_near("way", f64::from(way(&sample)), 1.0, 0.03);
}
