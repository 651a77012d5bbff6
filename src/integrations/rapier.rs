//! Cloth among the bodies of [Rapier](bevy_rapier3d). Feature `rapier`.

use super::{
    exchange::{self, BodyMemory, Engine, Given, Meeting, MeetingItem},
    shapes,
};
use crate::{
    layers::ClothLayers,
    plugin::ClothSystems,
    solver::{BodyPart, Friction, Motion, Pose},
    systems,
    time::cloth_step_due,
};
use bevy::{
    ecs::{schedule::InternedScheduleLabel, system::SystemParam},
    math::{Mat3, bounding::Aabb3d},
    prelude::*,
};
use bevy_rapier3d::{
    plugin::{PhysicsSet, RapierConfiguration},
    prelude::{
        CollisionGroups, QueryFilter, RapierContextColliders, RapierContextSimulation,
        RapierQueryPipeline, RapierRigidBodySet,
    },
    rapier::{math::Pose as RapierPose, prelude::SharedShape},
};
use std::{collections::BTreeMap, sync::Arc};

/// Lets cloth meet the colliders of Rapier, and Rapier's bodies feel cloth.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// use bevy_rapier3d::prelude::*;
///
/// App::new()
///     .insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 })
///     .add_plugins((
///         DefaultPlugins,
///         RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
///     ))
///     .add_plugins((ClothPlugin::default(), RapierClothPlugin));
/// ```
///
/// Cloth meets all shapes, of bodies of all kinds and of colliders without one; sensors it goes through.
/// A dynamic body is pushed by cloth and carried by it; pin cloth to it ([`Pins::to_entity`]) and it is
/// pulled. [`CollisionGroups`] on the entity of the cloth say what it meets, as if it were a collider, and
/// [`ClothLayers`] on a collider say which cloths. The friction of a collider makes the geometric mean with
/// that of the fabric.
///
/// Rapier is best run in `FixedUpdate`, with the same time step, as above: then both take their steps in
/// turns. In another schedule it works too, but what cloth gives a body comes in other portions than the
/// steps of Rapier. Needs the feature `rapier`.
///
/// [`Pins::to_entity`]: crate::Pins::to_entity
/// [`ClothLayers`]: crate::ClothLayers
pub struct RapierClothPlugin;

impl Plugin for RapierClothPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<BodyMemory>()
            .init_resource::<Shapes>()
            .init_resource::<Pushed>();
    }

    fn finish(&self, app: &mut App) {
        let Some(schedule) = exchange::schedule(app, "RapierClothPlugin") else {
            return;
        };
        let Some(of_rapier) = schedule_of_rapier(app) else {
            error!("RapierClothPlugin does nothing without RapierPhysicsPlugin; add that too");
            return;
        };
        if !exchange::connect(app, "RapierClothPlugin") {
            return;
        }
        app.configure_sets(
            schedule,
            (ClothSystems::Prepare, ClothSystems::Finish).before(PhysicsSet::SyncBackend),
        )
        .add_systems(
            schedule,
            (
                rest,
                meet.in_set(ClothSystems::Prepare)
                    .before(systems::watch)
                    .run_if(cloth_step_due),
                hand_over
                    .after(ClothSystems::Finish)
                    .before(PhysicsSet::SyncBackend)
                    .run_if(cloth_step_due),
            )
                .chain(),
        )
        .add_systems(
            of_rapier,
            (
                push.after(PhysicsSet::SyncBackend)
                    .before(PhysicsSet::StepSimulation),
                let_go
                    .after(PhysicsSet::StepSimulation)
                    .before(PhysicsSet::Writeback),
            ),
        );
    }
}

/// Where Rapier takes its steps.
fn schedule_of_rapier(app: &App) -> Option<InternedScheduleLabel> {
    let schedules = app.world().get_resource::<Schedules>()?;
    let mut own = schedules.iter().filter(|(_, schedule)| {
        let sets = &schedule.graph().system_sets;
        sets.contains(PhysicsSet::StepSimulation)
    });
    own.next().map(|(_, schedule)| schedule.label())
}

/// What colliders are made of.
#[derive(Resource, Default)]
struct Shapes(shapes::Shapes<SharedShape>);

/// What cloth pushes bodies with until its next step, by their numbers: force and torque, and what they were
/// pushed with by others as long as they feel it.
#[derive(Resource, Default)]
struct Pushed(BTreeMap<u64, [Vec3; 2]>);

/// A world of Rapier.
type Context = (
    &'static RapierContextSimulation,
    &'static RapierContextColliders,
    &'static RapierRigidBodySet,
    &'static RapierConfiguration,
);

/// All that is seen of Rapier.
#[derive(SystemParam)]
struct World<'w, 's> {
    contexts: Query<'w, 's, Context>,
    layers: Query<'w, 's, &'static ClothLayers>,
    groups: Query<'w, 's, &'static CollisionGroups>,
    shapes: ResMut<'w, Shapes>,
    clock: Res<'w, Time>,
}

/// The longest way that is asked for of a body in a step, m.
const FARTHEST: f32 = 2.0;

impl Engine for World<'_, '_> {
    fn near(&self, cloth: &MeetingItem, [low, high]: [Vec3; 2], found: &mut Vec<Entity>) {
        let own = cloth.layers.copied().unwrap_or_default();
        let meets = |entity: Entity| {
            let of = self.layers.get(entity).copied().unwrap_or_default();
            entity != cloth.entity && own.meets(of)
        };
        let mut filter = QueryFilter::new().exclude_sensors().predicate(&meets);
        filter.groups = self.groups.get(cloth.entity).ok().copied();
        for (simulation, colliders, bodies, _) in &self.contexts {
            // Its boxes are those of the end of the last step.
            let moving = bodies.bodies.iter().filter(|(_, body)| !body.is_fixed());
            let fastest = moving.fold(0.0, |most: f32, (_, body)| most.max(body.linvel().length()));
            let way = (fastest * self.clock.delta_secs()).min(FARTHEST);
            let around = Aabb3d {
                min: (low - way).into(),
                max: (high + way).into(),
            };
            RapierQueryPipeline::new_scoped(
                &simulation.broad_phase,
                colliders,
                bodies,
                &filter,
                simulation.narrow_phase.query_dispatcher(),
                |query| found.extend(query.intersect_aabb_conservative(around)),
            );
        }
    }

    fn body_of(&self, collider: Entity) -> Entity {
        let mut contexts = self.contexts.iter();
        let body = contexts
            .find_map(|(_, colliders, bodies, _)| colliders.collider_parent(bodies, collider));
        body.unwrap_or(collider)
    }

    fn motion(&self, body: Entity) -> Option<Motion> {
        self.contexts.iter().find_map(|context| {
            let (_, colliders, bodies, configuration) = context;
            let handle = bodies.entity2body().get(&body);
            let Some(of) = handle.and_then(|handle| bodies.bodies.get(*handle)) else {
                // A collider without a body.
                let handle = colliders.entity2collider().get(&body)?;
                let collider = colliders.colliders.get(*handle)?;
                return Some(Motion::still(pose(collider.position())));
            };
            let masses = of.mass_properties();
            let still = Motion::still(Pose {
                rotation: of.position().rotation,
                translation: masses.world_com,
            });
            if of.is_fixed() || !of.is_enabled() || !configuration.physics_pipeline_active {
                return Some(still);
            }
            let moving = Motion {
                velocity: of.linvel(),
                spin: of.angvel(),
                ..still
            };
            if !of.is_dynamic() {
                return Some(moving);
            }
            let of_inertia = masses.effective_world_inv_inertia;
            Some(Motion {
                inverse_mass: masses.effective_inv_mass,
                inverse_inertia: Mat3::from_cols(
                    Vec3::new(of_inertia.m11, of_inertia.m12, of_inertia.m13),
                    Vec3::new(of_inertia.m12, of_inertia.m22, of_inertia.m23),
                    Vec3::new(of_inertia.m13, of_inertia.m23, of_inertia.m33),
                ),
                asleep: of.is_sleeping(),
                ..moving
            })
        })
    }

    fn parts(&mut self, collider: Entity, centre: &Pose, parts: &mut Vec<BodyPart>) {
        let found = self.contexts.iter().find_map(|(_, colliders, ..)| {
            let handle = colliders.entity2collider().get(&collider)?;
            colliders.colliders.get(*handle)
        });
        let Some(found) = found.filter(|found| found.is_enabled()) else {
            return;
        };
        let friction = found.friction().max(0.0);
        let friction = Friction {
            fixed: friction,
            kinetic: friction,
        };
        let shape = found.shared_shape();
        let same = |a: &SharedShape, b: &SharedShape| Arc::ptr_eq(&a.0, &b.0);
        let solids = (self.shapes.0).of(collider, shape, same, |shape, solids| {
            shapes::rapier::read(&**shape, &Pose::ORIGIN, solids)
        });
        shapes::place(solids, &pose(found.position()), centre, friction, parts);
    }
}

fn pose(of: &RapierPose) -> Pose {
    Pose {
        rotation: of.rotation,
        translation: of.translation,
    }
}

/// Cloths that stand still push nothing.
fn rest(mut pushed: ResMut<Pushed>) {
    pushed.0.clear();
}

fn meet(mut world: World, mut cloths: Query<Meeting>, memory: Res<BodyMemory>, clock: Res<Time>) {
    exchange::meet(
        &mut world,
        &mut cloths,
        &memory,
        systems::step_length(&clock),
    );
    let World {
        contexts, shapes, ..
    } = &mut world;
    let is_there = |entity| {
        let mut contexts = contexts.iter();
        contexts.any(|(_, colliders, ..)| colliders.entity2collider().contains_key(&entity))
    };
    shapes.0.retain(is_there);
}

fn hand_over(
    cloths: Query<Meeting>,
    mut memory: ResMut<BodyMemory>,
    mut pushed: ResMut<Pushed>,
    mut bodies: Query<&mut RapierRigidBodySet>,
    clock: Res<Time>,
) {
    let dt = clock.delta_secs();
    for given in exchange::hand_over(&cloths, &mut memory) {
        let Given {
            body,
            impulse,
            twist,
            wake,
        } = given;
        if dt > 0.0 {
            pushed.0.insert(body.to_bits(), [impulse / dt, twist / dt]);
        }
        for mut set in bodies.iter_mut().filter(|_| wake) {
            let handle = set.entity2body().get(&body).copied();
            if let Some(body) = handle.and_then(|handle| set.bodies.get_mut(handle)) {
                body.wake_up(true);
            }
        }
    }
}

/// Before a step of Rapier: pushes its bodies. Forces stay on a body of Rapier until they are taken off, and
/// those of others are set anew with their component; so ours come after them and go at once.
fn push(mut pushed: ResMut<Pushed>, mut bodies: Query<&mut RapierRigidBodySet>) {
    add(&mut pushed, &mut bodies, 1.0);
}

/// After it.
fn let_go(mut pushed: ResMut<Pushed>, mut bodies: Query<&mut RapierRigidBodySet>) {
    add(&mut pushed, &mut bodies, -1.0);
}

fn add(pushed: &mut Pushed, bodies: &mut Query<&mut RapierRigidBodySet>, sign: f32) {
    if pushed.0.is_empty() {
        return;
    }
    for mut set in bodies {
        for (&id, [force, torque]) in &pushed.0 {
            let entity = Entity::try_from_bits(id);
            let handle = entity.and_then(|entity| set.entity2body().get(&entity).copied());
            // It may have been despawned while it touched the cloth.
            if let Some(body) = handle.and_then(|handle| set.bodies.get_mut(handle)) {
                // What lies on cloth, or under it, may fall asleep.
                body.add_force(*force * sign, false);
                body.add_torque(*torque * sign, false);
            }
        }
    }
}
