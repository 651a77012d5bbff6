//! Cloth that is grabbed.

use crate::{add_mesh, app, centre, command, log, particles, run, spawn, worst_stretch};
use bevy::prelude::*;
use bevy_drape::{
    cloth::ClothSubstep,
    grab::{ClothGrabbed, ClothGrabs, ClothReleased, GrabCloth, ReleaseCloth},
    prelude::*,
};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

/// Returns the kinetic and potential energy of the free particles, J.
fn energy(app: &App, cloth: Entity) -> f32 {
    let particles = particles(app, cloth);
    let free = (0..particles.len()).filter(|&i| !particles.is_pinned(i));
    free.map(|i| {
        let mass = 1.0 / particles.inverse_mass[i];
        mass * (0.5 * particles.velocity(i).length_squared() + 9.81 * particles.world_position(i).y)
    })
    .sum()
}

fn hanging(app: &mut App) -> Entity {
    let mesh = add_mesh(app, ClothGrid::vertical(1.0, 1.0, 20, 20));
    let pins = Pins::edge(ClothEdge::Top);
    app.world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), pins))
        .id()
}

#[test]
fn a_corner_is_dragged_from_a_to_b_and_the_energy_stays_bounded() {
    let mut app = app();
    let cloth = hanging(&mut app);
    let pointer = app.world_mut().spawn_empty().id();
    run(&mut app, 120);
    let a = particles(&app, cloth).world_position(399);
    let b = a + Vec3::new(-0.3, 0.4, 0.5);
    command(&mut app, cloth, |cloth| {
        cloth.grab(pointer, a);
    });
    let rest = energy(&app, cloth);
    let mut most = f32::MIN;
    for step in 0..=60 {
        command(&mut app, cloth, |cloth| {
            cloth.drag(pointer, a.lerp(b, step as f32 / 60.0));
        });
        run(&mut app, 1);
        most = most.max(energy(&app, cloth) - rest);
    }
    run(&mut app, 120);
    most = most.max(energy(&app, cloth) - rest);
    let corner = particles(&app, cloth).world_position(399);
    assert!(
        (corner - b).length() < 0.01,
        "the corner is at {corner}, the pointer at {b}"
    );
    // The whole cloth has 0.2 kg: lifted by 0.7 m, it would gain 1.4 J.
    assert!(most < 1.4, "{most} J from a slow pull");
    command(&mut app, cloth, |cloth| {
        cloth.release(pointer);
    });
    for _ in 0..300 {
        run(&mut app, 1);
        assert!(energy(&app, cloth) - rest < most + 0.05);
    }
    assert!(
        energy(&app, cloth) - rest < 0.05,
        "the cloth is back at rest"
    );
}

/// A cloth of 0.2 kg hangs from particles of a tenth of a gram.
#[test]
fn a_sheet_hangs_from_a_grab_without_a_spike() {
    let mut app = app();
    let mesh = add_mesh(&mut app, ClothGrid::new(1.0, 1.0, 45, 45));
    let cloth = app.world_mut().spawn((Cloth::default(), Mesh3d(mesh))).id();
    let pointer = app.world_mut().spawn_empty().id();
    run(&mut app, 1);
    let at = particles(&app, cloth).world_position(22 * 45 + 22);
    command(&mut app, cloth, |cloth| {
        cloth.grab(pointer, at);
    });
    let worst = |app: &App| worst_stretch(app, cloth);
    for step in 1..=180 {
        // Up, and back and forth, at up to 1.5 m/s.
        let time = step.min(120) as f32 / 60.0;
        let target = at + Vec3::new(0.2 * (7.0 * time).sin(), 0.3 * time, 0.0);
        command(&mut app, cloth, |cloth| {
            cloth.drag(pointer, target);
        });
        run(&mut app, 1);
        assert!(worst(&app) < 0.3, "step {step}: {}", worst(&app));
        let held = particles(&app, cloth).world_position(22 * 45 + 22);
        assert!(
            held.distance(target) < 0.01,
            "step {step}: {held}, {target}"
        );
    }
    assert!(worst(&app) < 0.15, "at rest: {}", worst(&app));
}

#[test]
fn a_yank_does_not_explode_and_pins_resist() {
    let mut app = app();
    let cloth = hanging(&mut app);
    let pointer = app.world_mut().spawn_empty().id();
    run(&mut app, 60);
    let at = particles(&app, cloth).world_position(210);
    command(&mut app, cloth, |cloth| {
        cloth.grab(pointer, at);
        cloth.drag(pointer, at + Vec3::new(300.0, 50.0, -80.0));
    });
    let mut last = at;
    for _ in 0..120 {
        run(&mut app, 1);
        let now = particles(&app, cloth).world_position(210);
        assert!(
            (now - last).length() < 0.3,
            "the particle jumped from {last} to {now}"
        );
        last = now;
    }
    let farthest = particles(&app, cloth)
        .position
        .iter()
        .map(|p| p.length())
        .fold(0.0, f32::max);
    assert!(farthest < 4.0, "the cloth was stretched to {farthest} m");
    let first = particles(&app, cloth).world_position(0);
    assert_eq!(first, Vec3::new(-0.5, 0.5, 0.0), "pins do not move");
}

#[test]
fn released_cloth_keeps_its_velocity() {
    let mut app = app();
    app.insert_resource(ClothGravity(Vec3::ZERO));
    app.insert_resource(Wind {
        air_density: 0.0,
        ..default()
    });
    let cloth = spawn(&mut app, ());
    let pointer = app.world_mut().spawn_empty().id();
    run(&mut app, 2);
    command(&mut app, cloth, |cloth| {
        cloth.grab(pointer, Vec3::ZERO);
    });
    for step in 1..=60 {
        command(&mut app, cloth, |cloth| {
            cloth.drag(pointer, Vec3::X * (0.05 * step as f32));
        });
        run(&mut app, 1);
    }
    command(&mut app, cloth, |cloth| {
        cloth.release(pointer);
    });
    assert!(app.world().get::<ClothGrabs>(cloth).unwrap().is_empty());
    let before = centre(&app, cloth);
    run(&mut app, 30);
    let moved = centre(&app, cloth) - before;
    // The pointer moved at 3 m/s; half a second later the cloth has moved by 1.5 m, less its damping.
    assert!((moved.x - 1.5).abs() < 0.25, "the cloth moved by {moved}");
}

#[test]
fn a_grab_holds_the_exact_point_or_all_particles_in_its_radius() {
    let mut app = app();
    app.insert_resource(ClothGravity(Vec3::ZERO));
    let cloth = spawn(&mut app, ());
    let pointer = app.world_mut().spawn_empty().id();
    run(&mut app, 2);
    // A point between particles.
    let at = Vec3::new(0.093, 0.0, -0.041);
    command(&mut app, cloth, |cloth| {
        cloth.grab(pointer, at);
    });
    let before = particles(&app, cloth).0.clone();
    run(&mut app, 20);
    assert!(
        (0..100).all(
            |i| (particles(&app, cloth).position.get(i) - before.position.get(i)).length() < 1e-5
        ),
        "grabbing moves nothing"
    );
    let grabs = app.world().get::<ClothGrabs>(cloth).unwrap();
    let point = grabs[0].points()[0];
    assert!((point.position(&before) - at).length() < 1e-6);

    let mut grab = GrabCloth::new(cloth, pointer, Vec3::ZERO);
    grab.radius = 0.25;
    app.world_mut().trigger(grab);
    let grabs = app.world().get::<ClothGrabs>(cloth).unwrap();
    assert_eq!(grabs.len(), 1, "one grab per pointer");
    assert_eq!(grabs[0].points().len(), 16);
}

#[test]
fn a_grab_beyond_its_reach_holds_nothing_whatever_its_radius() {
    let mut app = app();
    app.insert_resource(ClothGravity(Vec3::ZERO));
    let cloth = spawn(&mut app, ());
    let pointer = app.world_mut().spawn_empty().id();
    run(&mut app, 2);
    for (radius, reach, holds) in [
        (0.0, 0.2, false),
        (1.0, 0.2, false),
        (1.0, f32::NAN, false),
        (0.0, 0.4, true),
        (1.0, 0.4, true),
        (1.0, f32::INFINITY, true),
    ] {
        app.world_mut().trigger(GrabCloth {
            radius,
            reach,
            ..GrabCloth::new(cloth, pointer, Vec3::Y * 0.3)
        });
        let grabs = app.world().get::<ClothGrabs>(cloth).unwrap();
        assert_eq!(!grabs.is_empty(), holds, "radius {radius}, reach {reach}");
    }
}

#[derive(Resource, Default)]
struct EventLog(Vec<(&'static str, Entity)>);

#[test]
fn several_pointers_grab_and_every_grab_and_release_triggers_an_event() {
    let mut app = app();
    app.init_resource::<EventLog>()
        .add_observer(|event: On<ClothGrabbed>, mut log: ResMut<EventLog>| {
            log.0.push(("grabbed", event.by));
        })
        .add_observer(|event: On<ClothReleased>, mut log: ResMut<EventLog>| {
            log.0.push(("released", event.by));
        });
    let cloth = spawn(&mut app, ());
    let [left, right] = [(); 2].map(|()| app.world_mut().spawn_empty().id());
    run(&mut app, 2);
    let corners =
        [-0.5, 0.5].map(|x| Vec3::new(x, particles(&app, cloth).world_position(0).y, -0.5));
    command(&mut app, cloth, |cloth| {
        cloth.grab(left, corners[0]);
        cloth.grab(right, corners[1]);
        // No effect: a point too far away, and an entity without a grab.
        cloth.grab(left, Vec3::splat(99.0));
        cloth.release(cloth.id());
    });
    run(&mut app, 120);
    let height = particles(&app, cloth).world_position(0).y;
    assert!(
        (height - corners[0].y).abs() < 0.05,
        "two grabs hold the cloth up: {height}"
    );
    app.world_mut().trigger(ResetCloth { entity: cloth });
    app.world_mut().flush();
    let log = &app.world().resource::<EventLog>().0;
    let expected = [
        ("grabbed", left),
        ("grabbed", right),
        ("released", left),
        ("released", right),
    ];
    assert_eq!(*log, expected);
}

#[test]
fn a_grabbed_cloth_can_be_cut_and_despawned() {
    let mut app = app();
    log::record(&mut app, 23_000);
    let cloth = hanging(&mut app);
    let pointer = app.world_mut().spawn_empty().id();
    run(&mut app, 10);
    let at = particles(&app, cloth).world_position(210);
    command(&mut app, cloth, |cloth| {
        cloth.grab(pointer, at);
        // Through the grabbed triangle.
        cloth.cut_segment(at - Vec3::X * 0.3, at + Vec3::X * 0.3, Vec3::Z);
        cloth.shred(at, 0.1);
    });
    // The grab holds the same point, on the new piece around this point.
    let point = app.world().get::<ClothGrabs>(cloth).unwrap()[0].points()[0];
    let now = point.position(&particles(&app, cloth).0);
    assert!((now - at).length() < 1e-5, "the grab held {at}, now {now}");
    run(&mut app, 10);
    let now = point.position(&particles(&app, cloth).0);
    assert!(
        (now - at).length() < 0.05,
        "the grab still holds at {at}: {now}"
    );
    // Despawning the pointer releases its grab.
    app.world_mut().despawn(pointer);
    run(&mut app, 2);
    assert!(app.world().get::<ClothGrabs>(cloth).unwrap().is_empty());
    app.world_mut().despawn(cloth);
    app.world_mut().trigger(bevy_drape::grab::DragCloth {
        entity: cloth,
        by: pointer,
        to: Vec3::ZERO,
    });
    app.world_mut().trigger(bevy_drape::grab::ReleaseCloth {
        entity: cloth,
        by: pointer,
    });
    run(&mut app, 2);
    assert_eq!(log::lines_about(cloth), Vec::<String>::new());
}

#[test]
fn added_mass_of_a_grab_is_hidden_from_user_systems_and_removed_on_release() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    let pointer = app.world_mut().spawn_empty().id();
    run(&mut app, 2);
    let before = particles(&app, cloth).inverse_mass.clone();
    let own = before.clone();
    let runs = Arc::new(AtomicU32::new(0));
    let count = runs.clone();
    // Runs among the systems of the plugin.
    let release = move |world: &mut World| {
        let particles = world.get::<ClothParticles>(cloth).unwrap();
        assert_eq!(particles.inverse_mass, own);
        if count.fetch_add(1, Ordering::Relaxed) == 3 {
            world.trigger(ReleaseCloth {
                entity: cloth,
                by: pointer,
            });
        }
    };
    app.add_systems(ClothSubstep, release.in_set(ClothSystems::Relax));
    command(&mut app, cloth, |cloth| {
        cloth.grab(pointer, Vec3::ZERO);
    });
    run(&mut app, 1);
    assert!(app.world().get::<ClothGrabs>(cloth).unwrap().is_empty());
    assert_eq!(runs.load(Ordering::Relaxed), 8);
    assert_eq!(particles(&app, cloth).inverse_mass, before);
}

#[test]
fn a_rope_can_be_grabbed() {
    let mut app = app();
    let rope = Rope::between(Vec3::ZERO, Vec3::X, 11);
    let rope = app.world_mut().spawn((rope, Pins::index(0))).id();
    let pointer = app.world_mut().spawn_empty().id();
    run(&mut app, 1);
    command(&mut app, rope, |rope| {
        rope.grab(pointer, Vec3::X * 0.95);
    });
    run(&mut app, 120);
    let end = particles(&app, rope).world_position(9);
    assert!(end.y > -0.1, "the grab holds the rope: {end}");
    command(&mut app, rope, |rope| {
        rope.release(pointer);
    });
    run(&mut app, 120);
    assert!(particles(&app, rope).world_position(10).y < -0.6);
}
