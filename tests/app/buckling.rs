//! Flat cloth that is compressed along its plane.

use crate::{add_mesh, app, command, particles, run};
use bevy::prelude::*;
use bevy_drape::{cloth::PlanarCloth, prelude::*};

/// Returns the highest particle of those for which `belongs` holds, and the greatest distance from the plane z = 0, m.
fn extent(app: &App, cloth: Entity, belongs: impl Fn(usize) -> bool) -> [f32; 2] {
    let particles = particles(app, cloth);
    let own = (0..particles.len()).filter(|&i| belongs(i));
    own.map(|i| particles.world_position(i))
        .fold([0.0, 0.0], |[height, out], at| {
            [f32::max(height, at.y), f32::max(out, at.z.abs())]
        })
}

/// Spawns an upright sheet of 0.6 m over a floor, 0.1 m above it.
fn upright(app: &mut App, cloth: Cloth, extra: impl Bundle) -> Entity {
    app.world_mut()
        .spawn(ClothCollider::half_space().with_friction(0.5, 0.4));
    let mesh = add_mesh(app, ClothGrid::vertical(0.6, 0.6, 25, 25));
    let transform = Transform::from_xyz(0.0, 0.4, 0.0);
    app.world_mut()
        .spawn((cloth, Mesh3d(mesh), transform, extra))
        .id()
}

#[test]
fn sheets_that_fall_on_an_edge_lie_down() {
    for name in ["silk", "cotton", "wool", "denim", "leather"] {
        for self_collision in [SelfCollision::Off, SelfCollision::On] {
            let fabric = Fabric::named(name).unwrap_or_else(|| panic!("no fabric {name}"));
            let cloth = Cloth {
                fabric,
                self_collision,
                ..default()
            };
            let mut app = app();
            let cloth = upright(&mut app, cloth, ());
            // It falls for 0.14 s.
            run(&mut app, 130);
            let [height, out] = extent(&app, cloth, |_| true);
            println!("{name}, {self_collision:?}: {height} m high, {out} m out");
            assert!(height < 0.35, "{name}, {self_collision:?}: {height} m high");
            assert!(out > 0.05, "{name}, {self_collision:?}: {out} m out");
        }
    }
}

#[test]
fn a_piece_that_is_cut_off_lies_down() {
    let mut app = app();
    let cloth = upright(&mut app, Cloth::default(), Pins::edge(ClothEdge::Top));
    run(&mut app, 30);
    let (from, to) = (Vec3::new(-1.0, 0.45, 0.0), Vec3::new(1.0, 0.45, 0.0));
    command(&mut app, cloth, |cloth| {
        cloth.cut_segment(from, to, Vec3::Z);
    });
    run(&mut app, 150);
    // The lower rows, which come last.
    let [height, out] = extent(&app, cloth, |i| (15 * 25..25 * 25).contains(&i));
    assert!(height < 0.2, "{height} m high");
    assert!(out > 0.03, "{out} m out");
}

#[test]
fn planar_cloth_stays_flat_to_the_bit() {
    let mut app = app();
    let cloth = upright(&mut app, Cloth::default(), PlanarCloth::default());
    for _ in 0..120 {
        run(&mut app, 1);
        assert_eq!(extent(&app, cloth, |_| true)[1], 0.0);
    }
}
