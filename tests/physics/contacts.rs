//! Contacts with moving colliders.

use crate::{Sample, assert_near};
use bevy::math::{Quat, Vec3};
use bevy_drape::solver::{Collider, Friction, Pose, Shape, Surface};

/// Returns the distance of the centre of a sheet from the origin, m.
fn distance(sample: &Sample) -> f32 {
    let n = sample.particles.len();
    (0..n).map(|i| sample.at(i)).sum::<Vec3>().length() / n as f32
}

#[test]
fn a_moving_floor_drags_cloth_along() {
    let friction = Friction {
        static_coefficient: 1.0,
        kinetic_coefficient: 1.0,
    };
    let mut sample = Sample::sheet(8);
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
    assert_near("distance", f64::from(distance(&sample)), 1.0, 0.03);
}
