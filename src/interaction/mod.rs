//! Hands on the cloth, through Bevy's picking: grab it, cut it, tear it, with mouse or finger.
//!
//! It only does what a game can do from code ([`ClothCommands`](crate::ClothCommands)).
//!
//! | file | what it does |
//! |---|---|
//! | `backend` | tells Bevy's picking which cloth is under which pointer |
//! | `hands` | what the pointers are doing, from press to release |
//! | `work` | moves what is held, cuts and shreds along the way of a pointer |
//! | `thread` | the thread under a pointer |
//! | `view` | from the screen into the world |
//! | `egui` | whether a pointer is on an egui window (feature `panel`) |
//! | `cursor` | draws the reach of a brush and what it would take (feature `debug`) |

mod backend;
#[cfg(feature = "debug")]
mod cursor;
#[cfg(feature = "panel")]
mod egui;
mod hands;
mod thread;
mod view;
mod work;

pub use backend::ClothHit;
pub use hands::ClothHands;
pub use thread::{HoveredThread, HoveredThreads};

#[cfg(feature = "debug")]
use crate::plugin::ClothSystems;
use crate::{plugin::ClothPlugin, time::ClothTime};
use bevy::{
    picking::{PickingPlugin, PickingSystems, pointer::PointerButton},
    prelude::*,
};

/// Lets pointers take hold of cloth and cut it, with the tools of [`ClothTools`]. Needs Bevy's picking:
/// `DefaultPlugins` with the feature `bevy_picking`, or `DefaultPickingPlugins`.
///
/// Cloth is not grabbed through something that lies over it: an egui window, Bevy's UI, another mesh
/// that some picking backend reports. Blades and brushes may begin beside a cloth and stop at egui
/// windows; of what else is in their way they know nothing. [`Pickable::IGNORE`] on a cloth keeps all
/// hands off it. A camera that listens to the same button can ask [`ClothHands`] whether it is busy.
#[derive(Default)]
pub struct ClothInteractionPlugin;

/// What the buttons of a pointer do to cloth. A finger is the primary button.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct ClothTools {
    /// Of the left button and of fingers. Default [`ClothTool::Grab`].
    pub primary: ClothTool,
    /// Of the right button. Default [`ClothTool::Blade`].
    pub secondary: ClothTool,
    /// Of the middle button. Default [`ClothTool::None`].
    pub middle: ClothTool,
    /// Radius of the brushes, m. Default 0.1.
    pub radius: f32,
    /// Most that a hand pulls, N. Default 20.
    pub force: f32,
    /// Most that a hand moves, m/s. Default 15.
    pub speed: f32,
    /// How far a blade reaches in front of the cloth that it meets, and behind it, m. Default 0.1: a
    /// layer farther behind stays whole.
    pub blade_reach: f32,
    /// How far from a thread it can be taken, in logical pixels. Default 12.
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

/// What a pointer does to cloth while a button is held.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum ClothTool {
    /// Nothing.
    #[default]
    None,
    /// Holds the very point under the pointer and moves it in a plane before the camera. The wheel
    /// moves it nearer and farther.
    Grab,
    /// Holds everything within [`ClothTools::radius`].
    Brush,
    /// Cuts where it goes.
    Blade,
    /// Breaks the thread under the pointer, once.
    Thread,
    /// Breaks all threads within [`ClothTools::radius`].
    Shred,
}

impl ClothTools {
    /// The tool of a button.
    pub fn of(&self, button: PointerButton) -> ClothTool {
        match button {
            PointerButton::Primary => self.primary,
            PointerButton::Secondary => self.secondary,
            PointerButton::Middle => self.middle,
        }
    }

    /// Whether any button has this tool.
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
            .init_resource::<ClothHands>()
            .init_resource::<HoveredThreads>();
        if !app.is_plugin_added::<PickingPlugin>() {
            error!(
                "ClothInteractionPlugin: there is no picking in this app, so nobody can touch cloth; \
                 switch on the feature bevy_picking of bevy, or add DefaultPickingPlugins before"
            );
            return;
        }
        app.add_systems(
            PreUpdate,
            (
                backend::report_hits.in_set(PickingSystems::Backend),
                (thread::hover, hands::listen, work::work)
                    .chain()
                    .in_set(PickingSystems::PostHover),
            )
                .run_if(resource_exists::<ClothTime>),
        );
        #[cfg(feature = "debug")]
        if app.is_plugin_added::<bevy::gizmos::GizmoPlugin>() {
            app.init_gizmo_group::<crate::ClothGizmoGroup>()
                .add_systems(
                    PostUpdate,
                    cursor::draw
                        .after(ClothSystems::WriteMesh)
                        .run_if(resource_exists::<ClothTime>),
                );
        }
    }
}
