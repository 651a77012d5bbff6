//! Runs the substeps.
//!
//! As long as nobody has put a system of his own into the schedule of the substeps, nobody can see
//! what happens between two phases. Then each cloth goes through all its substeps at once, while it
//! is in the cache, and the schedule is not run. Otherwise all cloths go through one phase after the
//! other. Both do the same to each cloth.

use super::{
    colliders::ActiveColliders, parallel::ClothCrew, planar::plane_of, pressure::inflate_one,
};
use crate::{
    cloth::Cloth,
    components::{ClothBody, Constraints, Particles, SelfContacts},
    grab::{ClothGrabs, hold_one},
    layers::ClothLayers,
    planar::PlanarCloth,
    plugin::{ClothSubstep, SubstepTime},
    pressure::Pressure,
    settings::{ClothGravity, ClothThreads},
    sleep::ClothSleeping,
    solver::{
        self, Integration, Leader, Relaxation, Skin, Surface, collide_shared, hold_tethers_shared,
        integrate_shared, relax_shared,
    },
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
    Query<'static, 'static, Moved, Without<ClothSleeping>>,
    TransformHelper<'static, 'static>,
    Res<'static, ClothGravity>,
    Res<'static, ActiveColliders>,
    Res<'static, ClothThreads>,
    ResMut<'static, ClothCrew>,
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

/// All substeps of each cloth.
fn at_once(world: &mut World, moving: &mut Moving) {
    let Ok((mut cloths, transforms, gravity, colliders, threads, mut crew, mut time)) =
        moving.get_mut(world)
    else {
        return;
    };
    let (gravity, colliders, now) = (&*gravity, &*colliders, *time);
    let size = |cloth: &MovedItem| cloth.particles.len();
    crew.for_all(*threads, cloths.iter_mut(), size, |leader, cloth| {
        let MovedItem {
            entity,
            cloth,
            mut body,
            layers,
            tearing,
            planar,
            pressure,
            grabs,
            particles: mut p,
            constraints: mut k,
            mut contacts,
        } = cloth;
        let body = body.bypass_change_detection();
        let contacts = contacts.bypass_change_detection();
        let k = k.bypass_change_detection();
        let plane = planar.and_then(|planar| plane_of(entity, planar, &transforms));
        let hold_in_plane = |p: &mut Particles| {
            if let Some((point, normal)) = plane {
                solver::hold_in_plane(p, point, normal);
            }
        };
        for index in 0..now.count {
            let time = SubstepTime { index, ..now };
            integrate_one(leader, cloth, &mut p, gravity, &time);
            inflate_one(body, pressure, &mut p, &time);
            relax_one(leader, cloth, body, tearing, &mut p, k, &time);
            hold_one(&mut p, grabs, &time);
            hold_in_plane(&mut p);
            collide_one(
                leader, cloth, body, layers, &mut p, contacts, colliders, &time,
            );
            hold_in_plane(&mut p);
        }
    });
    time.index = now.count.saturating_sub(1);
}

pub(crate) fn integrate(
    mut cloths: Query<(&Cloth, &mut Particles), Without<ClothSleeping>>,
    gravity: Res<ClothGravity>,
    time: Res<SubstepTime>,
    threads: Res<ClothThreads>,
    mut crew: ResMut<ClothCrew>,
) {
    let size = |(_, particles): &(_, Mut<Particles>)| particles.len();
    crew.for_all(
        *threads,
        cloths.iter_mut(),
        size,
        |leader, (cloth, mut p)| {
            integrate_one(leader, cloth, &mut p, &gravity, &time);
        },
    );
}

fn integrate_one(
    leader: &mut Leader,
    cloth: &Cloth,
    particles: &mut Particles,
    gravity: &ClothGravity,
    time: &SubstepTime,
) {
    let by = Integration {
        gravity: gravity.0 * cloth.gravity_scale,
        damping: cloth.damping,
        dt: time.substep,
    };
    integrate_shared(leader, particles, &by);
}

pub(crate) fn relax(
    mut cloths: Query<
        (
            &Cloth,
            &ClothBody,
            Option<&Tearing>,
            &mut Particles,
            &mut Constraints,
        ),
        Without<ClothSleeping>,
    >,
    time: Res<SubstepTime>,
    threads: Res<ClothThreads>,
    mut crew: ResMut<ClothCrew>,
) {
    let size = |cloth: &(_, _, _, Mut<Particles>, _)| cloth.3.len();
    crew.for_all(
        *threads,
        cloths.iter_mut(),
        size,
        |leader, (cloth, body, tearing, mut p, mut k)| {
            let k = k.bypass_change_detection();
            relax_one(leader, cloth, body, tearing, &mut p, k, &time);
        },
    );
}

fn relax_one(
    leader: &mut Leader,
    cloth: &Cloth,
    body: &ClothBody,
    tearing: Option<&Tearing>,
    particles: &mut Particles,
    k: &mut Constraints,
    time: &SubstepTime,
) {
    let applied = body.applied(cloth, time);
    let by = Relaxation {
        compliance: applied.compliance,
        threads: cloth.threads,
        strain_limit: applied.strain_limit,
        iterations: cloth.iterations,
        dt: time.substep,
        strength: applied.strength,
        to_come: time.count.saturating_sub(time.index + 1),
        loads: tearing.is_some_and(Tearing::by_load),
    };
    if time.index == 0 {
        k.prepare(particles);
    }
    if by.loads && time.index == 0 {
        k.clear_loads();
    }
    relax_shared(leader, particles, k, &by);
    if by.loads {
        k.add_loads(time.substep, 1.0 / time.count as f32);
    } else {
        hold_tethers_shared(leader, particles, &body.tethers, applied.tether_scale);
    }
}

pub(crate) fn collide(
    mut cloths: Query<
        (
            &Cloth,
            &mut ClothBody,
            Option<&ClothLayers>,
            &mut SelfContacts,
            &mut Particles,
        ),
        Without<ClothSleeping>,
    >,
    colliders: Res<ActiveColliders>,
    time: Res<SubstepTime>,
    threads: Res<ClothThreads>,
    mut crew: ResMut<ClothCrew>,
) {
    let size = |(.., particles): &(_, _, _, _, Mut<Particles>)| particles.len();
    crew.for_all(
        *threads,
        cloths.iter_mut(),
        size,
        |leader, (cloth, mut body, layers, mut contacts, mut p)| {
            let body = body.bypass_change_detection();
            let contacts = contacts.bypass_change_detection();
            collide_one(
                leader, cloth, body, layers, &mut p, contacts, &colliders, &time,
            );
        },
    );
}

fn collide_one(
    leader: &mut Leader,
    cloth: &Cloth,
    body: &mut ClothBody,
    layers: Option<&ClothLayers>,
    particles: &mut Particles,
    contacts: &mut SelfContacts,
    colliders: &ActiveColliders,
    time: &SubstepTime,
) {
    let surface = Surface {
        thickness: body.applied(cloth, time).thickness + body.radius(),
        ..cloth.fabric.surface()
    };
    // First, so that colliders have the last word: cloth between them and itself stays outside.
    contacts.collide(cloth, body, particles, time);
    let met = colliders.meeting(layers);
    if time.index == 0 {
        let (triangles, thickness) = (&body.triangles, surface.thickness);
        body.facets.prepare(triangles, met.clone(), thickness);
    }
    let skin = Skin {
        triangles: &body.triangles,
        facets: &mut body.facets,
        surface,
    };
    collide_shared(leader, particles, skin, met, [time.index, time.count]);
}
