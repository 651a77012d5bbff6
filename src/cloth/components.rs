//! Per-cloth state of the simulation besides particles and constraints. Inserted when the cloth is built, removed
//! with [`Cloth`](crate::cloth::Cloth). It is not cloned with the entity: a clone builds its own.

use crate::solver::{
    self, Compliance, ConstraintGraph, ParticleArrays, PinTarget, RelaxationFactor, SoaVec3,
    SubstepTime, Tethers, Triangles, inverse_masses, measure_stretch, ramp_compliance,
    ramp_density, ramp_strain_limit, ramp_tethers, ramp_thickness,
};
use crate::{
    character::{
        frame_history::ReferenceFrame, multipliers::PaintedMultipliers, skin_weights::SkinWeights,
    },
    cloth::{
        Cloth, fingerprint::BuildFingerprint, shape::TornShape, tethers::TetherSource,
        update_rate::UpdateRate,
    },
    collision::contacts::ClothContacts,
    mesh::{Topology, paint::Paint, topology::NO_PARTICLE},
    pins::{BoundPin, Pins},
    pressure::enclosed_air::EnclosedVolume,
    render::pose::RenderPose,
    rope::RopeBody,
    sleep::SleepTimer,
    tearing::progress::CutEnd,
};
use bevy::prelude::*;
use std::sync::Arc;

/// Per-cloth state of the simulation besides particles and constraints.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
#[require(ClothContacts, SleepTimer)]
pub(crate) struct ClothBody {
    /// Rest shape of the whole cloth, in mesh space.
    pub(crate) topology: Topology,
    /// Fingerprint of the mesh, frame and rest shape it was built from. Snapshots compare it.
    pub(crate) build_fingerprint: BuildFingerprint,
    pub(crate) triangles: Triangles,
    /// Rigid bodies of a physics engine near the cloth.
    pub(crate) bodies: solver::Bodies,
    /// Rope data, in place of triangles; `None` for a cloth.
    pub(crate) rope: Option<RopeBody>,
    /// Area of each particle, m²; empty for an untorn mesh cloth, where it follows from the triangles.
    pub(crate) area: Vec<f32>,
    /// Settings the solver uses. They are ramped towards those of [`Cloth`](crate::cloth::Cloth); `None` before the
    /// first step.
    pub(crate) ramped: Option<RampedSettings>,
    /// Areal density from which the masses were computed, kg/m².
    pub(crate) areal_density: f32,
    pub(crate) pins: Vec<BoundPin>,
    /// Targets of the pins in this fixed step.
    pub(crate) pin_targets: Vec<PinTarget>,
    /// `Pins` from which `pins` was resolved.
    pub(crate) bound_pins: Pins,
    /// Valid steps left until a non-finite state is logged again.
    pub(crate) error_cooldown: u32,
    /// State that tears and cuts changed; `None` while the cloth is whole.
    pub(crate) torn: Option<Box<TornShape>>,
    /// Tethers: upper bounds on the distance of particles from pins.
    pub(crate) tethers: Arc<Tethers>,
    /// Geodesic distances from which tethers are built, and whether they are up to date.
    pub(crate) tether_source: TetherSource,
    /// Rest volume for [`ClothPressure`](crate::pressure::ClothPressure).
    pub(crate) enclosed_volume: EnclosedVolume,
    /// End of the last cut of each stroke.
    pub(crate) cut_ends: Vec<CutEnd>,
    /// Tear resistance of each particle, as a fraction of the tear limit; empty if 1 everywhere.
    pub(crate) resistance: Vec<f32>,
    /// Painted vertex channels of its mesh.
    pub(crate) paint: Paint,
    /// Painted mass and stiffness multipliers.
    pub(crate) multipliers: PaintedMultipliers,
    /// Skin weights of the particles, if its mesh has a skeleton.
    pub(crate) skin: Option<SkinWeights>,
    /// Particles on the seam with the rigid part of its mesh: pinned regardless of `Pins`.
    pub(crate) seam: Vec<u32>,
    /// Level of detail: the steps and substeps in which the cloth is simulated.
    pub(crate) update_rate: UpdateRate,
    /// Frame the cloth moves with, and its animation targets.
    pub(crate) reference_frame: ReferenceFrame,
    /// Render pose of this frame.
    pub(crate) render_pose: RenderPose,
    /// Frame entity for which transform tracking was set up, together with anchors and joints; `None` if this
    /// is still to be done.
    pub(crate) tracked_frame: Option<Entity>,
}

/// Solver settings that are ramped towards the values the user set.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RampedSettings {
    pub(crate) relaxation_factor: RelaxationFactor,
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
    fn wanted(cloth: &Cloth, time: &SubstepTime, iterations: u32) -> Self {
        Self {
            relaxation_factor: RelaxationFactor::full(
                time.substep,
                iterations,
                cloth.stretch_solver,
            ),
            compliance: cloth.fabric.compliance(),
            thickness: cloth.fabric.thickness,
            areal_density: cloth.fabric.areal_density,
            tether_scale: f32::INFINITY,
            strain_limit: f32::INFINITY,
            air: 0.0,
        }
    }
}

impl ClothBody {
    /// Ramps the settings of this step towards those of the user; before the first step they are taken at once.
    pub(crate) fn ramp(&mut self, cloth: &Cloth, time: &SubstepTime) {
        let iterations = self.update_rate.iterations(cloth.iterations);
        let wanted = RampedSettings::wanted(cloth, time, iterations);
        self.ramped = Some(self.ramped.map_or(wanted, |now| RampedSettings {
            relaxation_factor: now.relaxation_factor.next(
                time.substep,
                iterations,
                cloth.stretch_solver,
            ),
            compliance: ramp_compliance(now.compliance, wanted.compliance),
            thickness: ramp_thickness(now.thickness, wanted.thickness, time.step),
            areal_density: ramp_density(now.areal_density, wanted.areal_density),
            tether_scale: now.tether_scale,
            strain_limit: now.strain_limit,
            air: now.air,
        }));
    }

    /// Ramps the strain limit towards this value: where it would pull, it decreases gradually.
    pub(crate) fn ramp_strain_limit(
        &mut self,
        wanted: f32,
        particles: &ParticleArrays,
        constraints: &ConstraintGraph,
        dt: f32,
    ) {
        if let Some(ramped) = &mut self.ramped {
            let now = ramped.strain_limit;
            let strain = if wanted < now {
                measure_stretch(particles, constraints).max
            } else {
                0.0
            };
            ramped.strain_limit = ramp_strain_limit(now, wanted, strain, dt);
        }
    }

    /// Ramps the scale of the tethers towards this value: where they would pull, it decreases gradually, also for
    /// new tethers and while the cloth gets stiffer, because more substeps pull more often.
    pub(crate) fn ramp_tethers(&mut self, wanted: f32, particles: &ParticleArrays, dt: f32) {
        let tethers = &self.tethers;
        if let Some(ramped) = &mut self.ramped {
            let stiffens = ramped.relaxation_factor.get() < 1.0;
            let now = if stiffens {
                f32::INFINITY
            } else {
                ramped.tether_scale
            };
            let max_length_ratio = if wanted < now {
                tethers.max_length_ratio(particles)
            } else {
                0.0
            };
            ramped.tether_scale = ramp_tethers(now, wanted, max_length_ratio, dt);
        }
    }

    /// Returns the settings of this step.
    pub(crate) fn ramped(&self, cloth: &Cloth, time: &SubstepTime) -> RampedSettings {
        self.ramped.unwrap_or_else(|| {
            RampedSettings::wanted(cloth, time, self.update_rate.iterations(cloth.iterations))
        })
    }

    /// Recomputes all inverse masses: 1/(area·density), divided by the painted multiplier; 0 for pinned particles.
    pub(crate) fn set_masses(&mut self, particles: &mut ParticleArrays, areal_density: f32) {
        self.areal_density = areal_density;
        let computed: Vec<f32>;
        let areas = if self.area.is_empty() {
            computed = self.triangles.particle_areas(particles.len());
            &computed
        } else {
            &self.area
        };
        let free = inverse_masses(areas, areal_density);
        for (w, free) in particles.inverse_mass.iter_mut().zip(free) {
            *w = free;
        }
        if !self.multipliers.mass.is_empty() {
            for (i, w) in (0..).zip(particles.inverse_mass.iter_mut()) {
                *w /= self.mass_multiplier(i);
            }
        }
        for pin in &self.pins {
            particles.inverse_mass[pin.particle as usize] = 0.0;
        }
    }

    /// Returns the painted mass multiplier of a particle, 1 if none.
    pub(crate) fn mass_multiplier(&self, particle: u32) -> f32 {
        let mass = &self.multipliers.mass;
        if mass.is_empty() {
            return 1.0;
        }
        let source = self.source_particle(particle) as usize;
        mass.get(source).copied().unwrap_or(1.0)
    }

    /// Returns the smallest painted mass multiplier, at most 1.
    pub(crate) fn min_mass_multiplier(&self) -> f32 {
        self.multipliers.mass.iter().copied().fold(1.0, f32::min)
    }

    /// Applies the painted stiffness multipliers to bend constraints that have the stiffness of the fabric.
    pub(crate) fn apply_painted_stiffness(&self, constraints: &mut ConstraintGraph) {
        let stiffness = &self.multipliers.stiffness;
        if !stiffness.is_empty() {
            constraints.stiffen_bends(|i| stiffness.get(i as usize).copied().unwrap_or(1.0));
        }
    }

    /// Returns the rest positions of the particles, in mesh space.
    pub(crate) fn rest(&self) -> &[Vec3] {
        match &self.torn {
            Some(torn) => &torn.rest,
            None => &self.topology.positions,
        }
    }

    /// Returns the particle of the whole cloth of which this one is a copy, or itself; [`NO_PARTICLE`] for one
    /// created by a cut.
    pub(crate) fn source_particle(&self, particle: u32) -> u32 {
        let added = (particle as usize).checked_sub(self.topology.positions.len());
        match (added, &self.torn) {
            (Some(added), Some(torn)) => torn
                .source_particle
                .get(added)
                .copied()
                .unwrap_or(NO_PARTICLE),
            _ => particle,
        }
    }

    /// Recomputes all areas of an untorn cloth from the rest shape.
    pub(crate) fn set_areas(&mut self, rest: &SoaVec3) {
        self.triangles.set_rest(rest);
        self.area = match &self.rope {
            Some(rope) => rope.segments.particle_areas(rest.len()),
            None => Vec::new(),
        };
    }

    /// Returns the distance of its surface from its particles, m: the radius of a rope, else 0.
    pub(crate) fn radius(&self) -> f32 {
        self.rope.as_ref().map_or(0.0, |rope| rope.radius)
    }
}
