//! Every number that a user can tune: name, unit, range and what it does. One table, which the
//! validation, the panel and the documentation of limits share.

use crate::{
    cloth::Cloth,
    fabric::Fabric,
    pressure::Pressure,
    settings::{ClothGravity, Substeps, Turbulence, Wind, WindOcclusion},
    wind_zone::WindZone,
};
use std::ops::RangeInclusive;

pub use crate::rope::ROPE;

/// A tunable number of a `T`.
pub struct Param<T: 'static> {
    /// What the panel calls it.
    pub name: &'static str,
    /// How code calls it, for log messages.
    pub field: &'static str,
    /// Its unit; empty if it is a bare number.
    pub unit: &'static str,
    /// What it does, in a sentence or two.
    pub help: &'static str,
    /// What it may be. Values outside are clamped; NaN becomes the default.
    pub range: RangeInclusive<f32>,
    /// Spans several orders of magnitude, so a slider should be logarithmic.
    pub logarithmic: bool,
    /// Takes whole numbers only.
    pub integer: bool,
    /// Reads it.
    pub get: fn(&T) -> f32,
    /// Writes it.
    pub set: fn(&mut T, f32),
}

impl<T: Default> Param<T> {
    /// The default, from the `Default` of the type itself.
    pub fn default_value(&self) -> f32 {
        (self.get)(&T::default())
    }

    /// The nearest value that is allowed.
    pub fn clamp(&self, value: f32) -> f32 {
        if value.is_nan() {
            self.default_value()
        } else {
            value.clamp(*self.range.start(), *self.range.end())
        }
    }

    /// A sentence about its value, if that is out of range.
    pub fn complaint(&self, value: &T) -> Option<String> {
        let given = (self.get)(value);
        let allowed = self.clamp(given);
        // Not `given != allowed`: NaN differs from everything and must be told too.
        if given.to_bits() == allowed.to_bits() || (given == 0.0 && allowed == 0.0) {
            return None;
        }
        let (low, high) = (self.range.start(), self.range.end());
        let unit = if self.unit.is_empty() { "" } else { " " };
        Some(format!(
            "{} is {given}, allowed is {low} to {high}{unit}{}",
            self.field, self.unit
        ))
    }
}

/// Puts every number of `value` into its range. Returns a sentence for each one that was outside.
pub fn sanitize<T: Default>(params: &[Param<T>], value: &mut T) -> Vec<String> {
    let mut messages = Vec::new();
    for param in params {
        if let Some(complaint) = param.complaint(value) {
            let allowed = param.clamp((param.get)(value));
            (param.set)(value, allowed);
            messages.push(format!("{complaint}; using {allowed}"));
        }
    }
    messages
}

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

/// The numbers of [`Fabric`].
pub const FABRIC: &[Param<Fabric>] = &[
    Param {
        name: "areal density",
        field: "Fabric::areal_density",
        unit: "kg/m²",
        help: "Mass of a square metre. Silk 0.06, cotton 0.15, denim 0.4. Heavier cloth is moved \
               less by the wind and stretches more if it is elastic.",
        range: 0.001..=20.0,
        logarithmic: true,
        integer: false,
        get: |f| f.areal_density,
        set: |f, v| f.areal_density = v,
    },
    Param {
        name: "thickness",
        field: "Fabric::thickness",
        unit: "m",
        help: "Distance that the cloth keeps from colliders. If a round collider shines through, \
               raise it or use a finer mesh.",
        range: 0.0..=1.0,
        logarithmic: true,
        integer: false,
        get: |f| f.thickness,
        set: |f, v| f.thickness = v,
    },
    Param {
        name: "warp",
        field: "Fabric::warp_stiffness",
        unit: "N/m",
        help: "How hard it is to stretch along the columns of a grid: the force for each metre of width and \
               unit of strain. Knitwear 50, rubber 750; the largest value does not give.",
        range: 1.0..=crate::fabric::RIGID,
        logarithmic: true,
        integer: false,
        get: |f| f.warp_stiffness,
        set: |f, v| f.warp_stiffness = v,
    },
    Param {
        name: "weft",
        field: "Fabric::weft_stiffness",
        unit: "N/m",
        help: "How hard it is to stretch along the rows of a grid. The largest value does not give.",
        range: 1.0..=crate::fabric::RIGID,
        logarithmic: true,
        integer: false,
        get: |f| f.weft_stiffness,
        set: |f, v| f.weft_stiffness = v,
    },
    Param {
        name: "strain limit",
        field: "Fabric::strain_limit",
        unit: "×",
        help: "How far threads that give may be stretched: 0.1 is a tenth of their length. The \
               largest value sets no limit.",
        range: 0.0..=crate::fabric::NO_STRAIN_LIMIT,
        logarithmic: true,
        integer: false,
        get: |f| f.strain_limit,
        set: |f, v| f.strain_limit = v,
    },
    Param {
        name: "shear",
        field: "Fabric::shear_stiffness",
        unit: "N/m",
        help: "How hard it is to make diamonds of the squares of its weave. Woven fabric shears far more \
               easily than it stretches; the largest value does not give.",
        range: 0.1..=crate::fabric::RIGID,
        logarithmic: true,
        integer: false,
        get: |f| f.shear_stiffness,
        set: |f, v| f.shear_stiffness = v,
    },
    Param {
        name: "bending",
        field: "Fabric::bending_stiffness",
        unit: "N·m",
        help: "How hard it is to fold: the bending moment for each metre of width and unit of curvature. \
               Silk 1e-6, cotton 1e-5, denim 1e-4; 0 bends freely.",
        range: 0.0..=10.0,
        logarithmic: true,
        integer: false,
        get: |f| f.bending_stiffness,
        set: |f, v| f.bending_stiffness = v,
    },
    Param {
        name: "static friction",
        field: "Fabric::static_friction",
        unit: "",
        help: "Holds cloth that does not slide yet: it stays on slopes up to atan(friction). \
               Mixes with the collider's friction.",
        range: 0.0..=10.0,
        logarithmic: false,
        integer: false,
        get: |f| f.static_friction,
        set: |f, v| f.static_friction = v,
    },
    Param {
        name: "kinetic friction",
        field: "Fabric::kinetic_friction",
        unit: "",
        help: "Slows cloth that slides. Mixes with the collider's friction.",
        range: 0.0..=10.0,
        logarithmic: false,
        integer: false,
        get: |f| f.kinetic_friction,
        set: |f, v| f.kinetic_friction = v,
    },
    Param {
        name: "stretch damping",
        field: "Fabric::stretch_damping",
        unit: "s",
        help: "How much more threads that give resist being stretched fast: the time by which stress is ahead \
               of strain.",
        range: 0.0..=10.0,
        logarithmic: true,
        integer: false,
        get: |f| f.stretch_damping,
        set: |f, v| f.stretch_damping = v,
    },
    Param {
        name: "shear damping",
        field: "Fabric::shear_damping",
        unit: "s",
        help: "How much more it resists being sheared fast. Calms what wobbles.",
        range: 0.0..=10.0,
        logarithmic: true,
        integer: false,
        get: |f| f.shear_damping,
        set: |f, v| f.shear_damping = v,
    },
    Param {
        name: "bending damping",
        field: "Fabric::bending_damping",
        unit: "s",
        help: "How much more it resists being bent fast: the time by which its bending moment is ahead. \
               Calms what trembles.",
        range: 0.0..=10.0,
        logarithmic: true,
        integer: false,
        get: |f| f.bending_damping,
        set: |f, v| f.bending_damping = v,
    },
    Param {
        name: "internal friction",
        field: "Fabric::internal_friction",
        unit: "m/s²",
        help: "Of yarns on each other: how much speed what moves within the cloth loses each second. \
               Brings it to rest; what it does as a whole is not slowed.",
        range: 0.0..=10.0,
        logarithmic: true,
        integer: false,
        get: |f| f.internal_friction,
        set: |f, v| f.internal_friction = v,
    },
    Param {
        name: "drag",
        field: "Fabric::drag",
        unit: "",
        help: "Drag coefficient: how much the air takes along or slows what moves across it.",
        range: 0.0..=10.0,
        logarithmic: false,
        integer: false,
        get: |f| f.drag,
        set: |f, v| f.drag = v,
    },
    Param {
        name: "lift",
        field: "Fabric::lift",
        unit: "",
        help: "Lift coefficient: how much the air pushes slanted cloth sideways. Makes flags wave.",
        range: 0.0..=10.0,
        logarithmic: false,
        integer: false,
        get: |f| f.lift,
        set: |f, v| f.lift = v,
    },
];

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloth::Cloth;

    fn check<T: Default + Clone>(params: &[Param<T>]) {
        let mut value = T::default();
        assert_eq!(sanitize(params, &mut value), Vec::<String>::new());
        for param in params {
            let (low, high) = (*param.range.start(), *param.range.end());
            let cases = [
                (f32::NAN, param.default_value()),
                (f32::NEG_INFINITY, low),
                (f32::INFINITY, high),
            ];
            for (bad, allowed) in cases {
                // Whole numbers cannot be NaN or infinite in the first place.
                if param.integer && !bad.is_finite() {
                    continue;
                }
                let mut value = T::default();
                (param.set)(&mut value, bad);
                let messages = sanitize(params, &mut value);
                assert_eq!((param.get)(&value), allowed, "{}", param.field);
                assert_eq!(messages.len(), 1, "{}: {messages:?}", param.field);
                assert!(messages[0].starts_with(param.field));
            }
        }
    }

    #[test]
    fn every_number_is_kept_in_its_range() {
        check(CLOTH);
        check(FABRIC);
        check(ROPE);
        check(SUBSTEPS);
        check(GRAVITY);
        check(WIND);
        check(TURBULENCE);
        check(WIND_OCCLUSION);
        check(WIND_ZONE);
        check(PRESSURE);
    }

    #[test]
    fn zero_iterations_become_one() {
        let mut cloth = Cloth {
            iterations: 0,
            ..Default::default()
        };
        assert_eq!(sanitize(CLOTH, &mut cloth).len(), 1);
        assert_eq!(cloth.iterations, 1);
    }
}
