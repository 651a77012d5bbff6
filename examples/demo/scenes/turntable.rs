//! A cloth on a disc that turns back and forth, over a ball that turns with it.

use super::{PLAIN, Scene, Set};
use bevy::prelude::*;
use bevy_drape::{prelude::*, time::cloth_step_due};

pub(super) const SCENE: Scene = Scene {
    name: "turntable",
    about: "a cloth on a disc with changing speed, a ball at its centre",
    spawn,
    view: [Vec3::new(1.1, 1.5, 1.9), Vec3::new(0.0, 0.3, 0.0)],
    ..PLAIN
};

pub(super) fn plugin(app: &mut App) {
    // Runs with the steps of cloths, so that it pauses with them.
    let after = turn.after(ClothSystems::Finish).run_if(cloth_step_due);
    app.add_systems(FixedUpdate, after);
}

/// Radius and height of the disc, m.
const DISC: Vec2 = Vec2::new(0.8, 0.1);
/// Height of its top above the ground, m.
const TOP: f32 = 0.35;
/// Largest angular speed, rad/s.
const FASTEST: f32 = 2.5;
/// Time between two standstills, s.
const PERIOD: f32 = 12.0;

/// Turns around its y axis, back and forth.
#[derive(Component, Default)]
struct Turntable {
    /// Elapsed time, s.
    elapsed: f32,
}

fn turn(mut turning: Query<(&mut Turntable, &mut Transform)>, time: Res<Time>) {
    for (mut table, mut transform) in &mut turning {
        table.elapsed += time.delta_secs();
        let phase = table.elapsed / PERIOD * std::f32::consts::TAU;
        // The angular speed, its derivative, is a sine.
        let angle = FASTEST * PERIOD / std::f32::consts::TAU * (1.0 - phase.cos());
        transform.rotation = Quat::from_rotation_y(angle);
    }
}

fn spawn(set: &mut Set) {
    set.floor();
    let disc = Cylinder::new(DISC.x, DISC.y);
    let collider = ClothCollider::from(disc).with_friction(0.8, 0.7);
    let transform = Transform::from_xyz(0.0, TOP - DISC.y / 2.0, 0.0);
    set.stone("disc", collider, disc.mesh().resolution(64), transform)
        .insert(Turntable::default());
    let ball = Sphere::new(0.2);
    let collider = ClothCollider::from(ball).with_friction(0.8, 0.7);
    let transform = Transform::from_xyz(0.0, TOP + 0.02, 0.0);
    set.stone("ball", collider, ball.mesh().uv(64, 32), transform)
        .insert(Turntable::default());

    let transform = Transform::from_xyz(0.0, TOP + 0.4, 0.0);
    let turn = Quat::from_rotation_y(0.3);
    set.sheet(
        ClothGrid::new(1.3, 1.3, 64, 64),
        transform.with_rotation(turn),
    );
}
