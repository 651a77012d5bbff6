//! Source meshes that change while their cloths run.

use crate::{
    add_mesh, app, drawn, float3,
    log::{lines_about, record},
    particles, run, sheet, spawn,
};
use bevy::prelude::*;
use bevy_drape::{
    cloth::{ClothBuildFailed, ClothSource},
    prelude::*,
    proxy::ClothProxy,
};

/// Number of [`ClothReady`] events.
#[derive(Resource, Default)]
struct Ready(u32);

fn app_counting_ready() -> App {
    let mut app = app();
    app.init_resource::<Ready>()
        .add_observer(|_: On<ClothReady>, mut ready: ResMut<Ready>| ready.0 += 1);
    app
}

/// Replaces the source mesh under its handle, as a file watcher does.
fn replace_source(app: &mut App, cloth: Entity, mesh: impl Into<Mesh>) {
    let source = app.world().get::<ClothSource>(cloth).unwrap().source.id();
    let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
    meshes.insert(source, mesh.into()).unwrap();
}

#[test]
fn a_replaced_mesh_rebuilds_its_cloth() {
    let mut app = app_counting_ready();
    let cloth = spawn(&mut app, Pins::top_corners());
    run(&mut app, 30);
    replace_source(&mut app, cloth, ClothGrid::new(2.0, 1.0, 5, 4));
    run(&mut app, 3);
    let p = particles(&app, cloth);
    assert_eq!(p.len(), 20);
    assert_eq!((0..20).filter(|&i| p.is_pinned(i)).count(), 2);
    let drawn = float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION);
    assert_eq!(drawn.len(), 20);
    assert_eq!(app.world().resource::<Ready>().0, 2);
    run(&mut app, 30);
    assert_eq!(app.world().resource::<Ready>().0, 2, "once");
    // Removing the cloth restores the new mesh.
    app.world_mut().entity_mut(cloth).remove::<Cloth>();
    run(&mut app, 2);
    assert_eq!(crate::drawn(&app, cloth).count_vertices(), 20);
    // The mesh that the cloth wrote is removed: only the source is left.
    assert_eq!(app.world().resource::<Assets<Mesh>>().len(), 1);
}

#[test]
fn a_mesh_changed_in_the_frame_of_the_spawn_is_built_once() {
    let mut app = app_counting_ready();
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
fn an_invalid_mesh_keeps_the_old_cloth() {
    let mut app = app_counting_ready();
    record(&mut app, 8800);
    let cloth = spawn(&mut app, Pins::top_corners());
    run(&mut app, 30);
    let before = particles(&app, cloth).world_position(95);
    let mut invalid = Mesh::from(sheet());
    invalid.remove_attribute(Mesh::ATTRIBUTE_POSITION);
    replace_source(&mut app, cloth, invalid);
    run(&mut app, 20);
    let lines = lines_about(cloth);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].starts_with("ERROR") && lines[0].contains("goes on"),
        "{lines:?}"
    );
    assert_eq!(app.world().resource::<Ready>().0, 1);
    assert!(app.world().get::<ClothBuildFailed>(cloth).is_none());
    let after = particles(&app, cloth).world_position(95);
    assert!(
        after.is_finite() && after != before,
        "the old cloth keeps moving"
    );
    // A repaired mesh rebuilds the cloth.
    replace_source(&mut app, cloth, ClothGrid::new(1.0, 1.0, 4, 4));
    run(&mut app, 3);
    assert_eq!(particles(&app, cloth).len(), 16);
}

#[test]
fn a_cloth_made_of_the_mesh_of_another_cloth_is_not_rebuilt() {
    let mut app = app_counting_ready();
    let first = spawn(&mut app, Pins::top_corners());
    run(&mut app, 10);
    let own = app.world().get::<Mesh3d>(first).unwrap().clone();
    app.world_mut().spawn((Cloth::default(), own));
    run(&mut app, 30);
    assert_eq!(app.world().resource::<Ready>().0, 2, "one each");
}

#[test]
fn a_proxy_is_rebuilt_for_a_replaced_mesh() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::top_corners());
    let fine = add_mesh(&mut app, ClothGrid::new(1.0, 1.0, 30, 30));
    let proxy = app
        .world_mut()
        .spawn((ClothProxy { cloth }, Mesh3d(fine)))
        .id();
    run(&mut app, 30);
    replace_source(&mut app, proxy, ClothGrid::new(1.0, 1.0, 40, 40));
    run(&mut app, 30);
    let lowest = |entity| {
        let positions = float3(drawn(&app, entity), Mesh::ATTRIBUTE_POSITION);
        let low = positions.iter().map(|at| at.y).fold(0.0, f32::min);
        (positions.len(), low)
    };
    let [(count, low), (_, of_cloth)] = [proxy, cloth].map(lowest);
    assert_eq!(count, 1600);
    assert!(
        (low - of_cloth).abs() < 0.03,
        "the proxy follows the cloth: {low}, {of_cloth}"
    );
}

#[test]
fn a_failed_cloth_is_built_from_a_repaired_mesh() {
    let mut app = app();
    let mut invalid = Mesh::from(sheet());
    invalid.remove_attribute(Mesh::ATTRIBUTE_POSITION);
    let mesh = add_mesh(&mut app, invalid);
    let cloth = (Cloth::default(), Mesh3d(mesh.clone()));
    let cloth = app.world_mut().spawn(cloth).id();
    run(&mut app, 3);
    assert!(app.world().get::<ClothBuildFailed>(cloth).is_some());
    let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
    meshes.insert(&mesh, sheet().into()).unwrap();
    run(&mut app, 3);
    assert_eq!(particles(&app, cloth).len(), 100);
}
