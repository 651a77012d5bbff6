//! Colliders that shield cloth from the wind.

use crate::{add_mesh, app, centre, particles, run, spawn};
use bevy::{ecs::system::RunSystemOnce, prelude::*};
use bevy_drape::{
    cloth::ClothMaxThreads,
    prelude::*,
    wind::{LocalWind, WindOcclusion},
};

const LEE: WindOcclusion = WindOcclusion {
    length: 4.0,
    spread: 0.2,
};

/// Creates an app with wind along +X and a wall of 3 m × 3 m across it. Returns the app and the wall.
fn windy(occlusion: WindOcclusion) -> (App, Entity) {
    let mut app = app();
    app.insert_resource(Wind {
        velocity: Vec3::X * 6.0,
        gusts: 0.5,
        ..default()
    });
    app.insert_resource(occlusion);
    let wall = app
        .world_mut()
        .spawn(ClothCollider::cuboid(0.1, 3.0, 3.0))
        .id();
    (app, wall)
}

/// Spawns a flag that hangs by its upper edge, turned by 1.2 rad about the vertical.
fn flag(app: &mut App, position: Vec3) -> Entity {
    let mesh = add_mesh(app, ClothGrid::vertical(0.8, 0.8, 12, 12));
    let cloth = (Cloth::default(), Pins::edge(ClothEdge::Top), Mesh3d(mesh));
    let transform = Transform::from_translation(position).with_rotation(Quat::from_rotation_y(1.2));
    app.world_mut().spawn((cloth, transform)).id()
}

/// Returns the mean speed of a flag, m/s, and its mean displacement in x from its hanging position, m.
fn measure_motion(app: &mut App, flag: Entity, at: Vec3) -> (f32, f32) {
    run(app, 120);
    let (mut speed, mut blown) = (0.0, 0.0);
    for _ in 0..60 {
        app.update();
        let p = particles(app, flag);
        let speeds = (0..p.len()).map(|i| p.velocity(i).length());
        speed += speeds.sum::<f32>() / p.len() as f32 / 60.0;
        blown += (centre(app, flag).x - at.x) / 60.0;
    }
    (speed, blown)
}

#[test]
fn a_flag_hangs_still_behind_a_wall_and_flutters_beside_it() {
    let lee = Vec3::new(0.8, 0.0, 0.0);
    for (occlusion, at, is_still) in [
        (LEE, lee, true),
        (LEE, Vec3::new(0.8, 0.0, 4.0), false),
        (LEE, -lee, false),
        (WindOcclusion::default(), lee, false),
    ] {
        let (mut app, _) = windy(occlusion);
        let flag = flag(&mut app, at);
        let (speed, blown) = measure_motion(&mut app, flag, at);
        if is_still {
            assert!(speed < 0.05 && blown < 0.03, "{at}: {speed} m/s, {blown} m");
        } else {
            assert!(blown > 0.1, "{at}: {speed} m/s, {blown} m");
        }
    }
}

#[test]
fn a_wall_that_moves_away_lets_the_wind_in() {
    let (mut app, wall) = windy(LEE);
    let at = Vec3::new(0.8, 0.0, 0.0);
    let flag = flag(&mut app, at);
    assert!(measure_motion(&mut app, flag, at).1 < 0.03);
    app.world_mut()
        .get_mut::<Transform>(wall)
        .unwrap()
        .translation
        .y = 20.0;
    assert!(measure_motion(&mut app, flag, at).1 > 0.1);
    // The same from the other side, with wind from a zone.
    let (mut app, wall) = windy(LEE);
    app.insert_resource(Wind::default());
    app.world_mut()
        .get_mut::<Transform>(wall)
        .unwrap()
        .translation = Vec3::X * 1.6;
    let flag = self::flag(&mut app, at);
    let transform = Transform::default().looking_to(Vec3::NEG_X, Vec3::Y);
    let zone = WindZone::default().with_strength(6.0);
    app.world_mut().spawn((zone, transform));
    let (_, blown) = measure_motion(&mut app, flag, at);
    assert!(blown.abs() < 0.05, "{blown}");
    app.world_mut().entity_mut(wall).despawn();
    let (_, blown) = measure_motion(&mut app, flag, at);
    assert!(blown < -0.1, "{blown}");
}

#[test]
fn local_wind_includes_occlusion() {
    let (mut app, _) = windy(LEE);
    app.insert_resource(Wind {
        velocity: Vec3::X * 6.0,
        ..default()
    });
    spawn(&mut app, Transform::from_xyz(0.0, 9.0, 0.0));
    run(&mut app, 2);
    let mut at = |x: f32| {
        let query = move |wind: LocalWind| wind.at(Vec3::X * x).x;
        app.world_mut().run_system_once(query).unwrap()
    };
    let [before, behind, later, far] = [-0.5, 0.5, 2.0, 5.0].map(&mut at);
    assert_eq!([before, far], [6.0; 2]);
    assert!(
        behind < 0.2 && (behind..6.0).contains(&later),
        "{behind}, {later}"
    );
}

#[test]
fn occlusion_without_effect_and_the_number_of_threads_change_no_bit() {
    let hash = |occlusion, wall_at: Option<Vec3>, threads| {
        let mut app = app();
        app.insert_resource(ClothMaxThreads(threads));
        app.insert_resource(Wind {
            velocity: Vec3::new(3.0, 0.0, 2.0),
            ..default()
        });
        app.insert_resource(occlusion);
        if let Some(at) = wall_at {
            let transform = Transform::from_translation(at);
            app.world_mut()
                .spawn((ClothCollider::sphere(0.4), transform));
        }
        let cloth = spawn(&mut app, Pins::top_corners());
        run(&mut app, 60);
        particles(&app, cloth).state_hash()
    };
    let off = WindOcclusion::default();
    let plain = hash(off, None, usize::MAX);
    assert_eq!(hash(LEE, None, usize::MAX), plain);
    assert_eq!(
        hash(LEE, Some(Vec3::new(30.0, 0.0, 0.0)), usize::MAX),
        plain
    );
    let upwind = Some(Vec3::new(-1.5, 0.0, -1.0));
    assert_eq!(hash(off, upwind, usize::MAX), plain);
    let sheltered = hash(LEE, upwind, usize::MAX);
    assert_ne!(sheltered, plain);
    assert_eq!(hash(LEE, upwind, 1), sheltered);
}

#[test]
fn values_out_of_range_are_clamped() {
    let (mut app, _) = windy(WindOcclusion {
        length: f32::INFINITY,
        spread: f32::NAN,
    });
    let cloth = spawn(&mut app, Transform::from_xyz(0.5, 0.0, 0.0));
    run(&mut app, 10);
    let expected = WindOcclusion {
        length: 1000.0,
        ..default()
    };
    assert_eq!(*app.world().resource::<WindOcclusion>(), expected);
    assert!(particles(&app, cloth).is_finite());
}
