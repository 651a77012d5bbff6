//! A flag in gusty wind, whose stiffness depends on the number of iterations.

use super::{PLAIN, Scene, Set, Surroundings};
use bevy::{light::NotShadowReceiver, prelude::*};
use bevy_drape::{cloth::StretchSolver, prelude::*};

pub(super) const SCENE: Scene = Scene {
    name: "flag",
    about: "a flag in gusty wind; raise its iterations from 1 to 30 to make it stiffer",
    spawn,
    world: || Surroundings {
        wind: Wind {
            velocity: Vec3::new(5.0, 0.0, -2.4),
            gusts: 0.5,
            ..default()
        },
        // Few, so that stiffness depends on iterations.
        substeps: ClothSubsteps::PerStep(2),
        ..default()
    },
    view: [Vec3::new(0.75, 1.4, 2.1), Vec3::new(-0.1, 1.5, -0.2)],
    ..PLAIN
};

/// Size of the flag, m.
const SIZE: Vec2 = Vec2::new(1.5, 1.0);
/// Height of its centre above the ground, m.
const HEIGHT: f32 = 1.6;
/// Radius and height of the pole, m.
const POLE: Vec2 = Vec2::new(0.03, 2.2);

fn spawn(set: &mut Set) {
    set.floor();
    // Far enough from the pole for the thickness of the cloth.
    let left = -SIZE.x / 2.0;
    let pole = Vec3::new(left - POLE.x - 0.015, POLE.y / 2.0, 0.0);
    let cylinder = Cylinder::new(POLE.x, POLE.y).mesh().resolution(32);
    let transform = Transform::from_translation(pole);
    set.stone(
        "pole",
        ClothCollider::capsule(POLE.x, POLE.y),
        cylinder,
        transform,
    );
    let knob = set.meshes.add(Sphere::new(0.055).mesh().uv(32, 16));
    let gold = set.paint(Color::srgb(0.83, 0.62, 0.22));
    let top = Transform::from_xyz(pole.x, POLE.y + 0.03, 0.0);
    set.spawn((Mesh3d(knob), MeshMaterial3d(gold), top));

    let material = set.props.flag.clone();
    let transform = Transform::from_xyz(0.0, HEIGHT, 0.0);
    set.sheet(ClothGrid::vertical(SIZE.x, SIZE.y, 48, 32), transform)
        .insert((
            Name::new("flag"),
            MeshMaterial3d(material),
            // Without shadows of its folds, which would show the coarse mesh.
            NotShadowReceiver,
            Pins::edge(ClothEdge::Left),
            Cloth {
                iterations: 20,
                // Stiffness comes from iterations only.
                tether_scale: None,
                stretch_solver: StretchSolver::GaussSeidel,
                fabric: Fabric {
                    areal_density: 0.12,
                    bending_stiffness: 1e-6,
                    ..default()
                },
                ..default()
            },
        ));
}
