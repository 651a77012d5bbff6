//! A coarse net to take apart: the edge under the pointer is highlighted, and tears when clicked.

use super::{PLAIN, Scene, Set, Surroundings};
use bevy::prelude::*;
#[cfg(feature = "picking")]
use bevy_drape::picking::{ClothTool, ClothTools};
use bevy_drape::{cloth::StretchSolver, prelude::*};

pub(super) const SCENE: Scene = Scene {
    name: "click_to_tear",
    about: "click on an edge to tear it; drag with the right button",
    spawn,
    world: || Surroundings::wind(Vec3::new(0.2, 0.0, 0.8)),
    #[cfg(feature = "picking")]
    tools: || ClothTools {
        primary: ClothTool::Edge,
        secondary: ClothTool::Grab,
        ..default()
    },
    view: [Vec3::new(0.7, 1.25, 2.5), Vec3::new(0.0, 0.85, 0.0)],
    ..PLAIN
};

fn spawn(set: &mut Set) {
    set.floor();
    let transform = Transform::from_xyz(0.0, 1.0, 0.0);
    set.sheet(ClothGrid::vertical(1.6, 1.2, 17, 13), transform)
        .insert((
            Pins::edge(ClothEdge::Top),
            // Without tethers, each torn edge increases the load on the others.
            Cloth {
                tether_scale: None,
                stretch_solver: StretchSolver::GaussSeidel,
                ..default()
            },
        ));
}
