//! Takes a cloth along with what it belongs to, so that it feels less of how that moves.
//!
//! A cape in the world feels all motion of its character: running at 8 m/s it flies straight back, and a turn
//! on the spot within a step tears it around. Carried along rigidly for a share of that motion, it feels the
//! rest. (Engines call this inertia scale or world velocity scale.)

use super::{
    collide::{Collider, Pose},
    particles::ParticleArrays,
    soa::SoaVec3,
};
use bevy::math::{Mat3, Quat, Vec3};

/// How much of the motion of its frame a cloth feels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feeling {
    /// Share of how the frame moves that is felt, 0 to 1.
    pub linear: f32,
    /// Share of how it turns.
    pub angular: f32,
    /// At most this much is felt, of the share, m/s.
    pub max_speed: f32,
    /// Likewise of the turns, rad/s.
    pub max_turn: f32,
}

/// A rigid motion that a cloth is taken along with, in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carry {
    /// What it turns about, m.
    about: Vec3,
    rotation: Quat,
    translation: Vec3,
}

impl Carry {
    /// The whole motion of a frame.
    pub fn whole(start: &Pose, end: &Pose) -> Self {
        Self {
            about: start.translation,
            rotation: turn(start, end),
            translation: end.translation - start.translation,
        }
    }

    /// The part of the motion of a frame in `dt` seconds that is not felt; `None` if all is.
    ///
    /// Turns are taken for small: a share of one is a share of the chord. That needs no sine, so that all
    /// machines get the same bits.
    pub fn unfelt(start: &Pose, end: &Pose, by: &Feeling, dt: f32) -> Option<Self> {
        let whole = Self::whole(start, end);
        let felt = |share: f32, fastest: f32, way: f32| {
            let most = fastest.max(0.0) * dt;
            let share = share.clamp(0.0, 1.0);
            // Compared this way round, an infinite limit over no way is none.
            if share * way > most {
                most / way
            } else {
                share
            }
        };
        let linear = felt(by.linear, by.max_speed, whole.translation.length());
        let angle = 2.0 * whole.rotation.xyz().length();
        let angular = felt(by.angular, by.max_turn, angle);
        if linear >= 1.0 && angular >= 1.0 {
            return None;
        }
        let [x, y, z, w] = whole.rotation.to_array();
        let carried = 1.0 - angular;
        let rotation =
            Quat::from_xyzw(x * carried, y * carried, z * carried, angular + w * carried);
        Some(Self {
            rotation: normalized(rotation),
            translation: whole.translation * (1.0 - linear),
            ..whole
        })
    }

    /// Whether nothing moves.
    pub fn is_still(&self) -> bool {
        self.rotation == Quat::IDENTITY && self.translation == Vec3::ZERO
    }

    /// The way back.
    pub fn inverse(&self) -> Self {
        Self {
            about: self.about + self.translation,
            rotation: self.rotation.conjugate(),
            translation: -self.translation,
        }
    }

    /// How it turns.
    pub fn turn(&self) -> Mat3 {
        Mat3::from_quat(self.rotation)
    }

    /// A place in the world that is taken along.
    pub fn point(&self, place: Vec3) -> Vec3 {
        self.direction(place - self.about) + self.about + self.translation
    }

    /// A direction that is turned along.
    pub fn direction(&self, along: Vec3) -> Vec3 {
        self.rotation * along
    }

    /// A pose that is taken along.
    pub fn pose(&self, pose: &Pose) -> Pose {
        Pose {
            rotation: normalized(self.rotation * pose.rotation),
            translation: self.point(pose.translation),
        }
    }

    /// A collider as cloth sees it that was taken along: if it moves with the same frame, only what is left
    /// of its motion.
    pub fn seen(&self, collider: &Collider) -> Collider {
        let start = self.pose(&collider.start);
        let left = |start: &Pose| start.translation.distance_squared(collider.end.translation);
        if left(&start) < left(&collider.start) {
            Collider { start, ..*collider }
        } else {
            *collider
        }
    }

    /// Moves particles, and turns their velocities.
    pub fn apply(&self, particles: &mut ParticleArrays) {
        self.place(&mut particles.position, particles.origin);
        let turn = self.turn();
        map(&mut particles.displacement, |d| turn * d);
    }

    /// Moves places that are relative to this origin.
    pub fn place(&self, places: &mut SoaVec3, origin: Vec3) {
        let turn = self.turn();
        let about = self.about - origin;
        let to = about + self.translation;
        map(places, |x| turn * (x - about) + to);
    }
}

/// The turn from one pose to another, by the shorter way.
fn turn(start: &Pose, end: &Pose) -> Quat {
    let turn = normalized(end.rotation * start.rotation.conjugate());
    if turn.w < 0.0 { -turn } else { turn }
}

fn normalized(q: Quat) -> Quat {
    let length = (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w).sqrt();
    if length > 0.0 && length.is_finite() {
        Quat::from_xyzw(q.x / length, q.y / length, q.z / length, q.w / length)
    } else {
        Quat::IDENTITY
    }
}

fn map(vectors: &mut SoaVec3, by: impl Fn(Vec3) -> Vec3) {
    let planes = vectors.x.iter_mut().zip(vectors.y.iter_mut());
    for ((x, y), z) in planes.zip(vectors.z.iter_mut()) {
        [*x, *y, *z] = by(Vec3::new(*x, *y, *z)).to_array();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Feeling = Feeling {
        linear: 1.0,
        angular: 1.0,
        max_speed: f32::INFINITY,
        max_turn: f32::INFINITY,
    };

    fn pose(angle: f32, translation: Vec3) -> Pose {
        Pose {
            rotation: Quat::from_rotation_y(angle),
            translation,
        }
    }

    /// Where a particle at (2, 0, 0) goes that moves along x, and which way it then moves.
    fn carried(by: &Carry) -> [Vec3; 2] {
        let origin = Vec3::new(1.0, 0.0, 0.0);
        let place = [Vec3::X].into_iter().collect();
        let mut p = ParticleArrays::new(origin, place, vec![1.0]);
        p.displacement.set(0, Vec3::X);
        by.apply(&mut p);
        [p.world_position(0), p.displacement.get(0)]
    }

    fn close(a: Vec3, b: Vec3) {
        assert!((a - b).length() < 1e-5, "{a} is not {b}");
    }

    #[test]
    fn the_whole_motion_is_rigid() {
        let quarter = std::f32::consts::FRAC_PI_2;
        let whole = Carry::whole(&pose(0.0, Vec3::ZERO), &pose(quarter, Vec3::Y));
        let [place, way] = carried(&whole);
        close(place, Vec3::new(0.0, 1.0, -2.0));
        close(way, Vec3::NEG_Z);
    }

    #[test]
    fn what_is_felt_is_not_carried() {
        let [start, end] = [pose(0.0, Vec3::ZERO), pose(0.1, Vec3::Y * 0.1)];
        let unfelt = |by: &Feeling| Carry::unfelt(&start, &end, by, 0.1);
        assert_eq!(unfelt(&ALL), None);
        let none = Feeling {
            linear: 0.0,
            angular: 0.0,
            ..ALL
        };
        let [place, _] = carried(&unfelt(&none).unwrap());
        close(place, carried(&Carry::whole(&start, &end))[0]);
        let half = Feeling {
            linear: 0.5,
            angular: 0.5,
            ..ALL
        };
        let [place, way] = carried(&unfelt(&half).unwrap());
        close(
            place,
            Quat::from_rotation_y(0.05) * (Vec3::X * 2.0) + Vec3::Y * 0.05,
        );
        close(way, Quat::from_rotation_y(0.05) * Vec3::X);
        // It moves at 1 m/s and turns by 1 rad/s.
        let limited = Feeling {
            max_speed: 0.25,
            max_turn: 0.2,
            ..ALL
        };
        let [place, _] = carried(&unfelt(&limited).unwrap());
        close(
            place,
            Quat::from_rotation_y(0.08) * (Vec3::X * 2.0) + Vec3::Y * 0.075,
        );
    }

    #[test]
    fn a_frame_that_stands_still_carries_nothing() {
        let here = pose(1.0, Vec3::ONE);
        let none = Feeling {
            linear: 0.0,
            angular: 0.0,
            max_speed: 0.0,
            max_turn: 0.0,
        };
        let [place, way] = carried(&Carry::unfelt(&here, &here, &none, 0.1).unwrap());
        close(place, Vec3::X * 2.0);
        close(way, Vec3::X);
        assert_eq!(Carry::unfelt(&here, &here, &ALL, 0.1), None);
    }
}
