//! Cloth shortens stretched links before it falls asleep.

use crate::{add_mesh, app, positions, run, sleep::fall_asleep, sleeps, worst_stretch};
use bevy::prelude::*;
use bevy_drape::{cloth::StretchSolver, mesh::ClothGrid, prelude::*, snapshot::ClothSnapshot};

/// Largest stretch of cloth that has settled.
const SETTLED: f32 = 0.0121;

/// Spawns a sheet above a box on a floor.
fn tablecloth(app: &mut App, cloth: Cloth, side: u32) -> Entity {
    let world = app.world_mut();
    world.spawn(ClothCollider::half_space());
    let rotated = Transform::from_xyz(0.0, 0.4, 0.0).with_rotation(Quat::from_rotation_y(0.3));
    world.spawn((ClothCollider::cuboid(0.8, 0.8, 0.8), rotated));
    spawn_sheet(app, cloth, side, 0.9)
}

fn spawn_sheet(app: &mut App, cloth: Cloth, side: u32, height: f32) -> Entity {
    let mesh = add_mesh(app, ClothGrid::new(2.0, 2.0, side, side));
    let at = Transform::from_xyz(0.0, height, 0.0);
    app.world_mut().spawn((cloth, Mesh3d(mesh), at)).id()
}

/// Runs until a cloth sleeps. Returns its stretch after each step.
fn stretches_until_asleep(app: &mut App, cloth: Entity) -> Vec<f32> {
    let mut stretches = Vec::new();
    while !sleeps(app, cloth) && stretches.len() < 600 {
        app.update();
        stretches.push(worst_stretch(app, cloth));
    }
    assert!(sleeps(app, cloth), "the cloth does not fall asleep");
    stretches
}

/// Returns a tablecloth after the first of several steps in which it settles.
fn settling_tablecloth() -> (App, Entity) {
    let spawned = || {
        let mut app = app();
        let cloth = tablecloth(&mut app, Cloth::default(), 64);
        (app, cloth)
    };
    let (mut app, cloth) = spawned();
    let stretches = stretches_until_asleep(&mut app, cloth);
    let shortened = |pair: &[f32]| pair[1] < 0.7 * pair[0];
    let late = stretches.len() - 60;
    let before = late + stretches[late..].windows(2).position(shortened).unwrap();
    // The same again.
    let (mut app, cloth) = spawned();
    run(&mut app, before as u32 + 2);
    assert!(!sleeps(&app, cloth));
    let stretch = worst_stretch(&app, cloth);
    assert!((SETTLED..0.03).contains(&stretch), "{stretch}");
    (app, cloth)
}

#[test]
fn cloth_settles_before_it_falls_asleep() {
    let mut app = app();
    let cloth = tablecloth(&mut app, Cloth::default(), 40);
    let stretches = stretches_until_asleep(&mut app, cloth);
    let before = stretches[stretches.len() - 32];
    assert!(before > 0.03, "not stretched at the edges: {before}");
    assert!(
        worst_stretch(&app, cloth) < SETTLED,
        "{}",
        worst_stretch(&app, cloth)
    );
    let particles = app.world().get::<ClothParticles>(cloth).unwrap();
    assert!((0..particles.len()).all(|i| particles.velocity(i) == Vec3::ZERO));
}

#[test]
fn elastic_cloth_keeps_the_stretch_of_its_stiffness() {
    for solver in [StretchSolver::Direct, StretchSolver::GaussSeidel] {
        let mut app = app();
        let mut cloth = Cloth {
            stretch_solver: solver,
            ..default()
        };
        if solver == StretchSolver::Direct {
            cloth.fabric.warp_stiffness = Some(300.0);
            cloth.fabric.weft_stiffness = Some(300.0);
        }
        let cloth = tablecloth(&mut app, cloth, 40);
        fall_asleep(&mut app, cloth);
        assert!(
            worst_stretch(&app, cloth) > 0.03,
            "{}",
            worst_stretch(&app, cloth)
        );
    }
}

#[test]
fn cloth_that_is_disturbed_while_it_settles_moves_on() {
    let (mut app, cloth) = settling_tablecloth();
    let before = positions(&app, cloth);
    let mut particles = app.world_mut().get_mut::<ClothParticles>(cloth).unwrap();
    for i in 0..particles.len() {
        particles.set_velocity(i, Vec3::Y * 2.0);
    }
    app.update();
    let after = positions(&app, cloth);
    let both = before.iter().zip(&after);
    let risen = both.filter(|(a, b)| b.y > a.y + 0.01).count();
    assert_eq!(risen, before.len());
}

#[test]
fn a_snapshot_of_settling_cloth_goes_on_as_the_cloth_does() {
    let (mut app, cloth) = settling_tablecloth();
    let snapshot = ClothSnapshot::take(app.world(), cloth).unwrap();
    let expected = stretches_until_asleep(&mut app, cloth);
    let end = positions(&app, cloth);
    snapshot.restore(app.world_mut(), cloth).unwrap();
    assert_eq!(stretches_until_asleep(&mut app, cloth), expected);
    assert_eq!(positions(&app, cloth), end);
}

#[test]
fn cloths_that_touch_settle_and_fall_asleep_together() {
    let mut app = app();
    let on = Cloth {
        self_collision: SelfCollision::On,
        ..default()
    };
    let lower = tablecloth(&mut app, on.clone(), 40);
    let upper = spawn_sheet(&mut app, on, 40, 1.0);
    fall_asleep(&mut app, lower);
    assert!(sleeps(&app, upper));
    for cloth in [lower, upper] {
        assert!(
            worst_stretch(&app, cloth) < 0.03,
            "{}",
            worst_stretch(&app, cloth)
        );
    }
}
