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
    /// The joint of its skeleton that holds most of it.
    pub(crate) joint: Option<Entity>,
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
    /// Who wears it.
    pub(crate) wearer: Option<Wearer>,
    /// It is new or stood still, and is to be where its frame is seen in the next step.
    pub(crate) catches_up: bool,
}

/// What a cloth is worn by: where it is drawn, the cloth is drawn too.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Wearer {
    /// A joint, or whatever else it hangs on, or its frame.
    pub(crate) entity: Entity,
    /// Where it was at the beginning of the last step, and at its end.
    pub(crate) way: [Frame; 2],
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

    /// The other way round.
    pub(crate) fn posed(pose: &Pose) -> Self {
        Self {
            rotation: pose.rotation,
            translation: pose.translation,
        }
    }

    /// Between this and another: 0 is here, 1 there. The turn is the shorter one.
    ///
    /// For the small turns of a frame this is as good as a spherical interpolation, and the same on all machines.
    pub(crate) fn lerp(&self, to: &Self, share: f32) -> Self {
        let turn = if self.rotation.dot(to.rotation) < 0.0 {
            -to.rotation
        } else {
            to.rotation
        };
        Self {
            rotation: (self.rotation + (turn - self.rotation) * share).normalize(),
            translation: self.translation + (to.translation - self.translation) * share,
        }
    }

    /// How far it is from another, m, and turned, rad.
    pub(crate) fn way(&self, to: &Self) -> (f32, f32) {
        let distance = self.translation.distance(to.translation);
        (distance, self.rotation.angle_between(to.rotation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_turn_the_shorter_way() {
        let [a, b] = [0.1, 0.3].map(|angle| Frame {
            rotation: Quat::from_rotation_y(angle),
            translation: Vec3::X * angle,
        });
        let other = Frame {
            rotation: -b.rotation,
            ..b
        };
        let half = a.lerp(&other, 0.5);
        assert!(half.rotation.angle_between(Quat::from_rotation_y(0.2)) < 1e-3);
        assert!((half.translation.x - 0.2).abs() < 1e-6);
    }
}
