//! Parents that change, move, scale and are despawned while cloth runs.

use super::fastest;
use crate::{app, bounds, centre, drawn, float3, particles, run, spawn};
use bevy::prelude::*;
use bevy_drape::prelude::*;

fn spawn_at(app: &mut App, position: Vec3) -> Entity {
    let transform = Transform::from_translation(position);
    app.world_mut().spawn(transform).id()
}

/// Returns the vertices of the drawn mesh, in the world.
fn drawn_vertices(app: &App, cloth: Entity) -> Vec<Vec3> {
    let transform = app.world().get::<GlobalTransform>(cloth).unwrap();
    let vertices = float3(drawn(app, cloth), Mesh::ATTRIBUTE_POSITION);
    let to_world = |&at| transform.transform_point(at);
    vertices.iter().map(to_world).collect()
}

fn assert_drawn_at_particles(app: &mut App, cloth: Entity) {
    app.world_mut().resource_mut::<ClothTime>().paused = true;
    run(app, 2);
    for (i, at) in drawn_vertices(app, cloth).into_iter().enumerate() {
        let world = particles(app, cloth).world_position(i);
        assert!(
            world.distance(at) < 1e-4,
            "particle {i} at {world} is drawn at {at}"
        );
    }
    app.world_mut().resource_mut::<ClothTime>().paused = false;
}

#[test]
fn a_cloth_changes_its_parent() {
    let mut app = app();
    let [left, right] = [Vec3::NEG_X, Vec3::X].map(|at| spawn_at(&mut app, at));
    let cloth = spawn(&mut app, (Pins::corners(), ChildOf(left)));
    app.world_mut().get_mut::<Cloth>(cloth).unwrap().damping = 5.0;
    run(&mut app, 30);
    let pinned = particles(&app, cloth).world_position(0);
    assert!(pinned.x < -1.0, "{pinned}");
    // The pinned particles move with the new parent, and the mesh is drawn at the particles, whatever the
    // transform.
    app.world_mut().entity_mut(cloth).insert(ChildOf(right));
    run(&mut app, 30);
    let moved = particles(&app, cloth).world_position(0) - pinned;
    assert!(moved.distance(Vec3::X * 2.0) < 1e-4, "{moved}");
    assert_drawn_at_particles(&mut app, cloth);
    // Removing the parent at an unchanged global transform does not move the cloth.
    let before = centre(&app, cloth);
    run(&mut app, 200);
    let rest = centre(&app, cloth);
    assert!(rest.distance(before) < 0.5);
    let at = *app.world().get::<GlobalTransform>(cloth).unwrap();
    app.world_mut()
        .entity_mut(cloth)
        .remove::<ChildOf>()
        .insert(at.compute_transform());
    run(&mut app, 10);
    assert!(centre(&app, cloth).distance(rest) < 0.005);
    assert_drawn_at_particles(&mut app, cloth);
}

#[test]
fn an_anchor_changes_its_parent_in_place() {
    let mut app = app();
    let parent = spawn_at(&mut app, Vec3::new(3.0, -1.0, 0.5));
    let anchor = spawn_at(&mut app, Vec3::ZERO);
    let cloth = spawn(&mut app, Pins::top_corners().to_entity(anchor));
    run(&mut app, 120);
    let before = particles(&app, cloth).world_position(0);
    let away = Transform::from_xyz(-3.0, 1.0, -0.5);
    app.world_mut()
        .entity_mut(anchor)
        .insert((ChildOf(parent), away));
    run(&mut app, 5);
    let after = particles(&app, cloth).world_position(0);
    assert!(after.distance(before) < 1e-5, "{after}");
    // The anchor follows the new parent.
    app.world_mut()
        .get_mut::<Transform>(parent)
        .unwrap()
        .translation
        .y += 0.2;
    run(&mut app, 5);
    let raised = particles(&app, cloth).world_position(0) - before;
    assert!(raised.distance(Vec3::Y * 0.2) < 1e-4, "{raised}");
}

#[test]
fn a_collider_changes_its_parent_in_place() {
    let mut app = app();
    let parent = spawn_at(&mut app, Vec3::new(2.0, 1.0, 0.0));
    let table = (
        ClothCollider::cuboid(2.0, 1.0, 2.0),
        Transform::from_xyz(0.0, -0.7, 0.0),
    );
    let table = app.world_mut().spawn(table).id();
    let cloth = spawn(&mut app, ());
    run(&mut app, 240);
    let before = centre(&app, cloth);
    assert!(before.y > -0.25, "the cloth lies on the table");
    let same = Transform::from_xyz(-2.0, -1.7, 0.0);
    app.world_mut()
        .entity_mut(table)
        .insert((ChildOf(parent), same));
    for _ in 0..20 {
        run(&mut app, 1);
        assert!(fastest(&app, cloth) < 1e-3);
    }
    assert!(centre(&app, cloth).distance(before) < 0.005);
}

#[test]
fn despawning_a_parent_despawns_its_cloth_and_keeps_others() {
    let mut app = app();
    let parent = spawn_at(&mut app, Vec3::Y);
    let child = spawn(&mut app, (Pins::corners(), ChildOf(parent)));
    let anchor = app
        .world_mut()
        .spawn((Transform::default(), ChildOf(parent)))
        .id();
    let ball = (ClothCollider::sphere(0.2), ChildOf(parent));
    app.world_mut().spawn(ball);
    let other = spawn(&mut app, Pins::top_corners().to_entity(anchor));
    run(&mut app, 30);
    let pinned = particles(&app, other).world_position(0);
    let meshes = app.world().resource::<Assets<Mesh>>().len();
    app.world_mut().despawn(parent);
    run(&mut app, 30);
    assert!(app.world().get_entity(child).is_err());
    // The mesh of the cloth and its source mesh, which no other entity uses, are removed.
    let left = app.world().resource::<Assets<Mesh>>().len();
    assert_eq!(left, meshes - 2);
    let stays = particles(&app, other).world_position(0);
    assert!(stays.distance(pinned) < 1e-5, "{stays}");
    assert!(particles(&app, other).is_finite());
}

#[test]
fn a_parent_changes_its_scale() {
    let mut app = app();
    let parent = spawn_at(&mut app, Vec3::ZERO);
    let cloth = spawn(&mut app, (Pins::corners(), ChildOf(parent)));
    run(&mut app, 60);
    let size = |app: &App| {
        let p = particles(app, cloth);
        p.world_position(0).distance(p.world_position(9))
    };
    assert!((size(&app) - 1.0).abs() < 1e-3);
    // Pins follow, slowly here, so that chains of edges 1 m long are not overstretched.
    for step in 1..=30 {
        let scale = 1.0 - step as f32 * 0.01;
        app.world_mut().get_mut::<Transform>(parent).unwrap().scale = Vec3::splat(scale);
        run(&mut app, 1);
    }
    run(&mut app, 60);
    assert!((size(&app) - 0.7).abs() < 1e-3, "{}", size(&app));
    assert_drawn_at_particles(&mut app, cloth);
    // The bounding box is in the frame of the entity, whose scale is smaller now.
    assert!(bounds(&app, cloth).half_extents.x > 0.49);
    // The rest shape takes the new scale with a reset.
    app.world_mut().trigger(ResetCloth { entity: cloth });
    run(&mut app, 2);
    let p = particles(&app, cloth);
    let neighbours = p.world_position(44).distance(p.world_position(45));
    assert!((neighbours - 0.7 / 9.0).abs() < 1e-3, "{neighbours}");
}
