//! Settings of a built cloth that are ramped, and its tethers.

use crate::cloth::{
    Cloth,
    ramp::{
        RelaxationRamp, ramp_compliance, ramp_density, ramp_strain_limit, ramp_tethers,
        ramp_thickness,
    },
    shape::ClothShape,
    tethers::StaleDistances,
};
use crate::solver::{
    Compliance, ConstraintGraph, Geodesics, ParticleArrays, SubstepTime, Tethers, measure_stretch,
};
use bevy::prelude::*;
use std::sync::Arc;

/// Ramped settings and tethers of a cloth. An entity with it is a built cloth. Written at the beginning and the end of
/// each step, and by resets, tears and snapshots; read by the substeps and by sleep.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct ClothBody {
    /// `None` before the first step.
    pub(crate) ramped: Option<RampedSettings>,
    /// Areal density from which the masses were computed, kg/m².
    pub(crate) areal_density: f32,
    /// Valid steps left until a non-finite state is logged again.
    pub(crate) error_cooldown: u32,
    /// Tethers: upper bounds on the distance of particles from pins.
    pub(crate) tethers: Arc<Tethers>,
    /// Geodesic distances from which the tethers are built, shared with snapshots. Empty while no tear is expected.
    pub(crate) tether_distances: Arc<Geodesics>,
    /// Changes since these distances were measured.
    pub(crate) stale_distances: StaleDistances,
}

/// Solver settings that are ramped towards the values the user set.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RampedSettings {
    pub(crate) relaxation: RelaxationRamp,
    pub(crate) compliance: Compliance,
    pub(crate) thickness: f32,
    pub(crate) areal_density: f32,
    /// Scale of the tether lengths; infinite while there are no tethers.
    #[cfg_attr(feature = "serialize", serde(with = "crate::solver::math::bits"))]
    pub(crate) tether_scale: f32,
    /// Strain limit; infinite while there is none.
    #[cfg_attr(feature = "serialize", serde(with = "crate::solver::math::bits"))]
    pub(crate) strain_limit: f32,
    /// Amount of enclosed air, as pressure times volume, J.
    pub(crate) air: f32,
}

impl RampedSettings {
    /// Returns the settings the user set, without tethers and strain limit:
    /// [`ClothBody::ramp_tethers`] and [`ClothBody::ramp_strain_limit`] set those.
    fn target(cloth: &Cloth, shape: &ClothShape, time: &SubstepTime, iterations: u32) -> Self {
        Self {
            relaxation: RelaxationRamp::full(time.substep, iterations, cloth.stretch_solver),
            compliance: cloth.fabric.compliance(),
            thickness: shape.thickness(&cloth.fabric),
            areal_density: cloth.fabric.areal_density,
            tether_scale: f32::INFINITY,
            strain_limit: f32::INFINITY,
            air: 0.0,
        }
    }
}

impl ClothBody {
    /// Ramps the settings of this step towards those of the user; before the first step they are taken at once.
    pub(crate) fn ramp(
        &mut self,
        cloth: &Cloth,
        shape: &ClothShape,
        time: &SubstepTime,
        iterations: u32,
    ) {
        let target = RampedSettings::target(cloth, shape, time, iterations);
        self.ramped = Some(self.ramped.map_or(target, |now| {
            RampedSettings {
                relaxation: now
                    .relaxation
                    .next(time.substep, iterations, cloth.stretch_solver),
                compliance: ramp_compliance(now.compliance, target.compliance),
                thickness: ramp_thickness(now.thickness, target.thickness, time.step),
                areal_density: ramp_density(now.areal_density, target.areal_density),
                ..now
            }
        }));
    }

    /// Ramps the strain limit towards this value: where it would pull, it decreases gradually.
    pub(crate) fn ramp_strain_limit(
        &mut self,
        target: f32,
        particles: &ParticleArrays,
        constraints: &ConstraintGraph,
        dt: f32,
    ) {
        if let Some(ramped) = &mut self.ramped {
            let now = ramped.strain_limit;
            let strain = if target < now {
                measure_stretch(particles, constraints).max
            } else {
                0.0
            };
            ramped.strain_limit = ramp_strain_limit(now, target, strain, dt);
        }
    }

    /// Ramps the scale of the tethers towards this value. Where they would pull, it decreases gradually. New tethers,
    /// and all tethers while the relaxation factor is ramped, start from the current stretch: more substeps pull more
    /// often.
    pub(crate) fn ramp_tethers(&mut self, target: f32, particles: &ParticleArrays, dt: f32) {
        if let Some(ramped) = &mut self.ramped {
            let stiffens = ramped.relaxation.factor < 1.0;
            let now = if stiffens {
                f32::INFINITY
            } else {
                ramped.tether_scale
            };
            let max_length_ratio = if target < now {
                self.tethers.max_length_ratio(particles)
            } else {
                0.0
            };
            ramped.tether_scale = ramp_tethers(now, target, max_length_ratio, dt);
        }
    }

    /// Returns the settings of this step.
    pub(crate) fn ramped(
        &self,
        cloth: &Cloth,
        shape: &ClothShape,
        time: &SubstepTime,
        iterations: u32,
    ) -> RampedSettings {
        (self.ramped).unwrap_or_else(|| RampedSettings::target(cloth, shape, time, iterations))
    }
}
