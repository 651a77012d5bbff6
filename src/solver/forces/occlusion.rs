//! Occlusion: colliders shelter cloth in their lee from the wind.
//!
//! A ray is cast upwind from each particle over the length of a wake. All solids are convex, so the signed
//! distance from a solid is a convex function along the ray, and bisection of its slope finds its minimum. If the
//! minimum is inside the solid, the particle is in its lee. The edge of a wake gets softer with the distance
//! behind the solid, and the wake fades along its length. This is no flow simulation, only the shelter expected of
//! a wall: no vortices, and no wind deflected around the solid.

#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "NaN counts as not less")]

use crate::solver::{
    collision::{collider::Collider, shape::Shape},
    math::{pose::Pose, smoothstep},
    simd::soa::Bounds,
};
use bevy::math::{Mat3, Vec3};

/// Bisection steps of the search for the minimum distance along a ray.
const HALVINGS: u32 = 14;

/// Depth below the surface of a solid over which exposure falls to zero, m.
const EDGE: f32 = 0.05;

/// Decrease of the distance along a ray, m/m, above which the ray approaches the solid; below it, the ray is taken
/// as parallel to the surface.
const GRAZING: f32 = 1e-3;

/// Colliders that occlude the wind, and shape of their wakes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occlusion<'a> {
    /// Colliders, taken at their poses at the end of the fixed step. Hollow colliders do not occlude.
    pub colliders: &'a [Collider],
    /// Length of a wake, m: distance behind a collider at which the wind has its full strength again.
    pub length: f32,
    /// Widening of the soft edge of a wake per distance behind the collider, m/m.
    pub spread: f32,
}

/// Collider that occludes the wind, relative to the origin of particles.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct Occluder {
    shape: Shape,
    centre: Vec3,
    to_local: Mat3,
    /// Radius of its bounding sphere, m.
    radius: f32,
    /// Depth below its surface at which exposure is zero, m.
    depth: f32,
}

impl Occluder {
    fn new(collider: &Collider, origin: Vec3) -> Self {
        let Pose {
            rotation,
            translation,
        } = collider.end;
        let [low, high] = collider.shape.bounds();
        let half = low.abs().max(high.abs());
        Self {
            shape: collider.shape,
            centre: translation - origin,
            to_local: Mat3::from_quat(rotation).transpose(),
            radius: half.length(),
            depth: EDGE.min(0.5 * collider.shape.inner_radius()),
        }
    }

    /// Returns the fraction of the wind that the collider blocks at a position. `upwind` is a unit vector.
    fn occlusion(&self, position: Vec3, upwind: Vec3, length: f32, spread: f32) -> f32 {
        let to_centre = self.centre - position;
        let along = to_centre.dot(upwind);
        let widest = self.radius + spread * length;
        // For a half-space all of these are infinite or NaN, and no comparison rejects it.
        let beside = (to_centre - upwind * along).length_squared() > widest * widest;
        if beside || along + widest < 0.0 || along - widest > length {
            return 0.0;
        }
        let local = self.to_local * (position - self.centre);
        let direction = self.to_local * upwind;
        // Interval of the ray that contains the minimum distance.
        let (mut low, mut high) = (0.0, length);
        if self.radius.is_finite() {
            low = (along - self.radius).max(low);
            high = (along + self.radius).min(high);
        }
        if !(low < high) {
            return 0.0;
        }
        let (mut at, mut distance) = (0.0, f32::INFINITY);
        for _ in 0..HALVINGS {
            at = 0.5 * (low + high);
            let normal;
            (distance, normal) = self.shape.distance(local + direction * at);
            if distance <= -self.depth {
                break;
            }
            // If the distance is constant along the ray, take its near end: cloth on a table is not in its lee.
            if normal.dot(direction) < -GRAZING {
                low = at;
            } else {
                high = at;
            }
        }
        let (fraction, edge_width) = (at / length, spread * at);
        let blocked = ((edge_width - distance) / (edge_width + self.depth)).clamp(0.0, 1.0);
        // Slope 0 on both sides of the soft edge.
        smoothstep(blocked) * (1.0 - fraction * fraction)
    }
}

impl Occlusion<'_> {
    /// Returns the colliders that may occlude the wind in a box; colliders and box are relative to the origin.
    pub(in crate::solver) fn occluders<'a>(
        &'a self,
        origin: Vec3,
        [low, high]: Bounds,
    ) -> impl Iterator<Item = Occluder> + 'a {
        let (low, high) = (Vec3::from(low), Vec3::from(high));
        let occluders = self.colliders.iter().filter(|collider| !collider.hollow);
        let occluders = occluders.map(move |collider| Occluder::new(collider, origin));
        occluders.filter(move |occluder| {
            let distance = occluder.centre.distance(occluder.centre.clamp(low, high));
            // Keeps half-spaces: their radius is infinite or NaN.
            !(distance > self.length * (1.0 + self.spread) + occluder.radius)
        })
    }

    /// Returns the fraction of the wind that remains at a position relative to the origin.
    pub(in crate::solver) fn exposure(
        &self,
        occluders: impl IntoIterator<Item = impl std::borrow::Borrow<Occluder>>,
        position: Vec3,
        wind: Vec3,
    ) -> f32 {
        let speed = wind.length();
        if !(speed > 0.0 && self.length > 0.0) {
            return 1.0;
        }
        let upwind = wind / -speed;
        let mut left = 1.0;
        for occluder in occluders {
            left *= 1.0
                - occluder
                    .borrow()
                    .occlusion(position, upwind, self.length, self.spread);
        }
        left
    }

    /// Returns the wind that remains at a world position.
    pub(in crate::solver) fn wind(&self, position: Vec3, wind: Vec3) -> Vec3 {
        let bounds = [[0.0; 3]; 2];
        wind * self.exposure(self.occluders(position, bounds), Vec3::ZERO, wind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{Friction, collision::shape::tests::SHAPES};
    use bevy::math::Quat;

    fn collider(shape: Shape, translation: Vec3) -> Collider {
        let pose = Pose {
            rotation: Quat::from_rotation_x(0.2),
            translation,
        };
        Collider::fixed(shape, pose, Friction::default())
    }

    fn exposure_at(colliders: &[Collider], position: Vec3) -> f32 {
        let occlusion = Occlusion {
            colliders,
            length: 4.0,
            spread: 0.2,
        };
        occlusion.wind(position, Vec3::X * 3.0).x / 3.0
    }

    #[test]
    fn each_shape_shelters_its_lee_and_nothing_else() {
        for shape in SHAPES {
            if shape == Shape::HalfSpace {
                continue;
            }
            let one = [collider(shape, Vec3::ZERO)];
            assert!(exposure_at(&one, Vec3::X * 1.2) < 0.12, "{shape:?}");
            assert_eq!(exposure_at(&one, Vec3::NEG_X * 1.2), 1.0, "{shape:?}");
            assert_eq!(
                exposure_at(&one, Vec3::new(1.2, 0.0, 2.0)),
                1.0,
                "{shape:?}"
            );
            assert_eq!(exposure_at(&one, Vec3::X * 6.0), 1.0, "{shape:?}");
        }
    }

    #[test]
    fn a_wake_fades_along_its_length_and_at_its_edge() {
        let wall = Shape::Cuboid {
            half_size: Vec3::new(0.01, 1.0, 1.0),
        };
        let wall = [collider(wall, Vec3::ZERO)];
        let along = [0.2, 1.0, 2.0, 3.0, 3.9].map(|x| exposure_at(&wall, Vec3::X * x));
        assert!(
            along.is_sorted() && along[0] < 0.01 && along[4] > 0.9,
            "{along:?}"
        );
        let across: Vec<f32> = (0..120)
            .map(|i| exposure_at(&wall, Vec3::new(1.0, 0.0, 0.5 + 0.01 * i as f32)))
            .collect();
        assert!(across.is_sorted(), "{across:?}");
        assert!(across[0] < 0.1 && across[119] == 1.0);
        assert!(across.iter().filter(|w| (0.2..0.8).contains(*w)).count() > 4);
        // Close behind the wall the edge is sharp.
        assert!(exposure_at(&wall, Vec3::new(0.03, 0.0, 1.05)) > 0.9);
    }

    #[test]
    fn cloth_on_a_solid_is_not_in_its_lee() {
        let table = Shape::Cuboid {
            half_size: Vec3::new(2.0, 1.0, 2.0),
        };
        let table = Collider {
            start: Pose::ORIGIN,
            end: Pose::ORIGIN,
            ..collider(table, Vec3::ZERO)
        };
        assert!(exposure_at(&[table], Vec3::new(-1.9, 1.01, 0.0)) > 0.8);
        // Nor is cloth that touches its windward side.
        assert!(exposure_at(&[table], Vec3::new(-2.01, 0.0, 0.0)) > 0.99);
        let floor = Collider {
            shape: Shape::HalfSpace,
            ..table
        };
        assert!(exposure_at(&[floor], Vec3::Y * 0.3) > 0.99);
        assert!(exposure_at(&[floor], Vec3::NEG_Y * 0.3) < 0.5);
    }

    #[test]
    fn hollow_colliders_and_still_air_have_no_occlusion() {
        let sphere = Shape::Sphere { radius: 1.0 };
        let hollow = Collider {
            hollow: true,
            ..collider(sphere, Vec3::ZERO)
        };
        assert_eq!(exposure_at(&[hollow], Vec3::X * 1.5), 1.0);
        let all = [collider(sphere, Vec3::ZERO)];
        let occlusion = Occlusion {
            colliders: &all,
            length: 4.0,
            spread: 0.2,
        };
        for still in [Vec3::ZERO, Vec3::NAN] {
            let left = occlusion.exposure(
                occlusion.occluders(Vec3::X, [[0.0; 3]; 2]),
                Vec3::ZERO,
                still,
            );
            assert_eq!(left, 1.0);
        }
    }
}
