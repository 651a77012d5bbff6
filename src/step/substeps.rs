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
        broad_phase::{ClothPair, ClothPairs, connected_components},
    },
    solver::{SubstepTime, Workers},
    step::{
        query::{StepQuery, StepQueryItem},
        stages::{SubstepInputs, collide_pair},
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
    ResMut<'static, ClothPairs>,
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
        mut cloth_pairs,
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
    let due = cloths.iter_mut();
    let due = due.filter(|cloth| !cloth.rate.is_skipped);
    if cloth_pairs.is_empty() {
        let size = |cloth: &StepQueryItem| cloth.particles.len();
        workers.for_each_cloth(*threads, due, size, |workers, mut cloth| {
            let cloth = std::slice::from_mut(&mut cloth);
            run_island(&inputs, workers, cloth, &mut [], &time);
        });
    } else {
        let islands = group_by_island(due.collect(), cloth_pairs.pairs_mut());
        let size = |island: &Island| island.cloths.iter().map(|c| c.particles.len()).sum();
        workers.for_each_cloth(
            *threads,
            islands.into_iter(),
            size,
            |workers, mut island| {
                let Island { cloths, pairs } = &mut island;
                run_island(&inputs, workers, cloths, pairs, &time);
            },
        );
    }
    time.index = time.count.saturating_sub(1);
}

/// Island: cloths connected by pairs, or a single one.
struct Island<'a, 'w, 's> {
    /// Sorted by entity.
    cloths: Vec<StepQueryItem<'w, 's>>,
    /// Pairs of indices of cloths that may touch, with their contacts.
    pairs: Vec<([usize; 2], &'a mut ClothPair)>,
}

/// Groups cloths by island.
fn group_by_island<'a, 'w, 's>(
    mut cloths: Vec<StepQueryItem<'w, 's>>,
    pairs: &'a mut [ClothPair],
) -> Vec<Island<'a, 'w, 's>> {
    cloths.sort_unstable_by_key(|cloth| cloth.entity);
    let entities: Vec<Entity> = cloths.iter().map(|cloth| cloth.entity).collect();
    let index_of = |entity: &Entity| entities.binary_search(entity).ok();
    let indices = |pair: &ClothPair| Some([index_of(&pair.cloths[0])?, index_of(&pair.cloths[1])?]);
    let edges = pairs.iter().filter_map(indices);
    let first = connected_components(cloths.len(), edges);
    let mut islands: Vec<Island> = Vec::new();
    // The island of each cloth, and its index in it.
    let mut locations: Vec<[usize; 2]> = Vec::with_capacity(first.len());
    for (k, cloth) in cloths.into_iter().enumerate() {
        // The first cloth of an island determines the index of the island.
        let index = if first[k] == k {
            islands.push(Island {
                cloths: Vec::new(),
                pairs: Vec::new(),
            });
            islands.len() - 1
        } else {
            locations[first[k]][0]
        };
        locations.push([index, islands[index].cloths.len()]);
        islands[index].cloths.push(cloth);
    }
    for pair in pairs {
        if let Some(indices) = indices(pair) {
            let [a, b] = indices.map(|k| locations[k]);
            islands[a[0]].pairs.push(([a[1], b[1]], pair));
        }
    }
    islands
}

/// Takes all substeps of the cloths of an island, or of a cloth that touches no other.
pub(crate) fn run_island(
    inputs: &SubstepInputs,
    workers: &mut Workers,
    cloths: &mut [StepQueryItem],
    pairs: &mut [([usize; 2], &mut ClothPair)],
    time: &SubstepTime,
) {
    for time in time.substeps() {
        for cloth in &mut *cloths {
            if let Some(time) = cloth.substep(&time) {
                let settings = inputs.settings(cloth, &time);
                inputs.begin_substep(workers, cloth, &settings, &time);
                if pairs.is_empty() {
                    inputs.collide(workers, cloth, &settings, &time);
                }
            }
        }
        if pairs.is_empty() {
            continue;
        }
        for (indices, pair) in &mut *pairs {
            if let Ok(both) = cloths.get_disjoint_mut(*indices) {
                collide_pair(pair, both, &time);
            }
        }
        for cloth in &mut *cloths {
            if let Some(time) = cloth.substep(&time) {
                let settings = inputs.settings(cloth, &time);
                inputs.collide(workers, cloth, &settings, &time);
            }
        }
    }
}
