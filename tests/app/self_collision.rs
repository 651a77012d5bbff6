//! Cloth that collides with itself, through the plugin.

use crate::{add_mesh, app, crossings::crossings, folds::tangled_in_half, particles, run};
use bevy::prelude::*;
use bevy_drape::{
    ClothSnapshot, ClothSubstep, ClothSystems, Particles,
    mesh::{Topology, TriangleMesh},
    prelude::*,
};

/// A strip that falls edge on, and so onto itself, on a floor.
fn falling(by_phases: bool, self_collision: SelfCollision) -> (App, Entity) {
    let mut app = app();
    if by_phases {
        let nothing = (|| {})
            .after(ClothSystems::Relax)
            .before(ClothSystems::Collide);
        app.add_systems(ClothSubstep, nothing);
    }
    app.world_mut().spawn(ClothCollider::half_space());
    let mesh = add_mesh(&mut app, ClothGrid::vertical(0.5, 1.5, 12, 34));
    let cloth = Cloth {
        self_collision,
        ..default()
    };
    let place = Transform::from_xyz(0.0, 0.9, 0.0).with_rotation(Quat::from_rotation_x(0.1));
    let cloth = app.world_mut().spawn((cloth, Mesh3d(mesh), place)).id();
    run(&mut app, 90);
    (app, cloth)
}

fn hash(app: &App, cloth: Entity) -> u64 {
    let particles = particles(app, cloth);
    assert!(particles.is_finite());
    particles.state_hash()
}

/// How many pairs of particles are nearer than half of what is kept.
fn too_near(app: &App, cloth: Entity) -> usize {
    let particles = particles(app, cloth);
    let kept = 0.5 / 11.0;
    let at = |i| particles.world_position(i);
    let pairs = (0..particles.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs
        .filter(|&(i, j)| at(i).distance(at(j)) < 0.5 * kept)
        .count()
}

#[test]
fn it_keeps_layers_apart_and_may_be_switched_on_late() {
    let (mut app, cloth) = falling(false, SelfCollision::Particles);
    assert_eq!(too_near(&app, cloth), 0);
    run(&mut app, 120);
    assert_eq!(too_near(&app, cloth), 0);
    let (mut app, cloth) = falling(false, SelfCollision::Off);
    let without = too_near(&app, cloth);
    assert!(without > 0);
    app.world_mut()
        .get_mut::<Cloth>(cloth)
        .unwrap()
        .self_collision = SelfCollision::Particles;
    run(&mut app, 60);
    assert!(too_near(&app, cloth) <= without / 4);
}

#[test]
fn phases_and_whole_cloths_give_the_same_bits() {
    for mode in [SelfCollision::Particles, SelfCollision::ParticlesAndEdges] {
        let of = |by_phases| {
            let (app, cloth) = falling(by_phases, mode);
            hash(&app, cloth)
        };
        assert_eq!(of(true), of(false), "{mode:?}");
    }
}

#[test]
fn a_snapshot_goes_on_to_the_same_bits() {
    let (mut app, cloth) = falling(false, SelfCollision::ParticlesAndEdges);
    let saved = ClothSnapshot::take(app.world(), cloth).unwrap();
    run(&mut app, 40);
    let expected = hash(&app, cloth);
    saved.restore(app.world_mut(), cloth).unwrap();
    run(&mut app, 40);
    assert_eq!(hash(&app, cloth), expected);
}

#[test]
fn edges_that_are_through_triangles_come_back() {
    let after = |self_collision| {
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
        let places = |app: &App| -> Vec<Vec3> {
            let particles = particles(app, cloth);
            (0..particles.len())
                .map(|i| particles.world_position(i))
                .collect()
        };
        let tangled = places(&app).into_iter().map(tangled_in_half).collect();
        let mut particles = app.world_mut().get_mut::<Particles>(cloth).unwrap();
        particles.reset(Vec3::ZERO, &tangled);
        run(&mut app, 60);
        let topology = Topology::new(&TriangleMesh::read(&sheet().into()).unwrap()).unwrap();
        crossings(&places(&app), &topology.triangles.to_vec())
    };
    assert!(after(SelfCollision::Particles) > 0);
    assert_eq!(after(SelfCollision::ParticlesAndEdges), 0);
}
