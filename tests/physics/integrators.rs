//! The numbers in the demo's scene `integrators`: a constant force on a mass at rest.

use crate::{answers::motion::euler, assert_near};
use euler::{DURATION, Method, STEPS, csv, exact, last, table};

#[test]
fn explicit_euler_falls_short_by_half_a_step() {
    let positions = Method::Explicit.positions(1.0);
    assert_eq!(
        positions,
        [0, 0, 10, 30, 60, 100, 150, 210, 280, 360, 450].map(f64::from)
    );
    // ½·a·T·(T − Δt)
    for (dt, expected) in STEPS.into_iter().zip([450.0, 495.0, 499.5]) {
        assert_near("explicit", last(Method::Explicit, dt), expected, 1e-9);
    }
}

#[test]
fn semi_implicit_euler_goes_too_far_by_half_a_step() {
    let positions = Method::SemiImplicit.positions(1.0);
    assert_eq!(
        positions,
        [0, 10, 30, 60, 100, 150, 210, 280, 360, 450, 550].map(f64::from)
    );
    // ½·a·T·(T + Δt)
    for (dt, expected) in STEPS.into_iter().zip([550.0, 505.0, 500.5]) {
        assert_near(
            "semi-implicit",
            last(Method::SemiImplicit, dt),
            expected,
            1e-9,
        );
    }
}

#[test]
fn semi_implicit_euler_in_single_precision_loses_a_few_millimetres() {
    // Often quoted as 500.498, which depends on the rounding of the last bits.
    let dt = 0.01_f32;
    let (mut x, mut v) = (0.0_f32, 0.0_f32);
    for _ in 0..1000 {
        v += 10.0 * dt;
        x += v * dt;
    }
    assert!((f64::from(x) - 500.498).abs() < 2e-3, "{x}");
}

#[test]
fn verlet_is_exact_for_every_step() {
    for dt in STEPS {
        for (step, position) in Method::Verlet.positions(dt).into_iter().enumerate().skip(1) {
            assert_near("Verlet", position, exact(step as f64 * dt), 2e-5);
        }
    }
    assert_eq!(exact(DURATION), 500.0);
}

#[test]
fn euler_is_of_first_order() {
    for method in [Method::Explicit, Method::SemiImplicit] {
        let error = |dt| (last(method, dt) - exact(DURATION)).abs();
        assert_near(method.name(), error(0.1) / error(0.01), 10.0, 1e-6);
    }
}

#[test]
fn table_and_csv_contain_the_numbers() {
    let table = table();
    for number in ["450", "550", "505.000", "500.500", "500.000"] {
        assert!(table.contains(number), "{number} is missing in\n{table}");
    }
    let csv = csv();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 1 + 11 + 101 + 1001);
    let columns = |row: &str| row.split(',').count();
    assert!(rows.iter().all(|row| columns(row) == 9));
    assert!(
        rows[11].starts_with("1,10.00,500.0000,450.0000,550.0000,500.000"),
        "{}",
        rows[11]
    );
}
