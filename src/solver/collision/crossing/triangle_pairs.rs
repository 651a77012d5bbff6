//! Pairs of triangles that may touch: overlapping swept bounding boxes, and planes that separate two triangles during
//! the whole motion.

#![allow(
    clippy::needless_range_loop,
    reason = "plain loops over lanes are vectorized"
)]

use super::{
    fans::Fans,
    near_patch::{Lanes, NearPatch, max, min},
    patch_motion::{MIN_COSINE, Motion, PatchMotion, change_of_normals, normals},
    patches::Patches,
};
use crate::solver::simd::{Kernel, LANES, dispatch, select};
use bevy::math::{DVec3, Vec3A};

/// Triangles of the patches that are near others.
#[derive(Clone, Debug, Default)]
pub(super) struct NearPatches {
    /// Index into `near` for each patch; [`NONE`] if it is not there.
    index: Vec<u32>,
    near: Vec<NearPatch>,
    fans: Fans,
}

const NONE: u32 = u32::MAX;

impl NearPatches {
    /// Reserves memory for these patches.
    pub(super) fn reserve(&mut self, patches: &Patches) {
        self.index.reserve(patches.len());
        self.near.reserve(patches.len());
        self.fans.reserve(patches.fan_sizes.len());
    }

    /// Collects the pairs of triangles of these pairs of patches that may come within `gap` of each other, m, as indices of
    /// lanes, at most so many and a few, and measures the gap of at most so many. The motion of particles and patches is known up to
    /// `margin`, m, along each axis. Returns whether these are all.
    pub(super) fn find_pairs(
        &mut self,
        patches: &Patches,
        (motion, measured): (Motion, &[PatchMotion]),
        [margin, gap]: [f32; 2],
        patch_pairs: &[[u32; 2]],
        most: [usize; 2],
        pairs: &mut Vec<[u32; 2]>,
    ) -> bool {
        let mut is_complete = true;
        dispatch(FindTrianglePairs {
            near: self,
            patches,
            motion,
            measured,
            search_margin: margin,
            margin: margin + 0.5 * gap,
            // Both triangles may move by the margin along each axis, from their positions at the search.
            gap: gap + 2.0 * 3_f32.sqrt() * margin,
            patch_pairs,
            most,
            pairs: &mut *pairs,
            is_complete: &mut is_complete,
        });
        is_complete
    }

    /// Loads the patches of these pairs. `motion` is known up to `margin`, m along each axis.
    #[inline(always)]
    fn load(&mut self, patches: &Patches, motion: Motion, margin: f32, patch_pairs: &[[u32; 2]]) {
        let Self { index, near, fans } = self;
        index.clear();
        index.resize(patches.len(), NONE);
        near.clear();
        for &patch in patch_pairs.as_flattened() {
            let index = &mut index[patch as usize];
            if *index == NONE {
                *index = near.len() as u32;
                near.push(NearPatch::load(&patches.triangles[patch as usize], motion));
            }
        }
        fans.find_unfolded(near, &patches.fan_sizes, margin);
    }

    #[inline(always)]
    fn get(&self, patch: u32) -> &NearPatch {
        &self.near[self.index[patch as usize] as usize]
    }
}

struct FindTrianglePairs<'a> {
    near: &'a mut NearPatches,
    patches: &'a Patches,
    motion: Motion<'a>,
    measured: &'a [PatchMotion],
    /// Distance by which the motion may differ along each axis, m, and that with half of the gap.
    search_margin: f32,
    margin: f32,
    /// Distance beyond which triangles cannot touch, m.
    gap: f32,
    patch_pairs: &'a [[u32; 2]],
    /// Largest numbers of pairs that are found, and of those measured.
    most: [usize; 2],
    pairs: &'a mut Vec<[u32; 2]>,
    is_complete: &'a mut bool,
}

impl Kernel for FindTrianglePairs<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            patches, motion, ..
        } = self;
        (self.near).load(patches, motion, self.search_margin, self.patch_pairs);
        let mut batch = PairBatch::EMPTY;
        let [most, mut left] = self.most;
        for &[a, b] in self.patch_pairs {
            let (one, other) = (self.near.get(a), self.near.get(b));
            let (of_one, of_other) = (&self.measured[a as usize], &self.measured[b as usize]);
            let lanes = match a == b {
                true => [one.lanes(); 2],
                false => one.lanes_near(other, one.towards(other), self.gap),
            };
            if lanes[0] == 0 || lanes[1] == 0 {
                continue;
            }
            let common = of_one.common_motion(of_other);
            // Written out: `array::map` is not always inlined, and then not compiled for the SIMD level.
            let boxes = one.boxes(common, self.margin);
            let other_boxes = other.boxes(common, self.margin);
            let mut rows = lanes[0] & boxes.overlapping(of_other.relative_box(common));
            let columns = lanes[1] & other_boxes.overlapping(of_one.relative_box(common));
            let are_joined = a == b || self.patches.neighbours(a).contains(&b);
            if rows == 0 || columns == 0 || !are_joined && one.is_apart(other, self.gap) {
                continue;
            }
            while rows != 0 {
                let lane = rows.trailing_zeros() as usize;
                rows &= rows - 1;
                let mut found = boxes.overlaps(lane, &other_boxes) & columns;
                if a == b {
                    // Each pair once.
                    found &= !0 << 1 << lane;
                }
                if are_joined && found != 0 {
                    found &= !other.joined_unfolded(one, lane);
                }
                while found != 0 {
                    if self.pairs.len() >= most || left == 0 {
                        *self.is_complete = false;
                        return;
                    }
                    left -= 1;
                    let hit = found.trailing_zeros() as usize;
                    found &= found - 1;
                    let first = [a * LANES as u32, b * LANES as u32];
                    let pair = [first[0] + lane as u32, first[1] + hit as u32];
                    let corners = [
                        self.patches.triangles[a as usize][lane],
                        self.patches.triangles[b as usize][hit],
                    ];
                    if share_edge(corners) {
                        let both = corners.map(|corners| self.motion.of(corners));
                        if !are_unfolded(both, self.search_margin) {
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

/// Returns whether two moving triangles that share an edge face one direction during the whole motion, which is known up to
/// `margin`, m along each axis. They can touch only if they are folded onto each other.
#[inline(always)]
fn are_unfolded(pair: [[[Vec3A; 3]; 2]; 2], margin: f32) -> bool {
    let all = pair.map(normals);
    let direction = all[0][0].normalize_or_zero() + all[1][0].normalize_or_zero();
    let edges = pair
        .as_flattened()
        .iter()
        .flat_map(|[a, b, c]| [b - a, c - a]);
    let longest = edges
        .map(|edge| edge.length_squared())
        .fold(0.0, max)
        .sqrt();
    let change = change_of_normals(longest, margin);
    let length = direction.length();
    let mut all = all.as_flattened().iter();
    all.all(|normal| {
        let least = change.max(MIN_COSINE * normal.length());
        direction.dot(*normal) > least * length
    })
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
