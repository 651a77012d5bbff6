//! Begins a tool when a pointer button is pressed and ends it when the button is released.

use super::{
    ClothTool, ClothTools, apply_tools::brush_targets, hovered_edge::HoveredEdges,
    view::PointerViews,
};
use crate::{
    grab::{ClothGrabs, GrabCloth, ReleaseCloth},
    tearing::TearEdge,
};
use bevy::{
    input::mouse::MouseScrollUnit,
    picking::{
        backend::HitData,
        hover::HoverMap,
        pointer::{Location, PointerAction, PointerButton, PointerId, PointerInput},
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

pub(super) fn handle_pointer_input(
    mut inputs: MessageReader<PointerInput>,
    mut pointers: ResMut<ClothPointers>,
    hovered: Res<HoverMap>,
    hovered_edges: Res<HoveredEdges>,
    tools: Res<ClothTools>,
    views: PointerViews,
    cloths: super::backend::ClothRaycast,
    is_cloth: Query<(), With<ClothGrabs>>,
    is_open: Query<(), Or<(With<Window>, With<Mesh3d>)>>,
    #[cfg(feature = "panel")] mut egui: super::egui::EguiHitTest,
    mut commands: Commands,
) {
    let is_lost = |pointer: &PointerId| views.entity_of(*pointer).is_none();
    let lost_pointers: Vec<PointerId> = pointers.active.keys().copied().filter(is_lost).collect();
    for pointer in lost_pointers {
        release(&mut pointers, pointer, &mut commands);
    }
    for input in inputs.read() {
        let pointer = input.pointer_id;
        match input.action {
            PointerAction::Press(button) if !pointers.is_busy(pointer) => {
                let under = hovered.get(&pointer);
                let mut entities = under.into_iter().flat_map(|hits| hits.keys());
                #[cfg(feature = "panel")]
                if egui.covers(pointer) {
                    continue;
                }
                // Any other hovered entity, such as a button or a panel, blocks the cloth.
                if !entities.all(|entity| is_open.contains(*entity)) {
                    continue;
                }
                let nearest = under.into_iter().flatten();
                let nearest = nearest.filter(|(entity, _)| is_cloth.contains(**entity));
                let nearest = nearest.min_by(|a, b| a.1.depth.total_cmp(&b.1.depth));
                let tool = tools.of(button);
                let press = ButtonPress {
                    tool,
                    tools: &tools,
                    location: &input.location,
                    hit: nearest.map(|(entity, hit)| (*entity, hit)),
                    pointer,
                };
                if tool == ClothTool::Edge {
                    if let Some(edge) = hovered_edges.get(pointer) {
                        commands.trigger(TearEdge {
                            entity: edge.cloth,
                            edge: edge.particles,
                        });
                    }
                } else if let Some(active) = press.begin(button, &views, &cloths, &mut commands) {
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

/// Button press over a cloth or beside it.
struct ButtonPress<'a> {
    tool: ClothTool,
    tools: &'a ClothTools,
    location: &'a Location,
    /// Nearest cloth under the pointer, and the hit on it.
    hit: Option<(Entity, &'a HitData)>,
    pointer: PointerId,
}

impl ButtonPress<'_> {
    /// Starts the tool; returns its state until the button is released.
    fn begin(
        &self,
        button: PointerButton,
        views: &PointerViews,
        cloths: &super::backend::ClothRaycast,
        commands: &mut Commands,
    ) -> Option<ActivePointer> {
        let by = views.entity_of(self.pointer)?;
        let camera = match self.hit {
            Some((_, hit)) => hit.camera,
            None => views.camera_at(self.location)?,
        };
        let grab = |cloth: Entity, at: Vec3, radius: f32| GrabCloth {
            radius,
            // The rendered cloth can be a frame behind, or a rope hit by tolerance: take the nearest point at any
            // distance.
            reach: f32::INFINITY,
            force: self.tools.force,
            speed: self.tools.speed,
            ..GrabCloth::new(cloth, by, at)
        };
        let task = match self.tool {
            ClothTool::None | ClothTool::Edge => return None,
            ClothTool::Blade => PointerTask::Cut {
                last: self.location.position,
            },
            ClothTool::Shred => PointerTask::Shred,
            ClothTool::Grab => {
                let (cloth, hit) = self.hit?;
                let at = hit.position?;
                commands.trigger(grab(cloth, at, 0.0));
                PointerTask::Grab {
                    cloths: vec![(cloth, views.depth(camera, at)?)],
                }
            }
            ClothTool::Brush => {
                let (position, radius) = (self.location.position, self.tools.radius);
                let targets = brush_targets(camera, position, radius, views, cloths);
                if targets.is_empty() {
                    return None;
                }
                for &(cloth, at, _) in &targets {
                    commands.trigger(grab(cloth, at, radius));
                }
                let depths = targets.iter().map(|&(cloth, _, depth)| (cloth, depth));
                PointerTask::Grab {
                    cloths: depths.collect(),
                }
            }
        };
        Some(ActivePointer {
            button,
            camera,
            by,
            task,
        })
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
