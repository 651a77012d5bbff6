use super::{Scene, headless_app, net_with};
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
    let mass = ColliderMassProperties::Mass(0.5);
    let ball = (RigidBody::Dynamic, Collider::ball(0.1), mass);
    net_with::<Velocity>("Rapier", app, ball)
}
