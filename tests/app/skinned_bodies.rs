//! Cloth on the triangles of skinned meshes.

use crate::{
    add_mesh, app, centre,
    log::{lines_about, record},
    particles, run,
};
use bevy::{
    asset::RenderAssetUsages,
    mesh::{
        Indices, PrimitiveTopology, VertexAttributeValues,
        skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    },
    prelude::*,
};
use bevy_drape::{character::SkeletonColliders, prelude::*, sleep::ClothSleeping};
use std::f32::consts::TAU;

const SIDES: u32 = 24;
const RINGS: u32 = 41;

/// Returns a tube along x from −1 to 1 m, with or without lids. Two joints move its halves, and both the middle.
fn tube(radius: f32, lids: bool) -> Mesh {
    let ring = |k: u32| (k / SIDES, TAU * (k % SIDES) as f32 / SIDES as f32);
    let mut positions: Vec<Vec3> = (0..RINGS * SIDES)
        .map(|k| {
            let (row, turn) = ring(k);
            let x = 2.0 * row as f32 / (RINGS - 1) as f32 - 1.0;
            Vec3::new(x, radius * turn.cos(), radius * turn.sin())
        })
        .collect();
    let mut triangles = Vec::new();
    for k in 0..(RINGS - 1) * SIDES {
        let next = k - k % SIDES + (k + 1) % SIDES;
        let [a, b, c, d] = [k, next, k + SIDES, next + SIDES];
        triangles.extend([[a, b, c], [c, b, d]]);
    }
    if lids {
        let (left, right) = (positions.len() as u32, positions.len() as u32 + 1);
        positions.extend([Vec3::NEG_X, Vec3::X]);
        for k in 0..SIDES {
            let next = (k + 1) % SIDES;
            let last = (RINGS - 1) * SIDES;
            triangles.extend([[left, next, k], [right, last + k, last + next]]);
        }
    }
    let weight = |at: &Vec3| (0.5 + 2.0 * at.x).clamp(0.0, 1.0);
    let weights = positions
        .iter()
        .map(|at| [1.0 - weight(at), weight(at), 0.0, 0.0]);
    let weights: Vec<[f32; 4]> = weights.collect();
    let joints = vec![[0, 1, 0, 0]; positions.len()];
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_indices(Indices::U32(triangles.concat()))
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
    .with_inserted_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT, weights)
    .with_inserted_attribute(
        Mesh::ATTRIBUTE_JOINT_INDEX,
        VertexAttributeValues::Uint16x4(joints),
    )
}

struct Body {
    mesh: Entity,
    root: Entity,
    joints: [Entity; 2],
}

/// Spawns a body at a position. Its joints have their bind pose at the origin of the mesh.
fn spawn_body(app: &mut App, mesh: Mesh, at: Vec3, extra: impl Bundle) -> Body {
    let mesh = Mesh3d(add_mesh(app, mesh));
    let world = app.world_mut();
    let root = world.spawn(Transform::from_translation(at)).id();
    let joints = [0, 1].map(|_| world.spawn((Transform::default(), ChildOf(root))).id());
    let inverse_bindposes = world
        .resource_mut::<Assets<SkinnedMeshInverseBindposes>>()
        .add(vec![Mat4::IDENTITY; 2]);
    let skin = SkinnedMesh {
        inverse_bindposes,
        joints: joints.to_vec(),
    };
    let mesh = world.spawn((mesh, skin, extra)).id();
    Body { mesh, root, joints }
}

fn transform(app: &mut App, entity: Entity) -> Mut<'_, Transform> {
    app.world_mut().get_mut(entity).unwrap()
}

/// Spawns a horizontal sheet of 1.4 m × 1.2 m at a height.
fn drop_sheet(app: &mut App, height: f32) -> Entity {
    let mesh = Mesh3d(add_mesh(app, ClothGrid::new(1.4, 1.2, 36, 31)));
    let at = Transform::from_xyz(0.0, height, 0.0);
    app.world_mut().spawn((Cloth::default(), mesh, at)).id()
}

/// Returns the depth of a point in a tube of this radius that is bent at the origin, with the right half turned around z
/// by this angle, m.
fn depth(at: Vec3, radius: f32, angle: f32) -> f32 {
    let halves = [(at, -1.0), (Quat::from_rotation_z(-angle) * at, 1.0)];
    let depth = |(at, side): (Vec3, f32)| match at.x * side > 0.2 && at.x * side < 1.0 {
        true => radius - Vec2::new(at.y, at.z).length(),
        false => f32::NEG_INFINITY,
    };
    halves
        .map(depth)
        .into_iter()
        .fold(f32::NEG_INFINITY, f32::max)
}

#[test]
fn a_sheet_lies_on_a_skinned_tube_that_bends() {
    let mut app = app();
    let body = spawn_body(
        &mut app,
        tube(0.25, true),
        Vec3::ZERO,
        SkeletonColliders::mesh(),
    );
    let sheet = drop_sheet(&mut app, 0.5);
    let mut angle = 0.0;
    for step in 0..150 {
        angle = 0.4 * (0.06 * step as f32).sin();
        transform(&mut app, body.joints[1]).rotation = Quat::from_rotation_z(angle);
        run(&mut app, 1);
        let p = particles(&app, sheet);
        let deepest = (0..p.len()).map(|i| depth(p.world_position(i), 0.25, angle));
        // A polygon of 24 sides is 2 mm smaller than its circle.
        let deepest = deepest.fold(f32::NEG_INFINITY, f32::max);
        assert!(deepest < 0.003, "{deepest} m inside after {step} steps");
    }
    let p = particles(&app, sheet);
    let touching = (0..p.len()).filter(|&i| depth(p.world_position(i), 0.27, angle) > 0.0);
    assert!(touching.count() > 200, "it hangs over the tube");
}

#[test]
fn cloth_stays_on_its_side_of_an_open_skinned_mesh_that_lifts_it() {
    let mut app = app();
    let mut flat = Mesh::from(ClothGrid::new(3.0, 3.0, 30, 30));
    let count = flat.count_vertices();
    flat.insert_attribute(
        Mesh::ATTRIBUTE_JOINT_INDEX,
        VertexAttributeValues::Uint16x4(vec![[0, 1, 0, 0]; count]),
    );
    flat.insert_attribute(
        Mesh::ATTRIBUTE_JOINT_WEIGHT,
        vec![[0.5, 0.5, 0.0, 0.0]; count],
    );
    let body = spawn_body(&mut app, flat, Vec3::ZERO, SkeletonColliders::mesh());
    let sheet = drop_sheet(&mut app, 0.1);
    run(&mut app, 60);
    assert!(centre(&app, sheet).y.abs() < 0.03);
    for step in 1..=30 {
        // 2 m/s, by one of the joints 4 m/s.
        transform(&mut app, body.joints[1]).translation.y = step as f32 / 15.0;
        run(&mut app, 1);
    }
    let p = particles(&app, sheet);
    let lowest = (0..p.len())
        .map(|i| p.world_position(i).y)
        .fold(f32::INFINITY, f32::min);
    assert!(lowest > 1.0, "a particle is at {lowest} m, the mesh at 1 m");
}

#[test]
fn a_limb_at_10_m_per_s_does_not_pass_through_hanging_cloth() {
    for lids in [true, false] {
        let mut app = app();
        let start = Vec3::new(0.0, -0.1, -0.7);
        let body = spawn_body(&mut app, tube(0.06, lids), start, SkeletonColliders::mesh());
        let mesh = Mesh3d(add_mesh(&mut app, ClothGrid::vertical(1.2, 1.2, 40, 40)));
        let pins = Pins::edge(ClothEdge::Top);
        let cloth = app.world_mut().spawn((Cloth::default(), mesh, pins)).id();
        run(&mut app, 10);
        for step in 1..=6 {
            let way = Vec3::Z * (10.0 * step as f32 / 60.0);
            transform(&mut app, body.root).translation = start + way;
            run(&mut app, 1);
            let limb = start + way;
            let p = particles(&app, cloth);
            for i in 0..p.len() {
                let at = p.world_position(i) - limb;
                let behind = at.y.abs() < 0.03 && at.z < -0.02 && limb.z > 0.1;
                assert!(
                    !behind,
                    "particle {i} is at {at} from the limb, step {step}"
                );
            }
        }
        run(&mut app, 60);
        let p = particles(&app, cloth);
        assert!((0..p.len()).all(|i| p.world_position(i).is_finite()));
    }
}

#[test]
fn the_shape_of_colliders_can_be_changed_and_a_clone_has_its_own() {
    let mut app = app();
    let body = spawn_body(
        &mut app,
        tube(0.25, true),
        Vec3::ZERO,
        SkeletonColliders::default(),
    );
    let mut capsules = app.world_mut().query::<&ClothCollider>();
    run(&mut app, 2);
    assert!(capsules.iter(app.world()).count() >= 2);
    *app.world_mut().get_mut(body.mesh).unwrap() = SkeletonColliders::mesh();
    run(&mut app, 2);
    assert_eq!(capsules.iter(app.world()).count(), 0);
    let copy = app.world_mut().entity_mut(body.mesh).clone_and_spawn();
    app.world_mut().despawn(body.mesh);
    let sheet = drop_sheet(&mut app, 0.3);
    run(&mut app, 60);
    assert!(centre(&app, sheet).y > -0.3, "it lies on the clone");
    app.world_mut()
        .entity_mut(copy)
        .remove::<SkeletonColliders>();
    run(&mut app, 60);
    assert!(centre(&app, sheet).y < -2.0, "it falls");
}

#[test]
fn sleeping_cloth_wakes_when_the_body_under_it_moves() {
    let mut app = app();
    let body = spawn_body(
        &mut app,
        tube(0.25, true),
        Vec3::ZERO,
        SkeletonColliders::mesh(),
    );
    let sheet = drop_sheet(&mut app, 0.3);
    run(&mut app, 900);
    assert!(
        app.world().get::<ClothSleeping>(sheet).is_some(),
        "the body is at rest"
    );
    transform(&mut app, body.joints[1]).rotation = Quat::from_rotation_z(0.2);
    run(&mut app, 2);
    assert!(app.world().get::<ClothSleeping>(sheet).is_none());
}

#[test]
fn bodies_that_cannot_collide_are_reported_and_everything_else_goes_on() {
    let mut app = app();
    record(&mut app, 9100);
    let mut bare = tube(0.25, true);
    bare.remove_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT);
    let bare = spawn_body(&mut app, bare, Vec3::ZERO, SkeletonColliders::mesh());
    let flat = tube(0.0, false);
    let flat = spawn_body(&mut app, flat, Vec3::ZERO, SkeletonColliders::mesh());
    let body = spawn_body(
        &mut app,
        tube(0.25, true),
        Vec3::ZERO,
        SkeletonColliders::mesh(),
    );
    let sheet = drop_sheet(&mut app, 0.3);
    run(&mut app, 30);
    for (entity, reason) in [
        (bare.mesh, "no weights"),
        (flat.mesh, "no triangle has an area"),
    ] {
        let lines = lines_about(entity);
        assert!(lines.len() == 1 && lines[0].contains(reason), "{lines:?}");
    }
    transform(&mut app, body.joints[0]).translation = Vec3::NAN;
    transform(&mut app, body.joints[1]).scale = Vec3::INFINITY;
    run(&mut app, 30);
    app.world_mut().despawn(body.joints[0]);
    run(&mut app, 30);
    assert!(
        centre(&app, sheet).y > -0.3,
        "the triangles rest where they were"
    );
    let lines = lines_about(body.mesh);
    assert!(
        lines.len() == 1 && lines[0].contains("1 joints"),
        "{lines:?}"
    );
}
