//! Whether each cloth goes through all substeps at once, or all cloths through one phase after the
//! other because somebody has a system in between, on however many threads: the bits are the same.

use crate::{add_mesh, app, command, particles, run};
use bevy::{
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use bevy_drape::{
    ClothSubstep, ClothSystems, ClothThreads, Particles, PlanarCloth, SubstepTime, Tearing,
    prelude::*,
};
use std::{env, process::Command};

#[derive(Resource, Default)]
struct Seen {
    runs: u32,
    indices: Vec<u32>,
}

/// What a user may have in the schedule of the substeps.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hook {
    None,
    /// A system that only looks.
    System,
    /// A condition of one of our sets, which always holds.
    Condition,
}

/// Cloths of all kinds and sizes: one that is split over threads, small ones, flat ones, ropes, one
/// that tears, one that is held by a hand.
fn hash(hook: Hook, threads: usize) -> Vec<u64> {
    let mut app = app();
    app.insert_resource(ClothThreads(threads))
        .init_resource::<Seen>();
    let look = |mut seen: ResMut<Seen>, time: Res<SubstepTime>, cloths: Query<&Particles>| {
        seen.runs += u32::from(cloths.iter().all(|particles| particles.is_finite()));
        seen.indices.push(time.index);
    };
    match hook {
        Hook::None => {}
        Hook::System => {
            app.add_systems(
                ClothSubstep,
                look.after(ClothSystems::Relax)
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
        let place = Transform::from_xyz(x, 0.0, 0.1 * x);
        let mut cloth = app
            .world_mut()
            .spawn((Cloth::default(), Mesh3d(mesh), place));
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
        cloth.insert((Pins::edge(ClothEdge::Top), Tearing::at_load(30.0)));
    };
    let mut cloths = vec![
        sheet(90, 92, 0.0, &hang),
        sheet(12, 17, 1.5, &flat),
        sheet(20, 20, 3.0, &tears),
        sheet(100, 85, 4.5, &|_| {}),
    ];
    cloths.extend((0..9).map(|i| sheet(10 + i, 24 - i, 6.0 + i as f32, &hang)));
    let held = cloths[2];
    let rope = Rope::between(Vec3::ZERO, Vec3::new(1.0, 0.2, 0.0), 40);
    cloths.push(
        app.world_mut()
            .spawn((rope, Cloth::default(), Pins::ends()))
            .id(),
    );
    run(&mut app, 5);

    let hand = app.world_mut().spawn_empty().id();
    for cloth in [held, cloths[0], cloths[1]] {
        let count = particles(&app, cloth).len();
        let low = particles(&app, cloth).world_position(count - 5);
        command(&mut app, cloth, |cloth| {
            cloth.grab(hand, low);
            cloth.drag(hand, low + Vec3::new(0.5, -2.0, 0.7));
        });
    }
    let before = particles(&app, held).len();
    run(&mut app, 25);
    assert!(particles(&app, held).len() > before, "it tears");

    let time = *app.world().resource::<SubstepTime>();
    assert_eq!((time.index, time.count), (7, 8));
    let seen = app.world().resource::<Seen>();
    if hook == Hook::System {
        assert_eq!(seen.runs as usize, seen.indices.len());
        assert!(seen.runs > 25 * 8 && seen.runs.is_multiple_of(8));
        assert!(
            seen.indices
                .chunks(8)
                .all(|step| step == [0, 1, 2, 3, 4, 5, 6, 7])
        );
    } else {
        assert_eq!(seen.runs, 0);
    }
    let hashes = cloths.iter().map(|&cloth| {
        assert!(particles(&app, cloth).is_finite());
        particles(&app, cloth).state_hash()
    });
    hashes.collect()
}

#[test]
#[ignore = "a part of the other, which starts it in a process of its own"]
fn child() {
    // Before an app makes its own.
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

/// Somebody who comes later is seen too, and somebody who was there before the plugin.
#[test]
fn hooks_that_come_late_or_early_run() {
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

/// A condition of a set is kept to from the first step on, and after the schedule was built with it.
#[test]
fn conditions_are_kept_to() {
    let mut app = app();
    app.configure_sets(ClothSubstep, ClothSystems::Integrate.run_if(|| false));
    let cloth = crate::spawn(&mut app, ());
    run(&mut app, 2);
    let before = crate::centre(&app, cloth);
    run(&mut app, 10);
    assert_eq!(crate::centre(&app, cloth), before, "nothing moves it");
}
