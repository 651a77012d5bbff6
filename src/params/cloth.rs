//! Tables of the tunable numbers of [`Cloth`] and of the components beside it.

use super::{Access, Param};
use crate::{character::inertia::ClothInertia, cloth::Cloth, pressure::ClothPressure};

/// Tunable numbers of [`Cloth`], without its fabric.
pub const CLOTH: &[Param<Cloth>] = &[
    Param {
        name: "iterations",
        field: "Cloth::iterations",
        unit: "per substep",
        help: "Solver iterations per substep. More make the cloth stiffer, but substeps do that better for the \
               same cost.",
        range: 1.0..=100.0,
        logarithmic: true,
        integer: true,
        access: Access::Number(|c| c.iterations as f32, |c, v| c.iterations = v as u32),
    },
    Param {
        name: "damping",
        field: "Cloth::damping",
        unit: "1/s",
        help: "Damping rate of all motion: e^(−damping·t) of it is left after t seconds. Air drag looks better; \
               this also slows motion that drag does not reach.",
        range: 0.0..=100.0,
        logarithmic: true,
        integer: false,
        access: Access::Number(|c| c.damping, |c, v| c.damping = v),
    },
    Param {
        name: "gravity scale",
        field: "Cloth::gravity_scale",
        unit: "×",
        help: "Multiple of the world's gravity that acts on this cloth: at 0 it floats, at negative values it \
               rises.",
        range: -10.0..=10.0,
        logarithmic: false,
        integer: false,
        access: Access::Number(|c| c.gravity_scale, |c, v| c.gravity_scale = v),
    },
    Param {
        name: "tether scale",
        field: "Cloth::tether_scale",
        unit: "×",
        help: "Largest distance of a particle from its pin, as a multiple of their distance along the cloth at \
               rest. 1 prevents stretching, larger values allow it.",
        range: 1.0..=100.0,
        logarithmic: true,
        integer: false,
        access: Access::Optional("no tethers", |c| c.tether_scale, |c, v| c.tether_scale = v),
    },
    Param {
        name: "sleep speed",
        field: "Cloth::sleep_speed",
        unit: "m/s",
        help: "The cloth falls asleep, and costs nothing, after half a second below this speed; contacts and \
               edits wake it. At 0 it never sleeps.",
        range: 0.0..=1.0,
        logarithmic: true,
        integer: false,
        access: Access::Number(|c| c.sleep_speed, |c, v| c.sleep_speed = v),
    },
];

/// Tunable numbers of [`ClothPressure`].
pub const PRESSURE: &[Param<ClothPressure>] = &[
    Param {
        name: "overpressure",
        field: "ClothPressure::overpressure",
        unit: "Pa",
        help: "Pressure above the ambient pressure while the cloth has the volume of its mesh. A party balloon \
               has 2000.",
        range: -50_000.0..=50_000.0,
        logarithmic: false,
        integer: false,
        access: Access::Number(|p| p.overpressure, |p, v| p.overpressure = v),
    },
    Param {
        name: "ambient pressure",
        field: "ClothPressure::ambient",
        unit: "Pa",
        help: "Air pressure outside, 101 325 at sea level. The lower, the more easily the enclosed air is \
               compressed.",
        range: 100.0..=1_000_000.0,
        logarithmic: true,
        integer: false,
        access: Access::Number(|p| p.ambient, |p, v| p.ambient = v),
    },
];

/// Tunable numbers of [`ClothInertia`].
pub const INERTIA: &[Param<ClothInertia>] = &[
    Param {
        name: "linear inertia",
        field: "ClothInertia::linear",
        unit: "×",
        help: "Fraction of its reference frame's linear motion that acts on the cloth as inertia. The rest moves \
               the cloth along rigidly.",
        range: 0.0..=1.0,
        logarithmic: false,
        integer: false,
        access: Access::Number(|m| m.linear, |m, v| m.linear = v),
    },
    Param {
        name: "angular inertia",
        field: "ClothInertia::angular",
        unit: "×",
        help: "Fraction of its reference frame's rotation that acts on the cloth as inertia.",
        range: 0.0..=1.0,
        logarithmic: false,
        integer: false,
        access: Access::Number(|m| m.angular, |m, v| m.angular = v),
    },
];
