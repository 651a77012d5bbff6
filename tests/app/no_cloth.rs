//! Components and events of cloth on entities that are no cloth are reported.

use crate::{
    add_mesh, app,
    log::{lines_about, record},
    run, sheet, spawn,
};
use bevy::prelude::*;
use bevy_drape::{
    character::{Teleport, TeleportCloth},
    cloth::PlanarCloth,
    collision::ClothLayers,
    grab::{DragCloth, GrabCloth, ReleaseCloth},
    prelude::*,
    proxy::ClothProxy,
    tearing::{Blade, CutCloth, ShredCloth, TearEdge},
};

#[test]
fn components_on_an_entity_that_does_not_become_cloth_are_reported_once() {
    let mut app = app();
    record(&mut app, 52_000);
    let mesh = Mesh3d(add_mesh(&mut app, sheet()));
    let former = spawn(&mut app, Pins::corners());
    let world = app.world_mut();
    let components = (Pins::corners(), ClothTearing::at_load(1.0));
    let stray = world.spawn((Name::new("stray"), components)).id();
    let planar = world.spawn(PlanarCloth::default()).id();
    let late = world.spawn(Pins::corners()).id();
    let rope = world.spawn((Rope::default(), Pins::ends())).id();
    let collider = (ClothCollider::sphere(0.1), ClothLayers::default());
    let collider = world.spawn(collider).id();
    run(&mut app, 30);
    app.world_mut().entity_mut(former).remove::<Cloth>();
    let cloth = (Cloth::default(), mesh);
    app.world_mut().entity_mut(late).insert(cloth);
    run(&mut app, 20);
    assert_eq!(lines_about(stray), [""; 0]);
    run(&mut app, 130);
    for entity in [former, late, rope, collider] {
        assert_eq!(lines_about(entity), [""; 0]);
    }
    for (entity, label, names) in [
        (stray, format!("stray ({stray})"), "Pins, ClothTearing,"),
        (planar, planar.to_string(), "PlanarCloth,"),
    ] {
        let log = lines_about(entity);
        let expected = format!("WARN entity {label}: has {names} but neither Cloth nor Rope");
        assert!(log.len() == 1 && log[0].starts_with(&expected), "{log:?}");
    }
}

#[test]
fn a_proxy_of_an_entity_that_is_no_cloth_is_reported_once() {
    let mut app = app();
    record(&mut app, 53_000);
    let fine = Mesh3d(add_mesh(&mut app, sheet()));
    let cloth = spawn(&mut app, ());
    let table = app.world_mut().spawn(Name::new("table")).id();
    let mut proxy = |cloth| {
        app.world_mut()
            .spawn((ClothProxy { cloth }, fine.clone()))
            .id()
    };
    let [good, bad, unset] = [cloth, table, Entity::PLACEHOLDER].map(&mut proxy);
    run(&mut app, 150);
    assert_eq!(lines_about(good), [""; 0]);
    for (proxy, followed) in [
        (bad, format!("table ({table})")),
        (unset, "PLACEHOLDER".into()),
    ] {
        let log = lines_about(proxy);
        let expected = format!("{proxy}: follows {followed}, which has no Cloth");
        assert!(log.len() == 1 && log[0].contains(&expected), "{log:?}");
    }
}

#[test]
fn events_on_an_entity_that_is_no_cloth_are_reported_once() {
    let mut app = app();
    record(&mut app, 54_000);
    let entity = app.world_mut().spawn(Name::new("table")).id();
    let gone = app.world_mut().spawn_empty().id();
    app.world_mut().despawn(gone);
    let unbuilt = spawn(&mut app, ());
    for entity in [entity, entity, gone, unbuilt] {
        let world = app.world_mut();
        let blade = Blade::stroke(Vec3::ZERO, Vec3::X, Vec3::Z);
        let by = None;
        world.trigger(GrabCloth::new(entity, entity, Vec3::ZERO));
        world.trigger(CutCloth { entity, blade, by });
        let edge = [0, 1];
        world.trigger(TearEdge { entity, edge });
        let (centre, radius) = (Vec3::ZERO, 1.0);
        world.trigger(ShredCloth {
            entity,
            centre,
            radius,
        });
        world.trigger(ResetCloth { entity });
        let (by, to) = (entity, Vec3::ZERO);
        world.trigger(DragCloth { entity, by, to });
        world.trigger(ReleaseCloth { entity, by });
        let how = Teleport::Keep;
        world.trigger(TeleportCloth { entity, how });
    }
    let log = lines_about(entity);
    assert_eq!(log.len(), 8, "{log:?}");
    let events = [
        "GrabCloth",
        "CutCloth",
        "TearEdge",
        "ShredCloth",
        "ResetCloth",
        "DragCloth",
        "ReleaseCloth",
        "TeleportCloth",
    ];
    for (line, event) in log.iter().zip(events) {
        let expected = format!("WARN entity table ({entity}): {event} has no effect");
        assert!(line.starts_with(&expected), "{line}");
    }
    for entity in [gone, unbuilt] {
        assert_eq!(lines_about(entity), [""; 0]);
    }
}
