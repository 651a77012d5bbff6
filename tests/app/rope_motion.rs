//! Ropes against analytic solutions.

use crate::{
    app, particles,
    rope::{line, position, spawn_rope},
    run,
};
use bevy::prelude::*;
use bevy_drape::prelude::*;

#[test]
fn a_rope_between_two_pins_is_a_catenary() {
    const LENGTH: f64 = 10.0;
    const SPAN: f64 = 8.0;
    const COUNT: usize = 41;
    let mut app = app();
    app.insert_resource(Time::<Fixed>::from_seconds(0.01))
        .insert_resource(ClothSubsteps::PerStep(1));
    let rope = Rope {
        length: Some(LENGTH as f32),
        ..Rope::between(Vec3::ZERO, Vec3::X * SPAN as f32, COUNT as u32)
    };
    let cloth = Cloth {
        iterations: 50,
        damping: 2.0,
        fabric: Fabric {
            // A catenary has no stiffness against bending.
            bending_stiffness: 0.0,
            ..default()
        },
        ..default()
    };
    let rope = spawn_rope(&mut app, rope, (cloth, Pins::ends()));
    run(&mut app, 3000);
    // Solves 2a·sinh(D/2a) = L by bisection.
    let (mut low, mut high) = (0.1, 100.0);
    for _ in 0..100 {
        let a: f64 = 0.5 * (low + high);
        if 2.0 * a * (SPAN / (2.0 * a)).sinh() > LENGTH {
            low = a;
        } else {
            high = a;
        }
    }
    let a = low;
    let end = a * (SPAN / (2.0 * a)).cosh();
    let mut worst: f64 = 0.0;
    for i in 0..COUNT {
        // At the arc length s from the lowest point: x = a·asinh(s/a), y = √(a² + s²).
        let s = LENGTH * (i as f64 / (COUNT - 1) as f64 - 0.5);
        let expected = (
            SPAN / 2.0 + a * (s / a).asinh(),
            (a * a + s * s).sqrt() - end,
        );
        let actual = position(&app, rope, i).as_dvec3();
        worst = worst.max(
            (actual.x - expected.0)
                .hypot(actual.y - expected.1)
                .max(actual.z.abs()),
        );
    }
    let sag = -f64::from(position(&app, rope, COUNT / 2).y) / LENGTH;
    println!(
        "sag/L {sag:.5}, farthest from the catenary {:.4} % of L",
        worst / LENGTH * 100.0
    );
    assert!((sag / 0.26544 - 1.0).abs() < 0.005, "sag/L {sag}");
    assert!(
        worst < 0.005 * LENGTH,
        "a particle is {worst} m from the catenary"
    );
    assert!(particles(&app, rope).velocity(COUNT / 2).length() < 1e-3);
}

#[test]
fn a_slack_rope_starts_without_a_jerk() {
    let mut app = app();
    let rope = Rope {
        length: Some(3.0),
        ..line()
    };
    let rope = spawn_rope(&mut app, rope, Pins::ends());
    run(&mut app, 1);
    for update in 0..60 {
        let before: Vec<Vec3> = (0..21).map(|i| position(&app, rope, i)).collect();
        app.update();
        for (i, before) in before.iter().enumerate() {
            let speed = position(&app, rope, i).distance(*before) * 60.0;
            assert!(
                speed < 3.0,
                "particle {i}: {speed} m/s after {update} updates"
            );
        }
    }
}

#[test]
fn a_rope_that_falls_sideways_reaches_its_terminal_velocity() {
    let mut app = app();
    let cloth = Cloth {
        damping: 0.0,
        fabric: Fabric {
            drag: 1.2,
            ..default()
        },
        ..default()
    };
    let across = spawn_rope(&mut app, line(), cloth.clone());
    let along = Rope::between(Vec3::ZERO, Vec3::Y * 2.0, 21);
    let along = spawn_rope(&mut app, along, cloth);
    run(&mut app, 61);
    // Falling along its axis, a rope has no drag: ½·g in the first second.
    let fallen = -position(&app, along, 0).y;
    assert!((fallen - 4.905).abs() < 0.01, "{fallen} m");
    run(&mut app, 540);
    // √(2·m'·g/(ρ·C_D·d)) with m' = σ·π·d.
    let density = Wind::default().air_density;
    let expected = (2.0 * 0.2 * std::f32::consts::PI * 9.81 / (density * 1.2)).sqrt();
    for i in 0..21 {
        let speed = -particles(&app, across).velocity(i).y;
        assert!(
            (speed / expected - 1.0).abs() < 0.01,
            "{speed}, expected {expected}"
        );
    }
}
