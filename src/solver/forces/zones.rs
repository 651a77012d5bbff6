//! Local wind: fans, explosions and vortices in a region of space.

use crate::solver::{
    math::{pose::Pose, smoothstep},
    simd::select,
};
use bevy::{
    math::{Mat3, Vec3},
    reflect::{Reflect, prelude::ReflectDefault},
};
#[cfg(feature = "serialize")]
use {
    bevy::reflect::{ReflectDeserialize, ReflectSerialize},
    serde::{Deserialize, Serialize},
};

/// Region of a wind zone in its own frame. Lengths in metres.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum ZoneShape {
    /// All of space; the falloff has no effect.
    #[default]
    Everywhere,
    /// Ball around the origin.
    Sphere {
        /// Radius, m.
        radius: f32,
    },
    /// Box around the origin.
    Cuboid {
        /// Half of the width, height and depth, m.
        half_size: Vec3,
    },
}

/// Direction in which the air of a zone moves, in the frame of the zone.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum ZoneFlow {
    /// Along −Z, which is forward in Bevy, like a fan.
    #[default]
    Forward,
    /// Away from the origin, like an explosion; towards it if the strength is negative.
    Radial,
    /// Around the +Y axis, counter-clockwise seen from its positive end.
    Vortex,
}

/// Falloff of the wind of a zone from its centre to its edge.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum Falloff {
    /// Full strength up to the edge, zero beyond it.
    None,
    /// 1 − q, where q is 0 at the centre and 1 at the edge.
    Linear,
    /// 1 − 3q² + 2q³, with slope 0 at the centre and at the edge.
    #[default]
    Smooth,
}

/// Wind zone in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// Region of the zone.
    pub shape: ZoneShape,
    /// Direction of its air.
    pub flow: ZoneFlow,
    /// Falloff towards its edge.
    pub falloff: Falloff,
    /// Speed of its air, m/s.
    pub strength: f32,
    /// Distance from the origin (radial) or the axis (vortex), m, below which the speed is proportional to the
    /// distance: at 0 the flow has no direction.
    pub core: f32,
    /// Pose of its frame in the world.
    pub pose: Pose,
}

impl ZoneShape {
    /// Returns whether every length is finite and above zero.
    pub fn is_valid(&self) -> bool {
        let good = |length: f32| length.is_finite() && length > 0.0;
        match *self {
            Self::Everywhere => true,
            Self::Sphere { radius } => good(radius),
            Self::Cuboid { half_size } => half_size.to_array().into_iter().all(good),
        }
    }

    /// Returns numbers that identify the shape: the index of its variant and its lengths, m.
    pub(crate) fn numbers(&self) -> (u32, [f32; 3]) {
        match *self {
            Self::Everywhere => (0, [0.0; 3]),
            Self::Sphere { radius } => (1, [radius, 0.0, 0.0]),
            Self::Cuboid { half_size } => (2, half_size.to_array()),
        }
    }

    /// Returns the distance of a position from the centre: 0 at the centre, 1 at the edge.
    #[inline(always)]
    fn normalized_distance(&self, local: Vec3) -> f32 {
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

    /// Returns whether the shape may overlap the box between two corners; `centre` is the position of its centre.
    fn reaches(&self, centre: Vec3, [low, high]: [Vec3; 2]) -> bool {
        let radius = match *self {
            Self::Everywhere => return true,
            Self::Sphere { radius } => radius,
            Self::Cuboid { half_size } => half_size.length(),
        };
        // With a margin for rounding.
        centre.distance(centre.clamp(low, high)) <= radius * 1.001
    }
}

impl ZoneFlow {
    /// Returns the velocity of a flow of 1 m/s at a position in the frame of the zone.
    #[inline(always)]
    fn velocity(self, local: Vec3, core: f32) -> Vec3 {
        let (direction, distance) = match self {
            Self::Forward => return Vec3::NEG_Z,
            Self::Radial => (local, local.length()),
            Self::Vortex => {
                // +Y × local
                let direction = Vec3::new(local.z, 0.0, -local.x);
                (direction, direction.length())
            }
        };
        direction / select(distance > core, distance, core)
    }
}

impl Falloff {
    /// Returns the fraction of the strength at a normalized distance `q` from the centre.
    #[inline(always)]
    fn factor(self, q: f32) -> f32 {
        let factor = match self {
            Self::None => 1.0,
            Self::Linear => 1.0 - q,
            Self::Smooth => 1.0 - smoothstep(q),
        };
        select(q <= 1.0, factor, 0.0)
    }
}

impl Zone {
    /// Returns whether the zone may have wind anywhere in the box between two corners, in world space, m.
    pub(crate) fn reaches(&self, bounds: [Vec3; 2]) -> bool {
        LocalZone::new(self, Vec3::ZERO).reaches(bounds)
    }

    /// Returns the velocity of its air at a world position, m/s.
    pub fn wind(&self, position: Vec3) -> Vec3 {
        LocalZone::new(self, Vec3::ZERO).wind(position)
    }
}

/// Zone relative to the origin of a cloth.
#[derive(Clone, Copy)]
pub(in crate::solver) struct LocalZone {
    zone: Zone,
    centre: Vec3,
    axes: Mat3,
}

impl LocalZone {
    pub(in crate::solver) fn new(zone: &Zone, origin: Vec3) -> Self {
        Self {
            zone: *zone,
            centre: zone.pose.translation - origin,
            axes: Mat3::from_quat(zone.pose.rotation),
        }
    }

    pub(in crate::solver) fn reaches(&self, bounds: [Vec3; 2]) -> bool {
        self.zone.strength != 0.0 && self.zone.shape.reaches(self.centre, bounds)
    }

    #[inline(always)]
    pub(in crate::solver) fn wind(&self, position: Vec3) -> Vec3 {
        let from_centre = position - self.centre;
        let [x, y, z] = [self.axes.x_axis, self.axes.y_axis, self.axes.z_axis];
        let local = Vec3::new(x.dot(from_centre), y.dot(from_centre), z.dot(from_centre));
        let zone = &self.zone;
        let factor = zone.falloff.factor(zone.shape.normalized_distance(local));
        let velocity = zone.flow.velocity(local, zone.core) * (zone.strength * factor);
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
            pose: Pose::from_translation(Vec3::new(1.0, 2.0, 3.0)),
        }
    }

    const CENTRE: Vec3 = Vec3::new(1.0, 2.0, 3.0);
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
                let position = CENTRE + Vec3::new(0.6, 0.0, 0.8) * out;
                assert_close(zone.wind(position), Vec3::NEG_Z * expected);
            }
            assert_eq!(zone.wind(CENTRE + Vec3::Y * 2.001), Vec3::ZERO);
        }
    }

    #[test]
    fn a_box_fades_towards_each_of_its_faces() {
        let zone = zone(BOX, ZoneFlow::Forward, Falloff::Linear);
        for half_way in [Vec3::X * 0.5, Vec3::Y, Vec3::NEG_Z * 2.0] {
            assert_close(zone.wind(CENTRE + half_way), Vec3::NEG_Z * 4.0);
            assert_close(zone.wind(CENTRE + half_way * 1.999), Vec3::NEG_Z * 0.004);
            assert_eq!(zone.wind(CENTRE + half_way * 2.01), Vec3::ZERO);
        }
    }

    #[test]
    fn a_zone_rotates_with_its_frame() {
        let mut zone = zone(BOX, ZoneFlow::Forward, Falloff::None);
        zone.pose.rotation = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
        // Its −Z axis is now −X, and so is its longest side.
        assert_close(zone.wind(CENTRE + Vec3::X * 3.9), Vec3::NEG_X * 8.0);
        assert_eq!(zone.wind(CENTRE + Vec3::Z * 1.1), Vec3::ZERO);
    }

    #[test]
    fn radial_air_leaves_the_centre_and_a_vortex_circles_its_axis() {
        let radial = zone(BALL, ZoneFlow::Radial, Falloff::None);
        let direction = Vec3::new(0.6, 0.0, -0.8);
        assert_close(radial.wind(CENTRE + direction), direction * 8.0);
        // At half of the core distance it has half of its speed, at the centre none.
        assert_close(radial.wind(CENTRE + direction * 0.05), direction * 4.0);
        assert_eq!(radial.wind(CENTRE), Vec3::ZERO);
        let vortex = zone(ZoneShape::Everywhere, ZoneFlow::Vortex, Falloff::None);
        for height in [-50.0, 0.0, 7.0] {
            let on_axis = CENTRE + Vec3::Y * height;
            assert_close(vortex.wind(on_axis + Vec3::X), Vec3::NEG_Z * 8.0);
            assert_close(vortex.wind(on_axis + Vec3::Z), Vec3::X * 8.0);
            assert_eq!(vortex.wind(on_axis), Vec3::ZERO);
        }
    }

    #[test]
    fn a_zone_that_does_not_reach_a_box_has_no_wind_in_it() {
        for shape in [BALL, BOX] {
            let zone = zone(shape, ZoneFlow::Radial, Falloff::None);
            let local = LocalZone::new(&zone, Vec3::ZERO);
            let mut reached = 0;
            for i in 0..1000 {
                let coordinate = |k: i32| ((i * k) % 101) as f32 * 0.12 - 4.0;
                let low = Vec3::new(coordinate(7), coordinate(11), coordinate(13));
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
