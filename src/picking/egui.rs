//! Tests whether a pointer is over an egui window. Queries egui's layout directly: its own report of the pointer
//! is a frame old, and a fast pointer has reached the panel by then.

use bevy::{
    camera::NormalizedRenderTarget,
    ecs::system::SystemParam,
    picking::pointer::{PointerId, PointerLocation},
    prelude::*,
};
use bevy_egui::{EguiContext, egui, input::WindowToEguiContextMap};

#[derive(SystemParam)]
pub(super) struct EguiHitTest<'w, 's> {
    pointers: Query<'w, 's, (&'static PointerId, &'static PointerLocation)>,
    contexts: Query<'w, 's, &'static mut EguiContext>,
    windows: Option<Res<'w, WindowToEguiContextMap>>,
}

impl EguiHitTest<'_, '_> {
    /// Returns whether an egui window, menu or similar area lies under a pointer.
    pub(super) fn covers(&mut self, pointer: PointerId) -> bool {
        let mut pointers = self.pointers.iter();
        let Some((_, location)) = pointers.find(|(id, _)| **id == pointer) else {
            return false;
        };
        let (Some(location), Some(windows)) = (location.location(), &self.windows) else {
            return false;
        };
        let NormalizedRenderTarget::Window(window) = location.target else {
            return false;
        };
        let contexts = windows.window_to_contexts.get(&window.entity());
        contexts.into_iter().flatten().any(|&context| {
            let Ok(mut context) = self.contexts.get_mut(context) else {
                return false;
            };
            let context = context.get_mut();
            let at = egui::Pos2::new(location.position.x, location.position.y);
            let layer = context.layer_id_at(at / context.zoom_factor());
            layer.is_some_and(|layer| layer.order != egui::Order::Background)
        })
    }
}
