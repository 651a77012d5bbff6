//! Cutting and tearing cloth, and restoring it by a reset.

use crate::{add_mesh, app, bounds, centre, command, drawn, float3, log, particles, run, spawn};
use bevy::{mesh::VertexAttributeValues, prelude::*};
use bevy_drape::{
    cloth::ClothConstraints,
    mesh::TriangleMesh,
    prelude::*,
    tearing::{Blade, ClothTorn, CutCloth, TearCause, TearLimit, TearResistance},
};
use std::collections::BTreeSet;

mod overload;

/// All tear events so far.
#[derive(Resource, Default)]
struct TearEvents(Vec<ClothTorn>);

fn listening_app() -> App {
    let mut app = app();
    app.init_resource::<TearEvents>().add_observer(
        |event: On<ClothTorn>, mut events: ResMut<TearEvents>| {
            events.0.push(event.event().clone());
        },
    );
    app
}

/// Returns the number of groups of particles that constraints connect.
pub(crate) fn islands(app: &App, cloth: Entity) -> usize {
    let count = particles(app, cloth).len();
    let mut island: Vec<usize> = (0..count).collect();
    let constraints = app.world().get::<ClothConstraints>(cloth).unwrap();
    loop {
        let mut changed = false;
        for constraint in constraints.iter() {
            let [a, b] = constraint.ends().map(|i| i as usize);
            let least = island[a].min(island[b]);
            changed |= island[a] != least || island[b] != least;
            (island[a], island[b]) = (least, least);
        }
        if !changed {
            return island.into_iter().collect::<BTreeSet<_>>().len();
        }
    }
}

#[test]
fn a_cut_lets_the_lower_half_fall_and_opens_the_mesh() {
    let mut app = listening_app();
    let mesh = add_mesh(&mut app, ClothGrid::vertical(1.0, 1.0, 10, 10));
    let pins = Pins::edge(ClothEdge::Top);
    let cloth = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), pins))
        .id();
    run(&mut app, 5);
    let (from, to) = (Vec3::new(-2.0, 0.03, 0.0), Vec3::new(2.0, -0.02, 0.0));
    command(&mut app, cloth, |cloth| {
        cloth.cut_segment(from, to, Vec3::Z);
    });
    assert_eq!(islands(&app, cloth), 2);
    let events = &app.world().resource::<TearEvents>().0;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].cause, TearCause::Cut);
    assert!(events[0].edges.len() >= 9);
    for edge in &events[0].edges {
        assert!(edge.position.y.abs() < 0.08, "torn at {}", edge.position);
    }
    run(&mut app, 60);
    // The lower half has fallen by up to 5 m against the drag; the upper half hangs.
    let heights: Vec<f32> = particles(&app, cloth)
        .position
        .iter()
        .map(|p| p.y)
        .collect();
    let fallen = heights.iter().filter(|y| **y < -1.5).count();
    let hanging = heights.iter().filter(|y| **y > -0.3).count();
    assert_eq!(fallen + hanging, heights.len());
    assert!(fallen > 50 && hanging > 50, "{fallen} fell, {hanging} hang");
    // The rendered mesh has fallen too, and lies within its bounding box.
    let read = TriangleMesh::read(drawn(&app, cloth)).unwrap();
    let low = read.positions.iter().map(|p| p.y).fold(0.0, f32::min);
    assert!(low < -1.5);
    let bounds = bounds(&app, cloth);
    assert!(bounds.min().y < low + 1e-3);
    for t in &read.triangles {
        let [a, b, c] = t.map(|v| read.positions[v as usize]);
        let longest = (b - a).length().max((c - b).length()).max((a - c).length());
        assert!(longest < 0.4, "a triangle spans the gap: {longest} m");
    }
}

#[test]
fn both_sides_keep_their_uvs_and_colours() {
    let mut app = app();
    let mut mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 10, 10));
    let red: Vec<_> = (0..100)
        .map(|i| [(i % 10) as f32 / 9.0, 0.0, 0.0, 1.0])
        .collect();
    mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, red);
    let mesh = add_mesh(&mut app, mesh);
    let cloth = app.world_mut().spawn((Cloth::default(), Mesh3d(mesh))).id();
    run(&mut app, 2);
    command(&mut app, cloth, |cloth| {
        cloth.cut_segment(
            Vec3::new(0.07, 0.0, -2.0),
            Vec3::new(-0.1, 0.0, 2.0),
            Vec3::Y,
        );
    });
    run(&mut app, 1);
    let mesh = drawn(&app, cloth);
    let Some(VertexAttributeValues::Float32x2(uvs)) = mesh.attribute(Mesh::ATTRIBUTE_UV_0) else {
        panic!("no UVs");
    };
    let Some(VertexAttributeValues::Float32x4(colours)) = mesh.attribute(Mesh::ATTRIBUTE_COLOR)
    else {
        panic!("no colours");
    };
    let positions = float3(mesh, Mesh::ATTRIBUTE_POSITION);
    assert!(positions.len() > 120);
    for (v, position) in positions.iter().enumerate() {
        assert!((uvs[v][0] - (position.x + 0.5)).abs() < 1e-3, "vertex {v}");
        assert!((colours[v][0] - uvs[v][0]).abs() < 1e-5, "vertex {v}");
    }
}

#[test]
fn reset_restores_the_intact_cloth_to_the_bit() {
    let mut app = app();
    let cloth = spawn(
        &mut app,
        (Pins::top_corners(), ClothTearing::at_strain(0.3)),
    );
    run(&mut app, 1);
    let constraints = app
        .world()
        .get::<ClothConstraints>(cloth)
        .unwrap()
        .0
        .clone();
    let hash = {
        app.world_mut().trigger(ResetCloth { entity: cloth });
        run(&mut app, 30);
        particles(&app, cloth).state_hash()
    };
    command(&mut app, cloth, |cloth| {
        cloth.cut_segment(
            Vec3::new(0.0, 0.0, -2.0),
            Vec3::new(0.1, 0.0, 2.0),
            Vec3::Y * 9.0,
        );
        cloth.tear_edge(11, 12);
        cloth.shred(Vec3::ZERO, 0.2);
    });
    run(&mut app, 20);
    assert!(particles(&app, cloth).len() > 110);
    app.world_mut().trigger(ResetCloth { entity: cloth });
    assert_eq!(particles(&app, cloth).len(), 100);
    assert_eq!(
        app.world().get::<ClothConstraints>(cloth).unwrap().0,
        constraints
    );
    run(&mut app, 30);
    assert_eq!(particles(&app, cloth).state_hash(), hash);
    assert_eq!(
        float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION).len(),
        100
    );
}

#[test]
fn pins_stay_on_their_side_of_a_cut_and_a_cut_pin_holds_both_sides() {
    let mut app = app();
    let mesh = add_mesh(&mut app, ClothGrid::vertical(1.0, 1.0, 11, 11));
    let pins = Pins::index(0).and(Pins::index(5)).and(Pins::index(10));
    let cloth = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), pins))
        .id();
    run(&mut app, 2);
    // Through the pinned particle in the middle of the upper edge.
    command(&mut app, cloth, |cloth| {
        cloth.cut_segment(Vec3::new(0.0, 2.0, 0.0), Vec3::new(0.0, -2.0, 0.0), Vec3::Z);
    });
    assert_eq!(islands(&app, cloth), 2);
    run(&mut app, 30);
    let pinned = |app: &App| {
        let particles = particles(app, cloth);
        (0..particles.len())
            .filter(|&i| particles.is_pinned(i))
            .count()
    };
    assert_eq!(pinned(&app), 4);
    // New pins select the copies too.
    app.world_mut()
        .entity_mut(cloth)
        .insert(Pins::edge(ClothEdge::Top));
    run(&mut app, 2);
    assert_eq!(pinned(&app), 12);
    app.world_mut().entity_mut(cloth).insert(Pins::none());
    run(&mut app, 60);
    assert_eq!(pinned(&app), 0);
    assert!(centre(&app, cloth).y < -1.0);
}

#[test]
fn cuts_keep_mass_and_momentum() {
    let mut app = app();
    app.insert_resource(ClothGravity(Vec3::ZERO));
    let cloth = spawn(&mut app, ());
    run(&mut app, 2);
    let sum = |app: &App| {
        let particles = particles(app, cloth);
        let parts =
            (0..particles.len()).map(|i| (1.0 / particles.inverse_mass[i], particles.velocity(i)));
        parts.fold((0.0, Vec3::ZERO), |(mass, p), (m, v)| (mass + m, p + m * v))
    };
    let mut state = app
        .world_mut()
        .get_mut::<bevy_drape::cloth::ClothParticles>(cloth)
        .unwrap();
    for i in 0..state.len() {
        let velocity = Vec3::new(1.0, 0.3 * (i % 7) as f32, -0.5);
        state.set_velocity(i, velocity);
    }
    let (mass, momentum) = sum(&app);
    command(&mut app, cloth, |cloth| {
        cloth.shred(Vec3::ZERO, 0.3);
        cloth.cut_segment(
            Vec3::new(-2.0, 0.0, 0.33),
            Vec3::new(2.0, 0.0, 0.3),
            Vec3::Y,
        );
    });
    let (new_mass, new_momentum) = sum(&app);
    assert!((new_mass / mass - 1.0).abs() < 1e-4);
    // A divided triangle keeps the mean velocity of its corners.
    assert!((new_momentum - momentum).length() < 0.02 * momentum.length());
}

#[test]
fn a_cut_in_many_short_strokes_leaves_no_bridge() {
    let mut app = app();
    app.insert_resource(ClothGravity(Vec3::ZERO));
    let cloth = spawn(&mut app, ());
    let sword = app.world_mut().spawn_empty().id();
    run(&mut app, 2);
    let edge = |i: i32| {
        let x = -0.7 + 0.013 * i as f32;
        [Vec3::new(x, -0.5, 0.04), Vec3::new(x, 0.5, 0.04)]
    };
    for i in 0..110 {
        command(&mut app, cloth, |cloth| {
            cloth.trigger(|entity| CutCloth {
                entity,
                blade: Blade {
                    from: edge(i),
                    to: edge(i + 1),
                },
                by: Some(sword),
            });
        });
    }
    assert_eq!(islands(&app, cloth), 2);
}

#[test]
fn cuts_without_a_target_do_nothing() {
    let mut app = listening_app();
    log::record(&mut app, 22_000);
    let cloth = spawn(&mut app, ());
    let stone = app.world_mut().spawn_empty().id();
    // Before the cloth is built, on an entity without cloth, outside, with NaN, and where no edge is.
    for _ in 0..2 {
        for entity in [cloth, stone] {
            command(&mut app, entity, |cloth| {
                cloth.cut_segment(Vec3::splat(50.0), Vec3::splat(60.0), Vec3::Y);
                cloth.cut_segment(Vec3::NAN, Vec3::X, Vec3::Y);
                cloth.cut_segment(Vec3::X, Vec3::X, Vec3::Y);
                cloth.shred(Vec3::splat(50.0), 0.1);
                cloth.shred(Vec3::ZERO, f32::NAN);
                cloth.tear_edge(0, 99);
                cloth.tear_edge(3, 3);
                cloth.tear_edge(0, 12345);
            });
        }
        run(&mut app, 2);
    }
    assert!(app.world().resource::<TearEvents>().0.is_empty());
    assert_eq!(particles(&app, cloth).len(), 100);
    app.world_mut().despawn(cloth);
    run(&mut app, 2);
    let lines = log::lines_about(cloth);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("12345"));
}

#[test]
fn cuts_and_tears_are_deterministic() {
    let hash = || {
        let mut app = app();
        let cloth = spawn(
            &mut app,
            (Pins::top_corners(), ClothTearing::at_strain(0.2)),
        );
        run(&mut app, 40);
        command(&mut app, cloth, |cloth| {
            cloth.cut_segment(
                Vec3::new(-2.0, -0.4, 0.0),
                Vec3::new(2.0, -0.5, 0.0),
                Vec3::Z * 3.0,
            );
        });
        run(&mut app, 40);
        (
            particles(&app, cloth).len(),
            particles(&app, cloth).state_hash(),
        )
    };
    let first = hash();
    assert!(first.0 > 100);
    assert_eq!(first, hash());
}

#[test]
fn a_rope_is_cut_torn_and_restored() {
    let mut app = listening_app();
    let rope = Rope::between(Vec3::ZERO, Vec3::X * 2.0, 21);
    let rope = app.world_mut().spawn((rope, Pins::ends())).id();
    run(&mut app, 2);
    command(&mut app, rope, |rope| {
        rope.cut_segment(
            Vec3::new(0.52, 1.0, 0.0),
            Vec3::new(0.52, -1.0, 0.0),
            Vec3::Z,
        );
    });
    assert_eq!(islands(&app, rope), 2);
    command(&mut app, rope, |rope| {
        rope.tear_edge(15, 16);
    });
    assert_eq!(islands(&app, rope), 3);
    assert_eq!(app.world().resource::<TearEvents>().0.len(), 2);
    run(&mut app, 90);
    // The free piece in the middle has fallen.
    let lowest = particles(&app, rope).world_position(10).y;
    assert!(lowest < -5.0, "{lowest}");
    app.world_mut().trigger(ResetCloth { entity: rope });
    assert_eq!((particles(&app, rope).len(), islands(&app, rope)), (21, 1));
    run(&mut app, 30);
    assert!(particles(&app, rope).world_position(10).y > -1.0);
    let mesh = drawn(&app, rope);
    assert!(mesh.count_vertices() > 100);
}
