//! Resources of the wind on all cloths: mean velocity and gusts, turbulence, occlusion, and the time of the wind.

use crate::solver::gusty;
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Global wind on all cloths: uniform in space, steady or gusty. [`WindTurbulence`] and
/// [`WindZone`](crate::wind::WindZone)s add to it.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct Wind {
    /// Mean velocity of the air, m/s. Each component −200 to 200, default 0.
    pub velocity: Vec3,
    /// Density of the air, kg/m³. 0 to 2000, default 1.2; 0 disables all aerodynamic forces.
    pub air_density: f32,
    /// Amplitude of gusts as a fraction of the mean wind speed; gusts rise and fade within seconds, and also swing
    /// the wind sideways by up to a third of that. 0 to 1, default 0: 0 blows steadily, 1 varies between calm and
    /// twice the speed.
    pub gusts: f32,
}

impl Wind {
    /// Returns the velocity of the air at a [`WindTime`], s, in m/s. The same time gives the same bits.
    pub fn at(&self, seconds: f64) -> Vec3 {
        gusty(self.velocity, self.gusts, seconds)
    }
}

/// Time of the wind, s: total duration of all cloth steps so far, so that the wind pauses and slows down with the
/// cloth. Write it to repeat gusts or to get different ones.
#[derive(Resource, Reflect, Clone, Copy, Debug, Default, PartialEq, Deref, DerefMut)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
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

/// Turbulence of the wind on all cloths: noise in space and time that adds to the [`Wind`]. Its eddies do not
/// travel with the wind. The same position and [`WindTime`] give the same bits.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct WindTurbulence {
    /// Largest magnitude added to each component of the wind, m/s; the root mean square is 0.32 of it. 0 to 200,
    /// default 0: no turbulence.
    pub strength: f32,
    /// Size of eddies: distance over which the turbulent velocity changes, m. 0.01 to 1000, default 0.5.
    pub size: f32,
    /// Time over which the turbulent velocity changes at a fixed position, s. 0.01 to 1000, default 0.5.
    pub period: f32,
    /// Seed of the random eddies. Default 0.
    pub seed: u32,
}

impl Default for WindTurbulence {
    fn default() -> Self {
        Self {
            strength: 0.0,
            size: 0.5,
            period: 0.5,
            seed: 0,
        }
    }
}

/// Occlusion of the wind: colliders shelter the cloth in their lee. Off by default.
///
/// Acts on the sum of [`Wind`], [`WindTurbulence`] and [`WindZone`](crate::wind::WindZone)s: a
/// [`ClothCollider`](crate::collision::ClothCollider) within [`length`](Self::length) upwind of a particle shelters
/// it. A fan in front of a wall must therefore be farther from the wall than this length, or the wall shelters cloth
/// from the fan. Layers do not matter; hollow colliders and mesh colliders do not occlude.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct WindOcclusion {
    /// Length of the lee, m: distance behind a collider over which the wind gradually regains its full strength. 0
    /// to 1000, default 0: no occlusion, at no cost.
    pub length: f32,
    /// Widening of the soft edge of the lee per distance behind the collider, m/m. 0 to 1, default 0.2.
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
