use super::super::{CrossingFilter, MotionStart};
use crate::solver::ParticleArrays;
use bevy::math::{Vec3, Vec3A};

/// A triangle: its corners when a step begins and when it would end, and its inverse masses.
type Moving = ([Vec3; 3], [Vec3; 3], [f32; 3]);

/// Returns the corners of the first of two triangles where the filter lets a step end, for particles that keep this distance.
fn filtered(triangles: [Moving; 2], distance: f32) -> [Vec3; 3] {
    let mut filter = CrossingFilter::default();
    filter.begin();
    let [(mut particles, mut start), _] = triangles.map(|(from, to, inverse_masses)| {
        let start = MotionStart {
            positions: from.map(Vec3A::from).into(),
            substeps: 8,
            ..MotionStart::default()
        };
        let to = to.into_iter().collect();
        let particles = ParticleArrays::new(Vec3::ZERO, to, inverse_masses.into());
        filter.add(&particles, Some(&start), &vec![[0, 1, 2]].into());
        (particles, start)
    });
    filter.find_limits(distance);
    filter.apply(0, &mut particles, &mut start);
    [0, 1, 2].map(|i| particles.position.get(i))
}

#[test]
fn a_free_corner_beside_pinned_ones_is_not_thrown() {
    let below = [Vec3::ZERO, Vec3::X * 0.1, Vec3::new(0.05, 0.0, 0.1)];
    // Nearest to a point in which the free corner of the other has a weight of 0.02.
    let near = Vec3::new(0.05, 0.001, 0.002);
    let above = [near, Vec3::Y * 0.2, Vec3::new(0.1, 0.2, 0.0)];
    let triangles = [(below, below, [0.0, 0.0, 1.0]), (above, above, [0.0; 3])];
    let moved = filtered(triangles, 0.1)[2].distance(below[2]);
    // The features would move apart by 2 mm.
    assert!((0.0019..0.0021).contains(&moved), "{moved} m");
}

#[test]
fn features_come_no_nearer_than_their_gap_and_rest_there() {
    // Height above a fixed triangle when a step begins, where it would end, and where it may, as multiples of the distance.
    let cases = [
        [0.5, 0.3, 0.3],
        [0.5, 0.02, 0.1],
        [0.11, 0.02, 0.1],
        [0.1, 0.02, 0.1],
        [0.05, 0.02, 0.07],
    ];
    const DISTANCE: f32 = 0.1;
    let below = [Vec3::ZERO, Vec3::X, Vec3::Z];
    for [from, to, expected] in cases {
        let at = |height: f32| {
            let corner = Vec3::new(0.2, height * DISTANCE, 0.2);
            [corner, corner + Vec3::new(0.1, 0.5, 0.0), corner + Vec3::Y]
        };
        let triangles = [(at(from), at(to), [1.0; 3]), (below, below, [0.0; 3])];
        let height = filtered(triangles, DISTANCE)[0].y / DISTANCE;
        assert!((height - expected).abs() < 1e-4, "{from}, {to}: {height}");
    }
}
