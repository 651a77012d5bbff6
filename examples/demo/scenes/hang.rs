//! A sheet pinned at two corners.

use super::{PLAIN, Scene, Set, Surroundings};
use bevy::prelude::*;
use bevy_drape::prelude::*;

pub(super) const SCENE: Scene = Scene {
    name: "hang",
    about: "a sheet hangs by its two upper corners in a light breeze",
    spawn,
    world: || Surroundings::wind(Vec3::new(0.6, 0.0, 2.0)),
    ..PLAIN
};

fn spawn(set: &mut Set) {
    set.floor();
    let transform = Transform::from_xyz(0.0, 0.6, 0.0);
    set.sheet(ClothGrid::vertical(1.2, 0.9, 40, 30), transform)
        .insert(Pins::top_corners());
}
