//! Four particles, four particles joined by four sticks, and four that are braced: only the last keep
//! the shape of a square. Flat, as on the screen of a tutorial.

use super::{PLAIN, Scene, Set};
use bevy::{light::NotShadowCaster, mesh::VertexAttributeValues, prelude::*};
use bevy_drape::{ClothSystems, Constraints, Particles, prelude::*, solver::ConstraintKind};
use std::f32::consts::FRAC_PI_2;

pub(super) const SCENE: Scene = Scene {
    name: "sticks",
    about: "four particles fall: loose, joined by four sticks, and braced by two more",
    spawn,
    view: [Vec3::new(0.0, 1.15, 3.1), Vec3::new(0.0, 0.74, 0.0)],
    ..PLAIN
};

pub(super) fn plugin(app: &mut App) {
    let after = (follow_particles, follow_sticks).after(ClothSystems::WriteMesh);
    app.add_observer(take_sticks_away)
        .add_systems(PostUpdate, after);
}

/// What holds the particles of a quad together.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// Nothing.
    Loose,
    /// Its four sides.
    Box,
    /// Its sides and both diagonals.
    Braced,
}

impl Held {
    fn by(self, kind: ConstraintKind) -> bool {
        match self {
            Self::Loose => false,
            Self::Box => kind == ConstraintKind::Structural,
            Self::Braced => true,
        }
    }
}

/// A ball at a corner of a quad.
#[derive(Component)]
struct Ball {
    quad: Entity,
    corner: usize,
}

/// A stick between two corners of a quad.
#[derive(Component)]
struct Stick {
    quad: Entity,
    corners: [usize; 2],
}

/// Corners of the quad: upper left and right, lower left and right.
const SIDES: [[usize; 2]; 4] = [[0, 1], [1, 3], [3, 2], [2, 0]];
const DIAGONALS: [[usize; 2]; 2] = [[0, 3], [1, 2]];

/// Side of a quad, m.
const SIDE: f32 = 0.42;
/// Radius of a ball, and what the particles keep from the walls, m.
const BALL: f32 = 0.04;
/// Width, height and depth of a compartment, m.
const ROOM: Vec3 = Vec3::new(1.1, 1.5, 0.12);
/// Thickness of a wall, m.
const WALL: f32 = 0.06;
/// How it is thrown: velocity, m/s, and spin, rad/s.
const THROW: Vec3 = Vec3::new(0.45, 0.8, 0.0);
const SPIN: Vec3 = Vec3::new(0.0, 0.0, -3.5);

fn spawn(set: &mut Set) {
    set.floor();
    let pitch = ROOM.x + WALL;
    for number in 0..4 {
        let x = (number as f32 - 1.5) * pitch;
        let wall = Cuboid::new(WALL, ROOM.y, ROOM.z);
        let place = Transform::from_xyz(x, ROOM.y / 2.0, 0.0);
        // Without its shadow, which would darken the room behind it.
        set.stone("wall", wall, wall, place).insert(NotShadowCaster);
        // Outside of the outer walls all is solid: nothing ever gets through them.
        let outwards = match number {
            0 => -1.0,
            3 => 1.0,
            _ => continue,
        };
        let face = Transform::from_xyz(x - outwards * WALL / 2.0, 0.0, 0.0)
            .with_rotation(Quat::from_rotation_z(outwards * FRAC_PI_2));
        set.spawn((ClothCollider::half_space(), face, Name::new("bound")));
    }
    let back = set
        .meshes
        .add(Cuboid::new(3.0 * pitch + WALL, ROOM.y, 0.04));
    let plaster = set.paint(Color::srgb(0.30, 0.33, 0.38));
    let place = Transform::from_xyz(0.0, ROOM.y / 2.0, -ROOM.z / 2.0 - 0.02);
    set.spawn((Mesh3d(back), MeshMaterial3d(plaster), place));

    for (number, held) in [Held::Loose, Held::Box, Held::Braced]
        .into_iter()
        .enumerate()
    {
        quad(set, held, (number as f32 - 1.0) * pitch);
    }
}

fn quad(set: &mut Set, held: Held, x: f32) {
    let mesh = set.meshes.add(ClothGrid::vertical(SIDE, SIDE, 2, 2));
    let tilt = Quat::from_rotation_z(0.35);
    let quad = set
        .spawn((
            held,
            Name::new(match held {
                Held::Loose => "loose",
                Held::Box => "box",
                Held::Braced => "braced",
            }),
            Cloth {
                iterations: 10,
                // Sticks and nothing else.
                tether_scale: 100.0,
                threads: ThreadSolver::Relaxation,
                damping: 0.05,
                fabric: Fabric {
                    // Rigid sticks in still air, and balls of the size that is seen.
                    shear_stiffness: 1e6,
                    thickness: BALL,
                    drag: 0.0,
                    lift: 0.0,
                    ..default()
                },
                ..default()
            },
            PlanarCloth::default(),
            // No material: what is seen are the balls and sticks.
            Mesh3d(mesh),
            Transform::from_xyz(x - 0.15, 0.95, 0.0).with_rotation(tilt),
        ))
        .id();

    let sphere = set.meshes.add(Sphere::new(BALL).mesh().uv(32, 16));
    let gold = set.paint(Color::srgb(0.85, 0.58, 0.16));
    for corner in 0..4 {
        set.spawn((
            Ball { quad, corner },
            Mesh3d(sphere.clone()),
            MeshMaterial3d(gold.clone()),
        ));
    }
    // Of length 1: each is scaled to the distance of its ends.
    let rod = set
        .meshes
        .add(Cylinder::new(0.014, 1.0).mesh().resolution(20));
    let steel = set.paint(Color::srgb(0.72, 0.74, 0.78));
    let red = set.paint(Color::srgb(0.72, 0.13, 0.10));
    let sides = SIDES.map(|ends| (ends, ConstraintKind::Structural, steel.clone()));
    let braces = DIAGONALS.map(|ends| (ends, ConstraintKind::Shear, red.clone()));
    for (corners, kind, paint) in sides.into_iter().chain(braces) {
        if held.by(kind) {
            set.spawn((
                Stick { quad, corners },
                Mesh3d(rod.clone()),
                MeshMaterial3d(paint),
            ));
        }
    }
}

/// A quad comes with all six constraints; those that it is not held by go, and it is thrown.
fn take_sticks_away(
    ready: On<ClothReady>,
    mut quads: Query<(&Held, &mut Particles, &mut Constraints)>,
) {
    let Ok((held, mut particles, mut constraints)) = quads.get_mut(ready.entity) else {
        return;
    };
    constraints.retain(|constraint| held.by(constraint.kind));
    let count = particles.len();
    let centre = particles.position.iter().sum::<Vec3>() / count as f32;
    for i in 0..count {
        let arm = particles.position.get(i) - centre;
        particles.set_velocity(i, THROW + SPIN.cross(arm));
    }
}

/// Where the corners of a quad are drawn: between two steps, as its mesh is.
fn corners(
    quad: Entity,
    quads: &Query<(&Mesh3d, &GlobalTransform), With<Held>>,
    meshes: &Assets<Mesh>,
) -> Option<[Vec3; 4]> {
    let (mesh, transform) = quads.get(quad).ok()?;
    let positions = meshes.get(mesh)?.attribute(Mesh::ATTRIBUTE_POSITION)?;
    let VertexAttributeValues::Float32x3(places) = positions else {
        return None;
    };
    let four: &[[f32; 3]; 4] = places.get(..4)?.try_into().ok()?;
    Some(four.map(|place| transform.transform_point(place.into())))
}

type Moved<'w, 's, T> = Query<
    'w,
    's,
    (
        &'static T,
        &'static mut Transform,
        &'static mut GlobalTransform,
    ),
    Without<Held>,
>;

fn follow_particles(
    mut balls: Moved<Ball>,
    quads: Query<(&Mesh3d, &GlobalTransform), With<Held>>,
    meshes: Res<Assets<Mesh>>,
) {
    for (ball, mut transform, mut global) in &mut balls {
        if let Some(corners) = corners(ball.quad, &quads, &meshes) {
            transform.translation = corners[ball.corner];
            // Transforms have been propagated already, and nothing of this has a parent.
            *global = (*transform).into();
        }
    }
}

fn follow_sticks(
    mut sticks: Moved<Stick>,
    quads: Query<(&Mesh3d, &GlobalTransform), With<Held>>,
    meshes: Res<Assets<Mesh>>,
) {
    for (stick, mut transform, mut global) in &mut sticks {
        let Some(corners) = corners(stick.quad, &quads, &meshes) else {
            continue;
        };
        let [from, to] = stick.corners.map(|corner| corners[corner]);
        let along = to - from;
        let turn = Quat::from_rotation_arc(Vec3::Y, along.normalize_or(Vec3::Y));
        *transform = Transform::from_translation((from + to) / 2.0)
            .with_rotation(turn)
            .with_scale(Vec3::new(1.0, along.length(), 1.0));
        *global = (*transform).into();
    }
}
