//! Ropes: a line of particles that is tuned, pinned and pushed about like cloth.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | what a user writes |
//! | `course` | where its particles lie when it is built |
//! | `body` | what its steps need besides particles and constraints |

mod body;
mod course;

pub(crate) use body::{RopeBody, length_in_world, mean_scale};
pub(crate) use course::Course;

use crate::{cloth::Cloth, params::Param};
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// A rope. It needs no mesh: the plugin gives its entity one, a smooth tube.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # let mut world = World::new();
/// // A washing line that sags.
/// world.spawn((
///     Rope {
///         length: Some(4.2),
///         ..Rope::between(Vec3::ZERO, Vec3::X * 4.0, 60)
///     },
///     Pins::ends(),
/// ));
/// // A thicker one that hangs by its first particle.
/// world.spawn((
///     Rope::between(Vec3::Y * 2.0, Vec3::ZERO, 40).with_thickness(0.05),
///     Pins::index(0),
/// ));
/// ```
///
/// Everything else is that of cloth: [`Cloth`] and its fabric tune it, [`Pins`](crate::Pins) hold
/// it, [`ResetCloth`](crate::ResetCloth) puts it back, [`ClothReady`](crate::ClothReady) says when
/// it is built. Of its particles, [`Pins::index`](crate::Pins::index) means the one with this number
/// along the rope, from 0, and [`Pins::ends`](crate::Pins::ends) the first and the last.
///
/// A rope is a tube of its fabric: it weighs `areal_density · π · thickness` per metre, so that the
/// default is 19 g/m. It resists stretching (`warp_stiffness` and `weft_stiffness`, the mean of both) and bending
/// (`bending_stiffness`) as a strip of fabric that is as wide as the rope is around; it is straight at rest, catches the wind by
/// `drag`, and keeps the fabric's thickness plus its own radius from colliders.
///
/// All lengths are in the frame of the entity, whose scale counts when the rope is built or reset. An
/// uneven scale flattens what is drawn; what is felt stays round.
/// It is built anew when this component changes. While it is there, the entity's
/// [`Mesh3d`] is the plugin's: one that was there before comes back when `Rope` or `Cloth` is
/// removed.
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[require(Cloth)]
pub struct Rope {
    /// The way it lies when it is built, m: through these points, straight between them. At least
    /// two. Default: one metre along x.
    pub points: Vec<Vec3>,
    /// How many particles it has, spread evenly over its length. 2 to 10 000, default 32. More bend
    /// in finer curves and stretch more: with the square of their number.
    pub particles: u32,
    /// Its diameter, m. 0.0001 to 10, default 0.03.
    pub thickness: f32,
    /// How many sides the drawn tube has. 3 to 128, default 12.
    pub sides: u32,
    /// Its length at rest, m; without it, that of the way through its points. A longer one starts
    /// out sagging between them, a shorter one taut.
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
    /// A rope through points (in the entity's frame, m).
    pub fn new(points: impl Into<Vec<Vec3>>, particles: u32) -> Self {
        Self {
            points: points.into(),
            particles,
            ..Self::default()
        }
    }

    /// A straight rope from one point to another (in the entity's frame, m).
    pub fn between(a: Vec3, b: Vec3, particles: u32) -> Self {
        Self::new([a, b], particles)
    }

    /// The same rope of another diameter, m.
    pub fn with_thickness(self, thickness: f32) -> Self {
        Self { thickness, ..self }
    }

    /// Puts its numbers into their ranges. Returns a sentence for each one that was outside.
    pub(crate) fn sanitize(&mut self) -> Vec<String> {
        let mut messages = crate::params::sanitize(ROPE, self);
        if let Some(length) = self.length
            && !(length > 0.0 && length.is_finite())
        {
            self.length = None;
            messages.push(format!(
                "Rope::length is {length}, allowed is a length above 0 m; using that of its points"
            ));
        }
        messages
    }
}

/// The numbers of [`Rope`].
pub const ROPE: &[Param<Rope>] = &[
    Param {
        name: "particles",
        field: "Rope::particles",
        unit: "",
        help: "How many particles it has, spread evenly over its length. More bend in finer curves \
               and stretch more: with the square of their number.",
        range: 2.0..=10_000.0,
        logarithmic: true,
        integer: true,
        get: |r| r.particles as f32,
        set: |r, v| r.particles = v as u32,
    },
    Param {
        name: "thickness",
        field: "Rope::thickness",
        unit: "m",
        help: "Its diameter. A thicker rope is heavier and catches more wind.",
        range: 0.0001..=10.0,
        logarithmic: true,
        integer: false,
        get: |r| r.thickness,
        set: |r, v| r.thickness = v,
    },
    Param {
        name: "sides",
        field: "Rope::sides",
        unit: "",
        help: "How many sides the drawn tube has.",
        range: 3.0..=128.0,
        logarithmic: false,
        integer: true,
        get: |r| r.sides as f32,
        set: |r, v| r.sides = v as u32,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_are_none_are_left_out() {
        for bad in [f32::NAN, f32::INFINITY, 0.0, -1.0] {
            let mut rope = Rope {
                length: Some(bad),
                ..default()
            };
            let messages = rope.sanitize();
            assert!(messages.len() == 1 && messages[0].contains("Rope::length"));
            assert_eq!(rope, Rope::default());
        }
    }
}
