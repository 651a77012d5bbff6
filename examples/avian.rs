//! Cloth coupled with rigid bodies of Avian: a net catches balls, a chest hangs from a banner, a hammock supports
//! a cylinder.

#[path = "common/engine_scene.rs"]
mod engine_scene;

use avian3d::prelude::*;
use bevy::prelude::*;
use bevy_drape::prelude::*;
use engine_scene::{Body, Shape};

fn main() {
    App::new()
        .add_plugins((DefaultPlugins, PhysicsPlugins::default()))
        .add_plugins((ClothPlugin::default(), AvianClothPlugin))
        .add_plugins(engine_scene::plugin)
        .add_observer(add_rigid_body)
        .run();
}

/// Adds Avian's components to a body of the scene. The cloths of the scene need none.
fn add_rigid_body(added: On<Add, Body>, bodies: Query<&Body>, mut commands: Commands) {
    let Ok(body) = bodies.get(added.entity) else {
        return;
    };
    let collider = match body.shape {
        Shape::Sphere(Sphere { radius }) => Collider::sphere(radius),
        Shape::Cuboid(Cuboid { half_size }) => {
            let size = 2.0 * half_size;
            Collider::cuboid(size.x, size.y, size.z)
        }
        Shape::Cylinder(cylinder) => {
            Collider::cylinder(cylinder.radius, 2.0 * cylinder.half_height)
        }
    };
    let mut entity = commands.entity(added.entity);
    match body.mass {
        Some(mass) => entity.insert((
            RigidBody::Dynamic,
            collider,
            Mass(mass),
            LinearVelocity(body.velocity),
        )),
        None => entity.insert((RigidBody::Static, collider)),
    };
}
