//! Cloth that does not move falls asleep, and wakes when something may move it.

use crate::{add_mesh, app, command, drawn, particles, run, sheet, sleeps, spawn};
use bevy::prelude::*;
use bevy_drape::{
    cloth::{ClothConstraints, ClothMaxThreads, ClothSubstep, PlanarCloth},
    collision::ClothLayers,
    diagnostics::{ClothDiagnosticsPlugin, ClothStats},
    prelude::*,
    pressure::ClothPressure,
    sleep::{ClothSleeping, TIME_TO_SLEEP},
    snapshot::ClothSnapshot,
    wind::{WindTime, WindTurbulence},
};

/// Runs until a cloth sleeps. Returns the number of steps.
#[track_caller]
pub(crate) fn fall_asleep(app: &mut App, cloth: Entity) -> u32 {
    for step in 0..1500 {
        if sleeps(app, cloth) {
            return step;
        }
        app.update();
    }
    panic!("the cloth does not fall asleep");
}

/// Sleeping cloth and the entities around it.
struct Scene {
    cloth: Entity,
    floor: Entity,
    /// Anchor of a pin.
    hook: Entity,
    /// A ball that touches the cloth.
    near: Entity,
    /// A ball far away.
    far: Entity,
    /// A wind zone far away.
    fan: Entity,
}

/// Spawns a sheet that lies on a floor, over a ball, pinned to a hook and to its own entity, and runs until it
/// sleeps.
fn asleep(app: &mut App) -> Scene {
    asleep_with(app, |hook| {
        Pins::index(0).to_entity(hook).and(Pins::index(99))
    })
}

/// Likewise, with these pins.
fn asleep_with(app: &mut App, pins: fn(hook: Entity) -> Pins) -> Scene {
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
    let cloth = spawn(app, pins(hook));
    // Settles soon.
    get::<Cloth>(app, cloth).damping = 20.0;
    let steps = fall_asleep(app, cloth);
    assert!(steps as f32 / 60.0 >= TIME_TO_SLEEP, "after {steps} steps");
    Scene {
        cloth,
        floor,
        hook,
        near,
        far,
        fan,
    }
}

fn transform(app: &mut App, entity: Entity) -> Mut<'_, Transform> {
    app.world_mut().get_mut::<Transform>(entity).unwrap()
}

fn get<T: Component<Mutability = bevy::ecs::component::Mutable>>(
    app: &mut App,
    entity: Entity,
) -> Mut<'_, T> {
    app.world_mut().get_mut::<T>(entity).unwrap()
}

fn resource<T: Resource<Mutability = bevy::ecs::component::Mutable>>(app: &mut App) -> Mut<'_, T> {
    app.world_mut().resource_mut::<T>()
}

type Change = fn(&mut App, &Scene);

#[test]
fn everything_that_may_move_a_cloth_wakes_it() {
    let changes: &[(&str, Change)] = &[
        ("fabric", |app, s| {
            get::<Cloth>(app, s.cloth).fabric.areal_density = 0.3;
        }),
        ("iterations", |app, s| {
            get::<Cloth>(app, s.cloth).iterations = 2
        }),
        ("sleep speed", |app, s| {
            get::<Cloth>(app, s.cloth).sleep_speed = 0.0;
        }),
        ("pins", |app, s| {
            get::<Pins>(app, s.cloth).pins.pop();
        }),
        ("no pins", |app, s| {
            app.world_mut().entity_mut(s.cloth).remove::<Pins>();
        }),
        ("hook", |app, s| {
            transform(app, s.hook).translation.y += 0.001
        }),
        ("hook gone", |app, s| {
            app.world_mut().despawn(s.hook);
        }),
        ("own transform", |app, s| {
            transform(app, s.cloth).translation.y += 0.001;
        }),
        ("plane", |app, s| {
            app.world_mut()
                .entity_mut(s.cloth)
                .insert(PlanarCloth::default());
        }),
        ("tearing", |app, s| {
            let tearing = ClothTearing::at_strain(0.5);
            app.world_mut().entity_mut(s.cloth).insert(tearing);
        }),
        ("pressure", |app, s| {
            let pressure = ClothPressure::default();
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
            let position = particles(app, s.cloth).world_position(45);
            get::<ClothParticles>(app, s.cloth).set_world_position(45, position);
        }),
        ("constraints", |app, s| {
            get::<ClothConstraints>(app, s.cloth).set_changed();
        }),
        ("grab", |app, s| {
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
        ("gravity", |app, _| resource::<ClothGravity>(app).x = 0.1),
        ("wind", |app, _| resource::<Wind>(app).velocity.x = 0.1),
        ("air", |app, _| resource::<Wind>(app).air_density = 0.1),
        ("turbulence", |app, _| {
            resource::<WindTurbulence>(app).strength = 0.1
        }),
        ("substeps", |app, _| {
            *resource::<ClothSubsteps>(app) = ClothSubsteps::PerStep(9)
        }),
        ("length of a step", |app, _| {
            app.insert_resource(Time::<Fixed>::from_hz(50.0));
        }),
        ("floor", |app, s| {
            transform(app, s.floor).translation.y -= 0.001
        }),
        ("floor turns", |app, s| {
            transform(app, s.floor).rotate_y(0.01);
        }),
        ("floor gone", |app, s| {
            app.world_mut().despawn(s.floor);
        }),
        ("ball moves", |app, s| {
            transform(app, s.near).translation.x += 0.001
        }),
        ("ball grows", |app, s| transform(app, s.near).scale *= 1.01),
        ("shape", |app, s| {
            *get::<ClothCollider>(app, s.near) = ClothCollider::cuboid(0.1, 0.1, 0.1);
        }),
        ("friction", |app, s| {
            get::<ClothCollider>(app, s.near).kinetic_friction = 0.0;
        }),
        ("hollow", |app, s| {
            get::<ClothCollider>(app, s.far).hollow = true
        }),
        ("ball comes", |app, s| {
            transform(app, s.far).translation.x = 0.7
        }),
        ("ball passes through", |app, s| {
            // By 3.1 m in one step, just below the limit of a teleport.
            transform(app, s.far).translation.x = -1.5;
        }),
        ("ball leaves", |app, s| {
            transform(app, s.near).translation.y = -5.0
        }),
        ("new ball", |app, _| {
            let ball = ClothCollider::sphere(0.1);
            app.world_mut()
                .spawn((ball, Transform::from_xyz(-0.3, 0.0, 0.0)));
        }),
        ("fan", |app, s| transform(app, s.fan).translation.z = 1.0),
        ("wind everywhere", |app, _| {
            app.world_mut().spawn(WindZone::default());
        }),
    ];
    let still_asleep = |pins: fn(Entity) -> Pins| {
        let mut still_asleep = Vec::new();
        for (name, change) in changes {
            let mut app = app();
            let scene = asleep_with(&mut app, pins);
            run(&mut app, 10);
            assert!(sleeps(&app, scene.cloth), "before: {name}");
            change(&mut app, &scene);
            app.update();
            if sleeps(&app, scene.cloth) {
                still_asleep.push(*name);
            }
        }
        still_asleep
    };
    let to_hook = |hook| Pins::index(0).to_entity(hook).and(Pins::index(99));
    assert_eq!(still_asleep(to_hook), [""; 0]);
    // This one depends on no other entity, so it is not checked until change detection finds a change.
    let to_itself = |_| Pins::index(0).and(Pins::index(99));
    assert_eq!(still_asleep(to_itself), ["hook", "hook gone"]);
}

#[test]
fn removed_components_and_parents_wake_a_cloth() {
    type Remove = fn(&mut EntityWorldMut);
    let removals: [(&str, Remove); 3] = [
        ("layers", |cloth| {
            cloth.remove::<ClothLayers>();
        }),
        ("tearing", |cloth| {
            cloth.remove::<ClothTearing>();
        }),
        ("parent", |cloth| {
            cloth.remove::<ChildOf>();
        }),
    ];
    for (name, remove) in removals {
        let mut app = app();
        resource::<ClothGravity>(&mut app).0 = Vec3::ZERO;
        app.world_mut().spawn(ClothCollider::half_space());
        let components = (
            Pins::index(0),
            ClothLayers::on(0),
            ClothTearing::at_strain(0.5),
        );
        let cloth = spawn(&mut app, components);
        if name == "parent" {
            let parent = app.world_mut().spawn(Transform::from_xyz(0.1, 0.0, 0.0));
            let parent = parent.id();
            app.world_mut().entity_mut(cloth).insert(ChildOf(parent));
        }
        fall_asleep(&mut app, cloth);
        run(&mut app, 10);
        assert!(sleeps(&app, cloth), "before: {name}");
        remove(&mut app.world_mut().entity_mut(cloth));
        app.update();
        assert!(!sleeps(&app, cloth), "{name}");
    }
}

#[test]
fn a_condition_on_writing_delays_the_mesh_of_a_sleeping_cloth() {
    #[derive(Resource)]
    struct Writes(bool);
    let mut app = app();
    app.insert_resource(Writes(true)).configure_sets(
        PostUpdate,
        ClothSystems::WriteMesh.run_if(|writes: Res<Writes>| writes.0),
    );
    let cloth = spawn(&mut app, ());
    resource::<ClothGravity>(&mut app).0 = Vec3::ZERO;
    fall_asleep(&mut app, cloth);
    run(&mut app, 3);
    let first = |app: &App| crate::float3(drawn(app, cloth), Mesh::ATTRIBUTE_POSITION)[0].x;
    let before = first(&app);
    resource::<Writes>(&mut app).0 = false;
    transform(&mut app, cloth).translation.x += 1.0;
    run(&mut app, 3);
    assert_eq!(first(&app), before);
    resource::<Writes>(&mut app).0 = true;
    run(&mut app, 1);
    assert!(sleeps(&app, cloth));
    assert!((before - 1.0 - first(&app)).abs() < 1e-6);
}

#[test]
fn changes_without_effect_do_not_wake_a_cloth() {
    let changes: &[(&str, Change)] = &[
        ("nothing", |_, _| {}),
        ("the same cloth", |app, s| {
            get::<Cloth>(app, s.cloth).set_changed()
        }),
        ("the same pins", |app, s| {
            get::<Pins>(app, s.cloth).set_changed()
        }),
        ("the same transforms", |app, s| {
            for entity in [s.cloth, s.floor, s.hook, s.near, s.far, s.fan] {
                let same = *transform(app, entity);
                app.world_mut().entity_mut(entity).insert(same);
            }
        }),
        ("the same collider", |app, s| {
            get::<ClothCollider>(app, s.near).set_changed();
        }),
        ("a ball far away", |app, s| {
            transform(app, s.far).translation.y += 0.1
        }),
        ("a fan far away", |app, s| {
            transform(app, s.fan).translation.y += 0.1
        }),
        ("threads", |app, _| {
            app.insert_resource(ClothMaxThreads(1));
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
    let scene = asleep(&mut app);
    for (name, change) in changes {
        for _ in 0..5 {
            change(&mut app, &scene);
            app.update();
            assert!(sleeps(&app, scene.cloth), "{name}");
        }
    }
}

#[test]
fn sleeping_cloth_keeps_every_bit_of_its_state_and_its_mesh() {
    let mut app = app();
    let Scene { cloth, .. } = asleep(&mut app);
    let asleep = particles(&app, cloth).clone();
    assert!(
        (0..100).all(|i| asleep.velocity(i) == Vec3::ZERO),
        "a particle creeps"
    );
    let bytes = |app: &App| -> Vec<Vec<u8>> {
        let attributes = drawn(app, cloth).attributes();
        attributes
            .map(|(_, values)| values.get_bytes().to_vec())
            .collect()
    };
    let mesh = app.world().get::<Mesh3d>(cloth).unwrap().id();
    app.update();
    let mesh_bytes = bytes(&app);
    let mut written = app
        .world()
        .resource::<Messages<AssetEvent<Mesh>>>()
        .get_cursor_current();
    run(&mut app, 300);
    assert!(sleeps(&app, cloth));
    assert_eq!(particles(&app, cloth).0, asleep.0);
    assert_eq!(bytes(&app), mesh_bytes);
    let events = app.world().resource::<Messages<AssetEvent<Mesh>>>();
    assert!(!written.read(events).any(|event| event.is_modified(mesh)));
}

#[test]
fn the_mesh_of_a_sleeping_cloth_stays_in_the_world_when_its_entity_moves() {
    let mut app = app();
    // Nothing pins the cloth, so its transform does not move it in the world.
    let cloth = spawn(&mut app, ());
    resource::<ClothGravity>(&mut app).0 = Vec3::ZERO;
    fall_asleep(&mut app, cloth);
    run(&mut app, 3);
    let before = crate::float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION);
    transform(&mut app, cloth).translation.x += 1.0;
    run(&mut app, 3);
    assert!(sleeps(&app, cloth));
    let after = crate::float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION);
    for (before, after) in before.iter().zip(after) {
        assert!((before.x - 1.0 - after.x).abs() < 1e-6);
    }
}

#[test]
fn an_awakened_cloth_continues_from_its_sleeping_state_without_velocity() {
    let mut app = app();
    let Scene { cloth, floor, .. } = asleep(&mut app);
    let before = crate::centre(&app, cloth);
    app.world_mut().despawn(floor);
    app.world_mut().entity_mut(cloth).remove::<Pins>();
    app.update();
    let fallen = before.y - crate::centre(&app, cloth).y;
    // At most ½ g Δt², since a sleeping cloth has no velocity.
    assert!((0.0..0.0014).contains(&fallen), "{fallen}");
    run(&mut app, 120);
    assert!(crate::centre(&app, cloth).y < before.y - 0.05);
}

#[test]
fn unsteady_wind_keeps_cloth_awake_and_steady_wind_does_not() {
    let stays_awake = |change: fn(&mut App)| {
        let mut app = app();
        change(&mut app);
        app.world_mut().spawn(ClothCollider::half_space());
        let cloth = spawn(&mut app, ());
        // With such a high sleep speed, only a change keeps the cloth awake.
        get::<Cloth>(&mut app, cloth).sleep_speed = 1.0;
        (0..200).all(|_| {
            app.update();
            !sleeps(&app, cloth)
        })
    };
    assert!(!stays_awake(|_| {}));
    assert!(
        !stays_awake(|app| resource::<Wind>(app).velocity.x = 0.01),
        "steady"
    );
    assert!(stays_awake(|app| {
        let mut wind = resource::<Wind>(app);
        wind.velocity.x = 0.01;
        wind.gusts = 0.5;
    }));
    assert!(stays_awake(
        |app| resource::<WindTurbulence>(app).strength = 0.01
    ));
    // In a vacuum there is no wind.
    assert!(!stays_awake(|app| {
        resource::<WindTurbulence>(app).strength = 0.01;
        resource::<Wind>(app).air_density = 0.0;
    }));
}

#[test]
fn grabbed_cloth_and_cloth_with_sleep_speed_0_stay_awake() {
    let mut app = app();
    resource::<ClothGravity>(&mut app).0 = Vec3::ZERO;
    let hand = app.world_mut().spawn_empty().id();
    let [grabbed, sleepless] = [0, 1].map(|_| spawn(&mut app, ()));
    get::<Cloth>(&mut app, sleepless).sleep_speed = 0.0;
    app.update();
    let at = particles(&app, grabbed).world_position(45);
    command(&mut app, grabbed, |cloth| {
        cloth.grab(hand, at);
    });
    run(&mut app, 100);
    assert!(!sleeps(&app, grabbed) && !sleeps(&app, sleepless));
    command(&mut app, grabbed, |cloth| {
        cloth.release(hand);
    });
    run(&mut app, 100);
    assert!(sleeps(&app, grabbed) && !sleeps(&app, sleepless));
}

#[test]
fn a_system_that_writes_particles_in_each_substep_keeps_the_cloth_awake() {
    let mut app = app();
    resource::<ClothGravity>(&mut app).0 = Vec3::ZERO;
    let cloth = spawn(&mut app, ());
    fall_asleep(&mut app, cloth);
    let push = |mut cloths: Query<&mut ClothParticles>| {
        for mut particles in &mut cloths {
            let position = particles.world_position(0);
            particles.set_world_position(0, position + Vec3::Y * 1e-3);
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
fn user_code_may_insert_and_remove_the_sleep_marker() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    run(&mut app, 10);
    let falling = crate::centre(&app, cloth);
    app.world_mut().entity_mut(cloth).insert(ClothSleeping);
    run(&mut app, 100);
    assert_eq!(crate::centre(&app, cloth), falling, "moves while asleep");
    app.world_mut().entity_mut(cloth).remove::<ClothSleeping>();
    run(&mut app, 30);
    assert!(crate::centre(&app, cloth).y < falling.y - 0.5);
    // The marker goes with the cloth.
    app.world_mut().entity_mut(cloth).insert(ClothSleeping);
    run(&mut app, 2);
    app.world_mut().entity_mut(cloth).remove::<Cloth>();
    app.update();
    assert!(!sleeps(&app, cloth));
}

#[test]
fn a_cloth_with_a_new_mesh_is_built_awake() {
    let mut app = app();
    let Scene { cloth, .. } = asleep(&mut app);
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
    transform(&mut app, rope).translation.y += 0.1;
    app.update();
    assert!(!sleeps(&app, rope));
}

#[test]
fn a_restored_snapshot_sleeps_and_wakes_as_the_cloth_did() {
    let mut app = app();
    let Scene { cloth, hook, .. } = asleep(&mut app);
    run(&mut app, 5);
    let game = |app: &mut App| -> Vec<(bool, u64)> {
        (0..20)
            .map(|step| {
                if step == 4 {
                    transform(app, hook).translation.y += 0.01;
                }
                app.update();
                (sleeps(app, cloth), particles(app, cloth).state_hash())
            })
            .collect()
    };
    let saved = ClothSnapshot::take(app.world(), cloth).unwrap();
    let at = *transform(&mut app, hook);
    let time = *app.world().resource::<WindTime>();
    let first = game(&mut app);
    assert!(
        first[3].0 && !first[4].0,
        "not awake from the fifth step on"
    );
    for _ in 0..2 {
        app.world_mut().entity_mut(hook).insert(at);
        app.insert_resource(time);
        saved.restore(app.world_mut(), cloth).unwrap();
        assert!(sleeps(&app, cloth));
        assert_eq!(game(&mut app), first);
    }
    // A snapshot of the awake cloth wakes it.
    let awake = ClothSnapshot::take(app.world(), cloth).unwrap();
    fall_asleep(&mut app, cloth);
    awake.restore(app.world_mut(), cloth).unwrap();
    assert!(!sleeps(&app, cloth));
    // A write right after the restore wakes the cloth.
    saved.restore(app.world_mut(), cloth).unwrap();
    get::<ClothParticles>(&mut app, cloth).set_velocity(45, Vec3::Y);
    app.world_mut().entity_mut(hook).insert(at);
    app.update();
    assert!(!sleeps(&app, cloth));
}

#[test]
fn cloth_falls_asleep_in_the_same_step_phase_by_phase() {
    let bits = |by_phases: bool| {
        let mut app = app();
        if by_phases {
            app.add_systems(ClothSubstep, || {});
        }
        let Scene { cloth, near, .. } = asleep(&mut app);
        transform(&mut app, near).translation.y += 0.02;
        let steps = fall_asleep(&mut app, cloth);
        (steps, particles(&app, cloth).state_hash())
    };
    assert_eq!(bits(false), bits(true));
}

#[test]
fn diagnostics_report_sleeping_cloths() {
    let plugins = (ClothPlugin::default(), ClothDiagnosticsPlugin::default());
    let mut app = crate::headless::headless_app(plugins);
    resource::<ClothGravity>(&mut app).0 = Vec3::ZERO;
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
