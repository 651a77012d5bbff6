//! A flag in gusty wind: how stiff it is depends on how often its threads are put right.

use super::{PLAIN, Scene, Set, Surroundings};
use bevy::{light::NotShadowReceiver, prelude::*};
use bevy_drape::prelude::*;

pub(super) const SCENE: Scene = Scene {
    name: "flag",
    about: "a flag in gusty wind; slide its iterations from 1 to 30 and see it stiffen",
    spawn,
    world: || Surroundings {
        wind: Wind {
            velocity: Vec3::new(5.0, 0.0, -2.4),
            gusts: 0.5,
            ..default()
        },
        // So few that iterations are what stiffness comes from.
        substeps: Substeps(2),
        ..default()
    },
    view: [Vec3::new(0.75, 1.4, 2.1), Vec3::new(-0.1, 1.5, -0.2)],
    ..PLAIN
};

/// Of the flag, m.
const SIZE: Vec2 = Vec2::new(1.5, 1.0);
/// Height of its middle above the ground, m.
const HEIGHT: f32 = 1.6;
/// Radius and height of the pole, m.
const POLE: Vec2 = Vec2::new(0.03, 2.2);

fn spawn(set: &mut Set) {
    set.floor();
    // Far enough from the pole for the thickness of the cloth.
    let left = -SIZE.x / 2.0;
    let pole = Vec3::new(left - POLE.x - 0.015, POLE.y / 2.0, 0.0);
    let cylinder = Cylinder::new(POLE.x, POLE.y).mesh().resolution(32);
    let place = Transform::from_translation(pole);
    set.stone(
        "pole",
        ClothCollider::capsule(POLE.x, POLE.y),
        cylinder,
        place,
    );
    let knob = set.meshes.add(Sphere::new(0.055).mesh().uv(32, 16));
    let gold = set.paint(Color::srgb(0.83, 0.62, 0.22));
    let top = Transform::from_xyz(pole.x, POLE.y + 0.03, 0.0);
    set.spawn((Mesh3d(knob), MeshMaterial3d(gold), top));

    let material = set.props.flag.clone();
    let place = Transform::from_xyz(0.0, HEIGHT, 0.0);
    set.sheet(ClothGrid::vertical(SIZE.x, SIZE.y, 48, 32), place)
        .insert((
            Name::new("flag"),
            MeshMaterial3d(material),
            // So thin that its own folds darken it little; their shadows would only show how coarse
            // its mesh is.
            NotShadowReceiver,
            Pins::edge(ClothEdge::Left),
            Cloth {
                iterations: 20,
                // How stiff it is depends on them alone.
                tether_scale: 100.0,
                threads: ThreadSolver::Relaxation,
                fabric: Fabric {
                    areal_density: 0.12,
                    bending_stiffness: 1e-6,
                    ..default()
                },
                ..default()
            },
        ));
}
