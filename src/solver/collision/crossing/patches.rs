//! Patches: connected triangles that are tested together, with their swept bounding boxes and the directions that all
//! of them face.
//!
//! A smooth surface whose triangles all face one direction cannot cross itself (Volino, Magnenat-Thalmann,
//! "Efficient self-collision detection on smoothly discretized surface animations using geometrical shape
//! regularity", 1994), unless its outline does. So a patch is tested against itself only if it faces no direction as a
//! whole, and against a neighbour, which shares a particle with it, only if they and all their neighbours face no common
//! direction: two patches beside a pleat face the same direction, and yet lie on each other.

use super::triangle_pairs::boxes_overlap;
use crate::solver::{
    math::{particle_lists::ParticleLists, sort::sort_by_particle},
    simd::{Kernel, LANES},
};
use bevy::math::Vec3A;
use std::f32::consts::SQRT_2;

/// Smallest cosine between the normal of a triangle and a direction that it faces, about; less would be lost to the
/// motion of a step.
pub(super) const MIN_COSINE: f32 = 0.2;

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
            patch_at: vec![NONE; n],
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
    patch_at: Vec<u32>,
}

impl Growth<'_> {
    /// Grows a patch from its first triangle, adding each time the neighbour that shares most particles with it.
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
            if count == LANES {
                break;
            }
            for corner in corners {
                if std::mem::replace(&mut self.patch_at[corner as usize], index) != index {
                    let others = self.at_particle.for_particle(corner).iter();
                    let free = others.filter(|&&other| self.patch_of[other as usize] == NONE);
                    frontier.extend(free);
                }
            }
            frontier.sort_unstable();
            frontier.dedup();
            let shared = |&t: &u32| {
                let corners = self.triangles[t as usize].iter();
                corners
                    .filter(|&&i| self.patch_at[i as usize] == index)
                    .count()
            };
            let reversed = frontier.iter().rev().copied();
            // The last of the greatest, so the lowest of them.
            next = reversed.max_by_key(shared);
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

/// Bounding boxes of a moving patch, and the directions that it faces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PatchMotion {
    /// Lower and upper corner of the box when the motion begins and ends, m.
    boxes: [[Vec3A; 2]; 2],
    /// One bit for each direction that all triangles face during the whole motion.
    pub(super) facing: u32,
}

impl PatchMotion {
    /// Returns the lower corner of the box that the patch sweeps, m.
    pub(super) fn swept_low(&self) -> Vec3A {
        self.boxes[0][0].min(self.boxes[1][0])
    }

    /// Returns the upper corner of the box that the patch sweeps, m.
    pub(super) fn swept_high(&self) -> Vec3A {
        self.boxes[0][1].max(self.boxes[1][1])
    }

    /// Returns the motion that two patches have in common, m.
    #[inline(always)]
    pub(super) fn common_motion(&self, other: &Self) -> Vec3A {
        let motions = [self, other].map(|patch| {
            let [[low, high], [end_low, end_high]] = patch.boxes;
            (end_low - low) + (end_high - high)
        });
        (motions[0] + motions[1]) * 0.25
    }

    /// Returns the lower and upper corner of the box that the patch sweeps in addition to a `common` motion, m.
    #[inline(always)]
    pub(super) fn relative_box(&self, common: Vec3A) -> [Vec3A; 2] {
        let [[low, high], [end_low, end_high]] = self.boxes;
        [low.min(end_low - common), high.max(end_high - common)]
    }

    /// Returns whether the boxes overlap that both patches sweep in addition to their common motion.
    pub(super) fn may_touch(&self, other: &Self) -> bool {
        let common = self.common_motion(other);
        let [one, other] = [self, other].map(|patch| patch.relative_box(common));
        boxes_overlap(one, other, 0.0)
    }
}

/// Positions of all particles when the motion begins and ends, m.
#[derive(Clone, Copy)]
pub(super) struct Motion<'a> {
    pub(super) start: &'a [Vec3A],
    pub(super) end: &'a [Vec3A],
}

impl Motion<'_> {
    /// Returns the positions of the corners of a triangle at the start and at the end.
    #[inline(always)]
    pub(super) fn of(&self, [a, b, c]: [u32; 3]) -> [[Vec3A; 3]; 2] {
        let [a, b, c] = [a as usize, b as usize, c as usize];
        let (start, end) = (self.start, self.end);
        [[start[a], start[b], start[c]], [end[a], end[b], end[c]]]
    }
}

/// Computes [`PatchMotion`] for some patches.
pub(super) struct MeasureMotion<'a> {
    pub(super) patches: &'a Patches,
    /// Whether a patch is to be measured.
    pub(super) is_stale: &'a [bool],
    pub(super) motion: Motion<'a>,
    /// Distance by which the motion may differ along each axis, m.
    pub(super) search_margin: f32,
    /// Margin of the bounding boxes, m.
    pub(super) margin: f32,
    pub(super) measured: &'a mut [PatchMotion],
}

impl Kernel for MeasureMotion<'_> {
    #[inline(always)]
    fn run(self) {
        let patches = self.patches.triangles.iter().zip(self.is_stale);
        for ((triangles, &is_stale), measured) in patches.zip(self.measured) {
            if !is_stale {
                continue;
            }
            const NOTHING: [Vec3A; 2] = [Vec3A::INFINITY, Vec3A::NEG_INFINITY];
            let mut boxes = [NOTHING; 2];
            let [mut normals_low, mut normals_high] = NOTHING;
            let mut longest = Vec3A::ZERO;
            for corners in triangles {
                let moving = self.motion.of(*corners);
                for [a, b, c] in moving {
                    longest = longest.max((b - a).abs()).max((c - a).abs());
                }
                for ([low, high], [a, b, c]) in boxes.iter_mut().zip(moving) {
                    *low = low.min(a.min(b).min(c));
                    *high = high.max(a.max(b).max(c));
                }
                for normal in normals(moving) {
                    normals_low = normals_low.min(normal);
                    normals_high = normals_high.max(normal);
                }
            }
            let change = change_of_normals(longest.length(), self.search_margin);
            let mut facing = Faced::ALL;
            facing.keep_box(normals_low, normals_high, change);
            // The box of the normals of a curved patch contains many more.
            if facing.bits().count_ones() < FLAT {
                facing = Faced::ALL;
                for corners in triangles {
                    for normal in normals(self.motion.of(*corners)) {
                        facing.keep_box(normal, normal, change);
                    }
                }
            }
            *measured = PatchMotion {
                boxes: boxes.map(|[low, high]| [low - self.margin, high + self.margin]),
                facing: facing.bits(),
            };
        }
    }
}

/// Returns normals of a moving triangle between which its normal always lies: while the corners move along straight lines,
/// it moves along a quadratic Bézier curve with these control points.
#[inline(always)]
pub(super) fn normals([[a, b, c], [d, e, f]]: [[Vec3A; 3]; 2]) -> [Vec3A; 3] {
    let [ab, ac, de, df] = [b - a, c - a, e - d, f - d];
    let between = (ab.cross(df) + de.cross(ac)) * 0.5;
    [ab.cross(ac), between, de.cross(df)]
}

/// Returns by how much [`normals`] change at most, m², if no corner leaves its way by more than `margin`, m along each axis.
/// No edge is longer than `longest`, m.
#[inline(always)]
pub(super) fn change_of_normals(longest: f32, margin: f32) -> f32 {
    // Both ends of an edge may move.
    let change = 2.0 * 3_f32.sqrt() * margin;
    change * (2.0 * longest + change)
}

/// Least number of directions that a nearly flat patch faces.
const FLAT: u32 = 10;

/// Directions that a patch may face: the axes, the diagonals of the planes and those of the cube, each also in the
/// opposite sense; padded with copies.
const DIRECTIONS: [[f32; LANES]; 3] = [
    [
        1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0,
    ],
    [
        0.0, 1.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0,
    ],
    [
        0.0, 0.0, 1.0, 0.0, 0.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, -1.0, -1.0, -1.0,
    ],
];

/// Lengths of the directions.
const LENGTHS: [f32; LANES] = [
    1.0, 1.0, 1.0, SQRT_2, SQRT_2, SQRT_2, SQRT_2, SQRT_2, SQRT_2, SQRT_3, SQRT_3, SQRT_3, SQRT_3,
    SQRT_3, SQRT_3, SQRT_3,
];
const SQRT_3: f32 = 1.732_050_8;

/// Directions that several normals face.
struct Faced {
    /// Least component of any normal along each direction, and along its opposite, less the smallest that counts.
    least: [[f32; LANES]; 2],
}

impl Faced {
    const ALL: Self = Self {
        least: [[f32::INFINITY; LANES]; 2],
    };

    /// Keeps the directions that all normals in a box face too, and do so after any `change`, m². One of length 0 faces none.
    #[inline(always)]
    fn keep_box(&mut self, low: Vec3A, high: Vec3A, change: f32) {
        let most = low.abs().max(high.abs()).to_array();
        let least = MIN_COSINE * (most[0] + most[1] + most[2]);
        let (low, high) = (low.to_array(), high.to_array());
        let [along, against] = &mut self.least;
        for k in 0..LANES {
            let (mut from, mut to) = (0.0, 0.0);
            for axis in 0..3 {
                let direction = DIRECTIONS[axis][k];
                let (one, other) = (low[axis] * direction, high[axis] * direction);
                from += one.min(other);
                to += one.max(other);
            }
            let least = least.max(change * LENGTHS[k]);
            along[k] = along[k].min(from - least);
            against[k] = against[k].min(-to - least);
        }
    }

    #[inline(always)]
    fn bits(&self) -> u32 {
        let mut bits = 0;
        for k in 0..LANES {
            bits |= u32::from(self.least[0][k] > 0.0) << k;
            bits |= u32::from(self.least[1][k] > 0.0) << (k + LANES);
        }
        bits
    }
}
