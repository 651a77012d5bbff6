//! Threads that give, and how far they may.

use crate::{Sample, assert_near};
use bevy::math::Vec3;
use bevy_drape::solver::{Compliance, ConstraintKind, ThreadSolver, measure_stretch};

const SIDE: usize = 33;

/// A sheet of soft threads that has come to rest, hanging from its upper edge. Each thread hangs for
/// itself.
fn at_rest(threads: ThreadSolver, stretch: f32, strain_limit: f32) -> Sample {
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
        .retain(|c| c.kind == ConstraintKind::Structural);
    let top = sample.particles.position.bounds().unwrap().1.y;
    for i in 0..SIDE * SIDE {
        if sample.particles.position.y[i] == top {
            sample.pin(i as u32);
        }
    }
    sample.settings.threads = threads;
    sample.settings.substeps = 8;
    sample.settings.damping = 4.0;
    sample.settings.compliance = Compliance::of_threads(stretch);
    sample.settings.strain_limit = strain_limit;
    sample.run(8.0);
    sample
}

/// Strains of the middle thread, from the top, and its inverse masses.
fn middle_thread(sample: &Sample) -> (Vec<f64>, Vec<f64>) {
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

/// Link i carries the weight below it: strain = α·g·Σm/ℓ, but never more than the limit. All threads share
/// what stiffness the width has.
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
fn threads_that_give_stretch_by_their_weight_up_to_the_limit() {
    // The uppermost would be stretched by 0.3.
    let stretch = 0.153;
    for limit in [f32::INFINITY, 0.1] {
        let sample = at_rest(ThreadSolver::Direct, stretch, limit);
        let (strains, masses) = middle_thread(&sample);
        let expected = expected(&masses, f64::from(stretch), f64::from(limit));
        assert!(expected[0] == f64::from(limit) || expected[0] > 0.29);
        for (i, (strain, expected)) in strains.iter().zip(expected).enumerate() {
            let what = format!("strain of link {i} with limit {limit}");
            assert_near(&what, 1.0 + strain, 1.0 + expected, 0.005);
        }
    }
}

#[test]
fn no_thread_is_far_beyond_the_limit() {
    for (threads, most) in [
        (ThreadSolver::Direct, 0.102),
        // What single links are off, where some pull and some do not, a thread takes over only in part.
        (ThreadSolver::Relaxation, 0.115),
    ] {
        let [free, limited] = [f32::INFINITY, 0.1].map(|limit| {
            let sample = at_rest(threads, 0.153, limit);
            measure_stretch(&sample.particles, &sample.constraints).max
        });
        assert!(free > 0.28, "{threads:?}: {free}");
        assert!((0.095..most).contains(&limited), "{threads:?}: {limited}");
    }
}
