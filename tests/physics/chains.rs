//! Chains: their swing, their shape, and how much they stretch.

use crate::{Sample, assert_near, period};
use bevy::math::Vec3;
use bevy_drape::solver::Compliance;

/// A chain of `links` over `length` metres that hangs straight down from a pin.
fn hanging(links: usize, length: f32) -> Sample {
    let places: Vec<_> = (0..=links)
        .map(|i| Vec3::NEG_Y * (length * i as f32 / links as f32))
        .collect();
    let mut sample = Sample::chain(&places);
    sample.pin(0);
    sample
}

/// The first mode of a hanging chain of equal masses: the shape that swings slowest. By inverse
/// iteration on K·u = ω²·u, where link i carries the weight of all masses below it.
fn first_mode(links: usize) -> Vec<f64> {
    // Tension over link length, with m = g = 1 and link length 1.
    let tension = |link: usize| (links - link) as f64;
    let mut shape = vec![1.0; links];
    for _ in 0..200 {
        // K·u = shape is a chain under side loads: the lateral force in each link is the sum of the
        // loads below it, so that u follows by adding up from the top.
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

#[test]
fn hanging_chain_swings_in_its_first_mode() {
    // T₁/√(L/g), from the eigenvalues of the discrete chain.
    for (links, expected) in [(2, 5.8049), (10, 5.3526), (32, 5.2660)] {
        let mode = first_mode(links);
        let mut sample = hanging(links, 1.0);
        let amplitude = 0.02 / mode[links - 1];
        for (i, u) in mode.iter().enumerate() {
            // Sideways at constant link lengths: to first order, straight sideways.
            let place = sample.at(i + 1) + Vec3::X * (u * amplitude) as f32;
            sample.particles.set_world_position(i + 1, place);
        }
        sample.settings.dt = 1.0 / 120.0;
        sample.settings.substeps = 10;
        sample.settings.gravity = Vec3::NEG_Y * 9.81;
        let signal: Vec<f64> = (0..1200)
            .map(|_| {
                sample.step();
                let swing = mode.iter().enumerate();
                swing.map(|(i, u)| u * f64::from(sample.at(i + 1).x)).sum()
            })
            .collect();
        let measured = period(&signal, 1.0 / 120.0) / (1.0 / 9.81_f64).sqrt();
        assert_near(&format!("{links} links"), measured, expected, 5e-3);
    }
}

#[test]
fn chain_between_two_pins_is_a_catenary() {
    // sag/L where 2a·sinh(D/2a) = L.
    let links = 64;
    for (span, expected) in [
        (0.4, 0.42775),
        (0.6, 0.36278),
        (0.8, 0.26544),
        (0.9, 0.19071),
    ] {
        let straight: Vec<_> = (0..=links)
            .map(|i| Vec3::X * (i as f32 / links as f32))
            .collect();
        let mut sample = Sample::chain(&straight);
        // Hung up as a V.
        let depth = (1.0_f32 - span * span).sqrt() / 2.0;
        for (i, place) in straight.iter().enumerate() {
            let from_middle = (place.x - 0.5).abs() * 2.0;
            let v = Vec3::new(place.x * span, depth * (from_middle - 1.0), 0.0);
            sample.particles.set_world_position(i, v);
        }
        sample.pin(0);
        sample.pin(links as u32);
        sample.settings.substeps = 20;
        sample.settings.iterations = 20;
        sample.settings.damping = 2.0;
        sample.run(12.0);
        let lowest = (0..=links).map(|i| sample.at(i).y).fold(0.0, f32::min);
        assert_near(
            &format!("sag over a span of {span}"),
            f64::from(-lowest),
            expected,
            5e-3,
        );
    }
}

#[test]
fn rigid_chains_stretch_by_the_law_of_relaxation() {
    // ΔL = g·Δts²·N²/(2K): with the square of the substeps, but only in proportion to the
    // iterations, and independent of the length.
    let links = 32;
    for (length, substeps, iterations) in [
        (25.0, 1, 1),
        (25.0, 2, 1),
        (25.0, 4, 1),
        (25.0, 1, 4),
        (100.0, 2, 1),
    ] {
        let mut sample = hanging(links, length);
        sample.settings.substeps = substeps;
        sample.settings.iterations = iterations;
        sample.settings.damping = 1.0;
        sample.run(120.0);
        let dts = 1.0 / 60.0 / f64::from(substeps);
        let n = links as f64;
        let expected = 9.81 * dts * dts * n * n / (2.0 * f64::from(iterations));
        let extension = -f64::from(sample.at(links).y) - f64::from(length);
        assert_near(
            &format!("{length} m, {substeps} substeps, {iterations} iterations"),
            extension,
            expected,
            0.1,
        );
    }
}

#[test]
fn compliant_chains_stretch_by_their_weight() {
    // Link i of N carries the N − i masses below it: ΔL = α·m·g·N(N+1)/2, however it is solved.
    let links = 10;
    for (substeps, iterations) in [(5, 1), (20, 1), (4, 10)] {
        let mut sample = hanging(links, 1.0);
        sample.settings.compliance = Compliance {
            stretch: 1e-3,
            ..Default::default()
        };
        sample.settings.substeps = substeps;
        sample.settings.iterations = iterations;
        sample.settings.damping = 2.0;
        sample.run(20.0);
        let n = links as f64;
        let expected = 1e-3 * 9.81 * n * (n + 1.0) / 2.0;
        assert_near(
            &format!("{substeps} substeps, {iterations} iterations"),
            -f64::from(sample.at(links).y) - 1.0,
            expected,
            0.02,
        );
    }
}
