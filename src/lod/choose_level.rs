//! Level of detail: decides which steps, substeps and iterations each cloth gets, from distances, visibility and
//! the time budget.

use crate::{
    character::{frame_history::ReferenceFrame, inertia::Teleport},
    cloth::{
        ResetCloth,
        activity::ClothCulled,
        schedule::ClothStepSchedule,
        update_rate::{LodLevel, UpdateRate},
    },
    collision::active_colliders::ActiveColliders,
    grab::ClothGrabs,
    lod::{ClothBudget, ClothLod, ClothViewer},
    proxy::ClothProxy,
};
use bevy::{
    camera::{Camera, primitives::Aabb, visibility::ViewVisibility},
    platform::time::Instant,
    prelude::*,
};

/// Number of fixed updates for which a cloth must be invisible before it is culled.
const CULL_DELAY: u32 = 15;

/// Number of frames over budget before all cloths lose a level, and of frames below [`RESTORE_BELOW`] of the
/// budget before they get one back.
const BUDGET_DELAY: [u32; 2] = [12, 120];

/// Fraction of the budget below which a level is restored; its cost is not known before.
const RESTORE_BELOW: f32 = 0.5;

/// Weight of a new measurement in the running mean of the cost.
const COST_SMOOTHING: f32 = 0.2;

/// Before a step: chooses the level of detail of all cloths, and culls.
pub(crate) fn choose_level_of_detail(
    mut cloths: Query<(
        Entity,
        &mut UpdateRate,
        &mut ReferenceFrame,
        &ClothGrabs,
        &GlobalTransform,
        (Option<&Aabb>, Option<&ViewVisibility>, Has<ClothCulled>),
    )>,
    proxies: Query<(&ClothProxy, &ViewVisibility)>,
    viewers: Query<&GlobalTransform, With<ClothViewer>>,
    cameras: Query<(&Camera, &GlobalTransform)>,
    lod: Res<ClothLod>,
    budget: Res<ClothBudget>,
    schedule: Res<ClothStepSchedule>,
    mut colliders: ResMut<ActiveColliders>,
    mut now: Local<u32>,
    mut active: Local<bool>,
    mut sorted: Local<[Vec<LodLevel>; 2]>,
    mut shown_by_proxy: Local<Vec<Entity>>,
    mut commands: Commands,
) {
    let lost = budget.levels_lost;
    colliders.keep_past_starts = lod.levels.iter().any(|level| level.every > 1) || lost > 0;
    let idle = lod.is_idle() && lost == 0;
    if idle && !std::mem::take(&mut *active) {
        return;
    }
    *active = !idle;
    *now = now.wrapping_add(1);
    // Levels for comparing distances, and levels to apply.
    let [distance_levels, applied_levels] = &mut *sorted;
    lod.sort(distance_levels);
    match distance_levels.is_empty() && lost > 0 {
        true => ClothLod::standard().sort(applied_levels),
        false => applied_levels.clone_from(distance_levels),
    }
    let viewer_positions = viewer_positions(&viewers, &cameras);
    // Without a camera nothing is visible.
    let culls_unseen = lod.cull_unseen && cameras.iter().any(|(camera, _)| camera.is_active);
    // A cloth with a proxy is mostly hidden: visible if its proxy is.
    shown_by_proxy.clear();
    if culls_unseen {
        let visible = proxies.iter().filter(|(_, visible)| visible.get());
        shown_by_proxy.extend(visible.map(|(proxy, _)| proxy.cloth));
        shown_by_proxy.sort_unstable();
    }
    for (entity, mut rate, mut frame, grabs, transform, (bounds, visible, was_culled)) in
        &mut cloths
    {
        let rate = rate.bypass_change_detection();
        let distance = distance(&viewer_positions, transform, bounds);
        let own = lod.levels_passed(distance_levels, distance, rate.level);
        let (mut level, mut cull) = (own + lost, lod.culls(distance, was_culled));
        rate.unseen_updates = match visible {
            Some(visible)
                if culls_unseen
                    && !visible.get()
                    && shown_by_proxy.binary_search(&entity).is_err() =>
            {
                rate.unseen_updates.saturating_add(1)
            }
            _ => 0,
        };
        cull |= rate.unseen_updates >= CULL_DELAY;
        if !grabs.0.is_empty() {
            (level, cull) = (0, false);
        }
        if cull != was_culled {
            if cull {
                commands.entity(entity).try_insert(ClothCulled);
            } else {
                commands.entity(entity).try_remove::<ClothCulled>();
                frame.bypass_change_detection().history.catch_up_pending = true;
                if lod.on_return == Teleport::Reset {
                    commands.trigger(ResetCloth { entity });
                }
            }
        }
        rate.level = own;
        let last = (level as usize).min(applied_levels.len()).checked_sub(1);
        rate.level_settings = last.map(|last| applied_levels[last]);
        // Outside of a fixed schedule there is no interpolation between steps.
        if let Some(settings) = &mut rate.level_settings
            && !schedule.is_fixed()
        {
            settings.every = 1;
        }
        rate.advance(*now, entity.index_u32());
    }
}

/// Returns the positions of all viewers, else of the active cameras.
fn viewer_positions(
    viewers: &Query<&GlobalTransform, With<ClothViewer>>,
    cameras: &Query<(&Camera, &GlobalTransform)>,
) -> Vec<Vec3> {
    if !viewers.is_empty() {
        return viewers.iter().map(GlobalTransform::translation).collect();
    }
    let active = cameras.iter().filter(|(camera, _)| camera.is_active);
    active.map(|(_, at)| at.translation()).collect()
}

/// Returns the distance of a cloth from the nearest viewer, m; 0 without viewers.
fn distance(viewer_positions: &[Vec3], transform: &GlobalTransform, bounds: Option<&Aabb>) -> f32 {
    let (centre, radius) = match bounds {
        Some(bounds) => {
            let scale = transform.scale().abs().max_element();
            let centre = transform.transform_point(bounds.center.into());
            (centre, bounds.half_extents.length() * scale)
        }
        None => (transform.translation(), 0.0),
    };
    let nearest = viewer_positions
        .iter()
        .map(|viewer| viewer.distance(centre));
    let nearest = nearest.fold(f32::INFINITY, f32::min);
    if nearest == f32::INFINITY {
        return 0.0;
    }
    (nearest - radius).max(0.0)
}

/// Measured cost of the steps of a frame.
#[derive(Resource, Default)]
pub(crate) struct StepCost {
    start: Option<Instant>,
    /// Time spent in this frame, ms.
    spent: f32,
    /// Running mean, ms per frame.
    mean: f32,
    /// Number of consecutive frames over budget, and below [`RESTORE_BELOW`] of it.
    counters: [u32; 2],
}

/// Run condition: the time of steps is limited, or was until now.
pub(crate) fn has_budget(budget: Res<ClothBudget>) -> bool {
    budget.milliseconds < f32::INFINITY || budget.levels_lost != 0
}

/// Starts measuring a step.
pub(crate) fn begin_step_cost(mut step_cost: ResMut<StepCost>) {
    step_cost.start = Some(Instant::now());
}

/// Ends measuring a step.
pub(crate) fn end_step_cost(mut step_cost: ResMut<StepCost>) {
    if let Some(start) = step_cost.start.take() {
        step_cost.spent += start.elapsed().as_secs_f32() * 1e3;
    }
}

/// After a frame: reduces the level of detail if the steps take too long, or restores it.
pub(crate) fn enforce_budget(
    mut step_cost: ResMut<StepCost>,
    mut budget: ResMut<ClothBudget>,
    lod: Res<ClothLod>,
) {
    let spent = std::mem::take(&mut step_cost.spent);
    let limit = budget.milliseconds;
    if !(limit > 0.0 && limit < f32::INFINITY) {
        if budget.levels_lost != 0 {
            budget.levels_lost = 0;
        }
        return;
    }
    step_cost.mean += (spent - step_cost.mean) * COST_SMOOTHING;
    let levels = match lod.levels.len() {
        0 => ClothLod::standard().levels.len(),
        some => some,
    };
    let (mean, lost) = (step_cost.mean, budget.levels_lost);
    let now = [mean > limit, mean < limit * RESTORE_BELOW];
    for (counters, now) in step_cost.counters.iter_mut().zip(now) {
        *counters = if now { *counters + 1 } else { 0 };
    }
    if step_cost.counters[0] >= BUDGET_DELAY[0] && (lost as usize) < levels {
        budget.levels_lost += 1;
        step_cost.counters = [0; 2];
        warn!(
            "cloth takes {mean:.1} ms per frame, more than its budget of {limit} ms: all cloths are now \
             {} level(s) of detail lower than for their distance",
            budget.levels_lost
        );
    } else if step_cost.counters[1] >= BUDGET_DELAY[1] && lost > 0 {
        budget.levels_lost -= 1;
        step_cost.counters = [0; 2];
        info!(
            "cloth takes {mean:.1} ms per frame, less than its budget of {limit} ms: all cloths are now \
             {} level(s) of detail lower than for their distance",
            budget.levels_lost
        );
    }
}
