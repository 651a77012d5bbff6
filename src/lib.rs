#![cfg_attr(docsrs, feature(doc_cfg))]
//! Cloth for [Bevy](https://bevy.org): add [`ClothPlugin`], put [`Cloth`] on a mesh, and it drapes,
//! flutters, collides, tears and can be grabbed.
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_drape::prelude::*;
//!
//! App::new()
//!     .add_plugins((DefaultPlugins, ClothPlugin::default()))
//!     .add_systems(Startup, |mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>| {
//!         commands.spawn((
//!             Cloth::default(),
//!             Pins::top_corners(),
//!             Mesh3d(meshes.add(ClothGrid::vertical(2.0, 2.0, 64, 64))),
//!         ));
//!     })
//!     .run();
//! ```
//!
//! # Where to look
//!
//! - [`manual`]: how to do things, chapter by chapter, from a [first cloth](manual::first_cloth) to
//!   [what may go wrong](manual::troubleshooting).
//! - [`Cloth`] and [`Fabric`]: what it is made of. [`Rope`]: a line instead of a sheet. [`Pins`]: what
//!   holds it. [`ClothCollider`]: what it bumps into (`ClothMeshCollider`, feature `parry`, where that is
//!   no primitive), [`ClothLayers`]: who meets whom. [`Pressure`]: air in
//!   it. [`WindZone`]: wind in a part of the world.
//!   [`ClothGravity`], [`Wind`], [`Turbulence`], [`WindOcclusion`], [`Substeps`],
//!   [`ClothTime`], [`ClothThreads`]: the world around it.
//! - `ClothPreset` (feature `presets`): cloth and the world around it in files, followed when they change.
//! - [`ClothSleeping`]: on cloths at rest.
//! - [`ClothReady`], [`ResetCloth`]: events. [`Tearing`], [`ClothCommands`]: cut it, tear it, hold it, from
//!   code; `ClothInteractionPlugin` (feature `picking`) lets the mouse do it.
//! - [`Particles`] and [`Constraints`]: the state of the solver, components that your own systems may
//!   read and write; [`ClothSystems`] and [`ClothSubstep`] say when.
//! - [`solver`]: the numerics alone, without an app. [`mesh`]: from a mesh to a cloth and back.
//!
//! Units are metres, kilograms, seconds and newtons throughout.

pub mod manual;
pub mod mesh;
pub mod params;
pub mod solver;

mod cloth;
mod collider;
mod commands;
mod components;
#[cfg(feature = "debug")]
mod debug;
mod diagnostics;
mod fabric;
mod grab;
mod guide;
#[cfg(any(feature = "avian", feature = "rapier"))]
mod integrations;
#[cfg(feature = "picking")]
mod interaction;
mod layers;
mod lod;
mod max_distance;
#[cfg(feature = "parry")]
mod mesh_collider;
mod paint;
#[cfg(feature = "panel")]
pub mod panel;
mod pins;
mod planar;
mod plugin;
#[cfg(feature = "presets")]
mod presets;
mod pressure;
mod proxy;
mod rope;
mod rules;
mod settings;
mod skeleton_colliders;
mod skin;
mod sleep;
mod snapshot;
mod systems;
mod tearing;
mod templates;
mod time;
mod warm_up;
mod wind_zone;
mod world_motion;

pub use cloth::{Cloth, ClothReady, ResetCloth, SelfCollision};
pub use collider::{ClothCollider, LastPose};
pub use commands::ClothCommands;
pub use components::{BuildFailed, ClothSource, Constraints, Particles};
#[cfg(feature = "debug")]
pub use debug::{ClothDebugPlugin, ClothGizmoGroup, ClothGizmos};
pub use diagnostics::{ClothDiagnosticsPlugin, ClothStats};
pub use fabric::Fabric;
pub use grab::{ClothGrabbed, ClothGrabs, ClothReleased, DragCloth, Grab, GrabCloth, ReleaseCloth};
#[cfg(feature = "avian")]
pub use integrations::AvianClothPlugin;
#[cfg(feature = "rapier")]
pub use integrations::RapierClothPlugin;
#[cfg(feature = "picking")]
pub use interaction::{
    ClothHands, ClothHit, ClothInteractionPlugin, ClothTool, ClothTools, HoveredThread,
    HoveredThreads,
};
pub use layers::ClothLayers;
pub use lod::{
    ClothBudget, ClothCulled, ClothLod, ClothPaused, ClothViewer, ClothsPerFrame, LodLevel,
};
pub use max_distance::{Backstop, MaxDistance};
#[cfg(feature = "parry")]
pub use mesh_collider::{ClothMeshCollider, ClothMeshShape};
pub use paint::{ClothPaint, ClothPart, PerVertex, VertexChannel};
#[cfg(feature = "panel")]
pub use panel::{ClothPanel, ClothPanelPlugin};
pub use pins::{ClothCorner, ClothEdge, Pin, PinAnchor, PinPredicate, PinSelector, Pins};
pub use planar::PlanarCloth;
pub use plugin::{ClothPlugin, ClothSubstep, ClothSystems, SubstepTime};
#[cfg(feature = "presets")]
pub use presets::{
    ClothFrom, ClothPreset, ClothPresetError, ClothSettings, ClothSettingsFrom, rust_code,
};
pub use pressure::Pressure;
pub use proxy::{ClothProxy, ClothProxyTemplate};
pub use rope::Rope;
pub use rules::{ClothRules, MeshNames};
pub use settings::{
    ClothGravity, ClothThreads, Substeps, Turbulence, Wind, WindOcclusion, WindTime,
};
pub use skeleton_colliders::SkeletonColliders;
pub use sleep::{ClothSleeping, TIME_TO_SLEEP};
pub use snapshot::{ClothSnapshot, SnapshotError};
pub use solver::{
    Falloff, ThreadSolver, ZoneFlow, ZoneShape,
    tear::{Blade, TearLimit},
};
pub use tearing::{
    ClothTorn, CutCloth, ResistanceFunction, ShredCloth, TearCause, TearResistance, TearThread,
    Tearing, TornEdge,
};
pub use templates::{PinsTemplate, WorldMotionTemplate};
pub use time::{ClothClock, ClothTime, cloth_step_due};
pub use warm_up::WarmUp;
pub use wind_zone::{LocalWind, WindZone};
pub use world_motion::{Teleport, TeleportCloth, WorldMotion};

/// The names that most programs need.
pub mod prelude {
    #[cfg(feature = "avian")]
    pub use crate::AvianClothPlugin;
    #[cfg(feature = "parry")]
    pub use crate::ClothMeshCollider;
    #[cfg(feature = "rapier")]
    pub use crate::RapierClothPlugin;
    pub use crate::mesh::{ClothGrid, Diagonals};
    pub use crate::{
        Cloth, ClothBudget, ClothCollider, ClothCommands, ClothCorner, ClothEdge, ClothGravity,
        ClothLayers, ClothLod, ClothPaint, ClothPart, ClothPaused, ClothPlugin, ClothProxy,
        ClothReady, ClothRules, ClothSleeping, ClothTime, ClothTorn, ClothViewer, Fabric,
        MaxDistance, PerVertex, Pin, PinAnchor, PinSelector, Pins, PinsTemplate, PlanarCloth,
        Pressure, ResetCloth, Rope, SelfCollision, SkeletonColliders, Substeps, Tearing, Teleport,
        TeleportCloth, ThreadSolver, Turbulence, VertexChannel, WarmUp, Wind, WindOcclusion,
        WindZone, WorldMotion, WorldMotionTemplate,
    };
    #[cfg(feature = "debug")]
    pub use crate::{ClothDebugPlugin, ClothGizmos};
    #[cfg(feature = "presets")]
    pub use crate::{ClothFrom, ClothPreset, ClothSettings, ClothSettingsFrom};
    #[cfg(feature = "picking")]
    pub use crate::{ClothHands, ClothInteractionPlugin, ClothTool, ClothTools};
    #[cfg(feature = "panel")]
    pub use crate::{ClothPanel, ClothPanelPlugin};
}

/// The programs in the README compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
