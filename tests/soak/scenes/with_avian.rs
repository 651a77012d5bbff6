use super::{Scene, headless_app, net_with};
use avian3d::prelude::*;
use bevy_drape::prelude::*;

/// Balls of Avian in a net.
pub(super) fn net() -> Scene {
    let app = headless_app((
        ClothPlugin::default(),
        PhysicsPlugins::default(),
        AvianClothPlugin,
    ));
    let ball = (RigidBody::Dynamic, Collider::sphere(0.1), Mass(0.5));
    net_with::<(LinearVelocity, AngularVelocity)>("Avian", app, ball)
}
