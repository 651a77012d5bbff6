//! Bounding boxes of the displacements of groups of particles.

use crate::solver::simd::Kernel;
use bevy::math::Vec3;

/// Bounding box of the displacements of some particles, m: the minima of x, y and z, and the negated maxima, so
/// that merging two boxes takes the minimum of every lane.
pub(super) type DisplacementBox = [f32; 8];

pub(super) const EMPTY_BOX: DisplacementBox = [f32::INFINITY; 8];

/// Number of particles treated together: adjacent in memory, and mostly adjacent in the cloth.
pub(super) const GROUP: usize = 8;

/// Returns whether a squared distance, m², exceeds the square of this distance, m, or is NaN.
#[inline(always)]
pub(super) fn exceeds(squared: f32, distance: f32) -> bool {
    squared > distance * distance || squared.is_nan()
}

/// Returns the square of the largest possible difference between two displacements within either of these bounds,
/// m².
#[inline(always)]
pub(super) fn spread_squared(a: &DisplacementBox, b: &DisplacementBox) -> f32 {
    let mut both = *a;
    merge_bounds(&mut both, b);
    let [x, y, z, _, right, up, front, _] = both;
    // Negative for empty bounds.
    let extent = Vec3::new(-right - x, -up - y, -front - z).max(Vec3::ZERO);
    extent.length_squared()
}

/// Takes the lesser value of each lane. NaN is ignored.
#[inline(always)]
pub(super) fn merge_bounds(into: &mut DisplacementBox, other: &DisplacementBox) {
    for (into, &other) in into.iter_mut().zip(other) {
        *into = if other < *into { other } else { *into };
    }
}

/// Computes the displacement bounds of each group of particles.
pub(super) struct DisplacementBounds<'a> {
    pub(super) now: [&'a [f32]; 3],
    pub(super) before: [&'a [f32]; 3],
    pub(super) group_bounds: &'a mut [DisplacementBox],
}

impl Kernel for DisplacementBounds<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            now,
            before,
            group_bounds,
        } = self;
        let [now, before] =
            [now, before].map(|planes| planes.map(|plane| plane.as_chunks::<GROUP>()));
        for (g, range) in group_bounds.iter_mut().enumerate() {
            for axis in 0..3 {
                let [low, high] = match (now[axis].0.get(g), before[axis].0.get(g)) {
                    (Some(now), Some(before)) => displacement_range(now, before),
                    _ => displacement_range_scalar(now[axis].1, before[axis].1),
                };
                range[axis] = low;
                range[axis + 4] = -high;
            }
        }
    }

    #[cfg(test)]
    fn run_reference(self) {
        for (g, range) in self.group_bounds.iter_mut().enumerate() {
            for axis in 0..3 {
                let end = (GROUP * (g + 1)).min(self.now[axis].len());
                let [now, before] =
                    [self.now, self.before].map(|planes| &planes[axis][GROUP * g..end]);
                let [low, high] = displacement_range_scalar(now, before);
                range[axis] = low;
                range[axis + 4] = -high;
            }
        }
    }
}

/// Returns the minimum and maximum displacement, reduced lane by lane, then half by half. A NaN may or may not be
/// ignored.
#[inline(always)]
fn displacement_range(now: &[f32; GROUP], before: &[f32; GROUP]) -> [f32; 2] {
    let mut displacements = [0.0; GROUP];
    for ((displacement, now), before) in displacements.iter_mut().zip(now).zip(before) {
        *displacement = now - before;
    }
    let (mut low, mut high) = (displacements, displacements);
    let mut half = GROUP / 2;
    while half > 0 {
        for l in 0..half {
            low[l] = if low[l + half] < low[l] {
                low[l + half]
            } else {
                low[l]
            };
            high[l] = if high[l + half] > high[l] {
                high[l + half]
            } else {
                high[l]
            };
        }
        half /= 2;
    }
    [low[0], high[0]]
}

fn displacement_range_scalar(now: &[f32], before: &[f32]) -> [f32; 2] {
    let from = [f32::INFINITY, f32::NEG_INFINITY];
    now.iter()
        .zip(before)
        .fold(from, |[low, high], (now, before)| {
            let displacement = now - before;
            [low.min(displacement), high.max(displacement)]
        })
}
