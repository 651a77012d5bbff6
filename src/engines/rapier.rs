//! Two-way coupling of cloth with [Rapier](bevy_rapier3d). Feature `rapier`.

use super::coupling::{self, BodyImpulse, CoupledClothItem, Engine, EngineCollider};
use crate::{
    cloth::schedule::ClothSystems,
    collision::layers::ClothLayers,
    solver::{BodyMotion, Friction, Pose},
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
use std::collections::BTreeMap;

/// Plugin that couples cloth with Rapier: cloth collides with its colliders, and pushes its bodies.
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
/// Cloth collides with all shapes except custom ones, on bodies of all kinds and on colliders without a body;
/// sensors are ignored. Cloth pushes and supports dynamic bodies, and pulls those that it is pinned to
/// ([`Pins::to_entity`]). [`CollisionGroups`] on the entity of the cloth filter colliders as for a collider, and
/// [`ClothLayers`] on a collider filter cloths. The friction of a collider is combined with that of the fabric by
/// the geometric mean.
///
/// Run Rapier in `FixedUpdate` with the same time step, as above: then cloth and Rapier step alternately. Another
/// schedule works too, but the impulses from cloth are then spread over other intervals than the steps of Rapier.
/// Needs the feature `rapier`.
///
/// [`Pins::to_entity`]: crate::pins::Pins::to_entity
/// [`ClothLayers`]: crate::collision::ClothLayers
pub struct RapierClothPlugin;

impl Plugin for RapierClothPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ClothForces>();
    }

    fn finish(&self, app: &mut App) {
        let Some(rapier_schedule) = find_rapier_schedule(app) else {
            error!("RapierClothPlugin does nothing without RapierPhysicsPlugin; add that too");
            return;
        };
        let Some(schedule) = coupling::couple::<RapierWorld, _, _>(
            app,
            "RapierClothPlugin",
            PhysicsSet::SyncBackend,
            apply_impulses,
        ) else {
            return;
        };
        app.add_systems(schedule, clear_forces.before(ClothSystems::Prepare))
            .add_systems(
                rapier_schedule,
                (
                    add_forces
                        .after(PhysicsSet::SyncBackend)
                        .before(PhysicsSet::StepSimulation),
                    remove_forces
                        .after(PhysicsSet::StepSimulation)
                        .before(PhysicsSet::Writeback),
                ),
            );
    }
}

/// Finds the schedule in which Rapier steps.
fn find_rapier_schedule(app: &App) -> Option<InternedScheduleLabel> {
    let schedules = app.world().get_resource::<Schedules>()?;
    let mut own = schedules.iter().filter(|(_, schedule)| {
        let sets = &schedule.graph().system_sets;
        sets.contains(PhysicsSet::StepSimulation)
    });
    own.next().map(|(_, schedule)| schedule.label())
}

/// Force and torque that cloth applies to bodies until its next step, N and N m, by entity bits.
#[derive(Resource, Default)]
struct ClothForces(BTreeMap<u64, [Vec3; 2]>);

/// Components of a Rapier context.
type RapierContextData = (
    &'static RapierContextSimulation,
    &'static RapierContextColliders,
    &'static RapierRigidBodySet,
    &'static RapierConfiguration,
);

/// Access to Rapier's state.
#[derive(SystemParam)]
struct RapierWorld<'w, 's> {
    contexts: Query<'w, 's, RapierContextData>,
    layers: Query<'w, 's, &'static ClothLayers>,
    groups: Query<'w, 's, &'static CollisionGroups>,
    clock: Res<'w, Time>,
}

/// Largest travel of a body in a step by which the query box is expanded, m.
const MAX_BODY_TRAVEL: f32 = 2.0;

impl Engine for RapierWorld<'_, '_> {
    type Shape = SharedShape;

    fn find_colliders(
        &self,
        cloth: &CoupledClothItem,
        [low, high]: [Vec3; 2],
        found: &mut Vec<Entity>,
    ) {
        let own = cloth.layers.copied().unwrap_or_default();
        let meets = |entity: Entity| {
            let layers = self.layers.get(entity).copied().unwrap_or_default();
            entity != cloth.entity && own.interacts_with(layers)
        };
        let mut filter = QueryFilter::new().exclude_sensors().predicate(&meets);
        filter.groups = self.groups.get(cloth.entity).ok().copied();
        for (simulation, colliders, bodies, _) in &self.contexts {
            // Rapier's boxes are those at the end of its last step: expand the query by the travel since then.
            let moving = bodies.bodies.iter().filter(|(_, body)| !body.is_fixed());
            let fastest = moving.fold(0.0, |most: f32, (_, body)| most.max(body.linvel().length()));
            let travel = (fastest * self.clock.delta_secs()).min(MAX_BODY_TRAVEL);
            let bounds = Aabb3d {
                min: (low - travel).into(),
                max: (high + travel).into(),
            };
            RapierQueryPipeline::new_scoped(
                &simulation.broad_phase,
                colliders,
                bodies,
                &filter,
                simulation.narrow_phase.query_dispatcher(),
                |query| found.extend(query.intersect_aabb_conservative(bounds)),
            );
        }
    }

    fn body_of(&self, collider: Entity) -> Entity {
        let mut contexts = self.contexts.iter();
        let body = contexts
            .find_map(|(_, colliders, bodies, _)| colliders.collider_parent(bodies, collider));
        body.unwrap_or(collider)
    }

    fn motion(&self, body: Entity) -> Option<BodyMotion> {
        self.contexts.iter().find_map(|context| {
            let (_, colliders, bodies, configuration) = context;
            let handle = bodies.entity2body().get(&body);
            let Some(rigid_body) = handle.and_then(|handle| bodies.bodies.get(*handle)) else {
                // Collider without a body.
                let handle = colliders.entity2collider().get(&body)?;
                let collider = colliders.colliders.get(*handle)?;
                return Some(BodyMotion::still(pose(collider.position())));
            };
            let masses = rigid_body.mass_properties();
            let still = BodyMotion::still(Pose {
                rotation: rigid_body.position().rotation,
                translation: masses.world_com,
            });
            if rigid_body.is_fixed()
                || !rigid_body.is_enabled()
                || !configuration.physics_pipeline_active
            {
                return Some(still);
            }
            let moving = BodyMotion {
                velocity: rigid_body.linvel(),
                angular_velocity: rigid_body.angvel(),
                ..still
            };
            if !rigid_body.is_dynamic() {
                return Some(moving);
            }
            let inertia = masses.effective_world_inv_inertia;
            Some(BodyMotion {
                inverse_mass: masses.effective_inv_mass,
                inverse_inertia: Mat3::from_cols(
                    Vec3::new(inertia.m11, inertia.m12, inertia.m13),
                    Vec3::new(inertia.m12, inertia.m22, inertia.m23),
                    Vec3::new(inertia.m13, inertia.m23, inertia.m33),
                ),
                asleep: rigid_body.is_sleeping(),
                ..moving
            })
        })
    }

    fn collider(&self, collider: Entity) -> Option<EngineCollider<'_, SharedShape>> {
        let found = self.contexts.iter().find_map(|(_, colliders, ..)| {
            let handle = colliders.entity2collider().get(&collider)?;
            colliders.colliders.get(*handle)
        });
        let found = found.filter(|found| found.is_enabled())?;
        let friction = found.friction().max(0.0);
        Some(EngineCollider {
            shape: found.shared_shape(),
            pose: pose(found.position()),
            friction: Friction {
                static_coefficient: friction,
                kinetic_coefficient: friction,
            },
        })
    }
}

fn pose(source: &RapierPose) -> Pose {
    Pose {
        rotation: source.rotation,
        translation: source.translation,
    }
}

/// Clears the forces of the last cloth step; paused cloth applies none.
fn clear_forces(mut forces: ResMut<ClothForces>) {
    forces.0.clear();
}

fn apply_impulses(
    In(impulses): In<Vec<BodyImpulse>>,
    mut forces: ResMut<ClothForces>,
    mut bodies: Query<&mut RapierRigidBodySet>,
    clock: Res<Time>,
) {
    let dt = clock.delta_secs();
    for impulse in impulses {
        if let Some(force) = impulse.force(dt) {
            forces.0.insert(impulse.body.to_bits(), force);
        }
        for mut set in bodies.iter_mut().filter(|_| impulse.wake) {
            let handle = set.entity2body().get(&impulse.body).copied();
            if let Some(body) = handle.and_then(|handle| set.bodies.get_mut(handle)) {
                body.wake_up(true);
            }
        }
    }
}

/// Adds the forces of cloth to Rapier's bodies before its step. Forces persist in Rapier until they are removed,
/// and those of users are rewritten with their component: so these are added after them and removed again at once.
fn add_forces(mut forces: ResMut<ClothForces>, mut bodies: Query<&mut RapierRigidBodySet>) {
    change_forces(&mut forces, &mut bodies, 1.0);
}

/// Removes the forces of cloth after Rapier's step.
fn remove_forces(mut forces: ResMut<ClothForces>, mut bodies: Query<&mut RapierRigidBodySet>) {
    change_forces(&mut forces, &mut bodies, -1.0);
}

fn change_forces(forces: &mut ClothForces, bodies: &mut Query<&mut RapierRigidBodySet>, sign: f32) {
    if forces.0.is_empty() {
        return;
    }
    for mut set in bodies {
        for (&id, [force, torque]) in &forces.0 {
            let entity = Entity::try_from_bits(id);
            let handle = entity.and_then(|entity| set.entity2body().get(&entity).copied());
            // The body may have been despawned since the cloth touched it.
            if let Some(body) = handle.and_then(|handle| set.bodies.get_mut(handle)) {
                // Bodies in contact with cloth may fall asleep.
                body.add_force(*force * sign, false);
                body.add_torque(*torque * sign, false);
            }
        }
    }
}
