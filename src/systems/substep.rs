//! Runs the substeps.
//!
//! As long as [`ClothSubstep`] contains only the systems of the plugin, the state between two phases is not
//! observable. Then the schedule is not run: each cloth takes all its substeps in one go, while it is in the
//! cache, and the cloths of an island take them together. Otherwise the schedule runs, one phase for all cloths
//! after the other. Both ways give each cloth the same bits.

use super::{
    cloth_pairs::{ClothPair, ClothPairs, connected_components},
    colliders::ActiveColliders,
    parallel::ClothWorkers,
    phases::{collide_one, due, integrate_one, relax_one},
    planar::plane_of,
    pressure::apply_pressure_one,
};
use crate::{
    cloth::Cloth,
    components::{ClothBody, ClothConstraints, ClothParticles, ClothSelfContacts},
    grab::ClothGrabs,
    layers::ClothLayers,
    lod::InMotion,
    planar::PlanarCloth,
    plugin::{ClothSubstep, ClothSubstepTime},
    pressure::ClothPressure,
    settings::{ClothGravity, ClothMaxThreads},
    solver::{self, Workers},
    tearing::ClothTearing,
};
use bevy::{
    ecs::{
        query::QueryData,
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

/// Components of a cloth used in a substep.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct SubstepQuery {
    entity: Entity,
    cloth: &'static Cloth,
    body: &'static mut ClothBody,
    layers: Option<&'static ClothLayers>,
    tearing: Option<&'static ClothTearing>,
    planar: Option<&'static PlanarCloth>,
    pressure: Option<&'static ClothPressure>,
    grabs: &'static ClothGrabs,
    particles: &'static mut ClothParticles,
    constraints: &'static mut ClothConstraints,
    contacts: &'static mut ClothSelfContacts,
}

/// System parameters for substeps without the schedule.
type SubstepState = SystemState<(
    Query<'static, 'static, SubstepQuery, InMotion>,
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
            world.insert_resource(ClothSubstepTime { index, ..time });
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
    let inputs = SubstepInputs::new(&transforms, &gravity, &colliders, *time);
    if cloth_pairs.is_empty() {
        let size = |cloth: &SubstepQueryItem| cloth.particles.len();
        let due = cloths
            .iter_mut()
            .filter(|cloth| !cloth.body.update_rate.is_skipped);
        workers.for_each_cloth(*threads, due, size, |workers, mut cloth| {
            inputs.run_island(workers, std::slice::from_mut(&mut cloth), &mut []);
        });
    } else {
        let due = cloths
            .iter_mut()
            .filter(|cloth| !cloth.body.update_rate.is_skipped);
        let islands = group_by_island(due.collect(), cloth_pairs.pairs_mut());
        let size = |island: &Island| island.cloths.iter().map(|c| c.particles.len()).sum();
        workers.for_each_cloth(
            *threads,
            islands.into_iter(),
            size,
            |workers, mut island| {
                inputs.run_island(workers, &mut island.cloths, &mut island.pairs);
            },
        );
    }
    time.index = time.count.saturating_sub(1);
}

/// Island: cloths connected by pairs, or a single one.
struct Island<'a, 'w, 's> {
    /// Sorted by entity.
    cloths: Vec<SubstepQueryItem<'w, 's>>,
    /// Pairs of indices of cloths that may touch, with their contacts.
    pairs: Vec<([usize; 2], &'a mut ClothPair)>,
}

/// Groups cloths by island.
fn group_by_island<'a, 'w, 's>(
    mut cloths: Vec<SubstepQueryItem<'w, 's>>,
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

/// Inputs of the substeps, common to all cloths.
pub(super) struct SubstepInputs<'a, 'w, 's> {
    transforms: &'a TransformHelper<'w, 's>,
    gravity: &'a ClothGravity,
    colliders: &'a ActiveColliders,
    time: ClothSubstepTime,
}

impl<'a, 'w, 's> SubstepInputs<'a, 'w, 's> {
    pub(super) fn new(
        transforms: &'a TransformHelper<'w, 's>,
        gravity: &'a ClothGravity,
        colliders: &'a ActiveColliders,
        time: ClothSubstepTime,
    ) -> Self {
        Self {
            transforms,
            gravity,
            colliders,
            time,
        }
    }

    /// Takes all substeps of a cloth that touches no other.
    pub(super) fn run_single(&self, mut cloth: SubstepQueryItem) {
        let cloth = std::slice::from_mut(&mut cloth);
        self.run_island(&mut Workers::serial(), cloth, &mut []);
    }

    /// Takes all substeps of the cloths of an island.
    fn run_island(
        &self,
        workers: &mut Workers,
        cloths: &mut [SubstepQueryItem],
        pairs: &mut [([usize; 2], &mut ClothPair)],
    ) {
        for index in 0..self.time.count {
            let time = ClothSubstepTime { index, ..self.time };
            for cloth in &mut *cloths {
                if let Some(time) = due(&cloth.body, &time) {
                    self.relax(workers, cloth, &time);
                }
            }
            for ([a, b], pair) in &mut *pairs {
                if let Ok([a, b]) = cloths.get_disjoint_mut([*a, *b])
                    && due(&a.body, &time).is_some()
                    && due(&b.body, &time).is_some()
                {
                    let triangles = [&a.body.triangles.indices, &b.body.triangles.indices];
                    if pair.collide([&mut a.particles, &mut b.particles], triangles, &time) {
                        a.body.bypass_change_detection().had_contact = true;
                        b.body.bypass_change_detection().had_contact = true;
                    }
                }
            }
            for cloth in &mut *cloths {
                if let Some(time) = due(&cloth.body, &time) {
                    self.collide(workers, cloth, &time);
                }
            }
        }
    }

    /// Takes the part of a substep before contacts between cloths.
    fn relax(&self, workers: &mut Workers, item: &mut SubstepQueryItem, time: &ClothSubstepTime) {
        let SubstepQueryItem {
            cloth,
            body,
            tearing,
            pressure,
            grabs,
            particles: p,
            constraints: k,
            ..
        } = item;
        let body = body.bypass_change_detection();
        let k = k.bypass_change_detection();
        integrate_one(workers, cloth, p, self.gravity, time);
        apply_pressure_one(body, *pressure, p, time);
        // Only pressure moves particles between integration and relaxation here.
        let has_pressure = pressure.is_some();
        relax_one(
            workers,
            cloth,
            body,
            *tearing,
            grabs,
            p,
            k,
            (time, has_pressure),
        );
        self.constrain_to_plane(item);
        let SubstepQueryItem {
            cloth,
            body,
            particles,
            contacts,
            ..
        } = item;
        let contacts = contacts.bypass_change_detection();
        contacts.collide(cloth, body, particles, time);
    }

    /// Takes the part of a substep after contacts between cloths.
    fn collide(&self, workers: &mut Workers, item: &mut SubstepQueryItem, time: &ClothSubstepTime) {
        let SubstepQueryItem {
            cloth,
            body,
            layers,
            particles: p,
            ..
        } = item;
        let body = body.bypass_change_detection();
        collide_one(workers, cloth, body, *layers, p, self.colliders, time);
        self.constrain_to_plane(item);
    }

    fn constrain_to_plane(&self, item: &mut SubstepQueryItem) {
        let plane = |planar| plane_of(item.entity, planar, self.transforms);
        if let Some((point, normal)) = item.planar.and_then(plane) {
            solver::constrain_to_plane(&mut item.particles, point, normal);
        }
    }
}
