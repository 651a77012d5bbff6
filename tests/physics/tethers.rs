//! Tethers keep hanging cloth from stretching.

use crate::{Sample, vacuum};
use bevy::math::Vec3;
use bevy_drape::solver::{Geodesics, RestShape, StepSettings, measure_stretch};

#[test]
fn tethers_do_not_move_a_sheet_in_its_rest_shape() {
    let mut sample = Sample::sheet(33);
    for pin in [0, 32, 700] {
        sample.pin(pin);
    }
    sample.add_tethers();
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
fn a_tethered_chain_hangs_at_its_rest_length() {
    // Without tethers the chain would stretch to several times its length; see "law of relaxation" in
    // `known_answers`.
    let positions: Vec<Vec3> = (0..200).map(|i| Vec3::X * (i as f32 * 0.01)).collect();
    let mut sample = Sample::chain(&positions);
    sample.pin(0);
    sample.add_tethers();
    sample.settings.substeps = 4;
    sample.settings.damping = 1.0;
    sample.run(20.0);
    let length = sample.at(0).distance(sample.at(199));
    assert!((length / 1.99 - 1.0).abs() < 0.012, "{length} m");
    let stretch = measure_stretch(&sample.particles, &sample.constraints);
    assert!(stretch.max < 0.05, "{stretch:?}");
}

#[test]
fn the_geodesic_distance_across_a_sheet_is_its_diagonal() {
    let sample = Sample::sheet(11);
    let shape = RestShape {
        positions: &sample.particles.position,
        triangles: &sample.triangles.indices.to_vec(),
        constraints: &sample.constraints,
    };
    let distances = Geodesics::new(&shape, &[0]);
    let far = distances.for_particle(120).next().unwrap();
    assert_eq!(far.source, 0);
    assert!((far.distance - 2.0_f64.sqrt()).abs() < 1e-6);
}
