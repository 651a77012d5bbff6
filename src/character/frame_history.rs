//! Reference frame of a cloth: animation targets of its particles, and the motion of the entity that carries it.

use crate::solver::{FrameMotion, MotionConstraints, Pose, SoaVec3};
use crate::{
    character::{inertia::Teleport, max_distance::ClothMaxDistance},
    cloth::transforms::ReferenceEntity,
};
use bevy::prelude::*;

/// Reference frame of a cloth and the motion constraints relative to it. Written when the cloth is built, reset or
/// teleported, and at the beginning and end of each step; read by the substeps, sleep, rendering and snapshots.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
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
    /// Teleport with the frame that was requested and not done yet.
    pub(crate) requested_teleport: Option<Teleport>,
    /// Frame entity for which transform tracking was set up, together with anchors and joints; `None` if this is
    /// still to be done.
    pub(crate) tracked: Option<Entity>,
}

/// Poses in the last step. A snapshot keeps them.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct FrameHistory {
    /// Origin of `animation_targets` and of the matrices of the skeleton, m.
    pub(crate) origin: Vec3,
    /// Animation targets of the particles at the end of the step; empty before the first one.
    pub(crate) animation_targets: SoaVec3,
    /// Entity whose motion the cloth feels, and its pose.
    pub(crate) frame: Option<(Entity, Pose)>,
    /// Entity with which the cloth is rendered.
    pub(crate) reference_entity: Option<ReferenceEntity>,
    /// The cloth is new or was paused: the next step first moves it to the current pose of its frame.
    pub(crate) catch_up_pending: bool,
    #[cfg_attr(feature = "serialize", serde(default))]
    pub(crate) bind_pose: BindPose,
}

/// Pose of its joints in which a cloth was built.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum BindPose {
    /// The joints have moved since then, or there are none.
    #[default]
    Left,
    /// Not read yet.
    Unread,
    /// Local transforms of the joints, which have not changed.
    Held(Vec<Option<Transform>>),
}
