//! Takes the first steps of cloths that are to settle before they are seen.

use super::{
    check::check_cloth,
    finish::{Finished, finish_one},
    follow::Anchors,
    prepare::{LONGEST_STEP, Prepared, Weather, substep_time},
    substep::{Moved, Movers},
};
use crate::{
    cloth::Cloth,
    collider::ClothCollider,
    components::{ClothBody, Particles},
    layers::ClothLayers,
    settings::{ClothGravity, Substeps, WindTime},
    sleep::Rest,
    solver::Leader,
    warm_up::{MOST_STEPS, WarmUp},
};
use bevy::{ecs::system::SystemParam, prelude::*};

/// Those that were built in this frame.
type Fresh = (With<WarmUp>, Added<ClothBody>);

/// Whether anybody is to be warmed up.
pub(crate) fn anybody_is_cold(fresh: Query<(), Fresh>) -> bool {
    !fresh.is_empty()
}

/// What cloths that are warmed up meet.
#[derive(SystemParam)]
pub(crate) struct Around<'w, 's> {
    anchors: Anchors<'w, 's>,
    weather: Weather<'w>,
    gravity: Res<'w, ClothGravity>,
    wind_time: Res<'w, WindTime>,
    substeps: Res<'w, Substeps>,
    fixed: Option<Res<'w, Time<Fixed>>>,
    colliders: Query<'w, 's, (Entity, &'static ClothCollider, Option<&'static ClothLayers>)>,
    transforms: TransformHelper<'w, 's>,
}

pub(crate) fn warm_up(
    mut cloths: ParamSet<(
        Query<(Entity, &WarmUp, &mut Cloth), Fresh>,
        Query<Prepared>,
        Query<Moved>,
        Query<Finished>,
        Query<(&mut Particles, &mut Rest)>,
    )>,
    around: Around,
) {
    let step = around
        .fixed
        .as_ref()
        .map_or(1.0 / 60.0, |fixed| fixed.timestep().as_secs_f32());
    let time = substep_time(step.min(LONGEST_STEP), *around.substeps);
    let preparation = around
        .weather
        .prepare(&around.anchors, time, **around.wind_time);
    let still = around.weather.still(&around.colliders, &around.transforms);
    let movers = Movers::new(&around.transforms, &around.gravity, &still, time);
    let mut fresh = Vec::new();
    for (entity, steps, mut cloth) in &mut cloths.p0() {
        check_cloth(entity, cloth.bypass_change_detection());
        fresh.push((entity, *steps));
    }
    for (entity, steps) in fresh {
        for _ in 0..steps.0.min(MOST_STEPS) {
            if let Ok(cloth) = cloths.p1().get_mut(entity) {
                preparation.run(&mut Leader::alone(), cloth);
            }
            if let Ok(cloth) = cloths.p2().get_mut(entity) {
                movers.move_alone(cloth);
            }
            if let Ok(cloth) = cloths.p3().get_mut(entity) {
                finish_one(&mut Leader::alone(), cloth, &time);
            }
        }
        if let Ok((mut particles, mut rest)) = cloths.p4().get_mut(entity) {
            // What is drawn next is where it is now.
            let particles = &mut particles.0;
            particles.previous.copy_from(&particles.position);
            rest.bypass_change_detection().state.wake();
        }
    }
}
