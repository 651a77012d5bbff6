//! Moving triangles of a patch that is near others, one in each lane.

#![allow(
    clippy::needless_range_loop,
    reason = "plain loops over lanes are vectorized"
)]

use super::patch_motion::{Motion, change_of_normals};
use crate::solver::simd::{LANES, join_bits, lane_bit, select};
use bevy::math::Vec3A;

/// Vectors of all triangles of a patch.
pub(super) type Lanes = [[f32; LANES]; 3];

/// Triangles of a patch.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearPatch {
    /// Number of triangles. The other lanes repeat the last one.
    pub(super) len: usize,
    /// Corners of the triangles.
    pub(super) corners: [[u32; LANES]; 3],
    /// For each corner, one bit for each lane in which no two triangles around that corner cross.
    pub(super) unfolded: [u32; 3],
    /// Positions of the corners when the motion begins and ends, m.
    at: [[Lanes; 3]; 2],
    /// Sum of all corners when the motion begins, m, and of all normals.
    sum: Vec3A,
    normal: Vec3A,
}

/// Bounding boxes of all triangles of a patch.
pub(super) struct Boxes {
    low: Lanes,
    high: Lanes,
}

impl NearPatch {
    #[inline(always)]
    pub(super) fn load(triangles: &[[u32; 3]; LANES], motion: Motion) -> Self {
        let mut patch = Self {
            len: LANES,
            corners: [[0; LANES]; 3],
            unfolded: [0; 3],
            at: [[[[0.0; LANES]; 3]; 3]; 2],
            sum: Vec3A::ZERO,
            normal: Vec3A::ZERO,
        };
        for lane in 0..LANES {
            if lane > 0 && triangles[lane] == triangles[lane - 1] {
                patch.len = patch.len.min(lane);
            }
            let moving = motion.of(triangles[lane]);
            for k in 0..3 {
                patch.corners[k][lane] = triangles[lane][k];
                for axis in 0..3 {
                    patch.at[0][k][axis][lane] = moving[0][k][axis];
                    patch.at[1][k][axis][lane] = moving[1][k][axis];
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
    pub(super) fn is_apart(&self, other: &Self, gap: f32) -> bool {
        for normal in [self.normal, other.normal] {
            let faces_other = normal.dot(self.towards(other)) >= 0.0;
            let along = if faces_other { normal } else { -normal };
            if self.lanes_near(other, along, gap)[0] == 0 {
                return true;
            }
        }
        false
    }

    /// Returns the triangles of this patch and those of `other` that may come within `gap` of the other patch, m: one bit for
    /// each that no plane perpendicular to an axis from this patch to the other keeps apart from it during the whole motion.
    #[inline(always)]
    pub(super) fn lanes_near(&self, other: &Self, along: Vec3A, gap: f32) -> [u32; 2] {
        let gap = gap * along.length();
        let (mut own_hits, mut other_hits) = ([0; LANES], [0; LANES]);
        for end in 0..2 {
            let (_, own_high) = self.extents(along, end);
            let (other_low, _) = other.extents(along, end);
            let least = reduce(other_low, min) - gap;
            let most = reduce(own_high, max) + gap;
            for l in 0..LANES {
                own_hits[l] |= lane_bit(l, own_high[l] >= least);
                other_hits[l] |= lane_bit(l, other_low[l] <= most);
            }
        }
        [
            self.lanes() & join_bits(own_hits),
            other.lanes() & join_bits(other_hits),
        ]
    }

    /// Returns the direction from the centroid of this patch to that of another, of any length.
    #[inline(always)]
    pub(super) fn towards(&self, other: &Self) -> Vec3A {
        other.sum - self.sum
    }

    /// Returns the least and the greatest component of the corners of each triangle along an axis, when the motion begins or
    /// ends, times the length of the axis.
    #[inline(always)]
    fn extents(&self, along: Vec3A, end: usize) -> ([f32; LANES], [f32; LANES]) {
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
        (low, high)
    }

    /// Returns one bit for each triangle.
    #[inline(always)]
    pub(super) fn lanes(&self) -> u32 {
        !0 >> (u32::BITS - self.len as u32)
    }

    /// Returns the boxes that the triangles sweep in addition to a `common` motion, widened by `margin`, m.
    #[inline(always)]
    pub(super) fn boxes(&self, common: Vec3A, margin: f32) -> Boxes {
        let mut boxes = Boxes {
            low: [[0.0; LANES]; 3],
            high: [[0.0; LANES]; 3],
        };
        let [[a, b, c], [d, e, f]] = &self.at;
        for axis in 0..3 {
            let common = common[axis];
            for l in 0..LANES {
                let [a, b, c] = [a[axis][l], b[axis][l], c[axis][l]];
                let [d, e, f] = [d[axis][l], e[axis][l], f[axis][l]];
                let low = min(min(d, e), f) - common;
                boxes.low[axis][l] = min(min(min(a, b), c), low) - margin;
                let high = max(max(d, e), f) - common;
                boxes.high[axis][l] = max(max(max(a, b), c), high) + margin;
            }
        }
        boxes
    }

    /// Returns a bit for each triangle that shares an unfolded corner with the triangle of a lane of `other`, which may be this
    /// patch.
    #[inline(always)]
    pub(super) fn joined_unfolded(&self, other: &Self, lane: usize) -> u32 {
        // No particle has the greatest index.
        let corner = |k: usize| match other.unfolded[k] & (1 << lane) {
            0 => u32::MAX,
            _ => other.corners[k][lane],
        };
        let (a, b, c) = (corner(0), corner(1), corner(2));
        let [first, second, third] = &self.corners;
        let mut hits = [0; LANES];
        for l in 0..LANES {
            let (i, j, k) = (first[l], second[l], third[l]);
            let is_common = (i == a) | (i == b) | (i == c);
            let is_common = is_common | (j == a) | (j == b) | (j == c);
            hits[l] = lane_bit(l, is_common | (k == a) | (k == b) | (k == c));
        }
        join_bits(hits)
    }

    /// Returns by how much [`normals`](Self::normals) change at most, m², if no corner leaves its way by more than `margin`, m
    /// along each axis.
    #[inline(always)]
    pub(super) fn change_of_normals(&self, margin: f32) -> [f32; LANES] {
        let mut most = [0.0; LANES];
        for [a, b, c] in &self.at {
            let edges = [subtract(b, a), subtract(c, a)];
            for l in 0..LANES {
                let length = |edge: &Lanes| {
                    let [x, y, z] = edge;
                    (x[l] * x[l] + y[l] * y[l] + z[l] * z[l]).sqrt()
                };
                let longest = max(length(&edges[0]), length(&edges[1]));
                most[l] = max(most[l], change_of_normals(longest, margin));
            }
        }
        most
    }

    /// Returns normals of the moving triangles, as [`normals`](super::patch_motion::normals) does.
    #[inline(always)]
    pub(super) fn normals(&self) -> [Lanes; 3] {
        let mut normals = [[[0.0; LANES]; 3]; 3];
        let [[a, b, c], [d, e, f]] = &self.at;
        let (ab, ac) = (subtract(b, a), subtract(c, a));
        let (de, df) = (subtract(e, d), subtract(f, d));
        for l in 0..LANES {
            let edge = |edge: &Lanes| [edge[0][l], edge[1][l], edge[2][l]];
            let (ab, ac, de, df) = (edge(&ab), edge(&ac), edge(&de), edge(&df));
            let (mixed, other) = (cross(ab, df), cross(de, ac));
            let (begin, end) = (cross(ab, ac), cross(de, df));
            for k in 0..3 {
                normals[0][k][l] = begin[k];
                normals[1][k][l] = (mixed[k] + other[k]) * 0.5;
                normals[2][k][l] = end[k];
            }
        }
        normals
    }
}

impl Boxes {
    /// Tests the box of a lane against all of another patch: a bit for each that overlaps.
    #[inline(always)]
    pub(super) fn overlaps(&self, lane: usize, other: &Self) -> u32 {
        let corner = |[x, y, z]: &Lanes| Vec3A::new(x[lane], y[lane], z[lane]);
        other.overlapping([corner(&self.low), corner(&self.high)])
    }

    /// Returns a bit for each box that overlaps a given one.
    #[inline(always)]
    pub(super) fn overlapping(&self, [low, high]: [Vec3A; 2]) -> u32 {
        let mut hits = [0; LANES];
        for l in 0..LANES {
            let mut overlaps = true;
            for axis in 0..3 {
                overlaps &= self.low[axis][l] <= high[axis];
                overlaps &= self.high[axis][l] >= low[axis];
            }
            hits[l] = lane_bit(l, overlaps);
        }
        join_bits(hits)
    }
}

/// Combines all lanes into one number.
#[inline(always)]
fn reduce(mut lanes: [f32; LANES], combine: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for l in 0..half {
            lanes[l] = combine(lanes[l], lanes[l + half]);
        }
        half /= 2;
    }
    lanes[0]
}

#[inline(always)]
fn subtract(from: &Lanes, what: &Lanes) -> Lanes {
    let mut difference = [[0.0; LANES]; 3];
    for axis in 0..3 {
        for l in 0..LANES {
            difference[axis][l] = from[axis][l] - what[axis][l];
        }
    }
    difference
}

#[inline(always)]
fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Returns the smaller of two numbers that are not NaN.
#[inline(always)]
pub(super) fn min(a: f32, b: f32) -> f32 {
    select(a < b, a, b)
}

/// Returns the larger of two numbers that are not NaN.
#[inline(always)]
pub(super) fn max(a: f32, b: f32) -> f32 {
    select(a > b, a, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::math::noise::noise_point;

    /// Returns a patch of small triangles around a point, of which all lanes from the given one on are copies.
    fn patch(seed: usize, at: Vec3A, len: usize) -> NearPatch {
        let point = |i: usize, stream| Vec3A::from(noise_point(100 * seed + i, stream));
        let corners = |lane: usize| [0, 1, 2].map(|k| (3 * lane.min(len - 1) + k) as u32);
        let triangles = std::array::from_fn(corners);
        let count = 3 * len;
        let start: Vec<Vec3A> = (0..count)
            .map(|i| at + point(i / 3, 0) + 0.2 * point(i, 3))
            .collect();
        let end: Vec<Vec3A> = (0..count).map(|i| start[i] + 0.3 * point(i, 6)).collect();
        let (start, end) = (&start[..], &end[..]);
        NearPatch::load(&triangles, Motion { start, end })
    }

    /// Returns a point of a triangle during its motion.
    fn sample(patch: &NearPatch, lane: usize, time: f32, weights: Vec3A) -> Vec3A {
        let corner = |end: usize, k: usize| {
            let at = &patch.at[end][k];
            Vec3A::new(at[0][lane], at[1][lane], at[2][lane])
        };
        let weights = weights.abs() / weights.abs().element_sum();
        let at = |k: usize| corner(0, k).lerp(corner(1, k), time) * weights[k];
        at(0) + at(1) + at(2)
    }

    #[test]
    fn triangles_that_come_near_the_other_patch_are_not_left_out() {
        let (mut left_out, mut kept) = (0, 0);
        for seed in 0..60 {
            let [mut one, mut other] = [0, 1].map(|k| {
                let at = Vec3A::X * (k * (seed % 6)) as f32 * 0.8;
                patch(2 * seed + k, at, 1 + (7 * seed + 3 * k) % LANES)
            });
            if seed % 2 == 0 {
                std::mem::swap(&mut one, &mut other);
            }
            let gap = 0.5;
            let [own_lanes, other_lanes] = one.lanes_near(&other, one.towards(&other), gap);
            assert_eq!(
                [own_lanes & !one.lanes(), other_lanes & !other.lanes()],
                [0; 2]
            );
            for (lane, far) in (0..one.len).flat_map(|a| (0..other.len).map(move |b| (a, b))) {
                let is_kept = own_lanes >> lane & 1 == 1 && other_lanes >> far & 1 == 1;
                let near = (0..60).any(|i| {
                    let time = (i % 6) as f32 / 5.0;
                    let [p, q] = [0, 3].map(|stream| Vec3A::from(noise_point(i, stream)));
                    let apart = sample(&one, lane, time, p) - sample(&other, far, time, q);
                    apart.length() < gap
                });
                assert!(is_kept || !near, "{seed}: {lane}, {far}");
                kept += usize::from(near);
                left_out += usize::from(!is_kept);
            }
        }
        assert!(left_out > 300 && kept > 100, "{left_out}, {kept}");
    }
}
