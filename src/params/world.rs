//! Tables of the tunable numbers of the world around cloths.

use super::{Access, Param};
use crate::{
    cloth::settings::{ClothGravity, ClothSubsteps},
    wind::{
        settings::{Wind, WindOcclusion, WindTurbulence},
        zone::WindZone,
    },
};

/// Tunable numbers of [`ClothSubsteps`]: one of them is present.
pub const SUBSTEPS: &[Param<ClothSubsteps>] = &[
    Param {
        name: "substep every",
        field: "ClothSubsteps::Every",
        unit: "s",
        help: "Time between substeps; their number follows from the length of a step. Stiffness grows with the square \
               of their number, cost in proportion.",
        range: 0.001..=0.1,
        logarithmic: true,
        integer: false,
        access: Access::Optional(
            "per step",
            |substeps| match *substeps {
                ClothSubsteps::Every(seconds) => Some(seconds),
                ClothSubsteps::PerStep(_) => None,
            },
            |substeps, seconds| {
                *substeps = seconds.map_or(ClothSubsteps::PerStep(8), ClothSubsteps::Every);
            },
        ),
    },
    Param {
        name: "substeps",
        field: "ClothSubsteps::PerStep",
        unit: "per step",
        help: "Number of substeps in a step, whatever its length.",
        range: 1.0..=ClothSubsteps::MAX as f32,
        logarithmic: true,
        integer: true,
        access: Access::Optional(
            "by time",
            |substeps| match *substeps {
                ClothSubsteps::Every(_) => None,
                ClothSubsteps::PerStep(count) => Some(count as f32),
            },
            |substeps, count| {
                *substeps = count.map_or_else(ClothSubsteps::default, |count| {
                    ClothSubsteps::PerStep(count as u32)
                });
            },
        ),
    },
];

/// Tunable numbers of [`ClothGravity`].
pub const GRAVITY: &[Param<ClothGravity>] = &[
    gravity("x", "ClothGravity.x", |g| g.0.x, |g, v| g.0.x = v),
    gravity("y", "ClothGravity.y", |g| g.0.y, |g, v| g.0.y = v),
    gravity("z", "ClothGravity.z", |g| g.0.z, |g, v| g.0.z = v),
];

const fn gravity(
    name: &'static str,
    field: &'static str,
    get: fn(&ClothGravity) -> f32,
    set: fn(&mut ClothGravity, f32),
) -> Param<ClothGravity> {
    Param {
        name,
        field,
        unit: "m/s²",
        help: "Acceleration of all particles that are not pinned. On earth −9.81 along y.",
        range: -200.0..=200.0,
        logarithmic: false,
        integer: false,
        access: Access::Number(get, set),
    }
}

/// Tunable numbers of [`Wind`].
pub const WIND: &[Param<Wind>] = &[
    wind(
        "x",
        "Wind::velocity.x",
        |w| w.velocity.x,
        |w, v| w.velocity.x = v,
    ),
    wind(
        "y",
        "Wind::velocity.y",
        |w| w.velocity.y,
        |w, v| w.velocity.y = v,
    ),
    wind(
        "z",
        "Wind::velocity.z",
        |w| w.velocity.z,
        |w, v| w.velocity.z = v,
    ),
    Param {
        name: "air density",
        field: "Wind::air_density",
        unit: "kg/m³",
        help: "1.2 at sea level, 0 in space, 1000 under water.",
        range: 0.0..=2000.0,
        logarithmic: true,
        integer: false,
        access: Access::Number(|w| w.air_density, |w, v| w.air_density = v),
    },
    Param {
        name: "gusts",
        field: "Wind::gusts",
        unit: "",
        help: "Amplitude of gusts as a fraction of the wind speed: 0 blows steadily, 1 varies between calm and \
               twice the speed.",
        range: 0.0..=1.0,
        logarithmic: false,
        integer: false,
        access: Access::Number(|w| w.gusts, |w, v| w.gusts = v),
    },
];

const fn wind(
    name: &'static str,
    field: &'static str,
    get: fn(&Wind) -> f32,
    set: fn(&mut Wind, f32),
) -> Param<Wind> {
    Param {
        name,
        field,
        unit: "m/s",
        help: "Velocity of the air. 5 moves leaves, 15 makes walking hard, 30 is a storm.",
        range: -200.0..=200.0,
        logarithmic: false,
        integer: false,
        access: Access::Number(get, set),
    }
}

/// Tunable numbers of [`WindTurbulence`].
pub const TURBULENCE: &[Param<WindTurbulence>] = &[
    Param {
        name: "turbulence",
        field: "WindTurbulence::strength",
        unit: "m/s",
        help: "Largest velocity that eddies add to the wind along each axis; on average a third of it.",
        range: 0.0..=200.0,
        logarithmic: true,
        integer: false,
        access: Access::Number(|t| t.strength, |t, v| t.strength = v),
    },
    Param {
        name: "eddy size",
        field: "WindTurbulence::size",
        unit: "m",
        help: "Distance over which the direction of turbulent air changes.",
        range: 0.01..=1000.0,
        logarithmic: true,
        integer: false,
        access: Access::Number(|t| t.size, |t, v| t.size = v),
    },
    Param {
        name: "eddy period",
        field: "WindTurbulence::period",
        unit: "s",
        help: "Time in which the direction of turbulent air changes at a fixed position.",
        range: 0.01..=1000.0,
        logarithmic: true,
        integer: false,
        access: Access::Number(|t| t.period, |t, v| t.period = v),
    },
];

/// Tunable numbers of [`WindOcclusion`].
pub const WIND_OCCLUSION: &[Param<WindOcclusion>] = &[
    Param {
        name: "lee",
        field: "WindOcclusion::length",
        unit: "m",
        help: "Length of the lee behind a collider. At 0 colliders do not shield cloth from the wind.",
        range: 0.0..=1000.0,
        logarithmic: true,
        integer: false,
        access: Access::Number(|o| o.length, |o, v| o.length = v),
    },
    Param {
        name: "lee spread",
        field: "WindOcclusion::spread",
        unit: "",
        help: "Widening of the lee per metre behind the collider.",
        range: 0.0..=1.0,
        logarithmic: false,
        integer: false,
        access: Access::Number(|o| o.spread, |o, v| o.spread = v),
    },
];

/// Tunable numbers of [`WindZone`], without its shape.
pub const WIND_ZONE: &[Param<WindZone>] = &[
    Param {
        name: "strength",
        field: "WindZone::strength",
        unit: "m/s",
        help: "Speed of the air in the zone; negative values reverse it.",
        range: -200.0..=200.0,
        logarithmic: false,
        integer: false,
        access: Access::Number(|z| z.strength, |z, v| z.strength = v),
    },
    Param {
        name: "core",
        field: "WindZone::core",
        unit: "m",
        help: "Radius around the centre of a radial zone or the axis of a vortex within which the speed falls \
               linearly to 0.",
        range: 0.001..=1000.0,
        logarithmic: true,
        integer: false,
        access: Access::Number(|z| z.core, |z, v| z.core = v),
    },
];
