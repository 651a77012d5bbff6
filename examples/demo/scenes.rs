//! The scenes. Each spawns what it needs with [`InScene`], and goes with it.

use crate::stage::Props;
use bevy::prelude::*;
use bevy_drape::prelude::*;

/// A scene of the demo.
pub(crate) struct Scene {
    /// What the command line calls it.
    pub(crate) name: &'static str,
    /// What there is to see.
    pub(crate) about: &'static str,
    /// Puts it up.
    pub(crate) spawn: fn(&mut Commands, &mut Assets<Mesh>, &Props),
    /// Wind while it is shown, m/s.
    pub(crate) wind: Vec3,
}

/// All scenes; the first one is shown unless another is asked for.
pub(crate) const SCENES: &[Scene] = &[
    Scene {
        name: "drape",
        about: "a sheet falls over a sphere on the floor",
        spawn: drape,
        wind: Vec3::ZERO,
    },
    Scene {
        name: "hang",
        about: "a sheet hangs by its two upper corners in a light breeze",
        spawn: hang,
        wind: Vec3::new(0.6, 0.0, 2.0),
    },
    Scene {
        name: "shapes",
        about: "a sheet falls over a capsule, a box and a sphere that moves",
        spawn: shapes,
        wind: Vec3::ZERO,
    },
];

/// Goes when another scene comes.
#[derive(Component, Default)]
pub(crate) struct InScene;

/// Moves to and fro along x.
#[derive(Component)]
pub(crate) struct Swing {
    /// In the middle of its way.
    centre: Vec3,
    /// To each side, m.
    reach: f32,
    /// Of a whole swing, s.
    period: f32,
    /// How long it has been swinging, s.
    elapsed: f32,
}

/// Moves everything that swings. Runs when cloths have moved, so that it pauses with them.
pub(crate) fn swing(mut swinging: Query<(&mut Swing, &mut Transform)>, time: Res<Time>) {
    for (mut swing, mut transform) in &mut swinging {
        swing.elapsed += time.delta_secs();
        let phase = swing.elapsed / swing.period * std::f32::consts::TAU;
        transform.translation = swing.centre + Vec3::X * swing.reach * phase.sin();
    }
}

fn floor(commands: &mut Commands) {
    commands.spawn((InScene, ClothCollider::half_space(), Name::new("floor")));
}

/// Something solid of stone.
fn stone<'a>(
    commands: &'a mut Commands,
    props: &Props,
    name: &'static str,
    collider: impl Into<ClothCollider>,
    mesh: Handle<Mesh>,
    transform: Transform,
) -> EntityCommands<'a> {
    commands.spawn((
        InScene,
        Name::new(name),
        collider.into(),
        Mesh3d(mesh),
        MeshMaterial3d(props.stone.clone()),
        transform,
    ))
}

/// A sheet of the tartan.
fn sheet<'a>(
    commands: &'a mut Commands,
    props: &Props,
    mesh: Handle<Mesh>,
    transform: Transform,
) -> EntityCommands<'a> {
    commands.spawn((
        InScene,
        Name::new("sheet"),
        Cloth::default(),
        Mesh3d(mesh),
        MeshMaterial3d(props.fabric.clone()),
        transform,
    ))
}

fn drape(commands: &mut Commands, meshes: &mut Assets<Mesh>, props: &Props) {
    floor(commands);
    let sphere = Sphere::new(0.5);
    let mesh = meshes.add(sphere.mesh().uv(64, 32));
    let place = Transform::from_xyz(0.0, 0.5, 0.0);
    stone(commands, props, "sphere", sphere, mesh, place);
    let mesh = meshes.add(ClothGrid::new(2.4, 2.4, 96, 96));
    let place = Transform::from_xyz(0.0, 1.5, 0.0);
    let turn = Quat::from_rotation_y(0.35);
    sheet(commands, props, mesh, place.with_rotation(turn));
}

fn hang(commands: &mut Commands, meshes: &mut Assets<Mesh>, props: &Props) {
    floor(commands);
    let mesh = meshes.add(ClothGrid::vertical(1.2, 0.9, 40, 30));
    let place = Transform::from_xyz(0.0, 0.6, 0.0);
    sheet(commands, props, mesh, place).insert(Pins::top_corners());
}

fn shapes(commands: &mut Commands, meshes: &mut Assets<Mesh>, props: &Props) {
    floor(commands);
    let capsule = Capsule3d::new(0.18, 0.7);
    let place = Transform::from_xyz(-0.6, 0.45, 0.1);
    let turn = Quat::from_euler(EulerRot::YXZ, 0.5, 1.1, 0.0);
    let mesh = meshes.add(capsule);
    stone(
        commands,
        props,
        "capsule",
        capsule,
        mesh,
        place.with_rotation(turn),
    );

    let cuboid = Cuboid::new(0.5, 0.6, 0.5);
    let place = Transform::from_xyz(0.55, 0.3, -0.35);
    let turn = Quat::from_rotation_y(0.5);
    let mesh = meshes.add(cuboid);
    stone(
        commands,
        props,
        "box",
        cuboid,
        mesh,
        place.with_rotation(turn),
    );

    let sphere = Sphere::new(0.25);
    let centre = Vec3::new(0.1, 0.25, 0.4);
    let place = Transform::from_translation(centre);
    let mesh = meshes.add(sphere.mesh().uv(48, 24));
    stone(commands, props, "sphere", sphere, mesh, place).insert(Swing {
        centre,
        reach: 0.3,
        period: 5.0,
        elapsed: 0.0,
    });

    let mesh = meshes.add(ClothGrid::new(2.4, 2.4, 96, 96));
    let place = Transform::from_xyz(0.0, 1.2, 0.0);
    let turn = Quat::from_rotation_y(0.2);
    sheet(commands, props, mesh, place.with_rotation(turn));
}
