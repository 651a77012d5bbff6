//! The world around all cloths.

use crate::solver::gusty;
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Gravity for all cloths, m/s². Default −9.81 along y; each component −200 to 200.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq, Deref, DerefMut)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct ClothGravity(pub Vec3);

impl Default for ClothGravity {
    fn default() -> Self {
        Self(Vec3::NEG_Y * 9.81)
    }
}

/// Wind for all cloths: the same everywhere, steady or in gusts. [`Turbulence`] and
/// [`WindZone`](crate::WindZone)s add to it.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    serde(default, deny_unknown_fields),
    reflect(Serialize, Deserialize)
)]
pub struct Wind {
    /// Mean velocity of the air, m/s. Default 0; each component −200 to 200.
    pub velocity: Vec3,
    /// Density of the air, kg/m³; 0 switches all air resistance off. 0 to 2000, default 1.2.
    pub air_density: f32,
    /// Share of its strength by which the wind swells and fades, within seconds; it also swings up to
    /// a third of that to the sides. 0 is a steady wind, 1 one that dies down and doubles. 0 to 1,
    /// default 0.
    pub gusts: f32,
}

impl Wind {
    /// The velocity of the air after so many seconds of [`WindTime`], m/s. The same time gives the
    /// same bits.
    pub fn at(&self, seconds: f64) -> Vec3 {
        gusty(self.velocity, self.gusts, seconds)
    }
}

/// How long the wind has been blowing, s: the length of all steps that cloths have taken, so that it
/// pauses and goes slow with them. Write it to let the same gusts come again, or others.
#[derive(Resource, Reflect, Clone, Copy, Debug, Default, PartialEq, Deref, DerefMut)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct WindTime(pub f64);

impl Default for Wind {
    fn default() -> Self {
        Self {
            velocity: Vec3::ZERO,
            air_density: 1.2,
            gusts: 0.0,
        }
    }
}

/// Eddies in the air of all cloths, which come and go: noise in space and time that adds to the [`Wind`].
/// They do not travel with the wind. The same place and [`WindTime`] give the same bits.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    serde(default, deny_unknown_fields),
    reflect(Serialize, Deserialize)
)]
pub struct Turbulence {
    /// The most that they add to each component of the wind, m/s; on average (the root of the mean
    /// square) they add 0.32 of it. 0 to 200, default 0: none.
    pub strength: f32,
    /// Distance over which the air moves another way, m. 0.01 to 1000, default 0.5.
    pub size: f32,
    /// Time after which it moves another way at the same place, s. 0.01 to 1000, default 0.5.
    pub period: f32,
    /// Another seed gives other eddies. Default 0.
    pub seed: u32,
}

impl Default for Turbulence {
    fn default() -> Self {
        Self {
            strength: 0.0,
            size: 0.5,
            period: 0.5,
            seed: 0,
        }
    }
}

/// Whether colliders keep the wind off what is behind them. Off by default.
///
/// It counts for [`Wind`], [`Turbulence`] and [`WindZone`](crate::WindZone)s together: where all of that
/// comes from, over this length, no [`ClothCollider`](crate::ClothCollider) may be in the way. So a fan in
/// front of a wall must be farther from it than this, or the wall shelters from the fan. Layers do not
/// matter; hollow colliders and those made of triangles keep nothing off.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    serde(default, deny_unknown_fields),
    reflect(Serialize, Deserialize)
)]
pub struct WindOcclusion {
    /// How far behind a collider the wind is back, m; it comes back little by little. 0 to 1000, default
    /// 0: colliders keep nothing off, and nothing is looked for.
    pub length: f32,
    /// By how much the edge of the calm gets wider for each metre behind the collider. 0 to 1, default
    /// 0.2.
    pub spread: f32,
}

impl Default for WindOcclusion {
    fn default() -> Self {
        Self {
            length: 0.0,
            spread: 0.2,
        }
    }
}

/// Substeps of each fixed step, 1 to 100, default 8. Stiffness grows with their square, cost in
/// proportion. May change at any time; greater stiffness is then approached in small strides, so
/// that cloth does not snap back.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq, Eq, Deref, DerefMut)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Substeps(pub u32);

impl Default for Substeps {
    fn default() -> Self {
        Self(8)
    }
}

/// Most threads that work on cloths at the same time, at least 1. Default all that there are: those of
/// Bevy's compute pool, and the one that runs the schedule. Results do not depend on it.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq, Eq, Deref, DerefMut)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct ClothThreads(pub usize);

impl Default for ClothThreads {
    fn default() -> Self {
        Self(usize::MAX)
    }
}
