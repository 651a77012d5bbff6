//! What hands and blades cost, in an app without a window: everything that the plugin does.
//!
//! ```sh
//! cargo bench --bench tear
//! ```
//!
//! The machine is noisy: compare the medians of one run.

#[expect(dead_code, reason = "measure needs more")]
#[path = "../examples/measure/crowd.rs"]
mod crowd;

use bevy::prelude::*;
use bevy_drape::{GrabCloth, Particles, prelude::*};
use divan::Bencher;
use std::cell::RefCell;

fn main() {
    divan::main();
}

/// An app with a sheet of `side` × `side` particles, 2 m wide, that hangs by its upper edge. Each update
/// is a step of 1/60 s.
fn hanging(side: u32) -> (App, Entity) {
    let mut app = crowd::headless(2);
    app.finish();
    app.cleanup();
    let mesh = Mesh::from(ClothGrid::vertical(2.0, 2.0, side, side));
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    let cloth = (Cloth::default(), Mesh3d(mesh), Pins::edge(ClothEdge::Top));
    let cloth = app.world_mut().spawn(cloth).id();
    (0..4).for_each(|_| app.update());
    (app, cloth)
}

/// One cut through a sheet of 128 × 128 that opens a hundred edges, between two rows of particles: it
/// divides a hundred triangles.
#[divan::bench(sample_count = 40, sample_size = 1)]
fn cut_of_100_edges(bencher: Bencher) {
    let (app, cloth) = hanging(128);
    let before = app.world().get::<Particles>(cloth).map(|p| p.len());
    let app = RefCell::new(app);
    bencher
        .with_inputs(|| {
            let mut app = app.borrow_mut();
            app.world_mut().trigger(ResetCloth { entity: cloth });
            app.update();
        })
        .bench_local_values(|()| {
            let mut app = app.borrow_mut();
            let mut commands = app.world_mut().commands();
            let (from, to) = (Vec3::new(-0.5, 0.0, 0.0), Vec3::new(0.29, 0.0, 0.0));
            commands.entity(cloth).cut_segment(from, to, Vec3::Z);
            app.world_mut().flush();
        });
    let app = app.into_inner();
    // Each edge that opens has a particle more than edges before it, and one on either side.
    let after = app.world().get::<Particles>(cloth).map(|p| p.len());
    let came = after
        .zip(before)
        .map_or(0, |(after, before)| after - before);
    assert!(came >= 2 * 99, "only {came} particles came");
}

/// A step of a sheet of 128 × 128 in which 17 threads tear, as 60 times in a second with a thousand
/// tears; and one in which none does.
#[divan::bench(args = [0, 17], sample_count = 60, sample_size = 1)]
fn step_with_tears(bencher: Bencher, tears: u32) {
    let (mut app, cloth) = hanging(128);
    app.world_mut().entity_mut(cloth).insert(Tearing {
        most_per_step: tears,
        least_piece: 2,
        // Every thread that carries anything carries too much.
        ..Tearing::at_strain(1e-6)
    });
    bencher.bench_local(|| app.update());
}

/// A step of a sheet of 64 × 64 that nobody holds, that a hand holds at a point, and that a brush of
/// 0.2 m holds.
#[divan::bench(args = ["free", "point", "brush"], sample_count = 100, sample_size = 1)]
fn step_while_held(bencher: Bencher, how: &str) {
    let (mut app, cloth) = hanging(64);
    if how != "free" {
        let hand = app.world_mut().spawn_empty().id();
        let mut grab = GrabCloth::new(cloth, hand, Vec3::ZERO);
        grab.radius = if how == "brush" { 0.2 } else { 0.0 };
        app.world_mut().trigger(grab);
    }
    bencher.bench_local(|| app.update());
}
