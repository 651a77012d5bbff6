//! Puts cloths at rest to sleep, and wakes them when their inputs change.
//!
//! The surroundings of a cloth are hashed by value into a fingerprint: writing an equal transform in each frame
//! does not wake it. The fingerprint does not depend on when it is taken, so a restored snapshot of a sleeping
//! cloth sleeps on exactly as the cloth did.
//!
//! A sleeping cloth is not checked as long as change detection finds its components untouched, and the surroundings
//! of all cloths, hashed once per step, are those of the step before.

mod surroundings;

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
        shape::ClothShape,
    },
    collision::{bodies::ClothBodies, broad_phase::ClothIslands, layers::ClothLayers},
    grab::ClothGrabs,
    pins::{BoundPins, Pins},
    pressure::ClothPressure,
    sleep::{SleepTimer, TIME_TO_SLEEP},
    tearing::ClothTearing,
};
use bevy::{
    ecs::{
        archetype::Archetype,
        change_detection::Tick,
        query::{QueryData, QueryFilter},
        system::SystemChangeTick,
    },
    prelude::*,
};
use surroundings::SleepParams;

/// Margin, besides its thickness, around the bounds of a cloth within which objects affect its sleep, m.
const MARGIN: f32 = 0.01;

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

/// Before a step: updates the inputs of cloths that stay in place, and wakes sleeping cloths with changed inputs.
pub(crate) fn update_sleep(
    mut cloths: Query<SleepQuery, (Without<ClothPaused>, Without<ClothCulled>)>,
    params: SleepParams,
    cloth_islands: Res<ClothIslands>,
    ticks: SystemChangeTick,
    mut last_surroundings: Local<u64>,
    mut commands: Commands,
) {
    let common = params.common();
    let now = ticks.this_run();
    // Found for the first sleeping cloth.
    let mut same_surroundings = None;
    for mut cloth in &mut cloths {
        match (cloth.sleeps, cloth.sleep_timer.state.asleep) {
            (false, false) if cloth.sleep_timer.state.is_settling() => {
                if is_disturbed(&params, &common, &cloth, now) {
                    cloth.sleep_timer.bypass_change_detection().state.wake();
                }
            }
            (false, false) => update_inputs(&params, &common, &mut cloth),
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
                    wake(&mut cloth, &mut commands);
                } else {
                    let alone_in = is_alone(&cloth).then(|| cloth.archetype.id());
                    let sleep_timer = cloth.sleep_timer.bypass_change_detection();
                    sleep_timer.checked_at = now;
                    sleep_timer.alone_in = alone_in;
                }
            }
            // Put to sleep by the user.
            (true, false) => {
                let bounds = sleep_bounds(&cloth);
                let inputs = params.sleep_inputs(&common, bounds, &cloth);
                let sleep_timer = cloth.sleep_timer.bypass_change_detection();
                sleep_timer.state.inputs = Some(inputs);
                sleep_timer.state.bounds = bounds;
                sleep_timer.alone_in = None;
                fall_asleep(&mut cloth.particles, sleep_timer, now);
            }
        }
    }
    wake_islands(&mut cloths, &cloth_islands, &mut commands);
}

/// Updates the inputs of an awake cloth that stays in place, and restarts its timer if they have changed.
fn update_inputs(params: &SleepParams, common: &Fingerprint, cloth: &mut SleepQueryItem) {
    // Moving cloths need no inputs.
    if cloth.sleep_timer.state.still_time == 0.0 {
        return;
    }
    let bounds = sleep_bounds(cloth);
    let inputs = params.sleep_inputs(common, bounds, cloth);
    let state = &mut cloth.sleep_timer.bypass_change_detection().state;
    state.bounds = bounds;
    if state.inputs.as_ref() != Some(&inputs) || !cloth.grabs.is_empty() {
        state.still_time = 0.0;
        state.inputs = Some(inputs);
    }
}

fn wake(cloth: &mut SleepQueryItem, commands: &mut Commands) {
    cloth.sleep_timer.bypass_change_detection().state.wake();
    commands.entity(cloth.entity).try_remove::<ClothSleeping>();
}

/// Wakes all cloths of each island with an awake one.
fn wake_islands<F: QueryFilter>(
    cloths: &mut Query<SleepQuery, F>,
    cloth_islands: &ClothIslands,
    commands: &mut Commands,
) {
    let is_awake = |entity| {
        let cloth = cloths.get(entity);
        cloth.is_ok_and(|cloth| !cloth.sleep_timer.state.asleep)
    };
    for entity in cloth_islands.with_any(is_awake) {
        if let Ok(mut cloth) = cloths.get_mut(entity)
            && cloth.sleep_timer.state.asleep
        {
            wake(&mut cloth, commands);
        }
    }
}

/// After a step of this length, s: records whether a cloth has stayed in place.
pub(crate) fn update_timer(
    cloth: &Cloth,
    shape: &ClothShape,
    particles: &ClothParticles,
    sleep_timer: &mut SleepTimer,
    step: f32,
) {
    if let Some(time) = &mut sleep_timer.state.settling_time {
        *time += step;
        return;
    }
    let distance = shape.sleep_speed(cloth) * TIME_TO_SLEEP;
    if distance > 0.0 {
        sleep_timer.state.record(particles, distance, step);
    } else {
        sleep_timer.state.still_time = 0.0;
        sleep_timer.state.test_positions = None;
    }
}

/// Lets a cloth that has stayed in place settle before it falls asleep.
pub(crate) fn settle(sleep_timer: &mut SleepTimer, now: Tick) {
    sleep_timer.state.settling_time.get_or_insert(0.0);
    sleep_timer.state.test_positions = None;
    sleep_timer.checked_at = now;
}

/// Puts a cloth to sleep, with zero velocity.
pub(crate) fn fall_asleep(particles: &mut ClothParticles, sleep_timer: &mut SleepTimer, now: Tick) {
    particles.stop();
    sleep_timer.state.asleep = true;
    sleep_timer.state.settling_time = None;
    sleep_timer.state.test_positions = None;
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

/// Returns whether no component on which a sleeping cloth depends has been written or removed since the last check:
/// writes are found by change detection, removals by the archetype. Does not cover the surroundings of all cloths.
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
    let unramped = cloth.shape.thickness(&cloth.cloth.fabric);
    let thickness = ramped.map_or(unramped, |ramped| ramped.thickness);
    // Far from the world origin the corners have rounding errors.
    let rounding = 4.0 * f32::EPSILON * particles.origin.abs().max_element();
    let margin = MARGIN + thickness + cloth.shape.radius() + rounding;
    [
        particles.origin + low - margin,
        particles.origin + high + margin,
    ]
}
