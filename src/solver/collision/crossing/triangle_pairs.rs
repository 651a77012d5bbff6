//! Pairs of triangles that may touch: overlapping swept bounding boxes, and planes that separate two triangles during
//! the whole motion.

#![allow(
    clippy::needless_range_loop,
    reason = "plain loops over lanes are vectorized"
)]

use super::patches::{MIN_COSINE, Motion, Patches, normals};
use crate::solver::simd::{Kernel, LANES, dispatch, join_bits, lane_bit, select};
use bevy::math::{DVec3, Vec3A};

/// Triangles of a patch.
#[derive(Clone, Copy, Debug)]
struct NearPatch {
    /// Swept bounding boxes of the triangles, m.
    low: Lanes,
    high: Lanes,
    /// Corners of the triangles, when the motion begins and ends, m.
    at: [[Lanes; 3]; 2],
    /// Sum of all corners when the motion begins, m, and of all normals.
    sum: Vec3A,
    normal: Vec3A,
}

/// Vectors of all triangles of a patch.
type Lanes = [[f32; LANES]; 3];

/// Triangles of the patches that are near others.
#[derive(Clone, Debug, Default)]
pub(super) struct NearPatches {
    /// Index into `near` for each patch; [`NONE`] if it is not there.
    index: Vec<u32>,
    near: Vec<NearPatch>,
}

const NONE: u32 = u32::MAX;

impl NearPatches {
    /// Reserves memory for this number of patches.
    pub(super) fn reserve(&mut self, patches: usize) {
        self.index.reserve(patches);
        self.near.reserve(patches);
    }

    /// Collects the pairs of triangles of these pairs of patches that may come within `gap` of each other, m, as indices of
    /// lanes, at most `max_pairs` and a few. `motion` is known up to `margin`, m, along each axis. Returns whether these are
    /// all.
    pub(super) fn find_pairs(
        &mut self,
        patches: &Patches,
        motion: Motion,
        [margin, gap]: [f32; 2],
        patch_pairs: &[[u32; 2]],
        max_pairs: usize,
        pairs: &mut Vec<[u32; 2]>,
    ) -> bool {
        self.index.clear();
        self.index.resize(patches.len(), NONE);
        self.near.clear();
        dispatch(FindTrianglePairs {
            near: self,
            patches,
            motion,
            margin: margin + 0.5 * gap,
            // Both triangles may move by the margin along each axis, from their positions at the search.
            gap: gap + 2.0 * 3_f32.sqrt() * margin,
            patch_pairs,
            max_pairs,
            pairs: &mut *pairs,
        });
        pairs.len() < max_pairs
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
        let NearPatches { index, near } = self.near;
        let mut batch = PairBatch::EMPTY;
        for &[a, b] in self.patch_pairs {
            let triangles = &self.patches.triangles[a as usize];
            let others = &self.patches.triangles[b as usize];
            for (patch, triangles) in [(a, triangles), (b, others)] {
                let index = &mut index[patch as usize];
                if *index == NONE {
                    *index = near.len() as u32;
                    near.push(NearPatch::load(triangles, self.motion, self.margin));
                }
            }
            let one = &near[index[a as usize] as usize];
            let other = &near[index[b as usize] as usize];
            if a != b && one.is_apart(other, self.gap) {
                continue;
            }
            for lane in 0..LANES {
                if lane > 0 && triangles[lane] == triangles[lane - 1] {
                    break;
                }
                let mut found = one.overlaps(lane, other);
                if a == b {
                    // Each pair once.
                    found &= !0 << 1 << lane;
                }
                while found != 0 {
                    if self.pairs.len() >= self.max_pairs {
                        return;
                    }
                    let hit = found.trailing_zeros() as usize;
                    found &= found - 1;
                    let repeats = hit > 0 && others[hit] == others[hit - 1];
                    if repeats {
                        continue;
                    }
                    let first = [a * LANES as u32, b * LANES as u32];
                    let pair = [first[0] + lane as u32, first[1] + hit as u32];
                    let corners = [triangles[lane], others[hit]];
                    if share_edge(corners) {
                        if !are_unfolded(corners.map(|corners| self.motion.of(corners))) {
                            self.pairs.push(pair);
                        }
                        continue;
                    }
                    batch.push(pair, corners, self.motion);
                    if batch.len == LANES {
                        batch.keep_near(self.gap, self.pairs);
                    }
                }
            }
        }
        batch.keep_near(self.gap, self.pairs);
    }
}

impl NearPatch {
    #[inline(always)]
    fn load(triangles: &[[u32; 3]; LANES], motion: Motion, margin: f32) -> Self {
        let mut patch = Self {
            low: [[0.0; LANES]; 3],
            high: [[0.0; LANES]; 3],
            at: [[[[0.0; LANES]; 3]; 3]; 2],
            sum: Vec3A::ZERO,
            normal: Vec3A::ZERO,
        };
        for lane in 0..LANES {
            let moving = motion.of(triangles[lane]);
            let [low, high] = bounds(moving.as_flattened().iter().copied());
            for axis in 0..3 {
                patch.low[axis][lane] = low[axis] - margin;
                patch.high[axis][lane] = high[axis] + margin;
            }
            for (end, corners) in moving.iter().enumerate() {
                for (k, corner) in corners.iter().enumerate() {
                    for axis in 0..3 {
                        patch.at[end][k][axis][lane] = corner[axis];
                    }
                }
            }
            let [a, b, c] = moving[0];
            patch.sum += a + b + c;
            patch.normal += (b - a).cross(c - a);
        }
        patch
    }

    /// Returns whether a plane along either patch keeps the two at least `gap` apart, m, during the whole motion.
    #[inline(always)]
    fn is_apart(&self, other: &Self, gap: f32) -> bool {
        let across = other.sum - self.sum;
        for normal in [self.normal, other.normal] {
            let normal = if normal.dot(across) < 0.0 {
                -normal
            } else {
                normal
            };
            let least = gap * normal.length();
            let mut is_apart = true;
            for end in 0..2 {
                let [_, from] = self.extent(normal, end);
                let [to, _] = other.extent(normal, end);
                is_apart &= to - from > least;
            }
            if is_apart {
                return true;
            }
        }
        false
    }

    /// Returns the least and the greatest component of all corners along an axis, when the motion begins or ends, times the
    /// length of the axis.
    #[inline(always)]
    fn extent(&self, along: Vec3A, end: usize) -> [f32; 2] {
        let (ax, ay, az) = (along.x, along.y, along.z);
        let mut low = [f32::INFINITY; LANES];
        let mut high = [f32::NEG_INFINITY; LANES];
        for [x, y, z] in &self.at[end] {
            for l in 0..LANES {
                let component = ax * x[l] + ay * y[l] + az * z[l];
                low[l] = min(low[l], component);
                high[l] = max(high[l], component);
            }
        }
        let mut half = LANES / 2;
        while half > 0 {
            for l in 0..half {
                low[l] = min(low[l], low[l + half]);
                high[l] = max(high[l], high[l + half]);
            }
            half /= 2;
        }
        [low[0], high[0]]
    }

    /// Tests the box of a lane against all boxes of a patch: a bit for each that overlaps.
    #[inline(always)]
    fn overlaps(&self, lane: usize, other: &Self) -> u32 {
        let from = self.low.map(|low| low[lane]);
        let to = self.high.map(|high| high[lane]);
        let mut hits = [0_u32; LANES];
        for l in 0..LANES {
            let mut overlaps = true;
            for axis in 0..3 {
                overlaps &= other.low[axis][l] <= to[axis];
                overlaps &= other.high[axis][l] >= from[axis];
            }
            hits[l] = lane_bit(l, overlaps);
        }
        join_bits(hits)
    }
}

/// Returns the bounding box of points.
#[inline(always)]
pub(super) fn bounds(points: impl IntoIterator<Item = Vec3A>) -> [Vec3A; 2] {
    let all = points.into_iter();
    all.fold([Vec3A::INFINITY, Vec3A::NEG_INFINITY], |[low, high], at| {
        [low.min(at), high.max(at)]
    })
}

/// Returns whether two triangles have two corners in common, or all.
fn share_edge([one, other]: [[u32; 3]; 2]) -> bool {
    one.iter().filter(|corner| other.contains(corner)).count() > 1
}

/// Returns whether two moving triangles that share an edge face one direction during the whole motion. They can touch only
/// if they are folded onto each other.
#[inline(always)]
fn are_unfolded(pair: [[[Vec3A; 3]; 2]; 2]) -> bool {
    let all = pair.map(normals);
    let direction = all[0][0].normalize_or_zero() + all[1][0].normalize_or_zero();
    let least = MIN_COSINE * direction.length();
    let mut all = all.as_flattened().iter();
    all.all(|normal| direction.dot(*normal) > least * normal.length())
}

/// Returns whether two bounding boxes are within `gap` of each other, m.
pub(super) fn boxes_overlap(
    [low, high]: [Vec3A; 2],
    [other_low, other_high]: [Vec3A; 2],
    gap: f32,
) -> bool {
    let (low, high) = (low - gap, high + gap);
    low.cmple(other_high).all() && other_low.cmple(high).all()
}

/// Pairs of moving triangles, one in each lane.
struct PairBatch {
    len: usize,
    /// Indices of the triangles.
    pairs: [[u32; 2]; LANES],
    /// Corners of both triangles, when the motion begins and ends, m.
    at: [[[Lanes; 3]; 2]; 2],
    /// 1 for each corner of either triangle that both have in common, else 0.
    common: [Lanes; 2],
}

impl PairBatch {
    const EMPTY: Self = Self {
        len: 0,
        pairs: [[0; 2]; LANES],
        at: [[[[[0.0; LANES]; 3]; 3]; 2]; 2],
        common: [[[0.0; LANES]; 3]; 2],
    };

    /// Adds a pair of triangles with these corners.
    #[inline(always)]
    fn push(&mut self, pair: [u32; 2], corners: [[u32; 3]; 2], motion: Motion) {
        let l = self.len;
        self.len += 1;
        self.pairs[l] = pair;
        for side in 0..2 {
            let other = corners[1 - side];
            let moving = motion.of(corners[side]);
            for k in 0..3 {
                let is_common = other.contains(&corners[side][k]);
                self.common[side][k][l] = f32::from(u8::from(is_common));
                for end in 0..2 {
                    let at = moving[end][k].to_array();
                    for axis in 0..3 {
                        self.at[side][end][k][axis][l] = at[axis];
                    }
                }
            }
        }
    }

    /// Appends the pairs that no plane keeps at least `gap` apart, m, and empties the batch. A plane with a fixed normal that
    /// separates two triangles at the start and at the end does so during the whole motion, in which all corners move along
    /// straight lines and the plane moves along. A common particle lies between the others; there may be one.
    #[inline(always)]
    fn keep_near(&mut self, gap: f32, pairs: &mut Vec<[u32; 2]>) {
        let [one, other] = &self.at;
        let axes = [
            between(one[0], other[0]),
            normal(one[0]),
            normal(other[0]),
            between(one[1], other[1]),
        ];
        let mut widest = [f32::NEG_INFINITY; LANES];
        for along in &axes {
            self.measure_gaps(along, gap, &mut widest);
        }
        for (pair, widest) in self.pairs.iter().zip(widest).take(self.len) {
            if widest <= 0.0 {
                pairs.push(*pair);
            }
        }
        self.len = 0;
    }

    /// Raises `widest` to the gaps that planes with this normal, in either sense, leave between the triangles, less
    /// `gap`; both times the length of the normal.
    #[inline(always)]
    fn measure_gaps(&self, along: &Lanes, gap: f32, widest: &mut [f32; LANES]) {
        let [ax, ay, az] = along;
        let mut before = [f32::INFINITY; LANES];
        let mut behind = [f32::INFINITY; LANES];
        for end in 0..2 {
            // Of the free corners of either, and of the common ones.
            let mut low = [[f32::INFINITY; LANES]; 3];
            let mut high = [[f32::NEG_INFINITY; LANES]; 3];
            for side in 0..2 {
                for k in 0..3 {
                    let [x, y, z] = &self.at[side][end][k];
                    let common = &self.common[side][k];
                    for l in 0..LANES {
                        let component = ax[l] * x[l] + ay[l] * y[l] + az[l] * z[l];
                        let is_common = common[l] > 0.0;
                        let own = [
                            select(is_common, f32::INFINITY, component),
                            select(is_common, f32::NEG_INFINITY, component),
                        ];
                        let shared = [
                            select(is_common, component, f32::INFINITY),
                            select(is_common, component, f32::NEG_INFINITY),
                        ];
                        low[side][l] = min(low[side][l], own[0]);
                        high[side][l] = max(high[side][l], own[1]);
                        low[2][l] = min(low[2][l], shared[0]);
                        high[2][l] = max(high[2][l], shared[1]);
                    }
                }
            }
            let [low, other_low, common_low] = &low;
            let [high, other_high, common_high] = &high;
            for l in 0..LANES {
                let around = min(common_low[l] - high[l], other_low[l] - common_high[l]);
                before[l] = min(before[l], min(other_low[l] - high[l], around));
                let around = min(common_low[l] - other_high[l], low[l] - common_high[l]);
                behind[l] = min(behind[l], min(low[l] - other_high[l], around));
            }
        }
        for l in 0..LANES {
            let length = (ax[l] * ax[l] + ay[l] * ay[l] + az[l] * az[l]).sqrt();
            widest[l] = max(widest[l], max(before[l], behind[l]) - gap * length);
        }
    }
}

/// Returns the directions from the centres of triangles to those of others. Common corners add what they subtract.
#[inline(always)]
fn between([a, b, c]: [Lanes; 3], [d, e, f]: [Lanes; 3]) -> Lanes {
    let mut between = [[0.0; LANES]; 3];
    for axis in 0..3 {
        for l in 0..LANES {
            between[axis][l] =
                (d[axis][l] + e[axis][l] + f[axis][l]) - (a[axis][l] + b[axis][l] + c[axis][l]);
        }
    }
    between
}

/// Returns normals of triangles.
#[inline(always)]
fn normal([a, b, c]: [Lanes; 3]) -> Lanes {
    let mut normal = [[0.0; LANES]; 3];
    for l in 0..LANES {
        let (ux, uy, uz) = (b[0][l] - a[0][l], b[1][l] - a[1][l], b[2][l] - a[2][l]);
        let (vx, vy, vz) = (c[0][l] - a[0][l], c[1][l] - a[1][l], c[2][l] - a[2][l]);
        normal[0][l] = uy * vz - uz * vy;
        normal[1][l] = uz * vx - ux * vz;
        normal[2][l] = ux * vy - uy * vx;
    }
    normal
}

/// Returns the smaller of two numbers that are not NaN.
#[inline(always)]
fn min(a: f32, b: f32) -> f32 {
    select(a < b, a, b)
}

/// Returns the larger of two numbers that are not NaN.
#[inline(always)]
fn max(a: f32, b: f32) -> f32 {
    select(a > b, a, b)
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
