//! What an animation asks of a cloth: where its particles would be carried, and how its frame moves.

use crate::{
    max_distance::MaxDistance,
    solver::{Carry, Collider, MotionLimits, Pose, SoaVec3},
    world_motion::Teleport,
};
use bevy::prelude::*;

/// What a cloth follows besides its pins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guide {
    /// Where its particles are to stay. Empty if they may be anywhere.
    pub(crate) limits: MotionLimits,
    /// What the limits were made from.
    pub(crate) bound: Option<MaxDistance>,
    /// Normals at rest in mesh space, if there is a backstop.
    pub(crate) normals: Vec<Vec3>,
    pub(crate) seen: Seen,
    /// What it is taken along with in this step, if it is; and room for colliders as it sees them then.
    pub(crate) carried: Option<Carry>,
    pub(crate) colliders: Vec<Collider>,
    /// It is to be teleported with its frame.
    pub(crate) teleport: Option<Teleport>,
}

/// What it saw in the last step; a snapshot keeps it.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Seen {
    /// The origin that places are relative to, m.
    pub(crate) origin: Vec3,
    /// Where its particles were carried at the end of it; none before the first one.
    pub(crate) places: SoaVec3,
    /// What its frame is, and where that was.
    pub(crate) frame: Option<(Entity, Frame)>,
    /// It is new or stood still, and is to be where its frame is seen in the next step.
    pub(crate) catches_up: bool,
}

/// Where the frame of a cloth was.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Frame {
    pub(crate) rotation: Quat,
    pub(crate) translation: Vec3,
}

impl Frame {
    /// Where an entity is; `None` where that is no number.
    pub(crate) fn of(transform: &GlobalTransform) -> Option<Self> {
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

    /// How far it is from another, m, and turned, rad.
    pub(crate) fn way(&self, to: &Self) -> (f32, f32) {
        let distance = self.translation.distance(to.translation);
        (distance, self.rotation.angle_between(to.rotation))
    }
}
