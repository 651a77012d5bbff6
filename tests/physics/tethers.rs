//! Tethers: what hangs does not stretch.

use crate::{Sample, vacuum};
use bevy::math::Vec3;
use bevy_drape::solver::{Geodesics, RestShape, StepSettings, Tethers, measure_stretch};

/// Ties a sample to its pins, from where its particles are now.
fn tie(sample: &mut Sample) {
    let pinned: Vec<u32> = sample.pins.iter().map(|pin| pin.particle).collect();
    let shape = RestShape {
        positions: &sample.particles.position,
        triangles: &sample.triangles.indices.to_vec(),
        constraints: &sample.constraints,
    };
    sample.tethers = Tethers::new(&shape, &pinned);
}

#[test]
fn a_sheet_at_rest_is_not_moved() {
    let mut sample = Sample::sheet(33);
    for pin in [0, 32, 700] {
        sample.pin(pin);
    }
    tie(&mut sample);
    assert!(!sample.tethers.is_empty());
    sample.settings = StepSettings {
        gravity: Vec3::ZERO,
        tether_scale: 1.0,
        ..vacuum()
    };
    let before = sample.particles.position.clone();
    sample.run(1.0);
    assert_eq!(sample.particles.position, before);
}

#[test]
fn a_chain_hangs_as_long_as_it_is() {
    // Without tethers it would be stretched to several times its length: see the stretch law.
    let places: Vec<Vec3> = (0..200).map(|i| Vec3::X * (i as f32 * 0.01)).collect();
    let mut sample = Sample::chain(&places);
    sample.pin(0);
    tie(&mut sample);
    sample.settings.substeps = 4;
    sample.settings.damping = 1.0;
    sample.run(20.0);
    let length = sample.at(0).distance(sample.at(199));
    assert!((length / 1.99 - 1.0).abs() < 0.012, "{length} m");
    let stretch = measure_stretch(&sample.particles, &sample.constraints);
    assert!(stretch.max < 0.05, "{stretch:?}");
}

#[test]
fn distances_follow_the_scale_of_the_rest_shape() {
    let sample = Sample::sheet(11);
    let shape = RestShape {
        positions: &sample.particles.position,
        triangles: &sample.triangles.indices.to_vec(),
        constraints: &sample.constraints,
    };
    let distances = Geodesics::new(&shape, &[0]);
    let far = distances.of(120).next().unwrap();
    assert_eq!(far.source, 0);
    assert!((far.distance - 2.0_f64.sqrt()).abs() < 1e-6);
}
