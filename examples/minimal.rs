//! Minimal program: a sheet pinned at its two upper corners.

use bevy::prelude::*;
use bevy_drape::{prelude::*, wind::WindTurbulence};

fn main() {
    App::new()
        .add_plugins((DefaultPlugins, ClothPlugin::default()))
        .add_systems(Startup, set_up)
        .run();
}

fn set_up(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        Cloth::default(),
        Pins::top_corners(),
        Mesh3d(meshes.add(ClothGrid::vertical(2.0, 2.0, 64, 64))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.6, 0.15, 0.12),
            perceptual_roughness: 0.9,
            // Both sides of a cloth are visible.
            double_sided: true,
            cull_mode: None,
            ..default()
        })),
    ));
    commands.insert_resource(Wind {
        velocity: Vec3::new(0.5, 0.0, 3.0),
        gusts: 0.7,
        ..default()
    });
    commands.insert_resource(WindTurbulence {
        strength: 6.0,
        ..default()
    });
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(2.0, 3.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(1.5, 0.5, 5.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}
