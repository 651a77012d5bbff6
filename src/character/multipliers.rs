//! Resolves painted multipliers of mass and stiffness to particles, when a cloth is built and when its paint
//! changes.

use crate::{
    character::{
        paint::{ClothPaint, MULTIPLIER_RANGE},
        skin_weights::SkinWeights,
    },
    cloth::components::ClothBody,
    mesh::paint::{PerVertex, warn_of_missing_channels},
};
use bevy::prelude::*;

/// Painted mass and stiffness multipliers, one per particle of the whole cloth; empty if 1 everywhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PaintedMultipliers {
    pub(crate) bound_paint: ClothPaint,
    pub(crate) mass: Vec<f32>,
    pub(crate) stiffness: Vec<f32>,
}

/// Paint of a cloth without `ClothPaint`.
pub(crate) static NO_PAINT: ClothPaint = ClothPaint {
    mass: PerVertex::Everywhere(1.0),
    bending_stiffness: PerVertex::Everywhere(1.0),
};

/// Resolves the painted mass multipliers.
pub(crate) fn bind_masses(entity: Entity, paint: Option<&ClothPaint>, body: &mut ClothBody) {
    let wanted = &paint.unwrap_or(&NO_PAINT).mass;
    body.multipliers.mass = read_multipliers(entity, wanted, "mass", body);
    body.multipliers.bound_paint.mass = wanted.clone();
}

/// Resolves the painted stiffness multipliers; bend constraints take them when the cloth is built or reset.
pub(crate) fn bind_stiffness(entity: Entity, paint: Option<&ClothPaint>, body: &mut ClothBody) {
    let wanted = &paint.unwrap_or(&NO_PAINT).bending_stiffness;
    body.multipliers.stiffness = read_multipliers(entity, wanted, "bending stiffness", body);
    body.multipliers.bound_paint.bending_stiffness = wanted.clone();
}

/// Returns a multiplier for each particle of the whole cloth; empty if all are 1.
fn read_multipliers(entity: Entity, wanted: &PerVertex, what: &str, body: &ClothBody) -> Vec<f32> {
    if *wanted == PerVertex::default() {
        return Vec::new();
    }
    let [min, max] = MULTIPLIER_RANGE;
    let joints = body.skin.as_ref().map(SkinWeights::as_joints);
    match (body.paint).resolve(wanted, joints, body.topology.positions.len()) {
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
            warn_of_missing_channels(
                entity,
                &body.paint,
                joints,
                &[channel],
                &format!("multiply the {what}"),
            );
            Vec::new()
        }
    }
}
