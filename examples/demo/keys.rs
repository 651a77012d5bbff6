//! Keyboard, and interaction of the camera with the panel.

use crate::scenes::Shown;
use bevy::{prelude::*, window::PrimaryWindow};
#[cfg(feature = "panel")]
use bevy_drape::panel::ClothPanel;
#[cfg(feature = "picking")]
use bevy_drape::picking::ClothPointers;
use bevy_drape::prelude::*;
use bevy_egui::{EguiContext, PrimaryEguiContext, egui};
use bevy_panorbit_camera::PanOrbitCamera;

/// Handles space, `.`, R, H and Esc.
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

/// Disables the camera while the pointer is on the panel or uses a tool on cloth. The camera checks egui too, but
/// egui sees the pointer a frame late: scrolling right after a quick move onto the panel would zoom.
pub(crate) fn hold_camera(
    mut contexts: Query<&mut EguiContext, With<PrimaryEguiContext>>,
    windows: Query<&Window, With<PrimaryWindow>>,
    #[cfg(feature = "picking")] pointers: Option<Res<ClothPointers>>,
    shown: Option<Res<Shown>>,
    mut cameras: Query<&mut PanOrbitCamera>,
) {
    #[cfg(feature = "picking")]
    let is_busy = pointers.is_some_and(|pointers| pointers.are_busy());
    #[cfg(not(feature = "picking"))]
    let is_busy = false;
    let is_fixed = shown.is_some_and(|shown| shown.has_fixed_view());
    if is_busy || is_fixed {
        cameras
            .iter_mut()
            .for_each(|mut camera| camera.enabled = false);
        return;
    }
    let (Ok(mut context), Ok(window)) = (contexts.single_mut(), windows.single()) else {
        return;
    };
    let Some(cursor) = window.cursor_position() else {
        return;
    };
    let context = context.get_mut();
    let at = egui::Pos2::new(cursor.x, cursor.y) / context.zoom_factor();
    let on_panel = context
        .layer_id_at(at)
        .is_some_and(|layer| layer.order != egui::Order::Background);
    for mut camera in &mut cameras {
        camera.enabled = !on_panel;
    }
}
