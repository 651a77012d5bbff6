//! Rigid poses, and the interpolation between two of them.

use bevy::math::{Quat, Vec3};

/// Position and orientation of a collider, body or reference frame in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Pose {
    /// Rotation from local axes to world axes.
    pub rotation: Quat,
    /// World position of the local origin, m.
    pub translation: Vec3,
}

impl Pose {
    /// Identity pose.
    pub const ORIGIN: Self = Self::from_translation(Vec3::ZERO);

    /// Returns an unrotated pose at this position, m.
    pub const fn from_translation(translation: Vec3) -> Self {
        Self {
            rotation: Quat::IDENTITY,
            translation,
        }
    }

    /// Returns whether every number is finite and the rotation is normalized.
    pub fn is_valid(&self) -> bool {
        self.rotation.is_finite() && self.rotation.is_normalized() && self.translation.is_finite()
    }

    /// Transforms a pose given in the frame of this one to world space.
    pub(crate) fn compose(&self, local: &Self) -> Self {
        Self {
            rotation: self.rotation * local.rotation,
            translation: self.translation + self.rotation * local.translation,
        }
    }

    /// Interpolates between two poses: linearly for the translation, along the shorter arc for the rotation.
    pub(in crate::solver) fn interpolate(self, end: Self, t: f32) -> Self {
        Self {
            rotation: nlerp(self.rotation, end.rotation, t),
            translation: self.translation + (end.translation - self.translation) * t,
        }
    }
}

/// Normalized linear interpolation. Unlike `slerp` it needs no sine, which differs in its last bits between
/// platforms; over one step the difference is negligible.
fn nlerp(start: Quat, end: Quat, t: f32) -> Quat {
    if start == end {
        return start;
    }
    let end = if start.dot(end) < 0.0 { -end } else { end };
    let mixed = start * (1.0 - t) + end * t;
    let length = mixed.length();
    if length > 0.0 { mixed / length } else { end }
}
