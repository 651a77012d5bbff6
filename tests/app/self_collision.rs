//! Self-collision in the plugin.

use crate::{add_mesh, app, crossings::crossings, folds::tangled_in_half, particles, run};
use bevy::prelude::*;
use bevy_drape::{
    cloth::ClothSubstep,
    mesh::{Topology, TriangleMesh},
    prelude::*,
    snapshot::ClothSnapshot,
};

/// Drops a strip edge-on onto a floor, where it folds onto itself, for 90 steps. Returns the app and the cloth.
fn falling(by_phases: bool, self_collision: SelfCollision) -> (App, Entity) {
    let mut app = app();
    if by_phases {
        let empty = (|| {})
            .after(ClothSystems::Relax)
            .before(ClothSystems::Collide);
        app.add_systems(ClothSubstep, empty);
    }
    app.world_mut().spawn(ClothCollider::half_space());
    let mesh = add_mesh(&mut app, ClothGrid::vertical(0.5, 1.5, 12, 34));
    let cloth = Cloth {
        self_collision,
        ..default()
    };
    let transform = Transform::from_xyz(0.0, 0.9, 0.0).with_rotation(Quat::from_rotation_x(0.1));
    let cloth = app.world_mut().spawn((cloth, Mesh3d(mesh), transform)).id();
    run(&mut app, 90);
    (app, cloth)
}

fn hash(app: &App, cloth: Entity) -> u64 {
    let particles = particles(app, cloth);
    assert!(particles.is_finite());
    particles.state_hash()
}

/// Returns the number of pairs of particles closer than half the collision distance.
fn too_near(app: &App, cloth: Entity) -> usize {
    let particles = particles(app, cloth);
    let distance = 0.5 / 11.0;
    let position = |i| particles.world_position(i);
    let pairs = (0..particles.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs
        .filter(|&(i, j)| position(i).distance(position(j)) < 0.5 * distance)
        .count()
}

#[test]
fn self_collision_keeps_layers_apart_and_may_be_switched_on_late() {
    let (mut app, cloth) = falling(false, SelfCollision::On);
    // Of the 83 000 pairs, sharp folds press a few together.
    assert!(too_near(&app, cloth) < 5, "{}", too_near(&app, cloth));
    run(&mut app, 120);
    assert!(too_near(&app, cloth) < 5, "{}", too_near(&app, cloth));
    let (mut app, cloth) = falling(false, SelfCollision::Off);
    let without = too_near(&app, cloth);
    assert!(without > 0);
    app.world_mut()
        .get_mut::<Cloth>(cloth)
        .unwrap()
        .self_collision = SelfCollision::On;
    run(&mut app, 60);
    assert!(too_near(&app, cloth) <= without / 4);
}

#[test]
fn self_collision_gives_the_same_bits_phase_by_phase() {
    let hash_of = |by_phases| {
        let (app, cloth) = falling(by_phases, SelfCollision::On);
        hash(&app, cloth)
    };
    assert_eq!(hash_of(true), hash_of(false));
}

#[test]
fn a_restored_snapshot_continues_to_the_same_bits() {
    let (mut app, cloth) = falling(false, SelfCollision::On);
    let saved = ClothSnapshot::take(app.world(), cloth).unwrap();
    run(&mut app, 40);
    let expected = hash(&app, cloth);
    saved.restore(app.world_mut(), cloth).unwrap();
    run(&mut app, 40);
    assert_eq!(hash(&app, cloth), expected);
}

#[test]
fn edges_that_cross_triangles_come_back() {
    let crossings_after = |self_collision| {
        let mut app = app();
        let sheet = || ClothGrid::new(1.0, 1.0, 33, 33);
        let mesh = add_mesh(&mut app, sheet());
        let cloth = Cloth {
            self_collision,
            gravity_scale: 0.0,
            ..default()
        };
        let cloth = app.world_mut().spawn((cloth, Mesh3d(mesh))).id();
        run(&mut app, 2);
        let positions = |app: &App| -> Vec<Vec3> {
            let particles = particles(app, cloth);
            (0..particles.len())
                .map(|i| particles.world_position(i))
                .collect()
        };
        let tangled = positions(&app).into_iter().map(tangled_in_half).collect();
        let mut particles = app.world_mut().get_mut::<ClothParticles>(cloth).unwrap();
        particles.reset(Vec3::ZERO, &tangled);
        run(&mut app, 60);
        let topology = Topology::new(&TriangleMesh::read(&sheet().into()).unwrap()).unwrap();
        crossings(&positions(&app), &topology.triangles.to_vec())
    };
    assert!(crossings_after(SelfCollision::Off) > 0);
    assert_eq!(crossings_after(SelfCollision::On), 0);
}
