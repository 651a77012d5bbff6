//! Determinism: the same scene gives the same bits on any number of threads, with any instruction set, in every
//! process and in every build.

use crate::{add_mesh, app, command, particles, run};
use bevy::{
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use bevy_drape::{prelude::*, solver::SimdLevel};
use std::{collections::BTreeMap, env, fmt::Write, fs, process::Command};

/// File with the hashes that every build must give.
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/app/golden.txt");

/// Environment variable; if set, the tests write [`GOLDEN`] anew.
const RENEW: &str = "BEVY_DRAPE_RENEW_GOLDEN";

/// Environment variables for child processes: number of threads, SIMD level.
const THREADS: &str = "BEVY_DRAPE_CHILD_THREADS";
const LEVEL: &str = "BEVY_DRAPE_CHILD_SIMD";

/// Hashes by scene name.
type Hashes = BTreeMap<String, u64>;

/// Spawns five sheets side by side: more than the number of threads in some of the runs.
fn sheets(app: &mut App, extra: impl Bundle + Clone, upright: bool) -> Vec<Entity> {
    let positions = (0..5).map(|i| Vec3::new(1.5 * i as f32, 0.1 * i as f32, 0.3));
    positions
        .map(|position| {
            let grid = if upright {
                ClothGrid::vertical(1.0, 1.0, 24, 20)
            } else {
                ClothGrid::new(1.0, 1.0, 24, 20)
            };
            let mesh = Mesh3d(add_mesh(app, grid));
            let transform = Transform::from_translation(position);
            let bundle = (Cloth::default(), mesh, transform, extra.clone());
            app.world_mut().spawn(bundle).id()
        })
        .collect()
}

/// Returns one hash of all cloths (FNV-1a, as the state hash of each).
fn hash(app: &App, cloths: &[Entity]) -> u64 {
    let hashes = cloths.iter().map(|&cloth| {
        let particles = particles(app, cloth);
        assert!(particles.is_finite());
        particles.state_hash()
    });
    hashes
        .flat_map(u64::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

fn hanging_in_gusts() -> u64 {
    let mut app = app();
    app.insert_resource(Wind {
        velocity: Vec3::new(1.0, 0.5, 4.0),
        gusts: 0.7,
        ..default()
    });
    let cloths = sheets(&mut app, Pins::top_corners(), true);
    run(&mut app, 200);
    hash(&app, &cloths)
}

fn drape_on_moving_colliders() -> u64 {
    let mut app = app();
    #[derive(Component)]
    struct Moving;
    for i in 0..3 {
        let transform = Transform::from_xyz(3.0 * i as f32, -0.5, 0.3);
        let ball = ClothCollider::sphere(0.35).with_friction(0.6, 0.4);
        app.world_mut().spawn((ball, transform, Moving));
        let transform = Transform::from_xyz(3.0 * i as f32 + 1.5, -0.6, 0.3);
        let brick = ClothCollider::cuboid(0.5, 0.3, 0.4).with_friction(0.3, 0.2);
        app.world_mut().spawn((brick, transform, Moving));
    }
    app.world_mut().spawn((
        ClothCollider::half_space(),
        Transform::from_xyz(0.0, -1.0, 0.0),
    ));
    let cloths = sheets(&mut app, (), false);
    let shift = |mut colliders: Query<&mut Transform, With<Moving>>| {
        for mut transform in &mut colliders {
            transform.translation += Vec3::new(0.002, 0.003, -0.001);
            // Half a degree. Not from an angle: sine and cosine differ between platforms.
            let turn = Quat::from_xyzw(0.0, 0.0044, 0.0, 1.0).normalize();
            transform.rotation = (turn * transform.rotation).normalize();
        }
    };
    app.add_systems(FixedUpdate, shift.before(ClothSystems::Prepare));
    run(&mut app, 150);
    hash(&app, &cloths)
}

fn cut_and_torn() -> u64 {
    let mut app = app();
    let extra = (Pins::edge(ClothEdge::Top), ClothTearing::at_load(60.0));
    let cloths = sheets(&mut app, extra, true);
    let pointer = app.world_mut().spawn_empty().id();
    run(&mut app, 30);
    let whole = particles(&app, cloths[0]).len();
    for &cloth in &cloths {
        let side = particles(&app, cloth).world_position(whole / 2);
        let low = particles(&app, cloth).world_position(whole - 5);
        command(&mut app, cloth, |cloth| {
            let inwards = Vec3::new(0.6, 0.03, 0.0);
            cloth.cut_segment(side - inwards, side + inwards, Vec3::Z);
            cloth.grab(pointer, low);
            cloth.drag(pointer, low + Vec3::new(0.5, -2.0, 0.7));
        });
        assert!(particles(&app, cloth).len() > whole, "the cloth is cut");
    }
    let cut = particles(&app, cloths[0]).len();
    run(&mut app, 120);
    assert!(particles(&app, cloths[0]).len() > cut, "the cloth tears");
    hash(&app, &cloths)
}

fn all_scenes() -> Hashes {
    let scenes: [(&str, fn() -> u64); 3] = [
        ("hanging_in_gusts", hanging_in_gusts),
        ("drape_on_moving_colliders", drape_on_moving_colliders),
        ("cut_and_torn", cut_and_torn),
    ];
    scenes
        .into_iter()
        .map(|(name, scene)| (name.into(), scene()))
        .collect()
}

#[test]
fn golden_hashes_match() {
    let hashes = all_scenes();
    let mut text = String::from(
        "# State hashes that every build must give, see golden.rs. Renewed when results are meant to\n\
         # change:\n",
    );
    writeln!(text, "#     {RENEW}=1 cargo test --test app golden").unwrap();
    for (name, hash) in &hashes {
        writeln!(text, "{name} {hash:016x}").unwrap();
    }
    if env::var_os(RENEW).is_some() {
        fs::write(GOLDEN, text).unwrap();
        return;
    }
    let golden = fs::read_to_string(GOLDEN).unwrap_or_default();
    assert!(
        golden == text,
        "state hashes have changed. If the change is intended, renew them:\n\
         \n    {RENEW}=1 cargo test --test app golden\n\nexpected:\n{golden}\nactual:\n{text}"
    );
}

/// Runs all scenes in a separate process with a number of threads and a SIMD level.
fn in_a_process(threads: usize, level: SimdLevel) -> Hashes {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "golden::child", "--ignored", "--nocapture"])
        .env(THREADS, threads.to_string())
        .env(LEVEL, format!("{level:?}"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{threads} threads, {level:?}: {text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let hash = |line: &str| {
        let (name, hash) = line.strip_prefix("hash ")?.split_once(' ')?;
        Some((name.into(), u64::from_str_radix(hash, 16).ok()?))
    };
    let hashes: Hashes = text.lines().filter_map(hash).collect();
    assert_eq!(hashes.len(), 3, "{text}");
    hashes
}

#[test]
#[ignore = "run in separate processes by the other tests"]
fn child() {
    if let Some(threads) = env::var(THREADS).ok().and_then(|text| text.parse().ok()) {
        // Before an app creates its own pool.
        ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(threads).build());
        assert_eq!(ComputeTaskPool::get().thread_num(), threads);
    }
    if let Ok(name) = env::var(LEVEL) {
        let level = SimdLevel::ALL
            .into_iter()
            .find(|l| format!("{l:?}") == name);
        assert!(level.is_some_and(SimdLevel::force), "{name}");
    }
    // The test harness has begun the line with the name of the test.
    println!();
    for (name, hash) in all_scenes() {
        println!("hash {name} {hash:016x}");
    }
}

#[test]
fn golden_scenes_are_the_same_on_one_two_and_seven_threads_and_in_two_processes() {
    let serial = in_a_process(1, SimdLevel::best());
    for threads in [2, 7, 7] {
        let many = in_a_process(threads, SimdLevel::best());
        assert_eq!(many, serial, "{threads} threads");
    }
}

#[test]
fn golden_scenes_are_the_same_with_all_instruction_sets() {
    let baseline = in_a_process(2, SimdLevel::Baseline);
    for level in SimdLevel::ALL {
        if level.is_available() {
            assert_eq!(in_a_process(2, level), baseline, "{level:?}");
        }
    }
}
