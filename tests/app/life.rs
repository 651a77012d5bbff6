//! Life of a cloth, from spawn to despawn.

use crate::{add_mesh, app, centre, drawn, float3, particles, run, sheet, spawn};
use bevy::prelude::*;
use bevy_drape::{
    cloth::{ClothConstraints, ClothSource, ClothSubstep},
    prelude::*,
};

#[test]
fn cloth_is_built_and_falls() {
    let mut app = app();
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 5.0, 0.0));
    run(&mut app, 1);
    assert_eq!(particles(&app, cloth).len(), 100);
    let constraints = app.world().get::<ClothConstraints>(cloth).unwrap();
    assert_eq!(constraints.len(), 502);
    let before = centre(&app, cloth);
    assert!((before - Vec3::Y * 5.0).length() < 1e-5, "{before}");
    run(&mut app, 60);
    let fallen = 5.0 - centre(&app, cloth).y;
    assert!(fallen > 1.0 && fallen < 4.905, "{fallen} m");
}

#[test]
fn ready_is_triggered_once() {
    #[derive(Resource, Default)]
    struct ReadyLog(Vec<Entity>);
    let mut app = app();
    app.init_resource::<ReadyLog>()
        .add_observer(|ready: On<ClothReady>, mut log: ResMut<ReadyLog>| log.0.push(ready.entity));
    let cloth = spawn(&mut app, ());
    run(&mut app, 5);
    assert_eq!(app.world().resource::<ReadyLog>().0, [cloth]);
}

#[test]
fn a_mesh_that_loads_late_becomes_cloth() {
    let mut app = app();
    let handle = app.world().resource::<Assets<Mesh>>().reserve_handle();
    let cloth = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(handle.clone())))
        .id();
    run(&mut app, 3);
    assert!(app.world().get::<ClothParticles>(cloth).is_none());
    app.world_mut()
        .resource_mut::<Assets<Mesh>>()
        .insert(&handle, sheet().into())
        .unwrap();
    run(&mut app, 2);
    assert_eq!(particles(&app, cloth).len(), 100);
}

#[test]
fn cloth_without_a_mesh_waits_for_one() {
    let mut app = app();
    let cloth = app.world_mut().spawn(Cloth::default()).id();
    run(&mut app, 2);
    let mesh = add_mesh(&mut app, sheet());
    app.world_mut().entity_mut(cloth).insert(Mesh3d(mesh));
    run(&mut app, 2);
    assert_eq!(particles(&app, cloth).len(), 100);
}

#[test]
fn two_cloths_with_one_mesh_move_apart() {
    let mut app = app();
    let mesh = add_mesh(&mut app, sheet());
    let [held, free] = [Pins::corners(), Pins::none()].map(|pins| {
        app.world_mut()
            .spawn((Cloth::default(), Mesh3d(mesh.clone()), pins))
            .id()
    });
    run(&mut app, 30);
    assert!(centre(&app, free).y < centre(&app, held).y - 0.5);
    let lowest = |cloth| {
        let positions = float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION);
        positions.iter().map(|p| p.y).fold(f32::INFINITY, f32::min)
    };
    assert!(lowest(free) < lowest(held));
    // Their common source mesh is unchanged.
    let original = app.world().resource::<Assets<Mesh>>().get(&mesh).unwrap();
    let flat = float3(original, Mesh::ATTRIBUTE_POSITION);
    assert!(flat.iter().all(|p| p.y == 0.0));
}

#[test]
fn a_clone_starts_from_the_original_mesh() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::corners());
    run(&mut app, 60);
    let clone = app.world_mut().entity_mut(cloth).clone_and_spawn();
    run(&mut app, 1);
    let rest = |e| {
        let constraints = app.world().get::<ClothConstraints>(e).unwrap();
        constraints.iter().collect::<Vec<_>>()
    };
    assert_eq!(rest(clone), rest(cloth));
    let own = |e| app.world().get::<ClothSource>(e).unwrap().own.clone();
    assert_ne!(own(clone), own(cloth), "both must not write into one mesh");
}

#[test]
fn another_mesh_rebuilds_the_cloth() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    run(&mut app, 5);
    let other = add_mesh(&mut app, ClothGrid::new(1.0, 1.0, 4, 4));
    app.world_mut().entity_mut(cloth).insert(Mesh3d(other));
    run(&mut app, 3);
    assert_eq!(particles(&app, cloth).len(), 16);
}

#[test]
fn removing_the_cloth_restores_the_mesh() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    let original = app.world().get::<Mesh3d>(cloth).unwrap().0.clone();
    run(&mut app, 5);
    assert_ne!(app.world().get::<Mesh3d>(cloth).unwrap().0, original);
    app.world_mut().entity_mut(cloth).remove::<Cloth>();
    run(&mut app, 2);
    assert_eq!(app.world().get::<Mesh3d>(cloth).unwrap().0, original);
    assert!(app.world().get::<ClothParticles>(cloth).is_none());
    // Inserting the component again rebuilds the cloth.
    app.world_mut().entity_mut(cloth).insert(Cloth::default());
    run(&mut app, 2);
    assert_eq!(particles(&app, cloth).len(), 100);
}

#[test]
fn despawning_a_cloth_removes_its_own_mesh() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    run(&mut app, 3);
    let own = app.world().get::<ClothSource>(cloth).unwrap().own.id();
    app.world_mut().despawn(cloth);
    run(&mut app, 3);
    assert!(app.world().resource::<Assets<Mesh>>().get(own).is_none());
}

#[test]
fn a_despawn_in_the_middle_of_a_step_is_harmless() {
    let mut app = app();
    app.add_systems(
        ClothSubstep,
        (|mut commands: Commands, cloths: Query<Entity, With<ClothParticles>>| {
            if let Some(entity) = cloths.iter().min() {
                commands.entity(entity).despawn();
            }
        })
        .after(ClothSystems::Integrate)
        .before(ClothSystems::Relax),
    );
    for _ in 0..20 {
        spawn(&mut app, ());
    }
    // The system despawns one cloth in each of the 8 substeps.
    run(&mut app, 2);
    let mut cloths = app.world_mut().query::<&ClothParticles>();
    assert_eq!(cloths.iter(app.world()).count(), 12);
    run(&mut app, 5);
    assert_eq!(cloths.iter(app.world()).count(), 0);
}
