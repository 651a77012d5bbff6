//! Components that the plugin adds to a cloth entity: the state of the solver, and the mapping from particles
//! back to the mesh. Inserted when the cloth is built, removed with [`Cloth`](crate::cloth::Cloth). They are not cloned
//! with the entity: a clone builds its own.

use crate::{
    character::{
        frame_history::ReferenceFrame,
        max_distance::PINNED_DISTANCE,
        paint::{ClothPaint, Paint},
        skin_weights::SkinWeights,
    },
    cloth::{Cloth, SelfCollision},
    lod::choose_level::UpdateRate,
    mesh::{MeshBinding, RenderFrame, Topology, Tube, topology::NO_PARTICLE},
    pins::{BoundPin, Pins},
    render::{interpolation::RenderViewKey, pose::RenderPose},
    rope::{RopeBody, mean_scale},
    sleep::SleepTimer,
    snapshot::BuildFingerprint,
    solver::{
        self, Compliance, ConstraintGraph, Geodesics, ParticleArrays, PinTarget, RelaxationFactor,
        SoaVec3, SubstepTime, Tethers, Triangles, inverse_masses, measure_stretch, ramp_compliance,
        ramp_density, ramp_strain_limit, ramp_tethers, ramp_thickness, topology::Blade,
    },
};
use bevy::{
    camera::primitives::Aabb,
    math::Vec3A,
    mesh::skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    prelude::*,
};
use std::sync::Arc;

/// Particles of a cloth: position, displacement and inverse mass, as arrays.
///
/// Your own systems may change them between any two phases of a step, see
/// [`ClothSystems`](crate::cloth::ClothSystems). A position written before
/// [`ClothSystems::Collide`](crate::cloth::ClothSystems::Collide) also changes the velocity.
#[derive(Component, Clone, Debug, Default, Deref, DerefMut)]
#[component(clone_behavior = Ignore)]
pub struct ClothParticles(pub ParticleArrays);

/// Distance constraints of a cloth, in solving order.
#[derive(Component, Clone, Debug, Default, Deref, DerefMut)]
#[component(clone_behavior = Ignore)]
pub struct ClothConstraints(pub ConstraintGraph);

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
    pub(crate) torn: Option<Box<TearState>>,
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

/// Painted mass and stiffness multipliers, one per particle of the whole cloth; empty if 1 everywhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PaintedMultipliers {
    pub(crate) bound_paint: ClothPaint,
    pub(crate) mass: Vec<f32>,
    pub(crate) stiffness: Vec<f32>,
}

/// Rest volume enclosed by a cloth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EnclosedVolume {
    /// Frame and particle count for which it was measured.
    pub(crate) measured_for: Option<(Mat3, usize)>,
    /// Volume at rest, m³, negative if the triangles face inwards; `None` if the cloth is open.
    pub(crate) rest_volume: Option<f32>,
}

/// Contacts of a cloth. Derived from the other components in each step.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct ClothContacts {
    pub(crate) contacts: solver::Contacts,
    /// Frame for which the mean particle spacing at rest was measured, and that spacing, m.
    spacing: Option<(Mat3, f32)>,
}

impl ClothContacts {
    /// Discards cached contacts, after particles or their rest positions changed.
    pub(crate) fn forget(&mut self) {
        self.contacts.self_pairs.forget();
    }

    /// Returns the particle pairs in contact, within this tolerance, m.
    #[cfg(feature = "debug")]
    pub(crate) fn touching<'a>(
        &'a self,
        particles: &'a ClothParticles,
        tolerance: f32,
    ) -> impl Iterator<Item = [u32; 2]> + 'a {
        self.contacts
            .self_pairs
            .touching(&particles.position, tolerance)
    }

    /// Returns the minimum distance kept from itself and other cloths, m; `None` if it collides with no cloth.
    pub(crate) fn distance(
        &mut self,
        cloth: &Cloth,
        body: &ClothBody,
        time: &SubstepTime,
    ) -> Option<f32> {
        if cloth.self_collision == SelfCollision::Off || !body.update_rate.collides() {
            if self.spacing.is_some() {
                // Frees the memory as well.
                *self = Self::default();
            }
            return None;
        }
        let to_world = body.tether_source.to_world;
        let spacing = match self.spacing {
            Some((frame, spacing)) if frame == to_world => spacing,
            _ => {
                // Of the whole cloth: a tear does not change the distance.
                let Topology {
                    positions,
                    triangles,
                    ..
                } = &body.topology;
                let spacing = solver::rest_spacing(positions, triangles, to_world);
                self.spacing = Some((to_world, spacing));
                spacing
            }
        };
        let thickness = body.ramped(cloth, time).thickness + 2.0 * body.radius();
        Some(solver::self_distance(thickness, spacing))
    }
}

/// Data from which the tethers of a cloth are built.
#[derive(Clone, Debug, Default)]
pub(crate) struct TetherSource {
    /// Geodesic distances, shared with snapshots. Empty while no tear is expected.
    pub(crate) distances: Arc<Geodesics>,
    /// Rotation and scale from mesh space to world axes when the cloth was built or reset.
    pub(crate) to_world: Mat3,
    pub(crate) stale: StaleDistances,
}

/// Change since the geodesic distances were measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum StaleDistances {
    /// Everything changed: other pins, or another cloth.
    #[default]
    All,
    /// A snapshot without distances was restored: measuring again gives the same values.
    Missing,
    /// The cloth opened at these particles.
    Torn(Vec<u32>),
    UpToDate,
}

impl StaleDistances {
    /// Records that the cloth opened at these particles.
    pub(crate) fn tear(&mut self, at: impl IntoIterator<Item = u32>) {
        match self {
            Self::All | Self::Missing => {}
            Self::Torn(particles) => particles.extend(at),
            Self::UpToDate => *self = Self::Torn(at.into_iter().collect()),
        }
    }
}

/// End of the last cut of a stroke.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct CutEnd {
    /// Entity that cuts.
    pub(crate) by: Entity,
    /// Pose of the blade.
    pub(crate) blade: Blade,
    /// Particle at which the cut ends.
    pub(crate) particle: u32,
}

/// Additional state of a cloth that was torn or cut.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct TearState {
    /// Rest position of each particle, in mesh space. `topology` stays that of the whole cloth.
    pub(crate) rest: Vec<Vec3>,
    /// For each added particle: the particle of the whole cloth of which it is a copy, or [`NO_PARTICLE`].
    pub(crate) source_particle: Vec<u32>,
    /// Constraints of the whole cloth, in their order. Shared with snapshots.
    #[cfg_attr(feature = "serialize", serde(with = "crate::cloth::arc_serde"))]
    pub(crate) intact_constraints: Arc<ConstraintGraph>,
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

    /// Returns the particles pinned regardless of `Pins`: those on the seam, and those whose max distance from
    /// the animation is (almost) 0.
    pub(crate) fn implicitly_pinned(&self) -> impl Iterator<Item = u32> + '_ {
        let max_distances = &self.reference_frame.motion_constraints.max_distances;
        let near = (0..)
            .zip(max_distances)
            .filter(|(_, reach)| **reach <= PINNED_DISTANCE);
        self.seam.iter().copied().chain(near.map(|(i, _)| i))
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

/// Mapping from the particles to the mesh of a cloth.
#[derive(Component, Clone, Debug)]
#[component(clone_behavior = Ignore)]
pub(crate) struct ClothMesh {
    pub(crate) binding: Binding,
    /// Particle positions in mesh space; unused for a mesh whose vertices are its particles.
    pub(crate) local: Vec<Vec3A>,
    /// Mesh taken out of the assets while it is written.
    pub(crate) own: Option<Mesh>,
    /// Key of the last write: an equal one is not written again.
    pub(crate) last_written: Option<RenderViewKey>,
    /// Corners of the box around the part of the mesh that is not cloth, if any.
    pub(crate) static_bounds: Option<[Vec3; 2]>,
    /// Index of the joint that represents the cloth in the skeleton of its mesh.
    pub(crate) joint: Option<u16>,
}

/// Mapping from particles to vertices, by kind of mesh.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// The mesh from which the cloth was built.
    Mesh(MeshBinding),
    /// A tube along a rope.
    Tube(Tube),
}

impl Binding {
    /// Restores the untorn mesh, with this many particles.
    pub(crate) fn restore(&mut self, particles: usize, mesh: Option<&mut Mesh>) {
        match self {
            // Fails only if the mesh data is not accessible; then it is not rendered either.
            Self::Mesh(binding) => drop(binding.restore(mesh)),
            Self::Tube(tube) => {
                tube.restore(particles);
                if let Some(mesh) = mesh {
                    *mesh = tube.mesh();
                }
            }
        }
    }

    /// Writes the mesh. Returns its bounding box, if there is anything to draw. `positions` is a scratch buffer
    /// for particle positions in mesh space; `radius` is that of a rope in the world, m.
    pub(crate) fn write(
        &mut self,
        frame: &RenderFrame,
        particles: &ParticleArrays,
        positions: &mut Vec<Vec3A>,
        radius: f32,
        to_world: Mat3,
        mesh: &mut Mesh,
    ) -> Option<Aabb> {
        let (low, high) = match self {
            Self::Mesh(binding) => binding
                .write_interpolated(frame, particles, positions, mesh)
                .ok()??,
            Self::Tube(tube) => {
                // A rope keeps its radius in the world, as it keeps its length.
                tube.set_radius(radius / mean_scale(to_world));
                frame.transform(particles, positions);
                tube.write(positions, mesh).ok()?;
                tube.bounds()?
            }
        };
        Some(Aabb::from_min_max(low, high))
    }
}

pub(crate) type Affine = bevy::math::Affine3A;

/// Query filter: cloths that wait for no preset to load.
#[cfg(feature = "presets")]
pub(crate) type PresetResolved = Without<crate::preset::AwaitsPreset>;
/// Query filter: cloths that wait for no preset to load, which are all.
#[cfg(not(feature = "presets"))]
pub(crate) type PresetResolved = ();

/// Mesh from which a cloth was built, and the copy that follows its particles.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Clone, Debug)]
pub struct ClothSource {
    /// Mesh that the user gave the entity. Never written to. Equals `own` for a rope that had none.
    pub source: Handle<Mesh>,
    /// Mesh that is now in its `Mesh3d` and follows the cloth.
    pub own: Handle<Mesh>,
}

impl ClothSource {
    /// Returns the source mesh of an entity whose `Mesh3d` is `mesh`. A cloth that was cloned, or saved with a
    /// scene, has there the copy that followed its particles.
    pub(crate) fn original<'a>(
        known: Option<&'a Self>,
        mesh: &'a Handle<Mesh>,
    ) -> &'a Handle<Mesh> {
        match known {
            Some(known) if known.own == *mesh => &known.source,
            _ => mesh,
        }
    }
}

/// Inverse bind poses of a cloth's mesh before and after it was built. Saved with a scene, so that the
/// original ones can be restored.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Clone, Debug)]
pub(crate) struct ClothSkin {
    pub(crate) original: Handle<SkinnedMeshInverseBindposes>,
    pub(crate) own: Handle<SkinnedMeshInverseBindposes>,
}

impl ClothSkin {
    /// Returns whether an entity still has the skeleton that the plugin gave it.
    pub(crate) fn is_in_use(&self, now: Option<&SkinnedMesh>) -> bool {
        now.is_some_and(|now| now.inverse_bindposes == self.own)
    }

    /// Returns the skeleton without the joint of the cloth itself, if it has one.
    pub(crate) fn original(&self, now: Option<&SkinnedMesh>) -> Option<SkinnedMesh> {
        let now = now.filter(|now| self.is_in_use(Some(now)))?;
        let (_, joints) = now.joints.split_last()?;
        Some(SkinnedMesh {
            inverse_bindposes: self.original.clone(),
            joints: joints.to_vec(),
        })
    }
}

/// The cloth of this entity could not be built; the log says why and what to do. Building is tried again when
/// the entity gets another mesh or transform, or its mesh asset changes.
#[derive(Component, Clone, Debug, Reflect, PartialEq)]
#[reflect(Component, Clone, Debug, PartialEq)]
#[component(clone_behavior = Ignore)]
pub struct ClothBuildFailed {
    /// Reason, as in the log.
    pub reason: String,
}
