//! Cloth that lies over edges of colliders, and is pulled over them.

use crate::{add_mesh, app, command, particles, run, sleeps, worst_stretch};
use bevy::prelude::*;
use bevy_drape::prelude::*;

/// Spawns a box with its top at this height, m.
fn spawn_box(app: &mut App, size: Vec3, top: f32, friction: [f32; 2]) {
    let [coefficient, kinetic] = friction;
    let collider = ClothCollider::from(Cuboid::from_size(size));
    app.world_mut().spawn((
        collider.with_friction(coefficient, kinetic),
        Transform::from_xyz(0.0, top - size.y / 2.0, 0.0),
    ));
}

#[test]
fn links_around_the_edges_of_a_box_are_not_stretched_and_come_to_rest() {
    let mut app = app();
    app.world_mut().spawn(ClothCollider::half_space());
    spawn_box(&mut app, Vec3::splat(0.8), 0.8, [0.5, 0.4]);
    let mesh = add_mesh(&mut app, ClothGrid::new(2.0, 2.0, 32, 32));
    let place = Transform::from_xyz(0.0, 1.1, 0.0).with_rotation(Quat::from_rotation_y(-0.3));
    let cloth = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), place));
    let cloth = cloth.id();
    run(&mut app, 360);
    let worst = worst_stretch(&app, cloth);
    println!("worst link {worst}");
    // 7.5 % if the solver does not know of contacts.
    assert!(worst < 0.04, "worst link {worst}");
    assert!(sleeps(&app, cloth));
}

#[test]
fn a_cloth_is_pulled_off_a_table_without_being_caught_at_its_edges() {
    let mut app = app();
    app.world_mut().spawn(ClothCollider::half_space());
    spawn_box(&mut app, Vec3::new(0.9, 0.04, 0.7), 0.6, [0.15, 0.1]);
    let mesh = add_mesh(&mut app, ClothGrid::new(1.6, 1.4, 64, 56));
    let place = Transform::from_xyz(0.0, 0.63, 0.0);
    let cloth = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), place));
    let cloth = cloth.id();
    let hands = [(); 3].map(|()| app.world_mut().spawn_empty().id());
    run(&mut app, 120);
    let grabbed = [-0.3, 0.0, 0.3].map(|z| {
        let particles = particles(&app, cloth);
        let all = (0..particles.len()).map(|i| particles.world_position(i));
        let hanging = all.filter(|at: &Vec3| at.x > 0.45 && (at.z - z).abs() < 0.05);
        hanging
            .min_by(|a, b| a.y.total_cmp(&b.y))
            .expect("the cloth hangs")
    });
    for (hand, at) in hands.into_iter().zip(grabbed) {
        command(&mut app, cloth, |cloth| {
            cloth.grab(hand, at);
        });
    }
    for step in 1..=96 {
        let t = step as f32 / 60.0;
        for (hand, at) in hands.into_iter().zip(grabbed) {
            let up = (0.62 - at.y) * (2.0 * t).min(1.0);
            command(&mut app, cloth, |cloth| {
                cloth.drag(hand, at + Vec3::new(1.4 * t, up, 0.0));
            });
        }
        run(&mut app, 1);
    }
    for hand in hands {
        command(&mut app, cloth, |cloth| {
            cloth.release(hand);
        });
    }
    run(&mut app, 120);
    let particles = particles(&app, cloth);
    let all = (0..particles.len()).map(|i| particles.world_position(i));
    let left_most = all.map(|at| at.x).fold(f32::INFINITY, f32::min);
    let worst = worst_stretch(&app, cloth);
    println!("left-most particle at {left_most} m, worst link {worst}");
    // If it is caught, it remains on the table, and its links are twenty times as long.
    assert!(left_most > 0.46, "left-most particle at {left_most} m");
    assert!(worst < 0.3, "worst link {worst}");
}
