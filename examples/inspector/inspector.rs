//! A curtain and a ball in an inspector: their components can be edited while they move, and others added, such as
//! `ClothWarmUp`, `ClothTearing` or `ClothLayers`.

use bevy::prelude::*;
use bevy_drape::prelude::*;
use bevy_inspector_egui::{bevy_egui::EguiPlugin, quick::WorldInspectorPlugin};

fn main() {
    App::new()
        .add_plugins((
            DefaultPlugins,
            EguiPlugin::default(),
            WorldInspectorPlugin::new(),
            ClothPlugin::default(),
        ))
        .add_systems(Startup, set_up)
        .add_systems(FixedUpdate, swing)
        .run();
}

#[derive(Component)]
struct Swings;

fn swing(mut balls: Query<&mut Transform, With<Swings>>, time: Res<Time>) {
    for mut ball in &mut balls {
        ball.translation.z = (time.elapsed_secs() * 1.5).sin();
    }
}

fn set_up(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        Name::new("Curtain"),
        Cloth::default(),
        Pins::edge(ClothEdge::Top),
        Mesh3d(meshes.add(ClothGrid::vertical(2.0, 2.0, 48, 48))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.15, 0.3, 0.55),
            perceptual_roughness: 0.9,
            double_sided: true,
            cull_mode: None,
            ..default()
        })),
    ));
    commands.spawn((
        Name::new("Ball"),
        Swings,
        ClothCollider::sphere(0.35),
        // Slightly smaller than the collider, so that it does not show through the cloth.
        Mesh3d(meshes.add(Sphere::new(0.34))),
        MeshMaterial3d(materials.add(Color::srgb(0.8, 0.5, 0.2))),
        Transform::from_xyz(0.0, -0.3, 0.0),
    ));
    commands.spawn((
        Name::new("Sun"),
        DirectionalLight::default(),
        Transform::from_xyz(2.0, 3.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Name::new("Camera"),
        Camera3d::default(),
        Transform::from_xyz(2.5, 0.5, 4.5).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}
