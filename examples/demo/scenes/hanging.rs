//! The cloth of the tutorials: 20 × 20 particles 15 cm apart, the whole upper row pinned.

use super::{PLAIN, Scene, Set, Surroundings, swing::Swing};
use bevy::prelude::*;
use bevy_drape::{cloth::StretchSolver, prelude::*};

pub(super) const SCENE: Scene = Scene {
    name: "hanging",
    about: "20 × 20 particles 15 cm apart hang by their upper row, 5 iterations in 1 substep; a \
            ball swings into them, and they tear when pulled too hard",
    spawn,
    world: || Surroundings {
        wind: Wind {
            velocity: Vec3::new(0.4, 0.0, 0.8),
            gusts: 0.6,
            ..default()
        },
        gravity: ClothGravity(Vec3::NEG_Y * 9.8),
        substeps: ClothSubsteps::PerStep(1),
        ..default()
    },
    view: [Vec3::new(2.4, 2.0, 4.3), Vec3::new(-0.05, 1.58, 0.0)],
    ..PLAIN
};

/// Particles along each side.
const SIDE: u32 = 20;
/// Distance of neighbours, m.
const SPACING: f32 = 0.15;
/// Height of the pinned row, m.
const TOP: f32 = 3.15;
/// Radius of the sphere, m.
const BALL: f32 = 0.5;

fn spawn(set: &mut Set) {
    set.floor();
    let width = SPACING * (SIDE - 1) as f32;
    // The bar it hangs from, without a collider.
    let rail = Cylinder::new(0.035, width + 0.3).mesh().resolution(32);
    let rail = set.meshes.add(rail);
    let stone = set.props.stone.clone();
    let turn = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    let transform = Transform::from_xyz(0.0, TOP + 0.035, 0.0).with_rotation(turn);
    set.spawn((Mesh3d(rail), MeshMaterial3d(stone), transform));

    let sphere = Sphere::new(BALL);
    let centre = Vec3::new(0.0, 1.1, 0.5);
    let transform = Transform::from_translation(centre);
    set.stone("sphere", sphere, sphere.mesh().uv(64, 32), transform)
        .insert(Swing {
            centre,
            reach: Vec3::new(0.3, 0.0, -1.0),
            period: 5.0,
            elapsed: -0.6,
        });

    let transform = Transform::from_xyz(0.0, TOP - width / 2.0, 0.0);
    set.sheet(ClothGrid::vertical(width, width, SIDE, SIDE), transform)
        .insert((
            Pins::edge(ClothEdge::Top),
            ClothTearing::at_strain(1.5),
            Cloth {
                iterations: 5,
                // As soft as five iterations leave it.
                tether_scale: None,
                stretch_solver: StretchSolver::GaussSeidel,
                fabric: Fabric {
                    // The sphere bulges between particles 15 cm apart; the thickness hides this.
                    thickness: Some(0.04),
                    ..default()
                },
                ..default()
            },
        ));
}
