//! Grabs, cuts and tears cloth with mouse or touch, through Bevy's picking.
//!
//! Everything here can also be done from code ([`ClothCommands`](crate::ClothCommands)).
//!
//! | file | contents |
//! |---|---|
//! | `backend` | picking backend: reports the cloth under each pointer |
//! | `pointers` | begins a tool when a button is pressed, ends it when it is released |
//! | `apply_tools` | moves grabs, cuts and shreds along the path of a pointer |
//! | `hovered_edge` | the edge under a pointer |
//! | `view` | conversion between screen and world |
//! | `egui` | whether a pointer is over an egui window (feature `panel`) |
//! | `cursor` | draws the radius of a brush and the edges in it (feature `debug`) |

mod apply_tools;
mod backend;
#[cfg(feature = "debug")]
mod cursor;
#[cfg(feature = "panel")]
mod egui;
mod hovered_edge;
mod pointers;
mod view;

#[cfg(feature = "debug")]
use crate::cloth::schedule::ClothSystems;
use crate::{plugin::ClothPlugin, time::ClothTime};
pub use backend::ClothHit;
use bevy::{
    picking::{PickingPlugin, PickingSystems, pointer::PointerButton},
    prelude::*,
};
pub use hovered_edge::{HoveredEdge, HoveredEdges};
pub use pointers::ClothPointers;

/// Plugin for pointers that grab, cut and tear cloth with the tools of [`ClothTools`]. Needs Bevy's picking:
/// `DefaultPlugins` with the feature `bevy_picking`, or `DefaultPickingPlugins`.
///
/// Cloth behind an egui window, Bevy's UI, or another mesh that a picking backend reports cannot be grabbed.
/// Blades and brushes can start beside a cloth and stop at egui windows, but ignore anything else in front of the
/// cloth. [`Pickable::IGNORE`] on a cloth disables all tools on it. A camera controller that uses the same button
/// can query [`ClothPointers`] to find out whether a tool is in use.
#[derive(Default)]
pub struct ClothInteractionPlugin;

/// Tools of the pointer buttons. Touch counts as the primary button.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothTools {
    /// Tool of the left button and of touch. Default [`ClothTool::Grab`].
    pub primary: ClothTool,
    /// Tool of the right button. Default [`ClothTool::Blade`].
    pub secondary: ClothTool,
    /// Tool of the middle button. Default [`ClothTool::None`].
    pub middle: ClothTool,
    /// Radius of [`ClothTool::Brush`] and [`ClothTool::Shred`], m. Default 0.1.
    pub radius: f32,
    /// Largest force of a grab, N. Default 20.
    pub force: f32,
    /// Largest speed of a grab, m/s. Default 15.
    pub speed: f32,
    /// Depth of a blade in front of the cloth and behind it, m. Default 0.1: a layer farther behind is not cut.
    pub blade_reach: f32,
    /// Largest distance from an edge to the pointer, in logical pixels. Default 12.
    pub tolerance: f32,
}

impl Default for ClothTools {
    fn default() -> Self {
        Self {
            primary: ClothTool::Grab,
            secondary: ClothTool::Blade,
            middle: ClothTool::None,
            radius: 0.1,
            force: 20.0,
            speed: 15.0,
            blade_reach: 0.1,
            tolerance: 12.0,
        }
    }
}

/// Effect of a pointer on cloth while a button is held.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum ClothTool {
    /// Nothing.
    #[default]
    None,
    /// Grabs the point under the pointer and moves it in a plane parallel to the screen. The scroll wheel changes
    /// its depth.
    Grab,
    /// Grabs all particles within [`ClothTools::radius`].
    Brush,
    /// Cuts along the path of the pointer.
    Blade,
    /// Tears the edge under the pointer, once per press.
    Edge,
    /// Tears all edges within [`ClothTools::radius`].
    Shred,
}

impl ClothTools {
    /// Returns the tool of a button.
    pub fn of(&self, button: PointerButton) -> ClothTool {
        match button {
            PointerButton::Primary => self.primary,
            PointerButton::Secondary => self.secondary,
            PointerButton::Middle => self.middle,
        }
    }

    /// Returns whether any button has this tool.
    pub fn has(&self, tool: ClothTool) -> bool {
        [self.primary, self.secondary, self.middle].contains(&tool)
    }
}

impl Plugin for ClothInteractionPlugin {
    fn finish(&self, app: &mut App) {
        if !app.is_plugin_added::<ClothPlugin>() {
            error!("ClothInteractionPlugin: there is no cloth in this app; add ClothPlugin");
        }
    }

    fn build(&self, app: &mut App) {
        app.register_type::<ClothTools>()
            .init_resource::<ClothTools>()
            .init_resource::<ClothPointers>()
            .init_resource::<HoveredEdges>();
        if !app.is_plugin_added::<PickingPlugin>() {
            error!(
                "ClothInteractionPlugin: there is no picking in this app, so pointers cannot reach \
                 cloth; switch on the feature bevy_picking of bevy, or add DefaultPickingPlugins before"
            );
            return;
        }
        app.add_systems(
            PreUpdate,
            (
                backend::report_hits.in_set(PickingSystems::Backend),
                (
                    hovered_edge::find_hovered_edges,
                    pointers::handle_pointer_input,
                    apply_tools::apply_tools,
                )
                    .chain()
                    .in_set(PickingSystems::PostHover),
            )
                .run_if(resource_exists::<ClothTime>),
        );
        #[cfg(feature = "debug")]
        if app.is_plugin_added::<bevy::gizmos::GizmoPlugin>() {
            app.init_gizmo_group::<crate::debug::ClothGizmoGroup>()
                .add_systems(
                    PostUpdate,
                    cursor::draw_tool_preview
                        .after(ClothSystems::WriteMesh)
                        .run_if(resource_exists::<ClothTime>),
                );
        }
    }
}
