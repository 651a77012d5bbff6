//! Reference frame of a cloth: animation targets of its particles, and the motion of the entity that carries it.

use crate::{
    character::{inertia::Teleport, max_distance::ClothMaxDistance},
    solver::{Collider, FrameMotion, MotionConstraints, Pose, SoaVec3},
};
use bevy::prelude::*;

/// Reference frame of a cloth and the motion constraints relative to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReferenceFrame {
    /// Max-distance constraints and backstops. Empty if there are none.
    pub(crate) motion_constraints: MotionConstraints,
    /// `ClothMaxDistance` from which `motion_constraints` was resolved.
    pub(crate) bound_max_distance: Option<ClothMaxDistance>,
    /// Vertex normals at rest, in mesh space, if there is a backstop.
    pub(crate) rest_normals: Vec<Vec3>,
    pub(crate) history: FrameHistory,
    /// Joint of its skeleton with the largest weight on its pinned particles.
    pub(crate) dominant_joint: Option<Entity>,
    /// Part of the frame's motion in this step that the cloth follows rigidly, without inertia.
    pub(crate) frame_motion: Option<FrameMotion>,
    /// Scratch buffer for the colliders of a step: near ones, or all of them relative to `frame_motion`.
    pub(crate) collider_buffer: Vec<Collider>,
    /// Teleport with the frame that was requested and not done yet.
    pub(crate) requested_teleport: Option<Teleport>,
}

/// Poses in the last step. A snapshot keeps them.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct FrameHistory {
    /// Origin of `animation_targets`, m.
    pub(crate) origin: Vec3,
    /// Animation targets of the particles at the end of the step; empty before the first one.
    pub(crate) animation_targets: SoaVec3,
    /// Entity whose motion the cloth feels, and its pose.
    pub(crate) frame: Option<(Entity, FramePose)>,
    /// Entity with which the cloth is rendered.
    pub(crate) reference_entity: Option<ReferenceEntity>,
    /// The cloth is new or was paused: the next step first moves it to the current pose of its frame.
    pub(crate) catch_up_pending: bool,
}

/// Entity that carries a cloth: the cloth is rendered relative to its current transform.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ReferenceEntity {
    /// Joint, anchor of all pins, or frame entity.
    pub(crate) entity: Entity,
    /// Poses at the beginning and at the end of the last step.
    pub(crate) poses: [FramePose; 2],
}

/// Rigid pose of a reference frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct FramePose {
    pub(crate) rotation: Quat,
    pub(crate) translation: Vec3,
}

impl FramePose {
    /// Returns the rigid part of a transform; `None` if it is not finite.
    pub(crate) fn from_transform(transform: &GlobalTransform) -> Option<Self> {
        let (_, rotation, translation) = transform.to_scale_rotation_translation();
        let frame = Self {
            rotation: rotation.normalize(),
            translation,
        };
        frame.pose().is_valid().then_some(frame)
    }

    pub(crate) fn pose(&self) -> Pose {
        Pose {
            rotation: self.rotation,
            translation: self.translation,
        }
    }

    /// Creates a frame pose from a solver pose.
    pub(crate) fn from_pose(pose: &Pose) -> Self {
        Self {
            rotation: pose.rotation,
            translation: pose.translation,
        }
    }

    /// Interpolates between this pose (0) and another (1), along the shorter rotation.
    ///
    /// The normalized linear interpolation is as good as a spherical one for the small rotations of one frame, and
    /// gives the same bits on all machines.
    pub(crate) fn lerp(&self, to: &Self, fraction: f32) -> Self {
        let turn = if self.rotation.dot(to.rotation) < 0.0 {
            -to.rotation
        } else {
            to.rotation
        };
        Self {
            rotation: (self.rotation + (turn - self.rotation) * fraction).normalize(),
            translation: self.translation + (to.translation - self.translation) * fraction,
        }
    }

    /// Returns the distance to another pose, m, and the angle, rad.
    pub(crate) fn distance_and_angle(&self, to: &Self) -> (f32, f32) {
        let distance = self.translation.distance(to.translation);
        (distance, self.rotation.angle_between(to.rotation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolation_takes_the_shorter_rotation() {
        let [a, b] = [0.1, 0.3].map(|angle| FramePose {
            rotation: Quat::from_rotation_y(angle),
            translation: Vec3::X * angle,
        });
        let other = FramePose {
            rotation: -b.rotation,
            ..b
        };
        let half = a.lerp(&other, 0.5);
        assert!(half.rotation.angle_between(Quat::from_rotation_y(0.2)) < 1e-3);
        assert!((half.translation.x - 0.2).abs() < 1e-6);
    }
}
