//! A sheet falls over a capsule, a box and a moving sphere.

use super::{PLAIN, Scene, Set, swing::Swing};
use bevy::prelude::*;
use bevy_drape::prelude::*;

pub(super) const SCENE: Scene = Scene {
    name: "shapes",
    about: "a sheet falls over a capsule, a box and a sphere that moves",
    spawn,
    ..PLAIN
};

fn spawn(set: &mut Set) {
    set.floor();
    let capsule = Capsule3d::new(0.18, 0.7);
    let transform = Transform::from_xyz(-0.6, 0.45, 0.1);
    let turn = Quat::from_euler(EulerRot::YXZ, 0.5, 1.1, 0.0);
    set.stone("capsule", capsule, capsule, transform.with_rotation(turn));

    let cuboid = Cuboid::new(0.5, 0.6, 0.5);
    let transform = Transform::from_xyz(0.55, 0.3, -0.35);
    let turn = Quat::from_rotation_y(0.5);
    set.stone("box", cuboid, cuboid, transform.with_rotation(turn));

    let sphere = Sphere::new(0.25);
    let centre = Vec3::new(0.1, 0.25, 0.4);
    let transform = Transform::from_translation(centre);
    // Drawn smaller than it collides: cloth is drawn between its last two steps, up to two behind what moves in them.
    let drawn = Sphere::new(0.242).mesh().uv(48, 24);
    set.stone("sphere", sphere, drawn, transform).insert(Swing {
        centre,
        reach: Vec3::X * 0.3,
        period: 5.0,
        elapsed: 0.0,
    });

    let transform = Transform::from_xyz(0.0, 1.2, 0.0);
    let turn = Quat::from_rotation_y(0.2);
    set.sheet(
        ClothGrid::new(2.4, 2.4, 96, 96),
        transform.with_rotation(turn),
    );
}
