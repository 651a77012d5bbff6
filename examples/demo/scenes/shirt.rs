//! A figure that walks, runs and stops, in a shirt of irregular triangles from a glTF file.

use super::{PLAIN, Scene, Surroundings, hero};
use bevy::prelude::*;

pub(super) const SCENE: Scene = Scene {
    name: "shirt",
    about: "a figure in a shirt of irregular triangles, which collides with its body and itself",
    spawn: |set| hero::spawn(set, hero::IN_SHIRT),
    world: || Surroundings::wind(Vec3::new(-1.0, 0.0, -0.5)),
    view: [Vec3::new(1.6, 1.7, 3.9), Vec3::new(0.0, 0.8, 0.0)],
    ..PLAIN
};
