//! Paths of the particles of a group in one substep, and boxes around them.

use super::{
    GROUP,
    group::reach,
    surface_at_substep::SurfaceAtSubstep,
    tree::{TriangleBox, union},
};
use bevy::math::{Vec3, Vec3A};

/// Slack of the boxes of particles, as a multiple of the movement in one substep. Less than that of the whole group: a
/// list is gone through in each substep, which soon takes longer than to make it anew.
const SLACK_SUBSTEPS: f32 = 3.0;

/// Box of each particle of a group, in the frame of the surface: bounds per axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParticleBoxes {
    low: [[f32; GROUP]; 3],
    high: [[f32; GROUP]; 3],
}

impl ParticleBoxes {
    /// Boxes without any point in them.
    pub(super) const EMPTY: Self = Self {
        low: [[f32::INFINITY; GROUP]; 3],
        high: [[f32::NEG_INFINITY; GROUP]; 3],
    };

    /// Returns the box around all particles.
    pub(super) fn around(&self) -> TriangleBox {
        union((0..GROUP).map(|lane| self.get(lane)))
    }

    /// Returns the box of one particle.
    #[inline(always)]
    pub(super) fn get(&self, lane: usize) -> TriangleBox {
        let corner = |planes: &[[f32; GROUP]; 3]| {
            Vec3A::new(planes[0][lane], planes[1][lane], planes[2][lane])
        };
        [corner(&self.low), corner(&self.high)]
    }

    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, low: Vec3, high: Vec3) {
        for axis in 0..3 {
            self.low[axis][lane] = low[axis];
            self.high[axis][lane] = high[axis];
        }
    }

    /// Returns the particles with a box that overlaps this one, as a bit mask.
    #[inline(always)]
    pub(super) fn overlapping(&self, [low, high]: &TriangleBox) -> u32 {
        let mut apart = [0_u32; GROUP];
        for axis in 0..3 {
            let (low, high) = (low[axis], high[axis]);
            for (lane, apart) in apart.iter_mut().enumerate() {
                let beside = (self.low[axis][lane] > high) | (self.high[axis][lane] < low);
                *apart |= u32::from(beside);
            }
        }
        let bits = apart.iter().enumerate();
        bits.fold(0, |bits, (lane, &apart)| bits | ((1 - apart) << lane))
    }

    /// Returns whether each box contains the box of the same particle in `other`.
    pub(super) fn contain(&self, other: &Self) -> bool {
        let mut outside = [0_u32; GROUP];
        for axis in 0..3 {
            for (lane, outside) in outside.iter_mut().enumerate() {
                let within = (self.low[axis][lane] <= other.low[axis][lane])
                    & (self.high[axis][lane] >= other.high[axis][lane]);
                *outside |= u32::from(!within);
            }
        }
        outside.iter().all(|&outside| outside == 0)
    }
}

/// Paths of the particles of a group in a substep, in the frame of the surface.
pub(super) struct GroupSweep {
    pub(super) from: [Vec3; GROUP],
    pub(super) to: [Vec3; GROUP],
    /// Upper bound on the movement of the surface near the group in its frame, m.
    pub(super) surface_movement: f32,
    /// Bounding box of each path, widened by the largest possible push-out.
    pub(super) boxes: ParticleBoxes,
}

impl GroupSweep {
    /// Transforms the paths between positions at the beginning and at the end of a substep, in which the surface near the
    /// group moves by `surface_movement` in its frame, m.
    pub(super) fn new(
        surface: &SurfaceAtSubstep,
        surface_movement: f32,
        now: [&[f32]; 3],
        then: [&[f32]; 3],
    ) -> Self {
        let mut sweep = Self {
            from: [Vec3::ZERO; GROUP],
            to: [Vec3::ZERO; GROUP],
            surface_movement,
            boxes: ParticleBoxes::EMPTY,
        };
        for lane in 0..now[0].len() {
            let get =
                |planes: [&[f32]; 3]| Vec3::new(planes[0][lane], planes[1][lane], planes[2][lane]);
            let from = surface.collider.local_before(get(then));
            let to = surface.collider.local_point(get(now));
            let movement = (to - from).length() + surface_movement;
            let reach = reach(surface.thickness, movement);
            (sweep.from[lane], sweep.to[lane]) = (from, to);
            let (low, high) = (from.min(to) - reach, from.max(to) + reach);
            sweep.boxes.set(lane, low, high);
        }
        sweep
    }

    /// Returns boxes that the particles leave only after some substeps.
    pub(super) fn boxes_with_slack(&self, thickness: f32) -> ParticleBoxes {
        let mut boxes = self.boxes;
        for lane in 0..GROUP {
            let [low, high] = self.boxes.get(lane).map(Vec3::from);
            let movement = (self.to[lane] - self.from[lane]).length() + self.surface_movement;
            let slack = 0.5 * thickness + SLACK_SUBSTEPS * movement;
            let slack = (high - low).max_element().min(slack);
            boxes.set(lane, low - slack, high + slack);
        }
        boxes
    }
}
