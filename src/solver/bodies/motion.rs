//! How a rigid body moves during a fixed step.

use crate::solver::collide::{Pose, TELEPORT_SPEED};
use bevy::math::{Mat3, Quat, Vec3};

/// How a rigid body moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Its centre of mass, and how it is turned.
    pub pose: Pose,
    /// Velocity of its centre of mass, m/s.
    pub velocity: Vec3,
    /// Angular velocity, rad/s.
    pub spin: Vec3,
    /// What the inverse of its mass is along each axis of the world, 1/kg; 0 where it does not give way.
    pub inverse_mass: Vec3,
    /// The inverse of its inertia about its centre of mass, in world axes, 1/(kg m²).
    pub inverse_inertia: Mat3,
    /// How all but the cloth accelerates it, m/s².
    pub acceleration: Vec3,
    /// And turns it, rad/s².
    pub spin_acceleration: Vec3,
    /// Where the cloth saw it at the end of the last step. It makes up for the difference on its way through
    /// this one, so that it jumps over nothing; what is farther away than anything moves was put there.
    pub seen: Pose,
    /// It is at rest and only notes what it is given.
    pub asleep: bool,
    /// What the cloth has given it in this step, N s, and about its centre of mass, N m s.
    pub impulse: Vec3,
    /// See there.
    pub twist: Vec3,
    /// Its velocity and angular velocity when the step began.
    pub started: [Vec3; 2],
    /// Where it was when the substep began.
    pub(crate) before: Pose,
    /// From where it is to where it was seen when the step began, m.
    pub(crate) lag: Vec3,
}

impl Motion {
    /// One that stands still and yields to nothing.
    pub fn still(pose: Pose) -> Self {
        Self {
            pose,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            inverse_mass: Vec3::ZERO,
            inverse_inertia: Mat3::ZERO,
            acceleration: Vec3::ZERO,
            spin_acceleration: Vec3::ZERO,
            seen: pose,
            asleep: false,
            impulse: Vec3::ZERO,
            twist: Vec3::ZERO,
            started: [Vec3::ZERO; 2],
            before: pose,
            lag: Vec3::ZERO,
        }
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.pose.is_valid()
            && self.seen.is_valid()
            && [
                self.velocity,
                self.spin,
                self.inverse_mass,
                self.acceleration,
                self.spin_acceleration,
            ]
            .iter()
            .all(|v| v.is_finite())
            && self.inverse_inertia.is_finite()
    }

    /// Whether it has a mass: what it is given counts.
    pub fn yields(&self) -> bool {
        self.inverse_mass != Vec3::ZERO || self.inverse_inertia != Mat3::ZERO
    }

    pub(super) fn begin_step(&mut self, dt: f32) {
        self.impulse = Vec3::ZERO;
        self.twist = Vec3::ZERO;
        self.started = [self.velocity, self.spin];
        self.before = self.pose;
        self.lag = self.seen.translation - self.pose.translation;
        if self.lag.length() > TELEPORT_SPEED * dt {
            self.seen = self.pose;
            self.lag = Vec3::ZERO;
        }
    }

    /// Where one that does not yield will be at the end of a step of this length, s.
    pub(super) fn end(&self, dt: f32) -> Pose {
        let mut end = *self;
        end.advance(dt);
        end.pose
    }

    /// Where it is seen when a step of this length, s, ends, or ended.
    pub fn last_seen(&self, dt: f32) -> Pose {
        // What yields goes on in the substeps.
        match self.yields() {
            true => self.pose,
            false => self.end(dt),
        }
    }

    /// Goes on by a substep of this length, s.
    pub(super) fn advance(&mut self, dt: f32) {
        self.before = self.pose;
        if self.asleep {
            return;
        }
        self.velocity += self.acceleration * dt;
        self.spin += self.spin_acceleration * dt;
        self.drift(self.velocity, self.spin, dt);
    }

    fn drift(&mut self, velocity: Vec3, spin: Vec3, dt: f32) {
        self.pose.translation += velocity * dt;
        // For the small turn of a substep: half of its tangent, without a sine, whose last bits are not
        // the same on all machines.
        let half = spin * (0.5 * dt);
        let turn = Quat::from_xyzw(half.x, half.y, half.z, 1.0);
        self.pose.rotation = (turn * self.pose.rotation).normalize();
    }

    /// Where it is seen when a substep begins and when it ends.
    pub(super) fn during(&self, [substep, substeps]: [u32; 2]) -> [Pose; 2] {
        let n = substeps.max(1) as f32;
        let seen = |pose: Pose, ended: u32| Pose {
            translation: pose.translation + self.lag * (1.0 - ended as f32 / n),
            ..pose
        };
        [seen(self.before, substep), seen(self.pose, substep + 1)]
    }

    /// Gives it an impulse and a twist. It has moved by them already in the substep of this length, s, that it
    /// is in.
    pub(super) fn give(&mut self, [impulse, twist]: [Vec3; 2], dt: f32) {
        let (velocity, spin) = (self.velocity, self.spin);
        self.impulse += impulse;
        self.twist += twist;
        if !self.asleep {
            self.velocity += self.inverse_mass * impulse;
            self.spin += self.inverse_inertia * twist;
        }
        self.drift(self.velocity - velocity, self.spin - spin, dt);
    }

    /// What velocity an impulse of one newton second gives it at a place, relative to its centre of
    /// mass, in the mean over all directions, 1/kg.
    pub fn mobility(&self, at: Vec3) -> f32 {
        let turns = |axis: Vec3| {
            let twist = at.cross(axis);
            twist.dot(self.inverse_inertia * twist)
        };
        let straight = self.inverse_mass.element_sum();
        (straight + turns(Vec3::X) + turns(Vec3::Y) + turns(Vec3::Z)) / 3.0
    }
}
