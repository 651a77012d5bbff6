//! Cloth that tears under load.

use super::*;
use bevy_drape::{cloth::StretchSolver, mesh::Diagonals};

#[test]
fn a_load_tears_at_the_weak_seam_first() {
    for limit in [TearLimit::Load(60.0), TearLimit::Strain(0.4)] {
        let mut app = listening_app();
        let mesh = add_mesh(&mut app, ClothGrid::vertical(0.6, 1.2, 13, 25));
        // A weak seam across the middle, where the load is half of that at the top.
        let seam = |at: Vec3| if at.y.abs() < 0.01 { 0.2 } else { 1.0 };
        let cloth = app
            .world_mut()
            .spawn((
                Cloth {
                    // Only cloth solved by relaxation stretches over its whole length.
                    stretch_solver: StretchSolver::GaussSeidel,
                    // Tethers would take load off the edges.
                    tether_scale: None,
                    ..default()
                },
                Mesh3d(mesh),
                Pins::edge(ClothEdge::Top),
                ClothTearing {
                    limit,
                    resistance: TearResistance::by(seam),
                    ..default()
                },
            ))
            .id();
        run(&mut app, 120);
        assert!(
            app.world().resource::<TearEvents>().0.is_empty(),
            "{limit:?}: torn by its own weight"
        );
        // Pulls the lower edge down slowly, until an edge tears.
        let hand = app.world_mut().spawn_empty().id();
        let edge = Vec3::NEG_Y * 0.6;
        command(&mut app, cloth, |cloth| {
            let mut grab = bevy_drape::grab::GrabCloth::new(cloth.id(), hand, edge);
            grab.radius = 0.31;
            grab.force = 300.0;
            cloth.trigger(|_| grab);
        });
        for step in 0..400 {
            command(&mut app, cloth, |cloth| {
                cloth.drag(hand, edge + Vec3::NEG_Y * (0.002 * step as f32));
            });
            run(&mut app, 1);
            if !app.world().resource::<TearEvents>().0.is_empty() {
                break;
            }
        }
        let events = &app.world().resource::<TearEvents>().0;
        let first = events
            .first()
            .unwrap_or_else(|| panic!("{limit:?}: not torn"));
        assert_eq!(first.cause, TearCause::Overload);
        assert!(first.edges.len() <= 8, "more than allowed in one step");
        for edge in &first.edges {
            // The edge breaks at its first particle, which lies on the seam.
            let row = edge.particles[0] / 13;
            assert_eq!(row, 12, "{limit:?}: torn in row {row} instead of the seam");
        }
    }
}

#[test]
fn vertex_colours_weaken_cloth_and_missing_colours_are_reported() {
    let mut app = listening_app();
    log::record(&mut app, 21_000);
    let mut mesh = Mesh::from(ClothGrid::vertical(0.5, 1.0, 6, 11));
    // The sixth row is weak.
    let red = (0..66).map(|i| [if i / 6 == 5 { 0.02 } else { 1.0 }, 1.0, 1.0, 1.0]);
    mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, red.collect::<Vec<_>>());
    let tearing = ClothTearing {
        resistance: TearResistance::VertexColour,
        ..ClothTearing::at_load(50.0)
    };
    let with = add_mesh(&mut app, mesh);
    let without = add_mesh(&mut app, ClothGrid::vertical(0.5, 1.0, 6, 11));
    let bundle = |mesh| {
        let pins = Pins::edge(ClothEdge::Top);
        (Cloth::default(), Mesh3d(mesh), pins, tearing.clone())
    };
    let weak = app.world_mut().spawn(bundle(with)).id();
    let plain = app.world_mut().spawn(bundle(without)).id();
    run(&mut app, 60);
    let events = &app.world().resource::<TearEvents>().0;
    assert!(!events.is_empty());
    for torn in events {
        assert_eq!(torn.entity, weak);
    }
    assert_eq!(events[0].edges[0].particles[0] / 6, 5);
    assert!(islands(&app, weak) >= 2);
    let lines = log::lines_about(plain);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("no vertex colours"));
}

#[test]
fn a_strip_carries_up_to_its_load_limit_at_its_pinned_row_too() {
    // 1 m of cloth hangs from a bar: 0.2 kg/m² · 9.81 m/s² · 1 m = 1.96 N per metre of bar.
    let weight = 0.2 * 9.81;
    for (fraction, tears) in [(1.15, false), (0.85, true)] {
        for diagonals in [Diagonals::Alternating, Diagonals::Parallel] {
            let mut app = listening_app();
            app.insert_resource(ClothSubsteps::PerStep(20));
            let grid = ClothGrid::vertical(0.5, 1.0, 11, 21).with_diagonals(diagonals);
            let mesh = add_mesh(&mut app, grid);
            let cloth = Cloth {
                damping: 5.0,
                // The structural edges alone carry the weight.
                fabric: Fabric {
                    shear_stiffness: Some(0.1),
                    bending_stiffness: 0.0,
                    ..default()
                },
                ..default()
            };
            let pins = Pins::edge(ClothEdge::Top);
            let cloth = app.world_mut().spawn((cloth, Mesh3d(mesh), pins)).id();
            // Settles first.
            run(&mut app, 240);
            let tearing = ClothTearing::at_load(weight * fraction);
            app.world_mut().entity_mut(cloth).insert(tearing);
            run(&mut app, 30);
            let torn = !app.world().resource::<TearEvents>().0.is_empty();
            assert_eq!(torn, tears, "{fraction} of its weight, {diagonals:?}");
        }
    }
}
