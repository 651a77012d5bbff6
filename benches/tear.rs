//! Cost of grabs and cuts in an app without a window, including all systems of the plugin.
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
use bevy_drape::{grab::GrabCloth, prelude::*};
use divan::Bencher;
use std::cell::RefCell;

fn main() {
    divan::main();
}

/// Creates an app with a sheet of `side` × `side` particles, 2 m wide, pinned at its upper edge. Each update is a
/// step of 1/60 s.
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

/// A cut between two rows of particles of a sheet of 128 × 128 that opens a hundred edges and divides a hundred
/// triangles.
#[divan::bench(sample_count = 40, sample_size = 1)]
fn cut_of_100_edges(bencher: Bencher) {
    let (app, cloth) = hanging(128);
    let before = app.world().get::<ClothParticles>(cloth).map(|p| p.len());
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
    // Each edge that opens gets a new particle on both sides of the cut.
    let after = app.world().get::<ClothParticles>(cloth).map(|p| p.len());
    let added = after
        .zip(before)
        .map_or(0, |(after, before)| after - before);
    assert!(added >= 2 * 99, "only {added} particles were added");
}

/// A step of a sheet of 128 × 128 in which 17 edges tear, as at a thousand tears per second, and one without
/// tears.
#[divan::bench(args = [0, 17], sample_count = 60, sample_size = 1)]
fn step_with_tears(bencher: Bencher, tears: u32) {
    let (mut app, cloth) = hanging(128);
    app.world_mut().entity_mut(cloth).insert(ClothTearing {
        most_per_step: tears,
        least_piece: 2,
        // Every stretched edge exceeds the limit.
        ..ClothTearing::at_strain(1e-6)
    });
    bencher.bench_local(|| app.update());
}

/// A step of a sheet of 64 × 64 without a grab, grabbed at a point, and grabbed with a brush of 0.2 m.
#[divan::bench(args = ["free", "point", "brush"], sample_count = 100, sample_size = 1)]
fn step_while_grabbed(bencher: Bencher, how: &str) {
    let (mut app, cloth) = hanging(64);
    if how != "free" {
        let hand = app.world_mut().spawn_empty().id();
        let mut grab = GrabCloth::new(cloth, hand, Vec3::ZERO);
        grab.radius = if how == "brush" { 0.2 } else { 0.0 };
        app.world_mut().trigger(grab);
    }
    bencher.bench_local(|| app.update());
}
