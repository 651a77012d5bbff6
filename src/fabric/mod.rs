//! What cloth is made of.

mod presets;
#[cfg(feature = "serialize")]
mod read;

use crate::solver::{Air, Compliance, Friction, Retardation, Surface};
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::Serialize;

/// The top of the range of [`Fabric::strain_limit`].
pub(crate) const NO_STRAIN_LIMIT: f32 = 10.0;

/// The top of the range of stiffnesses.
pub(crate) const RIGID: f32 = 1e6;

/// The material of a cloth. Values outside the given ranges are clamped, with a warning.
///
/// Its stiffnesses are those of the fabric, not of one constraint: force for each metre of width and unit of
/// strain, so that 100 N/m lets a strip 1 m wide become longer by a hundredth for each newton. Another mesh makes
/// no other fabric of it, as long as there are substeps enough: with few of them, a fine mesh of stiff fabric
/// that gives is softer than it should be (cotton of 32 × 32 particles on 1 m, by a third).
///
/// Warp runs along the columns of a
/// [`ClothGrid`](crate::mesh::ClothGrid), from row to row, weft along its rows; in other meshes that have rows and
/// columns it is chance which is which, and what has none has the mean of both.
///
/// In a file (feature `serialize`) what is not written has its default. With `like` it is that of a preset
/// instead: `(like: "denim", drag: 0.8)`.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize),
    reflect(Serialize, Deserialize)
)]
pub struct Fabric {
    /// Mass of a square metre, kg/m². 0.001 to 20, default 0.2.
    pub areal_density: f32,
    /// Distance that the cloth keeps from colliders, m. 0 to 1, default 0.01.
    pub thickness: f32,
    /// How stiff it is along the warp, N/m. 1 to 1 000 000, the default, at which threads do not give.
    pub warp_stiffness: f32,
    /// How stiff it is along the weft, N/m. 1 to 1 000 000, the default, at which threads do not give.
    pub weft_stiffness: f32,
    /// How far a thread may be stretched that gives, as a share of its rest length. 0 to 10, default
    /// 0.1; 10 sets no limit. It holds where the fabric gives along the warp or the weft; threads that do not
    /// give have none, and are held a little less well while the others do.
    /// A cloth that tears ([`Tearing`](crate::Tearing)) has no limit, or it would not.
    pub strain_limit: f32,
    /// How stiff it is where the squares of its weave become diamonds, N/m: the force for each metre of width
    /// and radian. 0.1 to 1 000 000, at which they stay squares; default 10 000. In fabric that stretches
    /// along one thread more easily than that, it is as much less as lets it stretch.
    pub shear_stiffness: f32,
    /// Bending stiffness (flexural rigidity for each metre of width), N·m: the bending moment of a strip,
    /// divided by its width and curvature. It is a property of the fabric, whatever the mesh: half of all
    /// fabrics have more than 13.8e-6, one in twenty less than 1.1e-6 and one in twenty more than 110e-6.
    /// 0 to 10, default 1e-5; 0 bends freely.
    pub bending_stiffness: f32,
    /// Static friction coefficient. 0 to 10, default 0.3.
    pub static_friction: f32,
    /// Kinetic friction coefficient. 0 to 10, default 0.2.
    pub kinetic_friction: f32,
    /// How much more threads that give resist being stretched fast, s: the time by which their stress is ahead
    /// of their strain, as that of a Kelvin–Voigt body. 0 to 10, default 0.
    pub stretch_damping: f32,
    /// The same for shearing, s. 0 to 10, default 0.
    pub shear_damping: f32,
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
        warp_stiffness: RIGID,
        weft_stiffness: RIGID,
        strain_limit: 0.1,
        shear_stiffness: 1e4,
        bending_stiffness: 1e-5,
        static_friction: 0.3,
        kinetic_friction: 0.2,
        internal_friction: 0.08,
        stretch_damping: 0.0,
        shear_damping: 0.0,
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
        let gives = |stiffness: f32| match stiffness {
            RIGID.. => 0.0,
            _ => 1.0 / stiffness,
        };
        Compliance {
            warp: gives(self.warp_stiffness),
            weft: gives(self.weft_stiffness),
            shear: gives(self.shear_stiffness),
            bending: self.bending_stiffness,
        }
    }

    /// Whether any of its threads give.
    pub(crate) fn is_elastic(&self) -> bool {
        self.warp_stiffness.min(self.weft_stiffness) < RIGID
    }

    /// Its damping, as the solver takes it.
    pub fn retardation(&self) -> Retardation {
        Retardation {
            stretch: self.stretch_damping,
            shear: self.shear_damping,
            bending: self.bending_damping,
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
