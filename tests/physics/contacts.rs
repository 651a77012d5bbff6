//! Contacts: what moves takes cloth along.

use crate::{Sample, assert_near};
use bevy::math::{Quat, Vec3};
use bevy_drape::solver::{Collider, Friction, Pose, Shape, Surface};

fn way(sample: &Sample) -> f32 {
    let n = sample.particles.len();
    (0..n).map(|i| sample.at(i)).sum::<Vec3>().length() / n as f32
}

#[test]
fn a_moving_floor_carries_the_cloth_along() {
    let friction = Friction {
        fixed: 1.0,
        kinetic: 1.0,
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
    assert_near("way", f64::from(way(&sample)), 1.0, 0.03);
}
