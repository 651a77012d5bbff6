//! Sweep and prune: overlapping pairs among many bounding boxes, sorted along one axis and compared sixteen at a time
//! (Baraff, "Dynamic simulation of non-penetrating rigid bodies", 1992).

use super::patch_motion::PatchMotion;
use crate::solver::simd::{Kernel, LANES, dispatch, join_bits, lane_bit};
use bevy::math::Vec3A;

/// Bounding boxes in the order of their lower ends along the axis in which they are spread most.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    /// Index of each sorted box.
    order: Vec<u32>,
    /// Lower and upper ends of the sorted boxes along each axis, the sweep axis first, padded by [`LANES`] boxes that
    /// overlap none.
    ends: [[Vec<f32>; 3]; 2],
}

impl Sweep {
    /// Collects the pairs of overlapping boxes, the lower index first, in an order that depends on the boxes alone.
    /// Returns whether the list is complete: at most `max_pairs` are collected.
    pub(super) fn find_pairs(
        &mut self,
        boxes: &[PatchMotion],
        max_pairs: usize,
        pairs: &mut Vec<[u32; 2]>,
    ) -> bool {
        let axis = widest_axis(boxes);
        let low = |i: u32| boxes[i as usize].swept_low()[axis];
        self.order.clear();
        self.order.extend(0..boxes.len() as u32);
        self.order
            .sort_unstable_by(|&a, &b| low(a).total_cmp(&low(b)).then(a.cmp(&b)));
        let [lows, highs] = &mut self.ends;
        for (k, (low, high)) in lows.iter_mut().zip(highs).enumerate() {
            let along = (axis + k) % 3;
            low.clear();
            high.clear();
            for &i in &self.order {
                let motion = &boxes[i as usize];
                low.push(motion.swept_low()[along]);
                high.push(motion.swept_high()[along]);
            }
            for plane in [low, high] {
                plane.resize(boxes.len() + LANES, f32::INFINITY);
            }
        }
        let mut complete = true;
        dispatch(FindPatchPairs {
            sweep: self,
            max_pairs,
            pairs,
            complete: &mut complete,
        });
        complete
    }
}

/// Returns the axis along which the centres of the boxes have the greatest variance.
fn widest_axis(boxes: &[PatchMotion]) -> usize {
    let centre = |motion: &PatchMotion| (motion.swept_low() + motion.swept_high()) * 0.5;
    let count = boxes.len().max(1) as f32;
    let mean = boxes.iter().map(centre).sum::<Vec3A>() / count;
    let spread: Vec3A = boxes
        .iter()
        .map(|b| (centre(b) - mean) * (centre(b) - mean))
        .sum();
    spread.max_position()
}

struct FindPatchPairs<'a> {
    sweep: &'a Sweep,
    max_pairs: usize,
    pairs: &'a mut Vec<[u32; 2]>,
    complete: &'a mut bool,
}

impl Kernel for FindPatchPairs<'_> {
    #[inline(always)]
    fn run(self) {
        let Sweep { order, ends } = self.sweep;
        let [low, high] = ends;
        for i in 0..order.len() {
            let [to, top, front] = [high[0][i], high[1][i], high[2][i]];
            let [bottom, back] = [low[1][i], low[2][i]];
            let mut first = i + 1;
            // The padding begins at infinity.
            while low[0][first] <= to {
                let range = first..first + LANES;
                let mut hits = [0; LANES];
                let along = &low[0][range.clone()];
                let (lows, highs) = (&low[1][range.clone()], &high[1][range.clone()]);
                let (low_ends, high_ends) = (&low[2][range.clone()], &high[2][range]);
                for l in 0..LANES {
                    let hit = (along[l] <= to)
                        & (lows[l] <= top)
                        & (highs[l] >= bottom)
                        & (low_ends[l] <= front)
                        & (high_ends[l] >= back);
                    hits[l] = lane_bit(l, hit);
                }
                let mut found = join_bits(hits);
                while found != 0 {
                    let other = order.get(first + found.trailing_zeros() as usize);
                    found &= found - 1;
                    let (one, Some(&other)) = (order[i], other) else {
                        continue;
                    };
                    if self.pairs.len() == self.max_pairs {
                        *self.complete = false;
                        return;
                    }
                    self.pairs.push([one.min(other), one.max(other)]);
                }
                first += LANES;
                if first >= order.len() {
                    break;
                }
            }
        }
    }
}
