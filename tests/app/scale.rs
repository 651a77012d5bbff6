//! Small and large cloths behave as their sizes say.

use crate::{add_mesh, app, log, positions, run, sleeps};
use bevy::prelude::*;
use bevy_drape::{
    cloth::{ClothGravity, Fabric},
    mesh::ClothGrid,
    prelude::*,
    tearing::ClothTearing,
    wind::Wind,
};

/// Spawns a horizontal square sheet of this width at height 0.
fn spawn_sheet(app: &mut App, width: f32, bundle: impl Bundle) -> Entity {
    let mesh = add_mesh(app, ClothGrid::new(width, width, 24, 24));
    let bundle = (Mesh3d(mesh), Pins::none(), bundle);
    app.world_mut().spawn(bundle).id()
}

/// Spawns a scarf for a doll, 5 cm wide, above a ball.
fn spawn_scarf(app: &mut App, cloth: Cloth) -> Entity {
    let below = Transform::from_xyz(0.0, -0.02, 0.0);
    app.world_mut()
        .spawn((ClothCollider::sphere(RADIUS), below));
    spawn_sheet(app, 0.05, cloth)
}

const RADIUS: f32 = 0.0125;

#[test]
fn a_scarf_of_a_doll_lies_close_to_a_ball() {
    let mut app = app();
    let scarf = spawn_scarf(&mut app, Cloth::default());
    run(&mut app, 1);
    while !sleeps(&app, scarf) {
        run(&mut app, 1);
    }
    let centre = Vec3::Y * -0.02;
    let gaps = positions(&app, scarf)
        .into_iter()
        .map(|at| at.distance(centre) - RADIUS);
    let gap = gaps.fold(f32::INFINITY, f32::min);
    let size = 0.05 * 2f32.sqrt();
    assert!(
        (0.9 * 0.02 * size..1.1 * 0.02 * size).contains(&gap),
        "{gap}"
    );
}

#[test]
fn small_cloth_sleeps_only_when_it_is_slower() {
    let mut app = app();
    app.insert_resource(ClothGravity(Vec3::ZERO));
    app.insert_resource(Wind {
        air_density: 0.0,
        ..default()
    });
    let drifting = || Cloth {
        damping: 0.0,
        ..default()
    };
    let cloths = [0.05, 2.0].map(|width| spawn_sheet(&mut app, width, drifting()));
    run(&mut app, 1);
    for cloth in cloths {
        let mut particles = app.world_mut().get_mut::<ClothParticles>(cloth).unwrap();
        for i in 0..particles.len() {
            particles.set_velocity(i, Vec3::Y * 0.003);
        }
    }
    run(&mut app, 100);
    assert_eq!(cloths.map(|cloth| sleeps(&app, cloth)), [false, true]);
}

#[test]
fn a_sail_that_its_load_would_tear_is_told() {
    let mut app = app();
    log::record(&mut app, 9_100);
    app.insert_resource(Wind {
        velocity: Vec3::X * 12.0,
        ..default()
    });
    let denim = || Cloth {
        fabric: Fabric::denim(),
        ..default()
    };
    let sail = spawn_sheet(&mut app, 30.0, (denim(), ClothTearing::default()));
    let flag = spawn_sheet(&mut app, 2.0, (denim(), ClothTearing::default()));
    let whole = spawn_sheet(&mut app, 30.0, denim());
    run(&mut app, 1);
    let told = |cloth| {
        let lines = log::lines_about(cloth);
        lines
            .iter()
            .any(|line| line.contains("raise ClothTearing::limit"))
    };
    assert_eq!([sail, flag, whole].map(told), [true, false, false]);
}
