//! Tethers keep hanging cloth from stretching, and do not hold pieces that are cut off.

use crate::{add_mesh, app, command, particles, run, spawn, worst_stretch};
use bevy::prelude::*;
use bevy_drape::{cloth::StretchSolver, pins::ClothCorner, prelude::*};

/// Spawns a vertical sheet of 1 m × 1 m with `side`² particles, of which the first is the upper left corner.
fn hang(app: &mut App, side: u32, tether_scale: Option<f32>, pins: Pins) -> Entity {
    let mesh = add_mesh(app, ClothGrid::vertical(1.0, 1.0, side, side));
    let cloth = Cloth {
        damping: 1.0,
        tether_scale,
        // Chains that are solved directly hardly need tethers.
        stretch_solver: StretchSolver::GaussSeidel,
        ..default()
    };
    app.world_mut().spawn((cloth, Mesh3d(mesh), pins)).id()
}

fn position(app: &App, cloth: Entity, particle: usize) -> Vec3 {
    particles(app, cloth).world_position(particle)
}

/// Returns the speed of the fastest particle of a cloth, m/s.
fn speed(app: &App, cloth: Entity) -> f32 {
    let particles = particles(app, cloth);
    let speeds = (0..particles.len()).map(|i| particles.velocity(i).length());
    speeds.fold(0.0, f32::max)
}

#[test]
fn a_sheet_hung_by_two_corners_keeps_its_size() {
    let mut app = app();
    let [tight, default, without] =
        [Some(1.0), Some(1.01), None].map(|scale| hang(&mut app, 33, scale, Pins::top_corners()));
    run(&mut app, 400);
    let [tight, default, without] =
        [tight, default, without].map(|cloth| worst_stretch(&app, cloth));
    assert!(tight < 0.012, "stretched by {tight} with tight tethers");
    // An edge between two neighbours whose tethers stretch by 1 % each may stretch by 2 %; and relaxation, which
    // precedes the tethers, leaves 1 % at the pinned corners, where only two edges hold the neighbours.
    assert!(default < 0.05, "stretched by {default} with tethers");
    assert!(without > 0.2, "stretched by {without} without");
}

#[test]
fn by_default_cloth_does_not_stretch() {
    let mut app = app();
    let default_scale = Cloth::default().tether_scale;
    let [tethered, free] = [(default_scale, 65), (None, 33)].map(|(tether_scale, side)| {
        let mesh = add_mesh(&mut app, ClothGrid::vertical(1.0, 1.0, side, side));
        let cloth = Cloth {
            tether_scale,
            ..default()
        };
        let parts = (cloth, Mesh3d(mesh), Pins::top_corners());
        app.world_mut().spawn(parts).id()
    });
    run(&mut app, 300);
    let (tethered, free) = (worst_stretch(&app, tethered), worst_stretch(&app, free));
    assert!(tethered < 0.008, "stretched by {tethered}");
    // Only the edges at the pins stretch, which carry the whole cloth. From about 60 particles along a side, this
    // load makes the particles there tremble: such a sheet needs its tethers.
    assert!(free < 0.055, "stretched by {free} without tethers");
}

#[test]
fn tethers_hold_ropes_too() {
    let mut app = app();
    let rope = |tether_scale| {
        (
            Rope::between(Vec3::ZERO, Vec3::NEG_Y * 2.0, 200),
            Pins::index(0),
            Cloth {
                tether_scale,
                damping: 1.0,
                ..default()
            },
        )
    };
    let tethered = app.world_mut().spawn(rope(Some(1.01))).id();
    let free = app.world_mut().spawn(rope(None)).id();
    run(&mut app, 400);
    let [tethered, free] = [tethered, free].map(|rope| -position(&app, rope, 199).y);
    assert!(tethered < 2.0 * 1.0101, "{tethered} m with tethers");
    assert!(free > 2.0 * 1.03, "{free} m without");
}

#[test]
fn tethers_follow_changes_of_the_pins() {
    let mut app = app();
    // Light wind, since a perfectly flat sheet jams in its plane.
    app.world_mut().resource_mut::<Wind>().velocity = Vec3::Z * 0.5;
    let cloth = hang(&mut app, 17, Some(1.01), Pins::top_corners());
    let set_pins = |app: &mut App, pins: Pins| {
        *app.world_mut().get_mut::<Pins>(cloth).unwrap() = pins;
    };
    run(&mut app, 120);
    // One corner fewer: the sheet falls and hangs from the other one.
    set_pins(&mut app, Pins::corner(ClothCorner::TopLeft));
    run(&mut app, 300);
    let [left, right, far] = [0, 16, 288].map(|i| position(&app, cloth, i));
    assert!(right.y < left.y - 0.8, "{right}");
    assert!(far.distance(left) < 2.0_f32.sqrt() * 1.0101);
    // The opposite corner is pinned at its current position.
    set_pins(
        &mut app,
        Pins::corner(ClothCorner::TopLeft).and(Pins::index(288).to_world()),
    );
    run(&mut app, 1);
    set_pins(&mut app, Pins::index(288).to_world());
    run(&mut app, 300);
    assert!(position(&app, cloth, 288).distance(far) < 1e-3);
    let left = position(&app, cloth, 0);
    assert!(left.distance(far) < 2.0_f32.sqrt() * 1.0101);
    assert!(
        left.y < far.y - 1.0,
        "not hanging from the opposite corner: {left}"
    );
    // Without pins the whole sheet falls.
    set_pins(&mut app, Pins::none());
    let before = position(&app, cloth, 288).y;
    run(&mut app, 60);
    assert!(position(&app, cloth, 288).y < before - 1.0);
}

#[test]
fn tethers_follow_pins_that_move() {
    let mut app = app();
    let cloth = hang(&mut app, 17, Some(1.01), Pins::edge(ClothEdge::Top));
    run(&mut app, 30);
    for step in 1..=120 {
        let x = step as f32 * 0.05;
        let mut transform = app.world_mut().get_mut::<Transform>(cloth).unwrap();
        transform.translation.x = x;
        app.update();
        for column in 0..17 {
            let [top, bottom] = [column, 16 * 17 + column].map(|i| position(&app, cloth, i));
            assert!(top.distance(bottom) < 1.02, "{step}: {top} to {bottom}");
        }
    }
    assert!(position(&app, cloth, 280).x > 4.0);
}

#[test]
fn a_piece_that_is_cut_off_falls_freely() {
    let mut app = app();
    app.world_mut().resource_mut::<Wind>().air_density = 0.0;
    let cloth = hang(&mut app, 21, Some(1.01), Pins::top_corners());
    run(&mut app, 100);
    let bottom = 20 * 21 + 10;
    // All the way across, below the middle.
    command(&mut app, cloth, |cloth| {
        cloth.cut_segment(
            Vec3::new(-2.0, -0.2, 0.0),
            Vec3::new(2.0, -0.2, 0.0),
            Vec3::Z,
        );
    });
    let start = position(&app, cloth, bottom).y;
    let velocity = particles(&app, cloth).velocity(bottom).y;
    run(&mut app, 60);
    let fallen = start - position(&app, cloth, bottom).y;
    // With damping c and upward velocity v, the fall in 1 s is (g − (g + c·v)(1 − e^−c)/c)/c; c = 1/s here.
    let (g, e) = (9.81_f32, (-1.0_f32).exp());
    let expected = g - (g + velocity) * (1.0 - e);
    let error = (fallen / expected - 1.0).abs();
    assert!(error < 0.03, "fell {fallen} m, free fall is {expected} m");
    // The upper part still hangs.
    assert!(worst_stretch(&app, cloth) < 0.031);
    assert!(position(&app, cloth, 10).y > 0.0);
}

#[test]
fn a_cut_lets_cloth_hang_as_low_as_the_longer_path_around_it() {
    let mut app = app();
    let low = |app: &App, cloth: Entity| {
        let particles = particles(app, cloth);
        let heights = (0..particles.len()).map(|i| particles.world_position(i).y);
        heights.fold(f32::INFINITY, f32::min)
    };
    let whole = hang(&mut app, 21, Some(1.01), Pins::edge(ClothEdge::Top));
    let cut = hang(&mut app, 21, Some(1.01), Pins::edge(ClothEdge::Top));
    run(&mut app, 60);
    // From the right almost to the left side, from which the rest still hangs.
    command(&mut app, cut, |cloth| {
        cloth.cut_segment(
            Vec3::new(-0.42, 0.2, 0.0),
            Vec3::new(2.0, 0.2, 0.0),
            Vec3::Z,
        );
    });
    run(&mut app, 400);
    let [whole, cut] = [whole, cut].map(|cloth| low(&app, cloth));
    assert!(
        (whole + 0.5).abs() < 0.012,
        "the intact cloth hangs down to {whole} m"
    );
    assert!(cut < whole - 0.1, "the cut cloth hangs down to {cut} m");
}

#[test]
fn new_tethers_do_not_jerk_a_stretched_cloth() {
    let mut app = app();
    let cloth = hang(&mut app, 33, None, Pins::top_corners());
    run(&mut app, 300);
    let before = worst_stretch(&app, cloth);
    assert!(before > 0.2, "{before}");
    app.world_mut()
        .get_mut::<Cloth>(cloth)
        .unwrap()
        .tether_scale = Some(1.0);
    let mut fastest = 0.0_f32;
    for _ in 0..200 {
        app.update();
        fastest = fastest.max(speed(&app, cloth));
    }
    assert!(fastest < 3.0, "{fastest} m/s");
    run(&mut app, 300);
    let after = worst_stretch(&app, cloth);
    assert!(after < 0.01, "{after}");
    // The same with tethers of a new pin.
    let cloth = spawn(&mut app, (Transform::default(), Pins::top_corners()));
    run(&mut app, 100);
    let pins = Pins::top_corners().and(Pins::corner(ClothCorner::BottomLeft));
    *app.world_mut().get_mut::<Pins>(cloth).unwrap() = pins;
    let before = speed(&app, cloth);
    app.update();
    assert!(speed(&app, cloth) < before + 0.5);
}

#[test]
fn cloth_that_tears_under_load_has_no_tethers() {
    let mut app = app();
    let cloth = hang(&mut app, 33, Some(1.01), Pins::top_corners());
    app.world_mut()
        .entity_mut(cloth)
        .insert(ClothTearing::at_load(1e9));
    run(&mut app, 200);
    assert!(worst_stretch(&app, cloth) > 0.2);
    // Without tearing the tethers return gradually.
    app.world_mut().entity_mut(cloth).remove::<ClothTearing>();
    let before = speed(&app, cloth);
    app.update();
    assert!(speed(&app, cloth) < before + 1.0);
    run(&mut app, 500);
    assert!(worst_stretch(&app, cloth) < 0.05);
}

#[test]
fn a_reset_computes_tethers_at_the_new_scale() {
    let mut app = app();
    let cloth = hang(&mut app, 9, Some(1.01), Pins::top_corners());
    run(&mut app, 30);
    app.world_mut().get_mut::<Transform>(cloth).unwrap().scale = Vec3::splat(3.0);
    app.world_mut().trigger(ResetCloth { entity: cloth });
    run(&mut app, 200);
    let [top, bottom] = [0, 72].map(|i| position(&app, cloth, i));
    let height = top.distance(bottom);
    assert!(height > 2.8 && height < 3.0 * 1.0101, "{height} m");
}
