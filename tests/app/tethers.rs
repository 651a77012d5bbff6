//! Tethers: hanging cloth does not stretch, and what is cut off is held by nothing.

use crate::{add_mesh, app, command, particles, run, spawn};
use bevy::prelude::*;
use bevy_drape::{Constraints, prelude::*, solver::measure_stretch};

/// An upright sheet of 1 m × 1 m with `side`² particles; the first one is its upper left corner.
fn hang(app: &mut App, side: u32, tether_scale: f32, pins: Pins) -> Entity {
    let mesh = add_mesh(app, ClothGrid::vertical(1.0, 1.0, side, side));
    let cloth = Cloth {
        damping: 1.0,
        tether_scale,
        // Threads that are solved as a whole hardly need tethers.
        threads: ThreadSolver::Relaxation,
        ..default()
    };
    app.world_mut().spawn((cloth, Mesh3d(mesh), pins)).id()
}

fn stretch(app: &App, cloth: Entity) -> f32 {
    let constraints = app.world().get::<Constraints>(cloth).unwrap();
    measure_stretch(particles(app, cloth), constraints).max
}

fn place(app: &App, cloth: Entity, particle: usize) -> Vec3 {
    particles(app, cloth).world_position(particle)
}

/// The fastest particle of a cloth, m/s.
fn speed(app: &App, cloth: Entity) -> f32 {
    let particles = particles(app, cloth);
    let speeds = (0..particles.len()).map(|i| particles.velocity(i).length());
    speeds.fold(0.0, f32::max)
}

#[test]
fn a_sheet_hung_by_two_corners_keeps_its_size() {
    let mut app = app();
    let [tight, usual, loose] =
        [1.0, 1.01, 100.0].map(|scale| hang(&mut app, 33, scale, Pins::top_corners()));
    run(&mut app, 400);
    let [tight, usual, loose] = [tight, usual, loose].map(|cloth| stretch(&app, cloth));
    assert!(tight < 0.003, "stretched by {tight} with tight tethers");
    // What is between two neighbours whose tethers give by 1 % each may give by twice that, and relaxation,
    // which comes before the tethers, leaves a percent at the corners, where nothing but the two threads
    // there holds the particles next to them.
    assert!(usual < 0.031, "stretched by {usual} with tethers");
    assert!(loose > 0.2, "stretched by {loose} without");
}

#[test]
fn by_default_cloth_does_not_stretch() {
    let mut app = app();
    let usual = Cloth::default().tether_scale;
    let [tied, untied] = [(usual, 65), (100.0, 33)].map(|(tether_scale, side)| {
        let mesh = add_mesh(&mut app, ClothGrid::vertical(1.0, 1.0, side, side));
        let cloth = Cloth {
            tether_scale,
            ..default()
        };
        let parts = (cloth, Mesh3d(mesh), Pins::top_corners());
        app.world_mut().spawn(parts).id()
    });
    run(&mut app, 300);
    let (tied, untied) = (stretch(&app, tied), stretch(&app, untied));
    assert!(tied < 0.005, "stretched by {tied}");
    // Only the link at each pin is, from which all the cloth hangs. From some 60 particles along a side on,
    // that is so much for one particle to hold that it trembles: such a sheet needs its tethers.
    assert!(untied < 0.02, "stretched by {untied} without tethers");
}

#[test]
fn ropes_are_tied_too() {
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
    let tied = app.world_mut().spawn(rope(1.01)).id();
    let loose = app.world_mut().spawn(rope(100.0)).id();
    run(&mut app, 400);
    let [tied, loose] = [tied, loose].map(|rope| -place(&app, rope, 199).y);
    assert!(tied < 2.0 * 1.0101, "{tied} m with tethers");
    assert!(loose > 2.0 * 1.03, "{loose} m without");
}

#[test]
fn pins_may_come_go_and_move() {
    let mut app = app();
    // A breath of wind, or it would stay in its plane, in which it jams.
    app.world_mut().resource_mut::<Wind>().velocity = Vec3::Z * 0.5;
    let cloth = hang(&mut app, 17, 1.01, Pins::top_corners());
    let set = |app: &mut App, pins: Pins| {
        *app.world_mut().get_mut::<Pins>(cloth).unwrap() = pins;
    };
    run(&mut app, 120);
    // One corner fewer: it falls to hang from the other.
    set(&mut app, Pins::corner(ClothCorner::TopLeft));
    run(&mut app, 300);
    let [left, right, far] = [0, 16, 288].map(|i| place(&app, cloth, i));
    assert!(right.y < left.y - 0.8, "{right}");
    assert!(far.distance(left) < 2.0_f32.sqrt() * 1.0101);
    // The other end is caught where it is, which is not where it was tied to before.
    set(
        &mut app,
        Pins::corner(ClothCorner::TopLeft).and(Pins::index(288).to_world()),
    );
    run(&mut app, 1);
    set(&mut app, Pins::index(288).to_world());
    run(&mut app, 300);
    assert!(place(&app, cloth, 288).distance(far) < 1e-3);
    let left = place(&app, cloth, 0);
    assert!(left.distance(far) < 2.0_f32.sqrt() * 1.0101);
    assert!(left.y < far.y - 1.0, "it hangs from the other end: {left}");
    // Nothing holds it: it falls, all of it.
    set(&mut app, Pins::none());
    let before = place(&app, cloth, 288).y;
    run(&mut app, 60);
    assert!(place(&app, cloth, 288).y < before - 1.0);
}

#[test]
fn tethers_follow_pins_that_move() {
    let mut app = app();
    let cloth = hang(&mut app, 17, 1.01, Pins::edge(ClothEdge::Top));
    run(&mut app, 30);
    for step in 1..=120 {
        let x = step as f32 * 0.05;
        let mut transform = app.world_mut().get_mut::<Transform>(cloth).unwrap();
        transform.translation.x = x;
        app.update();
        for column in 0..17 {
            let [top, bottom] = [column, 16 * 17 + column].map(|i| place(&app, cloth, i));
            assert!(top.distance(bottom) < 1.02, "{step}: {top} to {bottom}");
        }
    }
    assert!(place(&app, cloth, 280).x > 4.0);
}

#[test]
fn a_flap_that_is_cut_loose_falls_freely() {
    let mut app = app();
    app.world_mut().resource_mut::<Wind>().air_density = 0.0;
    let cloth = hang(&mut app, 21, 1.01, Pins::top_corners());
    run(&mut app, 100);
    let bottom = 20 * 21 + 10;
    // Right across, below the middle.
    command(&mut app, cloth, |cloth| {
        cloth.cut_segment(
            Vec3::new(-2.0, -0.2, 0.0),
            Vec3::new(2.0, -0.2, 0.0),
            Vec3::Z,
        );
    });
    let start = place(&app, cloth, bottom).y;
    let velocity = particles(&app, cloth).velocity(bottom).y;
    run(&mut app, 60);
    let fallen = start - place(&app, cloth, bottom).y;
    // With damping c, the way of a second is (g − (g + c·v)(1 − e^−c)/c)/c; c is 1/s here, and v down.
    let (g, e) = (9.81_f32, (-1.0_f32).exp());
    let expected = g - (g + velocity) * (1.0 - e);
    let error = (fallen / expected - 1.0).abs();
    assert!(error < 0.03, "fell {fallen} m, free fall is {expected} m");
    // The upper part still hangs.
    assert!(stretch(&app, cloth) < 0.031);
    assert!(place(&app, cloth, 10).y > 0.0);
}

#[test]
fn a_cloth_hangs_lower_when_the_way_around_is_longer() {
    let mut app = app();
    let low = |app: &App, cloth: Entity| {
        let particles = particles(app, cloth);
        let heights = (0..particles.len()).map(|i| particles.world_position(i).y);
        heights.fold(f32::INFINITY, f32::min)
    };
    let whole = hang(&mut app, 21, 1.01, Pins::edge(ClothEdge::Top));
    let cut = hang(&mut app, 21, 1.01, Pins::edge(ClothEdge::Top));
    run(&mut app, 60);
    // From the right, not quite to the left side, by which the rest still hangs.
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
        "whole, it hangs down to {whole} m"
    );
    assert!(cut < whole - 0.1, "cut, it hangs down to {cut} m");
}

#[test]
fn a_stretched_cloth_that_is_tied_is_not_yanked() {
    let mut app = app();
    let cloth = hang(&mut app, 33, 100.0, Pins::top_corners());
    run(&mut app, 300);
    let before = stretch(&app, cloth);
    assert!(before > 0.2, "{before}");
    app.world_mut()
        .get_mut::<Cloth>(cloth)
        .unwrap()
        .tether_scale = 1.0;
    let mut fastest = 0.0_f32;
    for _ in 0..200 {
        app.update();
        fastest = fastest.max(speed(&app, cloth));
    }
    assert!(fastest < 3.0, "{fastest} m/s");
    run(&mut app, 300);
    let after = stretch(&app, cloth);
    assert!(after < 0.01, "{after}");
    // The same by new pins: stretched while there was but one.
    let cloth = spawn(&mut app, (Transform::default(), Pins::top_corners()));
    run(&mut app, 100);
    let pins = Pins::top_corners().and(Pins::corner(ClothCorner::BottomLeft));
    *app.world_mut().get_mut::<Pins>(cloth).unwrap() = pins;
    let calm = speed(&app, cloth);
    app.update();
    assert!(speed(&app, cloth) < calm + 0.5);
}

#[test]
fn what_tears_by_load_is_not_tied() {
    let mut app = app();
    let cloth = hang(&mut app, 33, 1.01, Pins::top_corners());
    app.world_mut()
        .entity_mut(cloth)
        .insert(Tearing::at_load(1e9));
    run(&mut app, 200);
    assert!(stretch(&app, cloth) > 0.2);
    // When it no longer does, it is, but not at once.
    app.world_mut().entity_mut(cloth).remove::<Tearing>();
    let calm = speed(&app, cloth);
    app.update();
    assert!(speed(&app, cloth) < calm + 1.0);
    run(&mut app, 500);
    assert!(stretch(&app, cloth) < 0.03);
}

#[test]
fn a_reset_ties_it_at_its_new_scale() {
    let mut app = app();
    let cloth = hang(&mut app, 9, 1.01, Pins::top_corners());
    run(&mut app, 30);
    app.world_mut().get_mut::<Transform>(cloth).unwrap().scale = Vec3::splat(3.0);
    app.world_mut().trigger(ResetCloth { entity: cloth });
    run(&mut app, 200);
    let [top, bottom] = [0, 72].map(|i| place(&app, cloth, i));
    let height = top.distance(bottom);
    assert!(height > 2.8 && height < 3.0 * 1.0101, "{height} m");
}
