//! The numbers of what is around cloths.

use super::Param;
use crate::{
    settings::{ClothGravity, Substeps, Turbulence, Wind, WindOcclusion},
    wind_zone::WindZone,
};

/// The number of [`Substeps`].
pub const SUBSTEPS: &[Param<Substeps>] = &[Param {
    name: "substeps",
    field: "Substeps",
    unit: "per step",
    help: "Into how many substeps a fixed step is cut. Stiffness grows with their square, cost \
           in proportion.",
    range: 1.0..=100.0,
    logarithmic: true,
    integer: true,
    get: |s| s.0 as f32,
    set: |s, v| s.0 = v as u32,
}];

/// The numbers of [`ClothGravity`].
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
        help: "Acceleration of everything that is not pinned. On earth −9.81 along y.",
        range: -200.0..=200.0,
        logarithmic: false,
        integer: false,
        get,
        set,
    }
}

/// The numbers of [`Wind`].
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
        get: |w| w.air_density,
        set: |w, v| w.air_density = v,
    },
    Param {
        name: "gusts",
        field: "Wind::gusts",
        unit: "",
        help: "Share of its strength by which the wind swells, fades and swings: 0 blows steadily, \
               1 dies down and doubles.",
        range: 0.0..=1.0,
        logarithmic: false,
        integer: false,
        get: |w| w.gusts,
        set: |w, v| w.gusts = v,
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
        get,
        set,
    }
}

/// The numbers of [`Turbulence`].
pub const TURBULENCE: &[Param<Turbulence>] = &[
    Param {
        name: "turbulence",
        field: "Turbulence::strength",
        unit: "m/s",
        help: "The most that eddies add to the wind along each axis; a third of it on average.",
        range: 0.0..=200.0,
        logarithmic: true,
        integer: false,
        get: |t| t.strength,
        set: |t, v| t.strength = v,
    },
    Param {
        name: "eddy size",
        field: "Turbulence::size",
        unit: "m",
        help: "Distance over which turbulent air moves another way.",
        range: 0.01..=1000.0,
        logarithmic: true,
        integer: false,
        get: |t| t.size,
        set: |t, v| t.size = v,
    },
    Param {
        name: "eddy period",
        field: "Turbulence::period",
        unit: "s",
        help: "Time after which turbulent air moves another way at the same place.",
        range: 0.01..=1000.0,
        logarithmic: true,
        integer: false,
        get: |t| t.period,
        set: |t, v| t.period = v,
    },
];

/// The numbers of [`WindOcclusion`].
pub const WIND_OCCLUSION: &[Param<WindOcclusion>] = &[
    Param {
        name: "lee",
        field: "WindOcclusion::length",
        unit: "m",
        help: "How far behind a collider the wind is back. 0: colliders do not keep it off.",
        range: 0.0..=1000.0,
        logarithmic: true,
        integer: false,
        get: |o| o.length,
        set: |o, v| o.length = v,
    },
    Param {
        name: "lee spread",
        field: "WindOcclusion::spread",
        unit: "",
        help: "By how much the edge of the calm gets wider for each metre behind the collider.",
        range: 0.0..=1.0,
        logarithmic: false,
        integer: false,
        get: |o| o.spread,
        set: |o, v| o.spread = v,
    },
];

/// The numbers of [`WindZone`], outside of its shape.
pub const WIND_ZONE: &[Param<WindZone>] = &[
    Param {
        name: "strength",
        field: "WindZone::strength",
        unit: "m/s",
        help: "Speed of the air of the zone; negative blows the other way.",
        range: -200.0..=200.0,
        logarithmic: false,
        integer: false,
        get: |z| z.strength,
        set: |z, v| z.strength = v,
    },
    Param {
        name: "core",
        field: "WindZone::core",
        unit: "m",
        help: "Nearer than this to the middle of a radial zone or the axis of a vortex, the air is \
               slower in proportion.",
        range: 0.001..=1000.0,
        logarithmic: true,
        integer: false,
        get: |z| z.core,
        set: |z, v| z.core = v,
    },
];
