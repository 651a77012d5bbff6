use super::*;
use crate::solver::simd::levels::same_bits;

const THRESHOLDS: MotionThresholds = MotionThresholds {
    near: 0.05,
    skin: 0.03,
    bin: 0.1,
};

/// Number of particles in each cloud.
const CLOUD: usize = 512;

/// Two cubes of 0.7 m, 10 m apart, that fly apart, each rotating slightly. Consecutive particles are near each
/// other (Morton order), as those of a cloth are.
fn clouds(moved: f32) -> SoaVec3 {
    let along = |i: usize, axis: usize| {
        (0..3)
            .map(|k| (i >> (3 * k + axis) & 1) << k)
            .sum::<usize>()
    };
    let cloud = |centre: Vec3| {
        (0..CLOUD).map(move |i| {
            let at = Vec3::from([0, 1, 2].map(|axis| 0.1 * along(i, axis) as f32));
            centre + at + Vec3::new(0.0, moved * 0.05 * at.x, 0.0)
        })
    };
    let right = Vec3::X * (10.0 + 0.2 * moved);
    cloud(Vec3::ZERO).chain(cloud(right)).collect()
}

#[test]
fn bins_are_stale_only_where_neighbours_move_apart() {
    let mut motion = MotionBins::default();
    motion.begin(&clouds(0.0));
    assert_eq!(motion.update(&clouds(0.0), THRESHOLDS), Staleness::Nowhere);
    // Neighbours move by less than 0.03 m relative to each other, the ends of a cloud by 0.035 m, and the
    // clouds by 0.2 m.
    assert_eq!(motion.update(&clouds(1.0), THRESHOLDS), Staleness::Nowhere);
    // A single moving particle is detected, and makes its neighbourhood stale.
    let mut now = clouds(1.0);
    now.add(55, Vec3::Z * 0.05);
    assert_eq!(motion.update(&now, THRESHOLDS), Staleness::Somewhere);
    let mut stale = Vec::new();
    motion.stale_particles(&mut stale);
    assert!(stale.contains(&55) && stale.len() < CLOUD, "{stale:?}");
    assert!(stale.iter().all(|&i| (i as usize) < CLOUD));
    // A particle that moves beyond the next-but-one bin may be near any other.
    now.add(55, Vec3::Z * 100.0);
    assert_eq!(motion.update(&now, THRESHOLDS), Staleness::Everywhere);
    let expected = Staleness::Nowhere;
    motion.begin(&now);
    assert_eq!(motion.update(&now, THRESHOLDS), expected);
}

#[test]
fn all_levels_find_the_same() {
    let (before, now) = (clouds(0.0), clouds(1.7));
    let bits = same_bits(|| {
        let mut motion = MotionBins::default();
        motion.begin(&before);
        motion.update(&now, THRESHOLDS);
        motion
            .group_bounds
            .iter()
            .flatten()
            .map(|v| v.to_bits())
            .collect()
    });
    assert_eq!(bits.len(), 2 * CLOUD);
}

#[test]
fn numbers_that_are_not_finite_do_no_harm() {
    for bad in [f32::NAN, f32::INFINITY, 1e38] {
        let before: SoaVec3 = [Vec3::ZERO, Vec3::splat(bad), Vec3::ONE]
            .into_iter()
            .collect();
        let now: SoaVec3 = [Vec3::ONE, Vec3::ZERO, Vec3::NEG_ONE].into_iter().collect();
        let mut motion = MotionBins::default();
        motion.begin(&before);
        for bin in [1e-30, 0.0, f32::NAN] {
            motion.is_sorted = false;
            motion.update(&now, MotionThresholds { bin, ..THRESHOLDS });
            motion.sort(bin);
            assert!(motion.small.bounds.len() <= 3);
        }
    }
    let mut motion = MotionBins::default();
    let empty = SoaVec3::default();
    motion.begin(&empty);
    assert_eq!(motion.update(&empty, THRESHOLDS), Staleness::Nowhere);
}
