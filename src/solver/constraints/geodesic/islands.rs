//! Groups sources into islands.

use super::adjacency::ParticleAdjacency;
use std::collections::BTreeMap;

/// Largest number of edges between two sources of the same island: a row of sources is one island, even if only
/// every second particle is one.
const MAX_EDGES: usize = 2;

/// Returns the island of each source, without duplicates, in ascending order. Islands are numbered in the order of
/// their first sources. Particles that do not exist are left out.
pub(super) fn find(adjacency: &ParticleAdjacency, sources: &[u32]) -> BTreeMap<u32, u32> {
    let mut sorted: Vec<u32> = sources.to_vec();
    sorted.retain(|&i| (i as usize) < adjacency.len());
    sorted.sort_unstable();
    sorted.dedup();
    let mut index_of = vec![None; adjacency.len()];
    for (n, &source) in sorted.iter().enumerate() {
        index_of[source as usize] = Some(n);
    }

    // Disjoint sets: each entry points to another source of its island, and through it to the first one.
    let mut parents: Vec<usize> = (0..sorted.len()).collect();
    let mut near: Vec<u32> = Vec::new();
    for (n, &source) in sorted.iter().enumerate() {
        near.clear();
        near.push(source);
        let mut done = 0;
        for _ in 0..MAX_EDGES {
            let ring = done..near.len();
            done = near.len();
            for k in ring {
                let neighbours = adjacency.neighbours(near[k]).iter();
                near.extend(neighbours.map(|&(i, _)| i));
            }
        }
        for other in near.iter().filter_map(|&i| index_of[i as usize]) {
            let (a, b) = (find_root(&mut parents, n), find_root(&mut parents, other));
            parents[a.max(b)] = a.min(b);
        }
    }

    let mut islands: BTreeMap<u32, u32> = BTreeMap::new();
    let mut count = 0;
    for (n, &source) in sorted.iter().enumerate() {
        let root = find_root(&mut parents, n);
        let island = if root == n {
            count += 1;
            count - 1
        } else {
            islands[&sorted[root]]
        };
        islands.insert(source, island);
    }
    islands
}

/// Returns the first source of the island that a source belongs to.
fn find_root(parents: &mut [usize], mut n: usize) -> usize {
    while parents[n] != n {
        parents[n] = parents[parents[n]];
        n = parents[n];
    }
    n
}
