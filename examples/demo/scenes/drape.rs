//! A sheet falls over a sphere.

use super::{PLAIN, Scene, Set};
use bevy::prelude::*;
use bevy_drape::prelude::*;

pub(super) const SCENE: Scene = Scene {
    name: "drape",
    about: "a sheet falls over a sphere on the floor",
    spawn,
    ..PLAIN
};

fn spawn(set: &mut Set) {
    set.floor();
    let sphere = Sphere::new(0.5);
    let transform = Transform::from_xyz(0.0, 0.5, 0.0);
    set.stone("sphere", sphere, sphere.mesh().uv(64, 32), transform);
    let transform = Transform::from_xyz(0.0, 1.5, 0.0);
    let turn = Quat::from_rotation_y(0.35);
    let grid = ClothGrid::new(2.4, 2.4, 96, 96);
    // Otherwise folds would pass through each other.
    let cloth = Cloth {
        self_collision: SelfCollision::On,
        ..default()
    };
    set.sheet(grid, transform.with_rotation(turn)).insert(cloth);
}
