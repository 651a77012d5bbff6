//! Proxies: fine meshes that follow a coarse cloth.

use crate::{add_mesh, app, bounds, drawn, float3, particles, run, sheet};
use bevy::prelude::*;
use bevy_drape::{cloth::ClothBuildFailed, prelude::*, proxy::ClothProxy};

fn fine() -> ClothGrid {
    ClothGrid::new(1.0, 1.0, 60, 60)
}

/// Spawns a cloth that hangs from two corners, and a fine mesh with the same transform.
fn spawn(app: &mut App) -> [Entity; 2] {
    let [coarse, fine] = [add_mesh(app, sheet()), add_mesh(app, fine())];
    let transform = Transform::from_xyz(0.0, 2.0, 0.0).with_rotation(Quat::from_rotation_y(0.4));
    let world = app.world_mut();
    let cloth = (
        Cloth::default(),
        Mesh3d(coarse),
        Pins::top_corners(),
        transform,
    );
    let cloth = world.spawn(cloth).id();
    let proxy = world
        .spawn((ClothProxy { cloth }, Mesh3d(fine), transform))
        .id();
    [cloth, proxy]
}

/// Returns the world positions of the vertices of a rendered mesh, m.
fn world_vertices(app: &App, entity: Entity) -> Vec<Vec3> {
    let transform = app.world().get::<GlobalTransform>(entity).unwrap();
    let vertices = float3(drawn(app, entity), Mesh::ATTRIBUTE_POSITION);
    vertices
        .iter()
        .map(|&position| transform.transform_point(position))
        .collect()
}

#[test]
fn a_fine_mesh_follows_its_cloth() {
    let mut app = app();
    let [cloth, proxy] = spawn(&mut app);
    run(&mut app, 90);
    app.world_mut().resource_mut::<ClothTime>().paused = true;
    run(&mut app, 2);
    let [coarse, fine] = [cloth, proxy].map(|entity| world_vertices(&app, entity));
    let lowest = |all: &[Vec3]| {
        all.iter()
            .map(|position| position.y)
            .fold(f32::INFINITY, f32::min)
    };
    assert!(lowest(&coarse) < 1.9, "the cloth does not hang");
    assert!((lowest(&fine) - lowest(&coarse)).abs() < 0.02);
    // Each particle has vertices near it, since the cells of the fine mesh are 17 mm wide.
    for position in &coarse {
        let nearest = fine.iter().map(|v| v.distance(*position));
        assert!(nearest.fold(f32::INFINITY, f32::min) < 0.03);
    }
    let mesh = drawn(&app, proxy);
    for normal in float3(mesh, Mesh::ATTRIBUTE_NORMAL) {
        assert!((normal.length() - 1.0).abs() < 1e-4, "{normal}");
    }
    let aabb = bounds(&app, proxy);
    for position in float3(mesh, Mesh::ATTRIBUTE_POSITION) {
        let beyond = (position - Vec3::from(aabb.center)).abs() - Vec3::from(aabb.half_extents);
        assert!(beyond.max_element() < 1e-4);
    }
}

#[test]
fn removing_the_component_restores_the_original_mesh_of_a_proxy() {
    let mut app = app();
    let [cloth, proxy] = spawn(&mut app);
    let original = app.world().get::<Mesh3d>(proxy).unwrap().clone();
    run(&mut app, 30);
    assert_ne!(app.world().get::<Mesh3d>(proxy).unwrap(), &original);
    // A clone follows the same cloth, with the same source mesh.
    let clone = app.world_mut().entity_mut(proxy).clone_and_spawn();
    run(&mut app, 2);
    assert_eq!(world_vertices(&app, clone), world_vertices(&app, proxy));
    app.world_mut().entity_mut(proxy).remove::<ClothProxy>();
    run(&mut app, 1);
    assert_eq!(app.world().get::<Mesh3d>(proxy).unwrap(), &original);
    // A proxy without a cloth keeps its last shape.
    app.world_mut().despawn(cloth);
    let before = world_vertices(&app, clone);
    run(&mut app, 5);
    assert_eq!(world_vertices(&app, clone), before);
}

#[test]
fn a_proxy_can_change_its_cloth_and_fails_on_a_cloth_without_triangles() {
    let mut app = app();
    let [_, proxy] = spawn(&mut app);
    run(&mut app, 10);
    let transform = Transform::from_xyz(0.0, 5.0, 0.0);
    let mesh = add_mesh(&mut app, ClothGrid::new(1.0, 1.0, 5, 5));
    let other = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), transform))
        .id();
    app.world_mut().get_mut::<ClothProxy>(proxy).unwrap().cloth = other;
    *app.world_mut().get_mut::<Transform>(proxy).unwrap() = transform;
    run(&mut app, 20);
    let centre = |all: Vec<Vec3>| all.iter().sum::<Vec3>() / all.len() as f32;
    let p = particles(&app, other);
    let middle = (0..p.len()).map(|i| p.world_position(i)).sum::<Vec3>() / p.len() as f32;
    assert!(centre(world_vertices(&app, proxy)).distance(middle) < 0.05);
    // A rope has no triangles.
    let rope = app
        .world_mut()
        .spawn((Cloth::default(), Rope::between(Vec3::ZERO, Vec3::X, 10)))
        .id();
    run(&mut app, 2);
    app.world_mut().get_mut::<ClothProxy>(proxy).unwrap().cloth = rope;
    run(&mut app, 3);
    assert!(app.world().get::<ClothBuildFailed>(proxy).is_some());
    assert!(app.world().get::<ClothParticles>(other).is_some());
    // The failure ends with a usable cloth.
    app.world_mut().get_mut::<ClothProxy>(proxy).unwrap().cloth = other;
    run(&mut app, 3);
    assert!(app.world().get::<ClothBuildFailed>(proxy).is_none());
}
