//! Tests of the plugin in an app without window and renderer, updated step by step.

mod angular_momentum;
mod any_mesh;
mod at_once;
mod background;
mod bad_input;
mod bad_ropes;
#[cfg(any(feature = "avian", feature = "rapier"))]
mod bodies;
mod buckling;
mod characters;
mod cloth_on_cloth;
mod colliders_and_pins;
mod collisions;
#[cfg(feature = "gltf")]
mod covered_model;
#[path = "../common/crossings.rs"]
mod crossings;
#[cfg(feature = "presets")]
mod damaged_files;
mod determinism;
mod drawing;
mod edges;
mod editing;
mod extremes;
#[cfg(feature = "debug")]
mod gizmos;
mod golden;
mod grabbing;
mod gusts;
mod home;
mod labels;
mod life;
mod lod;
mod log;
#[cfg(feature = "parry")]
mod mesh_colliders;
#[cfg(feature = "gltf")]
mod models;
mod names;
mod no_cloth;
mod painted;
mod planar;
#[cfg(feature = "picking")]
mod pointers;
#[cfg(feature = "presets")]
mod presets;
mod pressure;
mod proxies;
mod render_frame;
mod rope;
mod rope_motion;
mod scale;
mod self_collision;
mod settling;
mod shared_shapes;
#[cfg(feature = "gltf")]
mod skeleton_jumps;
mod skinned_bodies;
mod sleep;
mod slow_frames;
mod snapshots;
mod tearing;
mod tethers;
mod wind_occlusion;
mod wind_zones;
mod worlds;

#[cfg(feature = "presets")]
#[path = "../common/files.rs"]
mod files;
#[path = "../common/folds.rs"]
mod folds;
#[path = "../common/headless.rs"]
mod headless;

use bevy::{camera::primitives::Aabb, prelude::*};
use bevy_drape::{
    cloth::ClothConstraints, prelude::*, sleep::ClothSleeping, solver::measure_stretch,
};
use headless::headless_app;

/// Folder of the assets, absolute: Bevy looks for them in the package of the tests.
#[cfg(any(feature = "gltf", feature = "serialize"))]
const ASSETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets");

fn app() -> App {
    headless_app(ClothPlugin::default())
}

fn run(app: &mut App, updates: u32) {
    (0..updates).for_each(|_| app.update());
}

/// Returns a sheet of 1 m × 1 m with 10 × 10 particles.
fn sheet() -> ClothGrid {
    ClothGrid::new(1.0, 1.0, 10, 10)
}

fn add_mesh(app: &mut App, mesh: impl Into<Mesh>) -> Handle<Mesh> {
    app.world_mut()
        .resource_mut::<Assets<Mesh>>()
        .add(mesh.into())
}

/// Spawns a cloth made of [`sheet`] with additional components.
fn spawn(app: &mut App, extra: impl Bundle) -> Entity {
    let mesh = add_mesh(app, sheet());
    app.world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), extra))
        .id()
}

/// Queues commands for an entity and applies them.
fn command(app: &mut App, cloth: Entity, queue: impl FnOnce(&mut EntityCommands)) {
    let mut commands = app.world_mut().commands();
    queue(&mut commands.entity(cloth));
    app.world_mut().flush();
}

fn particles(app: &App, cloth: Entity) -> &ClothParticles {
    app.world()
        .get::<ClothParticles>(cloth)
        .expect("the cloth is built")
}

/// Returns the world positions of all particles.
fn positions(app: &App, cloth: Entity) -> Vec<Vec3> {
    let particles = particles(app, cloth);
    (0..particles.len())
        .map(|i| particles.world_position(i))
        .collect()
}

/// Returns the worst stretch of a link of a cloth, as a fraction.
fn worst_stretch(app: &App, cloth: Entity) -> f32 {
    let constraints = app.world().get::<ClothConstraints>(cloth);
    let constraints = constraints.expect("the cloth is built");
    measure_stretch(particles(app, cloth), constraints).max
}

fn sleeps(app: &App, cloth: Entity) -> bool {
    app.world().get::<ClothSleeping>(cloth).is_some()
}

fn centre(app: &App, cloth: Entity) -> Vec3 {
    let particles = particles(app, cloth);
    let n = particles.len();
    (0..n).map(|i| particles.world_position(i)).sum::<Vec3>() / n as f32
}

/// Returns the mesh that is drawn for a cloth.
fn drawn(app: &App, cloth: Entity) -> &Mesh {
    let handle = app.world().get::<Mesh3d>(cloth).unwrap();
    app.world().resource::<Assets<Mesh>>().get(handle).unwrap()
}

fn float3(mesh: &Mesh, attribute: bevy::mesh::MeshVertexAttribute) -> Vec<Vec3> {
    let values = mesh.attribute(attribute).unwrap().as_float3().unwrap();
    values.iter().map(|&v| Vec3::from(v)).collect()
}

fn bounds(app: &App, cloth: Entity) -> Aabb {
    *app.world().get::<Aabb>(cloth).unwrap()
}
