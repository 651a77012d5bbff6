//! Elastic stretch and strain limits.

use crate::{Sample, assert_near};
use bevy::math::Vec3;
use bevy_drape::solver::{Compliance, ConstraintKind, StretchSolver, measure_stretch};

const SIDE: usize = 33;

/// Returns a settled elastic sheet that hangs from its upper edge, with structural constraints only, so that its
/// vertical chains hang independently. `stretch` is the compliance of the fabric, m/N.
fn settled(stretch_solver: StretchSolver, stretch: f32, strain_limit: f32) -> Sample {
    let mut sample = Sample::sheet(SIDE as u32);
    for plane in [
        &mut sample.particles.position,
        &mut sample.particles.displacement,
    ] {
        for i in 0..plane.len() {
            let Vec3 { x, y, z } = plane.get(i);
            plane.set(i, Vec3::new(x, -z, y));
        }
    }
    sample
        .constraints
        .retain(|c| c.kind() == ConstraintKind::Structural);
    let top = sample.particles.position.bounds().unwrap().1.y;
    for i in 0..SIDE * SIDE {
        if sample.particles.position.y[i] == top {
            sample.pin(i as u32);
        }
    }
    sample.settings.stretch_solver = stretch_solver;
    sample.settings.substeps = 8;
    sample.settings.damping = 4.0;
    sample.settings.compliance = Compliance::of_stretch(stretch);
    sample.settings.strain_limit = strain_limit;
    sample.run(8.0);
    sample
}

/// Returns the strains of the middle chain, from the top, and its masses, kg; 0 for pinned particles.
fn middle_chain(sample: &Sample) -> (Vec<f64>, Vec<f64>) {
    let mut middle: Vec<usize> = (0..SIDE * SIDE)
        .filter(|&i| sample.at(i).x.abs() < 0.25 / SIDE as f32)
        .collect();
    middle.sort_by(|&a, &b| sample.at(b).y.total_cmp(&sample.at(a).y));
    assert_eq!(middle.len(), SIDE);
    let length = 1.0 / (SIDE - 1) as f64;
    let strain = |ends: &[usize]| {
        let d = (sample.at(ends[0]) - sample.at(ends[1])).as_dvec3();
        d.length() / length - 1.0
    };
    let mass = |&i: &usize| match sample.particles.inverse_mass[i] {
        0.0 => 0.0,
        w => 1.0 / f64::from(w),
    };
    (
        middle.windows(2).map(strain).collect(),
        middle.iter().map(mass).collect(),
    )
}

/// Returns the expected strains: link i carries the weight below it, so its strain is α·g·Σm/ℓ, but at most the
/// limit. The stiffness of the width is shared by all chains.
fn expected(masses: &[f64], stretch: f64, limit: f64) -> Vec<f64> {
    let length = 1.0 / (SIDE - 1) as f64;
    let stretch = stretch * SIDE as f64 / (SIDE - 1) as f64;
    (1..SIDE)
        .map(|i| {
            let below: f64 = masses[i..].iter().sum();
            (stretch * 9.81 * below / length).min(limit)
        })
        .collect()
}

#[test]
fn elastic_chains_stretch_under_their_weight_up_to_the_limit() {
    // The uppermost link would be stretched by 0.3.
    let stretch = 0.153;
    for limit in [f32::INFINITY, 0.1] {
        let sample = settled(StretchSolver::Direct, stretch, limit);
        let (strains, masses) = middle_chain(&sample);
        let expected = expected(&masses, f64::from(stretch), f64::from(limit));
        assert!(expected[0] == f64::from(limit) || expected[0] > 0.29);
        for (i, (strain, expected)) in strains.iter().zip(expected).enumerate() {
            let what = format!("strain of link {i} with limit {limit}");
            assert_near(&what, 1.0 + strain, 1.0 + expected, 0.005);
        }
    }
}

#[test]
fn no_edge_is_far_beyond_the_strain_limit() {
    for (stretch_solver, most) in [
        (StretchSolver::Direct, 0.102),
        // Gauss–Seidel distributes the error of single links over a chain only in part.
        (StretchSolver::GaussSeidel, 0.115),
    ] {
        let [free, limited] = [f32::INFINITY, 0.1].map(|limit| {
            let sample = settled(stretch_solver, 0.153, limit);
            measure_stretch(&sample.particles, &sample.constraints).max
        });
        assert!(free > 0.28, "{stretch_solver:?}: {free}");
        assert!(
            (0.095..most).contains(&limited),
            "{stretch_solver:?}: {limited}"
        );
    }
}
