//! Wind that blows in a part of space only: fans, explosions, whirls.

use super::{collide::Pose, simd::select};
use bevy::{
    math::{Mat3, Vec3},
    reflect::{Reflect, prelude::ReflectDefault},
};
#[cfg(feature = "serialize")]
use {
    bevy::reflect::{ReflectDeserialize, ReflectSerialize},
    serde::{Deserialize, Serialize},
};

/// Where a wind zone is, in its own frame. Lengths in metres.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum ZoneShape {
    /// All of space. It has no edge to fade to.
    #[default]
    Everywhere,
    /// A ball around the origin.
    Sphere {
        /// Its radius.
        radius: f32,
    },
    /// A box around the origin.
    Cuboid {
        /// Half of its width, height and depth.
        half_size: Vec3,
    },
}

/// Which way the air of a zone moves, in the frame of the zone.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum ZoneFlow {
    /// Along −Z, which is forward in Bevy: a fan.
    #[default]
    Forward,
    /// Away from the origin: an explosion; with a negative strength a pull.
    Radial,
    /// Around the +Y axis, counter-clockwise as seen from its tip: a whirl.
    Vortex,
}

/// How the wind of a zone fades from the middle to the edge.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum Falloff {
    /// Full strength up to the edge, nothing beyond.
    None,
    /// 1 − q, where q is 0 in the middle and 1 at the edge.
    Linear,
    /// 1 − 3q² + 2q³: as even in the middle as at the edge.
    #[default]
    Smooth,
}

/// A wind zone in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// Where it blows.
    pub shape: ZoneShape,
    /// Which way.
    pub flow: ZoneFlow,
    /// How it fades.
    pub falloff: Falloff,
    /// Speed of its air, m/s.
    pub strength: f32,
    /// Nearer to the origin (radial) or to the axis (vortex) than this, m, the speed shrinks in
    /// proportion to the distance, since there no direction is left.
    pub core: f32,
    /// Where its frame is in the world.
    pub pose: Pose,
}

impl ZoneShape {
    /// Whether every length is finite and above zero.
    pub fn is_valid(&self) -> bool {
        let good = |length: f32| length.is_finite() && length > 0.0;
        match *self {
            Self::Everywhere => true,
            Self::Sphere { radius } => good(radius),
            Self::Cuboid { half_size } => half_size.to_array().into_iter().all(good),
        }
    }

    /// Numbers by which it is told from all others: its kind, and its lengths, m.
    pub(crate) fn numbers(&self) -> (u32, [f32; 3]) {
        match *self {
            Self::Everywhere => (0, [0.0; 3]),
            Self::Sphere { radius } => (1, [radius, 0.0, 0.0]),
            Self::Cuboid { half_size } => (2, half_size.to_array()),
        }
    }

    /// How far out a place is: 0 in the middle, 1 at the edge.
    #[inline(always)]
    fn outness(&self, local: Vec3) -> f32 {
        match *self {
            Self::Everywhere => 0.0,
            Self::Sphere { radius } => local.length() / radius,
            Self::Cuboid { half_size } => {
                let [x, y, z] = (local.abs() / half_size).to_array();
                let wider = select(x > y, x, y);
                select(wider > z, wider, z)
            }
        }
    }

    /// Whether any of it may be in the box between two corners, given where its middle is.
    fn reaches(&self, middle: Vec3, [low, high]: [Vec3; 2]) -> bool {
        let radius = match *self {
            Self::Everywhere => return true,
            Self::Sphere { radius } => radius,
            Self::Cuboid { half_size } => half_size.length(),
        };
        // A bit more, for what is rounded.
        middle.distance(middle.clamp(low, high)) <= radius * 1.001
    }
}

impl ZoneFlow {
    /// The velocity of air of 1 m/s.
    #[inline(always)]
    fn velocity(self, local: Vec3, core: f32) -> Vec3 {
        let (way, distance) = match self {
            Self::Forward => return Vec3::NEG_Z,
            Self::Radial => (local, local.length()),
            Self::Vortex => {
                // +Y × local
                let way = Vec3::new(local.z, 0.0, -local.x);
                (way, way.length())
            }
        };
        way / select(distance > core, distance, core)
    }
}

impl Falloff {
    /// The share of the strength that is left so far out.
    #[inline(always)]
    fn share(self, outness: f32) -> f32 {
        let share = match self {
            Self::None => 1.0,
            Self::Linear => 1.0 - outness,
            Self::Smooth => 1.0 - outness * outness * (3.0 - 2.0 * outness),
        };
        select(outness <= 1.0, share, 0.0)
    }
}

impl Zone {
    /// Whether it may blow anywhere in the box between two corners, in the axes of the world.
    pub(crate) fn reaches(&self, bounds: [Vec3; 2]) -> bool {
        Local::new(self, Vec3::ZERO).reaches(bounds)
    }

    /// The velocity of its air at a place in the world, m/s.
    pub fn wind(&self, place: Vec3) -> Vec3 {
        Local::new(self, Vec3::ZERO).wind(place)
    }
}

/// A zone relative to the origin of a cloth.
#[derive(Clone, Copy)]
pub(super) struct Local {
    shape: ZoneShape,
    flow: ZoneFlow,
    falloff: Falloff,
    strength: f32,
    core: f32,
    middle: Vec3,
    axes: Mat3,
}

impl Local {
    pub(super) fn new(zone: &Zone, origin: Vec3) -> Self {
        Self {
            shape: zone.shape,
            flow: zone.flow,
            falloff: zone.falloff,
            strength: zone.strength,
            core: zone.core,
            middle: zone.pose.translation - origin,
            axes: Mat3::from_quat(zone.pose.rotation),
        }
    }

    pub(super) fn reaches(&self, bounds: [Vec3; 2]) -> bool {
        self.strength != 0.0 && self.shape.reaches(self.middle, bounds)
    }

    #[inline(always)]
    pub(super) fn wind(&self, place: Vec3) -> Vec3 {
        let from_middle = place - self.middle;
        let [x, y, z] = [self.axes.x_axis, self.axes.y_axis, self.axes.z_axis];
        let local = Vec3::new(x.dot(from_middle), y.dot(from_middle), z.dot(from_middle));
        let share = self.falloff.share(self.shape.outness(local));
        let velocity = self.flow.velocity(local, self.core) * (self.strength * share);
        x * velocity.x + y * velocity.y + z * velocity.z
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::math::Quat;

    fn zone(shape: ZoneShape, flow: ZoneFlow, falloff: Falloff) -> Zone {
        Zone {
            shape,
            flow,
            falloff,
            strength: 8.0,
            core: 0.1,
            pose: Pose {
                rotation: Quat::IDENTITY,
                translation: Vec3::new(1.0, 2.0, 3.0),
            },
        }
    }

    const MIDDLE: Vec3 = Vec3::new(1.0, 2.0, 3.0);
    const BALL: ZoneShape = ZoneShape::Sphere { radius: 2.0 };
    const BOX: ZoneShape = ZoneShape::Cuboid {
        half_size: Vec3::new(1.0, 2.0, 4.0),
    };

    fn assert_close(got: Vec3, expected: Vec3) {
        assert!((got - expected).length() < 1e-5, "{got} for {expected}");
    }

    #[test]
    fn a_ball_fades_as_documented_and_ends_at_its_edge() {
        let cases = [
            (Falloff::None, [8.0, 8.0, 8.0]),
            (Falloff::Linear, [8.0, 6.0, 4.0]),
            (Falloff::Smooth, [8.0, 6.75, 4.0]),
        ];
        for (falloff, expected) in cases {
            let zone = zone(BALL, ZoneFlow::Forward, falloff);
            for (out, expected) in [0.0, 0.5, 1.0].into_iter().zip(expected) {
                let place = MIDDLE + Vec3::new(0.6, 0.0, 0.8) * out;
                assert_close(zone.wind(place), Vec3::NEG_Z * expected);
            }
            assert_eq!(zone.wind(MIDDLE + Vec3::Y * 2.001), Vec3::ZERO);
        }
    }

    #[test]
    fn a_box_fades_towards_each_of_its_faces() {
        let zone = zone(BOX, ZoneFlow::Forward, Falloff::Linear);
        for half_way in [Vec3::X * 0.5, Vec3::Y, Vec3::NEG_Z * 2.0] {
            assert_close(zone.wind(MIDDLE + half_way), Vec3::NEG_Z * 4.0);
            assert_close(zone.wind(MIDDLE + half_way * 1.999), Vec3::NEG_Z * 0.004);
            assert_eq!(zone.wind(MIDDLE + half_way * 2.01), Vec3::ZERO);
        }
    }

    #[test]
    fn it_turns_with_its_frame() {
        let mut zone = zone(BOX, ZoneFlow::Forward, Falloff::None);
        zone.pose.rotation = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
        // Its −Z is now −X, and so is its longest side.
        assert_close(zone.wind(MIDDLE + Vec3::X * 3.9), Vec3::NEG_X * 8.0);
        assert_eq!(zone.wind(MIDDLE + Vec3::Z * 1.1), Vec3::ZERO);
    }

    #[test]
    fn radial_air_leaves_the_middle_and_a_vortex_circles_its_axis() {
        let fan = zone(BALL, ZoneFlow::Radial, Falloff::None);
        let way = Vec3::new(0.6, 0.0, -0.8);
        assert_close(fan.wind(MIDDLE + way), way * 8.0);
        // Half of the core from the middle it has half of its speed, in the middle none.
        assert_close(fan.wind(MIDDLE + way * 0.05), way * 4.0);
        assert_eq!(fan.wind(MIDDLE), Vec3::ZERO);
        let whirl = zone(ZoneShape::Everywhere, ZoneFlow::Vortex, Falloff::None);
        for height in [-50.0, 0.0, 7.0] {
            let on_axis = MIDDLE + Vec3::Y * height;
            assert_close(whirl.wind(on_axis + Vec3::X), Vec3::NEG_Z * 8.0);
            assert_close(whirl.wind(on_axis + Vec3::Z), Vec3::X * 8.0);
            assert_eq!(whirl.wind(on_axis), Vec3::ZERO);
        }
    }

    #[test]
    fn what_does_not_reach_a_box_has_no_wind_in_it() {
        for shape in [BALL, BOX] {
            let zone = zone(shape, ZoneFlow::Radial, Falloff::None);
            let local = Local::new(&zone, Vec3::ZERO);
            let mut reached = 0;
            for i in 0..1000 {
                let some = |k: i32| ((i * k) % 101) as f32 * 0.12 - 4.0;
                let low = Vec3::new(some(7), some(11), some(13));
                let high = low + Vec3::new(1.0, 0.2, 0.5);
                if local.reaches([low, high]) {
                    reached += 1;
                } else {
                    let corners = [low, high, low.midpoint(high), low.with_x(high.x)];
                    assert!(corners.into_iter().all(|at| zone.wind(at) == Vec3::ZERO));
                }
            }
            assert!((1..1000).contains(&reached), "{reached}");
        }
    }

    #[test]
    fn shapes_without_size_are_not_valid() {
        assert!(BALL.is_valid() && BOX.is_valid() && ZoneShape::Everywhere.is_valid());
        for radius in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let half_size = Vec3::new(1.0, radius, 1.0);
            assert!(!ZoneShape::Sphere { radius }.is_valid());
            assert!(!ZoneShape::Cuboid { half_size }.is_valid());
        }
    }
}
