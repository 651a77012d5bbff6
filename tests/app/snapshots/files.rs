//! Snapshots that are serialized: stored in files or sent over a network.

use super::{coloured, cut, take};
use crate::{app, command, particles, run, spawn};
use bevy::{
    ecs::entity::{EntityHashMap, MapEntities},
    prelude::*,
};
use bevy_drape::{
    cloth::ClothConstraints,
    grab::ClothGrabs,
    prelude::*,
    snapshot::{ClothSnapshot, SnapshotError},
};
use serde_json::Value;

pub(super) fn through_json(snapshot: &ClothSnapshot) -> ClothSnapshot {
    let text = serde_json::to_string(snapshot).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_bit_of_a_number_survives() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    run(&mut app, 2);
    let mut bits = 1_u32;
    let mut number = || loop {
        // The linear congruential generator of Numerical Recipes: passes through all 2³² bit patterns.
        bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let number = f32::from_bits(bits);
        if number.is_finite() {
            return number;
        }
    };
    for round in 0..200 {
        let mut particles = app.world_mut().get_mut::<ClothParticles>(cloth).unwrap();
        for i in 0..100 {
            particles
                .position
                .set(i, Vec3::from_array([(); 3].map(|()| number())));
            particles
                .displacement
                .set(i, Vec3::from_array([(); 3].map(|()| number())));
        }
        let edges = [
            -0.0,
            f32::MIN_POSITIVE,
            1e-45,
            f32::MAX,
            f32::MIN,
            1.0 + f32::EPSILON,
        ];
        particles.position.x[..6].copy_from_slice(&edges);
        let saved = take(&app, cloth);
        let loaded = through_json(&saved);
        // The hash is over bits, so it distinguishes 0 from −0.
        assert_eq!(loaded.state_hash(), saved.state_hash(), "in round {round}");
        assert_eq!(loaded, saved);
    }
}

#[test]
fn only_a_modified_shape_is_stored() {
    let mut app = app();
    let cloth = coloured(&mut app);
    run(&mut app, 10);
    let shape = |app: &App| serde_json::to_value(take(app, cloth)).unwrap()["shape"].clone();
    assert!(shape(&app).is_null());
    // Measuring loads writes to the constraints, but does not change their shape.
    app.world_mut()
        .entity_mut(cloth)
        .insert(bevy_drape::tearing::ClothTearing::at_load(1e6));
    run(&mut app, 10);
    assert!(shape(&app).is_null());
    let mut constraints = app.world_mut().get_mut::<ClothConstraints>(cloth).unwrap();
    let length = constraints.rest_lengths_mut().nth(77).unwrap();
    let before = std::mem::replace(length, 1.0);
    assert!(!shape(&app).is_null());
    let mut constraints = app.world_mut().get_mut::<ClothConstraints>(cloth).unwrap();
    *constraints.rest_lengths_mut().nth(77).unwrap() = before;
    assert!(shape(&app).is_null());
    cut(&mut app, cloth, 0.2);
    assert!(!shape(&app).is_null());
    app.world_mut().trigger(ResetCloth { entity: cloth });
    assert!(shape(&app).is_null());
    // Another size is another shape.
    app.world_mut().get_mut::<Transform>(cloth).unwrap().scale *= 2.0;
    app.world_mut().trigger(ResetCloth { entity: cloth });
    assert!(!shape(&app).is_null());
}

/// Returns the value at a JSON pointer.
fn at<'a>(value: &'a mut Value, path: &str) -> &'a mut Value {
    value
        .pointer_mut(path)
        .unwrap_or_else(|| panic!("no {path}"))
}

#[test]
fn damaged_files_are_refused_and_change_nothing() {
    let mut app = app();
    let cloth = coloured(&mut app);
    let hand = app.world_mut().spawn_empty().id();
    run(&mut app, 10);
    let point = particles(&app, cloth).world_position(200);
    command(&mut app, cloth, |cloth| {
        cloth.grab(hand, point);
        cloth.trigger(|entity| bevy_drape::tearing::CutCloth {
            entity,
            blade: bevy_drape::tearing::Blade::stroke(Vec3::X * -0.8, Vec3::X * 0.2, Vec3::Z),
            by: Some(hand),
        });
    });
    run(&mut app, 2);
    let good = serde_json::to_value(take(&app, cloth)).unwrap();
    let too_large = Value::from(1_000_000);
    let set = |path: &'static str| (path, "set");
    let damages = [
        ("/particles/position/y", "pop"),
        ("/particles/predicted/z", "pop"),
        ("/particles/inverse_mass", "pop"),
        ("/particles/last_dt", "negative"),
        set("/pins/3/particle"),
        set("/cut_ends/0/particle"),
        set("/grabs/0/points/0/particles/1"),
        ("/resistance", "push"),
        set("/shape/constraints/general/regions/0/batches/0/pairs/3/1"),
        (
            "/shape/constraints/general/regions/0/batches/1/list/rest",
            "pop",
        ),
        set("/shape/constraints/grids/0/layout/first"),
        set("/shape/constraints/grids/0/layout/columns"),
        ("/shape/constraints/grids/0/sets/3/list/rest", "pop"),
        set("/shape/triangles/indices/7/0"),
        ("/shape/triangles/rest_area", "pop"),
        ("/shape/area", "pop"),
        ("/shape/torn", "null"),
        ("/shape/torn/rest", "pop"),
        ("/shape/torn/source_particle", "pop"),
        set("/shape/torn/source_particle/0"),
        (
            "/shape/torn/intact_constraints/grids/0/sets/5/list/rest",
            "pop",
        ),
        ("/shape/binding", "null"),
        ("/shape/binding/torn", "null"),
        set("/shape/binding/vertex_to_particle/9"),
        set("/shape/binding/triangles/9/2"),
        set("/shape/binding/normal_group/9"),
        set("/shape/binding/group_count"),
        ("/shape/binding/tangent_weights", "pop"),
        ("/shape/binding/torn/faces", "pop"),
        set("/shape/binding/torn/faces/4"),
        ("/shape/binding/torn/new", "pop"),
        set("/shape/binding/torn/new/0/between/0"),
        set("/shape/binding/torn/whole_vertices"),
        ("/shape", "null"),
    ];
    run(&mut app, 3);
    let before = take(&app, cloth);
    for (path, damage) in damages {
        let mut bad = good.clone();
        let value = at(&mut bad, path);
        match damage {
            "pop" => drop(value.as_array_mut().unwrap().pop().expect(path)),
            "push" => value.as_array_mut().unwrap().push(0.into()),
            "negative" => *value = (-1.0).into(),
            "null" => *value = Value::Null,
            _ => *value = too_large.clone(),
        }
        let bad: ClothSnapshot = serde_json::from_value(bad).unwrap();
        let error = bad.restore(app.world_mut(), cloth).expect_err(path);
        assert!(
            matches!(error, SnapshotError::Damaged(entity, _) if entity == cloth),
            "{path}: {error}"
        );
        assert_eq!(take(&app, cloth), before, "{path}");
    }
    let good: ClothSnapshot = serde_json::from_value(good).unwrap();
    good.restore(app.world_mut(), cloth).unwrap();
    assert_eq!(take(&app, cloth), good);
}

#[test]
fn entities_of_another_world_are_mapped() {
    let mut app = app();
    let [hand, anchor] = [(); 2].map(|()| app.world_mut().spawn(Transform::default()).id());
    let cloth = spawn(&mut app, Pins::corners().to_entity(anchor));
    run(&mut app, 5);
    let at = particles(&app, cloth).world_position(44);
    command(&mut app, cloth, |cloth| {
        cloth.grab(hand, at);
    });
    let mut saved = take(&app, cloth);
    let [new_hand, new_anchor] = [(); 2].map(|()| app.world_mut().spawn(Transform::default()).id());
    let mut map = EntityHashMap::from_iter([(hand, new_hand), (anchor, new_anchor)]);
    saved.map_entities(&mut map);
    saved.restore(app.world_mut(), cloth).unwrap();
    app.world_mut()
        .entity_mut(cloth)
        .insert(Pins::corners().to_entity(new_anchor));
    app.world_mut().despawn(hand);
    app.world_mut().despawn(anchor);
    let corner = particles(&app, cloth).world_position(0);
    app.world_mut()
        .get_mut::<Transform>(new_anchor)
        .unwrap()
        .translation
        .y = 0.1;
    run(&mut app, 2);
    assert_eq!(
        app.world().get::<ClothGrabs>(cloth).unwrap()[0].by,
        new_hand
    );
    let moved = particles(&app, cloth).world_position(0);
    assert!((moved - corner - Vec3::Y * 0.1).length() < 1e-6, "{moved}");
}
