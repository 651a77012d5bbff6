//! Chains: period, shape and stretch.

use super::Row;
use crate::sample::{Sample, period};
use bevy::math::Vec3;
use bevy_drape::solver::Compliance;

/// Returns a chain of `links` links and `length` metres that hangs straight down from a pin.
pub(crate) fn hanging(links: usize, length: f32) -> Sample {
    let positions: Vec<_> = (0..=links)
        .map(|i| Vec3::NEG_Y * (length * i as f32 / links as f32))
        .collect();
    let mut sample = Sample::chain(&positions);
    sample.pin(0);
    sample
}

/// Returns the first mode of a hanging chain of equal masses, the one with the longest period, by inverse
/// iteration on K·u = ω²·u, where link i carries the weight of all masses below it.
fn first_mode(links: usize) -> Vec<f64> {
    // Tension over link length, with m = g = 1 and link length 1.
    let tension = |link: usize| (links - link) as f64;
    let mut shape = vec![1.0; links];
    for _ in 0..200 {
        // K·u = shape is a chain under lateral loads: the lateral force in each link is the sum of the loads below
        // it, so that u is the cumulative sum from the top.
        let mut below: f64 = shape.iter().sum();
        let mut u = 0.0;
        let mut next = Vec::with_capacity(links);
        for (link, load) in shape.iter().enumerate() {
            u += below / tension(link);
            below -= load;
            next.push(u);
        }
        let norm = next.iter().map(|u| u * u).sum::<f64>().sqrt();
        shape = next.into_iter().map(|u| u / norm).collect();
    }
    shape
}

pub(crate) fn first_modes() -> Vec<Row> {
    let row = |(links, expected): (usize, f64)| {
        let mode = first_mode(links);
        let mut sample = hanging(links, 1.0);
        let amplitude = 0.02 / mode[links - 1];
        for (i, u) in mode.iter().enumerate() {
            // Sideways at constant link lengths: to first order, straight sideways.
            let position = sample.at(i + 1) + Vec3::X * (u * amplitude) as f32;
            sample.particles.set_world_position(i + 1, position);
        }
        sample.settings.dt = 1.0 / 120.0;
        sample.settings.substeps = 10;
        let signal: Vec<f64> = (0..1200)
            .map(|_| {
                sample.step();
                let swing = mode.iter().enumerate();
                swing.map(|(i, u)| u * f64::from(sample.at(i + 1).x)).sum()
            })
            .collect();
        let measured = period(&signal, 1.0 / 120.0) / (1.0 / 9.81_f64).sqrt();
        Row::near(
            format!("T₁/√(L/g), {links} links"),
            expected,
            measured,
            5e-3,
        )
    };
    [(2, 5.8049), (10, 5.3526), (32, 5.2660)].map(row).into()
}

/// Distance of two pins and sag of the chain between them, as fractions of its length.
pub(crate) const SAGS: [(f32, f64); 4] = [
    (0.4, 0.42775),
    (0.6, 0.36278),
    (0.8, 0.26544),
    (0.9, 0.19071),
];

/// Returns the rest positions of a chain of 1 m between two pins.
pub(crate) fn catenary(span: f32) -> Vec<Vec3> {
    let links = 64;
    let straight: Vec<_> = (0..=links)
        .map(|i| Vec3::X * (i as f32 / links as f32))
        .collect();
    let mut sample = Sample::chain(&straight);
    // Starts as a V.
    let depth = (1.0 - span * span).sqrt() / 2.0;
    for (i, position) in straight.iter().enumerate() {
        let from_middle = (position.x - 0.5).abs() * 2.0;
        let v = Vec3::new(position.x * span, depth * (from_middle - 1.0), 0.0);
        sample.particles.set_world_position(i, v);
    }
    sample.pin(0);
    sample.pin(links as u32);
    sample.settings.substeps = 20;
    sample.settings.iterations = 20;
    sample.settings.damping = 2.0;
    sample.run(12.0);
    (0..=links).map(|i| sample.at(i)).collect()
}

pub(crate) fn catenaries() -> Vec<Row> {
    let row = |(span, expected)| {
        let lowest = catenary(span).iter().fold(0.0_f32, |low, at| low.min(at.y));
        let label = format!("sag/L, D/L = {span}");
        Row::near(label, expected, f64::from(-lowest), 5e-3)
    };
    SAGS.map(row).into()
}

pub(crate) fn stretch_of_relaxation() -> Vec<Row> {
    // Decreases with the square of the substeps, but only linearly with the iterations; independent of the length.
    let links = 32;
    let row = |(length, substeps, iterations): (f32, u32, u32)| {
        let mut sample = hanging(links, length);
        sample.settings.substeps = substeps;
        sample.settings.iterations = iterations;
        sample.settings.damping = 1.0;
        sample.run(120.0);
        let dts = 1.0 / 60.0 / f64::from(substeps);
        let n = links as f64;
        let expected = 9.81 * dts * dts * n * n / (2.0 * f64::from(iterations));
        let extension = -f64::from(sample.at(links).y) - f64::from(length);
        let label = format!("{length} m, {substeps} substeps, {iterations} iterations, m");
        Row::near(label, expected, extension, 0.1)
    };
    [
        (25.0, 1, 1),
        (25.0, 2, 1),
        (25.0, 4, 1),
        (25.0, 1, 4),
        (100.0, 2, 1),
    ]
    .map(row)
    .into()
}

pub(crate) fn stretch_of_compliance() -> Vec<Row> {
    // Link i of N carries the N − i masses below it, with any number of substeps and iterations.
    let links = 10;
    let row = |(substeps, iterations)| {
        let mut sample = hanging(links, 1.0);
        sample.settings.compliance = Compliance::of_stretch(1e-3);
        sample.settings.substeps = substeps;
        sample.settings.iterations = iterations;
        sample.settings.damping = 2.0;
        sample.run(20.0);
        let n = links as f64;
        let expected = 1e-3 * 9.81 * n * (n + 1.0) / 2.0;
        let extension = -f64::from(sample.at(links).y) - 1.0;
        let label = format!("{substeps} substeps, {iterations} iterations, m");
        Row::near(label, expected, extension, 0.02)
    };
    [(5, 1), (20, 1), (4, 10)].map(row).into()
}
