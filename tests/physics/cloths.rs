//! Whole cloths: momentum, symmetry, determinism.

use crate::Sample;
use bevy::math::Vec3;
use bevy_drape::solver::ConstraintKind;

#[test]
fn falling_cloth_keeps_its_shape() {
    let mut sample = Sample::sheet(10);
    sample.settings.substeps = 4;
    sample.run(2.0);
    let top = sample.at(0);
    for i in 0..100 {
        assert!((sample.at(i).y - top.y).abs() < 1e-5);
    }
    assert!((top.y + 0.5 * 9.81 * 4.0).abs() < 1e-3);
}

#[test]
fn the_same_input_gives_the_same_bits() {
    let run = || {
        let mut sample = Sample::sheet(24);
        sample.pin(0);
        sample.pin(23);
        sample.settings.substeps = 5;
        sample.run(1.0);
        sample.particles.state_hash()
    };
    assert_eq!(run(), run());
}

#[test]
fn a_symmetric_sheet_hangs_almost_symmetrically() {
    // Gauss–Seidel in row order would pull it visibly to one side.
    let side = 21;
    let mut sample = Sample::sheet(side);
    sample.pin(0);
    sample.pin(side - 1);
    sample.settings.substeps = 8;
    sample.settings.damping = 1.0;
    sample.run(6.0);
    let mut skew = 0.0_f32;
    for row in 0..side {
        for column in 0..side {
            let here = sample.at((row * side + column) as usize);
            let there = sample.at((row * side + side - 1 - column) as usize);
            skew = skew.max((here * Vec3::new(-1.0, 1.0, 1.0) - there).length());
        }
    }
    assert!(skew < 0.01, "{} mm off its mirror image", skew * 1000.0);
}

#[test]
fn a_grid_has_the_constraints_of_the_tutorials() {
    // 6N² − 10N + 2 in all.
    for n in [4_usize, 16, 64] {
        let constraints = Sample::sheet(n as u32).constraints;
        assert_eq!(constraints.len(), 6 * n * n - 10 * n + 2);
        assert_eq!(
            constraints.count(ConstraintKind::Structural),
            2 * n * (n - 1)
        );
    }
}
