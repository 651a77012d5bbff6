//! Cloth at rest sleeps, and wakes when something may move it.

use crate::{add_mesh, app, command, drawn, particles, run, sheet, spawn};
use bevy::prelude::*;
use bevy_drape::{
    ClothDiagnosticsPlugin, ClothSleeping, ClothSnapshot, ClothStats, ClothSubstep, ClothSystems,
    ClothThreads, Constraints, Particles, TIME_TO_SLEEP, Tearing, WindTime, prelude::*,
};

fn sleeps(app: &App, cloth: Entity) -> bool {
    app.world().get::<ClothSleeping>(cloth).is_some()
}

/// Runs until a cloth sleeps. Returns the number of steps.
#[track_caller]
fn fall_asleep(app: &mut App, cloth: Entity) -> u32 {
    for step in 0..1500 {
        if sleeps(app, cloth) {
            return step;
        }
        app.update();
    }
    panic!("it does not fall asleep");
}

/// What is around the cloth of these tests.
struct Set {
    cloth: Entity,
    floor: Entity,
    /// What a pin hangs on.
    hook: Entity,
    /// A ball that touches the cloth.
    near: Entity,
    /// A ball, a fan, and something without meaning for it, all far away.
    far: Entity,
    fan: Entity,
}

/// A sheet that lies on a floor, over a ball, held by a hook and by its own transform, asleep.
fn asleep(app: &mut App) -> Set {
    let world = app.world_mut();
    let floor = world
        .spawn((
            ClothCollider::half_space(),
            Transform::from_xyz(0.0, -0.05, 0.0),
        ))
        .id();
    let ball = ClothCollider::sphere(0.3);
    let near = world
        .spawn((ball, Transform::from_xyz(0.1, -0.28, 0.1)))
        .id();
    let far = world.spawn((ball, Transform::from_xyz(1.6, 0.0, 0.0))).id();
    let hook = world.spawn(Transform::from_xyz(-0.5, 0.0, -0.5)).id();
    let fan = WindZone::sphere(1.0).with_strength(3.0);
    let fan = world.spawn((fan, Transform::from_xyz(0.0, 0.0, 5.0))).id();
    let pins = Pins::index(0).to_entity(hook).and(Pins::index(99));
    let cloth = spawn(app, pins);
    // It is to come to rest soon.
    of::<Cloth>(app, cloth).damping = 20.0;
    let steps = fall_asleep(app, cloth);
    assert!(steps as f32 / 60.0 >= TIME_TO_SLEEP, "after {steps} steps");
    Set {
        cloth,
        floor,
        hook,
        near,
        far,
        fan,
    }
}

fn place(app: &mut App, entity: Entity) -> Mut<'_, Transform> {
    app.world_mut().get_mut::<Transform>(entity).unwrap()
}

fn of<T: Component<Mutability = bevy::ecs::component::Mutable>>(
    app: &mut App,
    entity: Entity,
) -> Mut<'_, T> {
    app.world_mut().get_mut::<T>(entity).unwrap()
}

fn set<T: Resource<Mutability = bevy::ecs::component::Mutable>>(app: &mut App) -> Mut<'_, T> {
    app.world_mut().resource_mut::<T>()
}

type Change = fn(&mut App, &Set);

#[test]
fn everything_that_may_move_it_wakes_it() {
    let changes: &[(&str, Change)] = &[
        ("fabric", |app, s| {
            of::<Cloth>(app, s.cloth).fabric.areal_density = 0.3;
        }),
        ("iterations", |app, s| {
            of::<Cloth>(app, s.cloth).iterations = 2
        }),
        ("sleep speed", |app, s| {
            of::<Cloth>(app, s.cloth).sleep_speed = 0.0;
        }),
        ("pins", |app, s| {
            of::<Pins>(app, s.cloth).pins.pop();
        }),
        ("no pins", |app, s| {
            app.world_mut().entity_mut(s.cloth).remove::<Pins>();
        }),
        ("hook", |app, s| place(app, s.hook).translation.y += 0.001),
        ("hook gone", |app, s| {
            app.world_mut().despawn(s.hook);
        }),
        ("own transform", |app, s| {
            place(app, s.cloth).translation.y += 0.001;
        }),
        ("plane", |app, s| {
            app.world_mut()
                .entity_mut(s.cloth)
                .insert(PlanarCloth::default());
        }),
        ("tearing", |app, s| {
            let tearing = Tearing::at_strain(0.5);
            app.world_mut().entity_mut(s.cloth).insert(tearing);
        }),
        ("pressure", |app, s| {
            let pressure = Pressure::default();
            app.world_mut().entity_mut(s.cloth).insert(pressure);
        }),
        ("layers", |app, s| {
            let layers = ClothLayers::on(0);
            app.world_mut().entity_mut(s.cloth).insert(layers);
        }),
        ("layers of the floor", |app, s| {
            let layers = ClothLayers::on(0);
            app.world_mut().entity_mut(s.floor).insert(layers);
        }),
        ("particles", |app, s| {
            let place = particles(app, s.cloth).world_position(45);
            of::<Particles>(app, s.cloth).set_world_position(45, place);
        }),
        ("constraints", |app, s| {
            of::<Constraints>(app, s.cloth).set_changed();
        }),
        ("hand", |app, s| {
            let (hand, at) = (s.far, particles(app, s.cloth).world_position(45));
            command(app, s.cloth, |cloth| {
                cloth.grab(hand, at);
            });
        }),
        ("cut", |app, s| {
            let at = particles(app, s.cloth).world_position(45);
            command(app, s.cloth, |cloth| {
                cloth.cut_segment(at - Vec3::X, at + Vec3::X, Vec3::Y);
            });
        }),
        ("reset", |app, s| {
            app.world_mut().trigger(ResetCloth { entity: s.cloth });
        }),
        ("marker", |app, s| {
            app.world_mut()
                .entity_mut(s.cloth)
                .remove::<ClothSleeping>();
        }),
        ("gravity", |app, _| set::<ClothGravity>(app).x = 0.1),
        ("wind", |app, _| set::<Wind>(app).velocity.x = 0.1),
        ("air", |app, _| set::<Wind>(app).air_density = 0.1),
        ("turbulence", |app, _| set::<Turbulence>(app).strength = 0.1),
        ("substeps", |app, _| set::<Substeps>(app).0 = 9),
        ("length of a step", |app, _| {
            app.insert_resource(Time::<Fixed>::from_hz(50.0));
        }),
        ("floor", |app, s| place(app, s.floor).translation.y -= 0.001),
        ("floor turns", |app, s| {
            place(app, s.floor).rotate_y(0.01);
        }),
        ("floor gone", |app, s| {
            app.world_mut().despawn(s.floor);
        }),
        ("ball moves", |app, s| {
            place(app, s.near).translation.x += 0.001
        }),
        ("ball grows", |app, s| place(app, s.near).scale *= 1.01),
        ("shape", |app, s| {
            *of::<ClothCollider>(app, s.near) = ClothCollider::cuboid(0.1, 0.1, 0.1);
        }),
        ("friction", |app, s| {
            of::<ClothCollider>(app, s.near).kinetic_friction = 0.0;
        }),
        ("hollow", |app, s| {
            of::<ClothCollider>(app, s.far).hollow = true
        }),
        ("ball comes", |app, s| place(app, s.far).translation.x = 0.7),
        ("ball passes through", |app, s| {
            // By 3.1 m in one step, which is just no teleport.
            place(app, s.far).translation.x = -1.5;
        }),
        ("ball leaves", |app, s| {
            place(app, s.near).translation.y = -5.0
        }),
        ("new ball", |app, _| {
            let ball = ClothCollider::sphere(0.1);
            app.world_mut()
                .spawn((ball, Transform::from_xyz(-0.3, 0.0, 0.0)));
        }),
        ("fan", |app, s| place(app, s.fan).translation.z = 1.0),
        ("wind everywhere", |app, _| {
            app.world_mut().spawn(WindZone::default());
        }),
    ];
    let mut slept_on = Vec::new();
    for (what, change) in changes {
        let mut app = app();
        let set = asleep(&mut app);
        run(&mut app, 10);
        assert!(sleeps(&app, set.cloth), "before: {what}");
        change(&mut app, &set);
        app.update();
        if sleeps(&app, set.cloth) {
            slept_on.push(what);
        }
    }
    assert_eq!(slept_on, [] as [&&str; 0]);
}

#[test]
fn what_changes_nothing_does_not_wake_it() {
    let changes: &[(&str, Change)] = &[
        ("nothing", |_, _| {}),
        ("the same cloth", |app, s| {
            of::<Cloth>(app, s.cloth).set_changed()
        }),
        ("the same pins", |app, s| {
            of::<Pins>(app, s.cloth).set_changed()
        }),
        ("the same transforms", |app, s| {
            for entity in [s.cloth, s.floor, s.hook, s.near, s.far, s.fan] {
                let same = *place(app, entity);
                app.world_mut().entity_mut(entity).insert(same);
            }
        }),
        ("the same collider", |app, s| {
            of::<ClothCollider>(app, s.near).set_changed();
        }),
        ("a ball far away", |app, s| {
            place(app, s.far).translation.y += 0.1
        }),
        ("a fan far away", |app, s| {
            place(app, s.fan).translation.y += 0.1
        }),
        ("threads", |app, _| {
            app.insert_resource(ClothThreads(1));
        }),
        ("a cut beside it", |app, s| {
            let at = Vec3::Y * 3.0;
            command(app, s.cloth, |cloth| {
                cloth.cut_segment(at - Vec3::X, at + Vec3::X, Vec3::Z);
            });
        }),
        ("another cloth", |app, _| {
            spawn(app, Transform::from_xyz(0.0, 3.0, 0.0));
        }),
    ];
    let mut app = app();
    let set = asleep(&mut app);
    for (what, change) in changes {
        for _ in 0..5 {
            change(&mut app, &set);
            app.update();
            assert!(sleeps(&app, set.cloth), "{what}");
        }
    }
}

#[test]
fn asleep_it_keeps_every_bit_of_itself_and_of_its_mesh() {
    let mut app = app();
    let Set { cloth, .. } = asleep(&mut app);
    let at_rest = particles(&app, cloth).clone();
    assert!(
        (0..100).all(|i| at_rest.velocity(i) == Vec3::ZERO),
        "nothing creeps"
    );
    let bytes = |app: &App| -> Vec<Vec<u8>> {
        let attributes = drawn(app, cloth).attributes();
        attributes
            .map(|(_, values)| values.get_bytes().to_vec())
            .collect()
    };
    let mesh = app.world().get::<Mesh3d>(cloth).unwrap().id();
    app.update();
    let picture = bytes(&app);
    let mut written = app
        .world()
        .resource::<Messages<AssetEvent<Mesh>>>()
        .get_cursor_current();
    run(&mut app, 300);
    assert!(sleeps(&app, cloth));
    assert_eq!(particles(&app, cloth).0, at_rest.0);
    assert_eq!(bytes(&app), picture);
    let events = app.world().resource::<Messages<AssetEvent<Mesh>>>();
    assert!(!written.read(events).any(|event| event.is_modified(mesh)));
}

#[test]
fn its_mesh_goes_with_its_entity_in_its_sleep() {
    let mut app = app();
    // Nothing holds it, so its transform does not move it.
    let cloth = spawn(&mut app, ());
    set::<ClothGravity>(&mut app).0 = Vec3::ZERO;
    fall_asleep(&mut app, cloth);
    run(&mut app, 3);
    let before = crate::float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION);
    place(&mut app, cloth).translation.x += 1.0;
    run(&mut app, 3);
    assert!(sleeps(&app, cloth));
    let after = crate::float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION);
    for (before, after) in before.iter().zip(after) {
        assert!((before.x - 1.0 - after.x).abs() < 1e-6);
    }
}

#[test]
fn it_goes_on_from_where_it_fell_asleep() {
    let mut app = app();
    let Set { cloth, floor, .. } = asleep(&mut app);
    let before = crate::centre(&app, cloth);
    app.world_mut().despawn(floor);
    app.world_mut().entity_mut(cloth).remove::<Pins>();
    app.update();
    let fallen = before.y - crate::centre(&app, cloth).y;
    // At most ½ g Δt²: it had no speed in its sleep.
    assert!((0.0..0.0014).contains(&fallen), "{fallen}");
    run(&mut app, 120);
    assert!(crate::centre(&app, cloth).y < before.y - 0.05);
}

#[test]
fn moving_air_keeps_it_awake_and_still_air_does_not() {
    let awake = |change: fn(&mut App)| {
        let mut app = app();
        change(&mut app);
        app.world_mut().spawn(ClothCollider::half_space());
        let cloth = spawn(&mut app, ());
        // So slow that only what it sees keeps it awake.
        of::<Cloth>(&mut app, cloth).sleep_speed = 1.0;
        (0..200).all(|_| {
            app.update();
            !sleeps(&app, cloth)
        })
    };
    assert!(!awake(|_| {}));
    assert!(!awake(|app| set::<Wind>(app).velocity.x = 0.01), "steady");
    assert!(awake(|app| {
        let mut wind = set::<Wind>(app);
        wind.velocity.x = 0.01;
        wind.gusts = 0.5;
    }));
    assert!(awake(|app| set::<Turbulence>(app).strength = 0.01));
    // Without air there is no wind.
    assert!(!awake(|app| {
        set::<Turbulence>(app).strength = 0.01;
        set::<Wind>(app).air_density = 0.0;
    }));
}

#[test]
fn what_is_held_does_not_fall_asleep_and_speed_0_never_does() {
    let mut app = app();
    set::<ClothGravity>(&mut app).0 = Vec3::ZERO;
    let hand = app.world_mut().spawn_empty().id();
    let [held, restless] = [0, 1].map(|_| spawn(&mut app, ()));
    of::<Cloth>(&mut app, restless).sleep_speed = 0.0;
    app.update();
    let at = particles(&app, held).world_position(45);
    command(&mut app, held, |cloth| {
        cloth.grab(hand, at);
    });
    run(&mut app, 100);
    assert!(!sleeps(&app, held) && !sleeps(&app, restless));
    command(&mut app, held, |cloth| {
        cloth.release(hand);
    });
    run(&mut app, 100);
    assert!(sleeps(&app, held) && !sleeps(&app, restless));
}

#[test]
fn a_system_that_writes_particles_in_each_substep_is_not_slept_over() {
    let mut app = app();
    set::<ClothGravity>(&mut app).0 = Vec3::ZERO;
    let cloth = spawn(&mut app, ());
    fall_asleep(&mut app, cloth);
    let push = |mut cloths: Query<&mut Particles>| {
        for mut particles in &mut cloths {
            let place = particles.world_position(0);
            particles.set_world_position(0, place + Vec3::Y * 1e-3);
        }
    };
    app.add_systems(
        ClothSubstep,
        push.after(ClothSystems::Relax)
            .before(ClothSystems::Collide),
    );
    run(&mut app, 2);
    assert!(!sleeps(&app, cloth));
    run(&mut app, 30);
    assert!(particles(&app, cloth).world_position(0).y > 0.1);
}

#[test]
fn the_marker_may_be_written_by_hand() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    run(&mut app, 10);
    let falling = crate::centre(&app, cloth);
    app.world_mut().entity_mut(cloth).insert(ClothSleeping);
    run(&mut app, 100);
    assert_eq!(crate::centre(&app, cloth), falling, "in the air");
    app.world_mut().entity_mut(cloth).remove::<ClothSleeping>();
    run(&mut app, 30);
    assert!(crate::centre(&app, cloth).y < falling.y - 0.5);
    // What is no cloth any more does not sleep either.
    app.world_mut().entity_mut(cloth).insert(ClothSleeping);
    run(&mut app, 2);
    app.world_mut().entity_mut(cloth).remove::<Cloth>();
    app.update();
    assert!(!sleeps(&app, cloth));
}

#[test]
fn a_new_mesh_is_built_awake() {
    let mut app = app();
    let Set { cloth, .. } = asleep(&mut app);
    let mesh = add_mesh(&mut app, sheet());
    app.world_mut().entity_mut(cloth).insert(Mesh3d(mesh));
    run(&mut app, 3);
    assert!(!sleeps(&app, cloth));
    fall_asleep(&mut app, cloth);
}

#[test]
fn ropes_sleep_and_wake_too() {
    let mut app = app();
    let rope = Rope::between(Vec3::ZERO, Vec3::X * 0.2, 10);
    let rope = (
        rope,
        Cloth {
            damping: 5.0,
            ..default()
        },
        Pins::ends(),
    );
    let rope = app.world_mut().spawn(rope).id();
    fall_asleep(&mut app, rope);
    run(&mut app, 10);
    assert!(sleeps(&app, rope));
    place(&mut app, rope).translation.y += 0.1;
    app.update();
    assert!(!sleeps(&app, rope));
}

#[test]
fn snapshots_sleep_on_and_wake_as_the_cloth_did() {
    let mut app = app();
    let Set { cloth, hook, .. } = asleep(&mut app);
    run(&mut app, 5);
    let game = |app: &mut App| -> Vec<(bool, u64)> {
        (0..20)
            .map(|step| {
                if step == 4 {
                    place(app, hook).translation.y += 0.01;
                }
                app.update();
                (sleeps(app, cloth), particles(app, cloth).state_hash())
            })
            .collect()
    };
    let saved = ClothSnapshot::take(app.world(), cloth).unwrap();
    let at = *place(&mut app, hook);
    let time = *app.world().resource::<WindTime>();
    let first = game(&mut app);
    assert!(first[3].0 && !first[4].0, "it wakes in the fifth step");
    for _ in 0..2 {
        app.world_mut().entity_mut(hook).insert(at);
        app.insert_resource(time);
        saved.restore(app.world_mut(), cloth).unwrap();
        assert!(sleeps(&app, cloth));
        assert_eq!(game(&mut app), first);
    }
    // Of another time when it was awake.
    let awake = ClothSnapshot::take(app.world(), cloth).unwrap();
    fall_asleep(&mut app, cloth);
    awake.restore(app.world_mut(), cloth).unwrap();
    assert!(!sleeps(&app, cloth));
    // A write right after it was put back wakes it.
    saved.restore(app.world_mut(), cloth).unwrap();
    of::<Particles>(&mut app, cloth).set_velocity(45, Vec3::Y);
    app.world_mut().entity_mut(hook).insert(at);
    app.update();
    assert!(!sleeps(&app, cloth));
}

#[test]
fn it_falls_asleep_in_the_same_step_phase_by_phase() {
    let bits = |by_phases: bool| {
        let mut app = app();
        if by_phases {
            app.add_systems(ClothSubstep, || {});
        }
        let Set { cloth, near, .. } = asleep(&mut app);
        place(&mut app, near).translation.y += 0.02;
        let steps = fall_asleep(&mut app, cloth);
        (steps, particles(&app, cloth).state_hash())
    };
    assert_eq!(bits(false), bits(true));
}

#[test]
fn figures_tell_who_sleeps() {
    let plugins = (ClothPlugin::default(), ClothDiagnosticsPlugin::default());
    let mut app = crate::headless::headless_app(plugins);
    set::<ClothGravity>(&mut app).0 = Vec3::ZERO;
    let cloth = spawn(&mut app, ());
    fall_asleep(&mut app, cloth);
    let other = spawn(&mut app, ());
    run(&mut app, 5);
    let stats = |app: &App, cloth| *app.world().get::<ClothStats>(cloth).unwrap();
    assert!(stats(&app, cloth).sleeping && !stats(&app, other).sleeping);
    assert_eq!(stats(&app, cloth).particles, 100);
    let store = app.world().resource::<bevy::diagnostic::DiagnosticsStore>();
    let asleep = store.get(&ClothDiagnosticsPlugin::SLEEPING).unwrap();
    assert_eq!(asleep.value(), Some(1.0));
}
