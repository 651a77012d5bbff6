//! A figure that walks, runs and stops, in a cape from a glTF file.

use super::{PLAIN, Scene, Surroundings, hero};
use bevy::prelude::*;
use bevy_drape::{prelude::*, wind::WindTurbulence};

pub(super) const SCENE: Scene = Scene {
    name: "cape",
    about: "a figure walks, runs and stops; its glTF file describes its cape",
    spawn: |set| hero::spawn(set, hero::IN_CAPE),
    world: || Surroundings {
        wind: Wind {
            velocity: Vec3::new(-1.5, 0.0, -0.8),
            gusts: 0.6,
            ..default()
        },
        turbulence: WindTurbulence {
            strength: 0.8,
            ..default()
        },
        ..default()
    },
    view: [Vec3::new(1.6, 1.7, 3.9), Vec3::new(0.0, 0.8, 0.0)],
    ..PLAIN
};
