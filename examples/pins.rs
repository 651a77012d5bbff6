//! Pins by corner, edge, index and predicate, anchored to the cloth, the world or a moving entity.

use bevy::prelude::*;
use bevy_drape::{pins::ClothCorner, prelude::*};

fn main() {
    App::new()
        .add_plugins((DefaultPlugins, ClothPlugin::default()))
        .add_systems(Startup, set_up)
        .add_systems(FixedUpdate, wave.before(ClothSystems::Prepare))
        .run();
}

#[derive(Component)]
struct Hand;

fn wave(mut hands: Query<&mut Transform, With<Hand>>, time: Res<Time>) {
    for mut hand in &mut hands {
        hand.translation = Vec3::new(2.4, 0.5 + 0.3 * (time.elapsed_secs() * 2.0).sin(), 0.0);
    }
}

fn set_up(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let hand = commands
        .spawn((Hand, Transform::from_xyz(2.4, 0.5, 0.0)))
        .id();
    let variants = [
        Pins::edge(ClothEdge::Top),
        // The 20 × 20 particles are numbered row by row; 190 is near the centre.
        Pins::corner(ClothCorner::TopLeft).and(Pins::index(190)),
        // By position in mesh space: here a diagonal.
        Pins::predicate(|at| (at.x - at.y).abs() < 0.02).to_world(),
        Pins::top_corners().to_entity(hand),
    ];
    let sheet = meshes.add(ClothGrid::vertical(1.0, 1.0, 20, 20));
    for (i, pins) in variants.into_iter().enumerate() {
        commands.spawn((
            Cloth::default(),
            pins,
            Mesh3d(sheet.clone()), // Shared: each cloth gets its own copy.
            MeshMaterial3d(materials.add(StandardMaterial {
                base_color: Color::oklch(0.6, 0.12, i as f32 * 90.0),
                double_sided: true,
                cull_mode: None,
                ..default()
            })),
            Transform::from_xyz(i as f32 * 1.3 - 1.95, 0.0, 0.0)
                .with_rotation(Quat::from_rotation_x(0.3)),
        ));
    }
    let light = Transform::from_xyz(1.0, 3.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((DirectionalLight::default(), light));
    commands.spawn((Camera3d::default(), Transform::from_xyz(0.0, 0.0, 5.5)));
}
