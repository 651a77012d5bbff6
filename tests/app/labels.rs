//! Log messages about entities with a name have the name and the id.

use crate::{
    add_mesh, app, command,
    log::{lines_about, record},
    particles, run, sheet, spawn,
};
use bevy::{asset::RenderAssetUsages, mesh::PrimitiveTopology, prelude::*};
use bevy_drape::{
    character::ClothInertia,
    cloth::PlanarCloth,
    grab::GrabCloth,
    prelude::*,
    pressure::ClothPressure,
    proxy::ClothProxy,
    snapshot::ClothSnapshot,
    tearing::{TearEdge, TearResistance},
    wind::WindZone,
};

/// Spawns a cloth with a name.
fn cloth(app: &mut App, name: &'static str, extra: impl Bundle) -> Entity {
    spawn(app, (Name::new(name), extra))
}

/// Spawns an entity with a name.
fn other(app: &mut App, name: &'static str, components: impl Bundle) -> Entity {
    app.world_mut().spawn((Name::new(name), components)).id()
}

#[test]
fn messages_have_the_name_and_the_id_of_their_entity() {
    let mut app = app();
    record(&mut app, 51_000);
    let app = &mut app;
    let empty = Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    );
    let empty = Mesh3d(add_mesh(app, empty));
    let fine = Mesh3d(add_mesh(app, sheet()));
    let anchor = other(app, "pole", ());
    let damped = Cloth {
        damping: f32::NAN,
        ..default()
    };
    let inertia = ClothInertia {
        linear: f32::NAN,
        ..default()
    };
    let torn = ClothTearing {
        resistance: TearResistance::VertexColour,
        ..ClothTearing::at_load(-1.0)
    };
    let planar = PlanarCloth { normal: Vec3::ZERO };
    let nothing = Pins::predicate(|_| false);
    let broken = cloth(app, "sail", Pins::corners());
    let edited = cloth(app, "curtain", Pins::corners());
    let invalid = Transform::from_xyz(f32::NAN, 0.0, 0.0);
    let ball = (ClothCollider::sphere(-1.0), Transform::default());
    let cases = [
        (cloth(app, "coat", inertia), "ClothInertia"),
        (cloth(app, "flag", nothing), "select no particle"),
        (cloth(app, "shirt", Pins::index(1_000)), "no vertex"),
        (
            cloth(app, "rug", Pins::predicate(|_| true)),
            "all 100 particles are pinned",
        ),
        (cloth(app, "bag", ClothPressure::new(1.0)), "holds no air"),
        (cloth(app, "towel", torn.clone()), "ClothTearing::limit"),
        (cloth(app, "scarf", torn), "no vertex colours"),
        (cloth(app, "web", planar), "PlanarCloth::normal"),
        (
            cloth(app, "banner", Pins::corners().to_entity(anchor)),
            "holds its pins",
        ),
        (cloth(app, "tent", invalid), "is not built"),
        (broken, "last valid state"),
        (edited, "no edge"),
        (edited, "cannot be grabbed"),
        (edited, "cannot be dragged to"),
        (edited, "snapshot is of a cloth of another mesh"),
        (
            other(app, "towel", (Cloth::default(), empty.clone())),
            "is not built",
        ),
        (other(app, "veil", damped), "Cloth::damping"),
        (other(app, "veil", Cloth::default()), "no Mesh3d yet"),
        (other(app, "ball", ball), "is ignored"),
        (
            other(app, "gust", (WindZone::sphere(0.0), Transform::default())),
            "does not blow",
        ),
        (
            other(app, "breeze", WindZone::sphere(1.0).with_strength(f32::NAN)),
            "WindZone",
        ),
        (other(app, "leash", Rope::new([Vec3::X], 5)), "is not built"),
        (
            other(app, "line", (Rope::default(), Pins::index(99))),
            "no particle",
        ),
        (
            other(app, "cord", (Rope::default(), Pins::predicate(|_| true))),
            "are pinned",
        ),
        (
            other(app, "lace", (ClothProxy { cloth: edited }, empty)),
            "does not follow",
        ),
        (
            other(app, "hem", (ClothProxy { cloth: edited }, fine, invalid)),
            "its transform has a scale of 0, is not finite",
        ),
    ];
    run(app, 2);
    let mut state = app.world_mut().get_mut::<ClothParticles>(broken).unwrap();
    state.position.set(0, Vec3::NAN);
    let entity = edited;
    let edge = [0, 1_000];
    app.world_mut().trigger(TearEdge { entity, edge });
    app.world_mut().trigger(GrabCloth {
        reach: -1.0,
        ..GrabCloth::new(edited, anchor, Vec3::ZERO)
    });
    let at = particles(app, edited).world_position(0);
    let napkin = add_mesh(app, ClothGrid::new(1.0, 1.0, 3, 3));
    let napkin = (Cloth::default(), Mesh3d(napkin));
    let napkin = app.world_mut().spawn(napkin).id();
    run(app, 2);
    let snapshot = ClothSnapshot::take(app.world(), napkin).unwrap();
    command(app, edited, |cloth| {
        cloth.grab(anchor, at);
        cloth.drag(anchor, Vec3::INFINITY);
        cloth.restore_cloth(snapshot);
    });
    run(app, 30);
    assert!(particles(app, broken).is_finite());
    for (entity, text) in cases {
        let name = app.world().get::<Name>(entity).unwrap();
        let label = format!("{name} ({entity})");
        let log = lines_about(entity);
        let is_told = log.iter().any(|line| line.contains(text));
        assert!(is_told, "{label}, {text}: {log:?}");
        assert!(log.iter().all(|line| line.contains(&label)), "{log:?}");
    }
    let lost = format!("pole ({anchor}), which holds its pins");
    assert!(lines_about(anchor).iter().any(|line| line.contains(&lost)));
}
