//! Cost of the plugin while nothing moves: one update of an app with it, minus one without it, under Bevy's default
//! executors and task pools.
//!
//! ```sh
//! cargo bench --bench idle
//! ```
//!
//! Each update takes one fixed step. The apps take turns, and medians are compared: an update of an empty app differs
//! by a factor of three from one run to the next.

#[path = "common/turns.rs"]
mod turns;

use bevy::{
    asset::AssetPlugin, mesh::MeshPlugin, prelude::*, time::TimeUpdateStrategy,
    transform::TransformPlugin,
};
use bevy_drape::{prelude::*, sleep::ClothSleeping};
use turns::{Times, is_bench, take_turns, timed};

/// Particles along each side of a sleeping cloth.
const SIDE: u32 = 8;

fn main() {
    let many = if is_bench() { 1000 } else { 3 };
    let mut without = app(None);
    let mut apps = [0, 1, many].map(|cloths| app(Some(cloths)));
    let [none, one, all] = &mut apps;
    let times = take_turns(
        10.0,
        [
            &mut || timed(|| without.update()),
            &mut || timed(|| none.update()),
            &mut || timed(|| one.update()),
            &mut || timed(|| all.update()),
        ],
    );
    let [base, ..] = times;
    println!("| app | fastest, µs | median, µs | median over the app without the plugin, µs |");
    println!("|---|---|---|---|");
    let row = |name: &str, times: Times| {
        let Times { fastest, median } = times;
        let over = (median - base.median) * 1e3;
        println!(
            "| {name} | {:.0} | {:.0} | {over:.0} |",
            fastest * 1e3,
            median * 1e3
        );
    };
    row("without the plugin", times[0]);
    row("no cloth", times[1]);
    row("1 cloth asleep", times[2]);
    row(&format!("{many} cloths asleep"), times[3]);
}

/// Creates an app with this many sleeping cloths, or without the plugin.
fn app(cloths: Option<u32>) -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        MeshPlugin,
        TransformPlugin,
    ))
    .insert_resource(Time::<Fixed>::from_hz(60.0))
    .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    if cloths.is_some() {
        app.add_plugins(ClothPlugin::default());
    }
    app.finish();
    app.cleanup();
    for number in 0..cloths.unwrap_or(0) {
        let mesh = app
            .world_mut()
            .resource_mut::<Assets<Mesh>>()
            .add(ClothGrid::vertical(0.5, 0.5, SIDE, SIDE));
        app.world_mut().spawn((
            Cloth::default(),
            Pins::edge(ClothEdge::Top),
            Mesh3d(mesh),
            Transform::from_xyz(number as f32, 0.0, 0.0),
        ));
    }
    let cloths = cloths.unwrap_or(0) as usize;
    let asleep = |app: &mut App| {
        let mut sleeping = app.world_mut().query::<&ClothSleeping>();
        sleeping.iter(app.world()).count()
    };
    for _ in 0..5000 {
        if asleep(&mut app) == cloths {
            break;
        }
        app.update();
    }
    assert_eq!(
        asleep(&mut app),
        cloths,
        "cloths that hang still fall asleep"
    );
    // Leaves out the updates right after falling asleep.
    (0..10).for_each(|_| app.update());
    app
}
