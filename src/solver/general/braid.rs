//! Finds the strands of a mesh: threads that run straight on from edge to edge, as warp and weft of a
//! grid do. They are put into bundles.

use super::strands::{Bundle, WIDTH};
use crate::solver::{
    batches::{DIRECTIONS, direction},
    constraints::{ConstraintKind, distance},
    soa::SoaVec3,
};
use bevy::math::Vec3;
use std::collections::VecDeque;

/// Two edges belong to one strand if the cosine of the angle between them is at most this: a turn by
/// 45°.
const STRAIGHT: f32 = -0.7;

/// Particles with more edges are knots, through which no strand runs.
const MOST_EDGES: usize = 16;

/// Particles of a strand: shorter ones are no gain, longer ones are cut.
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=512;

/// Rows of a bundle, unless one of its strands is longer: what is fetched of it then stays in the
/// nearest caches.
const ROWS: usize = 64;

/// So many strands are looked at for a bundle: more is not tried, lest many that cross each other take
/// forever.
const CANDIDATES: usize = 512;

/// A bundle that is less full takes longer than its constraints one by one.
const LEAST_FULL: f32 = 0.5;

type Constraints = Vec<(u32, u32, ConstraintKind)>;

/// Takes the constraints along strands out of these (sorted by particles, without duplicates).
pub(in crate::solver) fn braid(positions: &SoaVec3, constraints: &mut Constraints) -> Vec<Bundle> {
    let mut of_direction: [Vec<Vec<u32>>; DIRECTIONS] = std::array::from_fn(|_| Vec::new());
    for strand in strands(positions, constraints) {
        if let [first, .., last] = strand[..] {
            of_direction[direction(positions, first, last)].push(strand);
        }
    }
    let mut taken = vec![false; constraints.len()];
    let mut bundles = Vec::new();
    // The last bundle in which a particle was, one more than its number.
    let mut seen = vec![0_u32; positions.len()];
    let mut round = 0;
    for strands in of_direction {
        let mut pending = VecDeque::from(strands);
        while !pending.is_empty() {
            round += 1;
            let lanes = lanes(choose(&mut pending, &mut seen, round));
            bundles.extend(fill(&lanes, positions, constraints, &mut taken));
        }
    }
    let mut taken = taken.into_iter();
    constraints.retain(|_| taken.next() == Some(false));
    bundles
}

/// All strands, as particles one after the other.
fn strands(positions: &SoaVec3, constraints: &Constraints) -> Vec<Vec<u32>> {
    let threads = constraints
        .iter()
        .filter(|c| c.2 == ConstraintKind::Structural);
    let edges: Vec<[u32; 2]> = threads.map(|&(a, b, _)| [a, b]).collect();
    let next = straight_on(positions, &edges);
    let mut done = vec![false; edges.len()];
    // The strand in which a particle was last.
    let mut within = vec![u32::MAX; positions.len()];
    let mut strands = Vec::new();
    for start in 0..edges.len() {
        if done[start] {
            continue;
        }
        // Back to where the thread begins, or once around, and then along it. `end` is the end of an
        // edge at which the way goes on.
        let (mut edge, mut end) = (start, 0);
        while let Some((before, at)) = next[edge][end]
            && before != start
            && !done[before]
        {
            (edge, end) = (before, 1 - at);
        }
        end = 1 - end;
        let mut strand = vec![edges[edge][1 - end]];
        let mut number = strands.len() as u32;
        within[strand[0] as usize] = number;
        loop {
            done[edge] = true;
            let particle = edges[edge][end];
            strand.push(particle);
            // What meets itself is cut there.
            let cut = std::mem::replace(&mut within[particle as usize], number) == number
                || strand.len() >= *LENGTHS.end();
            if cut {
                if within_twice(&strand) {
                    strand.pop();
                }
                strands.push(std::mem::replace(&mut strand, vec![particle]));
                number = strands.len() as u32;
                within[particle as usize] = number;
            }
            match next[edge][end] {
                Some((after, at)) if !done[after] => (edge, end) = (after, 1 - at),
                _ => break,
            }
        }
        strands.push(strand);
    }
    strands.retain(|strand| LENGTHS.contains(&strand.len()));
    strands
}

/// Whether the last particle was there before.
fn within_twice(strand: &[u32]) -> bool {
    let Some((last, others)) = strand.split_last() else {
        return false;
    };
    others.contains(last)
}

/// For both ends of each edge the edge that goes straight on there, and which of its ends that is.
fn straight_on(positions: &SoaVec3, edges: &[[u32; 2]]) -> Vec<[Option<(usize, usize)>; 2]> {
    let mut ends: Vec<(u32, usize, usize)> = (0..edges.len())
        .flat_map(|edge| [0, 1].map(|end| (edges[edge][end], edge, end)))
        .collect();
    ends.sort_unstable();
    let mut next = vec![[None; 2]; edges.len()];
    let mut pairs = Vec::new();
    for star in ends.chunk_by(|a, b| a.0 == b.0) {
        if star.len() > MOST_EDGES {
            continue;
        }
        let away: Vec<Vec3> = star
            .iter()
            .map(|&(at, edge, end)| {
                let other = edges[edge][1 - end];
                let d = positions.get(other as usize) - positions.get(at as usize);
                let length = distance(positions, at, other);
                if length > 0.0 { d / length } else { Vec3::ZERO }
            })
            .collect();
        pairs.clear();
        for i in 0..star.len() {
            for j in 0..i {
                let cosine = away[i].dot(away[j]);
                if cosine <= STRAIGHT {
                    pairs.push((cosine, j, i));
                }
            }
        }
        // The straightest first.
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        for &(_, i, j) in &pairs {
            let [(_, a, end_a), (_, b, end_b)] = [star[i], star[j]];
            if next[a][end_a].is_none() && next[b][end_b].is_none() {
                next[a][end_a] = Some((b, end_b));
                next[b][end_b] = Some((a, end_a));
            }
        }
    }
    next
}

/// Takes strands that share no particle, as many as a bundle holds.
fn choose(pending: &mut VecDeque<Vec<u32>>, seen: &mut [u32], round: u32) -> Vec<Vec<u32>> {
    let mut chosen = Vec::new();
    let mut passed_over = Vec::new();
    let (mut longest, mut held) = (ROWS, 0);
    while chosen.len() + passed_over.len() < CANDIDATES
        && let Some(strand) = pending.pop_front()
    {
        longest = longest.max(strand.len());
        if held + strand.len() > longest * WIDTH {
            passed_over.push(strand);
            break;
        }
        if strand.iter().any(|&i| seen[i as usize] == round) {
            passed_over.push(strand);
            continue;
        }
        for &i in &strand {
            seen[i as usize] = round;
        }
        held += strand.len();
        chosen.push(strand);
    }
    for strand in passed_over.into_iter().rev() {
        pending.push_front(strand);
    }
    chosen
}

/// Deals strands to lanes: the longest one first, and always to the shortest lane.
fn lanes(mut strands: Vec<Vec<u32>>) -> [Vec<Vec<u32>>; WIDTH] {
    strands.sort_by_key(|strand| usize::MAX - strand.len());
    let mut lanes: [Vec<Vec<u32>>; WIDTH] = std::array::from_fn(|_| Vec::new());
    let mut lengths = [0; WIDTH];
    for strand in strands {
        let lane = (0..WIDTH).min_by_key(|&lane| lengths[lane]).unwrap_or(0);
        lengths[lane] += strand.len();
        lanes[lane].push(strand);
    }
    lanes
}

/// A bundle of these strands with their constraints, which are then taken; none if it would be too
/// empty.
fn fill(
    lanes: &[Vec<Vec<u32>>; WIDTH],
    positions: &SoaVec3,
    constraints: &Constraints,
    taken: &mut [bool],
) -> Option<Bundle> {
    let flat: [Vec<u32>; WIDTH] = std::array::from_fn(|lane| lanes[lane].concat());
    let rows = flat.iter().map(Vec::len).max().unwrap_or(0);
    let held: usize = flat.iter().map(Vec::len).sum();
    if (held as f32) < LEAST_FULL * (rows * WIDTH) as f32 {
        return None;
    }
    let mut bundle = Bundle::new(&flat);
    let mut take = |kind, a: u32, b: u32| {
        let key = (a.min(b), a.max(b), kind);
        let index = constraints.binary_search(&key).ok()?;
        (!std::mem::replace(&mut taken[index], true)).then(|| distance(positions, a, b))
    };
    for (lane, strands) in lanes.iter().enumerate() {
        let mut row = 0;
        for strand in strands {
            let kind = ConstraintKind::Structural;
            for (i, ends) in strand.windows(2).enumerate() {
                if let Some(rest) = take(kind, ends[0], ends[1]) {
                    bundle.set(kind, row + i, lane, rest);
                }
            }
            row += strand.len();
        }
    }
    Some(bundle)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid of quads, with diagonals, bent over a cylinder so that it is no plane.
    fn grid(columns: u32, rows: u32) -> (SoaVec3, Constraints) {
        let at = |i: u32| {
            let (c, r) = ((i % columns) as f32 * 0.1, (i / columns) as f32 * 0.1);
            Vec3::new(c, r, (1.0 + c * c).sqrt())
        };
        let mut pairs = Vec::new();
        for i in 0..columns * rows {
            let mut reach = |kind, across: u32, down: u32| {
                if i % columns + across < columns && i / columns + down < rows {
                    pairs.push((i, i + across + down * columns, kind));
                }
            };
            reach(ConstraintKind::Structural, 1, 0);
            reach(ConstraintKind::Structural, 0, 1);
            reach(ConstraintKind::Shear, 1, 1);
        }
        pairs.sort_unstable();
        ((0..columns * rows).map(at).collect(), pairs)
    }

    fn sorted(constraints: impl Iterator<Item = (u32, u32, ConstraintKind)>) -> Constraints {
        let mut sorted: Constraints = constraints
            .map(|(a, b, kind)| (a.min(b), a.max(b), kind))
            .collect();
        sorted.sort_unstable();
        sorted
    }

    /// Braids, and checks that nothing is lost or doubled and that no strands of a bundle meet.
    fn checked(positions: &SoaVec3, constraints: &Constraints) -> (Vec<Bundle>, Constraints) {
        let mut left = constraints.clone();
        let bundles = braid(positions, &mut left);
        let all = bundles.iter().flat_map(Bundle::iter);
        let all = all.map(|c| (c.particles[0], c.particles[1], c.kind));
        assert_eq!(sorted(all.chain(left.iter().copied())), *constraints);
        for bundle in &bundles {
            assert!(bundle.is_sound(positions.len()));
            let mut ends = vec![[0; 2]; positions.len()];
            for c in bundle
                .iter()
                .filter(|c| c.kind == ConstraintKind::Structural)
            {
                let [a, b] = c.particles.map(|i| i as usize);
                ends[a][0] += 1;
                ends[b][1] += 1;
            }
            // Each particle has one link before it and one behind it, at most.
            assert!(ends.as_flattened().iter().all(|&links| links <= 1));
        }
        (bundles, left)
    }

    #[test]
    fn warp_and_weft_are_found() {
        let (positions, constraints) = grid(20, 33);
        let (bundles, left) = checked(&positions, &constraints);
        assert!(
            left.iter().all(|c| c.2 == ConstraintKind::Shear),
            "{left:?}"
        );
        // Twenty threads of 33 particles, two of them in some lanes; 33 of 20, three in most.
        assert_eq!(bundles.len(), 2);
    }

    #[test]
    fn what_has_no_threads_is_left_alone() {
        // A star, a chain, a pair at one place.
        let star = (1..40).map(|i| (0, i, ConstraintKind::Structural));
        let chain = (40..70).map(|i| (i, i + 1, ConstraintKind::Structural));
        let constraints = sorted(
            star.chain(chain)
                .chain([(80, 81, ConstraintKind::Structural)]),
        );
        let mut positions: SoaVec3 = (0..82)
            .map(|i| Vec3::new(i as f32, (i * i % 7) as f32, 0.0))
            .collect();
        positions.set(81, positions.get(80));
        let (bundles, left) = checked(&positions, &constraints);
        assert!(bundles.is_empty());
        assert_eq!(left, constraints);
    }

    #[test]
    fn rings_and_long_threads_are_cut() {
        // Forty rings of sixty-four particles, one inside the other.
        let ring = |i: u32| {
            let around = (i % 64) as f32 / 64.0 * std::f32::consts::TAU;
            Vec3::new(around.cos(), around.sin(), 0.0) * (1 + i / 64) as f32
        };
        let positions: SoaVec3 = (0..64 * 40).map(ring).collect();
        let links =
            (0..64 * 40).map(|i| (i, i / 64 * 64 + (i + 1) % 64, ConstraintKind::Structural));
        let rings = sorted(links);
        let (bundles, left) = checked(&positions, &rings);
        assert!(bundles.len() >= 2);
        // Each ring has one link that closes it.
        assert_eq!(left.len(), 40);

        // Threads of a thousand links, side by side, and the same, all through one particle.
        for knot in [None, Some(500)] {
            let place = |i: u32| {
                let (thread, along) = (i / 1001, (i % 1001) as f32 - 500.0);
                let aside = 0.2 * thread as f32 - 1.6;
                knot.map_or(Vec3::new(along, aside, 0.0), |_| {
                    Vec3::new(1.0, aside, 0.0) * along
                })
            };
            let name = |i: u32| knot.filter(|_| i % 1001 == 500).unwrap_or(i);
            let threads = (0..16 * 1001_u32).filter(|i| i % 1001 < 1000);
            let threads = threads.map(|i| (name(i), name(i + 1), ConstraintKind::Structural));
            let positions: SoaVec3 = (0..16 * 1001).map(place).collect();
            let (bundles, left) = checked(&positions, &sorted(threads));
            assert_eq!(bundles.is_empty(), knot.is_some());
            assert_eq!(left.is_empty(), knot.is_none());
        }
    }
}
