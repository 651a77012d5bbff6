//! Five cloths dropped on each other.

use super::{PLAIN, Scene, Set};
use bevy::prelude::*;
use bevy_drape::prelude::*;

pub(super) const SCENE: Scene = Scene {
    name: "stack",
    about: "five cloths dropped on a block and on each other",
    spawn,
    view: [Vec3::new(0.7, 0.75, 1.05), Vec3::new(0.0, 0.15, 0.0)],
    ..PLAIN
};

/// Size of the block, m.
const BLOCK: Vec3 = Vec3::new(0.35, 0.3, 0.35);
/// Distance between cloths, m.
const APART: f32 = 0.12;
/// Rotation of each cloth relative to the one below, rad.
const TURN: f32 = 0.35;

const DYES: [Color; 5] = [
    Color::srgb(1.0, 1.0, 1.0),
    Color::srgb(0.55, 0.75, 1.0),
    Color::srgb(1.0, 0.85, 0.45),
    Color::srgb(0.6, 1.0, 0.65),
    Color::srgb(0.9, 0.6, 1.0),
];

fn spawn(set: &mut Set) {
    set.floor();
    let block = Cuboid::from_size(BLOCK);
    let transform = Transform::from_xyz(0.0, BLOCK.y / 2.0, 0.0);
    set.stone("block", block, block, transform);
    for (number, dye) in DYES.into_iter().enumerate() {
        let dye = set.dye(dye);
        let up = BLOCK.y + APART * (number + 1) as f32;
        let transform = Transform::from_xyz(0.0, up, 0.0)
            .with_rotation(Quat::from_rotation_y(TURN * number as f32));
        set.sheet(ClothGrid::new(0.8, 0.8, 40, 40), transform)
            .insert((
                MeshMaterial3d(dye),
                Cloth {
                    self_collision: SelfCollision::On,
                    ..default()
                },
            ));
    }
}
