//! What a cloth entity has besides what its user wrote: the solver's state and the way back to the
//! mesh. Added when the cloth is built, removed with [`Cloth`](crate::Cloth). None of it is cloned
//! with the entity: a clone builds its own.

use crate::{
    cloth::{Cloth, SelfCollision},
    guide::Guide,
    max_distance::PINNED,
    mesh::{Frame, MeshBinding, Topology, Tube, topology::NO_PARTICLE},
    paint::{ClothPaint, Paint},
    pins::{BoundPin, Pins},
    plugin::SubstepTime,
    rope::{RopeBody, mean_scale},
    skin::Skin,
    sleep::Rest,
    snapshot::BuiltFrom,
    solver::{
        self, Compliance, ConstraintGraph, Facets, Geodesics, ParticleArrays, PinTarget, SoaVec3,
        Strength, Tethers, Triangles, glide_compliance, glide_density, glide_strain_limit,
        glide_tethers, glide_thickness, inverse_masses, measure_stretch, tear::Blade,
    },
    systems::{Pace, Picture, ViewKey},
};
use bevy::{
    camera::primitives::Aabb,
    math::Vec3A,
    mesh::skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    prelude::*,
};
use std::sync::Arc;

/// The particles of a cloth: position, displacement and inverse mass, as arrays.
///
/// Your own systems may change them between any two phases of a step, see
/// [`ClothSystems`](crate::ClothSystems). What you move before the contacts
/// ([`ClothSystems::Collide`](crate::ClothSystems::Collide)) counts as motion.
#[derive(Component, Clone, Debug, Default, Deref, DerefMut)]
#[component(clone_behavior = Ignore)]
pub struct Particles(pub ParticleArrays);

/// The distance constraints of a cloth, in solving order.
#[derive(Component, Clone, Debug, Default, Deref, DerefMut)]
#[component(clone_behavior = Ignore)]
pub struct Constraints(pub ConstraintGraph);

/// What the steps need besides particles and constraints.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
#[require(SelfContacts, Rest)]
pub(crate) struct ClothBody {
    /// Its shape at rest, in mesh space.
    pub(crate) topology: Topology,
    /// What it was built from, for snapshots to recognise.
    pub(crate) built: BuiltFrom,
    pub(crate) triangles: Triangles,
    /// What contacts with its triangles need.
    pub(crate) facets: Facets,
    /// What contacts with surfaces of triangles need.
    #[cfg(feature = "parry")]
    pub(crate) mesh_contacts: solver::MeshContacts,
    /// Bodies of a physics engine that are near it.
    pub(crate) bodies: solver::Bodies,
    /// What a rope has instead of triangles.
    pub(crate) rope: Option<RopeBody>,
    /// Area that belongs to each particle, m²; empty for a sheet in one piece, whose triangles tell it.
    pub(crate) area: Vec<f32>,
    /// What the solver works with; it follows [`Cloth`](crate::Cloth) in small strides.
    pub(crate) applied: Option<Applied>,
    /// The areal density that the masses were computed from, kg/m².
    pub(crate) areal_density: f32,
    pub(crate) pins: Vec<BoundPin>,
    /// Where the pins go in this fixed step.
    pub(crate) targets: Vec<PinTarget>,
    /// What `pins` were bound from.
    pub(crate) bound: Pins,
    /// A non-finite number was met and reported; not again for so many good steps.
    pub(crate) silent_steps: u32,
    /// Whether anything was near enough to touch it in the running step.
    pub(crate) touched: bool,
    /// What is different since the cloth was torn or cut for the first time.
    pub(crate) torn: Option<Box<Torn>>,
    /// What keeps its particles within reach of its pins.
    pub(crate) tethers: Arc<Tethers>,
    /// What they are made from, and whether they are up to date.
    pub(crate) reach: Reach,
    /// Whether it holds air, and how much room there is for it.
    pub(crate) enclosure: Enclosure,
    /// What weighs more because hands hold it, in the middle of a substep.
    pub(crate) in_hand: solver::grab::InHand,
    /// Where the last cut of each stroke ended.
    pub(crate) tips: Vec<Tip>,
    /// Share of the tear limit that each particle can take; empty if all can take all of it.
    pub(crate) resistance: Vec<f32>,
    /// What was painted on it.
    pub(crate) paint: Paint,
    /// What its masses and bends were multiplied by, of the particles of the whole cloth; empty if all by
    /// one.
    pub(crate) multiples: Multiples,
    /// What carries the particles that the skeleton of its mesh holds.
    pub(crate) skin: Option<Skin>,
    /// Where it is sewn to the rest of its mesh: particles that are pinned whatever its `Pins` say.
    pub(crate) seam: Vec<u32>,
    /// In which steps it moves.
    pub(crate) pace: Pace,
    /// Where it is to be.
    pub(crate) guide: Guide,
    /// How it is drawn in this frame.
    pub(crate) picture: Picture,
    /// What it hangs on is followed from frame to frame; and what it feels the motion of.
    pub(crate) follows: Option<Entity>,
}

/// What an artist has painted, as bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Multiples {
    pub(crate) bound: ClothPaint,
    pub(crate) mass: Vec<f32>,
    pub(crate) stiffness: Vec<f32>,
}

/// The room in a cloth, and what it was measured from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Enclosure {
    pub(crate) of: Option<(Mat3, usize)>,
    /// Volume at rest, m³, below 0 if its triangles face inwards; `None` if the cloth is open.
    pub(crate) rest_volume: Option<f32>,
}

/// Where a cloth may touch itself. It follows from the rest in each step.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct SelfContacts {
    contacts: solver::SelfContacts,
    /// The mean distance of its particles at rest, m, and the frame for which it was measured.
    spacing: Option<(Mat3, f32)>,
}

impl SelfContacts {
    /// Its particles or their places at rest are others now.
    pub(crate) fn forget(&mut self) {
        self.contacts.forget();
    }

    /// The pairs of its particles that touch each other, give or take this much, m.
    #[cfg(feature = "debug")]
    pub(crate) fn touching<'a>(
        &'a self,
        particles: &'a Particles,
        tolerance: f32,
    ) -> impl Iterator<Item = [u32; 2]> + 'a {
        self.contacts.touching(&particles.position, tolerance)
    }

    /// What a cloth keeps from itself and from others, m; `None` if it collides with no cloth.
    pub(crate) fn distance(
        &mut self,
        cloth: &Cloth,
        body: &ClothBody,
        time: &SubstepTime,
    ) -> Option<f32> {
        if cloth.self_collision == SelfCollision::Off || !body.pace.collides() {
            if self.spacing.is_some() {
                // The memory too.
                *self = Self::default();
            }
            return None;
        }
        let to_world = body.reach.to_world;
        let spacing = match self.spacing {
            Some((frame, spacing)) if frame == to_world => spacing,
            _ => {
                // Of the whole cloth: a tear does not change what it keeps.
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
        let thickness = body.applied(cloth, time).thickness + 2.0 * body.radius();
        Some(solver::self_distance(thickness, spacing))
    }

    /// Keeps the particles of a cloth apart, if it is to collide with itself.
    pub(crate) fn collide(
        &mut self,
        cloth: &Cloth,
        body: &ClothBody,
        particles: &mut ParticleArrays,
        time: &SubstepTime,
    ) {
        let Some(distance) = self.distance(cloth, body, time) else {
            return;
        };
        let edges = cloth.self_collision == SelfCollision::ParticlesAndEdges;
        let by = solver::SelfCollision {
            distance,
            friction: cloth.fabric.surface().friction,
            rest: body.rest(),
            to_world: body.reach.to_world,
            triangles: edges.then_some(&body.triangles.indices),
        };
        self.contacts.collide(particles, &by, time.index);
    }
}

/// What the tethers of a cloth are made from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    /// Snapshots share them. Empty while no tear is to be expected.
    pub(crate) distances: Arc<Geodesics>,
    /// What turns and scales its rest shape into world axes, as when it was built or reset.
    pub(crate) to_world: Mat3,
    pub(crate) stale: Stale,
}

/// What has changed since distances were measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Stale {
    /// Everything: other pins, or another cloth.
    #[default]
    All,
    /// A snapshot was restored that had none: they are measured anew and are what they were.
    Lost,
    /// The cloth opened at these particles.
    Torn(Vec<u32>),
    Nothing,
}

impl Stale {
    /// Notes that the cloth opened at these particles.
    pub(crate) fn tear(&mut self, at: impl IntoIterator<Item = u32>) {
        match self {
            Self::All | Self::Lost => {}
            Self::Torn(particles) => particles.extend(at),
            Self::Nothing => *self = Self::Torn(at.into_iter().collect()),
        }
    }
}

/// Where the last cut of a stroke ended.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Tip {
    /// Who cuts.
    pub(crate) by: Entity,
    /// Where the blade was.
    pub(crate) blade: Blade,
    /// The end of the cut.
    pub(crate) particle: u32,
}

/// What a cloth has that was torn or cut, besides what it has when it is whole.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Torn {
    /// The rest place of each particle, in mesh space. `topology` is that of the whole cloth.
    pub(crate) rest: Vec<Vec3>,
    /// For each particle that came: the one of the whole cloth that it is a copy of, or
    /// [`NO_PARTICLE`].
    pub(crate) ancestor: Vec<u32>,
    /// Its constraints when it was whole, in their order. Snapshots share them.
    #[cfg_attr(feature = "serialize", serde(with = "crate::snapshot::shared"))]
    pub(crate) whole_constraints: Arc<ConstraintGraph>,
}

/// Settings that glide to what the user wants.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Applied {
    pub(crate) strength: Strength,
    pub(crate) compliance: Compliance,
    pub(crate) thickness: f32,
    pub(crate) areal_density: f32,
    /// Infinite while there are no tethers.
    #[cfg_attr(feature = "serialize", serde(with = "crate::solver::bits"))]
    pub(crate) tether_scale: f32,
    /// Infinite while there is none.
    #[cfg_attr(feature = "serialize", serde(with = "crate::solver::bits"))]
    pub(crate) strain_limit: f32,
    /// How much air is in it, J.
    pub(crate) air: f32,
}

impl Applied {
    /// What the user wants, but for tethers and the strain limit: they come in
    /// [`ClothBody::glide_tethers`] and [`ClothBody::glide_strain_limit`].
    fn wanted(cloth: &Cloth, time: &SubstepTime, iterations: u32) -> Self {
        Self {
            strength: Strength::full(time.substep, iterations, cloth.threads),
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
    /// Takes the settings of this step from what the user wants: at once before the first step,
    /// later in small strides.
    pub(crate) fn glide(&mut self, cloth: &Cloth, time: &SubstepTime) {
        let iterations = self.pace.iterations(cloth.iterations);
        let wanted = Applied::wanted(cloth, time, iterations);
        self.applied = Some(self.applied.map_or(wanted, |now| Applied {
            strength: now.strength.next(time.substep, iterations, cloth.threads),
            compliance: glide_compliance(now.compliance, wanted.compliance),
            thickness: glide_thickness(now.thickness, wanted.thickness, time.step),
            areal_density: glide_density(now.areal_density, wanted.areal_density),
            tether_scale: now.tether_scale,
            strain_limit: now.strain_limit,
            air: now.air,
        }));
    }

    /// Takes the strain limit from what the user wants. Where it would pull, it shrinks in small
    /// strides.
    pub(crate) fn glide_strain_limit(
        &mut self,
        wanted: f32,
        particles: &ParticleArrays,
        constraints: &ConstraintGraph,
        dt: f32,
    ) {
        if let Some(applied) = &mut self.applied {
            let now = applied.strain_limit;
            let strain = if wanted < now {
                measure_stretch(particles, constraints).max
            } else {
                0.0
            };
            applied.strain_limit = glide_strain_limit(now, wanted, strain, dt);
        }
    }

    /// Takes the scale of the tethers from what the user wants. Where they would pull, it shrinks in
    /// small strides: also when they are new, and while the cloth gets stiffer, because more substeps
    /// pull more often.
    pub(crate) fn glide_tethers(&mut self, wanted: f32, particles: &ParticleArrays, dt: f32) {
        let tethers = &self.tethers;
        if let Some(applied) = &mut self.applied {
            let stiffens = applied.strength.get() < 1.0;
            let now = if stiffens {
                f32::INFINITY
            } else {
                applied.tether_scale
            };
            let tightness = if wanted < now {
                tethers.tightness(particles)
            } else {
                0.0
            };
            applied.tether_scale = glide_tethers(now, wanted, tightness, dt);
        }
    }

    /// The settings of this step.
    pub(crate) fn applied(&self, cloth: &Cloth, time: &SubstepTime) -> Applied {
        self.applied
            .unwrap_or_else(|| Applied::wanted(cloth, time, self.pace.iterations(cloth.iterations)))
    }

    /// Recomputes all inverse masses: 1/(area·density), 0 where a pin holds.
    pub(crate) fn set_masses(&mut self, particles: &mut ParticleArrays, areal_density: f32) {
        self.areal_density = areal_density;
        let found: Vec<f32>;
        let areas = if self.area.is_empty() {
            found = self.triangles.particle_areas(particles.len());
            &found
        } else {
            &self.area
        };
        let free = inverse_masses(areas, areal_density);
        for (w, free) in particles.inverse_mass.iter_mut().zip(free) {
            *w = free;
        }
        if !self.multiples.mass.is_empty() {
            for (i, w) in (0..).zip(particles.inverse_mass.iter_mut()) {
                *w /= self.multiple(i);
            }
        }
        for pin in &self.pins {
            particles.inverse_mass[pin.particle as usize] = 0.0;
        }
    }

    /// How many times as heavy a particle is as its area says.
    pub(crate) fn multiple(&self, particle: u32) -> f32 {
        let mass = &self.multiples.mass;
        if mass.is_empty() {
            return 1.0;
        }
        let of = self.ancestor(particle) as usize;
        mass.get(of).copied().unwrap_or(1.0)
    }

    /// What the lightest place of it weighs, as a multiple of what the fabric says, at most 1.
    pub(crate) fn lightest(&self) -> f32 {
        self.multiples.mass.iter().copied().fold(1.0, f32::min)
    }

    /// Makes bends as stiff as painted, once they are as the fabric has them.
    pub(crate) fn stiffen(&self, constraints: &mut ConstraintGraph) {
        let stiffness = &self.multiples.stiffness;
        if !stiffness.is_empty() {
            constraints.stiffen_bends(|i| stiffness.get(i as usize).copied().unwrap_or(1.0));
        }
    }

    /// Particles that are pinned whatever its `Pins` say: where it is sewn on, and where it may not leave
    /// the place that an animation gives it.
    pub(crate) fn also_pinned(&self) -> impl Iterator<Item = u32> + '_ {
        let limits = &self.guide.limits.reach;
        let near = (0..).zip(limits).filter(|(_, reach)| **reach <= PINNED);
        self.seam.iter().copied().chain(near.map(|(i, _)| i))
    }

    /// Where the particles are in the rest shape, in mesh space.
    pub(crate) fn rest(&self) -> &[Vec3] {
        match &self.torn {
            Some(torn) => &torn.rest,
            None => &self.topology.positions,
        }
    }

    /// The particle of the whole cloth that this one is a copy of, or itself; [`NO_PARTICLE`] for one
    /// that a cut has made.
    pub(crate) fn ancestor(&self, particle: u32) -> u32 {
        let fresh = (particle as usize).checked_sub(self.topology.positions.len());
        match (fresh, &self.torn) {
            (Some(fresh), Some(torn)) => torn.ancestor.get(fresh).copied().unwrap_or(NO_PARTICLE),
            _ => particle,
        }
    }

    /// Recomputes all areas of a cloth in one piece from the rest state.
    pub(crate) fn set_areas(&mut self, rest: &SoaVec3) {
        self.triangles.set_rest(rest);
        self.area = match &self.rope {
            Some(rope) => rope.lines.particle_areas(rest.len()),
            None => Vec::new(),
        };
    }

    /// How far its surface is from its particles, m: nothing but for a rope.
    pub(crate) fn radius(&self) -> f32 {
        self.rope.as_ref().map_or(0.0, |rope| rope.radius)
    }
}

/// The way from the particles back to the mesh.
#[derive(Component, Clone, Debug)]
#[component(clone_behavior = Ignore)]
pub(crate) struct ClothMesh {
    pub(crate) binding: Binding,
    /// Particle positions in mesh space; not kept for a sheet whose vertices are its particles.
    pub(crate) local: Vec<Vec3A>,
    /// Its mesh while it is written.
    pub(crate) own: Option<Mesh>,
    /// What was last written: nothing is done if it would be the same again.
    pub(crate) written: Option<ViewKey>,
    /// The box around what of the mesh is no cloth, if any of it is not.
    pub(crate) rest: Option<[Vec3; 2]>,
    /// The joint that stands for the cloth itself in the skeleton of its mesh.
    pub(crate) joint: Option<u16>,
}

/// What a cloth is drawn as.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// The mesh that it was made of.
    Sheet(MeshBinding),
    /// A tube along a rope.
    Tube(Tube),
}

impl Binding {
    /// Makes a mesh whole again that was opened, if it is there; it then has so many particles.
    pub(crate) fn mend(&mut self, particles: usize, mesh: Option<&mut Mesh>) {
        match self {
            // What cannot be reached cannot be drawn either.
            Self::Sheet(sheet) => drop(sheet.mend(mesh)),
            Self::Tube(tube) => {
                tube.mend(particles);
                if let Some(mesh) = mesh {
                    *mesh = tube.mesh();
                }
            }
        }
    }

    /// Writes the mesh. Returns the box around it, if there is anything to draw. `places` is room for
    /// where particles are in mesh space, `radius` that of a rope in the world, m.
    pub(crate) fn write(
        &mut self,
        frame: &Frame,
        particles: &ParticleArrays,
        places: &mut Vec<Vec3A>,
        radius: f32,
        to_world: Mat3,
        mesh: &mut Mesh,
    ) -> Option<Aabb> {
        let (low, high) = match self {
            Self::Sheet(sheet) => sheet.draw(frame, particles, places, mesh).ok()??,
            Self::Tube(tube) => {
                // It keeps its thickness in the world, as it keeps its length.
                tube.set_radius(radius / mean_scale(to_world));
                frame.place(particles, places);
                tube.write(places, mesh).ok()?;
                tube.bounds()?
            }
        };
        Some(Aabb::from_min_max(low, high))
    }
}

pub(crate) type Affine = bevy::math::Affine3A;

/// Cloths of which it is known what they are made of.
#[cfg(feature = "presets")]
pub(crate) type Known = Without<crate::presets::AwaitsPreset>;
/// Cloths of which it is known what they are made of: all.
#[cfg(not(feature = "presets"))]
pub(crate) type Known = ();

/// The mesh that a cloth was made of, and the one that it got for itself.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Clone, Debug)]
pub struct ClothSource {
    /// The mesh that the user gave the entity. Never written to. For a rope that was given none, the
    /// same as `own`.
    pub source: Handle<Mesh>,
    /// The mesh that is now in its `Mesh3d` and follows the cloth.
    pub own: Handle<Mesh>,
}

impl ClothSource {
    /// The mesh to begin with where `Mesh3d` holds this one. What was cloned, or saved while it was cloth,
    /// has one there that followed the particles.
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

/// The skeleton that a cloth's mesh had, and the one that it has now. Saved with a scene, so that the
/// first one is found again.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Clone, Debug)]
pub(crate) struct ClothSkin {
    pub(crate) original: Handle<SkinnedMeshInverseBindposes>,
    pub(crate) own: Handle<SkinnedMeshInverseBindposes>,
}

impl ClothSkin {
    /// Whether an entity still has the skeleton that it was given.
    pub(crate) fn is_in_use(&self, now: Option<&SkinnedMesh>) -> bool {
        now.is_some_and(|now| now.inverse_bindposes == self.own)
    }

    /// The skeleton without the joint that is the cloth itself, if it has that.
    pub(crate) fn original(&self, now: Option<&SkinnedMesh>) -> Option<SkinnedMesh> {
        let now = now.filter(|now| self.is_in_use(Some(now)))?;
        let (_, joints) = now.joints.split_last()?;
        Some(SkinnedMesh {
            inverse_bindposes: self.original.clone(),
            joints: joints.to_vec(),
        })
    }
}

/// The mesh of this entity could not become cloth; the log has said why and what to do. It is tried
/// again when the entity gets another mesh or transform, or its mesh changes.
#[derive(Component, Clone, Debug, Reflect, PartialEq)]
#[reflect(Component, Clone, Debug, PartialEq)]
#[component(clone_behavior = Ignore)]
pub struct BuildFailed {
    /// The reason, as in the log.
    pub reason: String,
}
