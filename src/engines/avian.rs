//! Two-way coupling of cloth with [Avian](avian3d). Feature `avian`.

use super::coupling::{self, BodyImpulse, CoupledClothItem, Engine, EngineCollider};
use crate::{
    collision::layers::ClothLayers,
    solver::{BodyMotion, Friction, Pose},
};
use avian3d::{
    collider_tree::ColliderTrees,
    dynamics::{rigid_body::RigidBodyQueryReadOnly, solver::islands::WakeBody},
    parry::shape::SharedShape,
    prelude::{self as avian, *},
};
use bevy::{ecs::system::SystemParam, prelude::*};

/// Plugin that couples cloth with Avian: cloth collides with its colliders, and pushes its bodies.
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
/// Cloth collides with all shapes except custom ones, on bodies of all kinds and on colliders without a body;
/// sensors are ignored. Cloth pushes and supports dynamic bodies, and pulls those that it is pinned to
/// ([`Pins::to_entity`]). [`CollisionLayers`] on the entity of the cloth filter colliders as for a collider, and
/// [`ClothLayers`] on a collider filter cloths. Friction is that of the collider, else of its body, else the
/// [`DefaultFriction`], combined with that of the fabric by the geometric mean.
///
/// Cloth steps before Avian in the same fixed update, in whichever fixed schedule each of them runs. Needs the
/// feature `avian`.
///
/// [`Pins::to_entity`]: crate::pins::Pins::to_entity
/// [`ClothLayers`]: crate::collision::ClothLayers
pub struct AvianClothPlugin;

impl Plugin for AvianClothPlugin {
    fn build(&self, _: &mut App) {}

    fn finish(&self, app: &mut App) {
        if !app.world().contains_resource::<ColliderTrees>() {
            error!("AvianClothPlugin does nothing without Avian's PhysicsPlugins; add those too");
            return;
        }
        coupling::couple::<AvianWorld, _, _>(
            app,
            "AvianClothPlugin",
            PhysicsSystems::First,
            apply_impulses,
        );
    }
}

/// Components of a collider.
type ColliderData = (
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

/// Access to Avian's state.
#[derive(SystemParam)]
struct AvianWorld<'w, 's> {
    query: SpatialQuery<'w, 's>,
    colliders: Query<'w, 's, ColliderData>,
    bodies: Query<'w, 's, (RigidBodyQueryReadOnly, Has<RigidBodyDisabled>)>,
    frictions: Query<'w, 's, &'static avian::Friction>,
    default_friction: Res<'w, DefaultFriction>,
    cloths: Query<'w, 's, &'static CollisionLayers>,
    time: Res<'w, Time<Physics>>,
}

impl Engine for AvianWorld<'_, '_> {
    type Shape = SharedShape;

    fn find_colliders(
        &self,
        cloth: &CoupledClothItem,
        [low, high]: [Vec3; 2],
        found: &mut Vec<Entity>,
    ) {
        let own = self.cloths.get(cloth.entity).copied().unwrap_or_default();
        let layers = cloth.layers.copied().unwrap_or_default();
        let bounds = ColliderAabb::from_min_max(low, high);
        self.query
            .aabb_intersections_with_aabb_callback(bounds, |entity| {
                if entity != cloth.entity
                    && let Ok((.., collision, cloth_layers, _, sensor, disabled)) =
                        self.colliders.get(entity)
                    && !(sensor || disabled)
                    && own.interacts_with(collision.copied().unwrap_or_default())
                    && layers.interacts_with(cloth_layers.copied().unwrap_or_default())
                {
                    found.push(entity);
                }
                true
            });
    }

    fn body_of(&self, collider: Entity) -> Entity {
        let collider_of = self.colliders.get(collider).ok().and_then(|all| all.3);
        collider_of.map_or(collider, |of| of.body)
    }

    fn motion(&self, body: Entity) -> Option<BodyMotion> {
        let Ok((rigid_body, disabled)) = self.bodies.get(body) else {
            // Collider without a body.
            let (_, position, rotation, ..) = self.colliders.get(body).ok()?;
            return Some(BodyMotion::still(Pose {
                rotation: rotation.0,
                translation: position.0,
            }));
        };
        let rotation = rigid_body.rotation.0;
        let still = BodyMotion::still(Pose {
            rotation,
            translation: rigid_body.position.0 + rotation * rigid_body.center_of_mass.0,
        });
        let speed = self.time.relative_speed();
        if rigid_body.rb.is_static() || disabled || self.time.is_paused() || speed == 0.0 {
            return Some(still);
        }
        let moving = BodyMotion {
            velocity: rigid_body.linear_velocity.0 * speed,
            angular_velocity: rigid_body.angular_velocity.0 * speed,
            ..still
        };
        // The inverse mass and inertia are 0 unless the body is dynamic.
        let inertia = rigid_body.effective_global_angular_inertia();
        Some(BodyMotion {
            inverse_mass: rigid_body.effective_inverse_mass(),
            inverse_inertia: inertia.inverse().to_mat3(),
            asleep: rigid_body.is_sleeping,
            ..moving
        })
    }

    fn collider(&self, collider: Entity) -> Option<EngineCollider<'_, SharedShape>> {
        let (shape, position, rotation, collider_of, _, _, friction, ..) =
            self.colliders.get(collider).ok()?;
        let body_friction = collider_of.and_then(|of| self.frictions.get(of.body).ok());
        let friction = friction
            .or(body_friction)
            .unwrap_or(&self.default_friction.0);
        Some(EngineCollider {
            shape: shape.shape_scaled(),
            pose: Pose {
                rotation: rotation.0,
                translation: position.0,
            },
            friction: Friction {
                static_coefficient: friction.static_coefficient.max(0.0),
                kinetic_coefficient: friction.dynamic_coefficient.max(0.0),
            },
        })
    }
}

fn apply_impulses(
    In(impulses): In<Vec<BodyImpulse>>,
    mut forces: Query<Forces>,
    clock: Res<Time>,
    time: Res<Time<Physics>>,
    mut commands: Commands,
) {
    // Impulses of one cloth step act during one step of Avian.
    let dt = clock.delta_secs() * time.relative_speed();
    for impulse in impulses {
        // The body may have been despawned since the cloth touched it.
        let Ok(mut forces) = forces.get_mut(impulse.body) else {
            continue;
        };
        if impulse.wake {
            commands.queue_silenced(WakeBody(impulse.body));
        }
        if let Some([force, torque]) = impulse.force(dt) {
            if impulse.wake {
                forces.apply_force(force);
                forces.apply_torque(torque);
            } else {
                // Bodies in contact with cloth may fall asleep.
                let mut forces = forces.non_waking();
                forces.apply_force(force);
                forces.apply_torque(torque);
            }
        }
    }
}
