//! Changing scenes.

use crate::{
    scenes::{InScene, SCENES, Set, Shown},
    stage::Props,
};
use bevy::prelude::*;
use bevy_drape::prelude::*;
use bevy_panorbit_camera::PanOrbitCamera;

/// How much of it is lost in fog where the camera looks.
const FOG: f32 = 0.28;

/// Puts up the scene that the panel asks for, when it is not the one that is shown.
pub(crate) fn change_scene(
    panel: Res<ClothPanel>,
    mut shown: ResMut<Shown>,
    old: Query<Entity, With<InScene>>,
    mut cameras: Query<(&mut Transform, &mut PanOrbitCamera, &mut DistanceFog)>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    props: Res<Props>,
    gizmos: Option<ResMut<ClothGizmos>>,
) {
    if shown.0 == Some(panel.scene) {
        return;
    }
    let Some(scene) = SCENES.get(panel.scene) else {
        return;
    };
    shown.0 = Some(panel.scene);
    for entity in &old {
        commands.entity(entity).despawn();
    }
    let world = (scene.world)();
    commands.insert_resource(world.wind);
    commands.insert_resource(world.turbulence);
    commands.insert_resource(world.gravity);
    commands.insert_resource(world.substeps);
    commands.insert_resource(world.lod);
    // Without pictures there are none.
    if let Some(mut gizmos) = gizmos {
        gizmos.wind_zones = world.wind_zones;
    }
    #[cfg(feature = "picking")]
    commands.insert_resource((scene.tools)());
    let [eye, focus] = scene.view;
    for (mut transform, mut camera, mut fog) in &mut cameras {
        // As thin from afar as from near.
        fog.falloff = FogFalloff::ExponentialSquared {
            density: FOG / eye.distance(focus),
        };
        *transform = Transform::from_translation(eye).looking_at(focus, Vec3::Y);
        // It takes its angles and its distance from the transform when it begins.
        camera.focus = focus;
        camera.target_focus = focus;
        (camera.yaw, camera.pitch, camera.radius) = (None, None, None);
        camera.initialized = false;
    }
    (scene.spawn)(&mut Set {
        commands: &mut commands,
        meshes: &mut meshes,
        materials: &mut materials,
        props: &props,
    });
}
