//! The keyboard, and changing scenes.

use crate::{
    scenes::{InScene, SCENES},
    stage::Props,
};
use bevy::prelude::*;
use bevy_drape::prelude::*;

/// Space, `.`, R, H and Esc.
pub(crate) fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut time: ResMut<ClothTime>,
    mut panel: ResMut<ClothPanel>,
    cloths: Query<Entity, With<Cloth>>,
    mut commands: Commands,
    mut exit: MessageWriter<AppExit>,
) {
    if keys.just_pressed(KeyCode::Space) {
        time.paused = !time.paused;
    }
    if keys.just_pressed(KeyCode::Period) {
        time.paused = true;
        time.request_step();
    }
    if keys.just_pressed(KeyCode::KeyR) {
        for entity in &cloths {
            commands.trigger(ResetCloth { entity });
        }
    }
    if keys.just_pressed(KeyCode::KeyH) {
        panel.visible = !panel.visible;
    }
    if keys.just_pressed(KeyCode::Escape) {
        exit.write(AppExit::Success);
    }
}

/// The scene that is shown.
#[derive(Resource, Default)]
pub(crate) struct Shown(Option<usize>);

/// Puts up the scene that the panel asks for, when it is not the one that is shown.
pub(crate) fn change_scene(
    panel: Res<ClothPanel>,
    mut shown: ResMut<Shown>,
    mut wind: ResMut<Wind>,
    old: Query<Entity, With<InScene>>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    props: Res<Props>,
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
    (scene.spawn)(&mut commands, &mut meshes, &props);
    wind.velocity = scene.wind;
}
