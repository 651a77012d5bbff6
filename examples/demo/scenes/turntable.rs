//! A cloth on a disc that turns to and fro, over a ball that turns with it.

use super::{PLAIN, Scene, Set};
use bevy::prelude::*;
use bevy_drape::{ClothSystems, cloth_step_due, prelude::*};

pub(super) const SCENE: Scene = Scene {
    name: "turntable",
    about: "a cloth on a disc that turns faster and slower, a ball in its middle",
    spawn,
    view: [Vec3::new(1.1, 1.5, 1.9), Vec3::new(0.0, 0.3, 0.0)],
    ..PLAIN
};

pub(super) fn plugin(app: &mut App) {
    // When cloths have moved, so that it pauses with them.
    let after = turn.after(ClothSystems::Finish).run_if(cloth_step_due);
    app.add_systems(FixedUpdate, after);
}

/// Radius and height of the disc, m.
const DISC: Vec2 = Vec2::new(0.8, 0.1);
/// Height of its top above the ground, m.
const TOP: f32 = 0.35;
/// Fastest that it turns, rad/s.
const FASTEST: f32 = 2.5;
/// From one standstill to the next, s.
const PERIOD: f32 = 12.0;

/// Turns around its y axis, to and fro.
#[derive(Component, Default)]
struct Turntable {
    /// How long it has been turning, s.
    elapsed: f32,
}

fn turn(mut turning: Query<(&mut Turntable, &mut Transform)>, time: Res<Time>) {
    for (mut table, mut transform) in &mut turning {
        table.elapsed += time.delta_secs();
        let phase = table.elapsed / PERIOD * std::f32::consts::TAU;
        // Its derivative, the speed, rises and falls as a sine does.
        let angle = FASTEST * PERIOD / std::f32::consts::TAU * (1.0 - phase.cos());
        transform.rotation = Quat::from_rotation_y(angle);
    }
}

fn spawn(set: &mut Set) {
    set.floor();
    let disc = Cylinder::new(DISC.x, DISC.y);
    let collider = ClothCollider::from(disc).with_friction(0.8, 0.7);
    let place = Transform::from_xyz(0.0, TOP - DISC.y / 2.0, 0.0);
    set.stone("disc", collider, disc.mesh().resolution(64), place)
        .insert(Turntable::default());
    let ball = Sphere::new(0.2);
    let collider = ClothCollider::from(ball).with_friction(0.8, 0.7);
    let place = Transform::from_xyz(0.0, TOP + 0.02, 0.0);
    set.stone("ball", collider, ball.mesh().uv(64, 32), place)
        .insert(Turntable::default());

    let place = Transform::from_xyz(0.0, TOP + 0.4, 0.0);
    let turn = Quat::from_rotation_y(0.3);
    set.sheet(ClothGrid::new(1.3, 1.3, 64, 64), place.with_rotation(turn));
}
