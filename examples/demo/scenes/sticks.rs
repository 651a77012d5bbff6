//! Four particles: loose, joined by four sticks, and braced by two diagonals. Only the last ones keep the shape of
//! a square. Planar, as in a tutorial.

use super::{PLAIN, Scene, Set};
use bevy::{light::NotShadowCaster, mesh::VertexAttributeValues, prelude::*};
use bevy_drape::{
    cloth::{ClothConstraints, PlanarCloth, StretchSolver},
    prelude::*,
    solver::ConstraintKind,
};
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
    app.add_observer(remove_constraints)
        .add_systems(PostUpdate, after);
}

/// Constraints between the particles of a quad.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bracing {
    /// None.
    Loose,
    /// The four sides.
    Box,
    /// The sides and both diagonals.
    Braced,
}

impl Bracing {
    fn includes(self, kind: ConstraintKind) -> bool {
        match self {
            Self::Loose => false,
            Self::Box => kind == ConstraintKind::Structural,
            Self::Braced => true,
        }
    }
}

/// Ball at a corner of a quad.
#[derive(Component)]
struct Ball {
    quad: Entity,
    corner: usize,
}

/// Stick between two corners of a quad.
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
/// Radius of a ball, and distance of particles from the walls, m.
const BALL: f32 = 0.04;
/// Width, height and depth of a compartment, m.
const COMPARTMENT: Vec3 = Vec3::new(1.1, 1.5, 0.12);
/// Thickness of a wall, m.
const WALL: f32 = 0.06;
/// Initial linear velocity, m/s, and angular velocity, rad/s.
const THROW: Vec3 = Vec3::new(0.45, 0.8, 0.0);
const SPIN: Vec3 = Vec3::new(0.0, 0.0, -3.5);

fn spawn(set: &mut Set) {
    set.floor();
    let pitch = COMPARTMENT.x + WALL;
    for number in 0..4 {
        let x = (number as f32 - 1.5) * pitch;
        let wall = Cuboid::new(WALL, COMPARTMENT.y, COMPARTMENT.z);
        let transform = Transform::from_xyz(x, COMPARTMENT.y / 2.0, 0.0);
        // Without shadows, which would darken the compartment.
        set.stone("wall", wall, wall, transform)
            .insert(NotShadowCaster);
        // Half-spaces behind the outer walls, so that nothing passes through them.
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
        .add(Cuboid::new(3.0 * pitch + WALL, COMPARTMENT.y, 0.04));
    let plaster = set.paint(Color::srgb(0.30, 0.33, 0.38));
    let transform = Transform::from_xyz(0.0, COMPARTMENT.y / 2.0, -COMPARTMENT.z / 2.0 - 0.02);
    set.spawn((Mesh3d(back), MeshMaterial3d(plaster), transform));

    for (number, bracing) in [Bracing::Loose, Bracing::Box, Bracing::Braced]
        .into_iter()
        .enumerate()
    {
        quad(set, bracing, (number as f32 - 1.0) * pitch);
    }
}

fn quad(set: &mut Set, bracing: Bracing, x: f32) {
    let mesh = set.meshes.add(ClothGrid::vertical(SIDE, SIDE, 2, 2));
    let tilt = Quat::from_rotation_z(0.35);
    let quad = set
        .spawn((
            bracing,
            Name::new(match bracing {
                Bracing::Loose => "loose",
                Bracing::Box => "box",
                Bracing::Braced => "braced",
            }),
            Cloth {
                iterations: 10,
                // Sticks only.
                tether_scale: None,
                stretch_solver: StretchSolver::GaussSeidel,
                damping: 0.05,
                fabric: Fabric {
                    // Rigid sticks without air drag, and balls of the visible size.
                    shear_stiffness: None,
                    thickness: Some(BALL),
                    drag: 0.0,
                    lift: 0.0,
                    ..default()
                },
                ..default()
            },
            PlanarCloth::default(),
            // No material: only balls and sticks are visible.
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
    // Unit length: each stick is scaled to the distance of its ends.
    let rod = set
        .meshes
        .add(Cylinder::new(0.014, 1.0).mesh().resolution(20));
    let steel = set.paint(Color::srgb(0.72, 0.74, 0.78));
    let red = set.paint(Color::srgb(0.72, 0.13, 0.10));
    let sides = SIDES.map(|ends| (ends, ConstraintKind::Structural, steel.clone()));
    let braces = DIAGONALS.map(|ends| (ends, ConstraintKind::Shear, red.clone()));
    for (corners, kind, paint) in sides.into_iter().chain(braces) {
        if bracing.includes(kind) {
            set.spawn((
                Stick { quad, corners },
                Mesh3d(rod.clone()),
                MeshMaterial3d(paint),
            ));
        }
    }
}

/// Removes the constraints that a quad should not have, and throws it.
fn remove_constraints(
    ready: On<ClothReady>,
    mut quads: Query<(&Bracing, &mut ClothParticles, &mut ClothConstraints)>,
) {
    let Ok((bracing, mut particles, mut constraints)) = quads.get_mut(ready.entity) else {
        return;
    };
    constraints.retain(|constraint| bracing.includes(constraint.kind()));
    let count = particles.len();
    let centre = particles.position.iter().sum::<Vec3>() / count as f32;
    for i in 0..count {
        let arm = particles.position.get(i) - centre;
        particles.set_velocity(i, THROW + SPIN.cross(arm));
    }
}

/// Returns the interpolated positions of the corners of a quad, from its mesh.
fn corners(
    quad: Entity,
    quads: &Query<(&Mesh3d, &GlobalTransform), With<Bracing>>,
    meshes: &Assets<Mesh>,
) -> Option<[Vec3; 4]> {
    let (mesh, transform) = quads.get(quad).ok()?;
    let positions = meshes.get(mesh)?.attribute(Mesh::ATTRIBUTE_POSITION)?;
    let VertexAttributeValues::Float32x3(positions) = positions else {
        return None;
    };
    let four: &[[f32; 3]; 4] = positions.get(..4)?.try_into().ok()?;
    Some(four.map(|position| transform.transform_point(position.into())))
}

type MovedQuery<'w, 's, T> = Query<
    'w,
    's,
    (
        &'static T,
        &'static mut Transform,
        &'static mut GlobalTransform,
    ),
    Without<Bracing>,
>;

fn follow_particles(
    mut balls: MovedQuery<Ball>,
    quads: Query<(&Mesh3d, &GlobalTransform), With<Bracing>>,
    meshes: Res<Assets<Mesh>>,
) {
    for (ball, mut transform, mut global) in &mut balls {
        if let Some(corners) = corners(ball.quad, &quads, &meshes) {
            transform.translation = corners[ball.corner];
            // Transforms are already propagated, and these entities have no parents.
            *global = (*transform).into();
        }
    }
}

fn follow_sticks(
    mut sticks: MovedQuery<Stick>,
    quads: Query<(&Mesh3d, &GlobalTransform), With<Bracing>>,
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
