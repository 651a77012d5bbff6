//! States and run conditions.

use super::{bits, fastest};
use crate::{
    add_mesh, app, centre, drawn, float3, headless::headless_app, particles, run, sheet, spawn,
};
use bevy::{prelude::*, state::app::StatesPlugin, time::TimeUpdateStrategy};
use bevy_drape::{collision::ClothLayers, prelude::*};
use std::time::Duration;

#[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Game {
    Menu,
    #[default]
    Playing,
}

fn app_with_states() -> App {
    let mut app = headless_app((ClothPlugin::default(), StatesPlugin));
    app.init_state::<Game>();
    app
}

/// Returns an app in which cloth moves in the state [`Game::Playing`] only.
fn game() -> App {
    let mut app = app_with_states();
    let sets = (
        ClothSystems::Prepare,
        ClothSystems::Simulate,
        ClothSystems::Finish,
    );
    app.configure_sets(FixedUpdate, sets.run_if(in_state(Game::Playing)));
    app
}

fn go_to(app: &mut App, state: Game) {
    app.world_mut().resource_mut::<NextState<Game>>().set(state);
}

#[test]
fn cloth_stops_in_the_menu_and_resumes_with_the_same_bits() {
    let run_of = |pause: u32| {
        let mut app = game();
        app.world_mut().spawn((
            ClothCollider::sphere(0.3),
            Transform::from_xyz(0.1, -0.5, 0.0),
        ));
        let cloth = spawn(&mut app, Pins::top_corners());
        run(&mut app, 40);
        go_to(&mut app, Game::Menu);
        // State transitions run before the steps of a frame.
        run(&mut app, 1);
        let before = bits(&app, cloth);
        run(&mut app, pause);
        assert_eq!(bits(&app, cloth), before);
        go_to(&mut app, Game::Playing);
        run(&mut app, 30);
        bits(&app, cloth)
    };
    assert_eq!(run_of(25), run_of(0));
}

#[test]
fn stopped_cloth_is_drawn_without_motion() {
    let mut app = game();
    let cloth = spawn(&mut app, ());
    run(&mut app, 30);
    go_to(&mut app, Game::Menu);
    run(&mut app, 2);
    // Frames shorter than a step.
    let frame = TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(1.0 / 144.0));
    app.insert_resource(frame);
    let mut heights: Vec<f32> = (0..20)
        .map(|_| {
            app.update();
            float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION)[55].y
        })
        .collect();
    heights.dedup();
    assert_eq!(heights.len(), 1, "the cloth trembles: {heights:?}");
}

#[test]
fn a_collider_moved_in_the_menu_does_not_sweep_cloth_along() {
    let mut app = game();
    let mesh = add_mesh(&mut app, ClothGrid::vertical(1.0, 1.0, 10, 10));
    let cloth = (Cloth::default(), Pins::edge(ClothEdge::Top), Mesh3d(mesh));
    let cloth = app.world_mut().spawn(cloth).id();
    let ball = (
        ClothCollider::sphere(0.25),
        Transform::from_xyz(0.0, 0.0, -0.35),
    );
    let ball = app.world_mut().spawn(ball).id();
    run(&mut app, 60);
    go_to(&mut app, Game::Menu);
    run(&mut app, 2);
    // Moves the ball to the other side of the cloth, by less than the threshold of a teleport.
    for _ in 0..20 {
        app.world_mut()
            .get_mut::<Transform>(ball)
            .unwrap()
            .translation
            .z += 0.035;
        run(&mut app, 1);
    }
    go_to(&mut app, Game::Playing);
    for _ in 0..10 {
        run(&mut app, 1);
        let after = fastest(&app, cloth);
        assert!(
            after < 0.002,
            "the cloth was swept along by {after} m in a step"
        );
    }
}

#[test]
fn cloth_is_spawned_and_despawned_with_a_state() {
    let mut app = game();
    app.add_systems(
        OnEnter(Game::Playing),
        |mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>| {
            commands.spawn((
                Cloth::default(),
                Pins::top_corners(),
                Mesh3d(meshes.add(sheet())),
                DespawnOnExit(Game::Playing),
            ));
        },
    );
    let count = |app: &mut App| {
        let mut cloths = app.world_mut().query::<&ClothParticles>();
        cloths.iter(app.world()).count()
    };
    run(&mut app, 3);
    for _ in 0..3 {
        assert_eq!(count(&mut app), 1);
        go_to(&mut app, Game::Menu);
        run(&mut app, 3);
        assert_eq!(count(&mut app), 0);
        go_to(&mut app, Game::Playing);
        run(&mut app, 3);
    }
    // All their meshes are removed.
    app.world_mut()
        .resource_mut::<NextState<Game>>()
        .set(Game::Menu);
    run(&mut app, 3);
    assert_eq!(app.world().resource::<Assets<Mesh>>().len(), 0);
}

#[test]
fn colliders_and_anchors_are_despawned_with_a_state() {
    let mut app = app_with_states();
    let world = app.world_mut();
    let anchor = (
        Transform::from_xyz(0.0, 1.0, 0.0),
        DespawnOnExit(Game::Playing),
    );
    let anchor = world.spawn(anchor).id();
    let floor = (
        ClothCollider::half_space(),
        Transform::from_xyz(0.0, -0.2, 0.0),
        DespawnOnExit(Game::Playing),
    );
    world.spawn(floor);
    let held = spawn(&mut app, Pins::top_corners().to_entity(anchor));
    let lying = spawn(&mut app, ClothLayers::default());
    run(&mut app, 90);
    assert!(centre(&app, lying).y > -0.25);
    let pinned = particles(&app, held).world_position(0);
    go_to(&mut app, Game::Menu);
    run(&mut app, 60);
    assert!(
        centre(&app, lying).y < -1.0,
        "the cloth falls without its floor"
    );
    let left = particles(&app, held).world_position(0);
    assert!(left.distance(pinned) < 1e-5, "{left}");
    assert!(particles(&app, held).is_finite());
}

#[test]
fn the_mesh_of_a_despawned_cloth_can_be_used_by_another() {
    let mut app = app();
    let mesh = add_mesh(&mut app, sheet());
    for _ in 0..3 {
        let cloth = (Cloth::default(), Mesh3d(mesh.clone()));
        let cloth = app.world_mut().spawn(cloth).id();
        run(&mut app, 10);
        assert_eq!(particles(&app, cloth).len(), 100);
        app.world_mut().despawn(cloth);
    }
    run(&mut app, 2);
    assert_eq!(app.world().resource::<Assets<Mesh>>().len(), 1);
}
