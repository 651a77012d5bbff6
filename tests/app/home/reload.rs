//! Meshes that change while cloth is made of them.

use crate::{
    add_mesh, app, drawn, float3,
    log::{lines_about, record},
    particles, run, sheet, spawn,
};
use bevy::prelude::*;
use bevy_drape::{BuildFailed, ClothSource, prelude::*};

#[derive(Resource, Default)]
struct Ready(u32);

fn counting() -> App {
    let mut app = app();
    app.init_resource::<Ready>()
        .add_observer(|_: On<ClothReady>, mut ready: ResMut<Ready>| ready.0 += 1);
    app
}

/// What a file watcher does: another mesh under the same handle.
fn save(app: &mut App, cloth: Entity, mesh: impl Into<Mesh>) {
    let source = app.world().get::<ClothSource>(cloth).unwrap().source.id();
    let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
    meshes.insert(source, mesh.into()).unwrap();
}

#[test]
fn a_mesh_that_is_saved_again_is_another_cloth() {
    let mut app = counting();
    let cloth = spawn(&mut app, Pins::top_corners());
    run(&mut app, 30);
    save(&mut app, cloth, ClothGrid::new(2.0, 1.0, 5, 4));
    run(&mut app, 3);
    let p = particles(&app, cloth);
    assert_eq!(p.len(), 20);
    assert_eq!((0..20).filter(|&i| p.is_pinned(i)).count(), 2);
    let drawn = float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION);
    assert_eq!(drawn.len(), 20);
    assert_eq!(app.world().resource::<Ready>().0, 2);
    run(&mut app, 30);
    assert_eq!(app.world().resource::<Ready>().0, 2, "once");
    // The mesh that it gives back is the new one.
    app.world_mut().entity_mut(cloth).remove::<Cloth>();
    run(&mut app, 2);
    assert_eq!(crate::drawn(&app, cloth).count_vertices(), 20);
    // What the cloth wrote meanwhile is gone: only this is left.
    assert_eq!(app.world().resource::<Assets<Mesh>>().len(), 1);
}

#[test]
fn a_mesh_that_was_changed_just_before_is_built_once() {
    let mut app = counting();
    let mesh = add_mesh(&mut app, ClothGrid::new(1.0, 1.0, 4, 4));
    let cloth = (Cloth::default(), Mesh3d(mesh.clone()));
    let cloth = app.world_mut().spawn(cloth).id();
    let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
    *meshes.get_mut(&mesh).unwrap() = sheet().into();
    run(&mut app, 10);
    assert_eq!(particles(&app, cloth).len(), 100);
    assert_eq!(app.world().resource::<Ready>().0, 1);
}

#[test]
fn a_mesh_that_is_spoilt_leaves_the_old_cloth() {
    let mut app = counting();
    record(&mut app, 8800);
    let cloth = spawn(&mut app, Pins::top_corners());
    run(&mut app, 30);
    let before = particles(&app, cloth).world_position(95);
    let mut spoilt = Mesh::from(sheet());
    spoilt.remove_attribute(Mesh::ATTRIBUTE_POSITION);
    save(&mut app, cloth, spoilt);
    run(&mut app, 20);
    let lines = lines_about(cloth);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].starts_with("ERROR") && lines[0].contains("goes on"),
        "{lines:?}"
    );
    assert_eq!(app.world().resource::<Ready>().0, 1);
    assert!(app.world().get::<BuildFailed>(cloth).is_none());
    let after = particles(&app, cloth).world_position(95);
    assert!(after.is_finite() && after != before, "it moves on");
    // Put right, it is built anew.
    save(&mut app, cloth, ClothGrid::new(1.0, 1.0, 4, 4));
    run(&mut app, 3);
    assert_eq!(particles(&app, cloth).len(), 16);
}

#[test]
fn what_is_made_of_the_mesh_of_another_cloth_is_left_alone() {
    let mut app = counting();
    let first = spawn(&mut app, Pins::top_corners());
    run(&mut app, 10);
    let own = app.world().get::<Mesh3d>(first).unwrap().clone();
    app.world_mut().spawn((Cloth::default(), own));
    run(&mut app, 30);
    assert_eq!(app.world().resource::<Ready>().0, 2, "one each");
}

#[test]
fn a_fine_mesh_is_saved_again() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::top_corners());
    let fine = add_mesh(&mut app, ClothGrid::new(1.0, 1.0, 30, 30));
    let proxy = app
        .world_mut()
        .spawn((ClothProxy { cloth }, Mesh3d(fine)))
        .id();
    run(&mut app, 30);
    save(&mut app, proxy, ClothGrid::new(1.0, 1.0, 40, 40));
    run(&mut app, 30);
    let lowest = |entity| {
        let places = float3(drawn(&app, entity), Mesh::ATTRIBUTE_POSITION);
        let low = places.iter().map(|at| at.y).fold(0.0, f32::min);
        (places.len(), low)
    };
    let [(count, low), (_, of_cloth)] = [proxy, cloth].map(lowest);
    assert_eq!(count, 1600);
    assert!(
        (low - of_cloth).abs() < 0.03,
        "it follows: {low}, {of_cloth}"
    );
}

#[test]
fn a_cloth_that_failed_tries_a_mesh_that_was_put_right() {
    let mut app = app();
    let mut spoilt = Mesh::from(sheet());
    spoilt.remove_attribute(Mesh::ATTRIBUTE_POSITION);
    let mesh = add_mesh(&mut app, spoilt);
    let cloth = (Cloth::default(), Mesh3d(mesh.clone()));
    let cloth = app.world_mut().spawn(cloth).id();
    run(&mut app, 3);
    assert!(app.world().get::<BuildFailed>(cloth).is_some());
    let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
    meshes.insert(&mesh, sheet().into()).unwrap();
    run(&mut app, 3);
    assert_eq!(particles(&app, cloth).len(), 100);
}
