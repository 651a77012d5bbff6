//! Cape on a running figure.

use super::{ContactScene, FRICTION, move_to, sheet};
use bevy::math::{Quat, Vec3};
use bevy_drape::{
    mesh::ClothGrid,
    solver::{Collider, Pose, Shape},
};
use std::f32::consts::TAU;

/// Speed, m/s, radius of the circle in which it runs, m, and strides per second.
const SPEED: f32 = 5.0;
const CIRCLE: f32 = 4.0;
const STRIDES: f32 = 2.5;
/// Radius of the collar, m, and its height above the hips.
const COLLAR: f32 = 0.22;
const SHOULDERS: f32 = 0.5;
/// Height of the hips, m.
const HIPS: f32 = 0.9;

/// Limb of the figure: a capsule that swings around its upper end.
struct Limb {
    /// Upper end, relative to the hips, m.
    joint: Vec3,
    length: f32,
    radius: f32,
    /// Largest angle, rad; of the other side, negative.
    swing: f32,
}

const LIMBS: [Limb; 5] = [
    limb(Vec3::new(0.1, 0.0, 0.0), 0.8, 0.08, 0.7),
    limb(Vec3::new(-0.1, 0.0, 0.0), 0.8, 0.08, -0.7),
    limb(Vec3::new(0.32, 0.42, 0.0), 0.6, 0.05, -0.9),
    limb(Vec3::new(-0.32, 0.42, 0.0), 0.6, 0.05, 0.9),
    // The trunk.
    limb(Vec3::new(0.0, 0.4, 0.0), 0.4, 0.16, 0.05),
];

const fn limb(joint: Vec3, length: f32, radius: f32, swing: f32) -> Limb {
    Limb {
        joint,
        length,
        radius,
        swing,
    }
}

impl Limb {
    fn shape(&self) -> Shape {
        Shape::Capsule {
            radius: self.radius,
            half_length: 0.5 * self.length,
        }
    }

    fn pose(&self, time: f32) -> Pose {
        let angle = self.swing * (TAU * STRIDES * time).sin() * run_up(time);
        let swing = Quat::from_rotation_x(angle);
        let middle = self.joint + swing * Vec3::NEG_Y * 0.5 * self.length;
        let Pose {
            rotation,
            translation,
        } = hips(time);
        Pose {
            rotation: rotation * swing,
            translation: translation + rotation * middle,
        }
    }
}

/// Returns the fraction of its speed that the figure has reached.
fn run_up(time: f32) -> f32 {
    time.min(1.0)
}

/// Returns the pose of the hips.
fn hips(time: f32) -> Pose {
    let way = SPEED
        * if time < 1.0 {
            0.5 * time * time
        } else {
            time - 0.5
        };
    let bob = 0.04 * (2.0 * TAU * STRIDES * time).cos() * run_up(time);
    let rotation = Quat::from_rotation_y((way / CIRCLE) % TAU);
    Pose {
        rotation,
        translation: rotation * Vec3::NEG_X * CIRCLE + Vec3::Y * (HIPS + bob),
    }
}

/// A cape of `columns` × 1.4 `columns` particles on a figure that begins to run.
pub(crate) fn cape(columns: u32) -> ContactScene {
    // Half a circle around the shoulders.
    let width = COLLAR * 0.5 * TAU;
    let rows = columns * 7 / 5;
    let mut cape = sheet(ClothGrid::vertical(width, 1.1, columns, rows));
    let worn = |rest: Vec3, time: f32| {
        let angle = rest.x / COLLAR;
        let height = SHOULDERS + rest.y - 0.55;
        let at = Vec3::new(angle.sin() * COLLAR, height, -angle.cos() * COLLAR);
        let Pose {
            rotation,
            translation,
        } = hips(time);
        translation + rotation * at
    };
    cape.deform(|rest| worn(rest, 0.0));
    (0..columns).for_each(|i| cape.sample.pin(i));
    let limbs = LIMBS.iter();
    cape.sample.colliders = limbs
        .map(|limb| Collider::fixed(limb.shape(), limb.pose(0.0), FRICTION))
        .collect();
    ContactScene::new(cape, move |cape, time| {
        let sample = &mut cape.sample;
        for (collider, limb) in sample.colliders.iter_mut().zip(&LIMBS) {
            move_to(collider, limb.pose(time));
        }
        for pin in &mut sample.pins {
            pin.position = worn(cape.rest[pin.particle as usize], time);
        }
    })
}
