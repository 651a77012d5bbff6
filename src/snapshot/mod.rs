//! Saves and restores cloths, for rollback and saved games.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | [`ClothSnapshot`] |
//! | `shape` | the additional data of torn or edited cloths |
//! | `check` | validates snapshots from files |
//! | `entities` | maps the entities in a snapshot |

mod check;
mod entities;
mod shape;

use crate::solver::{Geodesics, ParticleArrays, Tethers, WarmStart};
use crate::{
    character::{
        frame_history::{FrameHistory, ReferenceFrame},
        skin_weights::{SkinPose, SkinWeights},
    },
    cloth::{
        activity::ClothSleeping,
        body::{ClothBody, RampedSettings},
        fingerprint::ShapeFingerprint,
        multipliers::ParticleMultipliers,
        particles::{ClothConstraints, ClothParticles},
        shape::ClothShape,
        source::ClothSource,
        tethers::StaleDistances,
    },
    collision::contacts::ClothContacts,
    grab::{ClothGrabs, Grab},
    pins::{BoundPin, BoundPins, Pins},
    render::own_mesh::ClothMesh,
    sleep::{SleepState, SleepTimer},
    tearing::{CutEnd, TearProgress},
};
use bevy::{
    ecs::{query::QueryData, system::SystemState},
    prelude::*,
};
use shape::{ModifiedShape, ShapeChange};
use std::{error::Error, fmt, sync::Arc};

/// Complete state of one cloth. After restoring it, the same steps with the same input give the same bits.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::snapshot::{ClothSnapshot, SnapshotError};
/// # fn rollback(world: &mut World, flag: Entity) -> Result<(), SnapshotError> {
/// let Some(saved) = ClothSnapshot::take(world, flag) else {
///     return Ok(()); // not built yet
/// };
/// // Some steps later, another player's input arrives. Go back, and simulate again with it:
/// saved.restore(world, flag)?;
/// # Ok(())
/// # }
/// ```
///
/// Contains particles, pins, grabs, ramped settings, the sleep state, the pose of a skeleton, and any changes to the
/// [`ClothConstraints`] by tearing and edits. A sheet with its original constraints takes 64 bytes per particle, 12 more
/// while it comes to rest, 12 more and 20 to 32 per contact while it lies on itself or other cloth, and a little more per pin
/// and joint. Clones copy all of that, but share torn or edited data.
///
/// A snapshot does not contain data that a game can save by itself. To get the same bits again, also restore:
///
/// - components of the cloth: [`Cloth`](crate::cloth::Cloth), [`Pins`], [`ClothTearing`](crate::tearing::ClothTearing),
///   [`PlanarCloth`](crate::cloth::PlanarCloth), [`ClothMaxDistance`](crate::character::ClothMaxDistance),
///   [`ClothPaint`](crate::character::ClothPaint), [`ClothInertia`](crate::character::ClothInertia), `Transform`, if they change;
/// - entities that touch it: `Transform`, [`ClothCollider`](crate::collision::ClothCollider) and
///   [`LastPose`](crate::collision::LastPose) of colliders, `Transform` of pin anchors;
/// - resources, if they change: [`ClothGravity`](crate::cloth::ClothGravity), [`Wind`](crate::wind::Wind),
///   [`ClothSubsteps`](crate::cloth::ClothSubsteps), [`ClothTime`](crate::time::ClothTime); and the running clocks:
///   [`WindTime`](crate::wind::WindTime) with gusty wind, [`ClothClock`](crate::time::ClothClock) with
///   cloths in slow motion.
///
/// All of these are `Clone` and `Reflect`. Take and restore snapshots between the steps of the cloths, not in the
/// middle of one ([`ClothSubstep`](crate::cloth::ClothSubstep)).
///
/// With the feature `serialize` a snapshot can be saved and sent. Predicate pins are code and are left out, but
/// the particles they pin are not. Entities in it ([`MapEntities`](bevy::ecs::entity::MapEntities)) are those of this world.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct ClothSnapshot {
    /// Fingerprint of the mesh.
    mesh: u64,
    /// Orientation and scale with which the cloth was built or reset.
    frame: Mat3,
    /// Fingerprint of the constraints and areas.
    fingerprint: ShapeFingerprint,
    particles: ParticleArrays,
    /// Forces of contacts with itself and other cloths.
    #[cfg_attr(feature = "serialize", serde(default))]
    warm_start: WarmStart,
    ramped: Option<RampedSettings>,
    areal_density: f32,
    pins: Vec<BoundPin>,
    bound_pins: Pins,
    error_cooldown: u32,
    cut_ends: Vec<CutEnd>,
    #[cfg_attr(feature = "serialize", serde(with = "crate::solver::math::bits"))]
    resistance: Vec<f32>,
    grabs: Vec<Grab>,
    /// Reference frame and skinned targets of the last step.
    frame_history: FrameHistory,
    /// Pose of its skeleton in the last step, if it has one.
    skin_pose: Option<SkinPose>,
    /// The sleep state.
    sleep: SleepState,
    /// The tethers; skipped when serialized and recomputed.
    #[cfg_attr(feature = "serialize", serde(skip))]
    tethers: SharedTethers,
    /// The changes since the cloth was built, if any.
    #[cfg_attr(feature = "serialize", serde(with = "crate::cloth::arc_serde::option"))]
    shape: Option<Arc<ModifiedShape>>,
    /// True for a snapshot taken here; one from a file must be checked first.
    #[cfg_attr(feature = "serialize", serde(skip))]
    is_valid: Validity,
}

/// Components of a cloth that a snapshot saves or resets.
#[derive(QueryData)]
#[query_data(mutable)]
struct SnapshotQuery {
    particles: &'static mut ClothParticles,
    constraints: &'static mut ClothConstraints,
    body: &'static mut ClothBody,
    shape: &'static mut ClothShape,
    multipliers: &'static ParticleMultipliers,
    pins: &'static mut BoundPins,
    frame: &'static mut ReferenceFrame,
    skin: Option<&'static mut SkinWeights>,
    progress: &'static mut TearProgress,
    contacts: &'static mut ClothContacts,
    grabs: &'static mut ClothGrabs,
    sleep_timer: &'static mut SleepTimer,
    mesh: &'static mut ClothMesh,
    source: &'static ClothSource,
}

/// Tethers, the distances they are computed from, and the stale part of these. They follow from the other fields,
/// so comparisons ignore them.
#[derive(Clone, Debug, Default)]
struct SharedTethers(Option<(Arc<Tethers>, Arc<Geodesics>, StaleDistances)>);

impl PartialEq for SharedTethers {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl SharedTethers {
    fn of(body: &ClothBody) -> Self {
        let (tethers, distances) = (body.tethers.clone(), body.tether_distances.clone());
        Self(Some((tethers, distances, body.stale_distances.clone())))
    }

    fn restore(&self, body: &mut ClothBody) {
        if let Some((tethers, distances, stale)) = &self.0 {
            body.tethers = tethers.clone();
            body.tether_distances = distances.clone();
            body.stale_distances = stale.clone();
        } else {
            body.stale_distances = StaleDistances::Missing;
        }
    }
}

/// Whether a snapshot is known to be valid. Comparisons ignore it.
#[derive(Clone, Copy, Debug, Default)]
struct Validity(bool);

impl PartialEq for Validity {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Reason why a snapshot cannot be restored. Nothing has been changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The entity has no cloth, or one that is not built yet.
    NoCloth(Entity),
    /// The cloth was built from another mesh, or only one of the two is a rope.
    OtherMesh(Entity),
    /// The snapshot is damaged: the named part contradicts the others.
    Damaged(Entity, &'static str),
}

impl SnapshotError {
    fn entity(&self) -> Entity {
        match *self {
            Self::NoCloth(entity) | Self::OtherMesh(entity) | Self::Damaged(entity, _) => entity,
        }
    }

    /// Returns the cause and the remedy.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::NoCloth(_) => {
                "is no cloth, or not built yet, so no snapshot of it can be restored; wait for \
                 ClothReady"
                    .into()
            }
            Self::OtherMesh(_) => {
                "the snapshot is of a cloth of another mesh; restore it on one that was built \
                 from the same mesh by the same version of this crate"
                    .into()
            }
            Self::Damaged(_, part) => {
                format!("the snapshot is damaged: inconsistent {part}; nothing is restored")
            }
        }
    }
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "cloth {}: {}", self.entity(), self.reason())
    }
}

impl Error for SnapshotError {}

impl ClothSnapshot {
    /// Saves the state of a cloth; `None` if the entity has none, or one that is not built yet.
    pub fn take(world: &World, cloth: Entity) -> Option<Self> {
        let entity = world.get_entity(cloth).ok()?;
        let cloth = entity.get_components::<SnapshotQueryReadOnly>().ok()?;
        let (constraints, shape, body) = (cloth.constraints, cloth.shape, cloth.body);
        let built = shape.build_fingerprint;
        let fingerprint = ShapeFingerprint::of(constraints, shape);
        let is_as_built =
            shape.torn.is_none() && shape.segments.is_none() && fingerprint == built.shape;
        let modified = (!is_as_built).then(|| ModifiedShape::of(constraints, shape, cloth.mesh));
        Some(Self {
            mesh: built.mesh,
            frame: shape.to_world,
            fingerprint,
            particles: cloth.particles.0.clone(),
            warm_start: cloth.contacts.contacts.warm_start.clone(),
            ramped: body.ramped,
            areal_density: body.areal_density,
            pins: cloth.pins.pins.clone(),
            bound_pins: cloth.pins.bound_from.clone(),
            error_cooldown: body.error_cooldown,
            cut_ends: cloth.progress.cut_ends.clone(),
            resistance: cloth.progress.resistance.clone(),
            grabs: cloth.grabs.0.clone(),
            frame_history: cloth.frame.history.clone(),
            skin_pose: cloth.skin.map(|skin| skin.pose().clone()),
            sleep: cloth.sleep_timer.state.clone(),
            tethers: SharedTethers::of(body),
            shape: modified.map(Arc::new),
            is_valid: Validity(true),
        })
    }

    /// Restores the state, on the same cloth or on another one built from the same mesh. The entity's transform
    /// does not change. No events are triggered; the grabs are those of the snapshot.
    ///
    /// # Errors
    ///
    /// Fails if the entity has no cloth, one of another mesh, or if the snapshot is damaged. Nothing is changed
    /// then.
    pub fn restore(&self, world: &mut World, cloth: Entity) -> Result<(), SnapshotError> {
        let mut state =
            SystemState::<(Query<SnapshotQuery>, Option<ResMut<Assets<Mesh>>>)>::new(world);
        let (mut cloths, mut meshes) = state
            .get_mut(world)
            .map_err(|_| SnapshotError::NoCloth(cloth))?;
        let mut target = cloths
            .get_mut(cloth)
            .map_err(|_| SnapshotError::NoCloth(cloth))?;

        let (constraints, shape) = (&target.constraints, &target.shape);
        let change = self.shape_change(cloth, constraints, shape, target.multipliers)?;
        // Nothing below can fail.
        if let Some(change) = change {
            let meshes = meshes.as_mut();
            let own = meshes.and_then(|meshes| meshes.get_mut(&target.source.own));
            let (constraints, shape) = (&mut target.constraints, &mut target.shape);
            change.apply(constraints, shape, &mut target.mesh, own);
        }
        self.write_state(target);
        self.restore_sleep(world, cloth);
        Ok(())
    }

    /// Writes everything but the shape and whether the cloth sleeps.
    fn write_state(&self, mut target: SnapshotQueryItem) {
        let (body, frame) = (&mut target.body, &mut target.frame);
        let (pins, progress) = (&mut target.pins, &mut target.progress);
        target.shape.set_frame(self.frame);
        target.particles.0.clone_from(&self.particles);
        body.ramped = self.ramped;
        body.areal_density = self.areal_density;
        pins.pins.clone_from(&self.pins);
        pins.bound_from.clone_from(&self.bound_pins);
        // Discard data cached by the step in progress.
        pins.targets.clear();
        let contacts = &mut target.contacts.contacts;
        contacts.had_contact = false;
        contacts.warm_start.clone_from(&self.warm_start);
        target.constraints.forget_angular_momentum();
        self.tethers.restore(body);
        body.error_cooldown = self.error_cooldown;
        progress.cut_ends.clone_from(&self.cut_ends);
        progress.resistance.clone_from(&self.resistance);
        target.grabs.0.clone_from(&self.grabs);
        frame.history.clone_from(&self.frame_history);
        if let (Some(skin), Some(pose)) = (&mut target.skin, &self.skin_pose) {
            skin.set_pose(pose);
        }
        frame.requested_teleport = None;
        frame.frame_motion = None;
        // A cloth cut since then may have the same particle count, so bind again.
        frame.bound_max_distance = None;
        target.contacts.contacts.forget();
        target.mesh.last_written = None;
        target.sleep_timer.state.clone_from(&self.sleep);
    }

    /// Returns how the shape of a cloth must change to become that of the snapshot; `None` if it is that already.
    fn shape_change(
        &self,
        cloth: Entity,
        constraints: &ClothConstraints,
        shape: &ClothShape,
        multipliers: &ParticleMultipliers,
    ) -> Result<Option<ShapeChange<'_>>, SnapshotError> {
        let is_rope = self.shape.as_ref().is_some_and(|shape| shape.is_rope());
        if self.mesh != shape.build_fingerprint.mesh || is_rope != shape.segments.is_some() {
            return Err(SnapshotError::OtherMesh(cloth));
        }
        if !self.is_valid.0 {
            self.check(shape.topology.positions.len())
                .map_err(|part| SnapshotError::Damaged(cloth, part))?;
        }
        if let Some(saved) = &self.shape {
            return Ok(Some(ShapeChange::FromSnapshot(saved)));
        }
        if shape.torn.is_none() && ShapeFingerprint::of(constraints, shape) == self.fingerprint {
            return Ok(None);
        }
        ShapeChange::as_built(shape, multipliers, self.frame, self.fingerprint)
            .map(Some)
            .ok_or(SnapshotError::OtherMesh(cloth))
    }

    /// Restores whether the cloth sleeps; later writes wake it.
    fn restore_sleep(&self, world: &mut World, cloth: Entity) {
        let Ok(mut entity) = world.get_entity_mut(cloth) else {
            return;
        };
        if self.sleep.asleep {
            entity.insert(ClothSleeping);
        } else {
            entity.remove::<ClothSleeping>();
        }
        let now = world.change_tick();
        if let Some(mut sleep_timer) = world.get_mut::<SleepTimer>(cloth) {
            sleep_timer.checked_at = now;
        }
        // Writes after this must get a later tick.
        world.increment_change_tick();
    }

    /// Returns the particles.
    pub fn particles(&self) -> &ParticleArrays {
        &self.particles
    }

    /// Returns a hash over all bits of positions and displacements, to compare the simulation of two machines.
    pub fn state_hash(&self) -> u64 {
        self.particles.state_hash()
    }
}
