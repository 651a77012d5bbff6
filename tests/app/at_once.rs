//! Substeps give the same bits on any number of threads, and whether each cloth runs all of them at once (fused) or
//! all cloths run phase by phase, because a user's system runs in between.

use crate::{add_mesh, app, command, particles, run};
use bevy::{
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use bevy_drape::{
    cloth::{ClothMaxThreads, ClothSubstep, ClothSubstepTime, PlanarCloth},
    prelude::*,
};
use std::{env, process::Command};

#[derive(Resource, Default)]
struct SubstepLog {
    runs: u32,
    indices: Vec<u32>,
}

/// User code in the substep schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hook {
    None,
    /// A system that reads only.
    System,
    /// A run condition on a system set of the plugin; always true.
    Condition,
}

/// Returns the state hashes of cloths of all kinds and sizes after 30 updates: large cloths that are split over
/// threads, small ones, a planar one, a rope and a cloth that tears; three of them are grabbed.
fn hash(hook: Hook, threads: usize) -> Vec<u64> {
    let mut app = app();
    app.insert_resource(ClothMaxThreads(threads))
        .init_resource::<SubstepLog>();
    let record = |mut log: ResMut<SubstepLog>,
                  time: Res<ClothSubstepTime>,
                  cloths: Query<&ClothParticles>| {
        log.runs += u32::from(cloths.iter().all(|particles| particles.is_finite()));
        log.indices.push(time.index);
    };
    match hook {
        Hook::None => {}
        Hook::System => {
            app.add_systems(
                ClothSubstep,
                record
                    .after(ClothSystems::Relax)
                    .before(ClothSystems::Collide),
            );
        }
        Hook::Condition => {
            app.configure_sets(ClothSubstep, ClothSystems::Relax.run_if(|| true));
        }
    }
    app.insert_resource(Wind {
        velocity: Vec3::new(2.0, 0.5, 4.0),
        gusts: 0.5,
        ..default()
    });
    app.world_mut().spawn((
        ClothCollider::sphere(0.4),
        Transform::from_xyz(0.1, -0.6, 0.2),
    ));
    app.world_mut().spawn((
        ClothCollider::half_space(),
        Transform::from_xyz(0.0, -1.1, 0.0),
    ));
    let mut sheet = |width: u32, height: u32, x: f32, extra: &dyn Fn(&mut EntityWorldMut)| {
        let mesh = add_mesh(&mut app, ClothGrid::vertical(1.0, 1.0, width, height));
        let transform = Transform::from_xyz(x, 0.0, 0.1 * x);
        let mut cloth = app
            .world_mut()
            .spawn((Cloth::default(), Mesh3d(mesh), transform));
        extra(&mut cloth);
        cloth.id()
    };
    let hang = |cloth: &mut EntityWorldMut| {
        cloth.insert(Pins::top_corners());
    };
    let flat = |cloth: &mut EntityWorldMut| {
        cloth.insert((PlanarCloth::default(), Pins::top_corners()));
    };
    let tears = |cloth: &mut EntityWorldMut| {
        cloth.insert((Pins::edge(ClothEdge::Top), ClothTearing::at_load(30.0)));
    };
    let mut cloths = vec![
        sheet(90, 92, 0.0, &hang),
        sheet(12, 17, 1.5, &flat),
        sheet(20, 20, 3.0, &tears),
        sheet(100, 85, 4.5, &|_| {}),
    ];
    cloths.extend((0..9).map(|i| sheet(10 + i, 24 - i, 6.0 + i as f32, &hang)));
    let tearing = cloths[2];
    let rope = Rope::between(Vec3::ZERO, Vec3::new(1.0, 0.2, 0.0), 40);
    cloths.push(
        app.world_mut()
            .spawn((rope, Cloth::default(), Pins::ends()))
            .id(),
    );
    run(&mut app, 5);

    let pointer = app.world_mut().spawn_empty().id();
    for cloth in [tearing, cloths[0], cloths[1]] {
        let count = particles(&app, cloth).len();
        let low = particles(&app, cloth).world_position(count - 5);
        command(&mut app, cloth, |cloth| {
            cloth.grab(pointer, low);
            cloth.drag(pointer, low + Vec3::new(0.5, -2.0, 0.7));
        });
    }
    let before = particles(&app, tearing).len();
    run(&mut app, 25);
    assert!(particles(&app, tearing).len() > before, "the cloth tears");

    let time = *app.world().resource::<ClothSubstepTime>();
    assert_eq!(time.index + 1, time.count);
    let log = app.world().resource::<SubstepLog>();
    if hook == Hook::System {
        assert_eq!(log.runs as usize, log.indices.len());
        // 8 substeps per step, or a multiple where a cloth is dragged fast.
        let steps = log.indices.chunk_by(|a, b| *b == a + 1);
        let mut counts = steps.clone().map(<[u32]>::len);
        assert!(steps.clone().count() > 25 && counts.all(|count| count.is_multiple_of(8)));
        assert!(steps.clone().all(|step| step[0] == 0));
    } else {
        assert_eq!(log.runs, 0);
    }
    let hashes = cloths.iter().map(|&cloth| {
        assert!(particles(&app, cloth).is_finite());
        particles(&app, cloth).state_hash()
    });
    hashes.collect()
}

#[test]
#[ignore = "run in a separate process by the other test"]
fn child() {
    // Before an app creates its own pool.
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(6).build());
    assert_eq!(ComputeTaskPool::get().thread_num(), 6);
    let expected = hash(Hook::None, 1);
    for hook in [Hook::None, Hook::System, Hook::Condition] {
        for threads in [1, 2, 7] {
            assert_eq!(hash(hook, threads), expected, "{hook:?}, {threads} threads");
        }
    }
}

#[test]
fn hooks_and_threads_change_no_bit() {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "at_once::child", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Systems run that were added after the first steps, or before the plugin.
#[test]
fn systems_added_late_or_before_the_plugin_run() {
    #[derive(Resource, Default)]
    struct Runs(u32);
    let count = |mut runs: ResMut<Runs>| runs.0 += 1;
    let mut late = app();
    late.init_resource::<Runs>();
    crate::spawn(&mut late, ());
    run(&mut late, 4);
    late.add_systems(ClothSubstep, count);
    run(&mut late, 3);
    assert_eq!(late.world().resource::<Runs>().0, 3 * 8);

    let early = move |app: &mut App| {
        app.init_resource::<Runs>().add_systems(ClothSubstep, count);
    };
    let mut early = crate::headless::headless_app((early, ClothPlugin::default()));
    crate::spawn(&mut early, ());
    run(&mut early, 4);
    assert!(early.world().resource::<Runs>().0 >= 3 * 8);
}

/// A run condition of a set holds from the first step on, and after the schedule was built with it.
#[test]
fn run_conditions_of_sets_are_respected() {
    let mut app = app();
    app.configure_sets(ClothSubstep, ClothSystems::Integrate.run_if(|| false));
    let cloth = crate::spawn(&mut app, ());
    run(&mut app, 2);
    let before = crate::centre(&app, cloth);
    run(&mut app, 10);
    let moved = crate::centre(&app, cloth).distance(before);
    assert!(moved < 1e-6, "nothing moves the cloth");
}
