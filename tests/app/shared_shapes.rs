//! Cloths of one mesh share their shape, and change it for themselves alone.

use crate::{add_mesh, app, command, drawn, particles, positions, run, sheet};
use bevy::prelude::*;
use bevy_drape::prelude::*;

/// Spawns cloths of one mesh, with these pins, at the same place: they do not touch each other.
fn cloths_of_one_mesh<const N: usize>(app: &mut App, pins: [Pins; N]) -> [Entity; N] {
    let mesh = add_mesh(app, sheet());
    pins.map(|pins| {
        let cloth = (Cloth::default(), pins, Mesh3d(mesh.clone()));
        app.world_mut().spawn(cloth).id()
    })
}

fn hash(app: &App, cloth: Entity) -> u64 {
    particles(app, cloth).state_hash()
}

#[test]
fn cloths_of_one_mesh_move_like_cloths_of_their_own() {
    let pins = || {
        [
            Pins::corners(),
            Pins::edge(ClothEdge::Left),
            Pins::corners(),
        ]
    };
    let mut together = app();
    let all = cloths_of_one_mesh(&mut together, pins());
    run(&mut together, 60);
    assert_eq!(hash(&together, all[0]), hash(&together, all[2]));
    for (pins, cloth) in pins().into_iter().zip(all) {
        let mut alone = app();
        let [own] = cloths_of_one_mesh(&mut alone, [pins]);
        run(&mut alone, 60);
        assert_eq!(hash(&alone, own), hash(&together, cloth));
    }
}

#[test]
fn what_happens_to_one_cloth_does_not_happen_to_others_of_its_mesh() {
    let mut undisturbed = app();
    let [_, expected] = cloths_of_one_mesh(&mut undisturbed, [Pins::corners(), Pins::corners()]);
    run(&mut undisturbed, 80);
    let mut app = app();
    let [torn, other] = cloths_of_one_mesh(&mut app, [Pins::corners(), Pins::corners()]);
    run(&mut app, 20);
    command(&mut app, torn, |cloth| {
        cloth.shred(Vec3::ZERO, 0.2);
    });
    run(&mut app, 20);
    assert!(particles(&app, torn).len() > particles(&app, other).len());
    let mut fabric = app.world_mut().get_mut::<Cloth>(torn).unwrap();
    fabric.fabric.bending_stiffness *= 10.0;
    app.world_mut().get_mut::<Transform>(torn).unwrap().scale = Vec3::splat(1.5);
    run(&mut app, 20);
    command(&mut app, torn, |cloth| {
        cloth.trigger(|entity| ResetCloth { entity });
    });
    run(&mut app, 20);
    assert_eq!(hash(&app, other), hash(&undisturbed, expected));
    assert_eq!(drawn(&app, other).count_vertices(), 100);
}

#[test]
fn a_mesh_that_changes_has_another_shape_from_then_on() {
    let mut app = app();
    let mesh = add_mesh(&mut app, sheet());
    let spawn = |app: &mut App| {
        let cloth = (Cloth::default(), Pins::corners(), Mesh3d(mesh.clone()));
        app.world_mut().spawn(cloth).id()
    };
    let first = spawn(&mut app);
    run(&mut app, 2);
    *app.world_mut()
        .resource_mut::<Assets<Mesh>>()
        .get_mut(&mesh)
        .unwrap() = ClothGrid::new(2.0, 2.0, 12, 12).into();
    // Built in the update that tells of the change.
    let second = spawn(&mut app);
    run(&mut app, 3);
    for cloth in [first, second] {
        assert_eq!(particles(&app, cloth).len(), 144);
        let at = positions(&app, cloth);
        let width = at.iter().fold(0.0_f32, |width, at| width.max(at.x.abs()));
        assert!((width - 1.0).abs() < 0.01, "{width}");
    }
}

#[test]
fn a_cloth_that_is_reset_is_like_new() {
    let mut app = app();
    let [cloth, _] = cloths_of_one_mesh(&mut app, [Pins::corners(), Pins::corners()]);
    run(&mut app, 1);
    let expected: Vec<u64> = (0..40)
        .map(|_| {
            run(&mut app, 1);
            hash(&app, cloth)
        })
        .collect();
    command(&mut app, cloth, |cloth| {
        cloth.shred(Vec3::ZERO, 0.2);
        cloth.trigger(|entity| ResetCloth { entity });
    });
    for (step, expected) in expected.into_iter().enumerate() {
        run(&mut app, 1);
        assert_eq!(hash(&app, cloth), expected, "step {step}");
    }
}

#[test]
fn a_cloth_that_becomes_a_rope_is_reset_as_a_rope() {
    let mut app = app();
    let [cloth] = cloths_of_one_mesh(&mut app, [Pins::ends()]);
    run(&mut app, 2);
    let rope = Rope::between(Vec3::ZERO, Vec3::X, 32);
    app.world_mut().entity_mut(cloth).insert(rope);
    run(&mut app, 2);
    command(&mut app, cloth, |cloth| {
        cloth.trigger(|entity| ResetCloth { entity });
    });
    run(&mut app, 2);
    assert_eq!(particles(&app, cloth).len(), 32);
}
