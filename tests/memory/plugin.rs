//! Memory and allocations of the plugin.

use crate::{
    counting::{allocations, live, peak},
    headless::headless_app,
};
use bevy::{
    asset::AssetEventSystems,
    camera::visibility::VisibilitySystems,
    ecs::schedule::{ScheduleLabel, SingleThreadedExecutor},
    prelude::*,
};
use bevy_drape::{prelude::*, proxy::ClothProxy, wind::WindOcclusion};
use std::time::Instant;

/// Creates an app with cloths of `side`² particles that hang by two corners, and with their source mesh.
fn app(side: u32, cloths: usize, self_collision: SelfCollision) -> App {
    let mut app = headless_app(ClothPlugin::default());
    let mesh = Mesh::from(ClothGrid::vertical(2.0, 2.0, side, side));
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    // The source mesh belongs to the user and exists without cloths too.
    app.world_mut().spawn(Mesh3d(mesh.clone()));
    for _ in 0..cloths {
        let cloth = Cloth {
            self_collision,
            ..default()
        };
        let parts = (cloth, Pins::top_corners(), Mesh3d(mesh.clone()));
        app.world_mut().spawn(parts);
    }
    app
}

fn run(app: &mut App, updates: u32) {
    (0..updates).for_each(|_| app.update());
}

/// Numbers of allocations in the phases of the plugin.
#[derive(Resource, Default)]
struct Allocations {
    before: usize,
    in_steps: usize,
    in_building: usize,
    in_writing: usize,
}

/// Adds a system before a phase that begins to count allocations, and one after it that adds them up.
fn count(
    app: &mut App,
    schedule: impl ScheduleLabel + Clone,
    [first, last]: [ClothSystems; 2],
    sum: fn(&mut Allocations) -> &mut usize,
) {
    let begin = |mut counts: ResMut<Allocations>| counts.before = allocations();
    let end = move |mut counts: ResMut<Allocations>| {
        let more = allocations() - counts.before;
        *sum(&mut counts) += more;
    };
    // Transforms that Bevy propagates before, and asset events of changed meshes that it sends afterwards, do not
    // count.
    let begin = begin.after(TransformSystems::Propagate).before(first);
    let end = end
        .after(last)
        .before(VisibilitySystems::CalculateBounds)
        .before(AssetEventSystems);
    app.add_systems(schedule.clone(), (begin, end).chain());
}

/// Tests that a fixed step and a frame do not allocate in steady state. All allocations from the beginning of a
/// phase to its end count, on all threads, including Bevy's.
///
/// Out of scope: Bevy's multi-threaded executor allocates for each system that it runs, and so does passing cloths
/// to other threads. This app has one cloth and the single-threaded executor.
pub(crate) fn allocates_nothing() {
    let mut app = app(20, 1, SelfCollision::On);
    app.world_mut().spawn((
        ClothCollider::sphere(0.3),
        Transform::from_xyz(0.0, 0.0, 0.2),
    ));
    #[cfg(feature = "parry")]
    app.world_mut().spawn((
        ClothMeshCollider::heightfield(vec![0.0; 1600], 40, Vec2::splat(4.0)),
        Transform::from_xyz(0.0, -1.2, 0.0),
    ));
    app.insert_resource(WindOcclusion {
        length: 3.0,
        ..default()
    });
    app.insert_resource(Wind {
        velocity: Vec3::new(3.0, 0.0, 2.0),
        // So that it does not come to rest.
        gusts: 1.0,
        ..default()
    });
    app.init_resource::<Allocations>();
    app.edit_schedule(FixedUpdate, |schedule| {
        schedule.set_executor(SingleThreadedExecutor::new());
    });
    app.edit_schedule(PostUpdate, |schedule| {
        schedule.set_executor(SingleThreadedExecutor::new());
    });
    use ClothSystems::{Build, Finish, Prepare, WriteMesh};
    count(&mut app, FixedUpdate, [Prepare, Finish], |counts| {
        &mut counts.in_steps
    });
    count(&mut app, PostUpdate, [Build, Build], |counts| {
        &mut counts.in_building
    });
    count(&mut app, PostUpdate, [WriteMesh, WriteMesh], |counts| {
        &mut counts.in_writing
    });
    run(&mut app, 60);
    app.insert_resource(Allocations::default());
    let position = |app: &mut App| {
        let mut cloths = app.world_mut().query::<&ClothParticles>();
        let particles = cloths.single(app.world()).unwrap();
        particles.world_position(particles.len() / 2)
    };
    let before = position(&mut app);
    run(&mut app, 60);
    assert_ne!(position(&mut app), before, "the cloth does not move");
    let Allocations {
        in_steps,
        in_building,
        in_writing,
        ..
    } = app.world().resource::<Allocations>();
    println!(
        "60 frames allocate {in_steps} times in steps, {in_building} in building, \
         {in_writing} in writing meshes"
    );
    assert_eq!([*in_steps, *in_building, *in_writing], [0; 3]);
}

/// Tests the memory that a cloth keeps per particle, with its own mesh but without the source mesh.
pub(crate) fn keeps_few_bytes_for_each_particle() {
    use SelfCollision::{Off, On};
    // 12 bytes of these are the positions by which sleep is decided. Cloths that collide would touch each other.
    for (side, collides, most, most_of_another) in [
        (64, Off, 256.0, Some(174.0)),
        (128, Off, 229.0, Some(161.0)),
        (256, Off, 209.0, Some(146.0)),
        (64, On, 985.0, None),
        (256, On, 945.0, None),
    ] {
        let bytes = |cloths: usize| {
            let before = live();
            peak();
            let mut app = app(side, cloths, collides);
            run(&mut app, 10);
            (live() - before, peak() - before)
        };
        // An app takes 100 kB more or less from one time to the next.
        let mut runs = [(); 3].map(|()| {
            let (without, with) = (bytes(0), bytes(1));
            [with.0 - without.0, with.1 - without.1]
        });
        runs.sort_unstable();
        let particles = f64::from(side * side);
        let [kept, needed] = runs[1];
        let [kept, needed] = [kept, needed].map(|bytes| bytes as f64 / particles);
        println!(
            "{side} × {side}, self-collision {collides:?}: {kept:.1} bytes a particle, {needed:.1} while \
             it is built"
        );
        assert!(kept <= most, "{side} × {side}: {kept} bytes a particle");
        let Some(most) = most_of_another else {
            continue;
        };
        let of_another = (bytes(9).0 - bytes(1).0) as f64 / (8.0 * particles);
        println!("{of_another:.1} bytes a particle for another cloth of that mesh");
        assert!(of_another <= most, "{side} × {side}: {of_another} bytes");
    }
}

/// Tests that nothing is kept of cloths that are gone: sheets, ropes, proxies, colliders, tears and grabs.
pub(crate) fn keeps_nothing_of_cloths_that_are_gone() {
    let mut app = app(8, 1, SelfCollision::On);
    let mut spawn_and_despawn = |count: u32| {
        for _ in 0..count {
            let world = app.world_mut();
            let mesh = |world: &mut World, side| {
                let mesh = Mesh::from(ClothGrid::vertical(1.0, 1.0, side, side));
                Mesh3d(world.resource_mut::<Assets<Mesh>>().add(mesh))
            };
            let (coarse, fine) = (mesh(world, 6), mesh(world, 12));
            let cloth = Cloth {
                self_collision: SelfCollision::On,
                ..default()
            };
            let cloth = world.spawn((cloth, Pins::top_corners(), coarse)).id();
            let rope = Rope::between(Vec3::ZERO, Vec3::X, 8);
            let rest = [
                world.spawn((ClothProxy { cloth }, fine)).id(),
                world.spawn((rope, Pins::ends())).id(),
                world
                    .spawn((ClothCollider::sphere(0.2), Transform::default()))
                    .id(),
                world
                    .spawn((WindZone::default(), Transform::default()))
                    .id(),
            ];
            run(&mut app, 2);
            let mut commands = app.world_mut().commands();
            let mut commands = commands.entity(cloth);
            commands.grab(rest[2], Vec3::ZERO);
            commands.shred(Vec3::ZERO, 0.3);
            app.world_mut().flush();
            run(&mut app, 1);
            for entity in rest.into_iter().chain([cloth]) {
                app.world_mut().despawn(entity);
            }
        }
        // Assets are removed, and lists of events emptied, a few frames later.
        run(&mut app, 5);
        live()
    };
    let before = spawn_and_despawn(200);
    let more = spawn_and_despawn(1000) as f64 - before as f64;
    println!("1000 spawned and despawned cloths leave {more} bytes");
    assert!(more < 20_000.0, "{more} bytes");
}

/// Tests that the work from the mesh to the end of the first step, tethers included, grows with the number of particles.
pub(crate) fn builds_in_linear_time() {
    let work = |side| {
        let mut app = app(side, 1, SelfCollision::Off);
        let (began, used) = (Instant::now(), processor_seconds());
        run(&mut app, 2);
        // Waiting for the processor while other programs use it does not count.
        let used = used.zip(processor_seconds());
        used.map_or_else(
            || began.elapsed().as_secs_f64(),
            |(before, after)| after - before,
        )
    };
    let [quarter, all] = [500, 1000].map(work);
    println!(
        "a million particles: {all:.2} s of work until they have moved; a quarter of that: {quarter:.2} s"
    );
    assert!(all < 8.0 * quarter, "{all} s, {quarter} s");
}

/// Returns the processor time of all threads of this process, s, on systems with `/proc`.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in brackets may contain anything. User and system time are the 12th and 13th field after it, in
    // hundredths of a second.
    let (_, numbers) = stat.rsplit_once(')')?;
    let mut numbers = numbers.split_whitespace().skip(11);
    let mut next = || numbers.next()?.parse::<f64>().ok();
    Some((next()? + next()?) / 100.0)
}
