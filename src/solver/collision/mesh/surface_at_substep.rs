//! Triangle surface during one substep: where it is at both ends, and what it may touch.

use super::{MIN_THICKNESS, MeshCollider, TriangleSurface, surface_at::SurfaceAt, tree::Leaf};
use crate::solver::{
    collision::{collider::Surface, narrow_phase::ColliderAtSubstep},
    math::pose::Pose,
    simd::soa::Bounds,
};
use bevy::math::{Mat3, Vec3};

/// Triangle surface at one substep.
pub(super) struct SurfaceAtSubstep<'a> {
    /// Surface at the beginning of the substep.
    pub(super) before: SurfaceAt<'a>,
    /// Surface at the end of the substep.
    pub(super) now: SurfaceAt<'a>,
    /// Fraction of the step that the substep takes.
    fraction: f32,
    /// Upper bound on the movement of its points in its frame during the substep, m.
    pub(super) max_movement: f32,
    /// Bounding box of the surface as a collider, with its friction and motion.
    pub(super) collider: ColliderAtSubstep,
    pub(super) thickness: f32,
    /// Frames at the beginning and at the end of the substep: origin, and rotation from world axes to local axes.
    frames: [(Vec3, Mat3); 2],
}

impl<'a> SurfaceAtSubstep<'a> {
    pub(super) fn new(
        collider: &'a MeshCollider,
        surface: &Surface,
        origin: Vec3,
        during: [u32; 2],
    ) -> Self {
        let thickness = surface.thickness.max(MIN_THICKNESS);
        let surface = Surface {
            thickness,
            ..*surface
        };
        let bounding = collider.bounding_collider();
        let frame = |pose: Pose| {
            let to_local = Mat3::from_quat(pose.rotation).transpose();
            (pose.translation - origin, to_local)
        };
        let [before, now] = [0, 1].map(|ended| {
            let remaining = during[1].saturating_sub(during[0] + ended) as f32;
            SurfaceAt::new(&collider.surface, remaining / during[1].max(1) as f32)
        });
        let fraction = 1.0 / during[1].max(1) as f32;
        Self {
            before,
            now,
            fraction,
            max_movement: collider.surface.max_movement() * fraction,
            collider: ColliderAtSubstep::new(&bounding, &surface, origin, during),
            thickness,
            frames: bounding.poses_at(during).map(frame),
        }
    }

    /// Returns the surface at any time.
    pub(super) fn surface(&self) -> &'a TriangleSurface {
        self.now.surface()
    }

    /// Returns whether the surface is closed.
    pub(super) fn is_closed(&self) -> bool {
        self.surface().is_closed()
    }

    /// Returns whether points move in the frame of the surface.
    pub(super) fn is_deforming(&self) -> bool {
        self.max_movement > 0.0
    }

    /// Returns the surface at the beginning and at the end of the substep.
    pub(super) fn path(&self) -> [SurfaceAt<'a>; 2] {
        [self.before, self.now]
    }

    /// Returns an upper bound on the movement of the points of a leaf in the frame of the surface, m.
    pub(super) fn max_movement_of(&self, leaf: &Leaf) -> f32 {
        (leaf.movement * self.fraction).min(self.max_movement)
    }

    /// Returns the movement of a point of a triangle, with these barycentric weights, in the frame of the surface, m.
    pub(super) fn movement_at(&self, triangle: u32, weights: [f32; 3]) -> Vec3 {
        if !self.is_deforming() {
            return Vec3::ZERO;
        }
        let ([a, b, c], [d, e, f]) = (self.before.corners(triangle), self.now.corners(triangle));
        (d - a) * weights[0] + (e - b) * weights[1] + (f - c) * weights[2]
    }

    /// Rotates a vector from the frame of the surface to world axes.
    pub(super) fn to_world(&self, vector: Vec3) -> Vec3 {
        self.frames[1].1.transpose() * vector
    }

    /// Returns the bounding box, in the local frame, of a world-axis-aligned box at the beginning and at the end
    /// of the substep.
    pub(super) fn local_box(&self, [low, high]: &Bounds) -> [Vec3; 2] {
        let (low, high) = (Vec3::from(*low), Vec3::from(*high));
        let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
        let mut both = [Vec3::INFINITY, Vec3::NEG_INFINITY];
        for (centre, to_local) in &self.frames {
            let at = *to_local * (middle - *centre);
            let reach = to_local.x_axis.abs() * half.x
                + to_local.y_axis.abs() * half.y
                + to_local.z_axis.abs() * half.z;
            both = [both[0].min(at - reach), both[1].max(at + reach)];
        }
        both
    }

    /// Returns whether anything within `reach` of a box, m, may touch the surface in this substep. Cheaper than
    /// [`may_touch`](Self::may_touch), and less exact.
    pub(super) fn may_reach(&self, [low, high]: &Bounds, reach: f32) -> bool {
        let around = [low.map(|low| low - reach), high.map(|high| high + reach)];
        self.surface().is_hollow() || self.collider.may_touch_swept(&around)
    }

    /// Returns whether anything in a box may touch the surface in this substep.
    pub(super) fn may_touch(&self, swept: &Bounds) -> bool {
        if self.surface().is_hollow() {
            return true;
        }
        if !self.collider.may_touch_swept(swept) {
            return false;
        }
        let [low, high] = self.local_box(swept);
        let [from, to] = self.surface().bounds();
        let reach = Vec3::splat(self.thickness);
        // NaN counts as contact.
        !((low - reach).cmpgt(to).any() || (high + reach).cmplt(from).any())
    }
}
