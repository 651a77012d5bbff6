//! The keyboard, and the camera beside the panel.

use crate::scenes::Shown;
use bevy::{prelude::*, window::PrimaryWindow};
use bevy_drape::prelude::*;
use bevy_egui::{EguiContext, PrimaryEguiContext, egui};
use bevy_panorbit_camera::PanOrbitCamera;

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

/// Keeps the camera still while the mouse is on the panel or has cloth in its hand. The camera asks egui too, but egui hears
/// of the mouse a frame late: a quick flick onto the panel and a turn of the wheel would zoom.
pub(crate) fn hold_camera(
    mut contexts: Query<&mut EguiContext, With<PrimaryEguiContext>>,
    windows: Query<&Window, With<PrimaryWindow>>,
    #[cfg(feature = "picking")] hands: Option<Res<ClothHands>>,
    shown: Option<Res<Shown>>,
    mut cameras: Query<&mut PanOrbitCamera>,
) {
    #[cfg(feature = "picking")]
    let is_busy = hands.is_some_and(|hands| hands.are_busy());
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
