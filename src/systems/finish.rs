//! Ends a step: pins are exact, and nothing non-finite gets out.

use super::{parallel::ClothCrew, prepare::go_back};
use crate::{
    components::{ClothBody, Particles},
    settings::ClothThreads,
};
use bevy::{ecs::system::NonSendMarker, prelude::*};

pub(crate) fn finish(
    mut cloths: Query<(Entity, &mut Particles, &mut ClothBody)>,
    mut crew: ResMut<ClothCrew>,
    threads: Res<ClothThreads>,
    _on_the_main_thread: NonSendMarker,
) {
    let size = |(_, particles, _): &(_, Mut<Particles>, _)| particles.len();
    crew.for_all(
        *threads,
        cloths.iter_mut(),
        size,
        |leader, (entity, mut particles, mut body)| {
            particles.end_step(&body.targets);
            // They are relative to the origin of this step, which may move below.
            body.targets.clear();
            if particles.is_finite_shared(leader) {
                body.silent_steps = body.silent_steps.saturating_sub(1);
            } else {
                go_back(entity, &mut particles, &mut body);
            }
            particles.rebase();
        },
    );
}
