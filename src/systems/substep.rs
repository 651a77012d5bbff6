//! Runs the substeps.
//!
//! As long as nobody has put a system of his own into the schedule of the substeps, nobody can see
//! what happens between two phases. Then each cloth goes through all its substeps at once, while it
//! is in the cache, and the schedule is not run; cloths that may touch each other go through them
//! together. Otherwise all cloths go through one phase after the other. Both do the same to each cloth.

use super::{
    colliders::ActiveColliders,
    parallel::ClothCrew,
    phases::{collide_one, due, integrate_one, relax_one},
    planar::plane_of,
    pressure::inflate_one,
    touching::{ClothsTouching, Pair, clusters},
};
use crate::{
    cloth::Cloth,
    components::{ClothBody, Constraints, Particles, SelfContacts},
    grab::ClothGrabs,
    layers::ClothLayers,
    lod::InMotion,
    planar::PlanarCloth,
    plugin::{ClothSubstep, SubstepTime},
    pressure::Pressure,
    settings::{ClothGravity, ClothThreads},
    solver::{self, Leader},
    tearing::Tearing,
};
use bevy::{
    ecs::{
        query::QueryData,
        schedule::{Schedule, SystemKey},
        system::SystemState,
    },
    prelude::*,
};

/// The systems of the plugin in [`ClothSubstep`].
#[derive(Resource, Default)]
pub(crate) struct OwnSystems {
    keys: Vec<SystemKey>,
    /// Somebody has made some of it run only sometimes. That cannot be taken back.
    conditional: bool,
}

impl OwnSystems {
    /// Those that a schedule has.
    pub(crate) fn all(schedule: &Schedule) -> Self {
        let systems = schedule.graph().systems.iter();
        Self {
            keys: systems.map(|(key, ..)| key).collect(),
            conditional: false,
        }
    }

    /// These but for those.
    pub(crate) fn without(mut self, others: &Self) -> Self {
        self.keys.retain(|key| !others.keys.contains(key));
        self
    }

    /// Whether a schedule has these systems and no others, and nothing keeps them from running.
    fn are_all(&mut self, schedule: &Schedule) -> bool {
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

/// A cloth, with all that a substep needs of it.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Moved {
    entity: Entity,
    cloth: &'static Cloth,
    body: &'static mut ClothBody,
    layers: Option<&'static ClothLayers>,
    tearing: Option<&'static Tearing>,
    planar: Option<&'static PlanarCloth>,
    pressure: Option<&'static Pressure>,
    grabs: &'static ClothGrabs,
    particles: &'static mut Particles,
    constraints: &'static mut Constraints,
    contacts: &'static mut SelfContacts,
}

/// All that moves in the substeps, and what it is moved by.
type Moving = SystemState<(
    Query<'static, 'static, Moved, InMotion>,
    TransformHelper<'static, 'static>,
    Res<'static, ClothGravity>,
    Res<'static, ActiveColliders>,
    Res<'static, ClothThreads>,
    ResMut<'static, ClothCrew>,
    ResMut<'static, ClothsTouching>,
    ResMut<'static, SubstepTime>,
)>;

pub(crate) fn run_substeps(world: &mut World, moving: &mut Moving) {
    let time = *world.resource::<SubstepTime>();
    if time.substep <= 0.0 {
        return;
    }
    if has_only_own_systems(world) {
        at_once(world, moving);
        return;
    }
    world.schedule_scope(ClothSubstep, |world, schedule| {
        for index in 0..time.count {
            world.insert_resource(SubstepTime { index, ..time });
            schedule.run(world);
        }
    });
}

fn has_only_own_systems(world: &mut World) -> bool {
    world.resource_scope(|world, mut own: Mut<OwnSystems>| {
        let schedules = world.resource::<Schedules>();
        let schedule = schedules.get(ClothSubstep);
        schedule.is_some_and(|schedule| own.are_all(schedule))
    })
}

/// All substeps of each cloth, together with those that it may touch.
fn at_once(world: &mut World, moving: &mut Moving) {
    let Ok((mut cloths, transforms, gravity, colliders, threads, mut crew, mut touching, mut time)) =
        moving.get_mut(world)
    else {
        return;
    };
    let by = Movers::new(&transforms, &gravity, &colliders, *time);
    if touching.is_empty() {
        let size = |cloth: &MovedItem| cloth.particles.len();
        let due = cloths.iter_mut().filter(|cloth| !cloth.body.pace.waits);
        crew.for_all(*threads, due, size, |leader, mut cloth| {
            by.move_together(leader, std::slice::from_mut(&mut cloth), &mut []);
        });
    } else {
        let due = cloths.iter_mut().filter(|cloth| !cloth.body.pace.waits);
        let clusters = gather_clusters(due.collect(), touching.pairs_mut());
        let size = |cluster: &Cluster| cluster.cloths.iter().map(|c| c.particles.len()).sum();
        crew.for_all(
            *threads,
            clusters.into_iter(),
            size,
            |leader, mut cluster| {
                by.move_together(leader, &mut cluster.cloths, &mut cluster.pairs);
            },
        );
    }
    time.index = time.count.saturating_sub(1);
}

/// Cloths that may touch each other, or one that touches none.
struct Cluster<'a, 'w, 's> {
    /// By entity.
    cloths: Vec<MovedItem<'w, 's>>,
    /// Which of them may touch, and where.
    pairs: Vec<([usize; 2], &'a mut Pair)>,
}

/// Puts cloths together that may touch.
fn gather_clusters<'a, 'w, 's>(
    mut cloths: Vec<MovedItem<'w, 's>>,
    pairs: &'a mut [Pair],
) -> Vec<Cluster<'a, 'w, 's>> {
    cloths.sort_unstable_by_key(|cloth| cloth.entity);
    let entities: Vec<Entity> = cloths.iter().map(|cloth| cloth.entity).collect();
    let place = |entity: &Entity| entities.binary_search(entity).ok();
    let both = |pair: &Pair| Some([place(&pair.cloths[0])?, place(&pair.cloths[1])?]);
    let joined = pairs.iter().filter_map(both);
    let of = clusters(cloths.len(), joined);
    let mut all: Vec<Cluster> = Vec::new();
    // The cluster of each cloth, and its place in it.
    let mut places: Vec<[usize; 2]> = Vec::with_capacity(of.len());
    for (k, cloth) in cloths.into_iter().enumerate() {
        // The first of a cluster gives it its number.
        let number = if of[k] == k {
            all.push(Cluster {
                cloths: Vec::new(),
                pairs: Vec::new(),
            });
            all.len() - 1
        } else {
            places[of[k]][0]
        };
        places.push([number, all[number].cloths.len()]);
        all[number].cloths.push(cloth);
    }
    for pair in pairs {
        if let Some(both) = both(pair) {
            let [a, b] = both.map(|k| places[k]);
            all[a[0]].pairs.push(([a[1], b[1]], pair));
        }
    }
    all
}

/// What all cloths are moved by.
pub(super) struct Movers<'a, 'w, 's> {
    transforms: &'a TransformHelper<'w, 's>,
    gravity: &'a ClothGravity,
    colliders: &'a ActiveColliders,
    time: SubstepTime,
}

impl<'a, 'w, 's> Movers<'a, 'w, 's> {
    pub(super) fn new(
        transforms: &'a TransformHelper<'w, 's>,
        gravity: &'a ClothGravity,
        colliders: &'a ActiveColliders,
        time: SubstepTime,
    ) -> Self {
        Self {
            transforms,
            gravity,
            colliders,
            time,
        }
    }

    /// All substeps of a cloth that touches no other.
    pub(super) fn move_alone(&self, mut cloth: MovedItem) {
        let cloth = std::slice::from_mut(&mut cloth);
        self.move_together(&mut Leader::alone(), cloth, &mut []);
    }

    /// All substeps of cloths that may touch each other.
    fn move_together(
        &self,
        leader: &mut Leader,
        cloths: &mut [MovedItem],
        pairs: &mut [([usize; 2], &mut Pair)],
    ) {
        for index in 0..self.time.count {
            let time = SubstepTime { index, ..self.time };
            for cloth in &mut *cloths {
                if let Some(time) = due(&cloth.body, &time) {
                    self.relax(leader, cloth, &time);
                }
            }
            for ([a, b], pair) in &mut *pairs {
                if let Ok([a, b]) = cloths.get_disjoint_mut([*a, *b])
                    && due(&a.body, &time).is_some()
                    && due(&b.body, &time).is_some()
                {
                    let triangles = [&a.body.triangles.indices, &b.body.triangles.indices];
                    if pair.collide([&mut a.particles, &mut b.particles], triangles, &time) {
                        a.body.bypass_change_detection().touched = true;
                        b.body.bypass_change_detection().touched = true;
                    }
                }
            }
            for cloth in &mut *cloths {
                if let Some(time) = due(&cloth.body, &time) {
                    self.collide(leader, cloth, &time);
                }
            }
        }
    }

    /// A substep of a cloth until it meets others.
    fn relax(&self, leader: &mut Leader, moved: &mut MovedItem, time: &SubstepTime) {
        let MovedItem {
            cloth,
            body,
            tearing,
            pressure,
            grabs,
            particles: p,
            constraints: k,
            ..
        } = moved;
        let body = body.bypass_change_detection();
        let k = k.bypass_change_detection();
        integrate_one(leader, cloth, p, self.gravity, time);
        inflate_one(body, *pressure, p, time);
        // Nothing else comes between integration and relaxation here.
        let inflated = pressure.is_some();
        relax_one(leader, cloth, body, *tearing, grabs, p, k, (time, inflated));
        self.hold_in_plane(moved);
        let MovedItem {
            cloth,
            body,
            particles,
            contacts,
            ..
        } = moved;
        let contacts = contacts.bypass_change_detection();
        contacts.collide(cloth, body, particles, time);
    }

    /// And what is left of it.
    fn collide(&self, leader: &mut Leader, moved: &mut MovedItem, time: &SubstepTime) {
        let MovedItem {
            cloth,
            body,
            layers,
            particles: p,
            ..
        } = moved;
        let body = body.bypass_change_detection();
        collide_one(leader, cloth, body, *layers, p, self.colliders, time);
        self.hold_in_plane(moved);
    }

    fn hold_in_plane(&self, moved: &mut MovedItem) {
        let plane = |planar| plane_of(moved.entity, planar, self.transforms);
        if let Some((point, normal)) = moved.planar.and_then(plane) {
            solver::hold_in_plane(&mut moved.particles, point, normal);
        }
    }
}
