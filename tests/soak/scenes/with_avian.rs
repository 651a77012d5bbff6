use super::{DROP_EVERY, Scene, drop_point, headless_app, spawn_net};
use avian3d::prelude::*;
use bevy::prelude::*;
use bevy_drape::prelude::*;

/// Balls of Avian in a net.
pub(super) fn net() -> Scene {
    let mut app = headless_app((
        ClothPlugin::default(),
        PhysicsPlugins::default(),
        AvianClothPlugin,
    ));
    spawn_net(&mut app);
    let ball = |body| {
        (
            RigidBody::Dynamic,
            Collider::sphere(0.1),
            Mass(0.5),
            Transform::from_translation(drop_point(body, 0)),
        )
    };
    let balls = (0..3).map(|body| app.world_mut().spawn(ball(body)).id());
    let balls = balls.collect();
    Scene::new("Avian", app, balls, |app, balls, step| {
        if step.is_multiple_of(DROP_EVERY) {
            for (body, &ball) in balls.iter().enumerate() {
                let at = Transform::from_translation(drop_point(body, step));
                let still = (LinearVelocity::ZERO, AngularVelocity::ZERO);
                app.world_mut().entity_mut(ball).insert((at, still));
            }
        }
    })
}
