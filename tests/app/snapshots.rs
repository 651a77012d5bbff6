//! Rollback: a restored cloth repeats its motion to the last bit.

use crate::{add_mesh, app, command, drawn, float3, log, particles, run, sheet, spawn};
use bevy::{mesh::VertexAttributeValues, prelude::*, time::TimeUpdateStrategy};
use bevy_drape::{
    cloth::ClothConstraints,
    collision::LastPose,
    grab::ClothGrabs,
    pins::ClothCorner,
    prelude::*,
    snapshot::{ClothSnapshot, SnapshotError},
    time::ClothClock,
    wind::WindTime,
};

#[cfg(feature = "serialize")]
mod files;

/// State that a game saves: the cloth snapshot, and data outside of it.
struct SavedState {
    cloth: ClothSnapshot,
    wind: WindTime,
    clock: ClothClock,
    entities: Vec<(Entity, Transform, Option<LastPose>)>,
}

pub(crate) fn take(app: &App, cloth: Entity) -> ClothSnapshot {
    ClothSnapshot::take(app.world(), cloth).expect("it is built")
}

fn save(app: &mut App, cloth: Entity) -> SavedState {
    let world = app.world_mut();
    let mut entities = world.query::<(Entity, &Transform, Option<&LastPose>)>();
    SavedState {
        entities: entities
            .iter(world)
            .map(|(entity, transform, pose)| (entity, *transform, pose.copied()))
            .collect(),
        wind: *world.resource::<WindTime>(),
        clock: world.resource::<ClothClock>().clone(),
        cloth: take(app, cloth),
    }
}

fn load(app: &mut App, cloth: Entity, saved: &SavedState) {
    let world = app.world_mut();
    for (entity, transform, pose) in &saved.entities {
        let mut entity = world.entity_mut(*entity);
        entity.insert(*transform);
        if let Some(pose) = pose {
            entity.insert(*pose);
        }
    }
    world.insert_resource(saved.wind);
    world.insert_resource(saved.clock.clone());
    saved.cloth.restore(world, cloth).unwrap();
}

/// Storages of a snapshot: name, and a function that stores and loads it.
pub(crate) fn storages() -> Vec<(&'static str, fn(&ClothSnapshot) -> ClothSnapshot)> {
    vec![
        ("in memory", ClothSnapshot::clone),
        #[cfg(feature = "serialize")]
        ("as JSON", files::through_json),
    ]
}

/// Returns the bytes of all attributes of the rendered mesh, and its indices.
fn rendered_mesh(app: &App, cloth: Entity) -> (Vec<Vec<u8>>, Vec<usize>) {
    let mesh = drawn(app, cloth);
    let attributes = mesh.attributes();
    let bytes = attributes.map(|(_, values)| values.get_bytes().to_vec());
    (bytes.collect(), mesh.indices().unwrap().iter().collect())
}

const STEPS: u32 = 40;

/// Runs some steps, with a game function before each of them. Returns the state hash after each step.
fn hashes(app: &mut App, cloth: Entity, game: fn(&mut App, Entity, u32)) -> Vec<u64> {
    let step = |number| {
        game(app, cloth, number);
        app.update();
        particles(app, cloth).state_hash()
    };
    (0..STEPS).map(step).collect()
}

/// Runs some steps, then restores the state before them and runs them again, for each storage of a snapshot.
fn assert_repeats(app: &mut App, cloth: Entity, game: fn(&mut App, Entity, u32)) {
    let mut saved = save(app, cloth);
    let first = hashes(app, cloth, game);
    let rendered = rendered_mesh(app, cloth);
    for pair in first.windows(2) {
        assert_ne!(pair[0], pair[1], "a step without motion");
    }
    for (storage, store) in storages() {
        saved.cloth = store(&saved.cloth);
        load(app, cloth, &saved);
        assert_eq!(take(app, cloth), saved.cloth, "{storage}");
        assert_eq!(hashes(app, cloth, game), first, "{storage}");
        assert!(
            rendered_mesh(app, cloth) == rendered,
            "{storage}: another mesh"
        );
    }
}

fn idle(_: &mut App, _: Entity, _: u32) {}

fn upright(app: &mut App, extra: impl Bundle) -> Entity {
    let mesh = add_mesh(app, ClothGrid::vertical(1.0, 1.0, 16, 16));
    let bundle = (
        Cloth::default(),
        Mesh3d(mesh),
        Pins::edge(ClothEdge::Top),
        extra,
    );
    app.world_mut().spawn(bundle).id()
}

#[test]
fn gusts_repeat() {
    let mut app = app();
    app.insert_resource(Wind {
        velocity: Vec3::new(1.0, 0.5, 4.0),
        gusts: 0.8,
        ..default()
    });
    let cloth = spawn(&mut app, Pins::top_corners());
    run(&mut app, 50);
    assert_repeats(&mut app, cloth, idle);
}

#[test]
fn ramped_settings_repeat() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::top_corners());
    run(&mut app, 50);
    let mut settings = app.world_mut().get_mut::<Cloth>(cloth).unwrap();
    settings.iterations = 10;
    settings.fabric.thickness = Some(0.2);
    settings.fabric.areal_density = 0.01;
    settings.fabric.bending_stiffness = 1e-3;
    run(&mut app, 3);
    assert_repeats(&mut app, cloth, idle);
}

/// Spawns a cloth on a moving lift and runs 50 steps. Returns the app, the cloth and the lift.
fn on_a_lift() -> (App, Entity, Entity) {
    let mut app = app();
    let floor = ClothCollider::cuboid(4.0, 0.2, 4.0).with_friction(5.0, 5.0);
    let lift = app.world_mut().spawn(floor).id();
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.15, 0.0));
    let mut settings = app.world_mut().get_mut::<Cloth>(cloth).unwrap();
    settings.fabric.static_friction = 5.0;
    app.add_systems(FixedUpdate, move |mut transforms: Query<&mut Transform>| {
        let mut transform = transforms.get_mut(lift).unwrap();
        // An oscillation, so that no two steps are the same.
        let swing = transform.translation.x - 0.3;
        transform.translation += Vec3::new(0.5 - swing, 0.25, swing) / 60.0;
        transform.rotate_y(0.01);
    });
    run(&mut app, 50);
    (app, cloth, lift)
}

#[test]
fn the_contact_with_a_moving_collider_repeats() {
    let (mut app, cloth, _) = on_a_lift();
    assert_repeats(&mut app, cloth, idle);
}

#[test]
fn without_the_last_pose_of_a_collider_the_motion_differs() {
    let (mut app, cloth, lift) = on_a_lift();
    let mut saved = save(&mut app, cloth);
    let pose = app.world().get::<LastPose>(lift).unwrap().unwrap();
    let position = app.world().get::<Transform>(lift).unwrap().translation;
    // The system of `on_a_lift` and that of the plugin run in any order within the step.
    assert!(Vec3::from(pose.translation).distance(position) < 0.02);
    let first = hashes(&mut app, cloth, idle);
    saved
        .entities
        .iter_mut()
        .for_each(|(.., pose)| *pose = None);
    load(&mut app, cloth, &saved);
    assert_ne!(hashes(&mut app, cloth, idle), first);
}

#[test]
fn the_last_pose_ends_with_the_collider() {
    let (mut app, _, lift) = on_a_lift();
    app.world_mut().entity_mut(lift).remove::<ClothCollider>();
    app.update();
    assert!(app.world().get::<LastPose>(lift).is_none());
    app.world_mut()
        .entity_mut(lift)
        .insert(ClothCollider::sphere(-1.0));
    app.update();
    assert_eq!(app.world().get::<LastPose>(lift), Some(&LastPose(None)));
    app.world_mut()
        .entity_mut(lift)
        .insert(ClothCollider::sphere(1.0));
    app.update();
    assert!(app.world().get::<LastPose>(lift).unwrap().is_some());
    // A clone has no last pose yet.
    let clone = app.world_mut().entity_mut(lift).clone_and_spawn();
    assert_eq!(app.world().get::<LastPose>(clone), Some(&LastPose(None)));
}

#[test]
fn motion_with_moving_pins_repeats() {
    let mut app = app();
    let anchor = app.world_mut().spawn(Transform::default()).id();
    let pins = Pins::corner(ClothCorner::TopLeft)
        .to_entity(anchor)
        .and(Pins::corner(ClothCorner::TopRight))
        .and(Pins::index(55).to_world());
    let cloth = spawn(&mut app, pins);
    let swing = move |mut transforms: Query<&mut Transform>| {
        for (entity, speed) in [(anchor, 0.3), (cloth, -0.2)] {
            let mut transform = transforms.get_mut(entity).unwrap();
            transform.translation.y += speed / 60.0;
            transform.rotate_x(speed / 20.0);
        }
    };
    app.add_systems(
        FixedUpdate,
        swing.before(bevy_drape::cloth::ClothSystems::Prepare),
    );
    run(&mut app, 50);
    assert_repeats(&mut app, cloth, idle);
}

#[test]
fn the_first_motion_after_building_or_reset_repeats() {
    for reset in [false, true] {
        let mut app = app();
        let parent = app.world_mut().spawn(Transform::default()).id();
        let cloth = upright(&mut app, ChildOf(parent));
        let move_parent = move |mut transforms: Query<&mut Transform>| {
            let mut parent = transforms.get_mut(parent).unwrap();
            parent.translation.x += 0.03;
        };
        app.add_systems(
            FixedUpdate,
            move_parent.before(bevy_drape::cloth::ClothSystems::Prepare),
        );
        run(&mut app, if reset { 20 } else { 1 });
        if reset {
            app.world_mut().trigger(ResetCloth { entity: cloth });
        }
        assert_repeats(&mut app, cloth, idle);
    }
}

#[test]
fn motion_repeats_after_a_reset_at_another_scale() {
    let mut app = app();
    let cloth = upright(&mut app, ());
    app.world_mut()
        .get_mut::<Cloth>(cloth)
        .unwrap()
        .self_collision = bevy_drape::cloth::SelfCollision::On;
    run(&mut app, 10);
    let mut saved = save(&mut app, cloth);
    let first = hashes(&mut app, cloth, idle);
    let set_scale = |app: &mut App, scale: f32| {
        app.world_mut().get_mut::<Transform>(cloth).unwrap().scale = Vec3::splat(scale);
    };
    for (storage, store) in storages() {
        set_scale(&mut app, 2.0);
        app.world_mut().trigger(ResetCloth { entity: cloth });
        run(&mut app, 5);
        set_scale(&mut app, 1.0);
        run(&mut app, 1);
        saved.cloth = store(&saved.cloth);
        load(&mut app, cloth, &saved);
        assert_eq!(take(&app, cloth), saved.cloth, "{storage}");
        assert_eq!(hashes(&mut app, cloth, idle), first, "{storage}");
    }
}

#[test]
fn grabs_repeat() {
    let mut app = app();
    let cloth = upright(&mut app, ());
    let [left, right] = [(); 2].map(|()| app.world_mut().spawn_empty().id());
    run(&mut app, 10);
    let [low, lower] = [200, 250].map(|i| particles(&app, cloth).world_position(i));
    command(&mut app, cloth, |cloth| {
        cloth.grab(left, low);
        cloth.trigger(|entity| bevy_drape::grab::GrabCloth {
            // Infinity has to survive too.
            force: f32::INFINITY,
            radius: 0.1,
            speed: 0.5,
            ..bevy_drape::grab::GrabCloth::new(entity, right, lower)
        });
        cloth.drag(right, lower + Vec3::new(0.5, 0.5, 1.0));
    });
    run(&mut app, 5);
    assert_repeats(&mut app, cloth, |app, cloth, step| {
        let by = app.world().get::<ClothGrabs>(cloth).unwrap()[0].by;
        let to = Vec3::new(0.1, 0.01 * step as f32, 0.3);
        command(app, cloth, |cloth| {
            cloth.drag(by, to);
            if step == 30 {
                cloth.release(by);
                // Grabs again, so that there is always a first grab.
                cloth.grab(by, Vec3::ZERO);
            }
        });
    });
    let grabs = app.world().get::<ClothGrabs>(cloth).unwrap();
    assert_eq!(grabs.len(), 2);
}

/// Spawns a sheet whose colours show from which vertices a new one was interpolated.
fn coloured(app: &mut App) -> Entity {
    let mut mesh = Mesh::from(ClothGrid::vertical(1.0, 1.0, 16, 16));
    let colours: Vec<_> = (0..256)
        .map(|i| [i as f32 / 256.0, 0.3, 0.0, 1.0])
        .collect();
    mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, colours);
    let mesh = add_mesh(app, mesh);
    let pins = Pins::edge(ClothEdge::Top);
    app.world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), pins))
        .id()
}

fn cut(app: &mut App, cloth: Entity, height: f32) {
    command(app, cloth, |cloth| {
        let ends = [-0.8, 0.3].map(|x| Vec3::new(x, height + x * 0.1, 0.0));
        cloth.cut_segment(ends[0], ends[1], Vec3::Z);
    });
}

#[test]
fn motion_of_cut_cloth_and_later_cuts_repeat() {
    let mut app = app();
    let cloth = coloured(&mut app);
    run(&mut app, 20);
    cut(&mut app, cloth, 0.2);
    run(&mut app, 5);
    assert_repeats(&mut app, cloth, |app, cloth, step| match step {
        10 => cut(app, cloth, -0.1),
        20 => command(app, cloth, |cloth| {
            cloth.shred(Vec3::new(0.3, 0.2, 0.0), 0.1);
        }),
        _ => {}
    });
}

#[test]
fn a_running_stroke_of_a_blade_repeats() {
    let mut app = app();
    let cloth = upright(&mut app, ());
    let sword = app.world_mut().spawn_empty().id();
    app.world_mut()
        .spawn(Name::new("sword"))
        .insert(Sword(sword));
    run(&mut app, 5);
    assert_repeats(&mut app, cloth, |app, cloth, step| {
        let sword = app
            .world_mut()
            .query::<&Sword>()
            .single(app.world())
            .unwrap()
            .0;
        let at = |step: u32| Vec3::new(-0.52 + step as f32 * 0.013, 0.02, 0.0);
        command(app, cloth, |cloth| {
            cloth.trigger(|entity| bevy_drape::tearing::CutCloth {
                entity,
                blade: bevy_drape::tearing::Blade::stroke(at(step), at(step + 1), Vec3::Z),
                by: Some(sword),
            });
        });
    });
}

#[derive(Component)]
struct Sword(Entity);

#[test]
fn tears_under_load_repeat_at_the_same_positions() {
    let mut app = app();
    let tearing = ClothTearing {
        resistance: bevy_drape::tearing::TearResistance::by(
            |at| if at.x > 0.0 { 1.0 } else { 0.5 },
        ),
        ..ClothTearing::at_load(30.0)
    };
    let cloth = upright(&mut app, tearing);
    let load = app.world_mut().spawn_empty().id();
    run(&mut app, 10);
    let low = particles(&app, cloth).world_position(250);
    command(&mut app, cloth, |cloth| {
        cloth.grab(load, low);
        cloth.drag(load, low - Vec3::Y * 2.0);
    });
    let whole = particles(&app, cloth).len();
    assert_repeats(&mut app, cloth, idle);
    assert!(particles(&app, cloth).len() > whole, "nothing tore");
}

#[test]
fn restoring_a_snapshot_from_before_a_cut_restores_the_intact_cloth() {
    let mut app = app();
    let cloth = coloured(&mut app);
    run(&mut app, 20);
    let before = rendered_mesh(&app, cloth);
    let saved = take(&app, cloth);
    cut(&mut app, cloth, 0.2);
    run(&mut app, 5);
    assert!(particles(&app, cloth).len() > 256);
    let opened = rendered_mesh(&app, cloth);
    let torn = take(&app, cloth);
    let restore = |app: &mut App, saved: &ClothSnapshot| {
        saved.restore(app.world_mut(), cloth).unwrap();
        app.world_mut().resource_mut::<ClothTime>().paused = true;
        // Renders between the same two steps.
        app.update();
        app.world_mut().resource_mut::<ClothTime>().paused = false;
    };
    let is_whole = |app: &App| {
        let now = rendered_mesh(app, cloth);
        now.1 == before.1 && now.0.iter().map(Vec::len).eq(before.0.iter().map(Vec::len))
    };
    restore(&mut app, &saved);
    assert!(is_whole(&app));
    // The later snapshot restores the cut.
    restore(&mut app, &torn);
    assert_eq!(rendered_mesh(&app, cloth).1, opened.1);
    let Some(VertexAttributeValues::Float32x4(colours)) =
        drawn(&app, cloth).attribute(Mesh::ATTRIBUTE_COLOR)
    else {
        panic!("no colours");
    };
    assert!(colours.len() > 256 && colours.iter().all(|colour| colour[1] == 0.3));
    // A reset still restores the intact cloth.
    app.world_mut().trigger(ResetCloth { entity: cloth });
    app.update();
    assert!(is_whole(&app));
    assert_eq!(particles(&app, cloth).len(), 256);
}

#[test]
fn motion_of_a_torn_rope_repeats_and_an_earlier_snapshot_restores_the_intact_rope() {
    let mut app = app();
    let rope = Rope::between(Vec3::ZERO, Vec3::X, 21);
    let rope = app.world_mut().spawn((rope, Pins::ends())).id();
    run(&mut app, 10);
    let whole = save(&mut app, rope);
    command(&mut app, rope, |rope| {
        rope.tear_edge(7, 8);
    });
    run(&mut app, 5);
    assert_repeats(&mut app, rope, |app, rope, step| {
        if step == 10 {
            command(app, rope, |rope| {
                rope.tear_edge(3, 4);
            });
        }
    });
    assert_eq!(particles(&app, rope).len(), 23);
    load(&mut app, rope, &whole);
    assert_eq!(particles(&app, rope).len(), 21);
    run(&mut app, 30);
    assert!(
        particles(&app, rope).world_position(10).y > -0.5,
        "the rope falls"
    );
}

#[test]
fn edited_constraints_are_restored() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::corners());
    run(&mut app, 10);
    let whole = take(&app, cloth);
    let mut constraints = app.world_mut().get_mut::<ClothConstraints>(cloth).unwrap();
    constraints
        .rest_lengths_mut()
        .for_each(|length| *length *= 1.1);
    constraints.retain(|constraint| constraint.ends() != [0, 1]);
    let edited = constraints.0.clone();
    assert_repeats(&mut app, cloth, idle);
    whole.restore(app.world_mut(), cloth).unwrap();
    let same = |app: &App, other: &bevy_drape::solver::ConstraintGraph| {
        let now = app.world().get::<ClothConstraints>(cloth).unwrap();
        now.iter().eq(other.iter())
    };
    assert!(!same(&app, &edited));
    // The removed constraint is restored.
    let constraints = app.world().get::<ClothConstraints>(cloth).unwrap();
    assert!(constraints.iter().any(|c| c.ends() == [0, 1]));
}

#[test]
fn a_mass_set_by_user_code_survives_a_restore_over_other_pins() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::corners());
    run(&mut app, 10);
    app.world_mut()
        .get_mut::<ClothParticles>(cloth)
        .unwrap()
        .inverse_mass[55] = 7.0;
    let saved = take(&app, cloth);
    app.world_mut().entity_mut(cloth).insert(Pins::index(3));
    run(&mut app, 2);
    assert_ne!(particles(&app, cloth).inverse_mass[55], 7.0);
    // The game restores the pins.
    app.world_mut().entity_mut(cloth).insert(Pins::corners());
    saved.restore(app.world_mut(), cloth).unwrap();
    run(&mut app, 2);
    assert_eq!(particles(&app, cloth).inverse_mass[55], 7.0);
}

#[test]
fn an_error_is_not_reported_again_after_a_restore() {
    let mut app = app();
    log::record(&mut app, 28_000);
    let cloth = spawn(&mut app, Pins::corners());
    let insert_nan = |app: &mut App| {
        let mut particles = app.world_mut().get_mut::<ClothParticles>(cloth).unwrap();
        particles.position.set(55, Vec3::NAN);
        run(app, 5);
    };
    run(&mut app, 5);
    insert_nan(&mut app);
    let saved = take(&app, cloth);
    run(&mut app, 100);
    saved.restore(app.world_mut(), cloth).unwrap();
    insert_nan(&mut app);
    assert_eq!(log::lines_about(cloth).len(), 1, "the same error");
}

#[test]
fn a_snapshot_can_be_restored_on_another_entity_with_the_same_mesh() {
    for torn in [false, true] {
        let mut app = app();
        let mesh = add_mesh(&mut app, ClothGrid::vertical(1.0, 1.0, 16, 16));
        let mut spawn = |transform| {
            let bundle = (
                Cloth::default(),
                Mesh3d(mesh.clone()),
                Pins::top_corners(),
                transform,
            );
            app.world_mut().spawn(bundle).id()
        };
        let transform = Transform::from_xyz(0.3, 1.0, 0.0).with_scale(Vec3::splat(1.5));
        let other_transform =
            Transform::from_rotation(Quat::from_euler(EulerRot::XYZ, 0.7, 0.2, 1.0));
        let (one, other) = (spawn(transform), spawn(other_transform));
        run(&mut app, 20);
        if torn {
            cut(&mut app, one, 1.1);
        } else {
            cut(&mut app, other, 0.0);
        }
        run(&mut app, 5);
        let saved = take(&app, one);
        saved.restore(app.world_mut(), other).unwrap();
        *app.world_mut().get_mut::<Transform>(other).unwrap() = transform;
        run(&mut app, 30);
        assert_eq!(
            particles(&app, one).state_hash(),
            particles(&app, other).state_hash()
        );
        assert!(rendered_mesh(&app, one) == rendered_mesh(&app, other));
        let positions = float3(drawn(&app, one), Mesh::ATTRIBUTE_POSITION);
        assert_eq!(positions.len() > 256, torn);
    }
}

#[test]
fn a_snapshot_that_cannot_be_restored_is_reported_and_changes_nothing() {
    let mut app = app();
    log::record(&mut app, 27_000);
    let cloth = spawn(&mut app, Pins::corners());
    let same_count = add_mesh(&mut app, ClothGrid::new(1.0, 1.001, 10, 10));
    let other = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(same_count)))
        .id();
    let mut without_tangents = Mesh::from(sheet());
    without_tangents.remove_attribute(Mesh::ATTRIBUTE_TANGENT);
    let without_tangents = add_mesh(&mut app, without_tangents);
    let plain = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(without_tangents)))
        .id();
    let rope = Rope::between(Vec3::ZERO, Vec3::X, 100);
    let rope = app.world_mut().spawn(rope).id();
    let nothing = app.world_mut().spawn_empty().id();
    assert!(
        ClothSnapshot::take(app.world(), cloth).is_none(),
        "snapshot before the build"
    );
    run(&mut app, 20);
    let saved = take(&app, cloth);
    for wrong in [other, rope, plain] {
        let before = take(&app, wrong);
        let error = saved.restore(app.world_mut(), wrong).unwrap_err();
        assert_eq!(error, SnapshotError::OtherMesh(wrong));
        assert!(error.to_string().contains(&wrong.to_string()));
        assert_eq!(take(&app, wrong), before);
    }
    app.world_mut().despawn(other);
    for entity in [nothing, other] {
        assert!(ClothSnapshot::take(app.world(), entity).is_none());
        let error = saved.restore(app.world_mut(), entity).unwrap_err();
        assert_eq!(error, SnapshotError::NoCloth(entity));
    }
    // The command logs the error.
    command(&mut app, rope, |rope| {
        rope.restore_cloth(saved.clone());
    });
    let log = log::lines_about(rope);
    assert!(
        log.len() == 1 && log[0].starts_with("ERROR") && log[0].contains("another mesh"),
        "{log:?}"
    );
    run(&mut app, 5);
    command(&mut app, cloth, |cloth| {
        cloth.restore_cloth(saved.clone());
    });
    assert_eq!(take(&app, cloth), saved);
}

/// Number of cloth steps so far.
#[derive(Resource, Default)]
struct StepCount(u32);

#[test]
fn motion_repeats_between_fixed_steps_and_in_slow_motion() {
    let mut app = app();
    app.init_resource::<StepCount>();
    app.add_systems(
        FixedPostUpdate,
        (|mut count: ResMut<StepCount>| count.0 += 1).run_if(bevy_drape::time::cloth_step_due),
    );
    // 3.5 frames per fixed step.
    let frame = std::time::Duration::from_secs_f64(1.0 / 210.0);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    app.world_mut().resource_mut::<ClothTime>().speed = 0.4;
    let cloth = spawn(&mut app, Pins::corner(ClothCorner::TopLeft));
    run(&mut app, 100);
    let steps = |app: &mut App| {
        let mut hashes = Vec::new();
        while hashes.len() < 10 {
            let before = app.world().resource::<StepCount>().0;
            app.update();
            if app.world().resource::<StepCount>().0 > before {
                hashes.push(particles(app, cloth).state_hash());
            }
        }
        hashes
    };
    for _ in 0..5 {
        app.update();
        let saved = save(&mut app, cloth);
        let first = steps(&mut app);
        run(&mut app, 2);
        load(&mut app, cloth, &saved);
        assert_eq!(steps(&mut app), first);
    }
}

#[test]
fn a_snapshot_gives_access_to_its_particles_and_hash() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::corners());
    run(&mut app, 10);
    let saved = take(&app, cloth);
    let now: &ClothParticles = particles(&app, cloth);
    assert_eq!(*saved.particles(), now.0);
    assert_eq!(saved.state_hash(), now.state_hash());
    app.update();
    assert_ne!(saved.state_hash(), particles(&app, cloth).state_hash());
}
