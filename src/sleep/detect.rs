//! Puts cloths at rest to sleep, and wakes them when their inputs change.
//!
//! The surroundings of a cloth are hashed by value into a fingerprint: writing an equal transform in each frame
//! does not wake it. The fingerprint does not depend on when it is taken, so a restored snapshot of a sleeping
//! cloth sleeps on exactly as the cloth did.
//!
//! A sleeping cloth is not checked as long as change detection finds its components untouched, and the surroundings
//! of all cloths, hashed once per step, are those of the step before.

use crate::solver::{Collider, Plane, Pose, Zone, has_stayed_within};
use crate::{
    character::{
        frame_history::ReferenceFrame, inertia::ClothInertia, max_distance::ClothMaxDistance,
        multipliers::masses_are_bound, paint::ClothPaint, skin_weights::SkinWeights,
    },
    cloth::{
        Cloth,
        activity::{ClothCulled, ClothPaused, ClothSleeping},
        body::ClothBody,
        fingerprint::Fingerprint,
        multipliers::ParticleMultipliers,
        particles::{ClothConstraints, ClothParticles},
        planar::PlanarCloth,
        planar_constraint::plane_of,
        schedule::{ClothStepSchedule, step_length},
        settings::{ClothGravity, ClothSubsteps},
        shape::ClothShape,
    },
    collision::{
        active_colliders::ActiveColliders,
        bodies::{self, ClothBodies},
        broad_phase::ClothPairs,
        layers::ClothLayers,
    },
    grab::ClothGrabs,
    pins::{BoundPins, PinAnchor, Pins},
    pressure::ClothPressure,
    sleep::{SleepInputs, SleepTimer},
    tearing::ClothTearing,
    wind::{
        active_zones::ActiveWindZones,
        settings::{Wind, WindOcclusion, WindTime, WindTurbulence},
    },
};
use bevy::{
    ecs::{
        archetype::Archetype,
        change_detection::Tick,
        query::QueryData,
        system::{SystemChangeTick, SystemParam},
    },
    prelude::*,
};

/// Margin, besides its thickness, around the bounds of a cloth within which objects affect its sleep, m.
const MARGIN: f32 = 0.01;

/// Everything outside a cloth that may move it.
#[derive(SystemParam)]
pub(crate) struct SleepParams<'w, 's> {
    gravity: Res<'w, ClothGravity>,
    wind: Res<'w, Wind>,
    wind_time: Res<'w, WindTime>,
    turbulence: Res<'w, WindTurbulence>,
    occlusion: Res<'w, WindOcclusion>,
    zones: Res<'w, ActiveWindZones>,
    colliders: Res<'w, ActiveColliders>,
    substeps: Res<'w, ClothSubsteps>,
    clock: Res<'w, Time>,
    schedule: Res<'w, ClothStepSchedule>,
    transforms: TransformHelper<'w, 's>,
}

/// Components of a cloth that affect its sleep.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct SleepQuery {
    entity: Entity,
    archetype: &'static Archetype,
    sleep_timer: &'static mut SleepTimer,
    sleeps: Has<ClothSleeping>,
    is_child: Has<ChildOf>,
    transform: Option<Ref<'static, Transform>>,
    cloth: Ref<'static, Cloth>,
    body: &'static ClothBody,
    shape: &'static ClothShape,
    bound_pins: &'static BoundPins,
    frame: &'static ReferenceFrame,
    skin: Option<&'static SkinWeights>,
    multipliers: &'static ParticleMultipliers,
    bodies: &'static ClothBodies,
    particles: &'static mut ClothParticles,
    constraints: Ref<'static, ClothConstraints>,
    grabs: &'static ClothGrabs,
    pins: Option<Ref<'static, Pins>>,
    layers: Option<Ref<'static, ClothLayers>>,
    planar: Option<Ref<'static, PlanarCloth>>,
    pressure: Option<Ref<'static, ClothPressure>>,
    tearing: Option<Ref<'static, ClothTearing>>,
    paint: Option<Ref<'static, ClothPaint>>,
    max_distance: Option<Ref<'static, ClothMaxDistance>>,
    motion: Option<Ref<'static, ClothInertia>>,
}

/// Before a step: updates the inputs of all cloths that sleep or are slow, and wakes those with changed inputs.
pub(crate) fn update_sleep(
    mut cloths: Query<SleepQuery, (Without<ClothPaused>, Without<ClothCulled>)>,
    params: SleepParams,
    cloth_pairs: Res<ClothPairs>,
    ticks: SystemChangeTick,
    mut last_surroundings: Local<u64>,
    mut commands: Commands,
) {
    let common = params.common();
    let now = ticks.this_run();
    // Found for the first sleeping cloth.
    let mut same_surroundings = None;
    for mut cloth in &mut cloths {
        let state = &cloth.sleep_timer.state;
        let (asleep, slow_time) = (state.asleep, state.slow_time);
        match (cloth.sleeps, asleep) {
            // Fast cloths need no inputs.
            (false, false) if slow_time == 0.0 => {}
            (false, false) => {
                let bounds = sleep_bounds(&cloth);
                let inputs = params.sleep_inputs(&common, bounds, &cloth);
                let state = &mut cloth.sleep_timer.bypass_change_detection().state;
                state.bounds = bounds;
                if state.inputs.as_ref() != Some(&inputs) || !cloth.grabs.is_empty() {
                    state.slow_time = 0.0;
                    state.inputs = Some(inputs);
                }
            }
            // Woken by the user.
            (false, true) => cloth.sleep_timer.bypass_change_detection().state.wake(),
            (true, true) => {
                let same_surroundings = *same_surroundings.get_or_insert_with(|| {
                    let surroundings = params.surroundings(&common);
                    std::mem::replace(&mut *last_surroundings, surroundings) == surroundings
                });
                // Checked in the last run of this system.
                let was_checked = cloth.sleep_timer.checked_at == ticks.last_run();
                if same_surroundings && was_checked && is_untouched(&cloth, now) {
                    cloth.sleep_timer.bypass_change_detection().checked_at = now;
                } else if is_disturbed(&params, &common, &cloth, now) {
                    cloth.sleep_timer.bypass_change_detection().state.wake();
                    commands.entity(cloth.entity).try_remove::<ClothSleeping>();
                } else {
                    let alone_in = is_alone(&cloth).then(|| cloth.archetype.id());
                    let sleep_timer = cloth.sleep_timer.bypass_change_detection();
                    sleep_timer.checked_at = now;
                    sleep_timer.alone_in = alone_in;
                }
            }
            // Put to sleep by the user.
            (true, false) => {
                cloth.particles.stop();
                let bounds = sleep_bounds(&cloth);
                let inputs = params.sleep_inputs(&common, bounds, &cloth);
                let sleep_timer = cloth.sleep_timer.bypass_change_detection();
                let state = &mut sleep_timer.state;
                state.asleep = true;
                state.inputs = Some(inputs);
                state.bounds = bounds;
                sleep_timer.checked_at = now;
                sleep_timer.alone_in = None;
            }
        }
    }
    if cloth_pairs.is_empty() {
        return;
    }
    // All cloths of an island with an awake one are awake.
    let islands = cloth_pairs.islands();
    let is_awake = |entity| {
        cloths
            .get(entity)
            .is_ok_and(|cloth| !cloth.sleep_timer.state.asleep)
    };
    let awake = islands.any(is_awake);
    for (entity, awake) in islands.entities.iter().zip(awake) {
        if awake
            && let Ok(mut cloth) = cloths.get_mut(*entity)
            && cloth.sleep_timer.state.asleep
        {
            cloth.sleep_timer.bypass_change_detection().state.wake();
            commands.entity(*entity).try_remove::<ClothSleeping>();
        }
    }
}

/// After a step of this length, s: records whether a cloth was slow.
pub(crate) fn update_timer(
    cloth: &Cloth,
    particles: &ClothParticles,
    sleep_timer: &mut SleepTimer,
    step: f32,
) {
    let speed = cloth.sleep_speed;
    let is_slow = speed > 0.0 && has_stayed_within(particles, speed * step);
    sleep_timer.state.record(is_slow, step);
}

/// Puts a cloth to sleep, with zero velocity.
pub(crate) fn fall_asleep(particles: &mut ClothParticles, sleep_timer: &mut SleepTimer, now: Tick) {
    particles.stop();
    sleep_timer.state.asleep = true;
    sleep_timer.checked_at = now;
}

/// Returns whether the inputs of a cloth are only its own components and the surroundings of all cloths, and not the
/// transforms of other entities.
fn is_alone(cloth: &SleepQueryItem) -> bool {
    let own = |entity: Entity| entity == cloth.entity;
    let frame = cloth
        .motion
        .as_ref()
        .and_then(|motion| motion.frame_of(cloth.entity));
    !cloth.is_child
        && cloth.skin.is_none()
        && cloth.bodies.is_empty()
        && frame.is_none_or(own)
        && cloth.bound_pins.anchors().all(own)
}

/// Returns whether change detection finds everything unwritten on which a sleeping cloth depends, besides the
/// surroundings of all cloths. A removed component shows in the archetype.
fn is_untouched(cloth: &SleepQueryItem, now: Tick) -> bool {
    fn is_written<T>(component: &Option<Ref<T>>, written: impl Fn(Tick) -> bool) -> bool {
        (component.as_ref()).is_some_and(|component| written(component.last_changed()))
    }
    let SleepTimer {
        checked_at,
        alone_in,
        ..
    } = *cloth.sleep_timer;
    let written = |changed: Tick| changed.is_newer_than(checked_at, now);
    alone_in == Some(cloth.archetype.id())
        && cloth.bodies.is_empty()
        && cloth.grabs.is_empty()
        && !(written(cloth.particles.last_changed())
            || written(cloth.constraints.last_changed())
            || written(cloth.cloth.last_changed())
            || is_written(&cloth.transform, written)
            || is_written(&cloth.pins, written)
            || is_written(&cloth.layers, written)
            || is_written(&cloth.planar, written)
            || is_written(&cloth.pressure, written)
            || is_written(&cloth.tearing, written)
            || is_written(&cloth.paint, written)
            || is_written(&cloth.max_distance, written)
            || is_written(&cloth.motion, written))
}

/// Returns whether anything has happened that wakes a sleeping cloth.
fn is_disturbed(
    params: &SleepParams,
    common: &Fingerprint,
    cloth: &SleepQueryItem,
    now: Tick,
) -> bool {
    let SleepTimer {
        state, checked_at, ..
    } = &*cloth.sleep_timer;
    let written = |changed: Tick| changed.is_newer_than(*checked_at, now);
    if written(cloth.particles.last_changed())
        || written(cloth.constraints.last_changed())
        || !cloth.grabs.is_empty()
        || !cloth.bound_pins.are_bound_from(cloth.pins.as_deref())
        || cloth.max_distance.as_deref() != cloth.frame.bound_max_distance.as_ref()
        || !masses_are_bound(cloth.paint.as_deref(), cloth.multipliers)
    {
        return true;
    }
    let Some(inputs) = &state.inputs else {
        return true;
    };
    inputs.cloth != *cloth.cloth
        || inputs.tearing.as_ref() != cloth.tearing.as_deref()
        || inputs.ramped != cloth.body.ramped
        // With the bounds from when it fell asleep; it has not moved since.
        || inputs.fingerprint != params.fingerprint(common, state.bounds, cloth)
}

/// Returns the corners of the box in which objects affect the sleep of a cloth.
fn sleep_bounds(cloth: &SleepQueryItem) -> [Vec3; 2] {
    let particles = &cloth.particles;
    let (low, high) = particles.position.bounds().unwrap_or_default();
    let ramped = cloth.body.ramped;
    let thickness = ramped.map_or(cloth.cloth.fabric.thickness, |ramped| ramped.thickness);
    // Far from the world origin the corners have rounding errors.
    let rounding = 4.0 * f32::EPSILON * particles.origin.abs().max_element();
    let margin = MARGIN + thickness + cloth.shape.radius() + rounding;
    [
        particles.origin + low - margin,
        particles.origin + high + margin,
    ]
}

impl SleepParams<'_, '_> {
    /// Returns the fingerprint of inputs common to all cloths.
    fn common(&self) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        fingerprint.vector(self.gravity.0);
        fingerprint.word(self.substeps.0.into());
        // In other schedules the length of a step varies, like that of frames.
        if self.schedule.is_fixed() {
            fingerprint.numbers(&[step_length(&self.clock)]);
        }
        fingerprint
    }

    /// Returns a fingerprint of everything outside all cloths, no matter which of them it can move.
    fn surroundings(&self, common: &Fingerprint) -> u64 {
        let mut fingerprint = common.clone();
        let everywhere = [Vec3::NEG_INFINITY, Vec3::INFINITY];
        self.hash_wind(&mut fingerprint, everywhere);
        for (collider, layers) in self.colliders.with_layers() {
            hash_layers(&mut fingerprint, layers);
            hash_collider(&mut fingerprint, collider);
        }
        #[cfg(feature = "parry")]
        for (mesh, layers) in self.colliders.meshes.with_layers() {
            hash_layers(&mut fingerprint, layers);
            fingerprint.word(mesh.surface_id());
            hash_collider(&mut fingerprint, &mesh.bounding_collider());
        }
        fingerprint.value()
    }

    /// Returns the inputs of a cloth within these bounds.
    fn sleep_inputs(
        &self,
        common: &Fingerprint,
        bounds: [Vec3; 2],
        cloth: &SleepQueryItem,
    ) -> SleepInputs {
        SleepInputs {
            cloth: Cloth::clone(&cloth.cloth),
            tearing: cloth.tearing.as_deref().cloned(),
            ramped: cloth.body.ramped,
            fingerprint: self.fingerprint(common, bounds, cloth),
        }
    }

    /// Returns the fingerprint of the surroundings of a cloth within these bounds.
    fn fingerprint(&self, common: &Fingerprint, bounds: [Vec3; 2], cloth: &SleepQueryItem) -> u64 {
        let mut fingerprint = common.clone();
        self.hash_air(&mut fingerprint, bounds, &cloth.cloth);
        for collider in self.colliders.near(cloth.layers.as_deref(), bounds) {
            hash_collider(&mut fingerprint, collider);
        }
        #[cfg(feature = "parry")]
        self.hash_meshes(&mut fingerprint, bounds, cloth);
        bodies::add_to_fingerprint(&mut fingerprint, cloth.bodies);
        self.hash_pins(&mut fingerprint, cloth);
        self.hash_reference_frame(&mut fingerprint, cloth);
        let plane = cloth
            .planar
            .as_ref()
            .and_then(|planar| plane_of(cloth.entity, planar, &self.transforms));
        if let Some(Plane { point, normal }) = plane {
            fingerprint.word(u64::MAX);
            fingerprint.vector(point);
            fingerprint.vector(normal);
        }
        if let Some(pressure) = &cloth.pressure {
            fingerprint.numbers(&[pressure.overpressure, pressure.ambient]);
        }
        fingerprint.value()
    }

    /// Hashes the wind within bounds, if the cloth feels any.
    fn hash_air(&self, fingerprint: &mut Fingerprint, bounds: [Vec3; 2], cloth: &Cloth) {
        let (fabric, wind) = (&cloth.fabric, &self.wind);
        let feels = wind.air_density > 0.0 && (fabric.drag > 0.0 || fabric.lift > 0.0);
        fingerprint.word(feels.into());
        if feels {
            self.hash_wind(fingerprint, bounds);
        }
    }

    /// Hashes the wind within bounds.
    fn hash_wind(&self, fingerprint: &mut Fingerprint, bounds: [Vec3; 2]) {
        let (time, wind) = (self.wind_time.0, &self.wind);
        fingerprint.vector(wind.at(time));
        fingerprint.numbers(&[wind.air_density]);
        if self.turbulence.strength > 0.0 {
            let WindTurbulence {
                strength,
                size,
                period,
                seed,
            } = *self.turbulence;
            fingerprint.numbers(&[strength, size, period]);
            fingerprint.word(seed.into());
            fingerprint.word(time.to_bits());
        }
        for zone in self.zones.list.iter().filter(|zone| zone.reaches(bounds)) {
            hash_zone(fingerprint, zone);
        }
        // Colliders that block the wind may be far away.
        if let Some(occlusion) =
            (self.colliders).occlusion(self.occlusion.length, self.occlusion.spread)
        {
            fingerprint.numbers(&[occlusion.length, occlusion.spread]);
            for collider in occlusion.colliders {
                hash_collider(fingerprint, collider);
            }
        }
    }

    /// Hashes the mesh colliders within bounds.
    #[cfg(feature = "parry")]
    fn hash_meshes(
        &self,
        fingerprint: &mut Fingerprint,
        [low, high]: [Vec3; 2],
        cloth: &SleepQueryItem,
    ) {
        for mesh in self.colliders.meshes.on_layers(cloth.layers.as_deref()) {
            let boxed = mesh.bounding_collider();
            let [from, to] = boxed.swept_bounds();
            if low.cmple(to).all() && from.cmple(high).all() {
                fingerprint.word(mesh.surface_id());
                hash_collider(fingerprint, &boxed);
            }
        }
    }

    /// Hashes the transforms of its skeleton and reference frame.
    fn hash_reference_frame(&self, fingerprint: &mut Fingerprint, cloth: &SleepQueryItem) {
        if let Some(skin) = cloth.skin {
            for &joint in &skin.joints {
                self.hash_transform(fingerprint, joint);
            }
        } else if !cloth.frame.motion_constraints.is_empty() {
            self.hash_transform(fingerprint, cloth.entity);
        }
        let motion = cloth.motion.as_ref();
        if let Some(frame) = motion.and_then(|motion| motion.frame_of(cloth.entity)) {
            self.hash_transform(fingerprint, frame);
        }
    }

    fn hash_transform(&self, fingerprint: &mut Fingerprint, entity: Entity) {
        match self.transforms.compute_global_transform(entity) {
            Ok(transform) => fingerprint.numbers(&transform.affine().to_cols_array()),
            Err(_) => fingerprint.word(u64::MAX),
        }
    }

    /// Hashes the transforms of pin anchors.
    fn hash_pins(&self, fingerprint: &mut Fingerprint, cloth: &SleepQueryItem) {
        let mut last = None;
        for pin in &cloth.bound_pins.pins {
            // Pins of one anchor are mostly consecutive.
            if last == Some(pin.anchor) {
                continue;
            }
            last = Some(pin.anchor);
            let anchor = match pin.anchor {
                PinAnchor::World => continue,
                PinAnchor::Cloth => cloth.entity,
                PinAnchor::Entity(other) => other,
            };
            self.hash_transform(fingerprint, anchor);
        }
    }
}

fn hash_collider(fingerprint: &mut Fingerprint, collider: &Collider) {
    let Collider {
        shape,
        start,
        end,
        friction,
        hollow,
    } = collider;
    let (kind, lengths) = shape.numbers();
    fingerprint.word(u64::from(kind) << 1 | u64::from(*hollow));
    fingerprint.numbers(&lengths);
    hash_pose(fingerprint, start);
    hash_pose(fingerprint, end);
    fingerprint.numbers(&[friction.static_coefficient, friction.kinetic_coefficient]);
}

fn hash_layers(fingerprint: &mut Fingerprint, layers: &ClothLayers) {
    fingerprint.word(u64::from(layers.memberships) << 32 | u64::from(layers.filters));
}

fn hash_zone(fingerprint: &mut Fingerprint, zone: &Zone) {
    let Zone {
        shape,
        flow,
        falloff,
        strength,
        core,
        pose,
    } = zone;
    let (kind, lengths) = shape.numbers();
    fingerprint.word(u64::from(kind) << 16 | (*flow as u64) << 8 | *falloff as u64);
    fingerprint.numbers(&lengths);
    fingerprint.numbers(&[*strength, *core]);
    hash_pose(fingerprint, pose);
}

fn hash_pose(fingerprint: &mut Fingerprint, pose: &Pose) {
    fingerprint.numbers(&pose.rotation.to_array());
    fingerprint.vector(pose.translation);
}
