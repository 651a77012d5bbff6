//! Bounding boxes of colliders, tested against one box many at a time (SIMD).

use crate::solver::simd::{LANES, soa::Bounds};

/// Axis-aligned boxes in groups of [`LANES`]: per axis the lower bounds, then per axis the upper bounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Boxes {
    groups: Vec<[[f32; LANES]; 6]>,
    count: usize,
}

impl Boxes {
    /// Replaces the boxes.
    pub(crate) fn fill(&mut self, boxes: impl Iterator<Item = Bounds>) {
        self.groups.clear();
        self.count = 0;
        for [low, high] in boxes {
            let lane = self.count % LANES;
            if lane == 0 {
                self.groups.push([[0.0; LANES]; 6]);
            }
            if let Some(group) = self.groups.last_mut() {
                for axis in 0..3 {
                    group[axis][lane] = low[axis];
                    group[axis + 3][lane] = high[axis];
                }
            }
            self.count += 1;
        }
    }

    /// Returns the number of groups.
    pub(crate) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns which boxes of a group overlap a box, as a bit mask: bit k stands for box k of the group. Boxes
    /// with NaN count as overlapping.
    #[inline(always)]
    pub(crate) fn overlapping(&self, number: usize, [low, high]: &Bounds) -> u32 {
        let [x, y, z, to_x, to_y, to_z] = &self.groups[number];
        let mut bits = 0;
        for k in 0..LANES {
            let apart = (low[0] > to_x[k])
                | (low[1] > to_y[k])
                | (low[2] > to_z[k])
                | (x[k] > high[0])
                | (y[k] > high[1])
                | (z[k] > high[2]);
            bits |= u32::from(!apart) << k;
        }
        let used = (self.count - number * LANES).min(LANES);
        bits & ((1 << used) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_overlapping_boxes_are_found() {
        let unit = |at: f32| [[at; 3], [at + 1.0; 3]];
        let mut boxes = Boxes::default();
        boxes.fill((0..20).map(|i| unit(i as f32)));
        boxes.fill((0..19).map(|i| unit(i as f32)));
        assert_eq!(boxes.groups(), 2);
        let found = |of: &Bounds| [0, 1].map(|number| boxes.overlapping(number, of));
        assert_eq!(found(&unit(3.5)), [0b11000, 0]);
        // Touching counts as overlapping.
        assert_eq!(found(&unit(4.0)), [0b111000, 0]);
        assert_eq!(found(&unit(15.5)), [1 << 15, 1]);
        assert_eq!(found(&unit(30.0)), [0, 0]);
        assert_eq!(found(&[[f32::NAN; 3]; 2]), [0xffff, 0b111]);
        // Near in two directions only.
        assert_eq!(found(&[[3.2, 3.2, 9.0], [3.4, 3.4, 9.5]]), [0, 0]);
    }
}
