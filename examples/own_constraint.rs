//! A custom constraint between two phases of each substep: keeps all particles in a tube.

use bevy::prelude::*;
use bevy_drape::{cloth::ClothSubstep, prelude::*};

/// Radius of the tube around the y axis, m.
const TUBE: f32 = 0.6;

fn main() {
    let between = hold_in_tube
        .after(ClothSystems::Relax)
        .before(ClothSystems::Collide);
    App::new()
        .add_plugins((DefaultPlugins, ClothPlugin::default()))
        .add_systems(Startup, set_up)
        // Displacements before `Collide` also change the velocity.
        .add_systems(ClothSubstep, between)
        .run();
}

fn hold_in_tube(mut cloths: Query<&mut ClothParticles>) {
    for mut particles in &mut cloths {
        for i in 0..particles.len() {
            if !particles.is_pinned(i) {
                let position = particles.world_position(i);
                let inside = position.xz().clamp_length_max(TUBE);
                particles.set_world_position(i, Vec3::new(inside.x, position.y, inside.y));
            }
        }
    }
}

fn set_up(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        Cloth::default(),
        Pins::predicate(|at| at.length() < 0.1),
        Mesh3d(meshes.add(ClothGrid::new(1.8, 1.8, 40, 40))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.2, 0.4, 0.6),
            double_sided: true,
            cull_mode: None,
            ..default()
        })),
        Transform::from_xyz(0.0, 0.7, 0.0),
    ));
    let light = Transform::from_xyz(1.0, 3.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((DirectionalLight::default(), light));
    let camera = Transform::from_xyz(1.5, 1.6, 3.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((Camera3d::default(), camera));
}
