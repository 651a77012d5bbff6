//! Level of detail: decides which steps, substeps and iterations each cloth gets, from distances, visibility and
//! the time budget.

use crate::render::interpolation::InterpolateRendering;
use crate::{
    character::inertia::Teleport,
    cloth::{ResetCloth, components::ClothBody},
    grab::ClothGrabs,
    lod::{ClothBudget, ClothCulled, ClothLod, ClothViewer, LodLevel, MAX_STEP_INTERVAL},
    proxy::ClothProxy,
    solver::SubstepTime,
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

/// Update rate of a cloth: its steps, substeps and iterations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UpdateRate {
    /// Whether the cloth is left out of the current step.
    pub(crate) is_skipped: bool,
    /// Number of levels whose distance is exceeded; 0 is full detail.
    pub(crate) level: u32,
    level_settings: Option<LodLevel>,
    /// Planned number of substeps; 0 before the first plan.
    substeps: u32,
    /// Factor by which that exceeds the number without heavy bodies.
    substep_factor: u32,
    /// Number of fixed updates since its last step.
    updates_since_step: u32,
    /// Number of fixed updates that its last step covers.
    steps_covered: u32,
    /// Number of consecutive fixed updates in which it was not visible.
    unseen_updates: u32,
}

impl Default for UpdateRate {
    fn default() -> Self {
        Self {
            is_skipped: false,
            level: 0,
            level_settings: None,
            substeps: 0,
            substep_factor: 1,
            updates_since_step: 0,
            steps_covered: 1,
            unseen_updates: 0,
        }
    }
}

impl UpdateRate {
    fn interval(&self) -> u32 {
        self.level_settings
            .map_or(1, |level| level.every.clamp(1, MAX_STEP_INTERVAL))
    }

    /// Advances by a fixed update. Cloths with the same interval are staggered by their `offset`.
    fn advance(&mut self, now: u32, offset: u32) {
        self.updates_since_step += 1;
        let every = self.interval();
        self.is_skipped = !now.wrapping_add(offset).is_multiple_of(every);
        if !self.is_skipped {
            self.steps_covered = self.updates_since_step.min(MAX_STEP_INTERVAL);
            self.updates_since_step = 0;
        }
    }

    /// Plans the substeps of a step: `substeps`, limited by the level of detail, times the factor required by
    /// heavy bodies. Returns their number.
    pub(crate) fn plan_substeps(&mut self, substeps: u32, factor: u32) -> u32 {
        self.substeps = self.limit_substeps(substeps) * factor;
        self.substep_factor = factor;
        self.substeps
    }

    /// Returns the factor on the number of substeps required by heavy bodies.
    pub(crate) fn substep_factor(&self) -> u32 {
        self.substep_factor
    }

    /// Returns its own step as it is without the factor for heavy bodies.
    pub(crate) fn without_extra_substeps(&self, own: &SubstepTime) -> SubstepTime {
        if self.substep_factor == 1 {
            return *own;
        }
        let count = (own.count / self.substep_factor).max(1);
        SubstepTime {
            substep: own.step / count as f32,
            count,
            ..*own
        }
    }

    fn limit_substeps(&self, substeps: u32) -> u32 {
        self.level_settings
            .map_or(substeps, |level| substeps.min(level.substeps))
            .max(1)
    }

    /// Returns the step of this cloth, given the one of all cloths.
    pub(crate) fn step(&self, all: &SubstepTime) -> SubstepTime {
        let count = match self.substeps {
            0 => self.limit_substeps(all.count),
            count => count.min(all.count),
        };
        if count == all.count && self.steps_covered == 1 {
            return *all;
        }
        let step = all.step * self.steps_covered as f32;
        SubstepTime {
            step,
            substep: step / count as f32,
            index: 0,
            count,
        }
    }

    /// Returns the substep of this cloth that falls into this one of all cloths, if any.
    pub(crate) fn substep(&self, all: &SubstepTime) -> Option<SubstepTime> {
        let own = self.step(all);
        let number = |index: u32| index * own.count / all.count.max(1);
        let index = number(all.index);
        let new = all.index == 0 || number(all.index - 1) != index;
        new.then_some(SubstepTime { index, ..own })
    }

    /// Returns the number of relaxation iterations, given that of the settings.
    pub(crate) fn iterations(&self, wanted: u32) -> u32 {
        self.level_settings
            .map_or(wanted, |level| wanted.min(level.iterations.max(1)))
    }

    /// Returns whether self-collision and cloth–cloth collision are allowed.
    pub(crate) fn collides(&self) -> bool {
        self.level_settings.is_none_or(|level| level.self_collision)
    }

    /// Returns the number of fixed updates that its step covers.
    pub(crate) fn steps_covered(&self) -> u32 {
        self.steps_covered
    }

    /// Returns the interpolation factor between its last two steps, given that of a cloth that takes every step.
    pub(crate) fn render_alpha(&self, alpha: f32) -> f32 {
        let every = self.interval();
        if every == 1 {
            return alpha;
        }
        ((self.updates_since_step as f32 + alpha) / every as f32).min(1.0)
    }
}

/// Before a step: chooses the level of detail of all cloths, and culls.
pub(crate) fn choose_level_of_detail(
    mut cloths: Query<(
        Entity,
        &mut ClothBody,
        &ClothGrabs,
        &GlobalTransform,
        (Option<&Aabb>, Option<&ViewVisibility>, Has<ClothCulled>),
    )>,
    proxies: Query<(&ClothProxy, &ViewVisibility)>,
    viewers: Query<&GlobalTransform, With<ClothViewer>>,
    cameras: Query<(&Camera, &GlobalTransform)>,
    lod: Res<ClothLod>,
    budget: Res<ClothBudget>,
    fixed: Res<InterpolateRendering>,
    mut now: Local<u32>,
    mut active: Local<bool>,
    mut sorted: Local<[Vec<LodLevel>; 2]>,
    mut shown_by_proxy: Local<Vec<Entity>>,
    mut commands: Commands,
) {
    let lost = budget.levels_lost;
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
    let cameras = cameras.iter().filter(|(camera, _)| camera.is_active);
    let mut viewer_positions: Vec<Vec3> =
        viewers.iter().map(GlobalTransform::translation).collect();
    let has_camera = cameras.clone().next().is_some();
    if viewer_positions.is_empty() {
        viewer_positions.extend(cameras.map(|(_, at)| at.translation()));
    }
    // A cloth with a proxy is mostly hidden: visible if its proxy is.
    shown_by_proxy.clear();
    if lod.cull_unseen {
        let visible = proxies.iter().filter(|(_, visible)| visible.get());
        shown_by_proxy.extend(visible.map(|(proxy, _)| proxy.cloth));
        shown_by_proxy.sort_unstable();
    }
    for (entity, mut body, grabs, transform, (bounds, visible, was_culled)) in &mut cloths {
        let body = body.bypass_change_detection();
        let rate = &mut body.update_rate;
        let distance = distance(&viewer_positions, transform, bounds);
        let own = lod.levels_passed(distance_levels, distance, rate.level);
        let (mut level, mut cull) = (own + lost, lod.culls(distance, was_culled));
        rate.unseen_updates = match visible {
            Some(visible)
                if lod.cull_unseen
                    && has_camera
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
                body.reference_frame.history.catch_up_pending = true;
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
            && !fixed.0
        {
            settings.every = 1;
        }
        rate.advance(*now, entity.index_u32());
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn time(index: u32) -> SubstepTime {
        SubstepTime {
            index,
            ..SubstepTime::default()
        }
    }

    #[test]
    fn fewer_substeps_are_longer_and_evenly_spaced() {
        let mut rate = UpdateRate::default();
        let own = |rate: &UpdateRate| {
            (0..8)
                .filter_map(|k| rate.substep(&time(k)))
                .collect::<Vec<_>>()
        };
        assert_eq!(own(&rate), (0..8).map(time).collect::<Vec<_>>());
        for substeps in [1, 2, 3, 4, 5, 8, 20] {
            rate.level_settings = Some(LodLevel {
                substeps,
                ..default()
            });
            let all = own(&rate);
            let count = substeps.min(8);
            assert_eq!(all.len() as u32, count);
            assert!(
                (0..)
                    .zip(&all)
                    .all(|(k, own)| own.index == k && own.count == count)
            );
            let sum: f32 = all.iter().map(|own| own.substep).sum();
            assert!((sum - 1.0 / 60.0).abs() < 1e-7);
        }
    }

    #[test]
    fn a_step_every_third_update_covers_the_others() {
        let mut rate = UpdateRate {
            level_settings: Some(LodLevel {
                every: 3,
                ..default()
            }),
            ..default()
        };
        let mut elapsed = 0.0;
        let mut alphas = Vec::new();
        for now in 0..30 {
            rate.advance(now, 2);
            if !rate.is_skipped {
                elapsed += rate.step(&time(0)).step;
            }
            alphas.push(rate.render_alpha(0.5));
        }
        // The last updates are not covered by a step yet.
        assert!((elapsed - 29.0 / 60.0).abs() < 1e-5, "{elapsed}");
        assert_eq!(alphas[25..28], [0.5 / 3.0, 1.5 / 3.0, 2.5 / 3.0]);
    }
}
