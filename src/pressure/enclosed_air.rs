//! Pressure of air enclosed in cloth.

use crate::solver::{self, ParticleArrays};
use crate::{
    cloth::{body::ClothBody, shape::ClothShape},
    pressure::ClothPressure,
};
use bevy::prelude::*;
use std::fmt::Display;

/// Maximum rate of inflation and deflation, as a fraction of the amount of air, 1/s.
const MAX_FILL_RATE: f32 = 1.0;

/// Rest volume enclosed by a cloth, for [`ClothPressure`]. Written at the beginning of a step, read by its substeps.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
#[component(clone_behavior = Ignore)]
pub(crate) struct EnclosedVolume {
    /// Frame and particle count for which it was measured.
    measured_for: Option<(Mat3, usize)>,
    /// Volume at rest, m³, negative if the triangles face inwards; `None` if the cloth is open.
    pub(crate) rest_volume: Option<f32>,
}

/// Updates the amount of air in a cloth, and logs an error if the cloth is not closed.
pub(crate) fn prepare(
    label: &dyn Display,
    pressure: Option<&ClothPressure>,
    particles: &ParticleArrays,
    body: &mut ClothBody,
    shape: &ClothShape,
    volume: &mut EnclosedVolume,
    dt: f32,
) {
    let rest_volume = pressure.and_then(|_| volume.measure(label, shape));
    let Some(ramped) = &mut body.ramped else {
        return;
    };
    let (Some(pressure), Some(rest_volume)) = (pressure, rest_volume) else {
        ramped.air = 0.0;
        return;
    };
    let wanted = (pressure.ambient + pressure.overpressure) * rest_volume.abs();
    if ramped.air == 0.0 {
        // Begins with air at ambient pressure that fills its current volume.
        let corners = &shape.triangles.indices;
        let now = solver::enclosed_volume(corners, |i| particles.position.get(i as usize));
        let filling = (now / rest_volume).clamp(0.01, 1.0);
        ramped.air = pressure.ambient * filling * rest_volume.abs();
    }
    let max_change = MAX_FILL_RATE * dt * wanted.max(ramped.air);
    ramped.air += (wanted - ramped.air).clamp(-max_change, max_change);
}

impl EnclosedVolume {
    /// Returns the volume of a cloth at rest, if it is closed. Measured again when it is opened, restored or scaled.
    fn measure(&mut self, label: &dyn Display, shape: &ClothShape) -> Option<f32> {
        let (rest, to_world) = (shape.rest(), shape.to_world);
        let measured_for = Some((to_world, rest.len()));
        if self.measured_for != measured_for {
            let corners = &shape.triangles.indices;
            let closed = solver::is_closed(corners);
            let volume = solver::enclosed_volume(corners, |i| to_world * rest[i as usize]);
            let is_usable = closed && volume != 0.0 && volume.is_finite();
            if !is_usable && shape.torn.is_none() {
                error!(
                    "cloth {label}: its mesh is {}, so it holds no air and ClothPressure has no effect; close \
                     it so that each edge has a triangle on both sides, all facing the same way",
                    if closed { "flat" } else { "open" }
                );
            }
            *self = Self {
                measured_for,
                rest_volume: is_usable.then_some(volume),
            };
        }
        self.rest_volume
    }
}
