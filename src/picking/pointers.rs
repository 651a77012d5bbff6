//! Begins a tool when a pointer button is pressed and ends it when the button is released.

use super::{
    ClothTool, ClothTools, apply_tools::brush_targets, backend::ClothRaycast,
    hovered_edge::HoveredEdges, view::PointerViews,
};
use crate::{
    grab::{ClothGrabs, GrabCloth, ReleaseCloth},
    tearing::TearEdge,
};
use bevy::{
    ecs::system::SystemParam,
    input::mouse::MouseScrollUnit,
    picking::{
        hover::HoverMap,
        pointer::{PointerAction, PointerButton, PointerId, PointerInput},
    },
    platform::collections::HashMap,
    prelude::*,
    window::Window,
};

/// Pointers that currently use a tool on cloth.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::picking::ClothPointers;
/// fn pause_camera(pointers: Res<ClothPointers>) {
///     if pointers.are_busy() {
///         // A tool uses the buttons of the camera.
///     }
/// }
/// ```
#[derive(Resource, Debug, Default)]
pub struct ClothPointers {
    pub(super) active: HashMap<PointerId, ActivePointer>,
}

/// Tool in use by one pointer.
#[derive(Clone, Debug)]
pub(super) struct ActivePointer {
    /// Button that ends the tool when it is released.
    pub(super) button: PointerButton,
    /// Camera that the pointer picks through.
    pub(super) camera: Entity,
    /// Entity of the pointer, which grabs and cuts.
    pub(super) by: Entity,
    pub(super) task: PointerTask,
}

impl ActivePointer {
    /// Changes the depth of grabbed cloth by lines of the scroll wheel. Scrolling forward moves the cloth away, as it
    /// moves a camera forward.
    fn scroll(&mut self, lines: f32) {
        if let PointerTask::Grab { cloths } = &mut self.task {
            for (_, depth) in cloths {
                *depth = (*depth * (1.0 + SCROLL_STEP).powf(lines)).max(MIN_DEPTH);
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum PointerTask {
    /// Grabs of these cloths, each at this depth in front of the camera, m.
    Grab { cloths: Vec<(Entity, f32)> },
    /// Cut from the last position on the screen.
    Cut { last: Vec2 },
    /// Tearing of all edges within the brush.
    Shred,
}

impl ClothPointers {
    /// Returns whether any pointer uses a tool.
    pub fn are_busy(&self) -> bool {
        !self.active.is_empty()
    }

    /// Returns whether a pointer uses a tool.
    pub fn is_busy(&self, pointer: PointerId) -> bool {
        self.active.contains_key(&pointer)
    }
}

/// Change of depth per line of the scroll wheel, as a fraction of the depth.
const SCROLL_STEP: f32 = 0.06;

/// Smallest depth of grabbed cloth in front of the camera, m.
const MIN_DEPTH: f32 = 0.05;

/// Begins the tool of each button that was pressed, and ends that of each button that was released.
pub(super) fn handle_pointer_input(
    mut inputs: MessageReader<PointerInput>,
    mut pointers: ResMut<ClothPointers>,
    params: PressParams,
    #[cfg(feature = "panel")] mut egui: super::egui::EguiHitTest,
    mut commands: Commands,
) {
    let is_lost = |pointer: &PointerId| params.views.entity_of(*pointer).is_none();
    let lost_pointers: Vec<PointerId> = pointers.active.keys().copied().filter(is_lost).collect();
    for pointer in lost_pointers {
        release(&mut pointers, pointer, &mut commands);
    }
    for input in inputs.read() {
        let pointer = input.pointer_id;
        match input.action {
            PointerAction::Press(button) if !pointers.is_busy(pointer) => {
                #[cfg(feature = "panel")]
                if egui.covers(pointer) {
                    continue;
                }
                if let Some(active) = params.press(input, button, &mut commands) {
                    pointers.active.insert(pointer, active);
                }
            }
            PointerAction::Release(button)
                if pointers
                    .active
                    .get(&pointer)
                    .is_some_and(|active| active.button == button) =>
            {
                release(&mut pointers, pointer, &mut commands);
            }
            PointerAction::Cancel => release(&mut pointers, pointer, &mut commands),
            PointerAction::Scroll { y, unit, .. } => {
                let lines = match unit {
                    MouseScrollUnit::Line => y,
                    MouseScrollUnit::Pixel => y / MouseScrollUnit::SCROLL_UNIT_CONVERSION_FACTOR,
                };
                if let Some(active) = pointers.active.get_mut(&pointer) {
                    active.scroll(lines);
                }
            }
            _ => {}
        }
    }
}

/// Access to everything under the pointers, for button presses.
#[derive(SystemParam)]
pub(super) struct PressParams<'w, 's> {
    hovered: Res<'w, HoverMap>,
    hovered_edges: Res<'w, HoveredEdges>,
    tools: Res<'w, ClothTools>,
    views: PointerViews<'w, 's>,
    cloths: ClothRaycast<'w, 's>,
    is_cloth: Query<'w, 's, (), With<ClothGrabs>>,
    is_open: Query<'w, 's, (), Or<(With<Window>, With<Mesh3d>)>>,
}

impl PressParams<'_, '_> {
    /// Starts the tool of a button over a cloth or beside it; returns its state until the button is released.
    fn press(
        &self,
        input: &PointerInput,
        button: PointerButton,
        commands: &mut Commands,
    ) -> Option<ActivePointer> {
        let (pointer, location) = (input.pointer_id, &input.location);
        let under = self.hovered.get(&pointer);
        let mut entities = under.into_iter().flat_map(|hits| hits.keys());
        // Any other hovered entity, such as a button or a panel, blocks the cloth.
        if !entities.all(|entity| self.is_open.contains(*entity)) {
            return None;
        }
        let tool = self.tools.of(button);
        if tool == ClothTool::Edge {
            let edge = self.hovered_edges.get(pointer)?;
            commands.trigger(TearEdge {
                entity: edge.cloth,
                edge: edge.particles,
            });
            return None;
        }
        let by = self.views.entity_of(pointer)?;
        let on_cloth = under.into_iter().flatten();
        let on_cloth = on_cloth.filter(|(entity, _)| self.is_cloth.contains(**entity));
        let hit = on_cloth.min_by(|a, b| a.1.depth.total_cmp(&b.1.depth));
        let camera = match hit {
            Some((_, hit)) => hit.camera,
            None => self.views.camera_at(location)?,
        };
        let position = location.position;
        let task = match tool {
            ClothTool::None | ClothTool::Edge => return None,
            ClothTool::Blade => PointerTask::Cut { last: position },
            ClothTool::Shred => PointerTask::Shred,
            ClothTool::Grab => {
                let (&cloth, hit) = hit?;
                let at = hit.position?;
                commands.trigger(self.grab(cloth, by, at, 0.0));
                let cloths = vec![(cloth, self.views.depth(camera, at)?)];
                PointerTask::Grab { cloths }
            }
            ClothTool::Brush => self.grab_in_brush(camera, by, position, commands)?,
        };
        Some(ActivePointer {
            button,
            camera,
            by,
            task,
        })
    }

    /// Grabs all cloths within a brush at a screen position, if there are any.
    fn grab_in_brush(
        &self,
        camera: Entity,
        by: Entity,
        position: Vec2,
        commands: &mut Commands,
    ) -> Option<PointerTask> {
        let radius = self.tools.radius;
        let targets = brush_targets(camera, position, radius, &self.views, &self.cloths);
        for &(cloth, at, _) in &targets {
            commands.trigger(self.grab(cloth, by, at, radius));
        }
        let depths = targets.iter().map(|&(cloth, _, depth)| (cloth, depth));
        let cloths = depths.collect();
        (!targets.is_empty()).then_some(PointerTask::Grab { cloths })
    }

    fn grab(&self, cloth: Entity, by: Entity, at: Vec3, radius: f32) -> GrabCloth {
        GrabCloth {
            radius,
            // The rendered cloth can be a frame behind, or a rope hit by tolerance: take the nearest point at any
            // distance.
            reach: f32::INFINITY,
            force: self.tools.force,
            speed: self.tools.speed,
            ..GrabCloth::new(cloth, by, at)
        }
    }
}

fn release(pointers: &mut ClothPointers, pointer: PointerId, commands: &mut Commands) {
    let Some(active) = pointers.active.remove(&pointer) else {
        return;
    };
    if let PointerTask::Grab { cloths, .. } = active.task {
        for (entity, _) in cloths {
            // Events on a despawned cloth have no target.
            if commands.get_entity(entity).is_ok() {
                commands.trigger(ReleaseCloth {
                    entity,
                    by: active.by,
                });
            }
        }
    }
}
