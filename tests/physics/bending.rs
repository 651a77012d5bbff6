//! Bending beyond the table of `validate`: curved rest shapes, and fabric without bending stiffness.

use crate::{
    Sample,
    strip::{DENSITY, Strip},
};
use bevy::math::Vec3;
use bevy_drape::{mesh::TriangleMesh, solver::ConstraintKind};

/// Returns a tube around the y axis, 20 cm in diameter, or the fraction `arc` of its circumference.
fn sleeve(around: u32, rows: u32, arc: f32) -> Sample {
    let closed = arc == 1.0;
    let columns = if closed { around } else { around + 1 };
    let position = |i: u32| {
        let angle = std::f32::consts::TAU * arc * (i % columns) as f32 / around as f32;
        Vec3::new(
            0.1 * angle.cos(),
            0.02 * (i / columns) as f32,
            0.1 * angle.sin(),
        )
    };
    let mut triangles = Vec::new();
    for r in 0..rows - 1 {
        for c in 0..around {
            let next = (c + 1) % columns;
            let [a, b] = [r * columns + c, r * columns + next];
            triangles.extend([[a, a + columns, b], [b, a + columns, b + columns]]);
        }
    }
    let mesh = TriangleMesh {
        positions: (0..columns * rows).map(position).collect(),
        triangles,
        out_of_range: 0,
    };
    Sample::of_mesh(&mesh, DENSITY as f32)
}

#[test]
fn a_curved_sleeve_keeps_its_curve() {
    // Without gravity a whole and a half tube keep their shape to 1 µm, and recover it after a slight flattening.
    for arc in [1.0, 0.5] {
        let mut sleeve = sleeve(24, 8, arc);
        sleeve.settings.gravity = Vec3::ZERO;
        sleeve.settings.substeps = 10;
        sleeve.settings.compliance.bending = 1e-3;
        let rest = sleeve.particles.position.clone();
        let extent = |sample: &Sample| {
            let count = rest.len();
            // Independent of translation: the mean distance from the centre along each axis.
            let middle: Vec3 = (0..count).map(|i| sample.at(i)).sum::<Vec3>() / count as f32;
            let sum: Vec3 = (0..count).map(|i| (sample.at(i) - middle).abs()).sum();
            sum / count as f32
        };
        let before = extent(&sleeve);
        sleeve.run(3.0);
        let after = extent(&sleeve);
        assert!(
            (after - before).abs().max_element() < 1e-6,
            "{before} became {after}"
        );

        for i in 0..rest.len() {
            let at = rest.get(i);
            sleeve
                .particles
                .set_world_position(i, at * Vec3::new(0.85, 1.0, 1.0));
        }
        sleeve.settings.damping = 2.0;
        sleeve.run(10.0);
        let after = extent(&sleeve);
        println!("{arc} of a tube: {before} became {after}");
        assert!(
            (after / before - 1.0).abs().max_element() < 0.03,
            "{arc} of a tube: {before} became {after}"
        );
    }
}

#[test]
fn a_strip_without_bending_stiffness_hangs_straight_down() {
    // The bends exist, but a strip that hangs over an edge by one end is straight except for the first links.
    let strip = Strip::grid(16, 1.0);
    let all = strip.sample.constraints.iter();
    let bends = all.filter(|c| c.kind() == ConstraintKind::Bend).count();
    assert_eq!(bends, 4 * 15 + 17 * 2);
    let strip = strip.clamp().stiffness(0.0).settle();
    let [drop, reach] = strip.tip();
    assert!(drop > 0.9 && reach < 0.1, "{drop} m down, {reach} m aside");
}
