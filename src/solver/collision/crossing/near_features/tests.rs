use super::super::{CrossingFilter, FeatureCloth, FilteredCloth, MotionStart};
use crate::solver::{ParticleArrays, SoaVec3, triangles::corners::Corners};
use bevy::math::Vec3;

const DISTANCE: f32 = 0.1;

/// Two cloths of one triangle each.
struct Triangles {
    filter: CrossingFilter,
    cloths: [(ParticleArrays, MotionStart); 2],
    corners: Corners,
}

impl Triangles {
    /// Two triangles at rest with these corners and inverse masses.
    fn new(triangles: [([Vec3; 3], [f32; 3]); 2]) -> Self {
        let cloths = triangles.map(|(corners, inverse_masses)| {
            let positions: SoaVec3 = corners.into_iter().collect();
            let mut p = ParticleArrays::new(Vec3::ZERO, positions, inverse_masses.into());
            p.last_dt = 0.01;
            let mut start = MotionStart::default();
            start.record(&p, Some(DISTANCE), p.last_dt);
            (p, start)
        });
        let mut filter = CrossingFilter::default();
        let corners = Corners::from(vec![[0, 1, 2]]);
        let all = cloths.iter();
        filter.find_near_features(all.map(|(p, start)| FilteredCloth::alone(p, start, &corners)));
        Self {
            filter,
            cloths,
            corners,
        }
    }

    /// A triangle, and one with a corner above it at a height that is a multiple of the distance.
    fn above(height: f32) -> Self {
        let corner = Vec3::new(0.2, height * DISTANCE, 0.2);
        let above = [corner, corner + Vec3::new(0.1, 0.5, 0.0), corner + Vec3::Y];
        let below = [Vec3::ZERO, Vec3::X, Vec3::Z];
        Self::new([(above, [1.0; 3]), (below, [1.0; 3])])
    }

    fn keep_apart(&mut self) {
        let each = self.cloths.iter_mut();
        let mut cloths: Vec<FeatureCloth> = each.map(|(p, _)| Some(p)).collect();
        self.filter.keep_features_apart(&mut cloths);
    }

    /// Returns the height of the corner above the triangle, as a multiple of the distance.
    fn height(&self) -> f32 {
        let [(above, _), (below, _)] = &self.cloths;
        let [p, a, b, c] = [(above, 0), (below, 0), (below, 1), (below, 2)]
            .map(|(cloth, i)| cloth.world_position(i));
        let normal = (c - a).cross(b - a).normalize();
        (p - a).dot(normal) / DISTANCE
    }
}

#[test]
fn features_that_began_near_each_other_move_apart_to_their_gap() {
    // Height when the step begins, in a substep, and after it.
    let cases = [
        [0.2, 0.02, 0.02],
        [0.11, 0.02, 0.02],
        [0.099, 0.085, 0.09],
        [0.05, 0.05, 0.07],
        [0.05, 0.08, 0.09],
        [0.05, 0.095, 0.095],
        // The corner has passed through.
        [0.05, -0.01, 0.01],
    ];
    for [from, now, expected] in cases {
        let mut both = Triangles::above(from);
        let lift = Vec3::Y * (now - from) * DISTANCE;
        let (above, _) = &mut both.cloths[0];
        above.position.add_all(lift);
        both.keep_apart();
        let height = both.height();
        assert!((height - expected).abs() < 1e-4, "{from}, {now}: {height}");
    }
}

#[test]
fn features_stop_their_approach_and_keep_their_momentum() {
    let mut both = Triangles::above(0.05);
    let (above, _) = &mut both.cloths[0];
    above.displacement.set(0, Vec3::NEG_Y * 0.001);
    let sum = |both: &Triangles| {
        let cloths = both.cloths.iter();
        let sums = cloths.map(|(p, _)| {
            [&p.position, &p.displacement].map(|vectors| vectors.iter().sum::<Vec3>())
        });
        sums.fold([Vec3::ZERO; 2], |[x, d], [y, e]| [x + y, d + e])
    };
    let before = sum(&both);
    both.keep_apart();
    for (before, after) in before.into_iter().zip(sum(&both)) {
        assert!((after - before).length() < 1e-6);
    }
    let [(above, _), (below, _)] = &both.cloths;
    let down = |k: usize| below.displacement.get(k).y;
    let below = 0.6 * down(0) + 0.2 * (down(1) + down(2));
    assert!((above.displacement.get(0).y - below).abs() < 1e-6);
    // Features that part keep their velocity.
    let mut both = Triangles::above(0.05);
    both.cloths[0].0.displacement.set(0, Vec3::Y * 0.001);
    both.keep_apart();
    assert_eq!(both.cloths[0].0.displacement.get(0), Vec3::Y * 0.001);
}

#[test]
fn a_free_corner_beside_pinned_ones_is_not_thrown() {
    let below = [Vec3::ZERO, Vec3::X * 0.1, Vec3::new(0.05, 0.0, 0.1)];
    // Nearest to a point in which the free corner of the other has a weight of 0.02.
    let near = Vec3::new(0.05, 0.001, 0.002);
    let above = [near, Vec3::Y * 0.2, Vec3::new(0.1, 0.2, 0.0)];
    let mut both = Triangles::new([(below, [0.0, 0.0, 1.0]), (above, [0.0; 3])]);
    both.keep_apart();
    let moved = both.cloths[0].0.position.get(2).distance(below[2]);
    // The features would move apart by 2 mm.
    assert!((0.0019..0.0021).contains(&moved), "{moved} m");
}

#[test]
fn a_cloth_that_takes_no_substep_or_has_changed_is_left_alone() {
    let mut both = Triangles::above(0.05);
    let [(p, _), _] = &mut both.cloths;
    both.filter.keep_features_apart(&mut [Some(p), None]);
    assert!((both.height() - 0.05).abs() < 1e-6);
    both.cloths[1].0.push_between([0, 1], 0.5);
    both.keep_apart();
    assert!((both.height() - 0.05).abs() < 1e-6);
}

#[test]
fn a_corner_that_slides_off_its_triangle_is_not_pulled_back() {
    let mut both = Triangles::above(0.05);
    let (above, _) = &mut both.cloths[0];
    // Beside the triangle and below its plane.
    above.position.set(0, Vec3::new(-0.001, -0.002, 0.2));
    let before = above.position.clone();
    both.keep_apart();
    assert_eq!(both.cloths[0].0.position, before);
}

#[test]
fn narrow_triangles_of_a_flat_surface_do_not_push_their_corners() {
    // The third corner is 5 mm from the edge of the other triangle.
    let narrow = [Vec3::new(0.5, 0.0, -0.005), Vec3::ZERO, Vec3::X].map(|at| at - Vec3::Z * 1e-3);
    let other = [Vec3::ZERO, Vec3::X, Vec3::Z];
    let mut both = Triangles::new([(narrow, [1.0; 3]), (other, [1.0; 3])]);
    let before = both.cloths[0].0.position.clone();
    both.keep_apart();
    assert_eq!(both.cloths[0].0.position, before);
}

#[test]
fn near_features_are_searched_again_for_other_cloth() {
    let mut both = Triangles::above(0.05);
    let [one, other] = &mut both.cloths;
    (one.1.is_filtered, other.1.is_filtered) = (true, true);
    // The same cloths, which have moved apart: they are known.
    one.0.position.add_all(Vec3::Y);
    one.1.record(&one.0, Some(DISTANCE), 0.01);
    let (cloths, corners) = (&both.cloths, &both.corners);
    let mut found = |ids: [u64; 2]| {
        let each = cloths.iter().zip(ids);
        both.filter
            .find_near_features(each.map(|((p, start), id)| FilteredCloth {
                id,
                ..FilteredCloth::alone(p, start, corners)
            }));
        both.filter.near_features.pairs.len()
    };
    assert_eq!(found([0, 0]), 1);
    assert_eq!(found([1, 2]), 0);
}
