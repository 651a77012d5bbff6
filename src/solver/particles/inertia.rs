//! Reduces the inertia of a cloth: moves it rigidly with a fraction of the motion of its reference frame.
//!
//! A cape simulated in the world feels all motion of its character: at 8 m/s it flies straight back, and a turn on
//! the spot within a step swings it around. Moved rigidly by a fraction of that motion, it feels only the rest.
//! (Engines call this inertia scale or world velocity scale.)

use crate::solver::{math::pose::Pose, particles::ParticleArrays, simd::soa::SoaVec3};
use bevy::math::{Affine3A, Mat3, Mat3A, Quat, Vec3};

/// Fraction of the motion of its reference frame that a cloth feels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InertiaScale {
    /// Fraction of the frame's translation that is felt, 0 to 1.
    pub linear: f32,
    /// Fraction of the frame's rotation that is felt, 0 to 1.
    pub angular: f32,
    /// Upper limit of the felt speed, m/s.
    pub max_speed: f32,
    /// Upper limit of the felt angular speed, rad/s.
    pub max_angular_speed: f32,
}

/// Rigid motion of a reference frame in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameMotion {
    /// Centre of the rotation, m.
    pivot: Vec3,
    rotation: Quat,
    translation: Vec3,
}

impl FrameMotion {
    /// Returns the whole motion of a frame between two poses.
    pub fn between(start: &Pose, end: &Pose) -> Self {
        Self {
            pivot: start.translation,
            rotation: shortest_rotation(start, end),
            translation: end.translation - start.translation,
        }
    }

    /// Returns the part of the motion of a frame in `dt` seconds that is not felt; `None` if all of it is felt.
    ///
    /// Uses the small-angle approximation: a fraction of a rotation is a fraction of its chord. That needs no
    /// sine, so all machines get the same bits.
    pub fn unfelt(start: &Pose, end: &Pose, scale: &InertiaScale, dt: f32) -> Option<Self> {
        let whole = Self::between(start, end);
        let felt = |fraction: f32, max_speed: f32, distance: f32| {
            let max_distance = max_speed.max(0.0) * dt;
            let fraction = fraction.clamp(0.0, 1.0);
            // Compared in this form, an infinite limit over a distance of 0 is no limit.
            if fraction * distance > max_distance {
                max_distance / distance
            } else {
                fraction
            }
        };
        let linear = felt(scale.linear, scale.max_speed, whole.translation.length());
        let angle = 2.0 * whole.rotation.xyz().length();
        let angular = felt(scale.angular, scale.max_angular_speed, angle);
        if linear >= 1.0 && angular >= 1.0 {
            return None;
        }
        let [x, y, z, w] = whole.rotation.to_array();
        let unfelt = 1.0 - angular;
        let rotation = Quat::from_xyzw(x * unfelt, y * unfelt, z * unfelt, angular + w * unfelt);
        Some(Self {
            rotation: normalized(rotation),
            translation: whole.translation * (1.0 - linear),
            ..whole
        })
    }

    /// Returns whether this is no motion.
    pub(crate) fn is_identity(&self) -> bool {
        self.rotation == Quat::IDENTITY && self.translation == Vec3::ZERO
    }

    /// Returns the inverse motion.
    pub fn inverse(&self) -> Self {
        Self {
            pivot: self.pivot + self.translation,
            rotation: self.rotation.conjugate(),
            translation: -self.translation,
        }
    }

    /// Returns the rotation as a matrix.
    pub(crate) fn rotation_matrix(&self) -> Mat3 {
        Mat3::from_quat(self.rotation)
    }

    /// Transforms a point in the world.
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        self.transform_direction(point - self.pivot) + self.pivot + self.translation
    }

    /// Rotates a direction.
    pub(crate) fn transform_direction(&self, direction: Vec3) -> Vec3 {
        self.rotation * direction
    }

    /// Transforms an affine map whose translation is relative to an origin.
    pub(crate) fn transform_affine(&self, affine: &Affine3A, origin: Vec3) -> Affine3A {
        let at = self.transform_point(origin + Vec3::from(affine.translation)) - origin;
        Affine3A {
            matrix3: Mat3A::from(self.rotation_matrix()) * affine.matrix3,
            translation: at.into(),
        }
    }

    /// Transforms a pose.
    pub(crate) fn transform_pose(&self, pose: &Pose) -> Pose {
        Pose {
            rotation: normalized(self.rotation * pose.rotation),
            translation: self.transform_point(pose.translation),
        }
    }

    /// Returns the pose from which a collider still moves to `end` after this motion: its moved start, if that is nearer to
    /// the end, which tells that the collider moves with the frame.
    pub(crate) fn remaining_start(&self, start: Pose, end: Pose) -> Pose {
        let moved = self.transform_pose(&start);
        let remaining = |start: &Pose| start.translation.distance_squared(end.translation);
        if remaining(&moved) < remaining(&start) {
            moved
        } else {
            start
        }
    }

    /// Moves particles and rotates their velocities.
    pub fn apply(&self, particles: &mut ParticleArrays) {
        self.transform_positions(&mut particles.position, particles.origin);
        let rotation = self.rotation_matrix();
        map_vectors(&mut particles.displacement, |d| rotation * d);
    }

    /// Moves positions that are relative to this origin.
    pub fn transform_positions(&self, positions: &mut SoaVec3, origin: Vec3) {
        let rotation = self.rotation_matrix();
        let pivot = self.pivot - origin;
        let to = pivot + self.translation;
        map_vectors(positions, |x| rotation * (x - pivot) + to);
    }
}

/// Returns the rotation from one pose to another, by the smaller angle.
fn shortest_rotation(start: &Pose, end: &Pose) -> Quat {
    let rotation = normalized(end.rotation * start.rotation.conjugate());
    if rotation.w < 0.0 {
        -rotation
    } else {
        rotation
    }
}

fn normalized(q: Quat) -> Quat {
    let length = (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w).sqrt();
    if length > 0.0 && length.is_finite() {
        Quat::from_xyzw(q.x / length, q.y / length, q.z / length, q.w / length)
    } else {
        Quat::IDENTITY
    }
}

fn map_vectors(vectors: &mut SoaVec3, f: impl Fn(Vec3) -> Vec3) {
    let planes = vectors.x.iter_mut().zip(vectors.y.iter_mut());
    for ((x, y), z) in planes.zip(vectors.z.iter_mut()) {
        [*x, *y, *z] = f(Vec3::new(*x, *y, *z)).to_array();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: InertiaScale = InertiaScale {
        linear: 1.0,
        angular: 1.0,
        max_speed: f32::INFINITY,
        max_angular_speed: f32::INFINITY,
    };

    fn pose(angle: f32, translation: Vec3) -> Pose {
        Pose {
            rotation: Quat::from_rotation_y(angle),
            translation,
        }
    }

    /// Returns the new position of a particle at (2, 0, 0) that moves along x, and its new displacement.
    fn moved(motion: &FrameMotion) -> [Vec3; 2] {
        let origin = Vec3::new(1.0, 0.0, 0.0);
        let positions = [Vec3::X].into_iter().collect();
        let mut p = ParticleArrays::new(origin, positions, vec![1.0]);
        p.displacement.set(0, Vec3::X);
        motion.apply(&mut p);
        [p.world_position(0), p.displacement.get(0)]
    }

    fn assert_close(a: Vec3, b: Vec3) {
        assert!((a - b).length() < 1e-5, "{a} is not {b}");
    }

    #[test]
    fn the_whole_motion_is_rigid() {
        let quarter = std::f32::consts::FRAC_PI_2;
        let whole = FrameMotion::between(&pose(0.0, Vec3::ZERO), &pose(quarter, Vec3::Y));
        let [position, displacement] = moved(&whole);
        assert_close(position, Vec3::new(0.0, 1.0, -2.0));
        assert_close(displacement, Vec3::NEG_Z);
    }

    #[test]
    fn only_the_unfelt_motion_is_applied() {
        let [start, end] = [pose(0.0, Vec3::ZERO), pose(0.1, Vec3::Y * 0.1)];
        let unfelt = |scale: &InertiaScale| FrameMotion::unfelt(&start, &end, scale, 0.1);
        assert_eq!(unfelt(&ALL), None);
        let none = InertiaScale {
            linear: 0.0,
            angular: 0.0,
            ..ALL
        };
        let [position, _] = moved(&unfelt(&none).unwrap());
        assert_close(position, moved(&FrameMotion::between(&start, &end))[0]);
        let half = InertiaScale {
            linear: 0.5,
            angular: 0.5,
            ..ALL
        };
        let [position, displacement] = moved(&unfelt(&half).unwrap());
        assert_close(
            position,
            Quat::from_rotation_y(0.05) * (Vec3::X * 2.0) + Vec3::Y * 0.05,
        );
        assert_close(displacement, Quat::from_rotation_y(0.05) * Vec3::X);
        // The frame moves at 1 m/s and rotates by 1 rad/s.
        let limited = InertiaScale {
            max_speed: 0.25,
            max_angular_speed: 0.2,
            ..ALL
        };
        let [position, _] = moved(&unfelt(&limited).unwrap());
        assert_close(
            position,
            Quat::from_rotation_y(0.08) * (Vec3::X * 2.0) + Vec3::Y * 0.075,
        );
    }

    #[test]
    fn a_frame_at_rest_moves_nothing() {
        let here = pose(1.0, Vec3::ONE);
        let none = InertiaScale {
            linear: 0.0,
            angular: 0.0,
            max_speed: 0.0,
            max_angular_speed: 0.0,
        };
        let [position, displacement] =
            moved(&FrameMotion::unfelt(&here, &here, &none, 0.1).unwrap());
        assert_close(position, Vec3::X * 2.0);
        assert_close(displacement, Vec3::X);
        assert_eq!(FrameMotion::unfelt(&here, &here, &ALL, 0.1), None);
    }
}
