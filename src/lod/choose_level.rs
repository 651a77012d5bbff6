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
    ecs::query::QueryData,
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

/// Components of a cloth that determine its level of detail.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct LodQuery {
    entity: Entity,
    rate: &'static mut UpdateRate,
    frame: &'static mut ReferenceFrame,
    grabs: &'static ClothGrabs,
    transform: &'static GlobalTransform,
    bounds: Option<&'static Aabb>,
    visible: Option<&'static ViewVisibility>,
    was_culled: Has<ClothCulled>,
}

/// State of the choice, kept from step to step.
#[derive(Default)]
pub(crate) struct LodChoice {
    now: u32,
    /// Whether any level was applied in the last step.
    active: bool,
    /// Levels for comparing distances.
    distance_levels: Vec<LodLevel>,
    /// Levels to apply.
    applied_levels: Vec<LodLevel>,
    /// Cloths with a visible proxy, sorted.
    shown_by_proxy: Vec<Entity>,
}

/// Before a step: chooses the level of detail of all cloths, and culls.
pub(crate) fn choose_level_of_detail(
    mut cloths: Query<LodQuery>,
    proxies: Query<(&ClothProxy, &ViewVisibility)>,
    viewers: Query<&GlobalTransform, With<ClothViewer>>,
    cameras: Query<(&Camera, &GlobalTransform)>,
    lod: Res<ClothLod>,
    budget: Res<ClothBudget>,
    schedule: Res<ClothStepSchedule>,
    mut colliders: ResMut<ActiveColliders>,
    mut choice: Local<LodChoice>,
    mut commands: Commands,
) {
    let lost = budget.levels_lost;
    colliders.keep_past_starts = lod.levels.iter().any(|level| level.every > 1) || lost > 0;
    let active = !lod.is_idle() || lost > 0;
    if !std::mem::replace(&mut choice.active, active) && !active {
        return;
    }
    choice.now = choice.now.wrapping_add(1);
    choice.sort_levels(&lod, lost);
    let viewer_positions = viewer_positions(&viewers, &cameras);
    // Without a camera nothing is visible.
    let culls_unseen = lod.cull_unseen && cameras.iter().any(|(camera, _)| camera.is_active);
    // A cloth with a proxy is mostly hidden: visible if its proxy is.
    choice.shown_by_proxy.clear();
    if culls_unseen {
        let visible = proxies.iter().filter(|(_, visible)| visible.get());
        let shown = visible.map(|(proxy, _)| proxy.cloth);
        choice.shown_by_proxy.extend(shown);
        choice.shown_by_proxy.sort_unstable();
    }
    for mut cloth in &mut cloths {
        let distance = distance(&viewer_positions, cloth.transform, cloth.bounds);
        let is_unseen = culls_unseen && choice.is_unseen(&cloth);
        let rate = cloth.rate.bypass_change_detection();
        rate.level = lod.levels_passed(&choice.distance_levels, distance, rate.level);
        rate.unseen_updates = match is_unseen {
            true => rate.unseen_updates.saturating_add(1),
            false => 0,
        };
        let is_grabbed = !cloth.grabs.0.is_empty();
        rate.level_settings = match is_grabbed {
            true => None,
            false => choice.settings(rate.level.saturating_add(lost), schedule.is_fixed()),
        };
        rate.advance(choice.now, cloth.entity.index_u32());
        let is_far = lod.culls(distance, cloth.was_culled);
        let cull = !is_grabbed && (is_far || rate.unseen_updates >= CULL_DELAY);
        cloth.set_culled(cull, lod.on_return, &mut commands);
    }
}

impl LodChoice {
    fn sort_levels(&mut self, lod: &ClothLod, lost: u32) {
        lod.sort(&mut self.distance_levels);
        match self.distance_levels.is_empty() && lost > 0 {
            true => ClothLod::standard().sort(&mut self.applied_levels),
            false => self.applied_levels.clone_from(&self.distance_levels),
        }
    }

    /// Returns whether neither a cloth nor a proxy of it is visible.
    fn is_unseen(&self, cloth: &LodQueryItem) -> bool {
        cloth.visible.is_some_and(|visible| !visible.get())
            && self.shown_by_proxy.binary_search(&cloth.entity).is_err()
    }

    /// Returns the settings of a level; `None` for full detail.
    fn settings(&self, level: u32, is_fixed: bool) -> Option<LodLevel> {
        let last = (level as usize)
            .min(self.applied_levels.len())
            .checked_sub(1)?;
        let settings = self.applied_levels[last];
        // Outside of a fixed schedule there is no interpolation between steps.
        let every = if is_fixed { settings.every } else { 1 };
        Some(LodLevel { every, ..settings })
    }
}

impl LodQueryItem<'_, '_> {
    /// Culls the cloth, or brings it back.
    fn set_culled(&mut self, cull: bool, on_return: Teleport, commands: &mut Commands) {
        let entity = self.entity;
        if cull && !self.was_culled {
            commands.entity(entity).try_insert(ClothCulled);
        } else if self.was_culled && !cull {
            commands.entity(entity).try_remove::<ClothCulled>();
            let frame = self.frame.bypass_change_detection();
            frame.history.catch_up_pending = true;
            if on_return == Teleport::Reset {
                commands.trigger(ResetCloth { entity });
            }
        }
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
    if budget.levels_lost as usize > levels {
        budget.levels_lost = levels as u32;
    }
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
