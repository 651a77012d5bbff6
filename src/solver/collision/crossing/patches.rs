//! Patches: connected triangles that are tested together.
//!
//! A smooth surface whose triangles all face one direction cannot cross itself (Volino, Magnenat-Thalmann,
//! "Efficient self-collision detection on smoothly discretized surface animations using geometrical shape
//! regularity", 1994), unless its outline does. So a patch is tested against itself only if it faces no direction as a
//! whole, and against a neighbour, which shares a particle with it, only if they and all their neighbours face no common
//! direction: two patches beside a pleat face the same direction, and yet lie on each other.

use super::time_of_contact::Features;
use crate::solver::{
    math::{particle_lists::ParticleLists, sort::sort_by_particle},
    simd::LANES,
};

/// Bits of [`Patches::owned`]: corner k is bit k, and the edge from corner k to the next is bit k + 3.
pub(super) const EDGE_BIT: usize = 3;

/// Patches of up to [`LANES`] triangles.
#[derive(Clone, Debug, Default)]
pub(super) struct Patches {
    /// Corners of the triangles. A patch of fewer triangles repeats its last one.
    pub(super) triangles: Vec<[[u32; 3]; LANES]>,
    /// Corners and edges that a triangle tests; each belongs to one of its triangles.
    pub(super) owned: Vec<[u8; LANES]>,
    /// Patches with a higher index that share a particle with each patch, sorted.
    neighbours: ParticleLists<u32>,
    /// Number of triangles of the closed fan around each particle; 0 if they do not form exactly one.
    pub(super) fan_sizes: Vec<u8>,
}

impl Patches {
    /// Cuts triangles of `n` particles into patches.
    pub(super) fn new(n: usize, triangles: Vec<[u32; 3]>) -> Self {
        let mut at_particle = ParticleLists::default();
        at_particle.fill(n, || {
            let numbered = (0..).zip(&triangles);
            numbered.flat_map(|(t, corners)| corners.map(|corner| (corner, t)))
        });
        let all = &triangles;
        let around = |i: u32| {
            let triangles = at_particle.for_particle(i).iter();
            let corners = triangles.map(|&t| all[t as usize]);
            closed_fan_size(i, corners)
        };
        let mut patches = Self {
            fan_sizes: (0..n as u32).map(around).collect(),
            ..Self::default()
        };
        let mut growth = Growth {
            triangles: &triangles,
            at_particle: &at_particle,
            patch_of: vec![NONE; triangles.len()],
            reached_by: vec![NONE; n],
            in_patch: vec![0; n],
            in_any: vec![0; n],
        };
        for first in 0..triangles.len() as u32 {
            if growth.patch_of[first as usize] == NONE {
                let index = patches.triangles.len() as u32;
                patches.triangles.push(growth.grow(index, first));
            }
        }
        patches.assign_features(n);
        let pairs = growth.neighbours(patches.len());
        patches
            .neighbours
            .fill(patches.triangles.len(), || pairs.iter().copied());
        patches
    }

    /// Returns the number of patches.
    pub(super) fn len(&self) -> usize {
        self.triangles.len()
    }

    /// Returns the patches with a higher index that share a particle with this one.
    pub(super) fn neighbours(&self, patch: u32) -> &[u32] {
        self.neighbours.for_particle(patch)
    }

    /// Gives each particle and each edge to the first triangle that has it.
    fn assign_features(&mut self, n: usize) {
        let mut has_owner = vec![false; n];
        let mut edges: Vec<([u32; 2], usize, u8)> = Vec::new();
        self.owned = vec![[0; LANES]; self.len()];
        let lanes = self.triangles.as_flattened().iter();
        let owned = self.owned.as_flattened_mut();
        for (t, corners) in lanes.enumerate() {
            for k in 0..3 {
                if !std::mem::replace(&mut has_owner[corners[k] as usize], true) {
                    owned[t] |= 1 << k;
                }
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                edges.push(([a.min(b), a.max(b)], t, 1 << (k + EDGE_BIT)));
            }
        }
        sort_by_particle(&mut edges, n, |(edge, ..)| edge[0]);
        edges.dedup_by_key(|(edge, ..)| *edge);
        for (_, t, bit) in edges {
            owned[t] |= bit;
        }
    }

    /// Returns the corners of the triangle of a lane.
    pub(super) fn corners(&self, triangle: u32) -> [u32; 3] {
        let triangle = triangle as usize;
        self.triangles[triangle / LANES][triangle % LANES]
    }

    /// Returns the corners of all triangles of its patch.
    pub(super) fn around(&self, triangle: u32) -> &[u32] {
        self.triangles[triangle as usize / LANES].as_flattened()
    }

    /// Calls `test` with the pairs of features that two triangles test, those without a common particle.
    pub(super) fn for_each_features(
        &self,
        pair: [u32; 2],
        mut test: impl FnMut(Features, [u32; 4]),
    ) {
        let both = pair.map(|triangle| self.corners(triangle));
        for [one, other] in [[0, 1], [1, 0]] {
            let [a, b, c] = both[other];
            for corner in self.own_corners(pair[one]) {
                if ![a, b, c].contains(&corner) {
                    test(Features::ParticleTriangle, [corner, a, b, c]);
                }
            }
        }
        for [a, b] in self.own_edges(pair[0]) {
            for [c, d] in self.own_edges(pair[1]) {
                if a != c && a != d && b != c && b != d {
                    test(Features::EdgeEdge, [a, b, c, d]);
                }
            }
        }
    }

    /// Returns the corners that the triangle of a lane tests against others.
    fn own_corners(&self, triangle: u32) -> impl Iterator<Item = u32> + use<> {
        let (corners, owned) = (self.corners(triangle), self.owned(triangle));
        (0..3)
            .filter(move |k| owned & (1 << k) != 0)
            .map(move |k| corners[k])
    }

    /// Returns the edges that the triangle of a lane tests against others.
    fn own_edges(&self, triangle: u32) -> impl Iterator<Item = [u32; 2]> + use<> {
        let (corners, owned) = (self.corners(triangle), self.owned(triangle));
        (0..3)
            .filter(move |k| owned & (1 << (k + EDGE_BIT)) != 0)
            .map(move |k| [corners[k], corners[(k + 1) % 3]])
    }

    fn owned(&self, triangle: u32) -> u8 {
        let triangle = triangle as usize;
        self.owned[triangle / LANES][triangle % LANES]
    }
}

/// Returns the number of these triangles around a particle if they form exactly one closed fan, all wound the same way;
/// else 0.
fn closed_fan_size(particle: u32, triangles: impl Iterator<Item = [u32; 3]> + Clone) -> u8 {
    let edges = triangles.map(|[a, b, c]| match particle {
        i if i == a => [b, c],
        i if i == b => [c, a],
        _ => [a, b],
    });
    let Some([first, mut at]) = edges.clone().next() else {
        return 0;
    };
    let mut count = 1;
    while at != first && count < u8::MAX {
        let Some([_, next]) = edges.clone().find(|[from, _]| *from == at) else {
            return 0;
        };
        at = next;
        count += 1;
    }
    match usize::from(count) == edges.count() && at == first {
        true => count,
        false => 0,
    }
}

/// Marks triangles and particles that are in no patch.
const NONE: u32 = u32::MAX;

/// Cuts a mesh into patches.
struct Growth<'a> {
    triangles: &'a [[u32; 3]],
    /// Triangles at each particle.
    at_particle: &'a ParticleLists<u32>,
    /// Patch of each triangle.
    patch_of: Vec<u32>,
    /// Last patch that has reached each particle.
    reached_by: Vec<u32>,
    /// Number of triangles at each particle in the last patch that has reached it.
    in_patch: Vec<u32>,
    /// Number of triangles at each particle in all patches so far.
    in_any: Vec<u32>,
}

impl Growth<'_> {
    /// Grows a patch from its first triangle, so that it becomes round and leaves no gaps. Triangles that share an edge with it come
    /// first, and among them the one with most triangles of any patch around its corners; those of this one count three times.
    fn grow(&mut self, index: u32, first: u32) -> [[u32; 3]; LANES] {
        let mut patch = [[0; 3]; LANES];
        let (mut count, mut next) = (0, Some(first));
        let mut frontier: Vec<u32> = Vec::new();
        while let Some(t) = next {
            let corners = self.triangles[t as usize];
            self.patch_of[t as usize] = index;
            frontier.retain(|&other| other != t);
            patch[count] = corners;
            count += 1;
            for corner in corners {
                let i = corner as usize;
                self.in_any[i] += 1;
                if std::mem::replace(&mut self.reached_by[i], index) != index {
                    self.in_patch[i] = 0;
                    let others = self.at_particle.for_particle(corner).iter();
                    let free = others.filter(|&&other| self.patch_of[other as usize] == NONE);
                    frontier.extend(free);
                }
                self.in_patch[i] += 1;
            }
            if count == LANES {
                break;
            }
            frontier.sort_unstable();
            frontier.dedup();
            let fit = |&t: &u32| {
                let corners = self.triangles[t as usize].map(|i| i as usize);
                let reached = corners.map(|i| self.reached_by[i] == index);
                let shared = (0..3).filter(|&k| reached[k]);
                let around = shared.clone().map(|k| 2 * self.in_patch[corners[k]]);
                let around = around.chain(corners.map(|i| self.in_any[i]));
                (shared.count() > 1, around.sum::<u32>())
            };
            let reversed = frontier.iter().rev().copied();
            // The last of the greatest, so the lowest of them.
            next = reversed.max_by_key(fit);
        }
        let last = patch[count - 1];
        patch[count..].fill(last);
        patch
    }

    /// Returns the pairs of these `count` patches that share a particle, the lower index first, sorted.
    fn neighbours(&self, count: usize) -> Vec<(u32, u32)> {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (corners, &patch) in self.triangles.iter().zip(&self.patch_of) {
            for &corner in corners {
                for &t in self.at_particle.for_particle(corner) {
                    let other = self.patch_of[t as usize];
                    if other > patch && pairs.last() != Some(&(patch, other)) {
                        pairs.push((patch, other));
                    }
                }
            }
        }
        sort_by_particle(&mut pairs, count, |&(patch, _)| patch);
        pairs.dedup();
        pairs
    }
}
