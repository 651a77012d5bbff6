//! Heavy loads, each beside a quarter of it: nothing may grow faster than its cause.
//!
//! ```sh
//! cargo bench --bench load
//! ```
//!
//! Whole updates of an app without a renderer, each with one step, on two threads. A ratio of 4 is in proportion. Then
//! cloth that collides with itself where it touches everywhere at once: its longest update over the median of those of
//! the same cloth apart.

#[expect(dead_code, reason = "measure needs more")]
#[path = "../examples/measure/crowd.rs"]
mod crowd;
#[path = "common/turns.rs"]
mod turns;

use bevy::prelude::*;
use bevy_drape::{prelude::*, sleep::ClothSleeping};
use turns::{Times, is_bench, take_turns, timed};

/// Steps until cloth hangs or lies, but still moves.
const STEPS: u32 = 120;

/// Load of an app: its name, how many or how large a quarter and all of it is, and how such an app is made.
type Load = (&'static str, [u32; 2], fn(u32) -> App);

const LOADS: [Load; 6] = [
    ("cloths of 8² asleep", [2500, 10_000], asleep),
    (
        "particles along each side of a cloth that hangs",
        [500, 1000],
        hanging,
    ),
    ("spheres under a sheet of 64²", [125, 500], on_spheres),
    (
        "triangle meshes of 320 triangles under a sheet of 64²",
        [125, 500],
        on_meshes,
    ),
    ("capes of 24², each with a capsule", [50, 200], capes),
    ("cloths of 16² that touch, one on the other", [8, 32], stack),
];

fn main() {
    // As a test, everything is small.
    let scale = if is_bench() { 1 } else { 50 };
    println!("| load | a quarter, ms | all, ms | ratio (of the medians) |");
    println!("|---|---|---|---|");
    for (name, counts, make) in LOADS {
        let counts = counts.map(|count| (count / scale).max(2));
        let [mut few, mut all] = counts.map(make);
        let times = take_turns(
            8.0,
            [&mut || timed(|| few.update()), &mut || {
                timed(|| all.update())
            }],
        );
        print_row(&format!("{} {name}", counts[1]), times);
    }
    let count = 1000 / scale;
    print_row(
        &format!("{count} cloths of 24² built in one frame"),
        [count / 4, count].map(|count| {
            let time = spawning(count);
            Times {
                fastest: time,
                median: time,
            }
        }),
    );
    crowded(scale);
    far_away();
}

fn print_row(name: &str, [few, all]: [Times; 2]) {
    println!(
        "| {name} | {:.2} | {:.2} | {:.1} ({:.1}) |",
        few.fastest,
        all.fastest,
        all.fastest / few.fastest,
        all.median / few.median
    );
}

fn app() -> App {
    let mut app = crowd::headless(2);
    app.finish();
    app.cleanup();
    app
}

fn add_mesh(app: &mut App, mesh: impl Into<Mesh>) -> Mesh3d {
    let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
    Mesh3d(meshes.add(mesh.into()))
}

fn run(app: &mut App, updates: u32) {
    (0..updates).for_each(|_| app.update());
}

/// Returns cloth that never sleeps.
fn restless() -> Cloth {
    Cloth {
        sleep_speed: 0.0,
        ..default()
    }
}

fn asleep(count: u32) -> App {
    let mut app = app();
    let mesh = add_mesh(&mut app, ClothGrid::vertical(0.5, 0.5, 8, 8));
    for number in 0..count {
        let at = Transform::from_xyz((number % 100) as f32, 0.0, (number / 100) as f32);
        let pins = Pins::edge(ClothEdge::Top);
        app.world_mut()
            .spawn((Cloth::default(), pins, mesh.clone(), at));
    }
    let sleeping = |app: &mut App| {
        let mut sleeping = app.world_mut().query::<&ClothSleeping>();
        sleeping.iter(app.world()).count()
    };
    for _ in 0..2000 {
        if sleeping(&mut app) == count as usize {
            return app;
        }
        app.update();
    }
    panic!("{} of {count} sleep", sleeping(&mut app));
}

fn hanging(side: u32) -> App {
    let mut app = app();
    let mesh = add_mesh(&mut app, ClothGrid::vertical(4.0, 4.0, side, side));
    app.world_mut()
        .spawn((restless(), Pins::edge(ClothEdge::Top), mesh));
    run(&mut app, 10);
    app
}

/// Returns points of a square grid of 3 m under a sheet.
fn points(count: u32) -> impl Iterator<Item = Transform> {
    let side = f64::from(count).sqrt().ceil() as u32;
    (0..count).map(move |i| {
        let [x, z] = [i % side, i / side].map(|k| 3.0 * (k as f32 / side as f32 - 0.5));
        Transform::from_xyz(x, -0.3, z)
    })
}

fn spawn_sheet(app: &mut App) {
    let mesh = add_mesh(app, ClothGrid::new(2.0, 2.0, 64, 64));
    app.world_mut().spawn((restless(), mesh));
    run(app, STEPS);
}

fn on_spheres(count: u32) -> App {
    let mut app = app();
    for at in points(count) {
        app.world_mut().spawn((ClothCollider::sphere(0.1), at));
    }
    spawn_sheet(&mut app);
    app
}

fn on_meshes(count: u32) -> App {
    let mut app = app();
    #[cfg(feature = "parry")]
    {
        let ball = Sphere::new(0.1).mesh().ico(3).expect("few triangles");
        let ball = add_mesh(&mut app, ball);
        for at in points(count) {
            app.world_mut()
                .spawn((ClothMeshCollider::default(), ball.clone(), at));
        }
    }
    #[cfg(not(feature = "parry"))]
    let _ = points(count);
    spawn_sheet(&mut app);
    app
}

fn capes(count: u32) -> App {
    let mut app = app();
    let mesh = add_mesh(&mut app, ClothGrid::vertical(0.62, 0.95, 24, 24));
    for number in 0..count {
        let at = Vec3::new((number % 16) as f32 * 2.0, 0.0, (number / 16) as f32 * 2.0);
        app.world_mut().spawn((
            ClothCollider::capsule(0.2, 0.9),
            Transform::from_translation(at),
        ));
        app.world_mut().spawn((
            restless(),
            Pins::edge(ClothEdge::Top),
            mesh.clone(),
            Transform::from_translation(at + Vec3::new(0.0, 0.08, -0.23)),
        ));
    }
    run(&mut app, STEPS);
    app
}

fn stack(count: u32) -> App {
    let mut app = app();
    app.world_mut()
        .spawn((ClothCollider::half_space(), Transform::default()));
    let mesh = add_mesh(&mut app, ClothGrid::new(0.5, 0.5, 16, 16));
    for number in 0..count {
        let at = Transform::from_xyz(0.0, 0.05 + 0.04 * number as f32, 0.0);
        app.world_mut().spawn((colliding(None), mesh.clone(), at));
    }
    run(&mut app, STEPS);
    app
}

/// Returns the time of an update in which cloths are built and begin to move, ms. In the background they would take as long,
/// beside the updates (bench `spawn`).
fn spawning(count: u32) -> f64 {
    let mut app = app();
    run(&mut app, 10);
    let mesh = add_mesh(&mut app, ClothGrid::vertical(0.5, 0.5, 24, 24));
    for _ in 0..count {
        app.world_mut()
            .spawn((restless(), Pins::edge(ClothEdge::Top), mesh.clone()));
    }
    timed(|| app.update())
}

/// Prints the longest update of cloth that touches everywhere at once, and the median of the same cloth apart.
fn crowded(scale: u32) {
    let in_one_place = |apart: f32| {
        let mut app = app();
        let mesh = add_mesh(&mut app, ClothGrid::new(0.5, 0.5, 16, 16));
        for number in 0..100 / scale {
            let [x, z] = [number % 10, number / 10].map(|k| apart * k as f32);
            let at = Transform::from_xyz(x, 0.0, z);
            app.world_mut().spawn((colliding(None), mesh.clone(), at));
        }
        app.update();
        time_updates(app)
    };
    let thick = |thickness| {
        let mut app = app();
        let mesh = add_mesh(&mut app, ClothGrid::new(0.5, 0.5, 64, 64));
        let cloth = (colliding(thickness), mesh, Pins::edge(ClothEdge::Top));
        app.world_mut().spawn(cloth);
        app.update();
        time_updates(app)
    };
    let in_one_point = |is_one_point: bool| {
        let mut app = app();
        let mesh = add_mesh(&mut app, ClothGrid::new(0.5, 0.5, 64, 64));
        let cloth = app.world_mut().spawn((colliding(None), mesh)).id();
        app.update();
        if is_one_point {
            let mut particles = app.world_mut().get_mut::<ClothParticles>(cloth);
            let particles = particles.as_mut().expect("built at once");
            (0..particles.len()).for_each(|i| particles.set_world_position(i, Vec3::ONE));
        }
        time_updates(app)
    };
    println!("| self-collision | apart, ms | longest update, ms | ratio |");
    println!("|---|---|---|---|");
    for (name, [[apart, _], [_, longest]]) in [
        (
            "100 cloths of 16² in one place",
            [1.0, 0.0].map(in_one_place),
        ),
        (
            "a cloth of 64² as thick as it is large",
            [None, Some(0.5)].map(thick),
        ),
        (
            "all particles of 64² in one point",
            [false, true].map(in_one_point),
        ),
    ] {
        println!(
            "| {name} | {apart:.2} | {longest:.2} | {:.1} |",
            longest / apart
        );
    }
}

/// Returns cloth that never sleeps and collides with itself and with other cloths.
fn colliding(thickness: Option<f32>) -> Cloth {
    Cloth {
        self_collision: SelfCollision::On,
        fabric: Fabric {
            thickness,
            ..default()
        },
        ..restless()
    }
}

/// Returns the median and the longest time of the next updates, ms.
fn time_updates(mut app: App) -> [f64; 2] {
    let mut times = [(); STEPS as usize].map(|()| timed(|| app.update()));
    times.sort_by(f64::total_cmp);
    [times[times.len() / 2], times[times.len() - 1]]
}

/// Prints how cloth 1,000 km from the origin differs from the same cloth at the origin.
fn far_away() {
    let swinging = |x: f32| {
        let mut app = app();
        let mesh = add_mesh(&mut app, ClothGrid::new(1.0, 1.0, 64, 64));
        let parts = (restless(), Pins::edge(ClothEdge::Top), mesh);
        let at = Transform::from_xyz(x, 0.0, 0.0);
        let cloth = app.world_mut().spawn((parts, at)).id();
        run(&mut app, STEPS);
        (app, cloth)
    };
    let (mut near, first) = swinging(0.0);
    let (mut far, second) = swinging(1e6);
    let particles = |app: &App, cloth| app.world().get::<ClothParticles>(cloth).cloned();
    let both = particles(&near, first).zip(particles(&far, second));
    let (a, b) = both.expect("both are built");
    let apart = (0..a.len()).map(|i| a.position.get(i).distance(b.position.get(i)));
    let apart = apart.fold(0.0, f32::max);
    let [near, far] = take_turns(
        3.0,
        [&mut || timed(|| near.update()), &mut || {
            timed(|| far.update())
        }],
    );
    println!(
        "a swinging sheet of 64² 1,000 km from the origin: {:.2} ms, {:.2} at the origin; particles differ by at most {apart:e} m \
         after {STEPS} steps",
        far.fastest, near.fastest
    );
}
