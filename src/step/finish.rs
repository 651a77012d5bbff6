//! Ends a step: puts pinned particles on their targets, restores cloths with non-finite particles, and lets cloths
//! at rest fall asleep.

use crate::solver::{ClothState, SubstepTime, Workers};
use crate::{
    character::reference_frame,
    cloth::{
        Cloth,
        activity::{ClothSleeping, InMotion},
        components::ClothBody,
        particles::{ClothConstraints, ClothParticles},
        planar::PlanarCloth,
        schedule::ClothSubstepTime,
        settings::ClothMaxThreads,
        workers::ClothWorkers,
    },
    collision::{broad_phase::ClothPairs, contacts::ClothContacts},
    grab::ClothGrabs,
    sleep::{SleepTimer, detect as sleep},
    step::prepare::report_invalid_state,
};
use bevy::{
    ecs::{
        query::QueryData,
        system::{NonSendMarker, SystemChangeTick},
    },
    prelude::*,
};

/// Components of a cloth used at the end of a step.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct FinishQuery {
    entity: Entity,
    cloth: &'static Cloth,
    particles: &'static mut ClothParticles,
    constraints: &'static mut ClothConstraints,
    body: &'static mut ClothBody,
    contacts: &'static mut ClothContacts,
    grabs: &'static ClothGrabs,
    planar: Has<PlanarCloth>,
    sleep_timer: &'static mut SleepTimer,
}

/// Ends a step of a cloth.
pub(crate) fn finish_one(workers: &mut Workers, finished: FinishQueryItem, all: &SubstepTime) {
    let FinishQueryItem {
        entity,
        cloth,
        mut particles,
        mut constraints,
        mut body,
        mut contacts,
        grabs,
        planar,
        mut sleep_timer,
    } = finished;
    let step = body.update_rate.step(all).step;
    let ClothBody {
        triangles,
        rope,
        tethers,
        bodies,
        reference_frame,
        pin_targets,
        ..
    } = &mut *body;
    let mut state = ClothState {
        particles: &mut particles.0,
        constraints: &mut constraints.bypass_change_detection().0,
        triangles,
        segments: rope.as_ref().map(|rope| &rope.segments),
        tethers,
        motion_constraints: &reference_frame.motion_constraints,
        bodies,
        contacts: &mut contacts.bypass_change_detection().contacts,
    };
    let is_held = planar || !grabs.0.is_empty();
    let is_finite = state.end_step(workers, pin_targets, is_held);
    // Relative to the origin of this step, which may have moved.
    pin_targets.clear();
    reference_frame::record_animation_targets(&mut body);
    if is_finite {
        body.error_cooldown = body.error_cooldown.saturating_sub(1);
    } else {
        report_invalid_state(entity, &mut particles, &mut body);
    }
    let sleep_timer = sleep_timer.bypass_change_detection();
    sleep::update_timer(cloth, &particles, sleep_timer, step);
}

pub(crate) fn finish(
    mut cloths: Query<FinishQuery, InMotion>,
    time: Res<ClothSubstepTime>,
    mut workers: ResMut<ClothWorkers>,
    threads: Res<ClothMaxThreads>,
    cloth_pairs: Res<ClothPairs>,
    ticks: SystemChangeTick,
    mut commands: Commands,
    _on_the_main_thread: NonSendMarker,
) {
    let now = ticks.this_run();
    let size = |cloth: &FinishQueryItem| cloth.particles.len();
    let due = cloths
        .iter_mut()
        .filter(|cloth| !cloth.body.update_rate.is_skipped);
    workers.for_each_cloth(*threads, due, size, |workers, cloth| {
        finish_one(workers, cloth, &time);
    });
    if !cloths
        .iter()
        .any(|cloth| cloth.sleep_timer.state.is_ready_to_sleep())
    {
        return;
    }
    // Cloths of an island fall asleep together.
    let islands = cloth_pairs.islands();
    let is_awake = |entity| {
        cloths
            .get(entity)
            .is_ok_and(|cloth| !cloth.sleep_timer.state.is_ready_to_sleep())
    };
    let kept_awake = islands.any(is_awake);
    for mut cloth in &mut cloths {
        let entity = cloth.entity;
        let index = islands.entities.binary_search(&entity);
        if cloth.sleep_timer.state.is_ready_to_sleep()
            && !index.is_ok_and(|index| kept_awake[index])
        {
            let sleep_timer = cloth.sleep_timer.bypass_change_detection();
            sleep::fall_asleep(&mut cloth.particles, sleep_timer, now);
            // A cloth at rest is valid, and no steps are counted while it sleeps.
            cloth.body.error_cooldown = 0;
            commands.entity(entity).try_insert(ClothSleeping);
        }
    }
}
