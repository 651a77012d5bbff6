//! Decides how much work each cloth is worth in the coming step.

use super::draw::DrawBetweenSteps;
use crate::{
    cloth::ResetCloth,
    components::ClothBody,
    grab::ClothGrabs,
    lod::{ClothBudget, ClothCulled, ClothLod, ClothViewer, LodLevel, MOST_UPDATES},
    plugin::SubstepTime,
    proxy::ClothProxy,
    world_motion::Teleport,
};
use bevy::{
    camera::{Camera, primitives::Aabb, visibility::ViewVisibility},
    platform::time::Instant,
    prelude::*,
};

/// Fixed updates in which nobody saw a cloth before it is culled.
const UNSEEN: u32 = 15;

/// Steps that a cloth may take too long before it loses a level, and those that it takes less than
/// [`EASE`] of what it may before it gets one back.
const PATIENCE: [u32; 2] = [12, 120];

/// What cloths would take with another level is not known; below this share of the budget it is tried.
const EASE: f32 = 0.5;

/// How much of the measured time counts for the mean.
const NEW: f32 = 0.2;

/// In which steps a cloth moves, and with how much care.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// It is left out of the running step.
    pub(crate) waits: bool,
    /// Number of its level; 0 has all the detail.
    pub(crate) level: u32,
    by: Option<LodLevel>,
    /// How many substeps it takes; 0 as long as nobody has said so.
    count: u32,
    /// How many times as many as usual that is.
    factor: u32,
    /// Fixed updates since its last step, and those that the last step stood for.
    ticks: u32,
    covers: u32,
    unseen: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            waits: false,
            level: 0,
            by: None,
            count: 0,
            factor: 1,
            ticks: 0,
            covers: 1,
            unseen: 0,
        }
    }
}

impl Pace {
    fn every(&self) -> u32 {
        self.by.map_or(1, |by| by.every.clamp(1, MOST_UPDATES))
    }

    /// A fixed update. Cloths of one pace take turns, by a number of theirs.
    fn tick(&mut self, now: u32, turn: u32) {
        self.ticks += 1;
        let every = self.every();
        self.waits = !now.wrapping_add(turn).is_multiple_of(every);
        if !self.waits {
            self.covers = self.ticks.min(MOST_UPDATES);
            self.ticks = 0;
        }
    }

    /// Before a step in which cloths have so many substeps: takes as many, or as few as its level says, times
    /// what it needs for what it carries. Returns how many.
    pub(crate) fn plan(&mut self, substeps: u32, factor: u32) -> u32 {
        self.count = self.at_most(substeps) * factor;
        self.factor = factor;
        self.count
    }

    /// How many times as many substeps as usual it takes for what it carries.
    pub(crate) fn factor(&self) -> u32 {
        self.factor
    }

    /// What a step of its own would usually be.
    pub(crate) fn usual(&self, own: &SubstepTime) -> SubstepTime {
        if self.factor == 1 {
            return *own;
        }
        let count = (own.count / self.factor).max(1);
        SubstepTime {
            substep: own.step / count as f32,
            count,
            ..*own
        }
    }

    fn at_most(&self, substeps: u32) -> u32 {
        self.by
            .map_or(substeps, |by| substeps.min(by.substeps))
            .max(1)
    }

    /// Its own step, if this is the one of all cloths.
    pub(crate) fn step(&self, all: &SubstepTime) -> SubstepTime {
        let count = match self.count {
            0 => self.at_most(all.count),
            count => count.min(all.count),
        };
        if count == all.count && self.covers == 1 {
            return *all;
        }
        let step = all.step * self.covers as f32;
        SubstepTime {
            step,
            substep: step / count as f32,
            index: 0,
            count,
        }
    }

    /// Its own substep, if it has one in this one of all cloths.
    pub(crate) fn substep(&self, all: &SubstepTime) -> Option<SubstepTime> {
        let own = self.step(all);
        let number = |index: u32| index * own.count / all.count.max(1);
        let index = number(all.index);
        let new = all.index == 0 || number(all.index - 1) != index;
        new.then_some(SubstepTime { index, ..own })
    }

    /// Relaxation passes of a cloth that is to have so many.
    pub(crate) fn iterations(&self, wanted: u32) -> u32 {
        self.by
            .map_or(wanted, |by| wanted.min(by.iterations.max(1)))
    }

    /// Whether it may collide with itself and others.
    pub(crate) fn collides(&self) -> bool {
        self.by.is_none_or(|by| by.self_collision)
    }

    /// Fixed updates that its step stands for.
    pub(crate) fn covers(&self) -> u32 {
        self.covers
    }

    /// Where a picture lies between its last two steps, if it lies here between two of a cloth that takes
    /// all.
    pub(crate) fn between(&self, share: f32) -> f32 {
        let every = self.every();
        if every == 1 {
            return share;
        }
        ((self.ticks as f32 + share) / every as f32).min(1.0)
    }
}

/// Before a step: finds out how far all cloths are from those who look.
pub(crate) fn choose_detail(
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
    fixed: Res<DrawBetweenSteps>,
    mut now: Local<u32>,
    mut active: Local<bool>,
    mut sorted: Local<[Vec<LodLevel>; 2]>,
    mut shown: Local<Vec<Entity>>,
    mut commands: Commands,
) {
    let lost = budget.levels_lost;
    let idle = lod.is_idle() && lost == 0;
    if idle && !std::mem::take(&mut *active) {
        return;
    }
    *active = !idle;
    *now = now.wrapping_add(1);
    // Those that distances are compared with, and those that are applied.
    let [far_from, applied] = &mut *sorted;
    lod.sort(far_from);
    match far_from.is_empty() && lost > 0 {
        true => ClothLod::standard().sort(applied),
        false => applied.clone_from(far_from),
    }
    let cameras = cameras.iter().filter(|(camera, _)| camera.is_active);
    let mut eyes: Vec<Vec3> = viewers.iter().map(GlobalTransform::translation).collect();
    let is_seen_at_all = cameras.clone().next().is_some();
    if eyes.is_empty() {
        eyes.extend(cameras.map(|(_, at)| at.translation()));
    }
    // A coarse cloth is mostly hidden: it is seen by what follows it.
    shown.clear();
    if lod.cull_unseen {
        let seen = proxies.iter().filter(|(_, visible)| visible.get());
        shown.extend(seen.map(|(proxy, _)| proxy.cloth));
        shown.sort_unstable();
    }
    for (entity, mut body, grabs, transform, (bounds, visible, culled)) in &mut cloths {
        let body = body.bypass_change_detection();
        let pace = &mut body.pace;
        let distance = distance(&eyes, transform, bounds);
        let own = lod.passed(far_from, distance, pace.level);
        let (mut level, mut far) = (own + lost, lod.culls(distance, culled));
        pace.unseen = match visible {
            Some(visible)
                if lod.cull_unseen
                    && is_seen_at_all
                    && !visible.get()
                    && shown.binary_search(&entity).is_err() =>
            {
                pace.unseen.saturating_add(1)
            }
            _ => 0,
        };
        far |= pace.unseen >= UNSEEN;
        if !grabs.0.is_empty() {
            (level, far) = (0, false);
        }
        if far != culled {
            if far {
                commands.entity(entity).try_insert(ClothCulled);
            } else {
                commands.entity(entity).try_remove::<ClothCulled>();
                body.guide.seen.catches_up = true;
                if lod.on_return == Teleport::Reset {
                    commands.trigger(ResetCloth { entity });
                }
            }
        }
        pace.level = own;
        let last = (level as usize).min(applied.len()).checked_sub(1);
        pace.by = last.map(|last| applied[last]);
        // Outside of a fixed schedule frames are not drawn between steps.
        if let Some(by) = &mut pace.by
            && !fixed.0
        {
            by.every = 1;
        }
        pace.tick(*now, entity.index_u32());
    }
}

/// How far a cloth is from the nearest of those who look, m; 0 if nobody does.
fn distance(eyes: &[Vec3], transform: &GlobalTransform, bounds: Option<&Aabb>) -> f32 {
    let (centre, radius) = match bounds {
        Some(bounds) => {
            let scale = transform.scale().abs().max_element();
            let centre = transform.transform_point(bounds.center.into());
            (centre, bounds.half_extents.length() * scale)
        }
        None => (transform.translation(), 0.0),
    };
    let nearest = eyes.iter().map(|eye| eye.distance(centre));
    let nearest = nearest.fold(f32::INFINITY, f32::min);
    if nearest == f32::INFINITY {
        return 0.0;
    }
    (nearest - radius).max(0.0)
}

/// When the steps of a frame began, and what they take.
#[derive(Resource, Default)]
pub(crate) struct Effort {
    began: Option<Instant>,
    /// In this frame, ms.
    spent: f32,
    /// In the mean, ms a frame.
    mean: f32,
    /// Frames in a row that were too long, or short enough for more.
    row: [u32; 2],
}

/// A step begins.
pub(crate) fn begin_effort(mut effort: ResMut<Effort>) {
    effort.began = Some(Instant::now());
}

/// And ends.
pub(crate) fn end_effort(mut effort: ResMut<Effort>) {
    if let Some(began) = effort.began.take() {
        effort.spent += began.elapsed().as_secs_f32() * 1e3;
    }
}

/// After a frame: gives cloths less to do if they take too long, or more again.
pub(crate) fn keep_budget(
    mut effort: ResMut<Effort>,
    mut budget: ResMut<ClothBudget>,
    lod: Res<ClothLod>,
) {
    let spent = std::mem::take(&mut effort.spent);
    let limit = budget.milliseconds;
    if !(limit > 0.0 && limit < f32::INFINITY) {
        if budget.levels_lost != 0 {
            budget.levels_lost = 0;
        }
        return;
    }
    effort.mean += (spent - effort.mean) * NEW;
    let levels = match lod.levels.len() {
        0 => ClothLod::standard().levels.len(),
        some => some,
    };
    let (mean, lost) = (effort.mean, budget.levels_lost);
    let now = [mean > limit, mean < limit * EASE];
    for (row, now) in effort.row.iter_mut().zip(now) {
        *row = if now { *row + 1 } else { 0 };
    }
    if effort.row[0] >= PATIENCE[0] && (lost as usize) < levels {
        budget.levels_lost += 1;
        effort.row = [0; 2];
        warn!(
            "cloth takes {mean:.1} ms a frame, more than the {limit} ms of its budget: all cloths have the \
             detail of {} level(s) farther away now",
            budget.levels_lost
        );
    } else if effort.row[1] >= PATIENCE[1] && lost > 0 {
        budget.levels_lost -= 1;
        effort.row = [0; 2];
        info!(
            "cloth takes {mean:.1} ms a frame, less than the {limit} ms of its budget: it has {} level(s) \
             less than its distance says",
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
    fn fewer_substeps_are_longer_and_evenly_spread() {
        let mut pace = Pace::default();
        let own = |pace: &Pace| {
            (0..8)
                .filter_map(|k| pace.substep(&time(k)))
                .collect::<Vec<_>>()
        };
        assert_eq!(own(&pace), (0..8).map(time).collect::<Vec<_>>());
        for substeps in [1, 2, 3, 4, 5, 8, 20] {
            pace.by = Some(LodLevel {
                substeps,
                ..default()
            });
            let all = own(&pace);
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
    fn who_moves_in_every_third_update_makes_up_for_the_others() {
        let mut pace = Pace {
            by: Some(LodLevel {
                every: 3,
                ..default()
            }),
            ..default()
        };
        let mut passed = 0.0;
        let mut drawn = Vec::new();
        for now in 0..30 {
            pace.tick(now, 2);
            if !pace.waits {
                passed += pace.step(&time(0)).step;
            }
            drawn.push(pace.between(0.5));
        }
        // The last steps are still to come.
        assert!((passed - 29.0 / 60.0).abs() < 1e-5, "{passed}");
        assert_eq!(drawn[25..28], [0.5 / 3.0, 1.5 / 3.0, 2.5 / 3.0]);
    }
}
