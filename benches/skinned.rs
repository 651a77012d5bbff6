//! Cost of the colliders of a skinned, animated character of 20 000 triangles: one update of an app with capsules or
//! with the triangles, minus one without colliders.
//!
//! ```sh
//! cargo bench --bench skinned
//! ```
//!
//! Each update takes one fixed step. All joints move all the time. The apps take turns. "Under a cloth" adds a sheet of
//! 64 × 64 particles that lies on the body.

#[path = "common/turns.rs"]
mod turns;

use bevy::{
    asset::AssetPlugin,
    mesh::{
        MeshPlugin, VertexAttributeValues,
        skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    },
    prelude::*,
    time::TimeUpdateStrategy,
    transform::TransformPlugin,
};
use bevy_drape::{character::SkeletonColliders, prelude::*};
use std::f32::consts::TAU;
use turns::{Times, is_bench, take_turns, timed};

/// Joints of the body, in a row of 2 m along x.
const JOINTS: u32 = 16;

fn main() {
    // Two triangles for each quad.
    let [rings, sides] = if is_bench() { [201, 50] } else { [21, 10] };
    println!("| colliders | fastest, ms | median, ms | fastest over none, ms |");
    println!("|---|---|---|---|");
    for under_cloth in [false, true] {
        let colliders = [
            None,
            Some(SkeletonColliders::capsules()),
            Some(SkeletonColliders::mesh()),
        ];
        let [none, capsules, mesh] =
            &mut colliders.map(|colliders| app([rings, sides], colliders, under_cloth));
        let times = take_turns(
            10.0,
            [
                &mut || timed(|| none.update()),
                &mut || timed(|| capsules.update()),
                &mut || timed(|| mesh.update()),
            ],
        );
        let place = if under_cloth { ", under a cloth" } else { "" };
        for (name, Times { fastest, median }) in ["none", "capsules", "mesh"].iter().zip(times) {
            let over = fastest - times[0].fastest;
            println!("| {name}{place} | {fastest:.3} | {median:.3} | {over:.3} |");
        }
    }
}

#[derive(Component)]
struct Joint(f32);

/// Moves each joint up and down.
fn animate(mut joints: Query<(&Joint, &mut Transform)>, time: Res<Time>) {
    for (joint, mut transform) in &mut joints {
        let phase = 3.0 * time.elapsed_secs() + joint.0;
        transform.translation.y = 0.1 * phase.sin();
        transform.rotation = Quat::from_rotation_x(0.2 * phase.cos());
    }
}

fn app(size: [u32; 2], colliders: Option<SkeletonColliders>, under_cloth: bool) -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        MeshPlugin,
        TransformPlugin,
        ClothPlugin::default(),
    ))
    .insert_resource(Time::<Fixed>::from_hz(60.0))
    .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
    .add_systems(Update, animate);
    app.finish();
    app.cleanup();
    let side = if under_cloth { 64 } else { 2 };
    let far = if under_cloth { 0.0 } else { 100.0 };
    let sheet = app
        .world_mut()
        .resource_mut::<Assets<Mesh>>()
        .add(ClothGrid::new(1.5, 1.2, side, side));
    let at = Transform::from_xyz(far, 0.4, 0.0);
    app.world_mut().spawn((Cloth::default(), Mesh3d(sheet), at));
    spawn_body(&mut app, size, colliders);
    let steps = if is_bench() { 120 } else { 3 };
    (0..steps).for_each(|_| app.update());
    app
}

fn spawn_body(app: &mut App, size: [u32; 2], colliders: Option<SkeletonColliders>) {
    let mesh = app
        .world_mut()
        .resource_mut::<Assets<Mesh>>()
        .add(tube(size));
    let world = app.world_mut();
    let joints = (0..JOINTS).map(|k| world.spawn((Transform::default(), Joint(k as f32))).id());
    let joints = joints.collect();
    let inverse_bindposes = world
        .resource_mut::<Assets<SkinnedMeshInverseBindposes>>()
        .add(vec![Mat4::IDENTITY; JOINTS as usize]);
    let skin = SkinnedMesh {
        inverse_bindposes,
        joints,
    };
    let mut body = world.spawn((Mesh3d(mesh), skin));
    if let Some(colliders) = colliders {
        body.insert(colliders);
    }
}

/// Returns a grid rolled up into a tube around x, of 2 m and a radius of 0.25 m, each vertex moved by the four joints
/// around it.
fn tube([rings, sides]: [u32; 2]) -> Mesh {
    let mut mesh = Mesh::from(ClothGrid::new(2.0, 1.0, rings, sides + 1));
    let Some(VertexAttributeValues::Float32x3(positions)) =
        mesh.attribute_mut(Mesh::ATTRIBUTE_POSITION)
    else {
        return mesh;
    };
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for (k, at) in positions.iter_mut().enumerate() {
        // By the index, so that both edges of the grid meet exactly.
        let turn = TAU * ((k as u32 / rings) % sides) as f32 / sides as f32;
        *at = [at[0], 0.25 * turn.cos(), 0.25 * turn.sin()];
        let along = (at[0] * 0.5 + 0.5) * (JOINTS - 4) as f32;
        let first = along.floor().min((JOINTS - 5) as f32);
        joints.push([0, 1, 2, 3].map(|next| first as u16 + next));
        let fraction = 0.3 * (along - first);
        weights.push([0.4 - fraction, 0.3, 0.2, 0.1 + fraction]);
    }
    mesh.insert_attribute(
        Mesh::ATTRIBUTE_JOINT_INDEX,
        VertexAttributeValues::Uint16x4(joints),
    );
    mesh.with_inserted_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT, weights)
}
