//! What is worn is drawn where its wearer is.

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
use bevy_drape::prelude::*;
use std::time::Duration;

/// What runs and turns, once a frame.
#[derive(Component)]
struct Runner;

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

/// How far pinned vertices are drawn at most from where they belong on what wears them, m, in a second.
fn strays(app: &mut App, cloth: Entity, frames: u32) -> f32 {
    let rest = float3(&Mesh::from(sheet()), Mesh::ATTRIBUTE_POSITION);
    let mut farthest = 0.0_f32;
    for _ in 0..frames {
        run(app, 1);
        let places = float3(drawn(app, cloth), Mesh::ATTRIBUTE_POSITION);
        let pinned = (0..100).step_by(10);
        farthest = pinned
            .map(|i| places[i].distance(rest[i]))
            .fold(farthest, f32::max);
    }
    farthest
}

#[test]
fn worn_cloth_is_drawn_on_who_runs() {
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
        let in_the_world = strays(&mut app, cape, frames);
        assert!(
            in_the_world > 0.05,
            "{in_the_world} m at {frames_per_second} Hz"
        );
        app.world_mut()
            .entity_mut(cape)
            .insert(WorldMotion::default());
        run(&mut app, 10);
        let worn = strays(&mut app, cape, frames);
        assert!(worn < 2e-3, "{worn} m at {frames_per_second} Hz");
    }
}

#[test]
fn what_hangs_on_another_entity_is_drawn_on_that() {
    let mut app = app();
    let runner = runner(&mut app, 50.0);
    let mesh = add_mesh(&mut app, sheet());
    let pins = Pins::edge(ClothEdge::Left).to_entity(runner);
    let banner = (Cloth::default(), Mesh3d(mesh), pins, WorldMotion::default());
    let banner = app.world_mut().spawn(banner).id();
    // Its own entity stays where it is.
    let on_the_runner = |app: &App| {
        let runner = app.world().get::<GlobalTransform>(runner).unwrap();
        let back = runner.affine().inverse();
        let places = float3(drawn(app, banner), Mesh::ATTRIBUTE_POSITION).into_iter();
        let pinned = places.step_by(10);
        pinned
            .map(|at| back.transform_point3(at))
            .collect::<Vec<_>>()
    };
    run(&mut app, 25);
    let before = on_the_runner(&app);
    for _ in 0..50 {
        run(&mut app, 1);
        for (before, after) in before.iter().zip(on_the_runner(&app)) {
            assert!(before.distance(after) < 3e-3, "{before} is at {after}");
        }
    }
}

#[test]
fn a_proxy_is_drawn_on_who_runs() {
    let mut app = app();
    let runner = runner(&mut app, 50.0);
    let coarse = add_mesh(&mut app, sheet());
    let worn = (Pins::edge(ClothEdge::Left), WorldMotion::default());
    let cloth = (Cloth::default(), Mesh3d(coarse), worn, ChildOf(runner));
    let cloth = app.world_mut().spawn(cloth).id();
    let fine = add_mesh(&mut app, sheet());
    let fine = (ClothProxy { cloth }, Mesh3d(fine), ChildOf(runner));
    let fine = app.world_mut().spawn(fine).id();
    run(&mut app, 50);
    let stray = strays(&mut app, fine, 50);
    assert!(stray < 2e-3, "{stray} m");
}

#[test]
fn with_a_skeleton_it_goes_with_the_joint_that_holds_it() {
    let mut app = app();
    let frame = Duration::from_secs_f64(1.0 / 50.0);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    // The side that hangs on its first joint.
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
        let Some(VertexAttributeValues::Uint16x4(of)) = mesh.attribute(Mesh::ATTRIBUTE_JOINT_INDEX)
        else {
            panic!("no joints");
        };
        let positions = float3(mesh, Mesh::ATTRIBUTE_POSITION);
        let rest = float3(&skinned(), Mesh::ATTRIBUTE_POSITION);
        let holds = world.get::<GlobalTransform>(joint).unwrap();
        for i in (0..100).step_by(10) {
            // What a renderer does.
            let of = usize::from(of[i][0]);
            let place = world.get::<GlobalTransform>(skin.joints[of]).unwrap();
            let shown = (place.to_matrix() * inverse[of]).transform_point3(positions[i]);
            let stray = shown.distance(holds.transform_point(rest[i]));
            assert!(stray < 3e-3, "vertex {i}: {stray} m");
        }
    }
}

#[test]
fn in_a_pause_it_is_left_where_it_was() {
    let mut app = app();
    let runner = runner(&mut app, 50.0);
    let mesh = add_mesh(&mut app, sheet());
    let worn = (Pins::edge(ClothEdge::Left), WorldMotion::default());
    let cape = (Cloth::default(), Mesh3d(mesh), worn, ChildOf(runner));
    let cape = app.world_mut().spawn(cape).id();
    run(&mut app, 50);
    app.world_mut().resource_mut::<ClothTime>().paused = true;
    run(&mut app, 1);
    let shown = |app: &App| {
        let place = *app.world().get::<GlobalTransform>(cape).unwrap();
        let places = float3(drawn(app, cape), Mesh::ATTRIBUTE_POSITION).into_iter();
        places
            .map(|at| place.transform_point(at))
            .collect::<Vec<_>>()
    };
    let before = shown(&app);
    run(&mut app, 20);
    for (before, after) in before.into_iter().zip(shown(&app)) {
        assert!(before.distance(after) < 1e-4, "{before} is at {after}");
    }
    app.world_mut().resource_mut::<ClothTime>().paused = false;
    run(&mut app, 30);
    let stray = strays(&mut app, cape, 50);
    assert!(stray < 2e-3, "{stray} m");
}
