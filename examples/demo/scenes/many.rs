//! Two hundred figures in capes, marching in rings. Those that are far away do with less work.

use super::{PLAIN, Scene, Set, Surroundings};
use bevy::{mesh::VertexAttributeValues, prelude::*};
use bevy_drape::prelude::*;

pub(super) const SCENE: Scene = Scene {
    name: "many",
    about: "200 figures march in capes of 24 × 24 particles; those that are far away do with less work",
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

/// How many march in each ring.
const RINGS: [u32; 5] = [24, 32, 40, 48, 56];
/// Radius of the innermost ring and how far the others are apart, m.
const INNERMOST: f32 = 4.0;
const APART: f32 = 1.5;
/// How fast they go, m/s.
const SPEED: f32 = 1.3;
/// Radius and length of a body between its round ends, m.
const RADIUS: f32 = 0.2;
const LENGTH: f32 = 0.9;
/// How far a cape goes around a body, rad, how many folds it would have all around, and where it begins, m.
const AROUND: f32 = 2.6;
const FOLDS: f32 = 9.0;
const SHOULDERS: f32 = 0.55;
/// Steps a second, each of which lifts them by so much, m.
const STEPS: f32 = 1.9;
const BOUNCE: f32 = 0.03;

pub(super) fn plugin(app: &mut App) {
    app.add_systems(Update, march);
}

/// Goes around in a ring.
#[derive(Component)]
struct Marcher {
    /// Radius of its ring, m, with a sign for the way around.
    radius: f32,
    /// Where it started, rad.
    angle: f32,
}

impl Marcher {
    fn place(&self, seconds: f32) -> Transform {
        let radius = self.radius.abs();
        let way = SPEED * seconds / self.radius;
        let angle = self.angle + way;
        let stride = (seconds * STEPS * std::f32::consts::PI + self.angle * 40.0).sin();
        let height = RADIUS + LENGTH / 2.0 + BOUNCE * stride.abs();
        let place = Vec3::new(radius * angle.sin(), height, radius * angle.cos());
        // It looks where it goes, along +z of its own.
        let ahead = angle + std::f32::consts::FRAC_PI_2 * self.radius.signum();
        Transform::from_translation(place).with_rotation(Quat::from_rotation_y(ahead))
    }
}

fn march(mut marchers: Query<(&Marcher, &mut Transform)>, time: Res<Time>, mut began: Local<f32>) {
    if marchers.is_empty() {
        *began = time.elapsed_secs();
    }
    for (marcher, mut transform) in &mut marchers {
        *transform = marcher.place(time.elapsed_secs() - *began);
    }
}

/// A cape around a back, which is at -z: wider below than at the shoulders, and in folds.
fn cape() -> Mesh {
    let mut mesh = Mesh::from(ClothGrid::vertical(1.0, 1.0, 24, 24));
    let Some(VertexAttributeValues::Float32x3(places)) =
        mesh.attribute_mut(Mesh::ATTRIBUTE_POSITION)
    else {
        return mesh;
    };
    for place in places {
        let (around, below) = (AROUND * place[0], 0.5 - place[1]);
        let fold = 0.03 * (FOLDS * around).cos();
        let radius = RADIUS + 0.03 + (0.1 + fold) * below;
        let (sin, cos) = around.sin_cos();
        *place = [radius * sin, SHOULDERS - 0.95 * below, -radius * cos];
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
        // Every other ring goes the other way.
        let way = if ring % 2 == 0 { 1.0 } else { -1.0 };
        for k in 0..count {
            let marcher = Marcher {
                radius: way * (INNERMOST + APART * ring as f32),
                angle: k as f32 * std::f32::consts::TAU / count as f32,
            };
            let place = marcher.place(0.0);
            let figure = set
                .spawn((
                    marcher,
                    place,
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
                WorldMotion::default(),
                WarmUp(30),
                Mesh3d(cape.clone()),
                MeshMaterial3d(dyes[number % dyes.len()].clone()),
                ChildOf(figure),
            ));
            number += 1;
        }
    }
}
