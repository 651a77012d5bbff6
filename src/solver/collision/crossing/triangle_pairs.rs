//! Pairs of triangles that may touch: overlapping swept bounding boxes, and planes that separate two triangles during
//! the whole motion.

#![allow(
    clippy::needless_range_loop,
    reason = "plain loops over lanes are vectorized"
)]

use super::patches::{Motion, Patches};
use crate::solver::simd::{Kernel, LANES, dispatch};
use bevy::math::{DVec3, Vec3A};

/// Swept bounding boxes of the triangles of a patch, m.
#[derive(Clone, Copy, Debug)]
struct PatchBoxes {
    low: Lanes,
    high: Lanes,
}

/// Vectors of all triangles of a patch.
type Lanes = [[f32; LANES]; 3];

/// Triangles of the patches that are near others.
#[derive(Clone, Debug, Default)]
pub(super) struct NearPatches {
    /// Index into `boxes` for each patch; [`NONE`] if they have not been computed.
    index: Vec<u32>,
    boxes: Vec<PatchBoxes>,
}

const NONE: u32 = u32::MAX;

impl NearPatches {
    /// Reserves memory for this number of patches.
    pub(super) fn reserve(&mut self, patches: usize) {
        self.index.reserve(patches);
        self.boxes.reserve(patches);
    }

    /// Collects the pairs of triangles of these pairs of patches that may come within `gap` of each other, m, as indices of
    /// lanes, at most `max_pairs`. `motion` is known up to `margin`, m, along each axis.
    pub(super) fn find_pairs(
        &mut self,
        patches: &Patches,
        motion: Motion,
        [margin, gap]: [f32; 2],
        patch_pairs: &[[u32; 2]],
        max_pairs: usize,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        self.index.clear();
        self.index.resize(patches.len(), NONE);
        self.boxes.clear();
        dispatch(FindTrianglePairs {
            near: self,
            patches,
            motion,
            margin: margin + 0.5 * gap,
            // Both triangles may move by the margin along each axis, from their positions at the search.
            gap: gap + 2.0 * 3_f32.sqrt() * margin,
            patch_pairs,
            max_pairs,
            pairs,
        });
    }
}

struct FindTrianglePairs<'a> {
    near: &'a mut NearPatches,
    patches: &'a Patches,
    motion: Motion<'a>,
    margin: f32,
    /// Distance beyond which triangles cannot touch, m.
    gap: f32,
    patch_pairs: &'a [[u32; 2]],
    max_pairs: usize,
    pairs: &'a mut Vec<[u32; 2]>,
}

impl Kernel for FindTrianglePairs<'_> {
    #[inline(always)]
    fn run(self) {
        let NearPatches { index, boxes } = self.near;
        for &[a, b] in self.patch_pairs {
            let triangles = &self.patches.triangles[a as usize];
            let others = &self.patches.triangles[b as usize];
            for (patch, triangles) in [(a, triangles), (b, others)] {
                let index = &mut index[patch as usize];
                if *index == NONE {
                    *index = boxes.len() as u32;
                    boxes.push(PatchBoxes::load(triangles, self.motion, self.margin));
                }
            }
            let one_box = &boxes[index[a as usize] as usize];
            let other_box = &boxes[index[b as usize] as usize];
            for lane in 0..LANES {
                if lane > 0 && triangles[lane] == triangles[lane - 1] {
                    break;
                }
                let mut found = one_box.overlaps(lane, other_box);
                if a == b {
                    // Each pair once.
                    found &= !0 << 8 << (8 * lane);
                }
                while found != 0 {
                    let hit = found.trailing_zeros() as usize / 8;
                    found &= found - 1;
                    let repeats = hit > 0 && others[hit] == others[hit - 1];
                    if repeats {
                        continue;
                    }
                    let corners = [triangles[lane], others[hit]];
                    if MovingPair::new(corners, self.motion).are_separated(self.gap) {
                        continue;
                    }
                    if self.pairs.len() == self.max_pairs {
                        return;
                    }
                    let first = [a * LANES as u32, b * LANES as u32];
                    self.pairs
                        .push([first[0] + lane as u32, first[1] + hit as u32]);
                }
            }
        }
    }
}

impl PatchBoxes {
    #[inline(always)]
    fn load(triangles: &[[u32; 3]; LANES], motion: Motion, margin: f32) -> Self {
        let mut boxes = Self {
            low: [[0.0; LANES]; 3],
            high: [[0.0; LANES]; 3],
        };
        for lane in 0..LANES {
            let [low, high] = bounds(motion.of(triangles[lane]));
            for axis in 0..3 {
                boxes.low[axis][lane] = low[axis] - margin;
                boxes.high[axis][lane] = high[axis] + margin;
            }
        }
        boxes
    }

    /// Tests the box of a lane against all boxes of a patch: the lowest bit of a byte for each that overlaps.
    #[inline(always)]
    fn overlaps(&self, lane: usize, other: &Self) -> u128 {
        let mut hits = [1_u8; LANES];
        for axis in 0..3 {
            let (from, to) = (self.low[axis][lane], self.high[axis][lane]);
            for l in 0..LANES {
                let overlaps = (other.low[axis][l] <= to) & (other.high[axis][l] >= from);
                hits[l] &= u8::from(overlaps);
            }
        }
        u128::from_le_bytes(hits)
    }
}

/// Returns the bounding box of a triangle given when the motion begins and ends.
#[inline(always)]
fn bounds([[a, b, c], [d, e, f]]: [[Vec3A; 3]; 2]) -> [Vec3A; 2] {
    [
        a.min(b).min(c).min(d).min(e).min(f),
        a.max(b).max(c).max(d).max(e).max(f),
    ]
}

/// Returns whether the swept bounding boxes of two triangles are within `gap` of each other, m. Each triangle is given when
/// the motion begins and ends.
pub(super) fn boxes_overlap(one: [[Vec3A; 3]; 2], other: [[Vec3A; 3]; 2], gap: f32) -> bool {
    let ([low, high], [other_low, other_high]) = (bounds(one), bounds(other));
    let (low, high) = (low - gap, high + gap);
    low.cmple(other_high).all() && other_low.cmple(high).all()
}

/// Two moving triangles.
struct MovingPair {
    /// Positions of the corners when the motion begins and ends, m.
    one: [[Vec3A; 3]; 2],
    other: [[Vec3A; 3]; 2],
    /// One bit for each corner of the first triangle, and of the second, that both have in common.
    common: [u32; 2],
}

impl MovingPair {
    fn new([one, other]: [[u32; 3]; 2], motion: Motion) -> Self {
        let mut common = [0; 2];
        for k in 0..3 {
            for l in 0..3 {
                let same = u32::from(one[k] == other[l]);
                common[0] |= same << k;
                common[1] |= same << l;
            }
        }
        Self {
            one: motion.of(one),
            other: motion.of(other),
            common,
        }
    }

    /// Returns whether a plane with a fixed normal keeps the triangles at least `gap` apart, m, at the start and at the end,
    /// and so during the whole motion, in which all corners move along straight lines; the plane moves along. Common
    /// particles lie between the others.
    fn are_separated(&self, gap: f32) -> bool {
        let [one, other] = [&self.one, &self.other];
        // Common corners add what they subtract.
        let between = |end: usize| {
            let [[a, b, c], [d, e, f]] = [one[end], other[end]];
            (d + e + f) - (a + b + c)
        };
        let normal = |[a, b, c]: [Vec3A; 3]| (b - a).cross(c - a);
        self.separates(between(0), gap)
            || self.separates(normal(one[0]), gap)
            || self.separates(normal(other[0]), gap)
            || self.separates(between(1), gap)
    }

    /// Returns whether planes with this normal, in either sense, separate the triangles at both ends.
    #[inline]
    fn separates(&self, along: Vec3A, gap: f32) -> bool {
        let gap = gap * along.length();
        let (mut before, mut behind) = (true, true);
        for (one, other) in self.one.iter().zip(&self.other) {
            // Of the free corners of either, and of the common ones.
            let mut low = [f32::INFINITY; 3];
            let mut high = [f32::NEG_INFINITY; 3];
            let sides = [(one, self.common[0], 0), (other, self.common[1], 1)];
            for (corners, common, side) in sides {
                for (k, corner) in corners.iter().enumerate() {
                    let component = along.dot(*corner);
                    let list = if common >> k & 1 == 0 { side } else { 2 };
                    low[list] = low[list].min(component);
                    high[list] = high[list].max(component);
                }
            }
            let gaps = |from: usize, to: usize| low[to] - high[from] > gap;
            before &= gaps(0, 1) & gaps(0, 2) & gaps(2, 1);
            behind &= gaps(1, 0) & gaps(1, 2) & gaps(2, 0);
        }
        before | behind
    }
}

/// Returns whether an edge passes through a triangle (Möller, Trumbore, "Fast, minimum storage ray/triangle
/// intersection", 1997).
pub(super) fn edge_crosses([from, to]: [DVec3; 2], [a, b, c]: [DVec3; 3]) -> bool {
    let (direction, ab, ac) = (to - from, b - a, c - a);
    let across = direction.cross(ac);
    let volume = ab.dot(across);
    if volume == 0.0 {
        return false;
    }
    let from_corner = from - a;
    let u = from_corner.dot(across) / volume;
    let turned = from_corner.cross(ab);
    let v = direction.dot(turned) / volume;
    let t = ac.dot(turned) / volume;
    u > 0.0 && v > 0.0 && u + v < 1.0 && t > 0.0 && t < 1.0
}
