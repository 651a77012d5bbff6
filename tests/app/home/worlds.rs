//! Several worlds, and worlds without a screen.

use super::bits;
use crate::{add_mesh, app, particles, run, sheet};
use bevy::{
    app::{AppLabel, SubApp},
    asset::AssetPlugin,
    mesh::MeshPlugin,
    prelude::*,
    time::TimeUpdateStrategy,
    transform::TransformPlugin,
};
use bevy_drape::prelude::*;

/// Spawns a cloth above a sphere.
fn spawn_scene(world: &mut World) -> Entity {
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Mesh::from(sheet()));
    world.spawn((
        ClothCollider::sphere(0.3),
        Transform::from_xyz(0.1, -0.5, 0.0),
    ));
    let cloth = (
        Cloth {
            self_collision: SelfCollision::On,
            ..default()
        },
        Pins::top_corners(),
        Mesh3d(mesh),
    );
    world.spawn(cloth).id()
}

fn wind() -> Wind {
    Wind {
        velocity: Vec3::new(1.0, 0.0, 3.0),
        gusts: 0.6,
        ..default()
    }
}

fn reference() -> Vec<[u32; 3]> {
    let mut app = app();
    app.insert_resource(wind());
    let cloth = spawn_scene(app.world_mut());
    run(&mut app, 90);
    bits(&app, cloth)
}

#[test]
fn two_apps_updated_in_turn_give_the_same_bits() {
    let mut apps = [app(), app()];
    let cloths = apps.each_mut().map(|app| {
        app.insert_resource(wind());
        spawn_scene(app.world_mut())
    });
    for _ in 0..90 {
        apps.iter_mut().for_each(App::update);
    }
    let expected = reference();
    for (app, cloth) in apps.iter().zip(cloths) {
        assert!(bits(app, cloth) == expected);
    }
}

#[test]
fn an_app_in_another_thread_gives_the_same_bits() {
    let other = std::thread::spawn(reference);
    assert!(reference() == other.join().unwrap());
}

#[test]
fn cloth_runs_in_a_sub_app() {
    #[derive(AppLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
    struct Inner;
    // The inner world is the main world of another app.
    let mut inner = app();
    inner.insert_resource(wind());
    let cloth = spawn_scene(inner.world_mut());
    let sub: SubApp = std::mem::take(inner.main_mut());
    let mut outer = app();
    outer.insert_sub_app(Inner, sub);
    let other = spawn_scene(outer.world_mut());
    run(&mut outer, 90);
    let particles = outer
        .sub_app(Inner)
        .world()
        .get::<bevy_drape::cloth::ClothParticles>(cloth);
    let particles = particles.expect("the cloth is built");
    let position = |i| particles.world_position(i).to_array().map(f32::to_bits);
    let inner: Vec<_> = (0..particles.len()).map(position).collect();
    assert!(inner == reference());
    // The outer world has no wind.
    assert!(bits(&outer, other) != inner);
}

#[test]
fn a_dedicated_server_needs_four_plugins() {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        MeshPlugin,
        TransformPlugin,
        ClothPlugin::default(),
    ))
    .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate)
    .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.finish();
    app.cleanup();
    let mesh = add_mesh(&mut app, sheet());
    let cloth = (Cloth::default(), Pins::corners(), Mesh3d(mesh));
    let cloth = app.world_mut().spawn(cloth).id();
    run(&mut app, 60);
    let middle = particles(&app, cloth).world_position(55);
    assert!(middle.y < -0.02, "{middle}");
}
