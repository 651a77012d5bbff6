//! Painted channels of a mesh, and the multipliers of mass and stiffness that are resolved from them when a cloth is
//! built and when its paint changes.

use crate::{
    character::{
        paint::{ClothPaint, MULTIPLIER_RANGE},
        skin_weights::SkinWeights,
    },
    cloth::{multipliers::ParticleMultipliers, shape::ClothShape},
    mesh::paint::{JointWeights, Paint, PerVertex, warn_of_missing_channels},
};
use bevy::prelude::*;
use std::fmt::Display;

/// Painted vertex channels of the mesh of a cloth. Written when the cloth is built; read wherever pins, max distances
/// and multipliers are resolved to particles.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct MeshPaint(pub(crate) Paint);

/// Shape of a cloth, with everything painted on its mesh, and the skeleton of that mesh if it has one.
#[derive(Clone, Copy)]
pub(crate) struct PaintedShape<'a> {
    pub(crate) shape: &'a ClothShape,
    paint: &'a MeshPaint,
    pub(crate) skin: Option<&'a SkinWeights>,
}

impl<'a> PaintedShape<'a> {
    pub(crate) fn new(
        shape: &'a ClothShape,
        paint: &'a MeshPaint,
        skin: Option<&'a SkinWeights>,
    ) -> Self {
        Self { shape, paint, skin }
    }

    /// Returns the painted channels.
    pub(crate) fn channels(self) -> &'a Paint {
        &self.paint.0
    }

    /// Returns the joints of the skeleton, if there is one.
    pub(crate) fn joints(self) -> Option<&'a dyn JointWeights> {
        self.skin.map(SkinWeights::as_joints)
    }
}

/// Paint of a cloth without `ClothPaint`.
static NO_PAINT: ClothPaint = ClothPaint {
    mass: PerVertex::Everywhere(1.0),
    bending_stiffness: PerVertex::Everywhere(1.0),
};

/// Returns whether the mass multipliers were resolved from this paint, or from none.
pub(crate) fn masses_are_bound(
    paint: Option<&ClothPaint>,
    multipliers: &ParticleMultipliers,
) -> bool {
    paint.unwrap_or(&NO_PAINT).mass == multipliers.bound_mass
}

/// Resolves the painted mass multipliers.
pub(crate) fn bind_masses(
    label: &dyn Display,
    paint: Option<&ClothPaint>,
    painted: PaintedShape,
    multipliers: &mut ParticleMultipliers,
) {
    let wanted = &paint.unwrap_or(&NO_PAINT).mass;
    multipliers.mass = read_multipliers(label, wanted, "mass", painted);
    multipliers.bound_mass = wanted.clone();
}

/// Resolves the painted stiffness multipliers; bend constraints take them when the cloth is built or reset.
pub(crate) fn bind_stiffness(
    label: &dyn Display,
    paint: Option<&ClothPaint>,
    painted: PaintedShape,
    multipliers: &mut ParticleMultipliers,
) {
    let wanted = &paint.unwrap_or(&NO_PAINT).bending_stiffness;
    multipliers.stiffness = read_multipliers(label, wanted, "bending stiffness", painted);
}

/// Returns a multiplier for each particle of the whole cloth; empty if all are 1.
fn read_multipliers(
    label: &dyn Display,
    wanted: &PerVertex,
    what: &str,
    painted: PaintedShape,
) -> Vec<f32> {
    if *wanted == PerVertex::default() {
        return Vec::new();
    }
    let [min, max] = MULTIPLIER_RANGE;
    let (channels, joints) = (painted.channels(), painted.joints());
    match channels.resolve(wanted, joints, painted.shape.topology.positions.len()) {
        Ok(mut values) => {
            for value in &mut values {
                *value = if value.is_nan() {
                    1.0
                } else {
                    value.clamp(min, max)
                };
            }
            values
        }
        Err(channel) => {
            let what = format!("multiply the {what}");
            warn_of_missing_channels(label, channels, joints, &[channel], &what);
            Vec::new()
        }
    }
}
