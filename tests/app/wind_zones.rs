//! Wind zones and turbulence.

use crate::{
    app, centre,
    log::{lines_about, record},
    particles, run, spawn,
};
use bevy::{ecs::system::RunSystemOnce, prelude::*};
use bevy_drape::{
    cloth::ClothMaxThreads,
    prelude::*,
    snapshot::ClothSnapshot,
    wind::{Falloff, LocalWind, WindTime, WindTurbulence, ZoneFlow, ZoneShape},
};

/// Creates an app without gravity, in which only wind moves cloth.
fn floating() -> App {
    let mut app = app();
    app.insert_resource(ClothGravity(Vec3::ZERO));
    app
}

/// Returns a transform at a position that looks upwards.
fn up(position: Vec3) -> Transform {
    Transform::from_translation(position).looking_to(Vec3::Y, Vec3::Z)
}

fn wind_at(app: &mut App, position: Vec3) -> Vec3 {
    let query = move |wind: LocalWind| wind.at(position);
    app.world_mut().run_system_once(query).unwrap()
}

fn turbulence(seed: u32) -> WindTurbulence {
    WindTurbulence {
        strength: 4.0,
        seed,
        ..default()
    }
}

#[test]
fn a_zone_moves_cloth_inside_it_only() {
    let mut app = floating();
    let inside = spawn(&mut app, Transform::from_xyz(0.0, 0.0, 0.0));
    let outside = spawn(&mut app, Transform::from_xyz(6.0, 0.0, 0.0));
    let zone = WindZone::sphere(3.0).with_strength(2.0);
    app.world_mut().spawn((zone, up(Vec3::ZERO)));
    run(&mut app, 30);
    assert!(centre(&app, inside).y > 0.2);
    assert!(centre(&app, outside).y.abs() < 1e-6);
    let here = wind_at(&mut app, Vec3::Z * 1.5);
    assert!((here - Vec3::Y).length() < 1e-5, "{here}");
    assert_eq!(wind_at(&mut app, Vec3::X * 6.0), Vec3::ZERO);
}

#[test]
fn falloff_weakens_the_wind_at_the_edge_of_a_zone() {
    let risen = |falloff| {
        let mut app = floating();
        let cloth = spawn(&mut app, Transform::from_xyz(1.4, 0.0, 0.0));
        let zone = WindZone::sphere(2.0).with_falloff(falloff);
        app.world_mut().spawn((zone, up(Vec3::ZERO)));
        run(&mut app, 20);
        centre(&app, cloth).y
    };
    let [full, linear, smooth] = [Falloff::None, Falloff::Linear, Falloff::Smooth].map(risen);
    // At 0.7 of the radius, fractions of 0.3 and 0.216 of the wind are left.
    assert!(full > 2.0 * linear && linear > smooth && smooth > 0.0);
}

#[test]
fn a_zone_follows_its_parent_and_ends_with_it() {
    let mut app = floating();
    let cloth = spawn(&mut app, ());
    let parent = app
        .world_mut()
        .spawn(Transform::from_xyz(0.0, 50.0, 0.0))
        .id();
    let zone = (
        WindZone::cuboid(4.0, 4.0, 4.0),
        up(Vec3::ZERO),
        ChildOf(parent),
    );
    let zone = app.world_mut().spawn(zone).id();
    run(&mut app, 10);
    assert!(centre(&app, cloth).y.abs() < 1e-6);
    app.world_mut()
        .get_mut::<Transform>(parent)
        .unwrap()
        .translation = Vec3::ZERO;
    run(&mut app, 10);
    let risen = centre(&app, cloth).y;
    assert!(risen > 0.0);
    // Rotating the parent turns the wind: the −Z axis of the zone points up, which is now −X.
    app.world_mut()
        .get_mut::<Transform>(parent)
        .unwrap()
        .rotation = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    run(&mut app, 1);
    let sideways = wind_at(&mut app, Vec3::ZERO);
    assert!((sideways - Vec3::NEG_X * 5.0).length() < 1e-4, "{sideways}");
    app.world_mut()
        .entity_mut(zone)
        .insert(bevy::ecs::entity_disabling::Disabled);
    run(&mut app, 1);
    assert_eq!(wind_at(&mut app, Vec3::ZERO), Vec3::ZERO);
    app.world_mut()
        .entity_mut(zone)
        .remove::<bevy::ecs::entity_disabling::Disabled>();
    run(&mut app, 1);
    assert_ne!(wind_at(&mut app, Vec3::ZERO), Vec3::ZERO);
    app.world_mut().entity_mut(parent).despawn();
    run(&mut app, 1);
    assert_eq!(wind_at(&mut app, Vec3::ZERO), Vec3::ZERO);
}

#[test]
fn a_vortex_turns_a_cloth_counter_clockwise_and_a_negative_vortex_clockwise() {
    for sign in [1.0, -1.0] {
        let mut app = floating();
        // Upright, so that the circling air hits it.
        let upright = Transform::from_rotation(Quat::from_rotation_x(1.5));
        let cloth = spawn(&mut app, upright);
        let zone = WindZone::sphere(3.0).vortex().with_strength(3.0 * sign);
        app.world_mut().spawn(zone);
        run(&mut app, 30);
        let (p, middle) = (particles(&app, cloth), centre(&app, cloth));
        let spin: f32 = (0..p.len())
            .map(|i| (p.world_position(i) - middle).cross(p.velocity(i)).y)
            .sum();
        assert!(spin * sign > 1.0, "{spin}");
        assert!(middle.length() < 0.05, "moved to {middle}");
    }
}

#[test]
fn radial_air_drives_cloths_apart_or_together() {
    for sign in [1.0, -1.0] {
        let mut app = floating();
        let upright = Quat::from_rotation_z(1.5);
        let sides = [-1.5, 1.5].map(|x| {
            let transform = Transform::from_xyz(x, 0.0, 0.0).with_rotation(upright);
            spawn(&mut app, transform)
        });
        let zone = WindZone::sphere(4.0).radial().with_strength(4.0 * sign);
        app.world_mut().spawn(zone);
        run(&mut app, 20);
        let [left, right] = sides.map(|cloth| centre(&app, cloth).x);
        assert!((right - 1.5) * sign > 0.02 && (left + 1.5) * sign < -0.02);
    }
}

#[test]
fn cloth_falls_in_rising_air_as_fast_as_in_still_air_relative_to_it() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    *app.world_mut().get_mut::<Cloth>(cloth).unwrap() = Cloth {
        damping: 0.0,
        fabric: Fabric {
            drag: 1.28,
            lift: 0.0,
            ..default()
        },
        ..default()
    };
    let zone = WindZone::default().with_strength(1.2);
    app.world_mut().spawn((zone, up(Vec3::Y * 9.0)));
    run(&mut app, 180);
    let from = centre(&app, cloth).y;
    run(&mut app, 30);
    let speed = (centre(&app, cloth).y - from) / 0.5;
    // v_t = √(2σg/(ρC_D))
    let terminal = (2.0_f32 * 0.2 * 9.81 / (1.2 * 1.28)).sqrt();
    assert!(
        (speed - (1.2 - terminal)).abs() < 0.01 * terminal,
        "{speed} m/s"
    );
}

#[test]
fn zones_move_ropes_too() {
    let mut app = floating();
    let rope = Rope::between(Vec3::ZERO, Vec3::X, 20);
    let rope = app.world_mut().spawn(rope).id();
    app.world_mut()
        .spawn((WindZone::sphere(2.0), up(Vec3::X * 0.5)));
    run(&mut app, 30);
    assert!(centre(&app, rope).y > 0.05);
}

/// Runs a cloth for 60 steps in turbulence and two zones. Returns the app and the cloth.
fn blown(seed: u32, threads: usize) -> (App, Entity) {
    let mut app = app();
    app.insert_resource(turbulence(seed));
    app.insert_resource(ClothMaxThreads(threads));
    let cloth = spawn(&mut app, Pins::top_corners());
    app.world_mut().spawn((
        WindZone::cuboid(3.0, 2.0, 4.0).with_strength(6.0),
        Transform::from_xyz(0.2, -0.3, 0.4),
    ));
    app.world_mut().spawn(WindZone::sphere(2.5).vortex());
    run(&mut app, 60);
    (app, cloth)
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_one_others() {
    let hash = |seed, threads| {
        let (app, cloth) = blown(seed, threads);
        particles(&app, cloth).state_hash()
    };
    assert_eq!(hash(1, usize::MAX), hash(1, usize::MAX));
    assert_eq!(hash(1, usize::MAX), hash(1, 1));
    assert_ne!(hash(1, 1), hash(2, 1));
}

#[test]
fn turbulence_repeats_after_a_snapshot_is_restored() {
    let (mut app, cloth) = blown(3, usize::MAX);
    let snapshot = ClothSnapshot::take(app.world(), cloth).unwrap();
    let time = *app.world().resource::<WindTime>();
    let mut hashes = || {
        let step = |app: &mut App| {
            app.update();
            particles(app, cloth).state_hash()
        };
        let hashes: Vec<u64> = (0..30).map(|_| step(&mut app)).collect();
        app.insert_resource(time);
        snapshot.restore(app.world_mut(), cloth).unwrap();
        hashes
    };
    assert_eq!(hashes(), hashes());
}

#[test]
fn zones_without_effect_change_no_bit() {
    let hash = |far: bool| {
        let mut app = app();
        app.insert_resource(Wind {
            velocity: Vec3::new(1.0, 0.0, 3.0),
            ..default()
        });
        let cloth = spawn(&mut app, Pins::top_corners());
        if far {
            let transform = Transform::from_xyz(100.0, 0.0, 0.0);
            app.world_mut().spawn((WindZone::sphere(5.0), transform));
            app.world_mut()
                .spawn(WindZone::default().with_strength(0.0));
        }
        run(&mut app, 60);
        particles(&app, cloth).state_hash()
    };
    assert_eq!(hash(false), hash(true));
}

#[test]
fn invalid_zones_are_reported_once_and_disturb_no_cloth() {
    let mut app = app();
    record(&mut app, 35_000);
    let cloth = spawn(&mut app, Pins::top_corners());
    let nowhere = Transform::from_xyz(f32::NAN, 0.0, 0.0);
    let origin = Transform::IDENTITY;
    let zones = [
        (WindZone::default().with_strength(1e6), origin, "must be"),
        (WindZone::default().with_strength(f32::NAN), origin, "NaN"),
        (
            WindZone {
                core: -1.0,
                flow: ZoneFlow::Radial,
                ..default()
            },
            origin,
            "WindZone::core",
        ),
        (WindZone::sphere(0.0), origin, "does not blow"),
        (
            WindZone::cuboid(1.0, f32::NAN, 1.0),
            origin,
            "does not blow",
        ),
        (WindZone::sphere(1.0), nowhere, "does not blow"),
    ];
    let zones = zones.map(|(zone, transform, message)| {
        let zone = app.world_mut().spawn((zone, transform)).id();
        (zone, message)
    });
    run(&mut app, 60);
    for (zone, message) in zones {
        let log = lines_about(zone);
        assert_eq!(log.len(), 1, "{log:?}");
        assert!(log[0].contains(message), "{log:?}");
    }
    let strength = |zone| app.world().get::<WindZone>(zone).unwrap().strength;
    assert_eq!(strength(zones[0].0), 200.0);
    assert_eq!(strength(zones[1].0), WindZone::default().strength);
    assert!(particles(&app, cloth).is_finite());
    let reach = (0..100).map(|i| particles(&app, cloth).world_position(i).length());
    assert!(
        reach.fold(0.0, f32::max) < 2.5,
        "the cloth is stretched apart"
    );
    // A repaired zone blows.
    let repaired = zones[3].0;
    app.world_mut().get_mut::<WindZone>(repaired).unwrap().shape =
        ZoneShape::Sphere { radius: 1e-3 };
    app.world_mut()
        .entity_mut(repaired)
        .insert(Transform::from_xyz(0.0, 77.0, 0.0));
    let before = wind_at(&mut app, Vec3::Y * 77.0);
    run(&mut app, 1);
    let gained = wind_at(&mut app, Vec3::Y * 77.0) - before;
    assert!((gained - Vec3::NEG_Z * 5.0).length() < 0.01, "{gained}");
}

#[test]
fn turbulence_out_of_range_is_clamped() {
    let mut app = app();
    app.insert_resource(WindTurbulence {
        strength: f32::INFINITY,
        size: 0.0,
        period: f32::NAN,
        seed: 9,
    });
    let cloth = spawn(&mut app, Pins::top_corners());
    run(&mut app, 30);
    let expected = WindTurbulence {
        strength: 200.0,
        size: 0.01,
        seed: 9,
        ..default()
    };
    assert_eq!(*app.world().resource::<WindTurbulence>(), expected);
    assert!(particles(&app, cloth).is_finite());
}
