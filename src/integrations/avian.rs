//! Cloth among the bodies of [Avian](avian3d). Feature `avian`.

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
use avian3d::{
    dynamics::{rigid_body::RigidBodyQueryReadOnly, solver::islands::WakeBody},
    parry::shape::SharedShape,
    prelude::{self as avian, *},
};
use bevy::{ecs::system::SystemParam, prelude::*};
use std::sync::Arc;

/// Lets cloth meet the colliders of Avian, and Avian's bodies feel cloth.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// use avian3d::prelude::PhysicsPlugins;
///
/// App::new()
///     .add_plugins((DefaultPlugins, PhysicsPlugins::default()))
///     .add_plugins((ClothPlugin::default(), AvianClothPlugin));
/// ```
///
/// Cloth meets all shapes, of bodies of all kinds and of colliders without one; sensors it goes through.
/// A dynamic body is pushed by cloth and carried by it; pin cloth to it ([`Pins::to_entity`]) and it is
/// pulled. [`CollisionLayers`] on the entity of the cloth say what it meets, as if it were a collider, and
/// [`ClothLayers`] on a collider say which cloths. Friction is that of the collider, or else its body, or
/// else the [`DefaultFriction`]; with that of the fabric it makes the geometric mean.
///
/// The steps of the cloth come before those of Avian in the same fixed update, whichever of the fixed
/// schedules that is in. Needs the feature `avian`.
///
/// [`Pins::to_entity`]: crate::Pins::to_entity
/// [`ClothLayers`]: crate::ClothLayers
pub struct AvianClothPlugin;

impl Plugin for AvianClothPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<BodyMemory>().init_resource::<Shapes>();
    }

    fn finish(&self, app: &mut App) {
        let Some(schedule) = exchange::schedule(app, "AvianClothPlugin") else {
            return;
        };
        if !app
            .world()
            .contains_resource::<avian3d::collider_tree::ColliderTrees>()
        {
            error!("AvianClothPlugin does nothing without Avian's PhysicsPlugins; add those too");
            return;
        }
        if !exchange::connect(app, "AvianClothPlugin") {
            return;
        }
        app.configure_sets(
            schedule,
            (ClothSystems::Prepare, ClothSystems::Finish).before(PhysicsSystems::First),
        )
        .add_systems(
            schedule,
            (
                meet.in_set(ClothSystems::Prepare).before(systems::watch),
                hand_over
                    .after(ClothSystems::Finish)
                    .before(PhysicsSystems::First),
            )
                .run_if(cloth_step_due),
        );
    }
}

/// What colliders are made of.
#[derive(Resource, Default)]
struct Shapes(shapes::Shapes<SharedShape>);

/// A collider.
type Collided = (
    &'static Collider,
    &'static Position,
    &'static Rotation,
    Option<&'static ColliderOf>,
    Option<&'static CollisionLayers>,
    Option<&'static ClothLayers>,
    Option<&'static avian::Friction>,
    Has<Sensor>,
    Has<ColliderDisabled>,
);

/// All that is seen of Avian.
#[derive(SystemParam)]
struct World<'w, 's> {
    query: SpatialQuery<'w, 's>,
    colliders: Query<'w, 's, Collided>,
    bodies: Query<'w, 's, (RigidBodyQueryReadOnly, Has<RigidBodyDisabled>)>,
    frictions: Query<'w, 's, &'static avian::Friction>,
    default_friction: Res<'w, DefaultFriction>,
    cloths: Query<'w, 's, &'static CollisionLayers>,
    shapes: ResMut<'w, Shapes>,
    time: Res<'w, Time<Physics>>,
}

impl Engine for World<'_, '_> {
    fn near(&self, cloth: &MeetingItem, [low, high]: [Vec3; 2], found: &mut Vec<Entity>) {
        let own = self.cloths.get(cloth.entity).copied().unwrap_or_default();
        let layers = cloth.layers.copied().unwrap_or_default();
        let around = ColliderAabb::from_min_max(low, high);
        self.query
            .aabb_intersections_with_aabb_callback(around, |entity| {
                if entity != cloth.entity
                    && let Ok((.., collision, of, _, sensor, disabled)) = self.colliders.get(entity)
                    && !(sensor || disabled)
                    && own.interacts_with(collision.copied().unwrap_or_default())
                    && layers.meets(of.copied().unwrap_or_default())
                {
                    found.push(entity);
                }
                true
            });
    }

    fn body_of(&self, collider: Entity) -> Entity {
        let of = self.colliders.get(collider).ok().and_then(|all| all.3);
        of.map_or(collider, |of| of.body)
    }

    fn motion(&self, body: Entity) -> Option<Motion> {
        let Ok((seen, disabled)) = self.bodies.get(body) else {
            // A collider without a body.
            let (_, position, rotation, ..) = self.colliders.get(body).ok()?;
            return Some(Motion::still(Pose {
                rotation: rotation.0,
                translation: position.0,
            }));
        };
        let rotation = seen.rotation.0;
        let still = Motion::still(Pose {
            rotation,
            translation: seen.position.0 + rotation * seen.center_of_mass.0,
        });
        let speed = self.time.relative_speed();
        if seen.rb.is_static() || disabled || self.time.is_paused() || speed == 0.0 {
            return Some(still);
        }
        let moving = Motion {
            velocity: seen.linear_velocity.0 * speed,
            spin: seen.angular_velocity.0 * speed,
            ..still
        };
        // None of what is not dynamic.
        let inertia = seen.effective_global_angular_inertia();
        Some(Motion {
            inverse_mass: seen.effective_inverse_mass(),
            inverse_inertia: inertia.inverse().to_mat3(),
            asleep: seen.is_sleeping,
            ..moving
        })
    }

    fn parts(&mut self, collider: Entity, centre: &Pose, parts: &mut Vec<BodyPart>) {
        let Ok((shape, position, rotation, of, _, _, friction, ..)) = self.colliders.get(collider)
        else {
            return;
        };
        let of_body = of.and_then(|of| self.frictions.get(of.body).ok());
        let friction = friction.or(of_body).unwrap_or(&self.default_friction.0);
        let friction = Friction {
            fixed: friction.static_coefficient.max(0.0),
            kinetic: friction.dynamic_coefficient.max(0.0),
        };
        let shape = shape.shape_scaled();
        let same = |a: &SharedShape, b: &SharedShape| Arc::ptr_eq(&a.0, &b.0);
        let solids = (self.shapes.0).of(collider, shape, same, |shape, solids| {
            shapes::avian::read(&**shape, &Pose::ORIGIN, solids)
        });
        let at = Pose {
            rotation: rotation.0,
            translation: position.0,
        };
        shapes::place(solids, &at, centre, friction, parts);
    }
}

fn meet(mut world: World, mut cloths: Query<Meeting>, memory: Res<BodyMemory>, clock: Res<Time>) {
    exchange::meet(
        &mut world,
        &mut cloths,
        &memory,
        systems::step_length(&clock),
    );
    let World {
        colliders, shapes, ..
    } = &mut world;
    shapes.0.retain(|entity| colliders.contains(entity));
}

fn hand_over(
    cloths: Query<Meeting>,
    mut memory: ResMut<BodyMemory>,
    mut forces: Query<Forces>,
    clock: Res<Time>,
    time: Res<Time<Physics>>,
    mut commands: Commands,
) {
    // What was given in a step of the cloth acts during one of Avian.
    let dt = clock.delta_secs() * time.relative_speed();
    for given in exchange::hand_over(&cloths, &mut memory) {
        let Given {
            body,
            impulse,
            twist,
            wake,
        } = given;
        // It may have been despawned while it touched the cloth.
        let Ok(mut forces) = forces.get_mut(body) else {
            continue;
        };
        if wake {
            commands.queue_silenced(WakeBody(body));
        }
        if dt > 0.0 && wake {
            forces.apply_force(impulse / dt);
            forces.apply_torque(twist / dt);
        } else if dt > 0.0 {
            // What lies on cloth, or under it, may fall asleep.
            let mut forces = forces.non_waking();
            forces.apply_force(impulse / dt);
            forces.apply_torque(twist / dt);
        }
    }
}
