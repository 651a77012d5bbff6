//! Cloths that are built in the background while the app goes on.

use crate::{
    add_mesh, app,
    log::{lines_about, record},
    particles, positions, run, sheet, spawn,
};
use bevy::prelude::*;
use bevy_drape::{
    cloth::{ClothBuildFailed, ClothBuildMode, ClothSource},
    pins::ClothCorner,
    prelude::*,
};
use std::time::Duration;

/// Entities that became ready, in order.
#[derive(Resource, Default)]
struct Ready(Vec<Entity>);

fn app_in_background() -> App {
    let mut app = app();
    app.insert_resource(ClothBuildMode::Background)
        .init_resource::<Ready>()
        .add_observer(|on: On<ClothReady>, mut ready: ResMut<Ready>| ready.0.push(on.entity));
    app
}

/// Updates an app until a condition holds.
fn run_until(app: &mut App, is_met: impl Fn(&App) -> bool) {
    for _ in 0..20_000 {
        if is_met(app) {
            return;
        }
        app.update();
        std::thread::sleep(Duration::from_micros(100));
    }
    panic!("not built within 20000 updates");
}

/// Updates an app until this many cloths have become ready.
fn run_until_ready(app: &mut App, count: usize) {
    run_until(app, |app| app.world().resource::<Ready>().0.len() >= count);
}

/// Spawns a cloth and runs the update in which its building begins.
fn begin(app: &mut App, extra: impl Bundle) -> Entity {
    let cloth = spawn(app, extra);
    run(app, 1);
    let is_built = app.world().get::<ClothParticles>(cloth).is_some();
    assert!(!is_built, "it is built in the background");
    cloth
}

#[test]
fn the_bits_do_not_depend_on_where_a_cloth_is_built() {
    let hash = |mode, late: u32| {
        let mut app = app_in_background();
        app.insert_resource(mode);
        run(&mut app, late);
        let extra = (Pins::top_corners(), Transform::from_xyz(1.0, 2.0, 3.0));
        let cloth = spawn(&mut app, extra);
        run_until_ready(&mut app, 1);
        run(&mut app, 60);
        particles(&app, cloth).state_hash()
    };
    let immediate = hash(ClothBuildMode::Immediate, 0);
    assert_eq!(immediate, hash(ClothBuildMode::Background, 0));
    assert_eq!(immediate, hash(ClothBuildMode::Background, 7));
}

#[test]
fn a_cloth_starts_where_its_entity_is_when_it_is_ready() {
    for now in [
        Transform::from_xyz(0.0, 5.0, 1e5),
        Transform::from_xyz(3.0, 5.0, 0.0).with_rotation(Quat::from_rotation_x(1.0)),
        Transform::from_xyz(3.0, 5.0, 0.0).with_scale(Vec3::new(2.0, 1.0, 0.5)),
    ] {
        let gravity = ClothGravity(Vec3::ZERO);
        let pins = Pins::corner(ClothCorner::TopLeft);
        let mut moved = app_in_background();
        moved.insert_resource(gravity);
        let cloth = begin(&mut moved, pins.clone());
        moved.world_mut().entity_mut(cloth).insert(now);
        run_until_ready(&mut moved, 1);
        let mut there = app();
        there.insert_resource(gravity);
        let other = spawn(&mut there, (pins, now));
        run(&mut there, 1);
        // Ten steps, in which tethers or rest lengths of another shape would move particles.
        run(&mut moved, 10);
        run(&mut there, 10);
        let both = positions(&moved, cloth)
            .into_iter()
            .zip(positions(&there, other));
        for (one, other) in both {
            assert!(one.distance(other) < 1e-5, "{one} instead of {other}");
        }
    }
}

#[test]
fn a_cloth_that_moves_between_the_frames_is_held_where_its_entity_is() {
    let mut app = app_in_background();
    let cloth = begin(&mut app, Pins::edge(ClothEdge::Top));
    for step in 1..=20 {
        // 2 m in the end, of which the corner is at -0.5 m.
        let at = Transform::from_xyz(0.1 * step as f32, 0.0, 0.0);
        app.world_mut().entity_mut(cloth).insert(at);
        run(&mut app, 1);
        std::thread::sleep(Duration::from_millis(1));
    }
    run_until_ready(&mut app, 1);
    run(&mut app, 60);
    let corner = particles(&app, cloth).world_position(0);
    assert!((corner.x - 1.5).abs() < 1e-4, "{corner}");
}

#[test]
fn pins_and_fabric_may_change_meanwhile() {
    let mut app = app_in_background();
    let cloth = begin(&mut app, Pins::corners());
    let mut entity = app.world_mut().entity_mut(cloth);
    entity.insert(Pins::corner(ClothCorner::TopLeft));
    entity.get_mut::<Cloth>().unwrap().fabric.areal_density = 1.0;
    run_until_ready(&mut app, 1);
    run(&mut app, 2);
    let p = particles(&app, cloth);
    assert_eq!((0..100).filter(|&i| p.is_pinned(i)).count(), 1);
    let mass: f32 = (0..100)
        .filter(|&i| !p.is_pinned(i))
        .map(|i| 1.0 / p.inverse_mass[i])
        .sum();
    assert!((0.99..1.0).contains(&mass), "{mass} kg");
}

#[test]
fn a_mesh_that_is_replaced_meanwhile_is_the_one_that_is_built() {
    let mut app = app_in_background();
    let cloth = begin(&mut app, Pins::top_corners());
    let other = add_mesh(&mut app, ClothGrid::new(2.0, 1.0, 5, 4));
    app.world_mut().entity_mut(cloth).insert(Mesh3d(other));
    run_until_ready(&mut app, 1);
    run(&mut app, 5);
    assert_eq!(particles(&app, cloth).len(), 20);
    assert_eq!(app.world().resource::<Ready>().0.len(), 1);
}

#[test]
fn a_mesh_that_is_modified_meanwhile_is_built_in_the_end() {
    let mut app = app_in_background();
    let mesh = add_mesh(&mut app, sheet());
    let cloth = (Cloth::default(), Mesh3d(mesh.clone()), Pins::top_corners());
    let cloth = app.world_mut().spawn(cloth).id();
    run(&mut app, 1);
    let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
    *meshes.get_mut(&mesh).unwrap() = ClothGrid::new(2.0, 1.0, 5, 4).into();
    run_until_ready(&mut app, 1);
    // Once more, if the first one was built from the mesh before.
    for _ in 0..1000 {
        run(&mut app, 1);
        std::thread::sleep(Duration::from_micros(100));
    }
    assert_eq!(particles(&app, cloth).len(), 20);
    assert!(app.world().resource::<Ready>().0.len() <= 2);
}

#[test]
fn a_mesh_that_is_modified_before_it_is_begun_is_built_once() {
    let mut app = app_in_background();
    let mesh = add_mesh(&mut app, ClothGrid::new(1.0, 1.0, 4, 4));
    let cloth = (Cloth::default(), Mesh3d(mesh.clone()));
    let cloth = app.world_mut().spawn(cloth).id();
    let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
    *meshes.get_mut(&mesh).unwrap() = sheet().into();
    run_until_ready(&mut app, 1);
    run(&mut app, 100);
    assert_eq!(particles(&app, cloth).len(), 100);
    assert_eq!(app.world().resource::<Ready>().0.len(), 1);
}

#[test]
fn a_cloth_goes_on_until_its_reloaded_mesh_is_built() {
    let mut app = app_in_background();
    record(&mut app, 8300);
    let cloth = spawn(&mut app, Pins::top_corners());
    run_until_ready(&mut app, 1);
    run(&mut app, 30);
    let replace = |app: &mut App, mesh: Mesh| {
        let source = app.world().get::<ClothSource>(cloth).unwrap().source.id();
        let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
        meshes.insert(source, mesh).unwrap();
    };
    let before = particles(&app, cloth).state_hash();
    replace(&mut app, ClothGrid::new(2.0, 1.0, 5, 4).into());
    // The event arrives in the next update, in which building begins.
    run(&mut app, 2);
    assert_eq!(particles(&app, cloth).len(), 100);
    assert_ne!(particles(&app, cloth).state_hash(), before, "it moves");
    run_until_ready(&mut app, 2);
    assert_eq!(particles(&app, cloth).len(), 20);
    // An invalid mesh leaves the cloth as it is.
    let mut invalid = Mesh::from(sheet());
    invalid.remove_attribute(Mesh::ATTRIBUTE_POSITION);
    replace(&mut app, invalid);
    run_until(&mut app, |_| !lines_about(cloth).is_empty());
    let lines = lines_about(cloth);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("cannot become cloth"), "{lines:?}");
    assert_eq!(particles(&app, cloth).len(), 20);
}

#[test]
fn building_ends_with_the_cloth() {
    let mut app = app_in_background();
    let gone = spawn(&mut app, ());
    let bare = begin(&mut app, ());
    app.world_mut().despawn(gone);
    app.world_mut().entity_mut(bare).remove::<Cloth>();
    let last = spawn(&mut app, ());
    run_until_ready(&mut app, 1);
    run(&mut app, 50);
    assert_eq!(app.world().resource::<Ready>().0, [last]);
    assert!(app.world().get::<ClothParticles>(bare).is_none());
    // It may become cloth again.
    app.world_mut().entity_mut(bare).insert(Cloth::default());
    run_until_ready(&mut app, 2);
    assert_eq!(particles(&app, bare).len(), 100);
}

#[test]
fn a_mesh_that_cannot_become_cloth_is_reported() {
    let mut app = app_in_background();
    record(&mut app, 8400);
    let mut invalid = Mesh::from(sheet());
    invalid.remove_attribute(Mesh::ATTRIBUTE_POSITION);
    let mesh = add_mesh(&mut app, invalid);
    let cloth = (Cloth::default(), Mesh3d(mesh.clone()));
    let cloth = app.world_mut().spawn(cloth).id();
    let failed = |app: &App| app.world().get::<ClothBuildFailed>(cloth).is_some();
    run_until(&mut app, failed);
    assert!(failed(&app));
    assert_eq!(lines_about(cloth).len(), 1);
    let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
    *meshes.get_mut(&mesh).unwrap() = sheet().into();
    run_until_ready(&mut app, 1);
    assert_eq!(particles(&app, cloth).len(), 100);
}

#[test]
fn a_hundred_cloths_are_built() {
    let mut app = app_in_background();
    let cloths: Vec<Entity> = (0..100)
        .map(|k| spawn(&mut app, Transform::from_xyz(2.0 * k as f32, 0.0, 0.0)))
        .collect();
    run_until_ready(&mut app, 100);
    let ready = &app.world().resource::<Ready>().0;
    assert_eq!(ready.len(), 100);
    assert!(cloths.iter().all(|cloth| ready.contains(cloth)));
}
