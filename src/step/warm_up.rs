//! Warm-up: takes steps of new cloths before they are rendered first.

use crate::solver::{SubstepPlan, SubstepTime, Workers};
use crate::{
    build::check_settings::check_cloth,
    cloth::{
        Cloth,
        body::ClothBody,
        schedule::MAX_STEP,
        settings::{ClothGravity, ClothSubsteps},
        transforms::Anchors,
        warm_up::ClothWarmUp,
    },
    collision::{collider::ClothCollider, layers::ClothLayers},
    label::EntityLabel,
    step::{
        finish::finish_one, prepare::AirParams, query::StepQuery, stages::SubstepInputs,
        substeps::run_cloth,
    },
    wind::settings::WindTime,
};
use bevy::{ecs::system::SystemParam, prelude::*};

/// Query filter: cloths built in this frame that have a warm-up.
type NeedsWarmUp = (With<ClothWarmUp>, Added<ClothBody>);

/// Run condition: there are cloths to warm up.
pub(crate) fn any_warm_up_pending(pending: Query<(), NeedsWarmUp>) -> bool {
    !pending.is_empty()
}

/// Surroundings of cloths during warm-up.
#[derive(SystemParam)]
pub(crate) struct WarmUpParams<'w, 's> {
    anchors: Anchors<'w, 's>,
    air: AirParams<'w>,
    gravity: Res<'w, ClothGravity>,
    wind_time: Res<'w, WindTime>,
    substeps: Res<'w, ClothSubsteps>,
    fixed: Option<Res<'w, Time<Fixed>>>,
    colliders: Query<'w, 's, (Entity, &'static ClothCollider, Option<&'static ClothLayers>)>,
    transforms: TransformHelper<'w, 's>,
}

pub(crate) fn warm_up(
    mut cloths: ParamSet<(
        Query<(EntityLabel, &ClothWarmUp, &mut Cloth), NeedsWarmUp>,
        Query<StepQuery>,
    )>,
    params: WarmUpParams,
) {
    let step = params
        .fixed
        .as_ref()
        .map_or(1.0 / 60.0, |fixed| fixed.timestep().as_secs_f32());
    let step = step.min(MAX_STEP);
    let time = SubstepTime::new(step, params.substeps.count(step));
    let step_inputs = params
        .air
        .prepare(&params.anchors, time, **params.wind_time);
    let stationary = params.air.stationary(&params.colliders, &params.transforms);
    let substep_inputs = SubstepInputs {
        transforms: &params.transforms,
        gravity: &params.gravity,
        colliders: &stationary,
        is_moved_externally: false,
    };
    let mut pending = Vec::new();
    for (label, steps, mut cloth) in &mut cloths.p0() {
        check_cloth(&label, cloth.bypass_change_detection());
        pending.push((label.entity, *steps));
    }
    let mut cloths = cloths.p1();
    for (entity, wanted) in pending {
        let mut steps = 0;
        if let Ok(mut cloth) = cloths.get_mut(entity) {
            cloth
                .rate
                .bypass_change_detection()
                .plan_substeps(&time, SubstepPlan::NONE);
            steps = wanted.steps(cloth.particles.len());
            if steps < wanted.0 {
                warn!(
                    "cloth {}: its ClothWarmUp takes {steps} steps instead of {}, so that the app does not stop for long; \
                     lower it",
                    cloth.label, wanted.0
                );
            }
        }
        for _ in 0..steps {
            if let Ok(cloth) = cloths.get_mut(entity) {
                step_inputs.run(&mut Workers::serial(), cloth);
            }
            if let Ok(mut cloth) = cloths.get_mut(entity) {
                run_cloth(&substep_inputs, &mut Workers::serial(), &mut cloth, &time);
            }
            if let Ok(cloth) = cloths.get_mut(entity) {
                finish_one(&mut Workers::serial(), cloth, &time);
            }
        }
        if let Ok(mut cloth) = cloths.get_mut(entity) {
            // The next frame renders the current positions, without interpolation.
            let particles = &mut cloth.particles.0;
            particles.previous.copy_from(&particles.position);
            cloth.sleep_timer.bypass_change_detection().state.wake();
        }
    }
}
