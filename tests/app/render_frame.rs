//! Cloth with inertia is rendered relative to the current transform of its reference entity.

use crate::{
    add_mesh, app,
    characters::{Character, skinned, spawn},
    drawn, float3, run, sheet,
};
use bevy::{
    mesh::{
        VertexAttributeValues,
        skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    },
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_drape::{character::ClothInertia, prelude::*, proxy::ClothProxy};
use std::time::Duration;

/// Marks an entity that runs and turns, once per frame.
#[derive(Component)]
struct Runner;

/// Spawns a runner, and sets the frame rate.
fn runner(app: &mut App, frames_per_second: f64) -> Entity {
    let frame = Duration::from_secs_f64(1.0 / frames_per_second);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame))
        .add_systems(
            Update,
            |time: Res<Time>, mut runners: Query<&mut Transform, With<Runner>>| {
                for mut transform in &mut runners {
                    let t = time.elapsed_secs();
                    *transform = Transform::from_xyz(5.0 * t, 0.0, (3.0 * t).sin())
                        .with_rotation(Quat::from_rotation_y(2.0 * t));
                }
            },
        );
    app.world_mut().spawn((Transform::default(), Runner)).id()
}

/// Returns the largest distance of rendered pinned vertices from their rest positions in the cloth's own space, m,
/// over some frames.
fn largest_offset(app: &mut App, cloth: Entity, frames: u32) -> f32 {
    let rest = float3(&Mesh::from(sheet()), Mesh::ATTRIBUTE_POSITION);
    let mut farthest = 0.0_f32;
    for _ in 0..frames {
        run(app, 1);
        let positions = float3(drawn(app, cloth), Mesh::ATTRIBUTE_POSITION);
        let pinned = (0..100).step_by(10);
        farthest = pinned
            .map(|i| positions[i].distance(rest[i]))
            .fold(farthest, f32::max);
    }
    farthest
}

#[test]
fn a_cape_with_inertia_is_rendered_on_its_runner() {
    for frames_per_second in [24.0, 50.0, 60.0, 75.0, 144.0] {
        let mut app = app();
        let runner = runner(&mut app, frames_per_second);
        let mesh = add_mesh(&mut app, sheet());
        let cape = (
            Cloth::default(),
            Mesh3d(mesh),
            Pins::edge(ClothEdge::Left),
            ChildOf(runner),
        );
        let cape = app.world_mut().spawn(cape).id();
        run(&mut app, (0.5 * frames_per_second) as u32);
        let frames = frames_per_second as u32;
        let in_the_world = largest_offset(&mut app, cape, frames);
        assert!(
            in_the_world > 0.05,
            "{in_the_world} m at {frames_per_second} Hz"
        );
        app.world_mut()
            .entity_mut(cape)
            .insert(ClothInertia::default());
        run(&mut app, 10);
        let with_inertia = largest_offset(&mut app, cape, frames);
        assert!(
            with_inertia < 2e-3,
            "{with_inertia} m at {frames_per_second} Hz"
        );
    }
}

#[test]
fn cloth_pinned_to_another_entity_is_rendered_on_that_entity() {
    let mut app = app();
    let runner = runner(&mut app, 50.0);
    let mesh = add_mesh(&mut app, sheet());
    let pins = Pins::edge(ClothEdge::Left).to_entity(runner);
    let banner = (
        Cloth::default(),
        Mesh3d(mesh),
        pins,
        ClothInertia::default(),
    );
    let banner = app.world_mut().spawn(banner).id();
    // The entity of the banner itself does not move.
    let on_the_runner = |app: &App| {
        let runner = app.world().get::<GlobalTransform>(runner).unwrap();
        let to_runner = runner.affine().inverse();
        let positions = float3(drawn(app, banner), Mesh::ATTRIBUTE_POSITION).into_iter();
        let pinned = positions.step_by(10);
        pinned
            .map(|position| to_runner.transform_point3(position))
            .collect::<Vec<_>>()
    };
    run(&mut app, 25);
    let before = on_the_runner(&app);
    for _ in 0..50 {
        run(&mut app, 1);
        for (before, after) in before.iter().zip(on_the_runner(&app)) {
            assert!(before.distance(after) < 3e-3, "{before} moved to {after}");
        }
    }
}

#[test]
fn a_proxy_is_rendered_on_the_runner_of_its_cloth() {
    let mut app = app();
    let runner = runner(&mut app, 50.0);
    let coarse = add_mesh(&mut app, sheet());
    let pinned = (Pins::edge(ClothEdge::Left), ClothInertia::default());
    let cloth = (Cloth::default(), Mesh3d(coarse), pinned, ChildOf(runner));
    let cloth = app.world_mut().spawn(cloth).id();
    let fine = add_mesh(&mut app, sheet());
    let fine = (ClothProxy { cloth }, Mesh3d(fine), ChildOf(runner));
    let fine = app.world_mut().spawn(fine).id();
    run(&mut app, 50);
    let offset = largest_offset(&mut app, fine, 50);
    assert!(offset < 2e-3, "{offset} m");
}

#[test]
fn skinned_cloth_is_rendered_on_the_joint_that_pins_it() {
    let mut app = app();
    let frame = Duration::from_secs_f64(1.0 / 50.0);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    // The side that is skinned to the first joint.
    let pins = Pins::edge(ClothEdge::Left);
    let Character { cloth, joints } = spawn(&mut app, skinned(), Vec3::ZERO, pins);
    let joint = joints[0];
    app.add_systems(
        Update,
        move |time: Res<Time>, mut transforms: Query<&mut Transform>| {
            let t = time.elapsed_secs();
            *transforms.get_mut(joint).unwrap() = Transform::from_xyz(4.0 * t, 0.0, 0.0)
                .with_rotation(Quat::from_rotation_z((5.0 * t).sin()));
        },
    );
    run(&mut app, 25);
    for _ in 0..50 {
        run(&mut app, 1);
        let world = app.world();
        let skin = world.get::<SkinnedMesh>(cloth).unwrap();
        let inverse = world.resource::<Assets<SkinnedMeshInverseBindposes>>();
        let inverse = inverse.get(&skin.inverse_bindposes).unwrap();
        let mesh = drawn(&app, cloth);
        let Some(VertexAttributeValues::Uint16x4(joint_indices)) =
            mesh.attribute(Mesh::ATTRIBUTE_JOINT_INDEX)
        else {
            panic!("no joints");
        };
        let positions = float3(mesh, Mesh::ATTRIBUTE_POSITION);
        let rest = float3(&skinned(), Mesh::ATTRIBUTE_POSITION);
        let joint_transform = world.get::<GlobalTransform>(joint).unwrap();
        for i in (0..100).step_by(10) {
            // The skinning of a renderer.
            let index = usize::from(joint_indices[i][0]);
            let transform = world.get::<GlobalTransform>(skin.joints[index]).unwrap();
            let skinned = (transform.to_matrix() * inverse[index]).transform_point3(positions[i]);
            let offset = skinned.distance(joint_transform.transform_point(rest[i]));
            assert!(offset < 3e-3, "vertex {i}: {offset} m");
        }
    }
}

#[test]
fn paused_cloth_stays_in_the_world() {
    let mut app = app();
    let runner = runner(&mut app, 50.0);
    let mesh = add_mesh(&mut app, sheet());
    let pinned = (Pins::edge(ClothEdge::Left), ClothInertia::default());
    let cape = (Cloth::default(), Mesh3d(mesh), pinned, ChildOf(runner));
    let cape = app.world_mut().spawn(cape).id();
    run(&mut app, 50);
    app.world_mut().resource_mut::<ClothTime>().paused = true;
    run(&mut app, 1);
    let world_vertices = |app: &App| {
        let transform = *app.world().get::<GlobalTransform>(cape).unwrap();
        let positions = float3(drawn(app, cape), Mesh::ATTRIBUTE_POSITION).into_iter();
        positions
            .map(|position| transform.transform_point(position))
            .collect::<Vec<_>>()
    };
    let before = world_vertices(&app);
    run(&mut app, 20);
    for (before, after) in before.into_iter().zip(world_vertices(&app)) {
        assert!(before.distance(after) < 1e-4, "{before} moved to {after}");
    }
    app.world_mut().resource_mut::<ClothTime>().paused = false;
    run(&mut app, 30);
    let offset = largest_offset(&mut app, cape, 50);
    assert!(offset < 2e-3, "{offset} m");
}
