//! Ends a step: pins are exact, nothing non-finite gets out, and what has come to rest falls asleep.

use super::{parallel::ClothCrew, prepare::go_back, sleep, touching::ClothsTouching};
use crate::{
    cloth::Cloth,
    components::{ClothBody, Constraints, Particles},
    grab::ClothGrabs,
    planar::PlanarCloth,
    plugin::SubstepTime,
    settings::ClothThreads,
    sleep::{ClothSleeping, Rest},
};
use bevy::{
    ecs::system::{NonSendMarker, SystemChangeTick},
    prelude::*,
};

pub(crate) fn finish(
    mut cloths: Query<
        (
            Entity,
            &Cloth,
            &mut Particles,
            &mut Constraints,
            &mut ClothBody,
            &ClothGrabs,
            Has<PlanarCloth>,
            &mut Rest,
        ),
        Without<ClothSleeping>,
    >,
    time: Res<SubstepTime>,
    mut crew: ResMut<ClothCrew>,
    threads: Res<ClothThreads>,
    touching: Res<ClothsTouching>,
    ticks: SystemChangeTick,
    mut commands: Commands,
    _on_the_main_thread: NonSendMarker,
) {
    let (step, now) = (time.step, ticks.this_run());
    let size = |cloth: &(_, _, Mut<Particles>, _, _, _, _, _)| cloth.2.len();
    crew.for_all(
        *threads,
        cloths.iter_mut(),
        size,
        |leader, (entity, cloth, mut particles, mut constraints, mut body, grabs, planar, mut rest)| {
            let touched = std::mem::take(&mut body.touched) || planar || !grabs.0.is_empty();
            (constraints.bypass_change_detection()).finish(&mut particles, touched);
            particles.end_step(&body.targets);
            // They are relative to the origin of this step, which may move below.
            body.targets.clear();
            if particles.is_finite_shared(leader) {
                body.silent_steps = body.silent_steps.saturating_sub(1);
            } else {
                go_back(entity, &mut particles, &mut body);
            }
            particles.rebase();
            let rest = rest.bypass_change_detection();
            sleep::note(cloth, &particles, rest, step);
        },
    );
    if !cloths.iter().any(|(.., rest)| rest.state.is_tired()) {
        return;
    }
    // Those that may touch each other fall asleep together.
    let groups = touching.groups();
    let is_restless = |entity| {
        cloths
            .get(entity)
            .is_ok_and(|(.., rest)| !rest.state.is_tired())
    };
    let kept_awake = groups.any(is_restless);
    for (entity, _, mut particles, _, mut body, .., mut rest) in &mut cloths {
        let place = groups.entities.binary_search(&entity);
        if rest.state.is_tired() && !place.is_ok_and(|place| kept_awake[place]) {
            sleep::fall_asleep(&mut particles, rest.bypass_change_detection(), now);
            // Whoever came to rest is well again; in its sleep no steps are counted.
            body.silent_steps = 0;
            commands.entity(entity).try_insert(ClothSleeping);
        }
    }
}
