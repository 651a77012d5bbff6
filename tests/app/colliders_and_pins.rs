//! Static and moving colliders and pins, under transforms of all kinds.

use crate::{add_mesh, app, centre, particles, run, spawn, worst_stretch};
use bevy::prelude::*;
use bevy_drape::prelude::*;

#[test]
fn falling_cloth_comes_to_rest_on_colliders() {
    for (collider, height) in [
        (ClothCollider::half_space(), 0.0),
        (ClothCollider::cuboid(4.0, 1.0, 4.0), 0.5),
        (ClothCollider::from(Cuboid::new(4.0, 1.0, 4.0)), 0.5),
    ] {
        let mut app = app();
        app.world_mut().spawn(collider);
        let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.8, 0.0));
        run(&mut app, 200);
        let thickness = Fabric::default().surface().thickness;
        let y = centre(&app, cloth).y;
        assert!((y - height - thickness).abs() < 1e-3, "{collider:?}: {y}");
    }
}

#[test]
fn colliders_are_rotated_and_scaled_with_their_entity_and_its_parents() {
    let mut app = app();
    let parent = app
        .world_mut()
        .spawn(Transform::from_xyz(0.0, 1.0, 0.0).with_scale(Vec3::splat(2.0)))
        .id();
    // A unit box, scaled to 2 m, its centre 1 m below the parent: its top is at the height of the parent.
    app.world_mut().spawn((
        ClothCollider::cuboid(1.0, 1.0, 1.0),
        Transform::from_xyz(0.0, -0.5, 0.0),
        ChildOf(parent),
    ));
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 1.5, 0.0));
    run(&mut app, 200);
    assert!((centre(&app, cloth).y - 1.01).abs() < 1e-3);
}

#[test]
fn a_moving_collider_lifts_and_drags_cloth() {
    let mut app = app();
    let lift = app
        .world_mut()
        .spawn(ClothCollider::cuboid(4.0, 0.2, 4.0).with_friction(5.0, 5.0))
        .id();
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.2, 0.0));
    app.world_mut()
        .get_mut::<Cloth>(cloth)
        .unwrap()
        .fabric
        .static_friction = 5.0;
    app.add_systems(FixedUpdate, move |mut transforms: Query<&mut Transform>| {
        transforms.get_mut(lift).unwrap().translation += Vec3::new(0.5, 0.25, 0.0) / 60.0;
    });
    run(&mut app, 120);
    let moved = centre(&app, cloth);
    assert!((moved.x - 1.0).abs() < 0.1, "dragged {} m of 1 m", moved.x);
    assert!((moved.y - 0.61).abs() < 0.02, "lifted to {} m", moved.y);
}

#[test]
fn no_particle_ends_a_step_inside_a_swinging_sphere() {
    let mut app = app();
    let ball = app.world_mut().spawn(ClothCollider::sphere(0.25)).id();
    let cloth = spawn(
        &mut app,
        (Pins::corners(), Transform::from_xyz(0.0, 0.3, 0.0)),
    );
    app.add_systems(
        FixedUpdate,
        (move |mut transforms: Query<&mut Transform>, time: Res<Time>| {
            let t = time.elapsed_secs() * 3.0;
            transforms.get_mut(ball).unwrap().translation = Vec3::new(t.sin(), 0.2, t.cos()) * 0.4;
        })
        .before(bevy_drape::cloth::ClothSystems::Prepare),
    );
    for _ in 0..300 {
        app.update();
        let centre = app.world().get::<Transform>(ball).unwrap().translation;
        let particles = particles(&app, cloth);
        for i in (0..100).filter(|&i| !particles.is_pinned(i)) {
            let distance = particles.world_position(i).distance(centre);
            assert!(
                distance >= 0.25,
                "particle {i} is {distance} m from the centre"
            );
        }
    }
}

#[test]
fn cloth_of_a_moved_turned_and_scaled_entity() {
    let mut app = app();
    let transform = Transform::from_xyz(100.0, -50.0, 7.0)
        .with_rotation(Quat::from_euler(EulerRot::YXZ, 1.0, 0.5, 0.2))
        .with_scale(Vec3::new(2.0, 1.0, 3.0));
    let cloth = spawn(&mut app, (transform, Pins::corners()));
    run(&mut app, 1);
    let corner = |app: &App| particles(app, cloth).world_position(0);
    let expected = transform.transform_point(Vec3::new(-0.5, 0.0, -0.5));
    assert!((corner(&app) - expected).length() < 1e-4);
    // 2 m × 3 m of 0.2 kg/m².
    let area = 6.0;
    let n = particles(&app, cloth).len();
    let free_mass: f32 = particles(&app, cloth)
        .inverse_mass
        .iter()
        .filter(|w| **w > 0.0)
        .map(|w| 1.0 / w)
        .sum();
    assert!(
        free_mass < 0.2 * area && free_mass > 0.2 * area * 0.97,
        "{n}: {free_mass} kg"
    );
    run(&mut app, 120);
    assert!((corner(&app) - expected).length() < 1e-4);
    let sagged = centre(&app, cloth).y - transform.translation.y;
    assert!(sagged < -0.02 && sagged > -1.0, "{sagged} m");
}

#[test]
fn pins_follow_their_anchors() {
    let mut app = app();
    let anchor = app.world_mut().spawn(Transform::default()).id();
    let own = spawn(&mut app, Pins::top_corners());
    let to_entity = spawn(&mut app, Pins::top_corners().to_entity(anchor));
    let to_world = spawn(&mut app, Pins::top_corners().to_world());
    run(&mut app, 2);
    for entity in [anchor, own, to_world] {
        app.world_mut()
            .get_mut::<Transform>(entity)
            .unwrap()
            .translation = Vec3::Y * 0.1;
    }
    run(&mut app, 2);
    let corner = |app: &App, cloth| particles(app, cloth).world_position(0);
    let start = Vec3::new(-0.5, 0.0, -0.5);
    assert!((corner(&app, own) - start - Vec3::Y * 0.1).length() < 1e-5);
    assert!((corner(&app, to_entity) - start - Vec3::Y * 0.1).length() < 1e-5);
    assert!((corner(&app, to_world) - start).length() < 1e-5);
    // A pin stays in position after its anchor was despawned.
    app.world_mut().despawn(anchor);
    run(&mut app, 30);
    assert!((corner(&app, to_entity) - start - Vec3::Y * 0.1).length() < 1e-5);
}

#[test]
fn pins_can_be_added_and_removed_while_cloth_moves() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    run(&mut app, 20);
    let start = particles(&app, cloth).world_position(99);
    app.world_mut().entity_mut(cloth).insert(Pins::index(99));
    run(&mut app, 60);
    let held = particles(&app, cloth).world_position(99);
    assert!(
        (held - start).length() < 1e-5,
        "pinned at {start}, is at {held}"
    );
    assert!(centre(&app, cloth).y < start.y);
    app.world_mut().entity_mut(cloth).insert(Pins::none());
    run(&mut app, 30);
    assert!(particles(&app, cloth).world_position(99).y < start.y - 0.3);
}

#[test]
fn pins_inserted_before_the_first_step_and_removed_later_take_effect() {
    let mut app = app();
    app.add_observer(|ready: On<ClothReady>, mut commands: Commands| {
        commands.entity(ready.entity).insert(Pins::top_corners());
    });
    let cloth = spawn(&mut app, ());
    run(&mut app, 60);
    let corner = particles(&app, cloth).world_position(0);
    assert!(
        (corner - Vec3::new(-0.5, 0.0, -0.5)).length() < 1e-5,
        "{corner}"
    );
    app.world_mut().entity_mut(cloth).remove::<Pins>();
    run(&mut app, 60);
    let fallen = particles(&app, cloth).world_position(0);
    assert!(fallen.y < -1.0, "{fallen}");
    app.world_mut().entity_mut(cloth).insert(Pins::index(0));
    run(&mut app, 2);
    let caught = particles(&app, cloth).world_position(0);
    run(&mut app, 30);
    assert_eq!(particles(&app, cloth).world_position(0), caught);
}

#[test]
fn a_collider_moved_during_a_pause_does_not_drag_cloth_along() {
    let mut app = app();
    let lift = app
        .world_mut()
        .spawn(ClothCollider::cuboid(4.0, 0.2, 4.0).with_friction(5.0, 5.0))
        .id();
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.12, 0.0));
    run(&mut app, 30);
    app.world_mut().resource_mut::<ClothTime>().paused = true;
    for _ in 0..60 {
        let mut transform = app.world_mut().get_mut::<Transform>(lift).unwrap();
        transform.translation.x += 0.03;
        app.update();
    }
    app.world_mut().resource_mut::<ClothTime>().paused = false;
    run(&mut app, 30);
    // A move by 1.8 m in one step would have flung the cloth away.
    assert!(centre(&app, cloth).x.abs() < 0.1, "{}", centre(&app, cloth));
}

#[test]
fn colliders_under_a_nonuniformly_scaled_parent_still_collide() {
    let mut app = app();
    let parent = app
        .world_mut()
        .spawn(Transform::from_scale(Vec3::new(1.0, 2.0, 1.0)))
        .id();
    app.world_mut().spawn((
        ClothCollider::sphere(0.3),
        Transform::from_rotation(Quat::from_rotation_z(0.8)),
        ChildOf(parent),
    ));
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.8, 0.0));
    run(&mut app, 40);
    let middle = particles(&app, cloth).world_position(44);
    assert!(middle.y > 0.2, "{middle}");
}

#[test]
fn pinned_particles_pull_their_whole_cloth_along() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::edge(ClothEdge::Top));
    for step in 0..120 {
        let mut transform = app.world_mut().get_mut::<Transform>(cloth).unwrap();
        transform.translation.x = step as f32 / 60.0;
        app.update();
    }
    let centre = centre(&app, cloth);
    assert!(centre.x > 1.5, "{centre}");
    let pins = particles(&app, cloth).inverse_mass.iter();
    assert_eq!(pins.filter(|w| **w == 0.0).count(), 10);
}

#[test]
fn far_from_the_origin_cloth_moves_as_at_the_origin() {
    let sag = |offset: Vec3| {
        let mut app = app();
        let cloth = spawn(
            &mut app,
            (
                Pins::edge(ClothEdge::Top).and(Pins::edge(ClothEdge::Bottom)),
                Transform::from_translation(offset),
            ),
        );
        run(&mut app, 240);
        let particles: &ClothParticles = particles(&app, cloth);
        (particles.position.get(44) + (particles.origin - offset)).y
    };
    let near = sag(Vec3::ZERO);
    let far = sag(Vec3::new(8192.0, 0.0, -16384.0));
    assert!(
        (near - far).abs() < 1e-6,
        "{near} at the origin, {far} far away"
    );
}

#[test]
fn a_strip_two_vertices_wide_hangs_without_overstretch() {
    let mut app = app();
    let mesh = add_mesh(&mut app, ClothGrid::vertical(0.02, 1.0, 2, 30));
    let strip = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), Pins::edge(ClothEdge::Top)))
        .id();
    run(&mut app, 120);
    let stretch = worst_stretch(&app, strip);
    assert!(stretch < 0.2, "{stretch}");
}
