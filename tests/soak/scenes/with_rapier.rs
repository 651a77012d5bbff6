use super::{DROP_EVERY, Scene, drop_point, headless_app, spawn_net};
use bevy::prelude::*;
use bevy_drape::prelude::*;
use bevy_rapier3d::prelude::*;

/// Balls of Rapier in a net.
pub(super) fn net() -> Scene {
    let mut app = headless_app((
        ClothPlugin::default(),
        RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
        RapierClothPlugin,
    ));
    app.insert_resource(TimestepMode::Fixed {
        dt: 1.0 / 60.0,
        substeps: 1,
    });
    spawn_net(&mut app);
    let ball = |body| {
        (
            RigidBody::Dynamic,
            Collider::ball(0.1),
            ColliderMassProperties::Mass(0.5),
            Velocity::zero(),
            Transform::from_translation(drop_point(body, 0)),
        )
    };
    let balls = (0..3).map(|body| app.world_mut().spawn(ball(body)).id());
    let balls = balls.collect();
    Scene::new("Rapier", app, balls, |app, balls, step| {
        if step.is_multiple_of(DROP_EVERY) {
            for (body, &ball) in balls.iter().enumerate() {
                let at = Transform::from_translation(drop_point(body, step));
                app.world_mut()
                    .entity_mut(ball)
                    .insert((at, Velocity::zero()));
            }
        }
    })
}
