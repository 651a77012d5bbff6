//! Motion of patches: where they are, and which directions they face.

use super::{patches::Patches, triangle_pairs::boxes_overlap};
use crate::solver::simd::{Kernel, LANES};
use bevy::math::Vec3A;
use std::f32::consts::SQRT_2;

/// Smallest cosine between the normal of a triangle and a direction that it faces, about.
pub(super) const MIN_COSINE: f32 = 0.2;

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
        let motion = |[[low, high], [end_low, end_high]]: [[Vec3A; 2]; 2]| {
            (end_low - low) + (end_high - high)
        };
        (motion(self.boxes) + motion(other.boxes)) * 0.25
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
                for ([low, high], [a, b, c]) in boxes.iter_mut().zip(moving) {
                    *low = low.min(a.min(b).min(c));
                    *high = high.max(a.max(b).max(c));
                    longest = longest.max((b - a).abs()).max((c - a).abs());
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
    let change = 2.0 * SQRT_3 * margin;
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
