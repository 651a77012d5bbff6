//! Cloth coupled with rigid bodies of Rapier: a net catches balls, a chest hangs from a banner, a hammock supports
//! a log.

use bevy::{mesh::VertexAttributeValues, prelude::*};
use bevy_drape::prelude::*;
use bevy_rapier3d::prelude::*;

fn main() {
    App::new()
        // Same fixed steps as the cloth.
        .insert_resource(TimestepMode::Fixed {
            dt: 1.0 / 64.0,
            substeps: 1,
        })
        .add_plugins((
            DefaultPlugins,
            RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
        ))
        .add_plugins((ClothPlugin::default(), RapierClothPlugin))
        .add_systems(Startup, set_up)
        .add_systems(FixedUpdate, throw)
        .run();
}

/// Throws six balls into the net, one every 1.5 s.
fn throw(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    time: Res<Time>,
    mut thrown: Local<u32>,
) {
    if *thrown >= 6 || time.elapsed_secs() < 1.5 * *thrown as f32 + 0.5 {
        return;
    }
    *thrown += 1;
    let hue = *thrown as f32 * 55.0;
    commands.spawn((
        RigidBody::Dynamic,
        Collider::ball(0.18),
        ColliderMassProperties::Mass(1.0),
        Velocity::linear(Vec3::new(1.3, 1.0, 0.0)),
        Transform::from_xyz(-3.2, 2.4, 0.0),
        Mesh3d(meshes.add(Sphere::new(0.18))),
        MeshMaterial3d(materials.add(Color::hsl(hue, 0.7, 0.5))),
    ));
}

/// Returns a sagging sheet, longer than its frame.
fn sagging_sheet(width: f32, depth: f32, columns: u32, rows: u32) -> Mesh {
    let mut mesh = Mesh::from(ClothGrid::new(width, depth, columns, rows));
    let positions = mesh.attribute_mut(Mesh::ATTRIBUTE_POSITION);
    if let Some(VertexAttributeValues::Float32x3(positions)) = positions {
        for [x, y, z] in positions {
            let (u, v) = (2.0 * *x / width, 2.0 * *z / depth);
            *y -= 0.35 * (1.0 - u * u) * (1.0 - 0.5 * v * v);
        }
    }
    mesh
}

fn set_up(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mut fabric = |colour| {
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: colour,
            double_sided: true,
            cull_mode: None,
            perceptual_roughness: 0.9,
            ..default()
        }))
    };
    let (sand, red, blue) = (
        fabric(Color::srgb(0.75, 0.68, 0.5)),
        fabric(Color::srgb(0.6, 0.12, 0.1)),
        fabric(Color::srgb(0.12, 0.25, 0.5)),
    );
    let wood = MeshMaterial3d(materials.add(Color::srgb(0.42, 0.28, 0.16)));

    // A net of heavy canvas, pinned at its corners.
    let canvas = Cloth {
        fabric: Fabric {
            areal_density: 1.0,
            ..default()
        },
        ..default()
    };
    commands.spawn((
        canvas.clone(),
        Pins::corners().to_world(),
        Mesh3d(meshes.add(sagging_sheet(2.0, 2.0, 40, 40))),
        Transform::from_xyz(-2.2, 1.2, 0.0),
        sand,
    ));

    // A banner with a chest that hangs from the pins of its lower edge.
    let chest = commands
        .spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.35, 0.2, 0.2),
            ColliderMassProperties::Mass(4.0),
            Transform::from_xyz(0.4, 0.4, 0.0),
            Mesh3d(meshes.add(Cuboid::new(0.7, 0.4, 0.4))),
            wood.clone(),
        ))
        .id();
    commands.spawn((
        Cloth::default(),
        Pins::edge(ClothEdge::Top)
            .to_world()
            .and(Pins::edge(ClothEdge::Bottom).to_entity(chest)),
        Mesh3d(meshes.add(ClothGrid::vertical(0.7, 1.4, 24, 48))),
        Transform::from_xyz(0.4, 1.3, 0.0),
        red,
    ));

    // A hammock with a log that falls into it.
    commands.spawn((
        canvas,
        Pins::edge(ClothEdge::Left)
            .and(Pins::edge(ClothEdge::Right))
            .to_world(),
        Mesh3d(meshes.add(sagging_sheet(2.2, 1.0, 48, 24))),
        Transform::from_xyz(2.6, 1.2, 0.0),
        blue,
    ));
    commands.spawn((
        RigidBody::Dynamic,
        Collider::cylinder(0.55, 0.16),
        ColliderMassProperties::Mass(12.0),
        Transform::from_xyz(2.6, 1.9, 0.0).with_rotation(Quat::from_rotation_z(1.5)),
        Mesh3d(meshes.add(Cylinder::new(0.16, 1.1))),
        wood,
    ));

    commands.spawn((
        RigidBody::Fixed,
        Collider::cuboid(15.0, 0.1, 15.0),
        Transform::from_xyz(0.0, -0.1, 0.0),
        Mesh3d(meshes.add(Cuboid::new(30.0, 0.2, 30.0))),
        MeshMaterial3d(materials.add(Color::srgb(0.35, 0.4, 0.42))),
    ));
    commands.spawn((
        DirectionalLight {
            shadow_maps_enabled: true,
            ..default()
        },
        Transform::from_xyz(2.0, 5.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.3, 2.6, 6.6).looking_at(Vec3::new(0.1, 0.9, 0.0), Vec3::Y),
    ));
}
