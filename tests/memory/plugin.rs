//! The plugin in an app.

use crate::{
    counting::{live, peak, requests},
    headless::headless_app,
};
use bevy::{
    asset::AssetEventSystems,
    ecs::schedule::{ScheduleLabel, SingleThreadedExecutor},
    prelude::*,
};
use bevy_drape::{ClothSystems, Particles, prelude::*};
use std::time::Instant;

/// An app with so many cloths that hang by two corners, and with the mesh of which they are made.
fn app(side: u32, cloths: usize, self_collision: SelfCollision) -> App {
    let mut app = headless_app(ClothPlugin::default());
    let mesh = Mesh::from(ClothGrid::vertical(2.0, 2.0, side, side));
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    // It is the user's, and there without cloths too.
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

/// How often memory was asked for in the phases of the plugin.
#[derive(Resource, Default)]
struct Asked {
    before: usize,
    in_steps: usize,
    in_building: usize,
    in_drawing: usize,
}

/// Puts a system in front of a phase that begins to count, and one behind it that adds up.
fn count(
    app: &mut App,
    schedule: impl ScheduleLabel + Clone,
    [first, last]: [ClothSystems; 2],
    sum: fn(&mut Asked) -> &mut usize,
) {
    let begin = |mut asked: ResMut<Asked>| asked.before = requests();
    let end = move |mut asked: ResMut<Asked>| {
        let more = requests() - asked.before;
        *sum(&mut asked) += more;
    };
    // What Bevy tells of changed meshes afterwards does not count.
    let end = end.after(last).before(AssetEventSystems);
    app.add_systems(schedule.clone(), (begin.before(first), end));
}

/// What a fixed step and a frame ask for once they are under way. With one cloth they run on one
/// thread, and everything from the beginning of a phase to its end counts, on all threads, what Bevy
/// does there included.
///
/// What is beyond the plugin: Bevy's executor for several threads asks for memory for each system that
/// it runs, and so does handing cloths to other threads; this app has the executor for a single thread,
/// and one cloth.
pub(crate) fn asks_for_nothing() {
    let mut app = app(20, 1, SelfCollision::Particles);
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
        ..default()
    });
    app.init_resource::<Asked>();
    app.edit_schedule(FixedUpdate, |schedule| {
        schedule.set_executor(SingleThreadedExecutor::new());
    });
    app.edit_schedule(PostUpdate, |schedule| {
        schedule.set_executor(SingleThreadedExecutor::new());
    });
    use ClothSystems::{Build, Finish, Prepare, WriteMesh};
    count(&mut app, FixedUpdate, [Prepare, Finish], |asked| {
        &mut asked.in_steps
    });
    count(&mut app, PostUpdate, [Build, Build], |asked| {
        &mut asked.in_building
    });
    count(&mut app, PostUpdate, [WriteMesh, WriteMesh], |asked| {
        &mut asked.in_drawing
    });
    run(&mut app, 60);
    app.insert_resource(Asked::default());
    let place = |app: &mut App| {
        let mut cloths = app.world_mut().query::<&Particles>();
        let particles = cloths.single(app.world()).unwrap();
        particles.world_position(particles.len() / 2)
    };
    let before = place(&mut app);
    run(&mut app, 60);
    assert_ne!(place(&mut app), before, "it moves");
    let Asked {
        in_steps,
        in_building,
        in_drawing,
        ..
    } = app.world().resource::<Asked>();
    println!(
        "60 frames ask for memory {in_steps} times in steps, {in_building} in building, \
         {in_drawing} in drawing"
    );
    assert_eq!([*in_steps, *in_building, *in_drawing], [0; 3]);
}

/// What a cloth keeps in all, its own mesh with it; the mesh that the user made is not counted.
pub(crate) fn keeps_few_bytes_for_each_particle() {
    use SelfCollision::{Off, Particles};
    for (side, collides, most) in [
        (64, Off, 250.0),
        (128, Off, 220.0),
        (256, Off, 200.0),
        (64, Particles, 450.0),
        (256, Particles, 400.0),
    ] {
        let bytes = |cloths: usize| {
            let before = live();
            peak();
            let mut app = app(side, cloths, collides);
            run(&mut app, 10);
            (live() - before, peak() - before)
        };
        let (without, with) = (bytes(0), bytes(1));
        let particles = f64::from(side * side);
        let [kept, needed] = [with.0 - without.0, with.1 - without.1];
        let [kept, needed] = [kept, needed].map(|bytes| bytes as f64 / particles);
        println!(
            "{side} × {side}, self-collision {collides:?}: {kept:.1} bytes a particle, {needed:.1} while \
             it is built"
        );
        assert!(kept <= most, "{side} × {side}: {kept} bytes a particle");
    }
}

/// From the mesh to the end of the first step, tethers included.
pub(crate) fn builds_a_million_particles_soon() {
    let mut app = app(1000, 1, SelfCollision::Off);
    let (began, used) = (Instant::now(), processor_seconds());
    run(&mut app, 2);
    let took = began.elapsed().as_secs_f64();
    // While others use the processor too, waiting for it does not count.
    let used = used.zip(processor_seconds());
    let used = used.map_or(took, |(before, after)| after - before);
    println!("a million particles: {took:.2} s until they have moved, {used:.2} s of work");
    // The limit is for what is compiled with all optimisations.
    let most = if cfg!(debug_assertions) { 10.0 } else { 5.0 };
    assert!(took.min(used) < most, "{used} s of work, {took} s in all");
}

/// How long all threads of this process have worked, where the system tells it, s.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // What comes before the name in brackets may be anything; user and system time are the 12th and
    // 13th number behind it, in hundredths of a second.
    let (_, numbers) = stat.rsplit_once(')')?;
    let mut numbers = numbers.split_whitespace().skip(11);
    let mut next = || numbers.next()?.parse::<f64>().ok();
    Some((next()? + next()?) / 100.0)
}
