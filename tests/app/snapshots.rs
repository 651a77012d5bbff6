//! Rollback: a cloth that is put back goes the same way again, to the last bit.

use crate::{add_mesh, app, command, drawn, float3, log, particles, run, sheet, spawn};
use bevy::{mesh::VertexAttributeValues, prelude::*, time::TimeUpdateStrategy};
use bevy_drape::{
    ClothClock, ClothGrabs, ClothSnapshot, Constraints, LastPose, Particles, SnapshotError,
    Tearing, WindTime, prelude::*,
};

#[cfg(feature = "serialize")]
mod files;

/// What a game saves: the cloth, and what it can save by itself.
struct Saved {
    cloth: ClothSnapshot,
    wind: WindTime,
    clock: ClothClock,
    things: Vec<(Entity, Transform, Option<LastPose>)>,
}

fn take(app: &App, cloth: Entity) -> ClothSnapshot {
    ClothSnapshot::take(app.world(), cloth).expect("it is built")
}

fn save(app: &mut App, cloth: Entity) -> Saved {
    let world = app.world_mut();
    let mut things = world.query::<(Entity, &Transform, Option<&LastPose>)>();
    Saved {
        things: things
            .iter(world)
            .map(|(entity, transform, pose)| (entity, *transform, pose.copied()))
            .collect(),
        wind: *world.resource::<WindTime>(),
        clock: world.resource::<ClothClock>().clone(),
        cloth: take(app, cloth),
    }
}

fn load(app: &mut App, cloth: Entity, saved: &Saved) {
    let world = app.world_mut();
    for (entity, transform, pose) in &saved.things {
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

/// The ways in which a snapshot can be kept.
fn ways() -> Vec<(&'static str, fn(&ClothSnapshot) -> ClothSnapshot)> {
    vec![
        ("in memory", ClothSnapshot::clone),
        #[cfg(feature = "serialize")]
        ("as JSON", files::through_json),
    ]
}

/// What can be seen of a cloth: every attribute and index of its mesh.
fn picture(app: &App, cloth: Entity) -> (Vec<Vec<u8>>, Vec<usize>) {
    let mesh = drawn(app, cloth);
    let attributes = mesh.attributes();
    let bytes = attributes.map(|(_, values)| values.get_bytes().to_vec());
    (bytes.collect(), mesh.indices().unwrap().iter().collect())
}

const STEPS: u32 = 40;

/// The state after each of some steps, with a game that does something before each of them.
fn hashes(app: &mut App, cloth: Entity, game: fn(&mut App, Entity, u32)) -> Vec<u64> {
    let step = |number| {
        game(app, cloth, number);
        app.update();
        particles(app, cloth).state_hash()
    };
    (0..STEPS).map(step).collect()
}

/// Runs on, goes back, and runs on again, for each way to keep a snapshot.
fn goes_the_same_way_again(app: &mut App, cloth: Entity, game: fn(&mut App, Entity, u32)) {
    let mut saved = save(app, cloth);
    let first = hashes(app, cloth, game);
    let seen = picture(app, cloth);
    for pair in first.windows(2) {
        assert_ne!(pair[0], pair[1], "it moves in each step");
    }
    for (way, keep) in ways() {
        saved.cloth = keep(&saved.cloth);
        load(app, cloth, &saved);
        assert_eq!(take(app, cloth), saved.cloth, "{way}");
        assert_eq!(hashes(app, cloth, game), first, "{way}");
        assert!(picture(app, cloth) == seen, "{way}: another picture");
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
fn wind_in_gusts_blows_the_same_way_again() {
    let mut app = app();
    app.insert_resource(Wind {
        velocity: Vec3::new(1.0, 0.5, 4.0),
        gusts: 0.8,
        ..default()
    });
    let cloth = spawn(&mut app, Pins::top_corners());
    run(&mut app, 50);
    goes_the_same_way_again(&mut app, cloth, idle);
}

#[test]
fn settings_that_glide_glide_again() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::top_corners());
    run(&mut app, 50);
    let mut settings = app.world_mut().get_mut::<Cloth>(cloth).unwrap();
    settings.iterations = 10;
    settings.fabric.thickness = 0.2;
    settings.fabric.areal_density = 0.01;
    settings.fabric.bending_stiffness = 1e-3;
    run(&mut app, 3);
    goes_the_same_way_again(&mut app, cloth, idle);
}

/// A lift under a cloth, which it takes along and up.
fn on_a_lift() -> (App, Entity, Entity) {
    let mut app = app();
    let floor = ClothCollider::cuboid(4.0, 0.2, 4.0).with_friction(5.0, 5.0);
    let lift = app.world_mut().spawn(floor).id();
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.15, 0.0));
    let mut settings = app.world_mut().get_mut::<Cloth>(cloth).unwrap();
    settings.fabric.static_friction = 5.0;
    app.add_systems(FixedUpdate, move |mut transforms: Query<&mut Transform>| {
        let mut transform = transforms.get_mut(lift).unwrap();
        // It swings, so that each step is another one.
        let swing = transform.translation.x - 0.3;
        transform.translation += Vec3::new(0.5 - swing, 0.25, swing) / 60.0;
        transform.rotate_y(0.01);
    });
    run(&mut app, 50);
    (app, cloth, lift)
}

#[test]
fn a_moving_collider_moves_the_same_way_again() {
    let (mut app, cloth, _) = on_a_lift();
    goes_the_same_way_again(&mut app, cloth, idle);
}

#[test]
fn without_its_last_pose_a_collider_would_move_another_way() {
    let (mut app, cloth, lift) = on_a_lift();
    let mut saved = save(&mut app, cloth);
    let pose = app.world().get::<LastPose>(lift).unwrap().unwrap();
    let place = app.world().get::<Transform>(lift).unwrap().translation;
    // The system above and that of the plugin come in any order within the step.
    assert!(Vec3::from(pose.translation).distance(place) < 0.02);
    let first = hashes(&mut app, cloth, idle);
    saved.things.iter_mut().for_each(|(.., pose)| *pose = None);
    load(&mut app, cloth, &saved);
    assert_ne!(hashes(&mut app, cloth, idle), first);
}

#[test]
fn a_collider_forgets_its_last_pose_when_it_is_none_any_more() {
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
    // A copy has been nowhere yet.
    let copy = app.world_mut().entity_mut(lift).clone_and_spawn();
    assert_eq!(app.world().get::<LastPose>(copy), Some(&LastPose(None)));
}

#[test]
fn pins_that_move_are_followed_again() {
    let mut app = app();
    let hand = app.world_mut().spawn(Transform::default()).id();
    let pins = Pins::corner(ClothCorner::TopLeft)
        .to_entity(hand)
        .and(Pins::corner(ClothCorner::TopRight))
        .and(Pins::index(55).to_world());
    let cloth = spawn(&mut app, pins);
    let swing = move |mut transforms: Query<&mut Transform>| {
        for (entity, speed) in [(hand, 0.3), (cloth, -0.2)] {
            let mut transform = transforms.get_mut(entity).unwrap();
            transform.translation.y += speed / 60.0;
            transform.rotate_x(speed / 20.0);
        }
    };
    app.add_systems(FixedUpdate, swing.before(bevy_drape::ClothSystems::Prepare));
    run(&mut app, 50);
    goes_the_same_way_again(&mut app, cloth, idle);
}

#[test]
fn what_has_not_moved_yet_begins_the_same_way_again() {
    for reset in [false, true] {
        let mut app = app();
        let wearer = app.world_mut().spawn(Transform::default()).id();
        let cloth = upright(&mut app, ChildOf(wearer));
        let go = move |mut transforms: Query<&mut Transform>| {
            let mut wearer = transforms.get_mut(wearer).unwrap();
            wearer.translation.x += 0.03;
        };
        app.add_systems(FixedUpdate, go.before(bevy_drape::ClothSystems::Prepare));
        run(&mut app, if reset { 20 } else { 1 });
        if reset {
            app.world_mut().trigger(ResetCloth { entity: cloth });
        }
        goes_the_same_way_again(&mut app, cloth, idle);
    }
}

#[test]
fn hands_hold_again_what_they_held() {
    let mut app = app();
    let cloth = upright(&mut app, ());
    let [left, right] = [(); 2].map(|()| app.world_mut().spawn_empty().id());
    run(&mut app, 10);
    let [low, lower] = [200, 250].map(|i| particles(&app, cloth).world_position(i));
    command(&mut app, cloth, |cloth| {
        cloth.grab(left, low);
        cloth.trigger(|entity| bevy_drape::GrabCloth {
            // As strong as can be: infinity has to survive too.
            force: f32::INFINITY,
            radius: 0.1,
            speed: 0.5,
            ..bevy_drape::GrabCloth::new(entity, right, lower)
        });
        cloth.drag(right, lower + Vec3::new(0.5, 0.5, 1.0));
    });
    run(&mut app, 5);
    goes_the_same_way_again(&mut app, cloth, |app, cloth, step| {
        let by = app.world().get::<ClothGrabs>(cloth).unwrap()[0].by;
        let to = Vec3::new(0.1, 0.01 * step as f32, 0.3);
        command(app, cloth, |cloth| {
            cloth.drag(by, to);
            if step == 30 {
                cloth.release(by);
                // It holds on to the other one, so that there is always a first.
                cloth.grab(by, Vec3::ZERO);
            }
        });
    });
    let held = app.world().get::<ClothGrabs>(cloth).unwrap();
    assert_eq!(held.len(), 2);
}

/// Colours that mixtures of vertices can be told by.
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
fn torn_cloth_and_what_is_cut_later_comes_out_the_same() {
    let mut app = app();
    let cloth = coloured(&mut app);
    run(&mut app, 20);
    cut(&mut app, cloth, 0.2);
    run(&mut app, 5);
    goes_the_same_way_again(&mut app, cloth, |app, cloth, step| match step {
        10 => cut(app, cloth, -0.1),
        20 => command(app, cloth, |cloth| {
            cloth.shred(Vec3::new(0.3, 0.2, 0.0), 0.1);
        }),
        _ => {}
    });
}

#[test]
fn a_stroke_goes_on_where_it_was() {
    let mut app = app();
    let cloth = upright(&mut app, ());
    let sword = app.world_mut().spawn_empty().id();
    app.world_mut()
        .spawn(Name::new("sword"))
        .insert(Sword(sword));
    run(&mut app, 5);
    goes_the_same_way_again(&mut app, cloth, |app, cloth, step| {
        let sword = app
            .world_mut()
            .query::<&Sword>()
            .single(app.world())
            .unwrap()
            .0;
        let at = |step: u32| Vec3::new(-0.52 + step as f32 * 0.013, 0.02, 0.0);
        command(app, cloth, |cloth| {
            cloth.trigger(|entity| bevy_drape::CutCloth {
                entity,
                blade: bevy_drape::Blade::stroke(at(step), at(step + 1), Vec3::Z),
                by: Some(sword),
            });
        });
    });
}

#[derive(Component)]
struct Sword(Entity);

#[test]
fn what_tears_under_load_tears_again_in_the_same_places() {
    let mut app = app();
    let tearing = Tearing {
        resistance: bevy_drape::TearResistance::by(|at| if at.x > 0.0 { 1.0 } else { 0.5 }),
        ..Tearing::at_load(30.0)
    };
    let cloth = upright(&mut app, tearing);
    let heavy = app.world_mut().spawn_empty().id();
    run(&mut app, 10);
    let low = particles(&app, cloth).world_position(250);
    command(&mut app, cloth, |cloth| {
        cloth.grab(heavy, low);
        cloth.drag(heavy, low - Vec3::Y * 2.0);
    });
    let whole = particles(&app, cloth).len();
    goes_the_same_way_again(&mut app, cloth, idle);
    assert!(particles(&app, cloth).len() > whole, "it tore on the way");
}

#[test]
fn a_cloth_that_was_cut_since_is_whole_again() {
    let mut app = app();
    let cloth = coloured(&mut app);
    run(&mut app, 20);
    let before = picture(&app, cloth);
    let saved = take(&app, cloth);
    cut(&mut app, cloth, 0.2);
    run(&mut app, 5);
    assert!(particles(&app, cloth).len() > 256);
    let opened = picture(&app, cloth);
    let torn = take(&app, cloth);
    let restore = |app: &mut App, saved: &ClothSnapshot| {
        saved.restore(app.world_mut(), cloth).unwrap();
        app.world_mut().resource_mut::<ClothTime>().paused = true;
        // The picture between the same two steps.
        app.update();
        app.world_mut().resource_mut::<ClothTime>().paused = false;
    };
    let is_whole = |app: &App| {
        let now = picture(app, cloth);
        now.1 == before.1 && now.0.iter().map(Vec::len).eq(before.0.iter().map(Vec::len))
    };
    restore(&mut app, &saved);
    assert!(is_whole(&app));
    // And back into the future.
    restore(&mut app, &torn);
    assert_eq!(picture(&app, cloth).1, opened.1);
    let Some(VertexAttributeValues::Float32x4(colours)) =
        drawn(&app, cloth).attribute(Mesh::ATTRIBUTE_COLOR)
    else {
        panic!("no colours");
    };
    assert!(colours.len() > 256 && colours.iter().all(|colour| colour[1] == 0.3));
    // It can still be mended.
    app.world_mut().trigger(ResetCloth { entity: cloth });
    app.update();
    assert!(is_whole(&app));
    assert_eq!(particles(&app, cloth).len(), 256);
}

#[test]
fn a_rope_that_was_parted_comes_out_the_same_and_becomes_whole_again() {
    let mut app = app();
    let rope = Rope::between(Vec3::ZERO, Vec3::X, 21);
    let rope = app.world_mut().spawn((rope, Pins::ends())).id();
    run(&mut app, 10);
    let whole = save(&mut app, rope);
    command(&mut app, rope, |rope| {
        rope.tear_edge(7, 8);
    });
    run(&mut app, 5);
    goes_the_same_way_again(&mut app, rope, |app, rope, step| {
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
        "it holds"
    );
}

#[test]
fn edited_constraints_are_restored() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::corners());
    run(&mut app, 10);
    let whole = take(&app, cloth);
    let mut constraints = app.world_mut().get_mut::<Constraints>(cloth).unwrap();
    constraints
        .rest_lengths_mut()
        .for_each(|length| *length *= 1.1);
    constraints.retain(|constraint| constraint.particles != [0, 1]);
    let edited = constraints.0.clone();
    goes_the_same_way_again(&mut app, cloth, idle);
    whole.restore(app.world_mut(), cloth).unwrap();
    let same = |app: &App, other: &bevy_drape::solver::ConstraintGraph| {
        let now = app.world().get::<Constraints>(cloth).unwrap();
        now.iter().eq(other.iter())
    };
    assert!(!same(&app, &edited));
    // What was edited away is there again.
    let constraints = app.world().get::<Constraints>(cloth).unwrap();
    assert!(constraints.iter().any(|c| c.particles == [0, 1]));
}

#[test]
fn a_mass_that_was_written_outlives_pins_that_came_and_went() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::corners());
    run(&mut app, 10);
    app.world_mut()
        .get_mut::<Particles>(cloth)
        .unwrap()
        .inverse_mass[55] = 7.0;
    let saved = take(&app, cloth);
    app.world_mut().entity_mut(cloth).insert(Pins::index(3));
    run(&mut app, 2);
    assert_ne!(particles(&app, cloth).inverse_mass[55], 7.0);
    // The pins are put back by the game.
    app.world_mut().entity_mut(cloth).insert(Pins::corners());
    saved.restore(app.world_mut(), cloth).unwrap();
    run(&mut app, 2);
    assert_eq!(particles(&app, cloth).inverse_mass[55], 7.0);
}

#[test]
fn what_was_reported_is_not_reported_again() {
    let mut app = app();
    log::record(&mut app, 28_000);
    let cloth = spawn(&mut app, Pins::corners());
    let poison = |app: &mut App| {
        let mut particles = app.world_mut().get_mut::<Particles>(cloth).unwrap();
        particles.position.set(55, Vec3::NAN);
        run(app, 5);
    };
    run(&mut app, 5);
    poison(&mut app);
    let saved = take(&app, cloth);
    run(&mut app, 100);
    saved.restore(app.world_mut(), cloth).unwrap();
    poison(&mut app);
    assert_eq!(log::lines_about(cloth).len(), 1, "it is the same trouble");
}

#[test]
fn another_entity_of_the_same_mesh_goes_the_same_way() {
    for torn in [false, true] {
        let mut app = app();
        let mesh = add_mesh(&mut app, ClothGrid::vertical(1.0, 1.0, 16, 16));
        let mut spawn = |place| {
            let bundle = (
                Cloth::default(),
                Mesh3d(mesh.clone()),
                Pins::top_corners(),
                place,
            );
            app.world_mut().spawn(bundle).id()
        };
        let place = Transform::from_xyz(0.3, 1.0, 0.0).with_scale(Vec3::splat(1.5));
        let other_place = Transform::from_rotation(Quat::from_euler(EulerRot::XYZ, 0.7, 0.2, 1.0));
        let (one, other) = (spawn(place), spawn(other_place));
        run(&mut app, 20);
        if torn {
            cut(&mut app, one, 1.1);
        } else {
            cut(&mut app, other, 0.0);
        }
        run(&mut app, 5);
        let saved = take(&app, one);
        saved.restore(app.world_mut(), other).unwrap();
        *app.world_mut().get_mut::<Transform>(other).unwrap() = place;
        run(&mut app, 30);
        assert_eq!(
            particles(&app, one).state_hash(),
            particles(&app, other).state_hash()
        );
        assert!(picture(&app, one) == picture(&app, other));
        let places = float3(drawn(&app, one), Mesh::ATTRIBUTE_POSITION);
        assert_eq!(places.len() > 256, torn);
    }
}

#[test]
fn what_cannot_be_restored_says_so_and_changes_nothing() {
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
        "not built"
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
    for none in [nothing, other] {
        assert!(ClothSnapshot::take(app.world(), none).is_none());
        let error = saved.restore(app.world_mut(), none).unwrap_err();
        assert_eq!(error, SnapshotError::NoCloth(none));
    }
    // As a command it is told in the log.
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

/// How many steps were taken.
#[derive(Resource, Default)]
struct Taken(u32);

#[test]
fn between_two_fixed_steps_and_in_slow_motion_it_is_the_same() {
    let mut app = app();
    app.init_resource::<Taken>();
    app.add_systems(
        FixedPostUpdate,
        (|mut taken: ResMut<Taken>| taken.0 += 1).run_if(bevy_drape::cloth_step_due),
    );
    // Three frames and a half in a fixed step.
    let frame = std::time::Duration::from_secs_f64(1.0 / 210.0);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    app.world_mut().resource_mut::<ClothTime>().speed = 0.4;
    let cloth = spawn(&mut app, Pins::corner(ClothCorner::TopLeft));
    run(&mut app, 100);
    let steps = |app: &mut App| {
        let mut hashes = Vec::new();
        while hashes.len() < 10 {
            let before = app.world().resource::<Taken>().0;
            app.update();
            if app.world().resource::<Taken>().0 > before {
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
fn a_snapshot_knows_what_it_is_of() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::corners());
    run(&mut app, 10);
    let saved = take(&app, cloth);
    let now: &Particles = particles(&app, cloth);
    assert_eq!(*saved.particles(), now.0);
    assert_eq!(saved.state_hash(), now.state_hash());
    app.update();
    assert_ne!(saved.state_hash(), particles(&app, cloth).state_hash());
}
