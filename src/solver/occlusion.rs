//! Colliders that keep the wind off what is behind them.
//!
//! From each particle the way goes back to where its wind comes from, over the length of a wake. Along it
//! the distance from a solid is a convex function, since all solids are convex, so that its least value is
//! found by bisection of its slope. Where that is inside, the particle is in the lee. Beside a solid its wake
//! mixes with the wind, the more so the farther behind it, and in the end it is gone. That is no flow
//! of air, only what one expects of a wall: no whirls, no wind that goes around.

#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "what is NaN is not less")]

use super::{
    collide::{Collider, Pose},
    shape::Shape,
    soa::Bounds,
};
use bevy::math::{Mat3, Vec3};

/// Halvings of a way in which the nearest point to a solid is looked for.
const HALVINGS: u32 = 14;

/// Inside of a solid, up to so far from its surface, it goes from wind to calm, m.
const EDGE: f32 = 0.05;

/// A way that comes nearer to a solid by less than this share of its length goes along it.
const GRAZING: f32 = 1e-3;

/// Colliders that keep the wind off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occlusion<'a> {
    /// They are where they are when the fixed step ends. Hollow ones do not count.
    pub colliders: &'a [Collider],
    /// How far behind them the wind is back, m.
    pub length: f32,
    /// By how much a wake gets softer at its edge for each metre behind them.
    pub spread: f32,
}

/// A collider, relative to the origin of particles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    shape: Shape,
    centre: Vec3,
    to_local: Mat3,
    /// All of it is as near to its centre as this, m.
    radius: f32,
    /// As deep inside it is calm, m.
    deep: f32,
}

impl Screen {
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
            deep: EDGE.min(0.5 * collider.shape.inner_radius()),
        }
    }

    /// The share of the wind that it keeps off a place. `upwind` is a unit vector.
    fn shade(&self, place: Vec3, upwind: Vec3, length: f32, spread: f32) -> f32 {
        let to_centre = self.centre - place;
        let along = to_centre.dot(upwind);
        let widest = self.radius + spread * length;
        // Of a half-space all of this is infinite, or NaN, which is not less.
        let beside = (to_centre - upwind * along).length_squared() > widest * widest;
        if beside || along + widest < 0.0 || along - widest > length {
            return 0.0;
        }
        let local = self.to_local * (place - self.centre);
        let way = self.to_local * upwind;
        // Where in this interval it is nearest.
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
            (distance, normal) = self.shape.distance(local + way * at);
            if distance <= -self.deep {
                break;
            }
            // Of what is as near all along, the nearest end: cloth on a table is not behind it.
            if normal.dot(way) < -GRAZING {
                low = at;
            } else {
                high = at;
            }
        }
        let (share, soft) = (at / length, spread * at);
        let calm = ((soft - distance) / (soft + self.deep)).clamp(0.0, 1.0);
        // As even at the edge as in the middle.
        let calm = calm * calm * (3.0 - 2.0 * calm);
        calm * (1.0 - share * share)
    }
}

impl Occlusion<'_> {
    /// The colliders that may keep wind off what is in a box; the place and the box are relative to the
    /// origin.
    pub(super) fn screens<'a>(
        &'a self,
        origin: Vec3,
        [low, high]: Bounds,
    ) -> impl Iterator<Item = Screen> + 'a {
        let (low, high) = (Vec3::from(low), Vec3::from(high));
        let screens = self.colliders.iter().filter(|collider| !collider.hollow);
        let screens = screens.map(move |collider| Screen::new(collider, origin));
        screens.filter(move |screen| {
            let apart = screen.centre.distance(screen.centre.clamp(low, high));
            // Of a half-space nothing is known.
            !(apart > self.length * (1.0 + self.spread) + screen.radius)
        })
    }

    /// The share of the wind that is left at a place.
    pub(super) fn exposure(
        &self,
        screens: impl IntoIterator<Item = impl std::borrow::Borrow<Screen>>,
        place: Vec3,
        wind: Vec3,
    ) -> f32 {
        let speed = wind.length();
        if !(speed > 0.0 && self.length > 0.0) {
            return 1.0;
        }
        let upwind = wind / -speed;
        let mut left = 1.0;
        for screen in screens {
            left *= 1.0
                - screen
                    .borrow()
                    .shade(place, upwind, self.length, self.spread);
        }
        left
    }

    /// The wind that is left of one at a place in the world.
    pub(super) fn wind(&self, place: Vec3, wind: Vec3) -> Vec3 {
        let there = [[0.0; 3]; 2];
        wind * self.exposure(self.screens(place, there), Vec3::ZERO, wind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{Friction, shape::tests::SHAPES};
    use bevy::math::Quat;

    fn collider(shape: Shape, translation: Vec3) -> Collider {
        let pose = Pose {
            rotation: Quat::from_rotation_x(0.2),
            translation,
        };
        Collider::fixed(shape, pose, Friction::default())
    }

    fn behind(colliders: &[Collider], place: Vec3) -> f32 {
        let occlusion = Occlusion {
            colliders,
            length: 4.0,
            spread: 0.2,
        };
        occlusion.wind(place, Vec3::X * 3.0).x / 3.0
    }

    #[test]
    fn each_shape_shelters_what_is_behind_it_and_nothing_before_it() {
        for shape in SHAPES {
            if shape == Shape::HalfSpace {
                continue;
            }
            let one = [collider(shape, Vec3::ZERO)];
            assert!(behind(&one, Vec3::X * 1.2) < 0.12, "{shape:?}");
            assert_eq!(behind(&one, Vec3::NEG_X * 1.2), 1.0, "{shape:?}");
            assert_eq!(behind(&one, Vec3::new(1.2, 0.0, 2.0)), 1.0, "{shape:?}");
            assert_eq!(behind(&one, Vec3::X * 6.0), 1.0, "{shape:?}");
        }
    }

    #[test]
    fn a_wake_fades_along_its_way_and_at_its_edge() {
        let wall = Shape::Cuboid {
            half_size: Vec3::new(0.01, 1.0, 1.0),
        };
        let wall = [collider(wall, Vec3::ZERO)];
        let along = [0.2, 1.0, 2.0, 3.0, 3.9].map(|x| behind(&wall, Vec3::X * x));
        assert!(
            along.is_sorted() && along[0] < 0.01 && along[4] > 0.9,
            "{along:?}"
        );
        let across: Vec<f32> = (0..120)
            .map(|i| behind(&wall, Vec3::new(1.0, 0.0, 0.5 + 0.01 * i as f32)))
            .collect();
        assert!(across.is_sorted(), "{across:?}");
        assert!(across[0] < 0.1 && across[119] == 1.0);
        assert!(across.iter().filter(|w| (0.2..0.8).contains(*w)).count() > 4);
        // Right behind it the edge is sharp.
        assert!(behind(&wall, Vec3::new(0.03, 0.0, 1.05)) > 0.9);
    }

    #[test]
    fn what_lies_on_a_solid_is_not_behind_it() {
        let table = Shape::Cuboid {
            half_size: Vec3::new(2.0, 1.0, 2.0),
        };
        let table = Collider {
            start: Pose {
                rotation: Quat::IDENTITY,
                translation: Vec3::ZERO,
            },
            end: Pose {
                rotation: Quat::IDENTITY,
                translation: Vec3::ZERO,
            },
            ..collider(table, Vec3::ZERO)
        };
        assert!(behind(&[table], Vec3::new(-1.9, 1.01, 0.0)) > 0.8);
        // Nor what is before it, touching it.
        assert!(behind(&[table], Vec3::new(-2.01, 0.0, 0.0)) > 0.99);
        let floor = Collider {
            shape: Shape::HalfSpace,
            ..table
        };
        assert!(behind(&[floor], Vec3::Y * 0.3) > 0.99);
        assert!(behind(&[floor], Vec3::NEG_Y * 0.3) < 0.5);
    }

    #[test]
    fn hollow_ones_and_still_air_do_not_count() {
        let sphere = Shape::Sphere { radius: 1.0 };
        let hollow = Collider {
            hollow: true,
            ..collider(sphere, Vec3::ZERO)
        };
        assert_eq!(behind(&[hollow], Vec3::X * 1.5), 1.0);
        let all = [collider(sphere, Vec3::ZERO)];
        let occlusion = Occlusion {
            colliders: &all,
            length: 4.0,
            spread: 0.2,
        };
        for still in [Vec3::ZERO, Vec3::NAN] {
            let left =
                occlusion.exposure(occlusion.screens(Vec3::X, [[0.0; 3]; 2]), Vec3::ZERO, still);
            assert_eq!(left, 1.0);
        }
    }
}
