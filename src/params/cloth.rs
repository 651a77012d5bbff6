//! The numbers of a cloth and of what may be beside it.

use super::Param;
use crate::{cloth::Cloth, pressure::Pressure, world_motion::WorldMotion};

/// The numbers of [`Cloth`], outside of its fabric.
pub const CLOTH: &[Param<Cloth>] = &[
    Param {
        name: "iterations",
        field: "Cloth::iterations",
        unit: "per substep",
        help: "Relaxation passes of each substep. More make the cloth stiffer, but substeps do \
               that better for the same work.",
        range: 1.0..=100.0,
        logarithmic: true,
        integer: true,
        get: |c| c.iterations as f32,
        set: |c, v| c.iterations = v as u32,
    },
    Param {
        name: "damping",
        field: "Cloth::damping",
        unit: "1/s",
        help: "Share of all motion that is lost each second, whatever moves the cloth. Air drag \
               looks better; this calms what drag does not reach.",
        range: 0.0..=100.0,
        logarithmic: true,
        integer: false,
        get: |c| c.damping,
        set: |c, v| c.damping = v,
    },
    Param {
        name: "gravity scale",
        field: "Cloth::gravity_scale",
        unit: "×",
        help: "How much of the world's gravity this cloth feels: 0 floats, negative rises.",
        range: -10.0..=10.0,
        logarithmic: false,
        integer: false,
        get: |c| c.gravity_scale,
        set: |c, v| c.gravity_scale = v,
    },
    Param {
        name: "tether scale",
        field: "Cloth::tether_scale",
        unit: "×",
        help: "How far particles may get from what holds the cloth, compared with the cloth \
               between them. 1 keeps it from stretching; large values let it, and the largest \
               switches tethers off.",
        range: 1.0..=crate::cloth::NO_TETHERS,
        logarithmic: true,
        integer: false,
        get: |c| c.tether_scale,
        set: |c, v| c.tether_scale = v,
    },
    Param {
        name: "sleep speed",
        field: "Cloth::sleep_speed",
        unit: "m/s",
        help: "It falls asleep, and costs nothing, when it has been slower than this for half a \
               second; what touches it wakes it. 0 keeps it awake.",
        range: 0.0..=1.0,
        logarithmic: true,
        integer: false,
        get: |c| c.sleep_speed,
        set: |c, v| c.sleep_speed = v,
    },
];

/// The numbers of [`Pressure`].
pub const PRESSURE: &[Param<Pressure>] = &[
    Param {
        name: "overpressure",
        field: "Pressure::overpressure",
        unit: "Pa",
        help: "How much more than around it the pressure is when the cloth has the volume of its \
               mesh. A party balloon has 2000.",
        range: -50_000.0..=50_000.0,
        logarithmic: false,
        integer: false,
        get: |p| p.overpressure,
        set: |p, v| p.overpressure = v,
    },
    Param {
        name: "pressure around",
        field: "Pressure::ambient",
        unit: "Pa",
        help: "101 325 at sea level. The lower, the more easily the air in the cloth is squeezed.",
        range: 100.0..=1_000_000.0,
        logarithmic: true,
        integer: false,
        get: |p| p.ambient,
        set: |p, v| p.ambient = v,
    },
];

/// The shares of [`WorldMotion`].
pub const WORLD_MOTION: &[Param<WorldMotion>] = &[
    Param {
        name: "motion felt",
        field: "WorldMotion::linear",
        unit: "×",
        help: "Share of the motion of what carries the cloth that it feels. What it does not feel it is \
               taken along with.",
        range: 0.0..=1.0,
        logarithmic: false,
        integer: false,
        get: |m| m.linear,
        set: |m, v| m.linear = v,
    },
    Param {
        name: "turns felt",
        field: "WorldMotion::angular",
        unit: "×",
        help: "Share of the turns of what carries the cloth that it feels.",
        range: 0.0..=1.0,
        logarithmic: false,
        integer: false,
        get: |m| m.angular,
        set: |m, v| m.angular = v,
    },
];
