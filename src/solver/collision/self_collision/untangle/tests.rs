use super::*;
use crate::solver::SoaVec3;

/// Two strips of 7 × 2 particles, the second upright and passing through the first by `depth` of its cells.
fn intersecting_strips(depth: f32) -> (ParticleArrays, Corners) {
    let position = |i: u32| Vec3::new((i / 2) as f32, 0.0, (i % 2) as f32);
    let lying = (0..14).map(position);
    let upright = (0..14).map(position).map(|at| {
        let at = Vec3::new(at.z - 0.5, at.x - depth, 0.13 * at.x);
        at + Vec3::new(3.4, 0.0, 0.3)
    });
    let positions: SoaVec3 = lying.chain(upright).collect();
    let cells = (0..12).filter(|i| i % 2 == 0);
    let cells = [0, 14]
        .into_iter()
        .flat_map(|first| cells.clone().map(move |i| first + i));
    let triangles: Vec<[u32; 3]> = cells
        .flat_map(|i| [[i, i + 2, i + 1], [i + 1, i + 2, i + 3]])
        .collect();
    let p = ParticleArrays::new(Vec3::ZERO, positions, vec![1.0; 28]);
    (p, triangles.into())
}

fn all_pairs() -> Vec<[u32; 2]> {
    (0..28)
        .flat_map(|i| (i + 1..28).map(move |j| [i, j]))
        .collect()
}

#[test]
fn intersections_are_found_once_and_resolved() {
    for depth in [0.2, 0.45, 1.3] {
        let (mut p, triangles) = intersecting_strips(depth);
        let mut untangle = Untangle::default();
        let mass = |p: &ParticleArrays| p.position.iter().sum::<Vec3>();
        let before = mass(&p);
        untangle.find(&p, &triangles, &all_pairs(), 2.0);
        assert!(untangle.has_intersections(), "{depth}");
        let first = untangle.intersections.clone();
        let mut twice = first.clone();
        twice.dedup();
        assert_eq!(first, twice);
        let mut substeps = 0;
        while untangle.has_intersections() {
            untangle.resolve(&mut p, 1.0);
            untangle.find(&p, &triangles, &all_pairs(), 2.0);
            substeps += 1;
            assert!(substeps < 200, "{depth}: {:?}", untangle.intersections);
        }
        assert!((mass(&p) - before).length() < 1e-3);
    }
}

#[test]
fn contacts_that_push_to_the_wrong_side_are_ignored() {
    let (p, triangles) = intersecting_strips(0.2);
    let mut untangle = Untangle::default();
    untangle.find(&p, &triangles, &all_pairs(), 2.0);
    let mut kept = Vec::new();
    untangle.keep_contacts(&all_pairs(), &mut kept);
    let all = all_pairs();
    let ignored: Vec<_> = all.iter().filter(|pair| !kept.contains(pair)).collect();
    assert!(!ignored.is_empty());
    for [i, j] in ignored {
        // In different strips, and part of one intersection.
        assert!(*i < 14 && *j >= 14);
        let in_one = untangle
            .intersections
            .iter()
            .any(|EdgeIntersection { edge, triangle }| {
                let corners = [&edge[..], triangle].concat();
                corners.contains(i) && corners.contains(j)
            });
        assert!(in_one);
    }
    untangle.find(&p, &triangles, &[], 2.0);
    assert!(!untangle.has_intersections());
}

#[test]
fn of_very_many_intersections_each_substep_finds_others() {
    let (p, triangles) = intersecting_strips(1.3);
    let mut untangle = Untangle::default();
    untangle.find(&p, &triangles, &all_pairs(), 2.0);
    let (all, estimate) = (untangle.intersections.clone(), untangle.estimate.unwrap());
    assert!(!untangle.is_everywhere() && estimate >= all.len() as f32);
    for most in [[1, usize::MAX], [usize::MAX, 1]] {
        let (mut found, mut mean, mut fewest) = (Vec::new(), 0.0, usize::MAX);
        for _ in 0..ROUNDS {
            untangle.find_up_to(most, &p, &all_pairs(), 2.0 * SEARCH_RATIO);
            fewest = fewest.min(untangle.intersections.len());
            found.append(&mut untangle.intersections);
            mean += untangle.estimate.unwrap() / ROUNDS as f32;
        }
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, all);
        assert!(fewest < all.len(), "{fewest}");
        let ratio = mean / estimate;
        // A search that ends with its first hit expects more than there are.
        assert!((0.5..8.0).contains(&ratio), "{mean}, not {estimate}");
    }
    untangle.estimate = Some(2.0 * MIN_LIMIT);
    assert!(untangle.is_everywhere() && !untangle.is_new());
    untangle.end();
    assert!(!untangle.is_everywhere() && untangle.is_new());
}
