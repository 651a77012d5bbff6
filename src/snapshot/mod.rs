//! Saves a cloth and puts it back, for rollback and saved games.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | what a game writes: [`ClothSnapshot`] |
//! | `shape` | what cloths that tore or were edited have besides |
//! | `print` | recognises the same mesh and the same constraints |
//! | `check` | finds out whether a snapshot from a file is sound |
//! | `shared` | serde for what several snapshots share |

mod check;
mod print;
mod shape;
#[cfg(feature = "serialize")]
pub(crate) mod shared;

pub(crate) use print::{BuiltFrom, Print};

use crate::{
    components::{
        Applied, ClothBody, ClothMesh, ClothSource, Constraints, Particles, SelfContacts, Stale,
        Tip,
    },
    grab::{ClothGrabs, Grab},
    guide,
    pins::{BoundPin, PinAnchor, Pins},
    sleep::{ClothSleeping, Rest, RestState},
    solver::{Geodesics, ParticleArrays, Tethers},
};
use bevy::{
    ecs::{
        entity::{EntityMapper, MapEntities},
        system::SystemState,
    },
    prelude::*,
};
use print::ShapePrint;
use shape::{Change, Shape};
use std::{error::Error, fmt, sync::Arc};

/// The whole state of one cloth, to put it back later: the same steps with the same input then give
/// the same bits.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{ClothSnapshot, SnapshotError};
/// # fn rollback(world: &mut World, flag: Entity) -> Result<(), SnapshotError> {
/// let Some(saved) = ClothSnapshot::take(world, flag) else {
///     return Ok(()); // not built yet
/// };
/// // Steps later, what another player did arrives. Back, and forth again with it:
/// saved.restore(world, flag)?;
/// # Ok(())
/// # }
/// ```
///
/// It holds particles, pins, hands, settings that glide, whether it sleeps, and what tearing and edits of the
/// [`Constraints`] have changed. A sheet whose constraints are as they were built is 64 bytes for each
/// particle and a little more for each pin. Cloning it copies all of that, except for what was torn or
/// edited, which clones share.
///
/// Not in it is what a game can save by itself. To get the same bits again it must put back:
///
/// - components of the cloth: [`Cloth`](crate::Cloth), [`Pins`], [`Tearing`](crate::Tearing),
///   [`PlanarCloth`](crate::PlanarCloth), [`MaxDistance`](crate::MaxDistance),
///   [`ClothPaint`](crate::ClothPaint), [`WorldMotion`](crate::WorldMotion), `Transform`, if they change;
/// - entities that touch it: `Transform`, [`ClothCollider`](crate::ClothCollider) and
///   [`LastPose`](crate::LastPose) of colliders, `Transform` of what pins are anchored to;
/// - resources, if they change: [`ClothGravity`](crate::ClothGravity), [`Wind`](crate::Wind),
///   [`Substeps`](crate::Substeps), [`ClothTime`](crate::ClothTime); those that run:
///   [`WindTime`](crate::WindTime) where wind comes in gusts, [`ClothClock`](crate::ClothClock) where
///   cloths are in slow motion.
///
/// All of these are `Clone` and `Reflect`. Take and restore snapshots between the steps of the cloths,
/// not in the middle of one ([`ClothSubstep`](crate::ClothSubstep)).
///
/// With the feature `serialize` it can be saved and sent. Pins by a predicate are then left out, being
/// code, but the particles that they hold are not; entities in it ([`MapEntities`]) are those of this
/// world.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct ClothSnapshot {
    /// Recognises the mesh.
    mesh: u64,
    /// The orientation and scale at which the cloth was built.
    frame: Mat3,
    /// Recognises the constraints and areas.
    print: ShapePrint,
    particles: ParticleArrays,
    applied: Option<Applied>,
    areal_density: f32,
    pins: Vec<BoundPin>,
    bound: Pins,
    silent_steps: u32,
    tips: Vec<Tip>,
    #[cfg_attr(feature = "serialize", serde(with = "crate::solver::bits"))]
    resistance: Vec<f32>,
    grabs: Vec<Grab>,
    /// Where an animation carried it in the last step.
    seen: guide::Seen,
    /// Whether it sleeps, and what it has seen.
    rest: RestState,
    /// Its tethers; after a file they are measured anew.
    #[cfg_attr(feature = "serialize", serde(skip))]
    tied: Tied,
    /// What is not as it was built.
    #[cfg_attr(feature = "serialize", serde(with = "shared::option"))]
    shape: Option<Arc<Shape>>,
    /// It was taken here and is sound; one from a file may be anything.
    #[cfg_attr(feature = "serialize", serde(skip))]
    is_sound: Sound,
}

/// Tethers, what they are made from, and what of it is out of date. They follow from the rest, so they
/// are no part of what is compared.
#[derive(Clone, Debug, Default)]
struct Tied(Option<(Arc<Tethers>, Arc<Geodesics>, Stale)>);

impl PartialEq for Tied {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Tied {
    fn of(body: &ClothBody) -> Self {
        let reach = &body.reach;
        let shared = (body.tethers.clone(), reach.distances.clone());
        Self(Some((shared.0, shared.1, reach.stale.clone())))
    }

    fn restore(&self, body: &mut ClothBody) {
        if let Some((tethers, distances, stale)) = &self.0 {
            body.tethers = tethers.clone();
            body.reach.distances = distances.clone();
            body.reach.stale = stale.clone();
        } else {
            body.reach.stale = Stale::Lost;
        }
    }
}

/// Whether a snapshot is known to be sound. It is no part of what is compared.
#[derive(Clone, Copy, Debug, Default)]
struct Sound(bool);

impl PartialEq for Sound {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Why a snapshot cannot be restored. Nothing has been changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The entity has no cloth, or one that is not built yet.
    NoCloth(Entity),
    /// The cloth of this entity was built from another mesh, or the other is a rope.
    OtherMesh(Entity),
    /// The snapshot is damaged: this part of it contradicts the others.
    Damaged(Entity, &'static str),
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NoCloth(entity) => write!(
                f,
                "cloth {entity}: is no cloth, or not built yet, so no snapshot of it can be restored; \
                 wait for ClothReady"
            ),
            Self::OtherMesh(entity) => write!(
                f,
                "cloth {entity}: the snapshot is of a cloth of another mesh; restore it on one that \
                 was built from the same mesh by the same version of this crate"
            ),
            Self::Damaged(entity, part) => write!(
                f,
                "cloth {entity}: the snapshot is damaged, its {part} cannot be right; nothing is \
                 restored"
            ),
        }
    }
}

impl Error for SnapshotError {}

impl ClothSnapshot {
    /// Saves the state of a cloth; `None` if the entity has none, or one that is not built yet.
    pub fn take(world: &World, cloth: Entity) -> Option<Self> {
        let entity = world.get_entity(cloth).ok()?;
        let (particles, constraints, body, mesh, grabs, rest) = entity
            .get_components::<(
                &Particles,
                &Constraints,
                &ClothBody,
                &ClothMesh,
                &ClothGrabs,
                &Rest,
            )>()
            .ok()?;
        let print = ShapePrint::of(constraints, body);
        let is_as_built = body.torn.is_none() && body.rope.is_none() && print == body.built.shape;
        let shape = (!is_as_built).then(|| Arc::new(Shape::of(constraints, body, mesh)));
        Some(Self {
            mesh: body.built.mesh,
            frame: body.built.frame,
            print,
            particles: particles.0.clone(),
            applied: body.applied,
            areal_density: body.areal_density,
            pins: body.pins.clone(),
            bound: body.bound.clone(),
            silent_steps: body.silent_steps,
            tips: body.tips.clone(),
            resistance: body.resistance.clone(),
            grabs: grabs.0.clone(),
            seen: body.guide.seen.clone(),
            rest: rest.state.clone(),
            tied: Tied::of(body),
            shape,
            is_sound: Sound(true),
        })
    }

    /// Puts the state back, into the same cloth or into another that was built from the same mesh. The
    /// entity's own transform stays. No events are triggered: who held the cloth when it was saved holds
    /// it again.
    ///
    /// # Errors
    ///
    /// If the entity has no cloth, one of another mesh, or the snapshot is from a damaged file. Then
    /// nothing is changed.
    pub fn restore(&self, world: &mut World, cloth: Entity) -> Result<(), SnapshotError> {
        let mut state = SystemState::<(
            Query<(
                &mut Particles,
                &mut Constraints,
                &mut ClothBody,
                &mut ClothMesh,
                &mut ClothGrabs,
                &mut SelfContacts,
                &mut Rest,
                &ClothSource,
            )>,
            Option<ResMut<Assets<Mesh>>>,
        )>::new(world);
        let (mut cloths, mut meshes) = state
            .get_mut(world)
            .map_err(|_| SnapshotError::NoCloth(cloth))?;
        let (
            mut particles,
            mut constraints,
            mut body,
            mut mesh,
            mut grabs,
            mut contacts,
            mut rest,
            source,
        ) = cloths
            .get_mut(cloth)
            .map_err(|_| SnapshotError::NoCloth(cloth))?;

        let is_rope = self.shape.as_ref().is_some_and(|shape| shape.is_rope());
        if self.mesh != body.built.mesh || is_rope != body.rope.is_some() {
            return Err(SnapshotError::OtherMesh(cloth));
        }
        if !self.is_sound.0 {
            self.check(body.topology.positions.len())
                .map_err(|part| SnapshotError::Damaged(cloth, part))?;
        }
        let change = match &self.shape {
            Some(shape) => Some(Change::To(shape)),
            None if body.torn.is_none() && ShapePrint::of(&constraints, &body) == self.print => {
                None
            }
            None => Some(
                Change::back(&body, self.frame, self.print)
                    .ok_or(SnapshotError::OtherMesh(cloth))?,
            ),
        };
        // From here on nothing can go wrong.
        if let Some(change) = change {
            let meshes = meshes.as_mut();
            let own = meshes.and_then(|meshes| meshes.get_mut(&source.own));
            change.apply(&mut constraints, &mut body, &mut mesh, own);
        }
        particles.0.clone_from(&self.particles);
        body.applied = self.applied;
        body.areal_density = self.areal_density;
        body.pins.clone_from(&self.pins);
        body.bound.clone_from(&self.bound);
        // A step that is under way must not use what it knows from before.
        body.targets.clear();
        body.touched = false;
        constraints.forget_spin();
        self.tied.restore(&mut body);
        body.silent_steps = self.silent_steps;
        body.tips.clone_from(&self.tips);
        body.resistance.clone_from(&self.resistance);
        grabs.0.clone_from(&self.grabs);
        body.guide.seen.clone_from(&self.seen);
        body.guide.teleport = None;
        body.guide.carried = None;
        // What was cut meanwhile may have as many particles.
        body.guide.bound = None;
        contacts.forget();
        mesh.written = None;
        rest.state.clone_from(&self.rest);
        self.restore_sleep(world, cloth);
        Ok(())
    }

    /// It sleeps if it did; what is written from now on wakes it.
    fn restore_sleep(&self, world: &mut World, cloth: Entity) {
        let Ok(mut entity) = world.get_entity_mut(cloth) else {
            return;
        };
        if self.rest.asleep {
            entity.insert(ClothSleeping);
        } else {
            entity.remove::<ClothSleeping>();
        }
        let now = world.change_tick();
        if let Some(mut rest) = world.get_mut::<Rest>(cloth) {
            rest.since = now;
        }
        // Who writes right after this must not seem to have done so before.
        world.increment_change_tick();
    }

    /// The particles as they were.
    pub fn particles(&self) -> &ParticleArrays {
        &self.particles
    }

    /// A number that differs when any bit of a position or displacement does: what two machines compare
    /// to see whether they went the same way.
    pub fn state_hash(&self) -> u64 {
        self.particles.state_hash()
    }
}

/// Those who hold it, who cut it, and what its pins are anchored to.
impl MapEntities for ClothSnapshot {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        self.bound.map_entities(mapper);
        for pin in &mut self.pins {
            if let PinAnchor::Entity(entity) = &mut pin.anchor {
                *entity = mapper.get_mapped(*entity);
            }
        }
        if let Some((frame, _)) = &mut self.seen.frame {
            *frame = mapper.get_mapped(*frame);
        }
        if let Some(wearer) = &mut self.seen.wearer {
            wearer.entity = mapper.get_mapped(wearer.entity);
        }
        let grabs = self.grabs.iter_mut().map(|grab| &mut grab.by);
        for by in grabs.chain(self.tips.iter_mut().map(|tip| &mut tip.by)) {
            *by = mapper.get_mapped(*by);
        }
    }
}
