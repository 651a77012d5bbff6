//! Changes scenes.

use crate::{
    scenes::{InScene, SCENES, Set, Shown},
    stage::Props,
};
use bevy::prelude::*;
#[cfg(feature = "debug")]
use bevy_drape::debug::ClothGizmos;
#[cfg(feature = "panel")]
use bevy_drape::panel::ClothPanel;
use bevy_panorbit_camera::PanOrbitCamera;

/// Density of the fog at the focus of the camera.
const FOG: f32 = 0.28;

/// Spawns the scene selected in the panel, if it is not shown yet.
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
    // Without rendering there are no gizmos.
    if let Some(mut gizmos) = gizmos {
        gizmos.wind_zones = world.wind_zones;
    }
    #[cfg(feature = "picking")]
    commands.insert_resource((scene.tools)());
    let [eye, focus] = scene.view;
    for (mut transform, mut camera, mut fog) in &mut cameras {
        // Same fog from any distance.
        fog.falloff = FogFalloff::ExponentialSquared {
            density: FOG / eye.distance(focus),
        };
        *transform = Transform::from_translation(eye).looking_at(focus, Vec3::Y);
        // Initialisation reads angles and distance from the transform.
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
