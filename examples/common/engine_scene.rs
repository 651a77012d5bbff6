//! Scene of the examples `avian` and `rapier`: a net catches balls, a chest hangs from a banner, a hammock supports
//! a log.

use bevy::{mesh::VertexAttributeValues, prelude::*};
use bevy_drape::prelude::*;

/// Rigid body of the scene. The example adds the components of its engine.
#[derive(Component, Clone, Copy)]
pub(crate) struct Body {
    pub(crate) shape: Shape,
    /// Mass, kg; `None` for the ground, which does not move.
    pub(crate) mass: Option<f32>,
    /// Initial velocity, m/s.
    pub(crate) velocity: Vec3,
}

/// Shape of a rigid body.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    Sphere(Sphere),
    Cuboid(Cuboid),
    Cylinder(Cylinder),
}

/// Sets up the scene and throws the balls.
pub(crate) fn plugin(app: &mut App) {
    app.add_systems(Startup, (set_up_view, spawn_ground, spawn_cloths))
        .add_systems(FixedUpdate, throw);
}

/// Returns a body at rest and its mesh.
fn body(shape: Shape, mass: impl Into<Option<f32>>, meshes: &mut Assets<Mesh>) -> (Body, Mesh3d) {
    let mesh = Mesh3d(match shape {
        Shape::Sphere(sphere) => meshes.add(sphere),
        Shape::Cuboid(cuboid) => meshes.add(cuboid),
        Shape::Cylinder(cylinder) => meshes.add(cylinder),
    });
    let (mass, velocity) = (mass.into(), Vec3::ZERO);
    let body = Body {
        shape,
        mass,
        velocity,
    };
    (body, mesh)
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
    let (ball, mesh) = body(Shape::Sphere(Sphere::new(0.18)), 1.0, &mut meshes);
    commands.spawn((
        Body {
            velocity: Vec3::new(1.3, 1.0, 0.0),
            ..ball
        },
        mesh,
        MeshMaterial3d(materials.add(Color::hsl(hue, 0.7, 0.5))),
        Transform::from_xyz(-3.2, 2.4, 0.0),
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

/// Spawns the net, the banner with its chest, and the hammock with its log.
fn spawn_cloths(
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
            body(Shape::Cuboid(Cuboid::new(0.7, 0.4, 0.4)), 4.0, &mut meshes),
            Transform::from_xyz(0.4, 0.4, 0.0),
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
        body(Shape::Cylinder(Cylinder::new(0.16, 1.1)), 12.0, &mut meshes),
        Transform::from_xyz(2.6, 1.9, 0.0).with_rotation(Quat::from_rotation_z(1.5)),
        wood,
    ));
}

fn spawn_ground(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        body(
            Shape::Cuboid(Cuboid::new(30.0, 0.2, 30.0)),
            None,
            &mut meshes,
        ),
        Transform::from_xyz(0.0, -0.1, 0.0),
        MeshMaterial3d(materials.add(Color::srgb(0.35, 0.4, 0.42))),
    ));
}

fn set_up_view(mut commands: Commands) {
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
