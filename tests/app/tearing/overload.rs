//! Cloth that carries too much.

use super::*;

#[test]
fn a_load_tears_at_the_weak_seam_first() {
    for limit in [TearLimit::Load(60.0), TearLimit::Strain(0.4)] {
        let mut app = listening_app();
        let mesh = add_mesh(&mut app, ClothGrid::vertical(0.6, 1.2, 13, 25));
        // A seam across the middle, where the load is half of that at the top.
        let seam = |at: Vec3| if at.y.abs() < 0.01 { 0.2 } else { 1.0 };
        let cloth = app
            .world_mut()
            .spawn((
                Cloth {
                    // Only relaxed cloth stretches over its whole length.
                    threads: ThreadSolver::Relaxation,
                    // What tethers carry, no thread between them feels.
                    tether_scale: 100.0,
                    ..default()
                },
                Mesh3d(mesh),
                Pins::edge(ClothEdge::Top),
                Tearing {
                    limit,
                    resistance: TearResistance::by(seam),
                    ..default()
                },
            ))
            .id();
        run(&mut app, 120);
        assert!(
            app.world().resource::<Heard>().0.is_empty(),
            "{limit:?}: it carries its weight"
        );
        // Pulled down, slowly, until it gives way.
        let hand = app.world_mut().spawn_empty().id();
        let edge = Vec3::NEG_Y * 0.6;
        command(&mut app, cloth, |cloth| {
            let mut grab = bevy_drape::GrabCloth::new(cloth.id(), hand, edge);
            grab.radius = 0.31;
            grab.force = 300.0;
            cloth.trigger(|_| grab);
        });
        for step in 0..400 {
            command(&mut app, cloth, |cloth| {
                cloth.drag(hand, edge + Vec3::NEG_Y * (0.002 * step as f32));
            });
            run(&mut app, 1);
            if !app.world().resource::<Heard>().0.is_empty() {
                break;
            }
        }
        let heard = &app.world().resource::<Heard>().0;
        let first = heard
            .first()
            .unwrap_or_else(|| panic!("{limit:?}: it did not tear"));
        assert_eq!(first.cause, TearCause::Overload);
        assert!(first.edges.len() <= 8, "more than allowed in one step");
        for edge in &first.edges {
            // The thread breaks at its first particle, and that is on the seam.
            let row = edge.particles[0] / 13;
            assert_eq!(row, 12, "{limit:?}: torn in row {row} instead of the seam");
        }
    }
}

#[test]
fn a_weak_colour_is_a_weak_place_and_without_colours_the_log_says_so() {
    let mut app = listening_app();
    log::record(&mut app, 21_000);
    let mut mesh = Mesh::from(ClothGrid::vertical(0.5, 1.0, 6, 11));
    // The sixth row is weak.
    let red = (0..66).map(|i| [if i / 6 == 5 { 0.02 } else { 1.0 }, 1.0, 1.0, 1.0]);
    mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, red.collect::<Vec<_>>());
    let tearing = Tearing {
        resistance: TearResistance::VertexColour,
        ..Tearing::at_load(50.0)
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
    let heard = &app.world().resource::<Heard>().0;
    assert!(!heard.is_empty());
    for torn in heard {
        assert_eq!(torn.entity, weak);
    }
    assert_eq!(heard[0].edges[0].particles[0] / 6, 5);
    assert!(islands(&app, weak) >= 2);
    let lines = log::lines_about(plain);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("no vertex colours"));
}

#[test]
fn a_strip_carries_what_its_limit_says_at_its_pinned_row_too() {
    // 1 m of cloth hangs from a bar: 0.2 kg/m² · 9.81 m/s² · 1 m = 1.96 N per metre of bar.
    let weight = 0.2 * 9.81;
    for (share, tears) in [(1.15, false), (0.85, true)] {
        for diagonals in [Diagonals::Alternating, Diagonals::Parallel] {
            let mut app = listening_app();
            app.insert_resource(Substeps(20));
            let grid = ClothGrid::vertical(0.5, 1.0, 11, 21).with_diagonals(diagonals);
            let mesh = add_mesh(&mut app, grid);
            let cloth = Cloth {
                damping: 5.0,
                // The threads alone carry it.
                fabric: Fabric {
                    shear_stiffness: 0.1,
                    bending_stiffness: 0.0,
                    ..default()
                },
                ..default()
            };
            let pins = Pins::edge(ClothEdge::Top);
            let cloth = app.world_mut().spawn((cloth, Mesh3d(mesh), pins)).id();
            // It swings in first.
            run(&mut app, 240);
            let tearing = Tearing::at_load(weight * share);
            app.world_mut().entity_mut(cloth).insert(tearing);
            run(&mut app, 30);
            let torn = !app.world().resource::<Heard>().0.is_empty();
            assert_eq!(torn, tears, "{share} of its weight, {diagonals:?}");
        }
    }
}
