//! A coarse net to take apart: the thread under the pointer lights up, and breaks when it is clicked.

use super::{PLAIN, Scene, Set, Surroundings};
use bevy::prelude::*;
use bevy_drape::prelude::*;

pub(super) const SCENE: Scene = Scene {
    name: "click_to_tear",
    about: "click on a thread to break it; drag with the right button",
    spawn,
    world: || Surroundings::wind(Vec3::new(0.2, 0.0, 0.8)),
    #[cfg(feature = "picking")]
    tools: || ClothTools {
        primary: ClothTool::Thread,
        secondary: ClothTool::Grab,
        ..default()
    },
    view: [Vec3::new(0.7, 1.25, 2.5), Vec3::new(0.0, 0.85, 0.0)],
    ..PLAIN
};

fn spawn(set: &mut Set) {
    set.floor();
    let place = Transform::from_xyz(0.0, 1.0, 0.0);
    set.sheet(ClothGrid::vertical(1.6, 1.2, 17, 13), place)
        .insert((
            Pins::edge(ClothEdge::Top),
            // Each thread that goes is felt by the others.
            Cloth {
                tether_scale: 100.0,
                threads: ThreadSolver::Relaxation,
                ..default()
            },
        ));
}
