//! What cloth is made of.

mod presets;

use crate::solver::{Air, Compliance, Friction, Surface};
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// The top of the range of [`Fabric::strain_limit`].
pub(crate) const NO_STRAIN_LIMIT: f32 = 10.0;

/// The material of a cloth. Values outside the given ranges are clamped, with a warning.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Fabric {
    /// Mass of a square metre, kg/m². 0.001 to 20, default 0.2.
    pub areal_density: f32,
    /// Distance that the cloth keeps from colliders, m. 0 to 1, default 0.01.
    pub thickness: f32,
    /// How much a thread gives, m/N (0 is rigid). 0 to 1, default 0.
    pub stretch_compliance: f32,
    /// How far a thread may be stretched that gives, as a share of its rest length. 0 to 10, default
    /// 0.1; 10 sets no limit. It holds where there is a stretch compliance; threads without do not give.
    /// A cloth that tears ([`Tearing`](crate::Tearing)) has no limit, or it would not.
    pub strain_limit: f32,
    /// How much a diagonal gives, m/N. 0 to 10, default 0.0001.
    pub shear_compliance: f32,
    /// Bending stiffness (flexural rigidity for each metre of width), N·m: the bending moment of a strip,
    /// divided by its width and curvature. It is a property of the fabric, whatever the mesh: half of all
    /// fabrics have more than 13.8e-6, one in twenty less than 1.1e-6 and one in twenty more than 110e-6.
    /// 0 to 10, default 1e-5; 0 bends freely.
    pub bending_stiffness: f32,
    /// Static friction coefficient. 0 to 10, default 0.3.
    pub static_friction: f32,
    /// Kinetic friction coefficient. 0 to 10, default 0.2.
    pub kinetic_friction: f32,
    /// How much more it resists being bent fast, s: the time by which its bending moment is ahead, as that of
    /// a Kelvin–Voigt beam. Calms what trembles from one particle to the next. 0 to 10, default 0.03.
    pub bending_damping: f32,
    /// Friction of its yarns on each other, m/s²: how much speed what moves within it loses each second,
    /// however fast it is. What the cloth does as a whole, falling and turning, it does not slow; pinned
    /// cloth is seen from its pins. Cloth comes to rest by it. 0 to 10, default 0.08.
    pub internal_friction: f32,
    /// Drag coefficient. 0 to 10, default 0.5.
    pub drag: f32,
    /// Lift coefficient. 0 to 10, default 0.25.
    pub lift: f32,
}

impl Fabric {
    /// The default.
    const PLAIN: Self = Self {
        areal_density: 0.2,
        thickness: 0.01,
        stretch_compliance: 0.0,
        strain_limit: 0.1,
        shear_compliance: 1e-4,
        bending_stiffness: 1e-5,
        static_friction: 0.3,
        kinetic_friction: 0.2,
        internal_friction: 0.08,
        bending_damping: 0.03,
        drag: 0.5,
        lift: 0.25,
    };
}

impl Default for Fabric {
    fn default() -> Self {
        Self::PLAIN
    }
}

impl Fabric {
    /// Its compliances, as the solver takes them.
    pub fn compliance(&self) -> Compliance {
        Compliance {
            stretch: self.stretch_compliance,
            shear: self.shear_compliance,
            bending: self.bending_stiffness,
        }
    }

    /// Its strain limit, as the solver takes it; infinite if it has none.
    pub(crate) fn strain(&self) -> f32 {
        if self.strain_limit < NO_STRAIN_LIMIT {
            self.strain_limit
        } else {
            f32::INFINITY
        }
    }

    /// Its surface, as the solver takes it.
    pub fn surface(&self) -> Surface {
        Surface {
            thickness: self.thickness,
            friction: Friction {
                fixed: self.static_friction,
                kinetic: self.kinetic_friction,
            },
        }
    }

    /// The air around it, as the solver takes it. `wind` in m/s, `air_density` in kg/m³.
    pub fn air(&self, wind: Vec3, air_density: f32) -> Air {
        Air {
            wind,
            density: air_density,
            drag: self.drag,
            lift: self.lift,
            areal_density: self.areal_density,
        }
    }
}
