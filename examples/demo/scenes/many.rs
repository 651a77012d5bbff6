//! Two hundred marching figures in capes, with levels of detail by distance.

use super::{PLAIN, Scene, Set, Surroundings};
use bevy::{mesh::VertexAttributeValues, prelude::*};
use bevy_drape::{character::ClothInertia, cloth::ClothWarmUp, lod::ClothLod, prelude::*};

pub(super) const SCENE: Scene = Scene {
    name: "many",
    about: "200 figures march in capes of 24 × 24 particles, with less detail at a distance",
    spawn,
    world: || Surroundings {
        wind: Wind {
            velocity: Vec3::new(-2.0, 0.0, -1.0),
            gusts: 0.5,
            ..default()
        },
        lod: ClothLod::standard(),
        ..default()
    },
    view: [Vec3::new(0.0, 4.2, 13.5), Vec3::new(0.0, 0.6, 2.0)],
    ..PLAIN
};

/// Number of figures in each ring.
const RINGS: [u32; 5] = [24, 32, 40, 48, 56];
/// Radius of the innermost ring, and distance between rings, m.
const INNERMOST: f32 = 4.0;
const APART: f32 = 1.5;
/// Speed, m/s.
const SPEED: f32 = 1.3;
/// Radius and length of a body between its round ends, m.
const RADIUS: f32 = 0.2;
const LENGTH: f32 = 0.9;
/// Angle that a cape covers, rad, number of folds in a full circle, and height of the shoulders, m.
const AROUND: f32 = 2.6;
const FOLDS: f32 = 9.0;
const SHOULDERS: f32 = 0.55;
/// Walking frequency, steps per second, and vertical bounce, m.
const STEPS: f32 = 1.9;
const BOUNCE: f32 = 0.03;

pub(super) fn plugin(app: &mut App) {
    app.add_systems(Update, march);
}

/// Figure that walks in a ring.
#[derive(Component)]
struct Marcher {
    /// Radius of its ring, m; the sign is the direction.
    radius: f32,
    /// Initial angle, rad.
    angle: f32,
}

impl Marcher {
    fn pose(&self, seconds: f32) -> Transform {
        let radius = self.radius.abs();
        let arc = SPEED * seconds / self.radius;
        let angle = self.angle + arc;
        let stride = (seconds * STEPS * std::f32::consts::PI + self.angle * 40.0).sin();
        let height = RADIUS + LENGTH / 2.0 + BOUNCE * stride.abs();
        let position = Vec3::new(radius * angle.sin(), height, radius * angle.cos());
        // Faces its direction of motion along its local +z.
        let ahead = angle + std::f32::consts::FRAC_PI_2 * self.radius.signum();
        Transform::from_translation(position).with_rotation(Quat::from_rotation_y(ahead))
    }
}

fn march(mut marchers: Query<(&Marcher, &mut Transform)>, time: Res<Time>, mut began: Local<f32>) {
    if marchers.is_empty() {
        *began = time.elapsed_secs();
    }
    for (marcher, mut transform) in &mut marchers {
        *transform = marcher.pose(time.elapsed_secs() - *began);
    }
}

/// Returns a cape around a back at −z: wider at the hem than at the shoulders, with folds.
fn cape() -> Mesh {
    let mut mesh = Mesh::from(ClothGrid::vertical(1.0, 1.0, 24, 24));
    let Some(VertexAttributeValues::Float32x3(positions)) =
        mesh.attribute_mut(Mesh::ATTRIBUTE_POSITION)
    else {
        return mesh;
    };
    for position in positions {
        let (around, below) = (AROUND * position[0], 0.5 - position[1]);
        let fold = 0.03 * (FOLDS * around).cos();
        let radius = RADIUS + 0.03 + (0.1 + fold) * below;
        let (sin, cos) = around.sin_cos();
        *position = [radius * sin, SHOULDERS - 0.95 * below, -radius * cos];
    }
    mesh
}

fn spawn(set: &mut Set) {
    set.floor();
    let body = set.meshes.add(Capsule3d::new(RADIUS, LENGTH));
    let head = set.meshes.add(Sphere::new(0.15));
    let cape = set.meshes.add(cape());
    let stone = set.props.stone.clone();
    let dyes: Vec<_> = (0..8)
        .map(|k| set.dye(Color::hsl(k as f32 * 45.0, 0.75, 0.7)))
        .collect();
    let mut number = 0;
    for (ring, count) in RINGS.into_iter().enumerate() {
        // Every second ring has the opposite direction.
        let direction = if ring % 2 == 0 { 1.0 } else { -1.0 };
        for k in 0..count {
            let marcher = Marcher {
                radius: direction * (INNERMOST + APART * ring as f32),
                angle: k as f32 * std::f32::consts::TAU / count as f32,
            };
            let transform = marcher.pose(0.0);
            let figure = set
                .spawn((
                    marcher,
                    transform,
                    Mesh3d(body.clone()),
                    MeshMaterial3d(stone.clone()),
                    ClothCollider::capsule(RADIUS, LENGTH),
                    children![(
                        Mesh3d(head.clone()),
                        MeshMaterial3d(stone.clone()),
                        Transform::from_xyz(0.0, 0.75, 0.0),
                    )],
                ))
                .id();
            set.spawn((
                Cloth::default(),
                Pins::edge(ClothEdge::Top),
                ClothInertia::default(),
                ClothWarmUp(30),
                Mesh3d(cape.clone()),
                MeshMaterial3d(dyes[number % dyes.len()].clone()),
                ChildOf(figure),
            ));
            number += 1;
        }
    }
}
