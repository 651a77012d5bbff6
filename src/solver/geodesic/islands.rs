//! Which sources belong together.

use super::web::Web;
use std::collections::BTreeMap;

/// Sources that are this many edges apart, or fewer, stand together: a row of them, a row in which
/// every second particle is one.
const NEAR: usize = 2;

/// Sources with the number of their island, each once, in ascending order. Islands are numbered in the
/// order of their first sources. Sources that do not exist are left out.
pub(super) fn find(web: &Web, sources: &[u32]) -> BTreeMap<u32, u32> {
    let mut sorted: Vec<u32> = sources.to_vec();
    sorted.retain(|&i| (i as usize) < web.len());
    sorted.sort_unstable();
    sorted.dedup();
    let mut number = vec![None; web.len()];
    for (n, &source) in sorted.iter().enumerate() {
        number[source as usize] = Some(n);
    }

    // Each points to one that it stands together with, and that one on, to the first of the island.
    let mut together: Vec<usize> = (0..sorted.len()).collect();
    let mut near: Vec<u32> = Vec::new();
    for (n, &source) in sorted.iter().enumerate() {
        near.clear();
        near.push(source);
        let mut done = 0;
        for _ in 0..NEAR {
            let ring = done..near.len();
            done = near.len();
            for k in ring {
                let neighbours = web.neighbours(near[k]).iter();
                near.extend(neighbours.map(|&(i, _)| i));
            }
        }
        for other in near.iter().filter_map(|&i| number[i as usize]) {
            let (a, b) = (first(&mut together, n), first(&mut together, other));
            together[a.max(b)] = a.min(b);
        }
    }

    let mut islands: BTreeMap<u32, u32> = BTreeMap::new();
    let mut count = 0;
    for (n, &source) in sorted.iter().enumerate() {
        let head = first(&mut together, n);
        let island = if head == n {
            count += 1;
            count - 1
        } else {
            islands[&sorted[head]]
        };
        islands.insert(source, island);
    }
    islands
}

/// The first of the island that a source belongs to.
fn first(together: &mut [usize], mut n: usize) -> usize {
    while together[n] != n {
        together[n] = together[together[n]];
        n = together[n];
    }
    n
}
