//! Ropes that cannot be built, and rope settings that are out of range.

use crate::{
    app,
    log::{lines_about, record},
    particles, run,
};
use bevy::prelude::*;
use bevy_drape::{cloth::ClothBuildFailed, prelude::*};

#[test]
fn invalid_ropes_are_reported_once_and_built_once_repaired() {
    let mut app = app();
    record(&mut app, 11_000);
    let far = Rope::between(Vec3::ZERO, Vec3::X * 1e19, 5);
    let bad = [
        (Rope::new([], 5), "two points"),
        (Rope::new([Vec3::X], 5), "two points"),
        (Rope::new([Vec3::X; 4], 5), "0 m long"),
        (Rope::new([Vec3::X, Vec3::NAN], 5), "finite"),
        (Rope::new([Vec3::X, Vec3::INFINITY], 5), "finite"),
        (Rope::new([Vec3::ZERO, Vec3::X * 1e-20], 5), "longer"),
        (far, "nearer"),
    ]
    .map(|(rope, reason)| (app.world_mut().spawn(rope).id(), reason));
    let flat = (Rope::default(), Transform::from_scale(Vec3::ZERO));
    let flat = app.world_mut().spawn(flat).id();
    run(&mut app, 60);
    for (rope, reason) in bad.into_iter().chain([(flat, "scale")]) {
        let failed = app.world().get::<ClothBuildFailed>(rope).expect(reason);
        assert!(failed.reason.contains(reason), "{}", failed.reason);
        let log = lines_about(rope);
        assert_eq!(log.len(), 1, "once, not in each frame: {log:?}");
        assert!(log[0].starts_with("ERROR") && log[0].contains(reason));
        assert!(app.world().get::<Mesh3d>(rope).is_none());
    }
    for (rope, _) in bad {
        // Moving the rope does not repeat the report.
        app.world_mut()
            .get_mut::<Transform>(rope)
            .unwrap()
            .translation = Vec3::Y;
        run(&mut app, 1);
        assert_eq!(lines_about(rope).len(), 1);
        app.world_mut().entity_mut(rope).insert(Rope::default());
    }
    *app.world_mut().get_mut::<Transform>(flat).unwrap() = Transform::default();
    run(&mut app, 3);
    for (rope, _) in bad.into_iter().chain([(flat, "")]) {
        assert!(app.world().get::<ClothBuildFailed>(rope).is_none());
        assert_eq!(particles(&app, rope).len(), 32);
        assert_eq!(lines_about(rope).len(), 1);
    }
}

#[test]
fn a_rope_that_becomes_invalid_is_removed() {
    let mut app = app();
    record(&mut app, 12_000);
    let rope = app.world_mut().spawn(Rope::default()).id();
    run(&mut app, 5);
    app.world_mut()
        .get_mut::<Rope>(rope)
        .unwrap()
        .points
        .clear();
    run(&mut app, 5);
    assert!(app.world().get::<ClothParticles>(rope).is_none());
    assert!(app.world().get::<Mesh3d>(rope).is_none());
    assert!(app.world().get::<ClothBuildFailed>(rope).is_some());
    assert_eq!(lines_about(rope).len(), 1);
    app.world_mut().entity_mut(rope).insert(Rope::default());
    run(&mut app, 2);
    assert_eq!(particles(&app, rope).len(), 32);
}

#[test]
fn rope_settings_out_of_range_are_clamped_with_a_warning() {
    let mut app = app();
    record(&mut app, 13_000);
    let rope = |change: fn(&mut Rope)| {
        let mut rope = Rope::default();
        change(&mut rope);
        rope
    };
    let cases = [
        (rope(|r| r.particles = 0), "Rope::particles", 2),
        (rope(|r| r.particles = 1), "Rope::particles", 2),
        (rope(|r| r.particles = u32::MAX), "Rope::particles", 10_000),
        (rope(|r| r.thickness = 0.0), "Rope::thickness", 32),
        (rope(|r| r.thickness = -1.0), "Rope::thickness", 32),
        (rope(|r| r.thickness = f32::NAN), "Rope::thickness", 32),
        (rope(|r| r.thickness = f32::INFINITY), "Rope::thickness", 32),
        (rope(|r| r.sides = 0), "Rope::sides", 32),
        (rope(|r| r.sides = 2), "Rope::sides", 32),
        (rope(|r| r.sides = u32::MAX), "Rope::sides", 32),
        (rope(|r| r.length = Some(f32::NAN)), "Rope::length", 32),
        (rope(|r| r.length = Some(0.0)), "Rope::length", 32),
        (rope(|r| r.length = Some(-2.0)), "Rope::length", 32),
        (rope(|r| r.length = Some(f32::INFINITY)), "Rope::length", 32),
    ]
    .map(|(rope, field, count)| {
        let rope = app.world_mut().spawn((rope, Pins::index(0))).id();
        (rope, field, count)
    });
    run(&mut app, 30);
    for (rope, field, count) in cases {
        assert_eq!(particles(&app, rope).len(), count, "{field}");
        assert!(particles(&app, rope).is_finite(), "{field}");
        let log = lines_about(rope);
        assert!(
            log.len() == 1 && log[0].starts_with("WARN") && log[0].contains(field),
            "{log:?}"
        );
    }
}

#[test]
fn invalid_pins_of_a_rope_are_reported() {
    let mut app = app();
    record(&mut app, 14_000);
    let beyond = app
        .world_mut()
        .spawn((Rope::default(), Pins::index(32)))
        .id();
    let two = Rope::between(Vec3::ZERO, Vec3::X, 2);
    let stiff = app.world_mut().spawn((two, Pins::ends())).id();
    run(&mut app, 10);
    let log = lines_about(beyond);
    assert!(log.len() == 1 && log[0].contains("32"), "{log:?}");
    let log = lines_about(stiff);
    assert!(log.len() == 1 && log[0].contains("pinned"), "{log:?}");
}

#[test]
fn a_rope_with_coincident_particles_has_a_finite_mesh() {
    let mut app = app();
    record(&mut app, 15_000);
    let rope = app.world_mut().spawn(Rope::default()).id();
    run(&mut app, 2);
    for step in 0..30 {
        let mut particles = app.world_mut().get_mut::<ClothParticles>(rope).unwrap();
        for i in 0..32 {
            // All at one point, then folded onto itself.
            let x = if step < 10 { 0.0 } else { (i % 2) as f32 };
            particles.set_world_position(i, Vec3::X * x);
        }
        app.update();
        let mesh = crate::drawn(&app, rope);
        for attribute in [Mesh::ATTRIBUTE_POSITION, Mesh::ATTRIBUTE_NORMAL] {
            let values = crate::float3(mesh, attribute);
            assert!(values.iter().all(|v| v.is_finite()));
        }
    }
    assert!(lines_about(rope).is_empty());
}
