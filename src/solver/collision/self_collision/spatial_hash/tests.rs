use super::*;
use crate::solver::simd::levels::same_bits;
use std::cell::RefCell;

/// Rest positions far from each other.
fn line(count: usize) -> SoaVec3 {
    (0..count).map(|i| Vec3::X * i as f32).collect()
}

/// Pseudo-random numbers from 0 to 1.
fn random(seed: u32) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    }
}

#[test]
fn all_near_pairs_are_found() {
    let mut hash = SpatialHash::default();
    let found = RefCell::new(Vec::new());
    for seed in 0..40 {
        let mut random = random(seed);
        let count = 2 + 13 * seed as usize;
        let spread = Vec3::new(2.0, 0.1 + random(), 3.0 * random());
        let positions: SoaVec3 = (0..count)
            .map(|_| Vec3::new(random(), random(), random()) * spread - Vec3::ONE)
            .collect();
        let reach = 0.05 + 0.1 * random();
        let rest = line(count);
        hash.sort(&positions, 0..count as u32, reach, &rest);
        let bits = same_bits(|| {
            let all = hash.find_pairs(reach, 0.5, 1.0, &mut found.borrow_mut());
            assert!(all.is_complete);
            found.borrow().iter().flatten().copied().collect()
        });
        let mut pairs: Vec<[u32; 2]> = bits.as_chunks().0.to_vec();
        pairs.sort_unstable();
        pairs.dedup();
        let mut expected = Vec::new();
        for i in 0..count {
            for j in i + 1..count {
                let offset = positions.get(j) - positions.get(i);
                if offset.length_squared() < reach * reach {
                    expected.push([i as u32, j as u32]);
                }
            }
        }
        assert_eq!(pairs, expected, "seed {seed}");
    }
}

#[test]
fn cells_are_searched_completely_up_to_a_limit() {
    for (density, limit) in [(1.0, CROWD), (1.5, 3 * CROWD / 2), (9.0, MAX_CANDIDATES)] {
        for (count, is_complete) in [(limit, true), (limit + 1, false)] {
            let mut random = random(count as u32);
            let positions: SoaVec3 = (0..count)
                .map(|_| Vec3::new(random(), random(), random()))
                .collect();
            let (reach, cell) = (0.1, 2.0);
            let (mut hash, mut pairs) = (SpatialHash::default(), Vec::new());
            hash.sort(&positions, 0..count as u32, cell, &line(count));
            let found = hash.find_pairs(reach, 0.5, density, &mut pairs);
            assert_eq!(found.is_complete, is_complete);
            assert_eq!(found.in_crowds > 0, !is_complete);
            let apart = |i: usize, j: usize| positions.get(i) - positions.get(j);
            let expected = (0..count)
                .flat_map(|i| (i + 1..count).map(move |j| (i, j)))
                .filter(|&(i, j)| apart(i, j).length_squared() < reach * reach)
                .count();
            assert!(expected > 200, "{expected}");
            assert!(pairs.len() == expected || !is_complete && pairs.len() < expected);
        }
    }
}

#[test]
fn in_a_crowd_each_particle_has_partners_everywhere_in_it() {
    let count = 4000;
    let positions: SoaVec3 = (0..count).map(|_| Vec3::ONE).collect();
    let (mut hash, mut pairs) = (SpatialHash::default(), Vec::new());
    hash.sort(&positions, 0..count as u32, 0.1, &line(count));
    let found = hash.find_pairs(0.1, 0.5, 1.0, &mut pairs);
    assert!(found.in_crowds > 3 * count / 4, "{found:?}");
    assert!(pairs.iter().all(|[i, j]| i < j));
    // Each particle of the first half has partners beyond the next few hundred.
    let mut far = vec![0; count / 2];
    for &[i, j] in &pairs {
        if (i as usize) < count / 2 && j - i > 400 {
            far[i as usize] += 1;
        }
    }
    assert!(far.iter().all(|&far| far > 3), "{:?}", far.iter().min());
}

#[test]
fn only_the_given_particles_are_searched() {
    let positions: SoaVec3 = (0..100).map(|i| Vec3::X * (0.01 * i as f32)).collect();
    let (mut hash, mut found) = (SpatialHash::default(), Vec::new());
    let some = [3, 4, 50, 52, 98];
    hash.sort(&positions, some.iter().copied(), 0.025, &line(100));
    assert!(hash.find_pairs(0.025, 0.5, 1.0, &mut found).is_complete);
    found.sort_unstable();
    assert_eq!(found, [[3, 4], [50, 52]]);
}

#[test]
fn a_crumpled_cloth_has_pairs_in_proportion_to_its_particles() {
    let mut hash = SpatialHash::default();
    let mut found = Vec::new();
    for count in [10, 1000, 20_000] {
        let positions: SoaVec3 = (0..count).map(|_| Vec3::ONE).collect();
        hash.sort(&positions, 0..count as u32, 0.1, &line(count));
        let all = hash.find_pairs(0.1, 0.5, 1.0, &mut found);
        assert_eq!(all.is_complete, count == 10);
        assert!(found.len() <= MAX_PAIRS * count && 2 * found.len() >= count);
    }
}

#[test]
fn numbers_that_are_not_finite_do_no_harm() {
    let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 0.0];
    let positions: SoaVec3 = (0..36)
        .map(|i| Vec3::new(bad[i % 6], bad[i / 6], 0.0))
        .collect();
    let mut hash = SpatialHash::default();
    let mut found = Vec::new();
    hash.sort(&positions, 0..36, 1e-3, &line(36));
    hash.find_pairs(1e-3, 1e-3, 1.0, &mut found);
    let nowhere: SoaVec3 = (0..36).map(|_| Vec3::NAN).collect();
    hash.sort(&positions, 0..36, 1e-3, &nowhere);
    hash.find_pairs(1e-3, 1e-3, 1.0, &mut found);
}
