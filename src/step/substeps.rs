//! Runs the substeps.
//!
//! As long as [`ClothSubstep`] contains only the systems of the plugin, the state between two phases is not
//! observable. Then the schedule is not run: each cloth takes all its substeps in one go, while it is in the
//! cache, and the cloths of an island take them together. Otherwise the schedule runs, one phase for all cloths
//! after the other. Both ways give each cloth the same bits.

use crate::{
    cloth::{
        activity::InMotion,
        schedule::{ClothSubstep, ClothSubstepTime},
        settings::{ClothGravity, ClothMaxThreads},
        workers::ClothWorkers,
    },
    collision::{
        active_colliders::ActiveColliders,
        broad_phase::{ClothIslands, Island},
    },
    solver::{SubstepTime, Workers},
    step::{
        query::{StepQuery, StepQueryItem},
        stages::SubstepInputs,
    },
};
use bevy::{
    ecs::{
        schedule::{Schedule, SystemKey},
        system::SystemState,
    },
    prelude::*,
};

/// Systems of the plugin in [`ClothSubstep`].
#[derive(Resource, Default)]
pub(crate) struct PluginSystems {
    keys: Vec<SystemKey>,
    /// Whether a run condition was ever added. Conditions cannot be removed.
    conditional: bool,
}

impl PluginSystems {
    /// Returns the systems in a schedule.
    pub(crate) fn all(schedule: &Schedule) -> Self {
        let systems = schedule.graph().systems.iter();
        Self {
            keys: systems.map(|(key, ..)| key).collect(),
            conditional: false,
        }
    }

    /// Returns these systems except `others`.
    pub(crate) fn without(mut self, others: &Self) -> Self {
        self.keys.retain(|key| !others.keys.contains(key));
        self
    }

    /// Returns whether a schedule contains exactly these systems, without run conditions.
    fn is_exactly(&mut self, schedule: &Schedule) -> bool {
        let graph = schedule.graph();
        let conditional = graph.systems.iter().any(|(.., c)| !c.is_empty())
            || graph.system_sets.iter().any(|(.., c)| !c.is_empty());
        self.conditional |= conditional;
        !self.conditional
            && graph.systems.len() == self.keys.len()
            && self
                .keys
                .iter()
                .all(|&key| graph.systems.get(key).is_some())
    }
}

/// System parameters for substeps without the schedule.
type SubstepState = SystemState<(
    Query<'static, 'static, StepQuery, InMotion>,
    TransformHelper<'static, 'static>,
    Res<'static, ClothGravity>,
    Res<'static, ActiveColliders>,
    Res<'static, ClothMaxThreads>,
    ResMut<'static, ClothWorkers>,
    ResMut<'static, ClothIslands>,
    ResMut<'static, ClothSubstepTime>,
)>;

pub(crate) fn run_substeps(world: &mut World, state: &mut SubstepState) {
    let time = *world.resource::<ClothSubstepTime>();
    if time.substep <= 0.0 {
        return;
    }
    if has_only_plugin_systems(world) {
        run_fused(world, state);
        return;
    }
    world.schedule_scope(ClothSubstep, |world, schedule| {
        for index in 0..time.count {
            world.insert_resource(ClothSubstepTime(SubstepTime { index, ..*time }));
            schedule.run(world);
        }
    });
}

fn has_only_plugin_systems(world: &mut World) -> bool {
    world.resource_scope(|world, mut plugin_systems: Mut<PluginSystems>| {
        let schedules = world.resource::<Schedules>();
        let schedule = schedules.get(ClothSubstep);
        schedule.is_some_and(|schedule| plugin_systems.is_exactly(schedule))
    })
}

/// Takes all substeps of each cloth in one go, together with the other cloths of its island.
fn run_fused(world: &mut World, state: &mut SubstepState) {
    let Ok((
        mut cloths,
        transforms,
        gravity,
        colliders,
        threads,
        mut workers,
        mut cloth_islands,
        mut time,
    )) = state.get_mut(world)
    else {
        return;
    };
    let inputs = SubstepInputs {
        transforms: &transforms,
        gravity: &gravity,
        colliders: &colliders,
        is_moved_externally: false,
    };
    if cloth_islands.islands.is_empty() {
        let due = cloths.iter_mut().filter(|cloth| !cloth.rate.is_skipped);
        let size = |cloth: &StepQueryItem| cloth.particles.len();
        workers.for_each_cloth(*threads, due, size, |workers, mut cloth| {
            run_cloth(&inputs, workers, &mut cloth, &time);
        });
    } else {
        let islands = group_by_island(cloths.iter_mut(), &mut cloth_islands.islands);
        workers.for_each_cloth(
            *threads,
            islands.into_iter(),
            IslandItem::size,
            |workers, mut item| run_item(&inputs, workers, &mut item, &time),
        );
    }
    time.index = time.count.saturating_sub(1);
}

/// Cloths of an island, sorted by entity, or a single cloth.
pub(crate) struct IslandItem<'a, 'w, 's> {
    pub(crate) cloths: Vec<StepQueryItem<'w, 's>>,
    /// Island of the cloths; `None` for a single cloth.
    pub(crate) island: Option<&'a mut Island>,
}

impl IslandItem<'_, '_, '_> {
    /// Returns the number of particles.
    pub(crate) fn size(&self) -> usize {
        self.cloths.iter().map(|cloth| cloth.particles.len()).sum()
    }
}

/// Groups cloths by island.
pub(crate) fn group_by_island<'a, 'w, 's>(
    cloths: impl Iterator<Item = StepQueryItem<'w, 's>>,
    islands: &'a mut [Island],
) -> Vec<IslandItem<'a, 'w, 's>> {
    let mut cloths: Vec<_> = cloths
        .map(|cloth| (cloth.label.entity, Some(cloth)))
        .collect();
    cloths.sort_unstable_by_key(|(entity, _)| *entity);
    let mut groups = Vec::with_capacity(cloths.len());
    for island in islands {
        let take = |entity: &Entity| {
            let k = cloths.binary_search_by_key(entity, |(entity, _)| *entity);
            cloths[k.ok()?].1.take()
        };
        groups.push(IslandItem {
            cloths: island.cloths.iter().filter_map(take).collect(),
            island: Some(island),
        });
    }
    let others = cloths.into_iter().filter_map(|(_, cloth)| cloth);
    let due = others.filter(|cloth| !cloth.rate.is_skipped);
    groups.extend(due.map(|cloth| IslandItem {
        cloths: vec![cloth],
        island: None,
    }));
    groups
}

/// Takes all substeps of a cloth that touches no other.
pub(crate) fn run_cloth(
    inputs: &SubstepInputs,
    workers: &mut Workers,
    cloth: &mut StepQueryItem,
    time: &SubstepTime,
) {
    for time in time.substeps() {
        if let Some(time) = cloth.substep(&time) {
            let settings = inputs.settings(cloth, &time);
            inputs.begin_substep(workers, cloth, &settings, &time);
            cloth.lend().state.collide_self(&settings, &time);
            inputs.collide(workers, cloth, &settings, &time);
        }
    }
}

/// Takes all substeps of the cloths of an item.
fn run_item(
    inputs: &SubstepInputs,
    workers: &mut Workers,
    item: &mut IslandItem,
    time: &SubstepTime,
) {
    if item.island.is_none() {
        for cloth in &mut item.cloths {
            run_cloth(inputs, workers, cloth, time);
        }
        return;
    }
    for time in time.substeps() {
        item.limit_crossings_if_due();
        for cloth in &mut item.cloths {
            if let Some(time) = cloth.substep(&time) {
                let settings = inputs.settings(cloth, &time);
                inputs.begin_substep(workers, cloth, &settings, &time);
            }
        }
        inputs.collide_island(item, &time);
        for cloth in &mut item.cloths {
            if let Some(time) = cloth.substep(&time) {
                let settings = inputs.settings(cloth, &time);
                inputs.collide(workers, cloth, &settings, &time);
            }
        }
    }
}
