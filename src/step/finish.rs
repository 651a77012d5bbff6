//! Ends a step: puts pinned particles on their targets, restores cloths with non-finite particles, and lets cloths
//! at rest fall asleep.

use crate::solver::{SubstepTime, Workers};
use crate::{
    character::reference_frame,
    cloth::{
        activity::{ClothSleeping, InMotion},
        schedule::ClothSubstepTime,
        settings::ClothMaxThreads,
        workers::ClothWorkers,
    },
    collision::broad_phase::ClothIslands,
    sleep::detect as sleep,
    step::{
        query::{StepQuery, StepQueryItem},
        substeps::{IslandItem, group_by_island},
    },
};
use bevy::{
    ecs::{
        change_detection::Tick,
        system::{NonSendMarker, SystemChangeTick},
    },
    prelude::*,
};

/// Ends a step of a cloth.
pub(crate) fn finish_one(workers: &mut Workers, mut cloth: StepQueryItem, all: &SubstepTime) {
    let step = cloth.rate.step(all).step;
    let is_settling = cloth.sleep_timer.state.is_settling();
    let is_held = is_settling || cloth.planar.is_some() || !cloth.grabs.0.is_empty();
    let mut lent = cloth.lend();
    let is_finite = lent.state.end_step(workers, lent.pin_targets, is_held);
    // Relative to the origin of this step, which may have moved.
    cloth.bound_pins.targets.clear();
    reference_frame::record_animation_targets(&mut cloth.frame);
    if is_finite {
        cloth.body.error_cooldown = cloth.body.error_cooldown.saturating_sub(1);
    } else {
        cloth.report_invalid_state();
    }
    let sleep_timer = cloth.sleep_timer.bypass_change_detection();
    sleep::update_timer(
        cloth.cloth,
        cloth.shape,
        &cloth.particles,
        sleep_timer,
        step,
    );
}

pub(crate) fn finish(
    mut cloths: Query<StepQuery, InMotion>,
    time: Res<ClothSubstepTime>,
    mut workers: ResMut<ClothWorkers>,
    threads: Res<ClothMaxThreads>,
    mut cloth_islands: ResMut<ClothIslands>,
    ticks: SystemChangeTick,
    mut commands: Commands,
    _on_the_main_thread: NonSendMarker,
) {
    if !cloth_islands.islands.is_empty() {
        let items = group_by_island(cloths.iter_mut(), &mut cloth_islands.islands);
        let items = items.into_iter();
        workers.for_each_cloth(*threads, items, IslandItem::size, |_, mut item| {
            item.limit_crossings_at_end();
        });
    }
    let size = |cloth: &StepQueryItem| cloth.particles.len();
    let due = cloths.iter_mut().filter(|cloth| !cloth.rate.is_skipped);
    workers.for_each_cloth(*threads, due, size, |workers, cloth| {
        finish_one(workers, cloth, &time);
    });
    let is_any_ready = cloths
        .iter()
        .any(|cloth| cloth.sleep_timer.state.is_ready_to_sleep());
    if is_any_ready {
        put_to_sleep(&mut cloths, &cloth_islands, ticks.this_run(), &mut commands);
    }
}

/// Puts cloths that have stayed in place to sleep once they have settled. Cloths of an island fall asleep together.
fn put_to_sleep(
    cloths: &mut Query<StepQuery, InMotion>,
    cloth_islands: &ClothIslands,
    now: Tick,
    commands: &mut Commands,
) {
    let is_awake = |entity| {
        let cloth = cloths.get(entity);
        cloth.is_ok_and(|cloth| !cloth.sleep_timer.state.is_ready_to_sleep())
    };
    let mut kept_awake = cloth_islands.with_any(is_awake);
    kept_awake.sort_unstable();
    let is_kept_awake = |cloth: &Entity| kept_awake.binary_search(cloth).is_ok();
    let mut unsettled = Vec::new();
    for cloth in cloths.iter() {
        let state = &cloth.sleep_timer.state;
        if state.is_ready_to_sleep()
            && !is_kept_awake(&cloth.label.entity)
            && cloth.bodies.is_empty()
            && state.must_settle(cloth.cloth, cloth.particles, cloth.constraints)
        {
            unsettled.push(cloth.label.entity);
        }
    }
    unsettled.sort_unstable();
    let others = cloth_islands.with_any(|cloth| unsettled.binary_search(&cloth).is_ok());
    unsettled.extend(others);
    unsettled.sort_unstable();
    for mut cloth in cloths {
        let sleep_timer = cloth.sleep_timer.bypass_change_detection();
        if !sleep_timer.state.is_ready_to_sleep() {
            continue;
        }
        if is_kept_awake(&cloth.label.entity) {
            if sleep_timer.state.is_settling() {
                sleep_timer.state.wake();
            }
        } else if unsettled.binary_search(&cloth.label.entity).is_ok() {
            sleep::settle(sleep_timer, now);
        } else {
            sleep::fall_asleep(&mut cloth.particles, sleep_timer, now);
            // A cloth at rest is valid, and no steps are counted while it sleeps.
            cloth.body.error_cooldown = 0;
            commands
                .entity(cloth.label.entity)
                .try_insert(ClothSleeping);
        }
    }
}
