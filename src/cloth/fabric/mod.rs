//! [`Fabric`]: the material of a cloth, and its presets.

mod presets;
#[cfg(feature = "serialize")]
mod read;

use crate::solver::{Air, Compliance, ConstraintDamping, Friction, Surface};
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::Serialize;

/// Material of a cloth. Values outside the given ranges are clamped, with a warning.
///
/// Stiffnesses are those of the fabric, not of one constraint: force per metre of width and unit of strain, so
/// that 100 N/m lengthens a strip 1 m wide by a hundredth per newton. They do not depend on the mesh, given enough
/// substeps: with few, a fine mesh of stiff elastic fabric is softer than it should be (cotton of 32 × 32
/// particles on 1 m, by a third).
///
/// Warp runs along the columns of a [`ClothGrid`](crate::mesh::ClothGrid), from row to row, weft along its rows.
/// In other meshes with rows and columns, either may be the warp; meshes without have the mean of both everywhere.
///
/// In a file (feature `serialize`), omitted fields have their defaults, or with `like` the values of a preset:
/// `(like: "denim", drag: 0.8)`.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct Fabric {
    /// Mass per area, kg/m². 0.001 to 20, default 0.2.
    pub areal_density: f32,
    /// Distance between the cloth and colliders, m. 0 to 1; default `None`, 1 cm, or a fiftieth of the size of cloth that is
    /// smaller than 50 cm, measured along the diagonal of the box around it.
    pub thickness: Option<f32>,
    /// Membrane stiffness along the warp, N/m. 1 to 1 000 000; default `None`, inextensible.
    pub warp_stiffness: Option<f32>,
    /// Membrane stiffness along the weft, N/m. 1 to 1 000 000; default `None`, inextensible.
    pub weft_stiffness: Option<f32>,
    /// Largest strain along warp and weft where the fabric is elastic, as a fraction of the rest length. 0 to 10,
    /// default `Some(0.1)`; `None` sets no limit. Inextensible edges need none, and are held a little less well
    /// while others are elastic. Cloth that tears (`ClothTearing`) has no limit, since a limit would keep it whole.
    pub strain_limit: Option<f32>,
    /// Shear stiffness, N/m: force per metre of width and radian that turns the squares of the weave into
    /// diamonds. 0.1 to 1 000 000, default `Some(10_000.0)`; `None` keeps them square. Reduced where it would keep
    /// elastic fabric from stretching as its membrane stiffness says.
    pub shear_stiffness: Option<f32>,
    /// Bending stiffness (flexural rigidity per metre of width), N·m: the bending moment of a strip, divided by
    /// its width and curvature. A property of the fabric, whatever the mesh: half of all fabrics have more than
    /// 13.8e-6, one in twenty less than 1.1e-6 and one in twenty more than 110e-6. 0 to 10, default 1e-5; 0 bends
    /// freely.
    pub bending_stiffness: f32,
    /// Static friction coefficient. 0 to 10, default 0.3.
    pub static_friction: f32,
    /// Kinetic friction coefficient. 0 to 10, default 0.2.
    pub kinetic_friction: f32,
    /// Damping of stretching where the fabric is elastic, s: the time by which stress leads strain in a
    /// Kelvin–Voigt body. 0 to 10, default 0.
    pub stretch_damping: f32,
    /// Damping of shearing, s, as for stretching. 0 to 10, default 0.
    pub shear_damping: f32,
    /// Damping of bending, s: the time by which the bending moment leads the curvature in a Kelvin–Voigt beam.
    /// Stops trembling from one particle to the next. 0 to 10, default 0.03.
    pub bending_damping: f32,
    /// Friction between yarns, m/s²: speed that motion within the cloth loses each second, however fast it is.
    /// Falling and turning of the cloth as a whole are not slowed; motion of pinned cloth is measured relative to
    /// its pins. Brings cloth to rest. 0 to 10, default 0.08.
    pub internal_friction: f32,
    /// Drag coefficient. 0 to 10, default 0.5.
    pub drag: f32,
    /// Lift coefficient. 0 to 10, default 0.25.
    pub lift: f32,
}

impl Fabric {
    /// Thickness of large cloth without one of its own, m.
    pub(crate) const MAX_DEFAULT_THICKNESS: f32 = 0.01;

    /// Default fabric.
    const PLAIN: Self = Self {
        areal_density: 0.2,
        thickness: None,
        warp_stiffness: None,
        weft_stiffness: None,
        strain_limit: Some(0.1),
        shear_stiffness: Some(1e4),
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
    /// Returns the compliances for the solver.
    pub fn compliance(&self) -> Compliance {
        let inverse = |stiffness: Option<f32>| stiffness.map_or(0.0, |stiffness| 1.0 / stiffness);
        Compliance {
            warp: inverse(self.warp_stiffness),
            weft: inverse(self.weft_stiffness),
            shear: inverse(self.shear_stiffness),
            bending: self.bending_stiffness,
        }
    }

    /// Returns whether the fabric can be stretched along warp or weft.
    pub(crate) fn is_elastic(&self) -> bool {
        self.warp_stiffness.is_some() || self.weft_stiffness.is_some()
    }

    /// Returns the damping of constraints for the solver.
    pub fn constraint_damping(&self) -> ConstraintDamping {
        ConstraintDamping {
            stretch: self.stretch_damping,
            shear: self.shear_damping,
            bending: self.bending_damping,
        }
    }

    /// Returns the strain limit for the solver; infinite without one, and for inextensible fabric, which needs none.
    pub(crate) fn effective_strain_limit(&self) -> f32 {
        let limit = self.strain_limit.filter(|_| self.is_elastic());
        limit.unwrap_or(f32::INFINITY)
    }

    /// Returns thickness and friction for the solver; without a thickness, that of large cloth.
    pub fn surface(&self) -> Surface {
        Surface {
            thickness: self.thickness.unwrap_or(Self::MAX_DEFAULT_THICKNESS),
            friction: Friction {
                static_coefficient: self.static_friction,
                kinetic_coefficient: self.kinetic_friction,
            },
        }
    }

    /// Returns the air around the fabric for the solver. `wind` in m/s, `air_density` in kg/m³.
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
