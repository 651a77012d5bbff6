//! Ropes: chains of particles with the parameters, pins and collisions of cloth.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | component for users |
//! | `layout` | initial positions of the particles |
//! | `body` | state of a built rope besides its particles and constraints |

mod body;
mod layout;
pub(crate) mod plugin;

use crate::cloth::Cloth;
use bevy::prelude::*;
pub(crate) use body::{RopeBody, length_in_world};
pub(crate) use layout::RopeLayout;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Rope. Needs no mesh: the plugin adds a smooth tube to its entity.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # let mut world = World::new();
/// // A sagging washing line.
/// world.spawn((
///     Rope {
///         length: Some(4.2),
///         ..Rope::between(Vec3::ZERO, Vec3::X * 4.0, 60)
///     },
///     Pins::ends(),
/// ));
/// // A thicker rope that hangs from its first particle.
/// world.spawn((
///     Rope::between(Vec3::Y * 2.0, Vec3::ZERO, 40).with_thickness(0.05),
///     Pins::index(0),
/// ));
/// ```
///
/// All other components work as for cloth: [`Cloth`] and its fabric set its parameters, [`Pins`](crate::pins::Pins) pin
/// it, [`ResetCloth`](crate::cloth::ResetCloth) resets it, [`ClothReady`](crate::cloth::ClothReady) reports that it is built.
/// [`Pins::index`](crate::pins::Pins::index) selects the particle with this index along the rope, from 0, and
/// [`Pins::ends`](crate::pins::Pins::ends) the first and the last one.
///
/// A rope is modelled as a tube of its fabric: its mass per metre is `areal_density · π · thickness`, by default
/// 19 g/m. It resists stretching (mean of `warp_stiffness` and `weft_stiffness`) and bending (`bending_stiffness`)
/// as a strip of fabric as wide as the circumference of the rope. It is straight at rest, catches the wind by
/// `drag`, and keeps a distance of the fabric's thickness plus its own radius from colliders.
///
/// All lengths are in the frame of the entity, whose scale is applied when the rope is built or reset. A
/// non-uniform scale flattens the rendered tube; the simulated one stays round. The rope is rebuilt when this
/// component changes. While the component exists, the plugin owns the entity's [`Mesh3d`]; an earlier mesh is
/// restored when `Rope` or `Cloth` is removed.
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[require(Cloth)]
pub struct Rope {
    /// Polyline along which the rope is built, m. At least two points. Default: one metre along x.
    pub points: Vec<Vec3>,
    /// Number of particles, spread evenly over the length. 2 to 10 000, default 32. More particles bend in finer
    /// curves and stretch more: with the square of their number.
    pub particles: u32,
    /// Diameter, m. 0.0001 to 10, default 0.03.
    pub thickness: f32,
    /// Number of sides of the rendered tube. 3 to 128, default 12.
    pub sides: u32,
    /// Rest length, m; `None` for the length of the polyline. A longer rope starts out sagging between its points,
    /// a shorter one taut.
    pub length: Option<f32>,
}

impl Default for Rope {
    fn default() -> Self {
        Self {
            points: vec![Vec3::ZERO, Vec3::X],
            particles: 32,
            thickness: 0.03,
            sides: 12,
            length: None,
        }
    }
}

impl Rope {
    /// Creates a rope along a polyline (in the entity's frame, m).
    pub fn new(points: impl Into<Vec<Vec3>>, particles: u32) -> Self {
        Self {
            points: points.into(),
            particles,
            ..Self::default()
        }
    }

    /// Creates a straight rope from one point to another (in the entity's frame, m).
    pub fn between(a: Vec3, b: Vec3, particles: u32) -> Self {
        Self::new([a, b], particles)
    }

    /// Sets the diameter, m.
    pub fn with_thickness(self, thickness: f32) -> Self {
        Self { thickness, ..self }
    }
}
