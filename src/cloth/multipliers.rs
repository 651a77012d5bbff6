//! Multipliers of the masses and bending stiffness of the particles of a cloth.

use crate::{
    cloth::shape::ClothShape,
    mesh::paint::PerVertex,
    solver::{ConstraintGraph, ParticleArrays, inverse_masses},
};
use bevy::prelude::*;

/// Mass and stiffness multipliers, one per particle of the whole cloth; empty if 1 everywhere. Written when the
/// cloth is built or reset, and at the beginning of a step when the painted masses change; read wherever masses are
/// computed.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct ParticleMultipliers {
    /// Setting from which `mass` was resolved.
    pub(crate) bound_mass: PerVertex,
    pub(crate) mass: Vec<f32>,
    pub(crate) stiffness: Vec<f32>,
}

impl ParticleMultipliers {
    /// Recomputes all inverse masses: 1/(area·density), divided by the multiplier; 0 for pinned particles.
    pub(crate) fn set_masses(
        &self,
        particles: &mut ParticleArrays,
        shape: &ClothShape,
        pinned: impl Iterator<Item = u32>,
        areal_density: f32,
    ) {
        let computed: Vec<f32>;
        let areas = if shape.area.is_empty() {
            computed = shape.triangles.particle_areas(particles.len());
            &computed
        } else {
            &shape.area
        };
        let free = inverse_masses(areas, areal_density);
        for (w, free) in particles.inverse_mass.iter_mut().zip(free) {
            *w = free;
        }
        if !self.mass.is_empty() {
            for (i, w) in (0..).zip(particles.inverse_mass.iter_mut()) {
                *w /= self.mass_of(i, shape);
            }
        }
        for particle in pinned {
            particles.inverse_mass[particle as usize] = 0.0;
        }
    }

    /// Returns the mass multiplier of a particle, 1 if none.
    pub(crate) fn mass_of(&self, particle: u32, shape: &ClothShape) -> f32 {
        if self.mass.is_empty() {
            return 1.0;
        }
        let source = shape.source_particle(particle) as usize;
        self.mass.get(source).copied().unwrap_or(1.0)
    }

    /// Returns the smallest mass multiplier, at most 1.
    pub(crate) fn min_mass(&self) -> f32 {
        self.mass.iter().copied().fold(1.0, f32::min)
    }

    /// Applies the stiffness multipliers to bend constraints that have the stiffness of the fabric.
    pub(crate) fn apply_stiffness(&self, constraints: &mut ConstraintGraph) {
        let stiffness = &self.stiffness;
        if !stiffness.is_empty() {
            constraints.stiffen_bends(|i| stiffness.get(i as usize).copied().unwrap_or(1.0));
        }
    }
}
