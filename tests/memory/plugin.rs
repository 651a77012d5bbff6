//! The plugin in an app.

use crate::{
    counting::{calls, live, peak},
    headless::headless_app,
};
use bevy::prelude::*;
use bevy_drape::prelude::*;

/// An app whose mesh of a cloth is loaded, with or without the cloth.
fn app(side: u32, cloths: usize) -> App {
    let mut app = headless_app(ClothPlugin::default());
    let mesh = Mesh::from(ClothGrid::vertical(2.0, 2.0, side, side));
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    app.world_mut().spawn(Mesh3d(mesh.clone()));
    for _ in 0..cloths {
        let parts = (Cloth::default(), Pins::top_corners(), Mesh3d(mesh.clone()));
        app.world_mut().spawn(parts);
    }
    app
}

fn run(app: &mut App, updates: u32) {
    (0..updates).for_each(|_| app.update());
}

pub(crate) fn allocates_nothing_of_its_own() {
    for cloths in [0, 1, 2, 10] {
        let mut app = app(20, cloths);
        run(&mut app, 60);
        for _ in 0..4 {
            println!("{cloths} {}", calls(|| run(&mut app, 60)));
        }
    }
}

pub(crate) fn keeps_few_bytes_for_each_particle() {
    for side in [64, 128, 256] {
        let bytes = |cloths: usize| {
            let before = live();
            peak();
            let mut app = app(side, cloths);
            run(&mut app, 10);
            (live() - before, peak() - before)
        };
        let without = bytes(0);
        let with = bytes(1);
        let particles = (side * side) as usize;
        let each = (with.0 - without.0) as f64 / particles as f64;
        println!(
            "{side}: {each:.1} bytes a particle, {:.1} at most while it is built",
            (with.1 - without.0) as f64 / particles as f64
        );
    }
}
