//! A flag and its environment from a file, `assets/presets/flag.cloth.ron`. Edit the file while the program runs
//! and press R: the flag changes, and errors in the file are reported in the log.
//!
//! With Bevy's feature `file_watcher` in the Cargo.toml of a game, files are reloaded when they are saved, without
//! a key.

use bevy::prelude::*;
use bevy_drape::{
    prelude::*,
    preset::{ClothEnvironmentHandle, ClothPresetHandle},
};

const FILE: &str = "presets/flag.cloth.ron";

fn main() {
    App::new()
        .add_plugins((DefaultPlugins, ClothPlugin::default()))
        .add_systems(Startup, set_up)
        .add_systems(Update, reload_file)
        .run();
}

fn reload_file(keys: Res<ButtonInput<KeyCode>>, assets: Res<AssetServer>) {
    if keys.just_pressed(KeyCode::KeyR) {
        assets.reload(FILE);
    }
}

fn set_up(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    // Several cloths can share one file.
    let flag = assets.load(FILE);
    commands.insert_resource(ClothEnvironmentHandle(flag.clone()));
    commands.spawn((
        ClothPresetHandle(flag),
        Pins::edge(ClothEdge::Left),
        Mesh3d(meshes.add(ClothGrid::vertical(1.8, 1.2, 48, 32))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.12, 0.3, 0.5),
            perceptual_roughness: 0.9,
            double_sided: true,
            cull_mode: None,
            ..default()
        })),
    ));
    let light = Transform::from_xyz(1.0, 3.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((DirectionalLight::default(), light));
    commands.spawn((Camera3d::default(), Transform::from_xyz(0.3, 0.0, 3.2)));
}
