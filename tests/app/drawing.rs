//! Mesh and bounding box of a cloth as they are drawn.

use crate::{add_mesh, app, bounds, drawn, float3, particles, run, spawn};
use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_drape::prelude::*;

#[test]
fn the_mesh_is_where_the_particles_are() {
    let mut app = app();
    let transform = Transform::from_xyz(3.0, 2.0, 1.0)
        .with_rotation(Quat::from_rotation_y(1.0))
        .with_scale(Vec3::new(1.0, 2.0, -0.5));
    let cloth = spawn(&mut app, (transform, Pins::corners()));
    run(&mut app, 1);
    app.world_mut().resource_mut::<ClothTime>().paused = true;
    app.world_mut().resource_mut::<ClothTime>().requested_steps = 50;
    run(&mut app, 60);
    let positions = float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION);
    for (i, position) in positions.iter().enumerate() {
        let world = particles(&app, cloth).world_position(i);
        let drawn = transform.transform_point(*position);
        assert!(
            (world - drawn).length() < 1e-5,
            "particle {i} at {world} is drawn at {drawn}"
        );
    }
    let bounds = bounds(&app, cloth);
    for position in positions {
        let outside =
            (position - Vec3::from(bounds.center)).abs() - Vec3::from(bounds.half_extents);
        assert!(
            outside.max_element() < 1e-5,
            "{position} is outside of {bounds:?}"
        );
    }
}

#[test]
fn normals_follow_the_cloth() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::edge(ClothEdge::Left));
    run(&mut app, 1);
    let up = float3(drawn(&app, cloth), Mesh::ATTRIBUTE_NORMAL);
    assert!(up.iter().all(|n| n.dot(Vec3::Y) > 0.99));
    app.world_mut().get_mut::<Cloth>(cloth).unwrap().damping = 3.0;
    run(&mut app, 400);
    // The cloth now hangs from its left side and faces +x.
    let down = float3(drawn(&app, cloth), Mesh::ATTRIBUTE_NORMAL);
    let facing = down.iter().filter(|n| n.dot(Vec3::X).abs() > 0.8).count();
    assert!(facing > 90, "{facing} of 100 normals");
    assert!(down.iter().all(|n| n.is_normalized()));
}

#[test]
fn the_bounding_box_follows_the_cloth() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    run(&mut app, 2);
    let before = bounds(&app, cloth);
    run(&mut app, 60);
    let after = bounds(&app, cloth);
    assert!(after.center.y < before.center.y - 1.0);
    assert!((after.half_extents.x - 0.5).abs() < 0.05);
}

#[test]
fn frames_between_steps_are_interpolated() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    run(&mut app, 30);
    // Four frames per step.
    app.insert_resource(TimeUpdateStrategy::ManualDuration(
        std::time::Duration::from_secs_f64(1.0 / 240.0),
    ));
    let heights: Vec<f32> = (0..24)
        .map(|_| {
            app.update();
            float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION)[55].y
        })
        .collect();
    let displacements: Vec<f32> = heights.windows(2).map(|pair| pair[0] - pair[1]).collect();
    let (least, most) = displacements
        .iter()
        .fold((f32::MAX, f32::MIN), |(a, b), &w| (a.min(w), b.max(w)));
    assert!(
        least > 0.0 && most < least * 1.5,
        "uneven: {displacements:?}"
    );
}

#[test]
fn uvs_and_colours_survive_and_flat_meshes_get_normals() {
    let mut app = app();
    let mut mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 5, 5));
    mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, vec![[0.1, 0.2, 0.3, 1.0]; 25]);
    mesh.remove_attribute(Mesh::ATTRIBUTE_NORMAL);
    let uvs = mesh
        .attribute(Mesh::ATTRIBUTE_UV_0)
        .unwrap()
        .get_bytes()
        .to_vec();
    let handle = add_mesh(&mut app, mesh);
    let cloth = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(handle)))
        .id();
    run(&mut app, 30);
    let mesh = drawn(&app, cloth);
    assert_eq!(
        mesh.attribute(Mesh::ATTRIBUTE_UV_0).unwrap().get_bytes(),
        uvs
    );
    assert!(mesh.contains_attribute(Mesh::ATTRIBUTE_COLOR));
    assert_eq!(float3(mesh, Mesh::ATTRIBUTE_NORMAL).len(), 25);
}

#[test]
fn ordinary_bevy_meshes_are_cloth_too() {
    for (mesh, particles_expected) in [
        (Mesh::from(Plane3d::default().mesh().subdivisions(8)), 100),
        // Six faces with separate corners: 24 vertices at 8 positions.
        (Mesh::from(Cuboid::default()), 8),
        (Sphere::default().mesh().ico(3).unwrap(), 162),
        (Mesh::from(Cuboid::default()).with_duplicated_vertices(), 8),
    ] {
        let mut app = app();
        let handle = add_mesh(&mut app, mesh);
        let cloth = app
            .world_mut()
            .spawn((Cloth::default(), Mesh3d(handle)))
            .id();
        run(&mut app, 30);
        assert_eq!(particles(&app, cloth).len(), particles_expected);
        assert!(particles(&app, cloth).world_position(0).y < 0.6);
    }
}
