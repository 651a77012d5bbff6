//! Cloth on skeletons and in moving reference frames.

use crate::{
    add_mesh, app, drawn, float3,
    log::{lines_about, record},
    particles, run, sheet,
};
use bevy::{
    mesh::{
        VertexAttributeValues,
        skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    },
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_drape::{
    character::{
        ClothInertia, ClothMaxDistance, ClothPart, Teleport, TeleportCloth, VertexChannel,
    },
    pins::PinAnchor,
    prelude::*,
};
use std::time::Duration;

/// Returns a sheet skinned to two joints: vertices with x > 0 to the second joint, all others to the first.
pub(crate) fn skinned() -> Mesh {
    let mut mesh = Mesh::from(sheet());
    let joints = float3(&mesh, Mesh::ATTRIBUTE_POSITION)
        .iter()
        .map(|at| [u16::from(at.x > 0.0), 0, 0, 0])
        .collect();
    mesh.insert_attribute(
        Mesh::ATTRIBUTE_JOINT_INDEX,
        VertexAttributeValues::Uint16x4(joints),
    );
    mesh.insert_attribute(
        Mesh::ATTRIBUTE_JOINT_WEIGHT,
        vec![[1.0, 0.0, 0.0, 0.0]; 100],
    );
    mesh
}

pub(crate) struct Character {
    pub(crate) cloth: Entity,
    pub(crate) joints: [Entity; 2],
}

/// Spawns a character at a position. Its joints "Left" and "Right" have their bind pose at the origin.
pub(crate) fn spawn(app: &mut App, mesh: Mesh, at: Vec3, extra: impl Bundle) -> Character {
    let mesh = add_mesh(app, mesh);
    let world = app.world_mut();
    let root = world.spawn(Transform::from_translation(at)).id();
    let joints = ["Left", "Right"].map(|name| {
        let joint = (Name::new(name), Transform::default(), ChildOf(root));
        world.spawn(joint).id()
    });
    let inverse_bindposes = world
        .resource_mut::<Assets<SkinnedMeshInverseBindposes>>()
        .add(vec![Mat4::IDENTITY; 2]);
    let skin = SkinnedMesh {
        inverse_bindposes,
        joints: joints.to_vec(),
    };
    // A skinned mesh ignores the transform of its entity.
    let own = Transform::from_xyz(9.0, 9.0, 9.0).with_scale(Vec3::splat(2.0));
    let cloth = world
        .spawn((Cloth::default(), Mesh3d(mesh), skin, own, ChildOf(root)))
        .insert(extra)
        .id();
    Character { cloth, joints }
}

fn position(app: &App, cloth: Entity, i: usize) -> Vec3 {
    particles(app, cloth).world_position(i)
}

/// Returns the position of a particle in the bind pose.
fn rest(i: usize) -> Vec3 {
    float3(&skinned(), Mesh::ATTRIBUTE_POSITION)[i]
}

fn move_to(app: &mut App, entity: Entity, to: Vec3) {
    app.world_mut()
        .get_mut::<Transform>(entity)
        .unwrap()
        .translation = to;
}

#[test]
fn cloth_starts_in_the_skinned_pose_and_pins_follow_joints() {
    let mut app = app();
    let at = Vec3::new(3.0, 1.0, 0.0);
    let Character { cloth, joints } = spawn(&mut app, skinned(), at, Pins::corners());
    run(&mut app, 1);
    for i in [0, 37, 99] {
        assert!(position(&app, cloth, i).distance(at + rest(i)) < 1e-5);
    }
    move_to(&mut app, joints[1], Vec3::Y);
    run(&mut app, 1);
    let corners = [0, 9, 90, 99].map(|i| position(&app, cloth, i) - at - rest(i));
    let expected = [Vec3::ZERO, Vec3::Y, Vec3::ZERO, Vec3::Y];
    for (moved, expected) in corners.into_iter().zip(expected) {
        assert!(moved.distance(expected) < 1e-5, "{moved} is not {expected}");
    }
}

#[test]
fn cloth_is_drawn_at_its_particles_through_a_joint_of_its_own() {
    let mut app = app();
    let part = ClothPart::predicate(|at| at.x > 0.3);
    let Character { cloth, joints } = spawn(&mut app, skinned(), Vec3::Y, part);
    run(&mut app, 30);
    // While paused, the mesh shows the state after the last step.
    app.world_mut().resource_mut::<ClothTime>().paused = true;
    run(&mut app, 1);
    let skin = app.world().get::<SkinnedMesh>(cloth).unwrap().clone();
    assert_eq!(skin.joints, [joints[0], joints[1], cloth]);
    let inverse = app
        .world()
        .resource::<Assets<SkinnedMeshInverseBindposes>>();
    let inverse = inverse.get(&skin.inverse_bindposes).unwrap().to_vec();
    let mesh = drawn(&app, cloth);
    let Some(VertexAttributeValues::Uint16x4(indices)) =
        mesh.attribute(Mesh::ATTRIBUTE_JOINT_INDEX)
    else {
        panic!("no joints");
    };
    // Skins the mesh as a renderer does.
    let positions = float3(mesh, Mesh::ATTRIBUTE_POSITION);
    let shown = |i: usize| {
        let joint = usize::from(indices[i][0]);
        let transform = app
            .world()
            .get::<GlobalTransform>(skin.joints[joint])
            .unwrap();
        (transform.to_matrix() * inverse[joint]).transform_point3(positions[i])
    };
    let p = particles(&app, cloth);
    let nearest = |to: Vec3| {
        let all = (0..p.len()).map(|i| p.world_position(i).distance(to));
        all.fold(f32::INFINITY, f32::min)
    };
    for (i, indices) in indices.iter().enumerate() {
        if rest(i).x > 0.2 {
            assert_eq!(indices[0], 2, "vertex {i}");
            assert!(nearest(shown(i)) < 1e-4, "vertex {i}");
        } else {
            assert!(shown(i).distance(Vec3::Y + rest(i)) < 1e-5, "vertex {i}");
        }
    }
    // Removing the cloth restores joints and mesh.
    app.world_mut().entity_mut(cloth).remove::<Cloth>();
    run(&mut app, 1);
    let skin = app.world().get::<SkinnedMesh>(cloth).unwrap();
    assert_eq!(skin.joints, joints);
    assert_eq!(
        float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION)[99],
        rest(99)
    );
}

#[test]
fn max_distance_is_measured_from_the_skinned_pose() {
    let mut app = app();
    let limit = ClothMaxDistance::everywhere(0.05);
    let Character { cloth, joints } = spawn(&mut app, skinned(), Vec3::ZERO, limit);
    run(&mut app, 10);
    app.world_mut()
        .get_mut::<Transform>(joints[0])
        .unwrap()
        .rotation = Quat::from_rotation_z(0.4);
    move_to(&mut app, joints[1], Vec3::Z);
    run(&mut app, 10);
    for i in 0..100 {
        let skinned = if rest(i).x > 0.0 {
            rest(i) + Vec3::Z
        } else {
            Quat::from_rotation_z(0.4) * rest(i)
        };
        let far = position(&app, cloth, i).distance(skinned);
        assert!(far < 0.0501, "particle {i} is {far} m away");
    }
    // A reset puts the cloth into the current skinned pose.
    app.world_mut().trigger(ResetCloth { entity: cloth });
    assert!(position(&app, cloth, 99).distance(rest(99) + Vec3::Z) < 1e-5);
}

#[test]
fn a_joint_can_be_chosen_by_its_name() {
    let mut app = app();
    let pins = Pins::painted(VertexChannel::joint("Right"));
    let Character { cloth, .. } = spawn(&mut app, skinned(), Vec3::ZERO, pins);
    run(&mut app, 2);
    let p = particles(&app, cloth);
    assert!((0..100).all(|i| p.is_pinned(i) == (rest(i).x > 0.0)));
}

#[test]
fn a_despawned_joint_is_reported_once_and_other_joints_keep_moving_cloth() {
    let mut app = app();
    record(&mut app, 7300);
    let Character { cloth, joints } = spawn(&mut app, skinned(), Vec3::Y, Pins::corners());
    run(&mut app, 3);
    let before = position(&app, cloth, 99);
    app.world_mut().despawn(joints[1]);
    move_to(&mut app, joints[0], Vec3::X);
    run(&mut app, 30);
    assert_eq!(position(&app, cloth, 99), before);
    assert!(position(&app, cloth, 0).distance(rest(0) + Vec3::new(1.0, 1.0, 0.0)) < 1e-5);
    assert!(particles(&app, cloth).is_finite());
    let lines = lines_about(cloth);
    let reports = lines.iter().filter(|line| line.contains("joints")).count();
    assert_eq!(reports, 1, "{lines:#?}");
}

#[test]
fn inertia_out_of_range_is_clamped_with_a_warning() {
    let mut app = app();
    record(&mut app, 7900);
    let inertia = ClothInertia {
        linear: -3.0,
        angular: f32::NAN,
        ..default()
    };
    let Character { cloth, .. } = spawn(&mut app, skinned(), Vec3::Y, inertia);
    run(&mut app, 3);
    let now = app.world().get::<ClothInertia>(cloth).unwrap();
    assert_eq!((now.linear, now.angular), (0.0, 1.0));
    let lines = lines_about(cloth);
    for field in ["ClothInertia::linear", "ClothInertia::angular"] {
        let warnings = lines.iter().filter(|line| line.contains(field)).count();
        assert_eq!(warnings, 1, "{lines:#?}");
    }
}

#[test]
fn a_skeleton_can_be_replaced() {
    let mut app = app();
    let Character { cloth, .. } = spawn(&mut app, skinned(), Vec3::ZERO, Pins::corners());
    run(&mut app, 10);
    let other = spawn(&mut app, skinned(), Vec3::Y * 5.0, ());
    run(&mut app, 1);
    let world = app.world_mut();
    let inverse = world
        .resource_mut::<Assets<SkinnedMeshInverseBindposes>>()
        .add(vec![Mat4::IDENTITY; 2]);
    world.entity_mut(cloth).insert(SkinnedMesh {
        inverse_bindposes: inverse,
        joints: other.joints.to_vec(),
    });
    run(&mut app, 3);
    assert!(position(&app, cloth, 0).distance(rest(0) + Vec3::Y * 5.0) < 1e-4);
    let skin = app.world().get::<SkinnedMesh>(cloth).unwrap();
    assert_eq!(skin.joints, [other.joints[0], other.joints[1], cloth]);
}

#[test]
fn a_clone_gets_its_own_cloth_and_joint() {
    let mut app = app();
    let Character { cloth, joints } = spawn(&mut app, skinned(), Vec3::ZERO, Pins::corners());
    run(&mut app, 10);
    let clone = app.world_mut().entity_mut(cloth).clone_and_spawn();
    run(&mut app, 3);
    let skin = app.world().get::<SkinnedMesh>(clone).unwrap();
    assert_eq!(skin.joints, [joints[0], joints[1], clone]);
    assert!(position(&app, clone, 0).distance(rest(0)) < 1e-5);
}

/// Spawns a cloth without gravity, drag and lift, pinned by its left edge, with an inertia.
fn spawn_with_inertia(app: &mut App, inertia: ClothInertia) -> Entity {
    app.insert_resource(ClothGravity(Vec3::ZERO));
    let mesh = add_mesh(app, sheet());
    let mut cloth = Cloth::default();
    cloth.fabric.drag = 0.0;
    cloth.fabric.lift = 0.0;
    app.world_mut()
        .spawn((cloth, Mesh3d(mesh), inertia, Pins::edge(ClothEdge::Left)))
        .id()
}

/// Returns the position of a particle in the frame of its entity.
fn local_position(app: &App, cloth: Entity, i: usize) -> Vec3 {
    let transform = app.world().get::<Transform>(cloth).unwrap();
    transform
        .compute_affine()
        .inverse()
        .transform_point3(position(app, cloth, i))
}

/// Moves and rotates a cloth for 19 steps. Returns the largest displacement of a free corner in the frame of the
/// entity, m.
fn shake(inertia: ClothInertia) -> f32 {
    let mut app = app();
    let cloth = spawn_with_inertia(&mut app, inertia);
    run(&mut app, 2);
    let before = local_position(&app, cloth, 99);
    let mut farthest = 0.0_f32;
    for k in 1..20 {
        let mut transform = app.world_mut().get_mut::<Transform>(cloth).unwrap();
        transform.translation = Vec3::new(0.0, 0.02, 0.01) * k as f32;
        transform.rotation = Quat::from_rotation_x(0.02 * k as f32);
        run(&mut app, 1);
        farthest = farthest.max(local_position(&app, cloth, 99).distance(before));
    }
    farthest
}

#[test]
fn frame_motion_moves_cloth_in_proportion_to_its_inertia() {
    let all = shake(ClothInertia::default());
    let half = shake(ClothInertia::uniform(0.5));
    let none = shake(ClothInertia::uniform(0.0));
    assert!(all > 0.1, "{all}");
    assert!(half < 0.8 * all && half > 0.1 * all, "{half} of {all}");
    assert!(none < 0.01, "{none}");
    let slow = shake(ClothInertia {
        max_speed: Some(0.0),
        max_angular_speed: Some(0.0),
        ..default()
    });
    assert!(slow < 0.01, "{slow}");
}

#[test]
fn another_entity_can_be_the_reference_frame() {
    let mut app = app();
    let ship = app.world_mut().spawn(Transform::default()).id();
    let inertia = ClothInertia {
        frame: PinAnchor::Entity(ship),
        ..ClothInertia::uniform(0.0)
    };
    let cloth = spawn_with_inertia(&mut app, inertia);
    app.world_mut().entity_mut(cloth).insert(Pins::none());
    run(&mut app, 2);
    let before = position(&app, cloth, 50);
    for k in 1..=10 {
        move_to(&mut app, ship, Vec3::X * 0.1 * k as f32);
        run(&mut app, 1);
    }
    assert!(position(&app, cloth, 50).distance(before + Vec3::X) < 1e-3);
}

#[test]
fn a_teleport_moves_cloth_along_or_resets_it() {
    for how in [Teleport::Keep, Teleport::Reset] {
        for by_event in [true, false] {
            let mut app = app();
            let inertia = ClothInertia {
                teleport_distance: (!by_event).then_some(2.0),
                teleport: how,
                ..default()
            };
            let cloth = spawn_with_inertia(&mut app, inertia);
            app.insert_resource(ClothGravity(Vec3::Y * -5.0));
            run(&mut app, 20);
            let before = [0, 50, 99].map(|i| local_position(&app, cloth, i));
            let speed = particles(&app, cloth).velocity(99).length();
            let turn = Quat::from_rotation_y(1.0);
            *app.world_mut().get_mut::<Transform>(cloth).unwrap() =
                Transform::from_xyz(100.0, 0.0, 3.0).with_rotation(turn);
            if by_event {
                app.world_mut()
                    .trigger(TeleportCloth { entity: cloth, how });
            }
            app.update();
            let after = [0, 50, 99].map(|i| local_position(&app, cloth, i));
            let now = particles(&app, cloth).velocity(99).length();
            let case = format!("{how:?}, by event: {by_event}");
            match how {
                Teleport::Keep => {
                    for (before, after) in before.iter().zip(&after) {
                        // One step has run since.
                        let moved = before.distance(*after);
                        assert!(moved < 1.5 * speed / 60.0 + 0.01, "{case}: {moved}");
                    }
                    assert!(now > 0.7 * speed, "{case}: {now} of {speed} m/s");
                }
                Teleport::Reset => {
                    let rest = float3(&sheet().into(), Mesh::ATTRIBUTE_POSITION);
                    for (after, i) in after.iter().zip([0, 50, 99]) {
                        assert!(after.distance(rest[i]) < 0.01, "{case}: {after}");
                    }
                }
            }
            // The mesh is drawn at the target, not interpolated between the two positions.
            let drawn = float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION);
            assert!(drawn.iter().all(|at| at.length() < 2.0), "{case}");
        }
    }
}

/// Returns the x of a pinned particle after each step, m, while an animation moves the cloth every frame at 2 m/s.
fn pin_trajectory(frames_per_second: f64) -> Vec<f32> {
    #[derive(Resource, Default)]
    struct Trajectory(Vec<f32>);
    let mut app = app();
    let frame = Duration::from_secs_f64(1.0 / frames_per_second);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame))
        .init_resource::<Trajectory>();
    let cloth = spawn_with_inertia(&mut app, ClothInertia::default());
    app.add_systems(
        Update,
        move |time: Res<Time<Virtual>>, mut transforms: Query<&mut Transform>| {
            transforms.get_mut(cloth).unwrap().translation.x = 2.0 * time.elapsed_secs();
        },
    )
    .add_systems(
        FixedUpdate,
        (move |cloths: Query<&ClothParticles>, mut trajectory: ResMut<Trajectory>| {
            if let Ok(particles) = cloths.get(cloth) {
                trajectory.0.push(particles.world_position(0).x);
            }
        })
        .after(ClothSystems::Finish),
    );
    run(&mut app, (2.0 * frames_per_second) as u32);
    std::mem::take(&mut app.world_mut().resource_mut::<Trajectory>().0)
}

#[test]
fn an_animation_at_any_frame_rate_moves_pins_evenly() {
    for frames_per_second in [24.0, 30.0, 50.0, 60.0, 75.0, 144.0] {
        let trajectory = pin_trajectory(frames_per_second);
        assert!(trajectory.len() > 80, "{}", trajectory.len());
        // Skips the first steps, in which the motion per frame is not known yet.
        for steps in trajectory[20..].windows(2) {
            let speed = 60.0 * (steps[1] - steps[0]);
            assert!(
                (speed - 2.0).abs() < 0.01,
                "at {frames_per_second} Hz: {speed} m/s instead of 2"
            );
        }
    }
}

#[test]
fn animated_colliders_move_evenly_too() {
    let mut app = app();
    let frame = Duration::from_secs_f64(1.0 / 30.0);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    let floor = app.world_mut().spawn(ClothCollider::half_space()).id();
    let mesh = add_mesh(&mut app, sheet());
    let cloth = app
        .world_mut()
        .spawn((
            Cloth::default(),
            Mesh3d(mesh),
            Transform::from_xyz(0.0, 0.02, 0.0),
        ))
        .id();
    app.add_systems(
        Update,
        move |time: Res<Time<Virtual>>, mut transforms: Query<&mut Transform>| {
            transforms.get_mut(floor).unwrap().translation.y = 1.0 * time.elapsed_secs();
        },
    );
    run(&mut app, 60);
    // The floor lifts the cloth at 1 m/s in both steps of a frame: moved once per frame, the floor would have 2 m/s
    // in one of them.
    let p = particles(&app, cloth);
    for i in 0..p.len() {
        let speed = p.velocity(i).y;
        assert!((speed - 1.0).abs() < 0.05, "{speed}");
    }
}

#[test]
fn pins_follow_a_transform_that_fixed_steps_move_exactly() {
    let mut app = app();
    let cloth = spawn_with_inertia(&mut app, ClothInertia::default());
    app.add_systems(
        FixedUpdate,
        (move |mut transforms: Query<&mut Transform>| {
            transforms.get_mut(cloth).unwrap().translation.x += 0.05;
        })
        .before(ClothSystems::Prepare),
    );
    let frame = Duration::from_secs_f64(1.0 / 24.0);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    for _ in 0..20 {
        app.update();
        let x = app.world().get::<Transform>(cloth).unwrap().translation.x;
        if app.world().get::<ClothParticles>(cloth).is_some() {
            let pin = position(&app, cloth, 0).x - rest(0).x;
            assert!((pin - x).abs() < 1e-5 || x < 0.2, "{pin} is not {x}");
        }
    }
}

#[test]
fn a_max_distance_of_zero_moves_particles_to_their_skinned_position() {
    let mut app = app();
    let Character { cloth, .. } = spawn(&mut app, skinned(), Vec3::Y, ());
    run(&mut app, 20);
    assert!(position(&app, cloth, 50).y < 0.7, "the cloth has fallen");
    let limit = ClothMaxDistance::everywhere(0.0);
    app.world_mut().entity_mut(cloth).insert(limit);
    run(&mut app, 2);
    for i in 0..100 {
        assert!(position(&app, cloth, i).distance(Vec3::Y + rest(i)) < 1e-4);
    }
}

#[test]
fn a_teleport_before_the_first_step_takes_effect() {
    let mut app = app();
    let cloth = spawn_with_inertia(&mut app, ClothInertia::default());
    run(&mut app, 1);
    move_to(&mut app, cloth, Vec3::X * 50.0);
    let how = Teleport::Keep;
    app.world_mut()
        .trigger(TeleportCloth { entity: cloth, how });
    run(&mut app, 2);
    for i in [0, 50, 99] {
        assert!(position(&app, cloth, i).distance(Vec3::X * 50.0 + rest(i)) < 1e-3);
    }
}

#[test]
fn changing_the_reference_frame_does_not_move_cloth() {
    let mut app = app();
    let far = app
        .world_mut()
        .spawn(Transform::from_xyz(0.0, 90.0, 0.0))
        .id();
    let cloth = spawn_with_inertia(&mut app, ClothInertia::uniform(0.0));
    run(&mut app, 3);
    for frame in [PinAnchor::Entity(far), PinAnchor::World, PinAnchor::Cloth] {
        app.world_mut()
            .get_mut::<ClothInertia>(cloth)
            .unwrap()
            .frame = frame;
        run(&mut app, 3);
        assert!(
            position(&app, cloth, 99).distance(rest(99)) < 1e-3,
            "{frame:?}"
        );
    }
}

#[test]
fn a_collider_that_moves_with_its_cloth_does_not_push_the_cloth() {
    let mut app = app();
    let cloth = spawn_with_inertia(&mut app, ClothInertia::uniform(0.0));
    // A ball close below the cloth, its child.
    let ball = (
        ClothCollider::sphere(0.3),
        Transform::from_xyz(0.0, -0.32, 0.0),
        ChildOf(cloth),
    );
    app.world_mut().spawn(ball);
    run(&mut app, 2);
    let before = local_position(&app, cloth, 55);
    for k in 1..=20 {
        move_to(&mut app, cloth, Vec3::new(0.0, -0.1, 0.15) * k as f32);
        run(&mut app, 1);
    }
    let moved = local_position(&app, cloth, 55).distance(before);
    assert!(moved < 0.02, "{moved}");
}

#[test]
fn replacing_the_mesh_keeps_the_skeleton() {
    let mut app = app();
    let Character { cloth, joints } = spawn(&mut app, skinned(), Vec3::ZERO, Pins::corners());
    for _ in 0..3 {
        run(&mut app, 3);
        let other = add_mesh(&mut app, skinned());
        app.world_mut().entity_mut(cloth).insert(Mesh3d(other));
        run(&mut app, 3);
        let skin = app.world().get::<SkinnedMesh>(cloth).unwrap();
        assert_eq!(skin.joints, [joints[0], joints[1], cloth]);
    }
    app.world_mut().entity_mut(cloth).remove::<Cloth>();
    run(&mut app, 1);
    assert_eq!(
        app.world().get::<SkinnedMesh>(cloth).unwrap().joints,
        joints
    );
}

#[test]
fn a_restored_snapshot_gives_the_same_bits_again() {
    let mut app = app();
    let limit = ClothMaxDistance::everywhere(0.2);
    let Character { cloth, joints } = spawn(
        &mut app,
        skinned(),
        Vec3::ZERO,
        (limit, ClothInertia::uniform(0.5)),
    );
    let move_joint = |app: &mut App| {
        for k in 1..=10 {
            move_to(app, joints[1], Vec3::Y * 0.02 * k as f32);
            run(app, 1);
        }
        particles(app, cloth).state_hash()
    };
    run(&mut app, 10);
    let saved = bevy_drape::snapshot::ClothSnapshot::take(app.world(), cloth).unwrap();
    let first = move_joint(&mut app);
    move_to(&mut app, joints[1], Vec3::ZERO);
    saved.restore(app.world_mut(), cloth).unwrap();
    assert_eq!(move_joint(&mut app), first);
}

#[test]
fn a_restored_snapshot_gives_the_same_bits_again_after_a_joint_was_despawned() {
    let mut app = app();
    let limit = ClothMaxDistance::everywhere(0.2);
    let Character { cloth, joints } = spawn(&mut app, skinned(), Vec3::ZERO, limit);
    let move_joint = |app: &mut App| {
        for k in 1..=20 {
            move_to(app, joints[0], Vec3::X * 0.1 * k as f32);
            run(app, 1);
        }
        particles(app, cloth).state_hash()
    };
    run(&mut app, 10);
    app.world_mut().despawn(joints[1]);
    run(&mut app, 5);
    let saved = bevy_drape::snapshot::ClothSnapshot::take(app.world(), cloth).unwrap();
    let first = move_joint(&mut app);
    move_to(&mut app, joints[0], Vec3::ZERO);
    run(&mut app, 1);
    saved.restore(app.world_mut(), cloth).unwrap();
    assert_eq!(move_joint(&mut app), first);
}
