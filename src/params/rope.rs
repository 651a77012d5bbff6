//! Parameter table of ropes.

use super::{Access, Param};
use crate::rope::Rope;

/// Parameter table of [`Rope`].
pub const ROPE: &[Param<Rope>] = &[
    Param {
        name: "particles",
        field: "Rope::particles",
        unit: "",
        help: "Number of particles, spread evenly over the length. More particles bend in finer \
               curves and stretch more: with the square of their number.",
        range: 2.0..=10_000.0,
        logarithmic: true,
        integer: true,
        access: Access::Number(|r| r.particles as f32, |r, v| r.particles = v as u32),
    },
    Param {
        name: "thickness",
        field: "Rope::thickness",
        unit: "m",
        help: "Diameter. A thicker rope is heavier and catches more wind.",
        range: 0.0001..=10.0,
        logarithmic: true,
        integer: false,
        access: Access::Number(|r| r.thickness, |r, v| r.thickness = v),
    },
    Param {
        name: "sides",
        field: "Rope::sides",
        unit: "",
        help: "Number of sides of the rendered tube.",
        range: 3.0..=128.0,
        logarithmic: false,
        integer: true,
        access: Access::Number(|r| r.sides as f32, |r, v| r.sides = v as u32),
    },
];
