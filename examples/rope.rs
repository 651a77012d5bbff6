//! Ropes: a slack one between two posts, one lying over a sphere, and one swung by a hand.

use bevy::prelude::*;
use bevy_drape::prelude::*;

fn main() {
    App::new()
        .add_plugins((DefaultPlugins, ClothPlugin::default()))
        // Ropes have long chains: they need more substeps than a sheet.
        .insert_resource(ClothSubsteps::Every(1.0 / 960.0))
        .add_systems(Startup, set_up)
        .add_systems(FixedUpdate, swing.before(ClothSystems::Prepare))
        .run();
}

#[derive(Component)]
struct Hand;

fn swing(mut hands: Query<&mut Transform, With<Hand>>, time: Res<Time>) {
    for mut hand in &mut hands {
        hand.translation.x = 2.2 + 0.25 * (time.elapsed_secs() * 3.0).sin();
    }
}

fn set_up(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mut material = |colour| MeshMaterial3d(materials.add(StandardMaterial::from(colour)));
    let hemp = material(Color::srgb(0.75, 0.6, 0.35));
    let wood = material(Color::srgb(0.35, 0.22, 0.12));
    let stone = material(Color::srgb(0.45, 0.5, 0.55));

    // 2.2 m of rope between posts 1.6 m apart.
    let (left, right) = (Vec3::new(-2.8, 0.8, 0.0), Vec3::new(-1.2, 0.8, 0.0));
    commands.spawn((
        Rope {
            length: Some(2.2),
            ..Rope::between(left, right, 50)
        },
        Pins::ends(),
        hemp.clone(),
    ));
    let post = meshes.add(Cylinder::new(0.05, 1.8));
    for top in [left, right] {
        let transform = Transform::from_translation(top - Vec3::Y * 0.88);
        commands.spawn((Mesh3d(post.clone()), wood.clone(), transform));
    }

    // Falls onto the sphere from above.
    commands.spawn((
        Rope::between(Vec3::new(-0.9, 1.0, 0.1), Vec3::new(1.1, 1.2, -0.1), 60),
        Cloth {
            fabric: Fabric {
                areal_density: 2.0,     // 190 g/m.
                thickness: Some(0.002), // Lies almost on the sphere.
                static_friction: 0.8,
                kinetic_friction: 0.6,
                ..default()
            },
            ..default()
        },
        hemp.clone(),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Sphere::new(0.5))),
        stone.clone(),
        ClothCollider::sphere(0.5).with_friction(0.8, 0.6),
    ));

    // A thick rope, pinned to a moving hand.
    let hand = (Hand, Transform::from_xyz(2.2, 1.2, 0.0));
    let hand = commands.spawn(hand).id();
    commands.spawn((
        Rope::between(Vec3::new(2.2, 1.2, 0.0), Vec3::new(2.2, -0.7, 0.0), 40).with_thickness(0.06),
        Pins::index(0).to_entity(hand),
        hemp,
    ));

    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(20.0, 20.0))),
        stone,
        ClothCollider::half_space(),
        Transform::from_xyz(0.0, -1.0, 0.0),
    ));
    let light = Transform::from_xyz(1.0, 3.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((DirectionalLight::default(), light));
    commands.spawn((Camera3d::default(), Transform::from_xyz(0.0, 0.3, 6.0)));
}
