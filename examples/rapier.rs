//! Cloth coupled with rigid bodies of Rapier: a net catches balls, a chest hangs from a banner, a hammock supports
//! a cylinder.

#[path = "common/engine_scene.rs"]
mod engine_scene;

use bevy::prelude::*;
use bevy_drape::prelude::*;
use bevy_rapier3d::prelude::*;
use engine_scene::{Body, Shape};

fn main() {
    App::new()
        // Same fixed steps as the cloth.
        .insert_resource(TimestepMode::Fixed {
            dt: 1.0 / 64.0,
            substeps: 1,
        })
        .add_plugins((
            DefaultPlugins,
            RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
        ))
        .add_plugins((ClothPlugin::default(), RapierClothPlugin))
        .add_plugins(engine_scene::plugin)
        .add_observer(add_rigid_body)
        .run();
}

/// Adds Rapier's components to a body of the scene. The cloths of the scene need none.
fn add_rigid_body(added: On<Add, Body>, bodies: Query<&Body>, mut commands: Commands) {
    let Ok(body) = bodies.get(added.entity) else {
        return;
    };
    let collider = match body.shape {
        Shape::Sphere(Sphere { radius }) => Collider::ball(radius),
        Shape::Cuboid(Cuboid { half_size }) => {
            Collider::cuboid(half_size.x, half_size.y, half_size.z)
        }
        Shape::Cylinder(cylinder) => Collider::cylinder(cylinder.half_height, cylinder.radius),
    };
    let mut entity = commands.entity(added.entity);
    match body.mass {
        Some(mass) => entity.insert((
            RigidBody::Dynamic,
            collider,
            ColliderMassProperties::Mass(mass),
            Velocity::linear(body.velocity),
        )),
        None => entity.insert((RigidBody::Fixed, collider)),
    };
}
