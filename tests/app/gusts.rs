//! Gusts of wind.

use crate::{app, particles, run, spawn};
use bevy::prelude::*;
use bevy_drape::{prelude::*, wind::WindTime};

fn cloth_in_gusts(gusts: f32) -> (App, Entity) {
    let mut app = app();
    app.insert_resource(Wind {
        velocity: Vec3::new(1.0, 0.5, 4.0),
        gusts,
        ..default()
    });
    let cloth = spawn(&mut app, Pins::top_corners());
    (app, cloth)
}

#[test]
fn gusts_are_the_same_in_each_run_and_stop_in_a_pause() {
    let hash = |gusts, pause| {
        let (mut app, cloth) = cloth_in_gusts(gusts);
        run(&mut app, 40);
        app.world_mut().resource_mut::<ClothTime>().paused = pause;
        let before = *app.world().resource::<WindTime>();
        run(&mut app, 30);
        if pause {
            assert_eq!(before, *app.world().resource::<WindTime>());
            app.world_mut().resource_mut::<ClothTime>().paused = false;
            run(&mut app, 30);
        }
        particles(&app, cloth).state_hash()
    };
    assert_eq!(hash(0.6, false), hash(0.6, false));
    assert_eq!(hash(0.6, false), hash(0.6, true));
    assert_ne!(hash(0.6, false), hash(0.0, false));
}

#[test]
fn wind_time_advances_with_the_steps() {
    let (mut app, _) = cloth_in_gusts(0.5);
    run(&mut app, 61);
    // No step runs in the first frame.
    let seconds = app.world().resource::<WindTime>().0;
    assert!((seconds - 1.0).abs() < 0.02, "{seconds}");
}
