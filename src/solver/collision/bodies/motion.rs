//! Motion of a rigid body during a fixed step.

use crate::solver::{collision::collider::TELEPORT_SPEED, math::pose::Pose};
use bevy::math::{Mat3, Quat, Vec3};

/// Motion state of a rigid body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyMotion {
    /// World position of the centre of mass, and orientation.
    pub pose: Pose,
    /// Velocity of the centre of mass, m/s.
    pub velocity: Vec3,
    /// Angular velocity, rad/s.
    pub angular_velocity: Vec3,
    /// Inverse mass along each world axis, 1/kg; 0 along locked axes.
    pub inverse_mass: Vec3,
    /// Inverse inertia about the centre of mass, in world axes, 1/(kg m²).
    pub inverse_inertia: Mat3,
    /// Acceleration by everything but the cloth, m/s².
    pub acceleration: Vec3,
    /// Angular acceleration by everything but the cloth, rad/s².
    pub angular_acceleration: Vec3,
    /// Pose that the cloth used at the end of the last step. Its offset from [`pose`](Self::pose) is blended
    /// out over the substeps of this step, so that the body skips over no particle; an offset above
    /// 200 m/s times the step length counts as a teleport and is dropped.
    pub cloth_pose: Pose,
    /// Whether the body sleeps: it records impulses but does not move.
    pub asleep: bool,
    /// Impulse received from the cloth in this step, N s.
    pub impulse: Vec3,
    /// Angular impulse about the centre of mass received from the cloth in this step, N m s.
    pub angular_impulse: Vec3,
    /// Velocity, m/s, and angular velocity, rad/s, when the step began.
    pub initial_velocities: [Vec3; 2],
    /// Pose when the substep began.
    pub(crate) before: Pose,
    /// Offset from `pose` to `cloth_pose` when the step began, m.
    pub(crate) lag: Vec3,
}

impl BodyMotion {
    /// Creates the motion of an immovable body at rest.
    pub fn still(pose: Pose) -> Self {
        Self {
            pose,
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
            inverse_mass: Vec3::ZERO,
            inverse_inertia: Mat3::ZERO,
            acceleration: Vec3::ZERO,
            angular_acceleration: Vec3::ZERO,
            cloth_pose: pose,
            asleep: false,
            impulse: Vec3::ZERO,
            angular_impulse: Vec3::ZERO,
            initial_velocities: [Vec3::ZERO; 2],
            before: pose,
            lag: Vec3::ZERO,
        }
    }

    /// Returns whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.pose.is_valid()
            && self.cloth_pose.is_valid()
            && [
                self.velocity,
                self.angular_velocity,
                self.inverse_mass,
                self.acceleration,
                self.angular_acceleration,
            ]
            .iter()
            .all(|v| v.is_finite())
            && self.inverse_inertia.is_finite()
    }

    /// Returns whether the body has a finite mass or inertia, so that cloth can move it.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.inverse_mass != Vec3::ZERO || self.inverse_inertia != Mat3::ZERO
    }

    pub(super) fn begin_step(&mut self, dt: f32) {
        self.impulse = Vec3::ZERO;
        self.angular_impulse = Vec3::ZERO;
        self.initial_velocities = [self.velocity, self.angular_velocity];
        self.before = self.pose;
        self.lag = self.cloth_pose.translation - self.pose.translation;
        if self.lag.length() > TELEPORT_SPEED * dt {
            self.cloth_pose = self.pose;
            self.lag = Vec3::ZERO;
        }
    }

    /// Returns the pose of a kinematic body at the end of a step of length `dt`, s.
    pub(super) fn end(&self, dt: f32) -> Pose {
        let mut end = *self;
        end.advance(dt);
        end.pose
    }

    /// Returns the pose that the cloth uses at the end of a step of length `dt`, s.
    pub fn cloth_pose_at_end(&self, dt: f32) -> Pose {
        // Dynamic bodies are advanced in the substeps.
        match self.is_dynamic() {
            true => self.pose,
            false => self.end(dt),
        }
    }

    /// Advances the body by a substep of length `dt`, s (semi-implicit Euler).
    pub(super) fn advance(&mut self, dt: f32) {
        self.before = self.pose;
        if self.asleep {
            return;
        }
        self.velocity += self.acceleration * dt;
        self.angular_velocity += self.angular_acceleration * dt;
        self.integrate_pose(self.velocity, self.angular_velocity, dt);
    }

    fn integrate_pose(&mut self, velocity: Vec3, angular_velocity: Vec3, dt: f32) {
        self.pose.translation += velocity * dt;
        // Small-angle approximation: sin and cos differ in their last bits between machines.
        let half = angular_velocity * (0.5 * dt);
        let turn = Quat::from_xyzw(half.x, half.y, half.z, 1.0);
        self.pose.rotation = (turn * self.pose.rotation).normalize();
    }

    /// Returns the poses that the cloth uses at the beginning and at the end of a substep, given by its index
    /// and the number of substeps.
    pub(super) fn poses_at(&self, [substep, substeps]: [u32; 2]) -> [Pose; 2] {
        let n = substeps.max(1) as f32;
        let lagging = |pose: Pose, ended: u32| Pose {
            translation: pose.translation + self.lag * (1.0 - ended as f32 / n),
            ..pose
        };
        [
            lagging(self.before, substep),
            lagging(self.pose, substep + 1),
        ]
    }

    /// Applies an impulse, N s, and an angular impulse, N m s. The pose is corrected as if both had acted since
    /// the beginning of the running substep of length `dt`, s.
    pub(super) fn apply_impulse(&mut self, [impulse, angular_impulse]: [Vec3; 2], dt: f32) {
        let (velocity, angular_velocity) = (self.velocity, self.angular_velocity);
        self.impulse += impulse;
        self.angular_impulse += angular_impulse;
        if !self.asleep {
            self.velocity += self.inverse_mass * impulse;
            self.angular_velocity += self.inverse_inertia * angular_impulse;
        }
        self.integrate_pose(
            self.velocity - velocity,
            self.angular_velocity - angular_velocity,
            dt,
        );
    }

    /// Returns the effective inverse mass at a point relative to the centre of mass, averaged over all
    /// directions, 1/kg: the velocity that an impulse of 1 N s gives that point.
    pub(crate) fn inverse_mass_at(&self, at: Vec3) -> f32 {
        let angular_part = |axis: Vec3| {
            let angular_impulse = at.cross(axis);
            angular_impulse.dot(self.inverse_inertia * angular_impulse)
        };
        let linear_part = self.inverse_mass.element_sum();
        (linear_part + angular_part(Vec3::X) + angular_part(Vec3::Y) + angular_part(Vec3::Z)) / 3.0
    }
}
