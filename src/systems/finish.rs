//! Ends a step: pins are exact, nothing non-finite gets out, and what has come to rest falls asleep.

use super::{guide, parallel::ClothCrew, prepare::go_back, sleep, touching::ClothsTouching};
use crate::{
    cloth::Cloth,
    components::{ClothBody, Constraints, Particles},
    grab::ClothGrabs,
    lod::InMotion,
    planar::PlanarCloth,
    plugin::SubstepTime,
    settings::ClothThreads,
    sleep::{ClothSleeping, Rest},
    solver::Leader,
};
use bevy::{
    ecs::{
        query::QueryData,
        system::{NonSendMarker, SystemChangeTick},
    },
    prelude::*,
};

/// A cloth, with all that a step ends with.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Finished {
    entity: Entity,
    cloth: &'static Cloth,
    particles: &'static mut Particles,
    constraints: &'static mut Constraints,
    body: &'static mut ClothBody,
    grabs: &'static ClothGrabs,
    planar: Has<PlanarCloth>,
    rest: &'static mut Rest,
}

/// Ends a step for a cloth.
pub(super) fn finish_one(leader: &mut Leader, finished: FinishedItem, all: &SubstepTime) {
    let FinishedItem {
        entity,
        cloth,
        mut particles,
        mut constraints,
        mut body,
        grabs,
        planar,
        mut rest,
    } = finished;
    let step = body.pace.step(all).step;
    let held = planar || !grabs.0.is_empty() || !body.guide.limits.is_empty();
    let touched = std::mem::take(&mut body.touched) || held;
    (constraints.bypass_change_detection()).finish(&mut particles, touched);
    particles.end_step(&body.targets);
    // They are relative to the origin of this step, which may move below.
    body.targets.clear();
    guide::remember_places(&mut body);
    if particles.is_finite_shared(leader) {
        body.silent_steps = body.silent_steps.saturating_sub(1);
    } else {
        go_back(entity, &mut particles, &mut body);
    }
    particles.rebase();
    let rest = rest.bypass_change_detection();
    sleep::note(cloth, &particles, rest, step);
}

pub(crate) fn finish(
    mut cloths: Query<Finished, InMotion>,
    time: Res<SubstepTime>,
    mut crew: ResMut<ClothCrew>,
    threads: Res<ClothThreads>,
    touching: Res<ClothsTouching>,
    ticks: SystemChangeTick,
    mut commands: Commands,
    _on_the_main_thread: NonSendMarker,
) {
    let now = ticks.this_run();
    let size = |cloth: &FinishedItem| cloth.particles.len();
    let due = cloths.iter_mut().filter(|cloth| !cloth.body.pace.waits);
    crew.for_all(*threads, due, size, |leader, cloth| {
        finish_one(leader, cloth, &time);
    });
    if !cloths.iter().any(|cloth| cloth.rest.state.is_tired()) {
        return;
    }
    // Those that may touch each other fall asleep together.
    let groups = touching.groups();
    let is_restless = |entity| {
        cloths
            .get(entity)
            .is_ok_and(|cloth| !cloth.rest.state.is_tired())
    };
    let kept_awake = groups.any(is_restless);
    for mut cloth in &mut cloths {
        let entity = cloth.entity;
        let place = groups.entities.binary_search(&entity);
        if cloth.rest.state.is_tired() && !place.is_ok_and(|place| kept_awake[place]) {
            let rest = cloth.rest.bypass_change_detection();
            sleep::fall_asleep(&mut cloth.particles, rest, now);
            // Whoever came to rest is well again; in its sleep no steps are counted.
            cloth.body.silent_steps = 0;
            commands.entity(entity).try_insert(ClothSleeping);
        }
    }
}
